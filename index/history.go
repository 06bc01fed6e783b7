package index

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// history reads the source records of objects as they will be once some documents changed: without the
// stored records of those documents, with the given new ones. Close ends it.
type history struct {
	r    kv.Reader // nil: nothing is stored
	ws   string
	skip map[uint64]bool // sequences of the documents that change

	cursors [record.KindRelation + 1]kv.Cursor // by kind; opening one costs more than a seek
}

// cursor returns the cursor over all records of a kind.
func (h *history) cursor(k record.Kind) (kv.Cursor, error) {
	if h.cursors[k] == nil {
		all := append(space.In(h.ws, space.Source), byte(k))
		c, err := h.r.Cursor(all, codec.PrefixEnd(all))
		if err != nil {
			return nil, err
		}
		h.cursors[k] = c
	}
	return h.cursors[k], nil
}

func (h *history) Close() (err error) {
	for k, c := range h.cursors {
		if c != nil {
			err = errors.Join(err, c.Close())
			h.cursors[k] = nil
		}
	}
	return err
}

// only returns h, or a history of nothing when no record is stored, which saves a seek.
func (h *history) only(stored int) *history {
	if stored == 0 {
		return &history{}
	}
	return h
}

// within returns the records of one kind about o that lie within the caps, in order of position: those
// of the first n chunks, or of the last n. added are new records of that kind in order. It reads no more
// than that from the store, besides the records it skips. end is the n-th chunk, when there is one and
// the first are kept.
func (h *history) within(k record.Kind, o record.Object, added []record.Source, n int, newest bool) (out []record.Source, end record.Mark, err error) {
	stored := &sourceCursor{kind: k, object: o, skip: h.skip, backward: newest}
	if h.r != nil {
		stored.prefix = record.SourcePrefix(h.ws, k, o)
		stored.bound = stored.prefix
		if stored.c, err = h.cursor(k); err != nil {
			return nil, end, err
		}
	}
	added = slices.Clone(added)
	if newest {
		slices.Reverse(added)
	}
	var (
		chunks int
		last   record.Mark
	)
	for {
		s, err := stored.peek()
		if err != nil {
			return nil, end, err
		}
		if len(added) > 0 && (s == nil || before(&added[0], s, newest)) {
			s, added = &added[0], added[1:]
		} else if s == nil {
			break
		} else {
			stored.advance()
		}
		if p := s.Mark(); chunks == 0 || p != last {
			if chunks == n {
				break
			}
			last = p
			chunks++
		}
		out = append(out, *s)
	}
	switch {
	case newest:
		slices.Reverse(out)
	case chunks == n:
		end = last
	}
	return out, end, nil
}

// among is within over the records of several objects together.
func (h *history) among(k record.Kind, members []record.Object, added []record.Source, n int, newest bool) (out []record.Source, end record.Mark, err error) {
	if len(members) == 1 {
		return h.within(k, members[0], added, n, newest)
	}
	all := slices.Clone(added)
	for _, o := range members {
		list, _, err := h.within(k, o, nil, n, newest)
		if err != nil {
			return nil, end, err
		}
		all = append(all, list...)
	}
	slices.SortFunc(all, compareSources)
	if newest {
		slices.Reverse(all)
	}
	chunks := 0
	for i := range all {
		if i == 0 || all[i].Mark() != all[i-1].Mark() {
			if chunks == n {
				all = all[:i]
				break
			}
			chunks++
		}
	}
	switch {
	case newest:
		slices.Reverse(all)
	case chunks == n:
		end = all[len(all)-1].Mark()
	}
	return all, end, nil
}

// kindsOf are the kinds of the records about an object.
func kindsOf(o record.Object) []record.Kind {
	if o.IsRelation() {
		return []record.Kind{record.KindRelation}
	}
	return []record.Kind{record.KindEntity, record.KindEndpoint}
}

// sum tallies all stored records of some objects that h does not skip. It reads each of them.
func (h *history) sum(members []record.Object) (t record.Tally, err error) {
	chunks := make(map[record.Mark]bool)
	for _, o := range members {
		for _, k := range kindsOf(o) {
			for s, err := range recordsOf(h.r, h.ws, k, o) {
				if err != nil {
					return t, err
				}
				if h.skip[s.Seq] {
					continue
				}
				t.Add(&s, 1)
				if s.Order != record.NoChunk {
					chunks[s.Mark()] = true
				}
			}
		}
	}
	t.Chunks = len(chunks)
	return t, nil
}

// recordsOf iterates the stored records of one kind about an object, in order.
func recordsOf(r kv.Reader, ws string, k record.Kind, o record.Object) iter.Seq2[record.Source, error] {
	prefix := record.SourcePrefix(ws, k, o)
	return func(yield func(record.Source, error) bool) {
		for kvp, err := range scan(r, prefix) {
			var s record.Source
			if err == nil {
				var pos record.Position
				if pos, err = record.ParsePosition(kvp.key[len(prefix):]); err == nil {
					s, err = record.DecodeSource(k, o, pos, kvp.value)
				}
				if err != nil {
					err = fmt.Errorf("%w: source of %v: %w", kv.ErrCorrupt, o, err)
				}
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

func before(a, b *record.Source, backward bool) bool {
	if backward {
		a, b = b, a
	}
	return a.Position.Compare(b.Position) < 0
}

// sourceCursor decodes the records under one prefix, forward or backward, with a cursor that it shares with others,
// one after the other.
type sourceCursor struct {
	c        kv.Cursor // nil: there are none
	moved    bool
	prefix   []byte // of the object
	bound    []byte // of the records wanted, which begins with prefix
	kind     record.Kind
	object   record.Object
	skip     map[uint64]bool
	backward bool

	cur *record.Source
}

func (s *sourceCursor) advance() { s.cur = nil }

// peek returns the present record, nil at the end.
func (s *sourceCursor) peek() (*record.Source, error) {
	if s.cur != nil || s.c == nil {
		return s.cur, nil
	}
	for ok := s.step(); ok && bytes.HasPrefix(s.c.Key(), s.bound); ok = s.skipped() {
		p, err := record.ParsePosition(s.c.Key()[len(s.prefix):])
		if err != nil {
			return nil, fmt.Errorf("%w: source of %v: %w", kv.ErrCorrupt, s.object, err)
		}
		if s.skip[p.Seq] {
			continue
		}
		rec, err := record.DecodeSource(s.kind, s.object, p, s.c.Value())
		if err != nil {
			return nil, fmt.Errorf("%w: source of %v: %w", kv.ErrCorrupt, s.object, err)
		}
		s.cur = &rec
		return s.cur, nil
	}
	return nil, s.c.Err()
}

// step moves to the first record, then to the next.
func (s *sourceCursor) step() bool {
	moved := s.moved
	s.moved = true
	switch {
	case moved && s.backward:
		return s.c.Prev()
	case moved:
		return s.c.Next()
	case s.backward:
		return s.c.SeekLT(codec.PrefixEnd(s.bound))
	}
	return s.c.SeekGE(s.bound)
}

// skipped moves past all records of the document that the cursor is at.
func (s *sourceCursor) skipped() bool {
	p, err := record.ParsePosition(s.c.Key()[len(s.prefix):])
	if err != nil {
		return false
	}
	at := codec.AppendKeyUint64(slices.Clone(s.prefix), p.Seq)
	if s.backward {
		return s.c.SeekLT(at)
	}
	return s.c.SeekGE(codec.PrefixEnd(at))
}

// sourcesOf returns the stored records of one kind about o from one document, in order.
func (h *history) sourcesOf(k record.Kind, o record.Object, seq uint64) (out []record.Source, err error) {
	sc := &sourceCursor{kind: k, object: o, prefix: record.SourcePrefix(h.ws, k, o)}
	sc.bound = codec.AppendKeyUint64(slices.Clone(sc.prefix), seq)
	if sc.c, err = h.cursor(k); err != nil {
		return nil, err
	}
	for {
		s, err := sc.peek()
		if err != nil || s == nil {
			return out, err
		}
		out = append(out, *s)
		sc.advance()
	}
}

// sourcesOf is history.sourcesOf for a single look.
func sourcesOf(r kv.Reader, ws string, k record.Kind, o record.Object, seq uint64) (out []record.Source, err error) {
	h := &history{r: r, ws: ws}
	out, err = h.sourcesOf(k, o, seq)
	return out, errors.Join(err, h.Close())
}

// contribution is what one document put under its objects.
type contribution map[record.Object][]record.Source

// contributionOf reads the records behind a document's visible version; empty when there is none. It
// costs two range scans an entity and one a relation.
func contributionOf(r kv.Reader, ws, id string, seq uint64) (_ contribution, err error) {
	objects, err := objectsOf(r, ws, id)
	if err != nil {
		return nil, err
	}
	h := &history{r: r, ws: ws}
	defer func() { err = errors.Join(err, h.Close()) }()
	c := make(contribution, len(objects))
	for _, o := range objects {
		for _, k := range kindsOf(o) {
			list, err := h.sourcesOf(k, o, seq)
			if err != nil {
				return nil, err
			}
			c[o] = append(c[o], list...)
		}
	}
	return c, nil
}

// objectsOf reads the objects that a document speaks of, sorted.
func objectsOf(r kv.Reader, ws, id string) ([]record.Object, error) {
	v, err := r.Get(record.ContribKey(ws, id))
	switch {
	case errors.Is(err, kv.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	objects, err := record.DecodeObjects(v)
	if err != nil {
		return nil, fmt.Errorf("%w: objects of %q: %w", kv.ErrCorrupt, id, err)
	}
	return objects, nil
}

// tallyOf reads an object's tally, a zero one when nothing speaks of it.
func tallyOf(r kv.Reader, ws string, o record.Object) (record.Tally, error) {
	v, err := r.Get(record.TallyKey(ws, o))
	switch {
	case errors.Is(err, kv.ErrNotFound):
		return record.Tally{}, nil
	case err != nil:
		return record.Tally{}, err
	}
	t, err := record.DecodeTally(v)
	if err != nil {
		return t, fmt.Errorf("%w: tally of %v: %w", kv.ErrCorrupt, o, err)
	}
	return t, nil
}

// talliesOf reads the tallies of the edits' objects.
func talliesOf(r kv.Reader, ws string, edits []*edit) ([]record.Tally, error) {
	keys := make([][]byte, len(edits))
	for i, e := range edits {
		keys[i] = record.TallyKey(ws, e.object)
	}
	values, err := r.GetMany(keys)
	if err != nil {
		return nil, err
	}
	out := make([]record.Tally, len(edits))
	for i, v := range values {
		if v == nil {
			continue
		}
		if out[i], err = record.DecodeTally(v); err != nil {
			return nil, fmt.Errorf("%w: tally of %v: %w", kv.ErrCorrupt, edits[i].object, err)
		}
	}
	return out, nil
}

// distinctChunks counts the chunks behind some records.
func distinctChunks(records []record.Source) int {
	seen := make(map[record.Mark]bool, len(records))
	for i := range records {
		if records[i].Order != record.NoChunk {
			seen[records[i].Mark()] = true
		}
	}
	return len(seen)
}
