package index

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
)

// A batch of Reembed is at most batchTexts texts, unless the caller says otherwise, of batchBytes together, with
// vectors of batchBytes: little to lose, and little beside the database. One view reads at most viewObjects.
const (
	batchTexts  = 256
	batchBytes  = 4 << 20
	viewObjects = 1 << 15
)

// embeddable is an object whose vector is missing or outdated.
type embeddable struct {
	id, text string
	digest   []byte
}

// pass embeds what has no next vector yet, or one of another text, and returns how many that were. When it is alone it
// tells nobody, since others wait.
func (m *reembedding) pass(ctx context.Context) (embedded int, err error) {
	begun, err := m.now()
	if err != nil {
		return 0, err
	}
	done := 0
	for _, c := range new(stores).byName() {
		for from := []byte(nil); ; {
			page, err := m.read(ctx, c.name, from)
			if err != nil {
				return embedded, err
			}
			if err := m.store(ctx, c.name, page.missing); err != nil {
				return embedded, err
			}
			embedded += len(page.missing)
			done += page.seen
			if m.o.Progress != nil && !m.alone && page.seen > 0 {
				m.o.Progress(ReembedProgress{Done: min(done, m.total), Total: m.total})
			}
			if from = page.next; from == nil {
				break
			}
		}
	}
	if m.res.Embedded == 0 { // of the first pass
		m.res.Kept = done - embedded
	}
	m.res.Embedded += embedded
	m.looked = begun
	return embedded, nil
}

// now is the last commit.
func (m *reembedding) now() (kv.LSN, error) {
	view, err := m.p.cfg.Updater.View()
	if err != nil {
		return 0, err
	}
	return view.LSN(), view.Close()
}

// objectPage is a part of a collection's objects.
type objectPage struct {
	missing []embeddable
	seen    int
	next    []byte // the key from which to go on; nil: that was all
}

// read looks at the objects of a collection from a key on, on a view of its own: a change of the model takes long.
func (m *reembedding) read(ctx context.Context, collection string, from []byte) (page objectPage, err error) {
	view, err := m.p.cfg.Updater.View()
	if err != nil {
		return page, err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	g, err := m.p.openGraph(view)
	if err != nil || g == nil {
		return page, err
	}
	prefix := objectPrefix(m.p.cfg.Workspace, collection)
	if from == nil {
		from = prefix
	}
	cur, err := view.Cursor(from, codec.PrefixEnd(prefix))
	if err != nil {
		return page, err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	most, size := min(cmp.Or(max(m.o.Batch, 0), batchTexts), max(1, batchBytes/(4*m.e.Dim()))), 0
	for cur.Next() {
		if err := ctx.Err(); err != nil {
			return page, err
		}
		if len(page.missing) == most || size >= batchBytes || page.seen == viewObjects {
			page.next = bytes.Clone(cur.Key())
			return page, nil
		}
		page.seen++
		kvp := pair{cur.Key(), cur.Value()}
		if seen, err := m.seen(collection, kvp); err != nil || seen {
			if err != nil {
				return page, err
			}
			continue
		}
		id, text, err := m.p.objectText(view, g, collection, kvp, len(prefix))
		if err != nil {
			return page, err
		}
		digest := sha256.Sum256([]byte(text))
		have, err := view.Get(digestKey(m.p.cfg.Workspace, collection, id))
		if err = absentIsNil(err); err != nil {
			return page, err
		}
		if !bytes.Equal(have, digest[:]) {
			page.missing = append(page.missing, embeddable{id, text, digest[:]})
			size += len(text)
		}
	}
	return page, cur.Err()
}

// seen reports whether an earlier pass saw the object as it is: every change of an entity or a relation changes its
// tally.
func (m *reembedding) seen(collection string, kvp pair) (bool, error) {
	if m.looked == 0 || collection == record.ChunkCollection {
		return false, nil
	}
	t, err := record.DecodeTally(kvp.value)
	if err != nil {
		return false, fmt.Errorf("%w: tally: %w", kv.ErrCorrupt, err)
	}
	return kv.LSN(t.Version) <= m.looked, nil
}

// objectPrefix covers one key for each object of a collection.
func objectPrefix(ws, collection string) []byte {
	if collection == record.ChunkCollection {
		return space.In(ws, space.Chunk)
	}
	return record.TallyPrefix(ws, collection == record.RelationCollection)
}

// ownerKey is the key of the object behind a vector, as objectPrefix covers them; nil for an id that is none.
func ownerKey(ws, collection, id string) []byte {
	switch collection {
	case record.ChunkCollection:
		if doc, order, ok := record.ParseChunkID(id); ok {
			return record.ChunkKey(ws, doc, order)
		}
	case record.EntityCollection:
		return record.TallyKey(ws, record.EntityObject(id))
	case record.RelationCollection:
		if a, b, ok := record.ParsePairID(id); ok {
			return record.TallyKey(ws, record.RelationObject(a, b))
		}
	}
	return nil
}

// objectText returns the id of an object's vector and the text that it is made of, the same as when documents are
// processed.
func (p *Pipeline) objectText(r kv.Reader, g *graph.Graph, collection string, kvp pair, skip int) (id, text string, err error) {
	if collection == record.ChunkCollection {
		c, err := decodeChunk(kvp, skip)
		return c.ID(), p.embedText(&c), err
	}
	relation := collection == record.RelationCollection
	o, err := record.ParseTallyKey(kvp.key[skip:], relation)
	if err != nil {
		return "", "", fmt.Errorf("%w: %w", kv.ErrCorrupt, err)
	}
	if relation {
		e, err := g.Edge(r, o.A, o.B, "")
		if err != nil {
			return "", "", lost(o, err)
		}
		v, err := record.RelationOf(e.Src, e.Dst, e.Weight, e.Props)
		return record.PairID(o.A, o.B), p.fit(record.RelationText(&v)), err
	}
	n, err := g.Node(r, o.A)
	if err != nil {
		return "", "", lost(o, err)
	}
	v, err := record.EntityOf(n.Name, n.Type, n.Props)
	return o.A, p.fit(record.EntityText(&v)), err
}

// lost is the error about an object that has records and is not in the graph.
func lost(o record.Object, err error) error {
	if errors.Is(err, kv.ErrNotFound) {
		return fmt.Errorf("%w: %v has records but is not in the graph", kv.ErrCorrupt, o)
	}
	return err
}

// store embeds objects, equal texts once, and keeps their vectors with what they were made from, in one commit.
func (m *reembedding) store(ctx context.Context, collection string, list []embeddable) error {
	if len(list) == 0 {
		return nil
	}
	var texts []string
	at := make(map[string]int)
	for _, x := range list {
		if _, ok := at[x.text]; !ok {
			at[x.text] = len(texts)
			texts = append(texts, x.text)
		}
	}
	vectors, err := m.e.Embed(ctx, texts, llm.ForDocument)
	if err != nil {
		return &CallError{Op: fmt.Sprintf("embed %d texts", len(texts)), Err: err}
	}
	if err := checkVectors(m.e, vectors, len(texts)); err != nil {
		return err
	}
	ws := m.p.cfg.Workspace
	_, err = m.p.cfg.Updater.Update(ctx, changeReembed, nil, func(b *kv.Batch) error {
		next, err := m.p.cfg.Vectors.Collection(b, ws, nextName(collection))
		if err != nil {
			return err
		}
		for _, x := range list {
			if err := next.Put(b, x.id, vectors[at[x.text]]); err != nil {
				return err
			}
			if err := b.Set(digestKey(ws, collection, x.id), x.digest); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// clean drops next vectors whose objects are gone. Nothing may change meanwhile.
func (m *reembedding) clean(ctx context.Context) (err error) {
	p, ws := m.p, m.p.cfg.Workspace
	view, err := p.cfg.Updater.View()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	s, ok, err := p.open(view)
	if err != nil || !ok {
		return err
	}
	for _, c := range s.byName() {
		next, err := p.cfg.Vectors.Collection(view, ws, nextName(c.name))
		if err != nil {
			return err
		}
		have, err := next.Len(view)
		if err != nil {
			return err
		}
		want, err := (*c.c).Len(view)
		if err != nil {
			return err
		}
		if have == want { // all that are wanted are there
			continue
		}
		gone, err := goneOf(ctx, view, ws, c.name)
		if err != nil {
			return err
		}
		for part := range slices.Chunk(gone, cleanPage) {
			_, err := p.cfg.Updater.Update(ctx, changeReembed, nil, func(b *kv.Batch) error {
				for _, id := range part {
					if err := errors.Join(next.Delete(b, id), b.Delete(digestKey(ws, c.name, id))); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// cleanPage is how many vectors one commit of clean drops.
const cleanPage = 4096

// goneOf lists the ids of next vectors whose objects are gone.
func goneOf(ctx context.Context, r kv.Reader, ws, collection string) (gone []string, err error) {
	prefix := digestPrefix(ws, collection)
	for kvp, err := range scan(r, prefix) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		id := string(kvp.key[len(prefix):])
		switch _, err := r.Get(ownerKey(ws, collection, id)); {
		case errors.Is(err, kv.ErrNotFound):
			gone = append(gone, id)
		case err != nil:
			return nil, err
		}
	}
	return gone, nil
}
