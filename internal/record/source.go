package record

import (
	"fmt"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
)

// Kind tells what a source record speaks of. The bytes are on disk.
type Kind byte

// The kinds of source records.
const (
	// KindEntity: a chunk describes an entity. Object: its name.
	KindEntity Kind = 'e'
	// KindRelation: a chunk describes a relation. Object: the pair.
	KindRelation Kind = 'r'
	// KindEndpoint: a relation record names an entity as one of its ends. Object: the entity's name. It
	// carries the relation's text, so that an entity known from relations only is derived like any other.
	KindEndpoint Kind = 'n'
)

// First bytes of tally keys, beside the kinds in space.Source.
const (
	tallyEntity   = 'E'
	tallyRelation = 'R'
)

// Object names an entity (B empty) or a relation (A <= B, B not empty).
type Object struct {
	A, B string
}

// EntityObject returns the object of an entity.
func EntityObject(name string) Object { return Object{A: name} }

// RelationObject returns the object of a pair in either order.
func RelationObject(a, b string) Object {
	a, b = SortPair(a, b)
	return Object{A: a, B: b}
}

// IsRelation reports whether o is a pair.
func (o Object) IsRelation() bool { return o.B != "" }

// String renders o for messages.
func (o Object) String() string {
	if o.IsRelation() {
		return fmt.Sprintf("relation %q - %q", o.A, o.B)
	}
	return fmt.Sprintf("entity %q", o.A)
}

// Compare orders entities before relations, each by name.
func (o Object) Compare(p Object) int {
	switch {
	case o.IsRelation() != p.IsRelation():
		if p.IsRelation() {
			return -1
		}
		return 1
	case o.A != p.A:
		if o.A < p.A {
			return -1
		}
		return 1
	case o.B != p.B:
		if o.B < p.B {
			return -1
		}
		return 1
	}
	return 0
}

// Position orders the source records of one object: by document sequence, chunk order, record number.
type Position struct {
	Seq    uint64 // document sequence: order of enqueue
	Order  int    // chunk order in the document
	Record int    // number of the record in the reply of its chunk
}

// Compare orders positions.
func (p Position) Compare(q Position) int {
	switch {
	case p.Seq != q.Seq:
		if p.Seq < q.Seq {
			return -1
		}
		return 1
	case p.Order != q.Order:
		return p.Order - q.Order
	}
	return p.Record - q.Record
}

// Source is one record as one chunk yielded it: the truth behind entities and relations.
type Source struct {
	Kind   Kind
	Object Object
	Position

	Doc         string
	Path        string // of the document
	Type        string // entities
	Description string
	Keywords    []string // relations
	Weight      Weight   // relations
	Reversed    bool     // relations: the text named the larger end of the pair first
}

// Mark is the place of the chunk the record comes from.
func (p Position) Mark() Mark { return Mark{Seq: p.Seq, Order: p.Order} }

// ChunkID is the chunk the record comes from.
func (s *Source) ChunkID() string { return ChunkID(s.Doc, s.Order) }

// SourcePrefix covers all records of one kind about one object, in order of Position.
func SourcePrefix(ws string, k Kind, o Object) []byte {
	b := append(space.In(ws, space.Source), byte(k))
	b = codec.AppendKeyString(b, o.A)
	if k == KindRelation {
		b = codec.AppendKeyString(b, o.B)
	}
	return b
}

// AppendPosition appends the ordered form of p to a prefix.
func AppendPosition(b []byte, p Position) []byte {
	b = codec.AppendKeyUint64(b, p.Seq)
	b = codec.AppendKeyUint32(b, uint32(p.Order))
	return codec.AppendKeyUint32(b, uint32(p.Record))
}

// Key is where the record is stored.
func (s *Source) Key(ws string) []byte {
	return AppendPosition(SourcePrefix(ws, s.Kind, s.Object), s.Position)
}

// positionSize is the length of an encoded Position.
const positionSize = 8 + 4 + 4

// ParseSourceKey reads what follows space.Source in a key. Tally keys and others are an error.
func ParseSourceKey(rest []byte) (k Kind, o Object, p Position, err error) {
	if len(rest) == 0 {
		return 0, o, p, fmt.Errorf("%w: empty source key", codec.ErrCorrupt)
	}
	k, rest = Kind(rest[0]), rest[1:]
	switch k {
	case KindEntity, KindRelation, KindEndpoint:
	default:
		return 0, o, p, fmt.Errorf("%w: unknown source kind %#x", codec.ErrCorrupt, byte(k))
	}
	if o.A, rest, err = codec.KeyString(rest); err != nil {
		return 0, o, p, err
	}
	if k == KindRelation {
		if o.B, rest, err = codec.KeyString(rest); err != nil {
			return 0, o, p, err
		}
	}
	p, err = ParsePosition(rest)
	return k, o, p, err
}

// ParsePosition reads exactly one encoded Position.
func ParsePosition(b []byte) (Position, error) {
	var p Position
	if len(b) != positionSize {
		return p, fmt.Errorf("%w: source position of %d bytes", codec.ErrCorrupt, len(b))
	}
	seq, b, err := codec.KeyUint64(b)
	if err != nil {
		return p, err
	}
	order, b, err := codec.KeyUint32(b)
	if err != nil {
		return p, err
	}
	rec, _, err := codec.KeyUint32(b)
	if err != nil {
		return p, err
	}
	return Position{Seq: seq, Order: int(order), Record: int(rec)}, nil
}

// Encode returns the stored form (Kind, Object and Position are in the key).
func (s *Source) Encode() []byte {
	b := make([]byte, 0, len(s.Doc)+len(s.Path)+len(s.Type)+len(s.Description)+32)
	b = codec.AppendString(b, s.Doc)
	b = codec.AppendString(b, s.Path)
	b = codec.AppendString(b, s.Description)
	switch s.Kind {
	case KindEntity:
		b = codec.AppendString(b, s.Type)
	case KindRelation:
		b = codec.AppendStrings(b, s.Keywords)
		b = codec.AppendVarint(b, int64(s.Weight))
		b = codec.AppendBool(b, s.Reversed)
	}
	return b
}

// DecodeSource reads what Encode wrote under the key (k, o, p).
func DecodeSource(k Kind, o Object, p Position, v []byte) (Source, error) {
	r := codec.NewTextReader(v)
	s := Source{Kind: k, Object: o, Position: p}
	s.Doc, s.Path, s.Description = r.String(), r.String(), r.String()
	switch k {
	case KindEntity:
		s.Type = r.String()
	case KindRelation:
		s.Keywords = r.Strings()
		s.Weight = Weight(r.Varint())
		s.Reversed = r.Bool()
	}
	return s, r.Done()
}
