package index

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// sources checks each source record: its chunk is stored, its object has a tally, and both ends of each
// relation record are recorded as endpoints. The pairs of object and document must be as many as the
// documents list; with contribution's check in the other direction they are the same.
func (c *checker) sources() error {
	var (
		last      record.Object
		lastKind  record.Kind
		lastSeq   uint64
		links     int
		relations int
		endpoints int
	)
	err := c.under(space.Source, func(rest, value []byte) error {
		if record.IsTallyKey(rest) {
			return nil // see objects
		}
		k, o, pos, err := record.ParseSourceKey(rest)
		if err != nil {
			return c.report("key", "source: %v", err)
		}
		s, err := record.DecodeSource(k, o, pos, value)
		if err != nil {
			return c.report("value", "source of %v: %v", o, err)
		}
		fresh := o != last || k != lastKind || pos.Seq != lastSeq
		last, lastKind, lastSeq = o, k, pos.Seq
		if fresh && pos.Seq != record.HandSeq {
			// An entity that a document both describes and names counts once, with its endpoint records.
			if k != record.KindEntity {
				links++
			} else if own, err := sourcesOf(c.r, c.ws, record.KindEndpoint, o, pos.Seq); err != nil {
				return err
			} else if len(own) == 0 {
				links++
			}
		}
		if fresh {
			c.forget()
			if target, active, err := c.names.target(o); err != nil {
				return err
			} else if active {
				if err := c.want("I2", record.TallyKey(c.ws, target), true, "tally of %v", target); err != nil {
					return err
				}
			}
		}
		if err := c.origin(o, &s); err != nil {
			return err
		}
		switch k {
		case record.KindEndpoint:
			endpoints++
		case record.KindRelation:
			relations++
			for _, name := range []string{o.A, o.B} {
				end := record.Source{Kind: record.KindEndpoint, Object: record.EntityObject(name), Position: pos}
				if err := c.want("I3", end.Key(c.ws), true, "endpoint record %q of %v", name, o); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if endpoints != 2*relations {
		if err := c.report("I3", "%d endpoint records for %d relation records", endpoints, relations); err != nil {
			return err
		}
	}
	if links != c.links {
		return c.report("I5", "documents list %d objects, sources have %d", c.links, links)
	}
	return nil
}

// origin checks that what a record is of is there.
func (c *checker) origin(o record.Object, s *record.Source) error {
	d := c.docs[s.Seq]
	switch {
	case s.Seq == record.HandSeq:
		if s.Order != record.NoChunk || s.Doc != "" || d != nil {
			return c.report("I3", "a statement by hand about %v is of document %q", o, s.Doc)
		}
	case d == nil || !d.visible || d.id != s.Doc:
		return c.report("I3", "a record of %v is of document %q, which is not stored", o, s.Doc)
	case s.Order >= d.chunks && s.Order != record.NoChunk:
		return c.report("I3", "a record of %v is of chunk %s, which is not stored", o, s.ChunkID())
	}
	return nil
}

// objects checks each tally against the records, each view against the tally and the records, and that
// the graph has exactly these objects.
func (c *checker) objects() error {
	g, err := c.p.openGraph(c.r)
	if err != nil {
		return err
	}
	counts := map[bool]int{} // by relations or not
	for _, relations := range []bool{false, true} {
		prefix := record.TallyPrefix(c.ws, relations)
		var page []*edit
		flush := func() error {
			if err := c.p.readViews(c.r, page); err != nil {
				return err
			}
			for _, e := range page {
				if err := c.object(e); err != nil {
					return err
				}
			}
			page = page[:0]
			return nil
		}
		for kvp, err := range scan(c.r, prefix) {
			if err != nil {
				return err
			}
			o, err := record.ParseTallyKey(kvp.key[len(prefix):], relations)
			if err != nil {
				return c.report("key", "tally: %v", err)
			}
			t, err := record.DecodeTally(kvp.value)
			if err != nil {
				return c.report("value", "tally of %v: %v", o, err)
			}
			counts[relations]++
			if page = append(page, &edit{object: o, tally: t}); len(page) == checkPage {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		if err := flush(); err != nil {
			return err
		}
	}
	if g == nil {
		return nil
	}
	nodes, edges := 0, 0
	for n, err := range g.AllNodes(c.r) {
		if err != nil {
			return err
		}
		nodes++
		if err := c.want("I2", record.TallyKey(c.ws, record.EntityObject(n.Name)), true, "tally of node %q", n.Name); err != nil {
			return err
		}
	}
	for e, err := range g.AllEdges(c.r) {
		if err != nil {
			return err
		}
		edges++
		o := record.RelationObject(e.Src, e.Dst)
		if e.Src == e.Dst || e.Type != "" {
			if err := c.report("I2", "edge %q - %q is a self-loop or typed", e.Src, e.Dst); err != nil {
				return err
			}
			continue
		}
		if err := c.want("I2", record.TallyKey(c.ws, o), true, "tally of edge %q - %q", e.Src, e.Dst); err != nil {
			return err
		}
	}
	if nodes != counts[false] || edges != counts[true] {
		return c.report("I2", "the graph has %d nodes and %d edges, tallies %d and %d", nodes, edges, counts[false], counts[true])
	}
	return nil
}

// checkPage bounds how many objects are read at once.
const checkPage = 256

// object checks one tally and the view derived under it.
func (c *checker) object(e *edit) (err error) {
	c.forget()
	o := e.object
	members, err := c.names.members(o)
	if err != nil {
		return err
	}
	set, err := c.names.fields(o)
	if err != nil {
		return err
	}
	h := &history{r: c.r, ws: c.ws}
	defer func() { err = errors.Join(err, h.Close()) }()
	sum, err := h.sum(members)
	if errors.Is(err, kv.ErrCorrupt) {
		return nil // reported with the sources
	}
	if err != nil {
		return err
	}
	want := sum
	want.Version, want.Digest, want.Rules = e.tally.Version, e.tally.Digest, e.tally.Rules
	want.RecordsEnd, want.EndpointsEnd = e.tally.RecordsEnd, e.tally.EndpointsEnd
	if len(members) == 0 {
		return c.report("I2", "%v has a tally, but entities do not go by its names", o)
	}
	if !bytes.Equal(want.Encode(), e.tally.Encode()) || want.Empty() {
		return c.report("I2", "the tally of %v does not sum its records", o)
	}
	if e.entity == nil && e.relation == nil {
		return c.report("I2", "%v has records but is not in the graph", o)
	}
	if e.tally.Rules != c.p.rules {
		return nil
	}
	m, err := c.p.mergeStored(h, &e.tally, members, &want, nil)
	if err != nil {
		return err
	}
	m.edited(&set)
	if want.RecordsEnd != e.tally.RecordsEnd || want.EndpointsEnd != e.tally.EndpointsEnd {
		return c.report("I2", "the tally of %v does not know where its view ends", o)
	}
	if summary := c.p.needsSummary(m.fragments); summary != (e.tally.Digest != "") {
		return c.report("I2", "%v: summarised is %t, should be %t", o, e.tally.Digest != "", summary)
	}
	var stored string
	if o.IsRelation() {
		e.nextRelation, stored = m.relation(o), e.relation.Description
		e.nextRelation.CreatedAt = e.relation.CreatedAt
	} else {
		e.nextEntity, stored = m.entity(o.A), e.entity.Description
		e.nextEntity.CreatedAt = e.entity.CreatedAt
	}
	description := c.p.joined(o, m.fragments)
	if e.tally.Digest != "" {
		description = stored // a model's words
	}
	c.p.describe(e, description)
	if e.changed() {
		return c.report("I2", "the view of %v is not what its records say", o)
	}
	return nil
}

// vectors checks that each chunk, entity and relation has exactly one vector.
func (c *checker) vectors() error {
	s, ok, err := c.p.open(c.r)
	if err != nil {
		return err
	}
	if !ok {
		if c.chunkN > 0 {
			return c.report("I6", "chunks are stored, but no collection exists")
		}
		return nil
	}
	for _, k := range s.byName() {
		rows := 0
		for row, err := range (*k.c).All(c.r) {
			if err != nil {
				return err
			}
			rows++
			if err := c.vectorOwner(k.name, row); err != nil {
				return err
			}
		}
		want, err := c.objectsWithVectors(&s, k.name)
		if err != nil {
			return err
		}
		if rows != want {
			if err := c.report("I6", "collection %q has %d vectors for %d objects", k.name, rows, want); err != nil {
				return err
			}
		}
	}
	return nil
}

// vectorOwner reports a vector whose object does not exist.
func (c *checker) vectorOwner(collection string, row vector.Row) error {
	key := ownerKey(c.ws, collection, row.ID)
	if key == nil {
		return c.report("I6", "collection %q has a vector with the id %q", collection, row.ID)
	}
	return c.want("I6", key, true, "the object of vector %q in %q", row.ID, collection)
}

func (c *checker) objectsWithVectors(s *stores, collection string) (int, error) {
	if collection == record.ChunkCollection {
		return c.chunkN, nil
	}
	st, err := s.graph.Stats(c.r)
	if err != nil {
		return 0, fmt.Errorf("graph: %w", err)
	}
	if collection == record.EntityCollection {
		return st.Nodes, nil
	}
	return st.Edges, nil
}
