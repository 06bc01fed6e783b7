package index

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"

	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// Problem is a broken invariant that Check found.
type Problem struct {
	Rule string // I1 to I11, see the package comment; "key" or "value" for bytes that do not decode
	What string // for people; names ids, never text
}

func (p Problem) String() string { return "index: " + p.Rule + ": " + p.What }

// Check compares everything that index stores with everything else: status with content, chunks with
// text, sources with chunks, views with sources, vectors with objects, and each index with its documents
// in both directions. A sound store yields nothing. An error comes last; damage is a Problem. It reads
// all of the workspace once or twice and keeps one small record a document in memory.
//
// Views that were derived under other options than the pipeline's are compared as far as options do not
// matter.
func (p *Pipeline) Check(ctx context.Context, r kv.Reader) iter.Seq2[Problem, error] {
	return func(yield func(Problem, error) bool) {
		c := &checker{p: p, ctx: ctx, r: r, ws: p.cfg.Workspace, yield: yield, docs: make(map[uint64]*docRef)}
		for _, step := range []func() error{c.decisions, c.documents, c.texts, c.chunks, c.indexes, c.sources, c.objects, c.vectors, c.nextVectors, c.postings, c.entityPostings} {
			if err := step(); err != nil {
				if !errors.Is(err, errStop) {
					yield(Problem{}, fmt.Errorf("index: check: %w", err))
				}
				return
			}
		}
	}
}

var errStop = errors.New("the caller has seen enough")

// checker is one Check call.
type checker struct {
	p     *Pipeline
	ctx   context.Context
	r     kv.Reader
	ws    string
	yield func(Problem, error) bool

	docs   map[uint64]*docRef
	names  *resolver
	chunkN int // chunk rows
	links  int // (object, document) pairs that documents list
}

// docRef is what Check remembers of a document.
type docRef struct {
	id      string
	visible bool
	chunks  int
}

func (c *checker) report(rule, format string, args ...any) error {
	if !c.yield(Problem{Rule: rule, What: fmt.Sprintf(format, args...)}, nil) {
		return errStop
	}
	return nil
}

// under iterates the keys of one space, without the space's prefix.
func (c *checker) under(s space.Space, visit func(rest, value []byte) error) error {
	prefix := space.In(c.ws, s)
	for kvp, err := range scan(c.r, prefix) {
		if err != nil {
			return err
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if err := visit(kvp.key[len(prefix):], kvp.value); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) has(key []byte) (bool, error) {
	_, err := c.r.Get(key)
	if errors.Is(err, kv.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// want reports what when the presence of key is not as it should be.
func (c *checker) want(rule string, key []byte, present bool, format string, args ...any) error {
	has, err := c.has(key)
	if err != nil || has == present {
		return err
	}
	verb := "is missing"
	if has {
		verb = "should not exist"
	}
	return c.report(rule, "%s %s", fmt.Sprintf(format, args...), verb)
}

// documents checks each status record and what it says must exist.
func (c *checker) documents() error {
	next, err := c.p.nextSeq(c.r)
	if err != nil {
		return err
	}
	return c.under(space.Document, func(rest, value []byte) error {
		id, err := record.ParseDocumentKey(rest)
		if err != nil {
			return c.report("key", "document key: %v", err)
		}
		d, err := record.DecodeDocument(id, value)
		if err != nil {
			return c.report("value", "document %q: %v", id, err)
		}
		if other := c.docs[d.Seq]; other != nil {
			return c.report("I7", "documents %q and %q share sequence %d", other.id, id, d.Seq)
		}
		c.docs[d.Seq] = &docRef{id: id, visible: d.Current != nil, chunks: d.Contents.Chunks}
		if d.Seq >= next {
			if err := c.report("I7", "document %q has sequence %d, the next is %d", id, d.Seq, next); err != nil {
				return err
			}
		}
		return c.document(&d)
	})
}

func (c *checker) document(d *record.Document) error {
	processed := d.Status == record.StatusProcessed
	if processed != (d.Pending == nil) || processed && d.Current == nil || d.Status.String() == "unknown" {
		if err := c.report("I1", "document %q: status %v with current version %t, pending version %t", d.ID, d.Status,
			d.Current != nil, d.Pending != nil); err != nil {
			return err
		}
	}
	for _, w := range []struct {
		key     []byte
		present bool
		what    string
	}{
		{record.TextKey(c.ws, d.ID, false), d.Current != nil, "visible text"},
		{record.TextKey(c.ws, d.ID, true), d.Pending != nil, "waiting text"},
		{record.ContribKey(c.ws, d.ID), d.Current != nil, "list of objects"},
	} {
		if err := c.want("I1", w.key, w.present, "document %q (%v): %s", d.ID, d.Status, w.what); err != nil {
			return err
		}
	}
	if d.Waits() {
		if err := c.want("I1", d.QueueKey(c.ws), true, "document %q (%v): place in the queue", d.ID, d.Status); err != nil {
			return err
		}
	}
	for _, v := range []*record.Version{d.Current, d.Pending} {
		if v == nil {
			continue
		}
		if _, err := chunk.ParseSpec(v.Chunker); err != nil {
			if err := c.report("value", "document %q: %v", d.ID, err); err != nil {
				return err
			}
		}
		if err := c.want("I7", record.HashKey(c.ws, v.Hash, d.ID), true, "document %q: hash entry", d.ID); err != nil {
			return err
		}
		if err := c.want("I7", record.TrackKey(c.ws, v.Track, d.Seq), true, "document %q: track entry", d.ID); err != nil {
			return err
		}
	}
	return c.contribution(d)
}

// contribution checks that the document's list of objects is what its sources say.
func (c *checker) contribution(d *record.Document) error {
	objects, err := objectsOf(c.r, c.ws, d.ID)
	if err != nil {
		return c.report("value", "document %q: %v", d.ID, err)
	}
	entities, relations := 0, 0
	for _, o := range objects {
		kinds := []record.Kind{record.KindEntity, record.KindEndpoint}
		if o.IsRelation() {
			relations++
			kinds = []record.Kind{record.KindRelation}
		} else {
			entities++
		}
		found := false
		for _, k := range kinds {
			at := codec.AppendKeyUint64(record.SourcePrefix(c.ws, k, o), d.Seq)
			for _, err := range scan(c.r, at) {
				if err != nil {
					return err
				}
				found = true
				break
			}
		}
		if !found {
			if err := c.report("I5", "document %q lists %v, which has no record of it", d.ID, o); err != nil {
				return err
			}
		}
	}
	c.links += len(objects)
	if d.Current != nil && (entities != d.Contents.Entities || relations != d.Contents.Relations) {
		return c.report("I5", "document %q counts %d entities and %d relations, but lists %d and %d", d.ID,
			d.Contents.Entities, d.Contents.Relations, entities, relations)
	}
	return nil
}

// texts checks stored texts against their versions, and that each has a document.
func (c *checker) texts() error {
	return c.under(space.Text, func(rest, value []byte) error {
		id, pending, err := record.ParseTextKey(rest)
		if err != nil {
			return c.report("key", "text key: %v", err)
		}
		d, err := c.p.documentOf(c.r, id)
		if err != nil {
			return nil // reported with the documents
		}
		var v *record.Version
		if d != nil {
			if v = d.Current; pending {
				v = d.Pending
			}
		}
		if v == nil {
			return c.report("I1", "a text of document %q has no version", id)
		}
		sum := sha256.Sum256(value)
		if hex.EncodeToString(sum[:]) != v.Hash || len(value) != v.Bytes {
			return c.report("I1", "the text of document %q is not the one its status names", id)
		}
		return nil
	})
}

// chunks checks that chunks are the pieces of visible texts that their documents count.
func (c *checker) chunks() error {
	var (
		doc  string
		d    *record.Document
		text []byte
		seen int
	)
	done := func() error {
		if d != nil && d.Current != nil && seen != d.Contents.Chunks {
			return c.report("I4", "document %q counts %d chunks, %d are stored", doc, d.Contents.Chunks, seen)
		}
		return nil
	}
	err := c.under(space.Chunk, func(rest, value []byte) error {
		id, order, err := record.ParseChunkKey(rest)
		if err != nil {
			return c.report("key", "chunk key: %v", err)
		}
		k, err := record.DecodeChunk(id, order, value)
		if err != nil {
			return c.report("value", "chunk %s: %v", record.ChunkID(id, order), err)
		}
		c.chunkN++
		if id != doc || d == nil {
			if err := done(); err != nil {
				return err
			}
			doc, seen, text = id, 0, nil
			if d, err = c.p.documentOf(c.r, id); err != nil {
				return err
			}
			if d != nil {
				if text, err = c.r.Get(record.TextKey(c.ws, id, false)); err != nil && !errors.Is(err, kv.ErrNotFound) {
					return err
				}
			}
		}
		seen++
		switch {
		case d == nil || d.Current == nil:
			return c.report("I1", "chunk %s belongs to no visible document", k.ID())
		case order != seen-1:
			return c.report("I4", "chunk %s comes after %d chunks", k.ID(), seen-1)
		case k.Start < 0 || k.End > len(text) || k.Start > k.End || string(text[k.Start:k.End]) != k.Content:
			return c.report("I4", "chunk %s is not bytes %d to %d of its document", k.ID(), k.Start, k.End)
		case k.Path != d.Current.Path:
			return c.report("I4", "chunk %s has another path than its document", k.ID())
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := done(); err != nil {
		return err
	}
	want := 0
	for _, ref := range c.docs {
		if ref.visible {
			want += ref.chunks
		}
	}
	if want != c.chunkN {
		return c.report("I4", "documents count %d chunks, %d are stored", want, c.chunkN)
	}
	return nil
}

// indexes checks that each entry of the queue and of the track, hash and object indexes has its document.
func (c *checker) indexes() error {
	queue := len(record.QueuePrefix(c.ws)) - len(space.In(c.ws, space.Sequence))
	err := c.under(space.Sequence, func(rest, value []byte) error {
		if len(rest) <= queue {
			return nil // the counter
		}
		priority, seq, err := record.ParseQueueKey(rest[queue:])
		if err != nil {
			return c.report("key", "queue: %v", err)
		}
		return c.owner("queue", seq, string(value), func(d *record.Document) bool { return d.Waits() && d.Pending.Priority == priority })
	})
	if err != nil {
		return err
	}
	err = c.under(space.Track, func(rest, value []byte) error {
		track, seq, err := record.ParseTrackKey(rest)
		if err != nil {
			return c.report("key", "track: %v", err)
		}
		return c.owner("track", seq, string(value), func(d *record.Document) bool {
			return d.Current != nil && d.Current.Track == track || d.Pending != nil && d.Pending.Track == track
		})
	})
	if err != nil {
		return err
	}
	err = c.under(space.Hash, func(rest, _ []byte) error {
		hash, id, err := record.ParseHashKey(rest)
		if err != nil {
			return c.report("key", "hash: %v", err)
		}
		return c.owner("hash", 0, id, func(d *record.Document) bool {
			return d.Current != nil && d.Current.Hash == hash || d.Pending != nil && d.Pending.Hash == hash
		})
	})
	if err != nil {
		return err
	}
	return c.under(space.Contrib, func(rest, _ []byte) error {
		id, err := record.ParseContribKey(rest)
		if err != nil {
			return c.report("key", "objects: %v", err)
		}
		return c.owner("objects", 0, id, func(d *record.Document) bool { return d.Current != nil })
	})
}

// owner reports an index entry without the document it names. seq 0 is not compared.
func (c *checker) owner(index string, seq uint64, id string, right func(d *record.Document) bool) error {
	d, err := c.p.documentOf(c.r, id)
	if errors.Is(err, kv.ErrCorrupt) {
		return nil // reported with the documents
	}
	if err != nil {
		return err
	}
	if d == nil || seq != 0 && d.Seq != seq || !right(d) {
		return c.report("I7", "%s entry of document %q does not fit it", index, id)
	}
	return nil
}
