package eval

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/record"
)

// resolve replaces gold by what the database calls it. Documents and chunks that it does not have are refused; entities
// are counted.
func resolve(ctx context.Context, d *db.DB, questions []Question) (resolved []Question, absent int, err error) {
	byEnd, err := documentEnds(ctx, d, questions)
	if err != nil {
		return nil, 0, err
	}
	out := slices.Clone(questions)
	for i := range out {
		q := &out[i]
		if q.at == (place{}) {
			q.at.line = i + 1
		}
		if err := q.check(); err != nil {
			return nil, 0, err
		}
		if q.Documents, err = q.named(q.Documents, func(id string) (string, error) { return q.document(byEnd, id) }); err != nil {
			return nil, 0, err
		}
		if q.Chunks, err = q.named(q.Chunks, func(id string) (string, error) { return q.chunk(ctx, d, byEnd, id) }); err != nil {
			return nil, 0, err
		}
		q.Entities, err = q.named(q.Entities, func(name string) (string, error) {
			canonical, unknown, err := q.entity(ctx, d, name)
			if unknown {
				absent++
			}
			return canonical, err
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return out, absent, nil
}

// named renames the ids of a level. Two that are one thing keep the larger gain.
func (q *Question) named(g Gold, name func(string) (string, error)) (Gold, error) {
	out := make(Gold, len(g))
	for _, id := range slices.Sorted(maps.Keys(g)) {
		real, err := name(id)
		if err != nil {
			return nil, err
		}
		out[real] = max(out[real], g[id])
	}
	return out, nil
}

// documentEnds lists the documents by id, and by every end of it after a slash that is asked for.
func documentEnds(ctx context.Context, d *db.DB, questions []Question) (map[string][]string, error) {
	asked := make(map[string]bool)
	for _, q := range questions {
		for id := range q.Documents {
			asked[id] = true
		}
		for id := range q.Chunks {
			doc, _, _ := record.ParseChunkID(id)
			asked[doc] = true
		}
	}
	byEnd := make(map[string][]string)
	for info, err := range d.Documents(ctx, index.Filter{}) {
		if err != nil {
			return nil, err
		}
		for end := info.ID; ; {
			if asked[end] {
				byEnd[end] = append(byEnd[end], info.ID)
			}
			_, rest, more := strings.Cut(end, "/")
			if !more {
				break
			}
			end = rest
		}
	}
	return byEnd, nil
}

// document finds the document of an id, or of the end of an id after a slash when that is clear.
func (q *Question) document(byEnd map[string][]string, id string) (string, error) {
	found := byEnd[id]
	switch {
	case slices.Contains(found, id):
		return id, nil
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", q.at.refuse("write the whole id", "several documents end in %q: %s", id, strings.Join(found[:min(3, len(found))], ", "))
	}
	return "", q.at.refuse("insert it, or name one that `glim docs` lists", "no document %q", id)
}

func (q *Question) chunk(ctx context.Context, d *db.DB, byEnd map[string][]string, id string) (string, error) {
	const do = "name one that `glim docs ID --chunks` lists"
	doc, order, ok := record.ParseChunkID(id)
	if !ok {
		return "", q.at.refuse(do, "%q is no id of a chunk", id)
	}
	doc, err := q.document(byEnd, doc)
	if err != nil {
		return "", err
	}
	for c, err := range d.Chunks(ctx, doc, order) {
		if err != nil {
			return "", err
		}
		return c.ID, nil
	}
	return "", q.at.refuse(do, "document %q has no chunk %d", doc, order)
}

// entity finds the entity of a name, or of another spelling or an alias of it. One that the graph does not have keeps its
// name: it was not extracted, which is a miss.
func (q *Question) entity(ctx context.Context, d *db.DB, name string) (canonical string, absent bool, err error) {
	e, err := d.Entity(ctx, name, index.InfoOptions{})
	switch {
	case errors.Is(err, db.ErrNotFound), errors.Is(err, db.ErrName):
		return name, true, nil
	case errors.Is(err, db.ErrAmbiguous):
		return "", false, q.at.refuse("write the name of one as `glim graph search` lists it", "several entities may be meant by %q", name)
	}
	return e.Name, false, err
}
