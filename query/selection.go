package query

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"maps"
	"slices"
	"sync"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/filter"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/postings"
	"github.com/glimdb/db/vector"
)

// selection is the part of a store that a filter selects. It is a function of the documents that match and of what
// people decided about names: what changes elsewhere changes nothing in it.
type selection struct {
	workspace string
	documents map[string]document // the matching ones, by id
	chunks    int                 // of them
	waiting   int                 // of matching ones, see reader.waiting
	edited    bool                // people decided something about names
	digest    [sha256.Size]byte   // of what it follows from

	entities  map[string][]record.Origin // who speaks of them, in order
	relations map[record.Object][]record.Origin
	around    map[string][]record.Object // the relations of an entity

	mu    sync.Mutex
	sets  map[*vector.Collection]*vector.IDSet // guarded by mu
	parts map[record.Object]part               // guarded by mu: views that were derived
	words *postings.Set                        // guarded by mu: the chunks in the postings; nil until asked for
}

// document is a document that is selected.
type document struct {
	seq    uint64
	chunks int
}

// maxSelections bounds the selections that an engine remembers, maxParts the views that one of them does.
const (
	maxSelections = 4
	maxParts      = 8192
)

// selections remembers the last ones. Reading which documents match again costs a pass over the documents (over the
// ids where they are given), and what they speak of is read again only when they changed.
type selections struct {
	mu   sync.Mutex
	list []remembered // guarded by mu; the last used one first
}

type remembered struct {
	filter string // in its JSON form
	lsn    kv.LSN
	*selection
}

// last returns the one that was made of the same filter last.
func (s *selections) last(filter string) remembered {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.list {
		if m.filter == filter {
			return m
		}
	}
	return remembered{}
}

func (s *selections) remember(m remembered) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = slices.DeleteFunc(s.list, func(o remembered) bool { return o.filter == m.filter })
	s.list = slices.Insert(s.list, 0, m)
	s.list = s.list[:min(len(s.list), maxSelections)]
}

// selected returns what the filter selects in r.
func (e *Engine) selected(ctx context.Context, r *reader, f Filter) (*selection, error) {
	m, problems := f.Compile()
	if len(problems) > 0 { // Validate has told
		return nil, fmt.Errorf("query: filter: %s is not valid", problems[0].JSON)
	}
	id, err := json.Marshal(m.Filter())
	if err != nil {
		return nil, fmt.Errorf("query: filter: %w", err)
	}
	last := e.selections.last(string(id))
	if last.selection == nil || last.lsn != r.snap.LSN() {
		s := &selection{workspace: e.workspace, documents: make(map[string]document)}
		if err := s.match(ctx, r.snap, m); err != nil {
			return nil, fmt.Errorf("query: filter: %w", err)
		}
		if last.selection == nil || last.digest != s.digest {
			if err := s.read(ctx, r.snap); err != nil {
				return nil, fmt.Errorf("query: filter: %w", err)
			}
			last.selection = s
		}
	}
	e.selections.remember(remembered{string(id), r.snap.LSN(), last.selection})
	return last.selection, nil
}

// match finds the documents.
func (s *selection) match(ctx context.Context, r kv.Reader, m *filter.Matcher) error {
	h := sha256.New()
	edits, err := r.Get(record.EditsKey(s.workspace))
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return err
	}
	s.edited = err == nil
	digest(h, edits)
	n := 0
	each := func(id string, v []byte) error {
		const ctxEvery = 1024
		if n++; n%ctxEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		d, err := record.DecodeDocument(id, v)
		if err != nil {
			return fmt.Errorf("%w: document %q: %w", kv.ErrCorrupt, id, err)
		}
		visible := d.Current != nil && m.Match(filter.SubjectOf(&d, d.Current))
		waits := d.Waits() && m.Match(filter.SubjectOf(&d, d.Pending))
		if !visible && !waits {
			return nil
		}
		digest(h, []byte(id), v)
		if visible {
			s.documents[id] = document{d.Seq, d.Contents.Chunks}
			s.chunks += d.Contents.Chunks
		}
		if waits && s.waiting < maxWaiting {
			s.waiting++
		}
		return nil
	}
	f := m.Filter()
	if len(f.IDs) > 0 {
		err = eachOf(r, s.workspace, f.IDs, each)
	} else {
		err = eachFrom(r, s.workspace, f.IDPrefix, each)
	}
	h.Sum(s.digest[:0])
	return err
}

// digest adds parts so that their borders count.
func digest(h hash.Hash, parts ...[]byte) {
	for _, p := range parts {
		h.Write(codec.AppendUvarint(nil, uint64(len(p))))
		h.Write(p)
	}
}

// eachOf calls fn for the documents with ids, in order of id.
func eachOf(r kv.Reader, ws string, ids []string, fn func(id string, v []byte) error) error {
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		v, err := r.Get(record.DocumentKey(ws, id))
		if errors.Is(err, kv.ErrNotFound) {
			continue
		}
		if err == nil {
			err = fn(id, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachFrom calls fn for the documents whose ids begin with idPrefix, in order of id.
func eachFrom(r kv.Reader, ws, idPrefix string, fn func(id string, v []byte) error) error {
	from := record.DocumentsPrefix(ws, idPrefix)
	c, err := r.Cursor(from, codec.PrefixEnd(from))
	if err != nil {
		return err
	}
	defer c.Close()
	skip := len(record.DocumentPrefix(ws))
	for c.Next() {
		id, err := record.ParseDocumentKey(c.Key()[skip:])
		if err != nil {
			return fmt.Errorf("%w: document: %w", kv.ErrCorrupt, err)
		}
		if err := fn(id, c.Value()); err != nil {
			return err
		}
	}
	return c.Err()
}

// read finds what the documents speak of.
func (s *selection) read(ctx context.Context, r kv.Reader) error {
	s.entities, s.relations = make(map[string][]record.Origin), make(map[record.Object][]record.Origin)
	s.around = make(map[string][]record.Object)
	s.sets, s.parts = make(map[*vector.Collection]*vector.IDSet), make(map[record.Object]part)
	target := targets(r, s.workspace, s.edited)
	for id, d := range s.documents {
		if err := ctx.Err(); err != nil {
			return err
		}
		v, err := r.Get(record.ContribKey(s.workspace, id))
		if errors.Is(err, kv.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		objects, err := record.DecodeObjects(v)
		if err != nil {
			return fmt.Errorf("%w: objects of %q: %w", kv.ErrCorrupt, id, err)
		}
		for _, o := range objects {
			t, active, err := target(o)
			switch origin := (record.Origin{Seq: d.seq, Object: o}); {
			case err != nil:
				return err
			case !active:
			case t.IsRelation():
				if s.relations[t] == nil {
					s.around[t.A], s.around[t.B] = append(s.around[t.A], t), append(s.around[t.B], t)
				}
				s.relations[t] = append(s.relations[t], origin)
			default:
				s.entities[t.A] = append(s.entities[t.A], origin)
			}
		}
	}
	for _, origins := range s.entities {
		slices.SortFunc(origins, record.Origin.Compare)
	}
	for _, origins := range s.relations {
		slices.SortFunc(origins, record.Origin.Compare)
	}
	return nil
}

// targets returns record.Decisions.Target over r, which reads each decision once.
func targets(r kv.Reader, ws string, edited bool) func(record.Object) (record.Object, bool, error) {
	if !edited {
		return func(o record.Object) (record.Object, bool, error) { return o, true, nil }
	}
	known := make(map[record.Object]*record.Manual)
	return record.Decisions(func(o record.Object) (*record.Manual, error) {
		if m, ok := known[o]; ok {
			return m, nil
		}
		v, err := r.Get(record.ManualKey(ws, o))
		if errors.Is(err, kv.ErrNotFound) {
			known[o] = nil
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		m, err := record.DecodeManual(v)
		if err != nil {
			return nil, fmt.Errorf("%w: decisions about %v: %w", kv.ErrCorrupt, o, err)
		}
		known[o] = &m
		return &m, nil
	}).Target
}

// few returns the ids that are selected in a collection when they are few, else nil.
func (s *selection) few(collection string) []string {
	ids := []string{}
	switch collection {
	case record.EntityCollection:
		if len(s.entities) <= fewIDs {
			return slices.AppendSeq(ids, maps.Keys(s.entities))
		}
	case record.RelationCollection:
		if len(s.relations) <= fewIDs {
			for o := range s.relations {
				ids = append(ids, record.PairID(o.A, o.B))
			}
			return ids
		}
	case record.ChunkCollection:
		if s.chunks <= fewIDs {
			return slices.AppendSeq(ids, s.chunksOf)
		}
	}
	return nil
}

// set returns the ids that are selected in a collection, prepared for many searches.
func (s *selection) set(c *vector.Collection, collection string) *vector.IDSet {
	s.mu.Lock()
	defer s.mu.Unlock()
	set := s.sets[c]
	if set == nil {
		set = c.IDSetWhere(map[string]func(id string) bool{record.EntityCollection: s.hasEntity,
			record.RelationCollection: s.hasPair, record.ChunkCollection: s.hasChunk}[collection])
		s.sets[c] = set
	}
	return set
}

// chunksOf yields the ids of the chunks that are selected.
func (s *selection) chunksOf(yield func(id string) bool) {
	for id, d := range s.documents {
		for order := range d.chunks {
			if !yield(record.ChunkID(id, order)) {
				return
			}
		}
	}
}

// inPostings returns the chunks that are selected, prepared for many searches by words: as long as the documents are the
// same their ordinals are.
func (s *selection) inPostings(r kv.Reader, x *postings.Index) (_ *postings.Set, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.words == nil {
		s.words, err = x.NewSet(r, s.chunksOf)
	}
	return s.words, err
}

func (s *selection) hasEntity(name string) bool { return s.entities[name] != nil }

func (s *selection) hasPair(id string) bool {
	a, b, ok := record.ParsePairID(id)
	return ok && s.relations[record.RelationObject(a, b)] != nil
}

func (s *selection) hasChunk(id string) bool {
	doc, _, ok := record.ParseChunkID(id)
	if !ok {
		return false
	}
	_, ok = s.documents[doc]
	return ok
}
