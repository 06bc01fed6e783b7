package index

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// Kinds of exported entries, in the order in which Export yields them.
const (
	EntryDocument = "document"
	EntryText     = "text"
	EntryChunk    = "chunk"
	EntrySource   = "source"
	EntryTally    = "tally"
	EntryDecision = "decision"
)

// Entry is one line of the logical state of index. Value is one of the types below, ready for
// encoding/json.
type Entry struct {
	Kind  string
	Value any
}

// Logical returns Value without what is not part of the logical state: times, tracks, attempts, usage.
func (e Entry) Logical() any {
	if d, ok := e.Value.(*ExportedDocument); ok {
		c := *d
		c.Volatile = nil
		return &c
	}
	return e.Value
}

// ExportedDocument is a document by its place in the order of enqueue.
type ExportedDocument struct {
	Rank     int              `json:"rank"` // from 0, without gaps
	ID       string           `json:"id"`
	Status   string           `json:"status"`
	Current  *ExportedVersion `json:"current,omitempty"`
	Pending  *ExportedVersion `json:"pending,omitempty"`
	Contents *record.Contents `json:"contents,omitempty"` // with Current
	Objects  [][]string       `json:"objects,omitempty"`  // names, and pairs of names
	Volatile *Volatile        `json:"volatile,omitempty"`
}

// ExportedVersion is a version of a document.
type ExportedVersion struct {
	Hash     string          `json:"hash"`
	Path     string          `json:"path,omitempty"`
	Metadata record.Metadata `json:"metadata,omitempty"`
	Time     time.Time       `json:"time,omitzero"` // the document's own, in UTC
	Bytes    int             `json:"bytes"`
	Removed  int             `json:"removed,omitempty"`
	Chunking json.RawMessage `json:"chunking,omitempty"` // a chunk.Spec
	Spans    []record.Span   `json:"spans,omitempty"`
}

// Volatile is what the logical state does not comprise.
type Volatile struct {
	CurrentTrack    string          `json:"current_track,omitempty"`
	CurrentEnqueued int64           `json:"current_enqueued,omitempty"`
	PendingTrack    string          `json:"pending_track,omitempty"`
	PendingEnqueued int64           `json:"pending_enqueued,omitempty"`
	Priority        int8            `json:"priority,omitempty"` // of the pending version
	Attempts        record.Attempts `json:"attempts"`
	CreatedAt       int64           `json:"created_at,omitempty"`
	UpdatedAt       int64           `json:"updated_at,omitempty"`

	Spent []record.ModelUse `json:"spent,omitempty"`
}

// ExportedText is a stored text.
type ExportedText struct {
	Doc     string `json:"doc"`
	Pending bool   `json:"pending,omitempty"`
	Text    string `json:"text"`
}

// ExportedSource is a source record. Objects are [name] or [name, name]. What is stated by hand has rank -1 and no
// document; what is stated of a document as a whole has chunk -1.
type ExportedSource struct {
	Kind        string   `json:"kind"` // "entity", "endpoint", "relation"
	Object      []string `json:"object"`
	Rank        int      `json:"rank"` // of the document
	Order       int      `json:"chunk"`
	Record      int      `json:"record"`
	Doc         string   `json:"doc"`
	Path        string   `json:"path,omitempty"`
	Type        string   `json:"type,omitempty"`
	Description string   `json:"description,omitempty"`
	Keywords    []string `json:"keywords,omitempty"`
	Weight      int64    `json:"weight,omitempty"` // in millionths
	Reversed    bool     `json:"reversed,omitempty"`
}

// ExportedTally is the sum over an object's source records, and how its view was derived.
type ExportedTally struct {
	Object    []string           `json:"object"`
	Records   int                `json:"records"`
	Endpoints int                `json:"endpoints,omitempty"`
	Chunks    int                `json:"chunks"`
	Loose     int                `json:"loose,omitempty"` // records of no chunk
	Weight    int64              `json:"weight,omitempty"`
	Types     []record.TypeCount `json:"types,omitempty"`
	Digest    string             `json:"digest,omitempty"`
	// Ends of the view by rank and chunk, when its caps are reached.
	RecordsEnd   *[2]int `json:"records_end,omitempty"`
	EndpointsEnd *[2]int `json:"endpoints_end,omitempty"`
	Rules        uint32  `json:"rules"`
}

// ExportedDecision is what people decided about an entity or a relation.
type ExportedDecision struct {
	Object  []string      `json:"object"`
	AliasOf string        `json:"alias_of,omitempty"`
	Aliases []string      `json:"aliases,omitempty"`
	Deleted bool          `json:"deleted,omitempty"`
	Set     record.Fields `json:"set,omitzero"`
}

var kindNames = map[record.Kind]string{record.KindEntity: "entity", record.KindEndpoint: "endpoint", record.KindRelation: "relation"}

// Export yields the logical state that index owns in a fixed order: documents in order of enqueue, each
// with its texts and chunks, then source records, tallies and decisions by object. Graph and vectors are derived and
// are exported by their owners. Sequences appear by rank, so that stores with the same contents and
// another past yield the same. It keeps one small record a document in memory.
func Export(r kv.Reader, ws string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		x := &exporter{r: r, ws: ws, yield: yield, ranks: map[uint64]int{record.HandSeq: handRank}}
		for _, step := range []func() error{x.documents, x.sources, x.tallies, x.decisions} {
			if err := step(); err != nil {
				if !errors.Is(err, errStop) {
					yield(Entry{}, fmt.Errorf("index: export: %w", err))
				}
				return
			}
		}
	}
}

// handRank stands for what is stated by hand, noChunk for what is stated in no chunk.
const handRank, noChunk = -1, -1

func exportOrder(order int) int {
	if order == record.NoChunk {
		return noChunk
	}
	return order
}

type exporter struct {
	r     kv.Reader
	ws    string
	yield func(Entry, error) bool
	ranks map[uint64]int
}

func (x *exporter) emit(kind string, v any) error {
	if !x.yield(Entry{kind, v}, nil) {
		return errStop
	}
	return nil
}

func (x *exporter) documents() error {
	ids := make(map[uint64]string)
	var seqs []uint64
	for d, err := range documents(x.r, x.ws) {
		if err != nil {
			return err
		}
		ids[d.Seq] = d.ID
		seqs = append(seqs, d.Seq)
	}
	slices.Sort(seqs)
	for rank, seq := range seqs {
		x.ranks[seq] = rank
		if err := x.document(rank, ids[seq]); err != nil {
			return err
		}
	}
	return nil
}

func (x *exporter) document(rank int, id string) error {
	v, err := x.r.Get(record.DocumentKey(x.ws, id))
	if err != nil {
		return err
	}
	d, err := record.DecodeDocument(id, v)
	if err != nil {
		return err
	}
	e := &ExportedDocument{Rank: rank, ID: id, Status: d.Status.String(), Current: exportVersion(d.Current),
		Pending: exportVersion(d.Pending), Volatile: &Volatile{Attempts: d.Attempts, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt,
			Spent: d.Spent}}
	if d.Current != nil {
		e.Contents = &d.Contents
		e.Volatile.CurrentTrack, e.Volatile.CurrentEnqueued = d.Current.Track, d.Current.EnqueuedAt
	}
	if d.Pending != nil {
		e.Volatile.PendingTrack, e.Volatile.PendingEnqueued = d.Pending.Track, d.Pending.EnqueuedAt
		e.Volatile.Priority = d.Pending.Priority
	}
	objects, err := objectsOf(x.r, x.ws, id)
	if err != nil {
		return err
	}
	for _, o := range objects {
		e.Objects = append(e.Objects, exportObject(o))
	}
	if err := x.emit(EntryDocument, e); err != nil {
		return err
	}
	for _, pending := range []bool{false, true} {
		text, err := x.r.Get(record.TextKey(x.ws, id, pending))
		if errors.Is(err, kv.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if err := x.emit(EntryText, &ExportedText{Doc: id, Pending: pending, Text: string(text)}); err != nil {
			return err
		}
	}
	for c, err := range chunksFrom(x.r, x.ws, id, 0) {
		if err != nil {
			return err
		}
		if err := x.emit(EntryChunk, &c); err != nil {
			return err
		}
	}
	return nil
}

func exportVersion(v *record.Version) *ExportedVersion {
	if v == nil {
		return nil
	}
	return &ExportedVersion{Hash: v.Hash, Path: v.Path, Metadata: v.Metadata, Time: v.Time, Bytes: v.Bytes, Removed: v.Removed,
		Chunking: json.RawMessage(v.Chunker), Spans: v.Spans}
}

func exportObject(o record.Object) []string {
	if o.IsRelation() {
		return []string{o.A, o.B}
	}
	return []string{o.A}
}

func (x *exporter) sources() error {
	for s, err := range sources(x.r, x.ws) {
		if err != nil {
			return err
		}
		e := &ExportedSource{Kind: kindNames[s.Kind], Object: exportObject(s.Object), Rank: x.ranks[s.Seq], Order: exportOrder(s.Order),
			Record: s.Record, Doc: s.Doc, Path: s.Path, Type: s.Type, Description: s.Description, Keywords: s.Keywords,
			Weight: int64(s.Weight), Reversed: s.Reversed}
		if err := x.emit(EntrySource, e); err != nil {
			return err
		}
	}
	return nil
}

func (x *exporter) tallies() error {
	for _, relations := range []bool{false, true} {
		prefix := record.TallyPrefix(x.ws, relations)
		for kvp, err := range scan(x.r, prefix) {
			if err != nil {
				return err
			}
			o, err := record.ParseTallyKey(kvp.key[len(prefix):], relations)
			if err != nil {
				return fmt.Errorf("%w: %w", kv.ErrCorrupt, err)
			}
			t, err := record.DecodeTally(kvp.value)
			if err != nil {
				return fmt.Errorf("%w: %w", kv.ErrCorrupt, err)
			}
			e := &ExportedTally{Object: exportObject(o), Records: t.Records, Endpoints: t.Endpoints, Chunks: t.Chunks, Loose: t.Loose,
				Weight: int64(t.Weight), Types: t.Types, Digest: t.Digest, RecordsEnd: x.mark(t.RecordsEnd),
				EndpointsEnd: x.mark(t.EndpointsEnd), Rules: t.Rules}
			if err := x.emit(EntryTally, e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *exporter) mark(m record.Mark) *[2]int {
	if m == (record.Mark{}) {
		return nil
	}
	return &[2]int{x.ranks[m.Seq], exportOrder(m.Order)}
}

func (x *exporter) decisions() error {
	for _, relations := range []bool{false, true} {
		prefix := record.ManualPrefix(x.ws, relations)
		for kvp, err := range scan(x.r, prefix) {
			if err != nil {
				return err
			}
			o, err := record.ParseManualKey(kvp.key[len(prefix):], relations)
			if err != nil {
				return fmt.Errorf("%w: %w", kv.ErrCorrupt, err)
			}
			m, err := record.DecodeManual(kvp.value)
			if err != nil {
				return fmt.Errorf("%w: %w", kv.ErrCorrupt, err)
			}
			e := &ExportedDecision{Object: exportObject(o), AliasOf: m.AliasOf, Aliases: m.Aliases, Deleted: m.Deleted, Set: m.Set}
			if err := x.emit(EntryDecision, e); err != nil {
				return err
			}
		}
	}
	return nil
}
