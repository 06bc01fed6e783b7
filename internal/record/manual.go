package record

import (
	"hash/fnv"
	"math"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
)

// HandSeq is the sequence of what people state by hand: a document that is always there, before all others
// (which begin with 1). It has neither record nor text nor chunks.
const HandSeq uint64 = 0

// NoChunk is the chunk order of source records that a document states as a whole, in none of its chunks. They
// count like any others, but are no evidence: no chunk is listed or counted for them.
const NoChunk = math.MaxInt32

// Manual is what people decided about the entity or the relation of one name, as documents have the name. The
// decisions are kept by name and never moved, so that taking one back leads where its absence would have led.
type Manual struct {
	// AliasOf is the name that the entity goes by; empty when it goes by its own. A name that others are
	// aliases of is never an alias itself.
	AliasOf string
	// Aliases are the names whose AliasOf is this one, in the order in which they were given.
	Aliases []string
	// Deleted: what documents say under this name counts for nothing.
	Deleted bool
	// Set replaces fields of the view.
	Set Fields
}

// Fields are values set by hand. A nil field is left to the documents.
type Fields struct {
	Type        *string  `json:"type,omitempty"` // entities
	Description *string  `json:"description,omitempty"`
	Keywords    []string `json:"keywords,omitzero"` // relations; empty and not nil: none
	Weight      *Weight  `json:"weight,omitempty"`  // relations; raised to the evidence
}

// Empty reports whether no field is set.
func (f *Fields) Empty() bool {
	return f.Type == nil && f.Description == nil && f.Keywords == nil && f.Weight == nil
}

// Or fills the fields that f leaves open with those of g.
func (f *Fields) Or(g *Fields) {
	if f.Type == nil {
		f.Type = g.Type
	}
	if f.Description == nil {
		f.Description = g.Description
	}
	if f.Keywords == nil {
		f.Keywords = g.Keywords
	}
	if f.Weight == nil {
		f.Weight = g.Weight
	}
}

// Without clears the fields that g sets.
func (f *Fields) Without(g *Fields) {
	if g.Type != nil {
		f.Type = nil
	}
	if g.Description != nil {
		f.Description = nil
	}
	if g.Keywords != nil {
		f.Keywords = nil
	}
	if g.Weight != nil {
		f.Weight = nil
	}
}

// Empty reports whether nothing was decided.
func (m *Manual) Empty() bool {
	return m.AliasOf == "" && len(m.Aliases) == 0 && !m.Deleted && m.Set.Empty()
}

// First bytes of the keys in space.Manual.
const (
	manualEdits    byte = '#' // counter of the edits
	manualDormant  byte = '~' // counter of commits with records that count for nothing
	manualEntity   byte = 'e'
	manualRelation byte = 'r'
	manualFold     byte = 'f'
)

// EditsKey holds the commit of the last edit, as an ordered number: what was derived under another one may not
// know it. Absent before the first edit of the workspace. Volatile.
func EditsKey(ws string) []byte { return append(space.In(ws, space.Manual), manualEdits) }

// DormantKey holds the last commit that changed source records which count for nothing, in the same form.
func DormantKey(ws string) []byte { return append(space.In(ws, space.Manual), manualDormant) }

// ManualPrefix covers the decisions about all entities or all relations, by name.
func ManualPrefix(ws string, relations bool) []byte {
	kind := manualEntity
	if relations {
		kind = manualRelation
	}
	return append(space.In(ws, space.Manual), kind)
}

// ManualKey is where the decisions about one object are stored.
func ManualKey(ws string, o Object) []byte {
	b := codec.AppendKeyString(ManualPrefix(ws, o.IsRelation()), o.A)
	if o.IsRelation() {
		b = codec.AppendKeyString(b, o.B)
	}
	return b
}

// ParseManualKey reads what follows ManualPrefix in a key.
func ParseManualKey(rest []byte, relations bool) (Object, error) { return parseObject(rest, relations) }

// AliasPrefix covers the aliases with one fold (graph.Fold); the value of each key is the name it stands for. The
// fold is hashed: it may be longer than a key, and only equality is asked for.
func AliasPrefix(ws, fold string) []byte {
	h := fnv.New64a()
	h.Write([]byte(fold))
	return codec.AppendKeyUint64(AliasesPrefix(ws), h.Sum64())
}

// AliasesPrefix covers all aliases, by the hash of their fold.
func AliasesPrefix(ws string) []byte { return append(space.In(ws, space.Manual), manualFold) }

// AliasKey is the entry of one alias.
func AliasKey(ws, fold, alias string) []byte { return append(AliasPrefix(ws, fold), alias...) }

// ParseAliasKey reads the alias in what follows AliasesPrefix in a key.
func ParseAliasKey(rest []byte) (alias string, err error) {
	_, rest, err = codec.KeyUint64(rest)
	return string(rest), err
}

// Bits of an encoded Manual.
const (
	manualDeleted = 1 << iota
	manualType
	manualDescription
	manualKeywords
	manualWeight
)

// Encode returns the stored form (the object is in the key).
func (m *Manual) Encode() []byte {
	var bits uint64
	for bit, on := range map[uint64]bool{manualDeleted: m.Deleted, manualType: m.Set.Type != nil,
		manualDescription: m.Set.Description != nil, manualKeywords: m.Set.Keywords != nil, manualWeight: m.Set.Weight != nil} {
		if on {
			bits |= bit
		}
	}
	b := codec.AppendUvarint(nil, bits)
	b = codec.AppendString(b, m.AliasOf)
	b = codec.AppendStrings(b, m.Aliases)
	if m.Set.Type != nil {
		b = codec.AppendString(b, *m.Set.Type)
	}
	if m.Set.Description != nil {
		b = codec.AppendString(b, *m.Set.Description)
	}
	if m.Set.Keywords != nil {
		b = codec.AppendStrings(b, m.Set.Keywords)
	}
	if m.Set.Weight != nil {
		b = codec.AppendVarint(b, int64(*m.Set.Weight))
	}
	return b
}

// DecodeManual reads what Encode wrote.
func DecodeManual(v []byte) (Manual, error) {
	r := codec.NewTextReader(v)
	bits := r.Uvarint()
	m := Manual{AliasOf: r.String(), Aliases: r.Strings(), Deleted: bits&manualDeleted != 0}
	if bits&manualType != 0 {
		s := r.String()
		m.Set.Type = &s
	}
	if bits&manualDescription != 0 {
		s := r.String()
		m.Set.Description = &s
	}
	if bits&manualKeywords != 0 {
		m.Set.Keywords = append([]string{}, r.Strings()...)
	}
	if bits&manualWeight != 0 {
		w := Weight(r.Varint())
		m.Set.Weight = &w
	}
	return m, r.Done()
}
