package record

import (
	"cmp"
	"math"
	"slices"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
)

// Weight is a relation's strength in millionths. Sums of weights are taken away again when a document
// goes, which is exact for integers and would not be for floats.
type Weight int64

const (
	weightUnit = 1_000_000
	// MaxWeight bounds one record's weight, so that nine million of them cannot overflow a sum.
	MaxWeight = 1_000_000.0
)

// WeightOf rounds f to millionths. ok is false, and the weight 1, when f is not a finite number in
// (0, MaxWeight].
func WeightOf(f float64) (w Weight, ok bool) {
	if !(f > 0 && f <= MaxWeight) {
		return weightUnit, false
	}
	return max(1, Weight(math.Round(f*weightUnit))), true
}

// Float returns w as a number.
func (w Weight) Float() float64 { return float64(w) / weightUnit }

// TypeCount is the number of records that give an entity this type.
type TypeCount struct {
	Type  string `json:"type"`
	Count int    `json:"count"`
}

// Mark is the place of a chunk among all chunks; the zero Mark stands for none.
type Mark struct {
	Seq   uint64 `json:"seq"`
	Order int    `json:"order"`
}

// Compare orders chunks by document sequence and chunk order.
func (m Mark) Compare(n Mark) int {
	return cmp.Or(cmp.Compare(m.Seq, n.Seq), cmp.Compare(m.Order, n.Order))
}

// Tally sums all source records of one object: what the merged view needs of records beyond its caps,
// kept up to date by each commit so that a hub costs no more than its cap.
type Tally struct {
	// Version is the commit that changed the object's records last. Plans are re-validated against it.
	// It is not part of the logical state.
	Version uint64
	// Records counts records that describe the object; Endpoints those that only name it (entities).
	Records, Endpoints int
	// Chunks is the number of distinct chunks behind both.
	Chunks int
	// Loose counts the records of both that come from a document as a whole, or from nobody's, in no chunk.
	Loose int
	// Weight is the sum over Records (relations).
	Weight Weight
	// Types counts the types of Records by name (entities).
	Types []TypeCount
	// Digest identifies the fragments and the summarizer behind a summarised description; empty when the
	// description is a plain join of its fragments.
	Digest string
	// RecordsEnd and EndpointsEnd are the last chunks whose records the stored view shows, when caps that
	// keep the first ones are reached; records after them change nothing but the sums above.
	RecordsEnd, EndpointsEnd Mark
	// Rules is a fingerprint of the caps and thresholds that the stored view was derived with.
	Rules uint32
}

// Empty reports whether nothing speaks of the object any more.
func (t *Tally) Empty() bool { return t.Records == 0 && t.Endpoints == 0 }

// Add counts one record n times (1, or -1 to take it away). Chunks is the caller's to maintain.
func (t *Tally) Add(s *Source, n int) {
	if s.Order == NoChunk {
		t.Loose += n
	}
	switch s.Kind {
	case KindEndpoint:
		t.Endpoints += n
		return
	case KindRelation:
		t.Weight += Weight(n) * s.Weight
	case KindEntity:
		i, found := slices.BinarySearchFunc(t.Types, s.Type, func(a TypeCount, typ string) int { return cmp.Compare(a.Type, typ) })
		if !found {
			t.Types = slices.Insert(t.Types, i, TypeCount{Type: s.Type})
		}
		if t.Types[i].Count += n; t.Types[i].Count == 0 {
			t.Types = slices.Delete(t.Types, i, i+1)
		}
	}
	t.Records += n
}

// Clone returns an independent copy.
func (t *Tally) Clone() Tally {
	c := *t
	c.Types = slices.Clone(t.Types)
	return c
}

// TallyKey is where an object's tally is stored.
func TallyKey(ws string, o Object) []byte {
	b := space.In(ws, space.Source)
	if o.IsRelation() {
		return codec.AppendKeyString(codec.AppendKeyString(append(b, tallyRelation), o.A), o.B)
	}
	return codec.AppendKeyString(append(b, tallyEntity), o.A)
}

// IsTallyKey reports whether what follows space.Source in a key names a tally, not a record.
func IsTallyKey(rest []byte) bool {
	return len(rest) > 0 && (rest[0] == tallyEntity || rest[0] == tallyRelation)
}

// TallyPrefix covers the tallies of all entities or of all relations, by name.
func TallyPrefix(ws string, relations bool) []byte {
	if relations {
		return append(space.In(ws, space.Source), tallyRelation)
	}
	return append(space.In(ws, space.Source), tallyEntity)
}

// ParseTallyKey reads what follows TallyPrefix in a key.
func ParseTallyKey(rest []byte, relations bool) (Object, error) { return parseObject(rest, relations) }

// parseObject reads exactly one object.
func parseObject(rest []byte, relations bool) (o Object, err error) {
	if o.A, rest, err = codec.KeyString(rest); err != nil {
		return o, err
	}
	if relations {
		if o.B, rest, err = codec.KeyString(rest); err != nil {
			return o, err
		}
	}
	if len(rest) > 0 {
		return o, codec.ErrCorrupt
	}
	return o, nil
}

// Encode returns the stored form.
func (t *Tally) Encode() []byte {
	b := codec.AppendUvarint(nil, t.Version)
	b = codec.AppendInt(b, t.Records)
	b = codec.AppendInt(b, t.Endpoints)
	b = codec.AppendInt(b, t.Chunks)
	b = codec.AppendVarint(b, int64(t.Weight))
	b = codec.AppendUvarint(b, uint64(len(t.Types)))
	for _, c := range t.Types {
		b = codec.AppendString(b, c.Type)
		b = codec.AppendInt(b, c.Count)
	}
	b = codec.AppendString(b, t.Digest)
	for _, m := range [...]Mark{t.RecordsEnd, t.EndpointsEnd} {
		b = codec.AppendUvarint(b, m.Seq)
		b = codec.AppendInt(b, m.Order)
	}
	b = codec.AppendUvarint(b, uint64(t.Rules))
	if t.Loose != 0 { // seldom; earlier builds wrote none
		b = codec.AppendInt(b, t.Loose)
	}
	return b
}

// DecodeTally reads what Encode wrote.
func DecodeTally(v []byte) (Tally, error) {
	r := codec.NewTextReader(v)
	t := Tally{Version: r.Uvarint(), Records: r.Int(), Endpoints: r.Int(), Chunks: r.Int(), Weight: Weight(r.Varint())}
	n := r.Int()
	for i := 0; i < n && r.Err() == nil; i++ {
		t.Types = append(t.Types, TypeCount{Type: r.String(), Count: r.Int()})
	}
	t.Digest = r.String()
	for _, m := range [...]*Mark{&t.RecordsEnd, &t.EndpointsEnd} {
		m.Seq, m.Order = r.Uvarint(), r.Int()
	}
	t.Rules = uint32(r.Uvarint())
	if r.Err() == nil && r.Len() > 0 {
		t.Loose = r.Int()
	}
	return t, r.Done()
}
