package cluster

import (
	"encoding/json"
	"fmt"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// Kinds of keys.
const (
	kindHead   byte = 'h' // → head, JSON
	kindSum    byte = 's' // generation, cell → count and sum
	kindNote   byte = 'd' // generation, cell → description
	kindMember byte = 'm' // generation, ordinal → cells
)

func headKey(ws string) []byte { return append(space.In(ws, space.Cluster), kindHead) }

// under is the prefix of the keys of a kind of one generation.
func under(ws string, kind byte, gen uint64) []byte {
	return codec.AppendKeyUint64(append(space.In(ws, space.Cluster), kind), gen)
}

func sumKey(ws string, gen uint64, cell uint32) []byte {
	return codec.AppendKeyUint32(under(ws, kindSum, gen), cell)
}

func noteKey(ws string, gen uint64, cell uint32) []byte {
	return codec.AppendKeyUint32(under(ws, kindNote, gen), cell)
}

func memberKey(ws string, gen uint64, ord uint64) []byte {
	return codec.AppendKeyUint64(under(ws, kindMember, gen), ord)
}

// head describes the present generation. It must stay readable for every later version.
type head struct {
	Generation uint64  `json:"generation"`
	Collection kv.LSN  `json:"collection"` // that created the collection of chunks
	Data       kv.LSN  `json:"data"`       // whose chunks were clustered
	Since      kv.LSN  `json:"since"`      // that put the generation in place
	Model      string  `json:"model"`
	Dim        int     `json:"dim"`
	Trained    int     `json:"trained"` // chunks at that time
	K          int     `json:"k"`       // clusters at that time
	Next       uint32  `json:"next"`    // the next cluster's id
	BuiltAt    int64   `json:"built_at"`
	Took       int64   `json:"took_ns,omitempty"` // to cluster, describe and measure
	Summarizer string  `json:"summarizer,omitempty"`
	Options    Options `json:"options"`
	Quality    Quality `json:"quality"`
	Limits     Limits  `json:"limits"`
	First      float64 `json:"first,omitempty"` // recall of the first routed questions under Limits; 0: not known
}

func (h *head) encode() ([]byte, error) { return json.Marshal(h) }

func decodeHead(b []byte) (h head, err error) {
	if err := json.Unmarshal(b, &h); err != nil {
		return h, fmt.Errorf("%w: head of the clusters: %w", kv.ErrCorrupt, err)
	}
	if h.Dim < 1 || h.Next < 1 {
		return h, fmt.Errorf("%w: head of the clusters: %d dimensions, next cluster %d", kv.ErrCorrupt, h.Dim, h.Next)
	}
	return h, nil
}

func encodeSum(n int, sum []int64) []byte {
	b := codec.AppendInt(nil, n)
	for _, v := range sum {
		b = codec.AppendVarint(b, v)
	}
	return b
}

func decodeSum(b []byte, dim int) (n int, sum []int64, err error) {
	r := codec.NewReader(b)
	n = r.Int()
	if dim > r.Len() { // a byte a value at least
		return 0, nil, fmt.Errorf("%w: sum of %d bytes, %d dimensions", kv.ErrCorrupt, len(b), dim)
	}
	sum = make([]int64, dim)
	for i := range sum {
		sum[i] = r.Varint()
	}
	return n, sum, broken("sum", r.Done())
}

func broken(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%w: %s of a cluster: %w", kv.ErrCorrupt, what, err)
	}
	return nil
}

// note is what is stored to describe a cluster: made with it, and anew when it has changed.
type note struct {
	Summary         string
	Keywords        []Keyword
	Representatives []string // chunk ids
	Radius          float64
	Size            int // then
	UpdatedAt       int64
	Trusted         bool      // the summary is nearer to its own mean than to any other
	Vector          []float32 // of the summary, of length one; nil without
	Mean            []float32 // then
}

func (n *note) encode() []byte {
	b := codec.AppendString(nil, n.Summary)
	b = codec.AppendInt(b, len(n.Keywords))
	for _, k := range n.Keywords {
		b = codec.AppendFloat64(codec.AppendString(b, k.Term), k.Weight)
		b = codec.AppendString(b, k.Word)
	}
	b = codec.AppendStrings(b, n.Representatives)
	b = codec.AppendFloat64(b, n.Radius)
	b = codec.AppendInt(b, n.Size)
	b = codec.AppendVarint(b, n.UpdatedAt)
	b = codec.AppendBool(b, n.Trusted)
	b = codec.AppendString(b, string(simd.AppendFloat32s(nil, n.Vector)))
	return codec.AppendString(b, string(simd.AppendFloat32s(nil, n.Mean)))
}

func decodeNote(b []byte, dim int) (*note, error) {
	r := codec.NewReader(b)
	n := &note{Summary: r.String()}
	for left := r.Int(); left > 0 && r.Err() == nil; left-- {
		k := Keyword{Term: r.String(), Weight: r.Float64()}
		k.Word = r.String()
		n.Keywords = append(n.Keywords, k)
	}
	n.Representatives = r.Strings()
	n.Radius = r.Float64()
	n.Size = r.Int()
	n.UpdatedAt = r.Varint()
	n.Trusted = r.Bool()
	for _, to := range []*[]float32{&n.Vector, &n.Mean} {
		switch v := r.Bytes(); {
		case len(v) == 4*dim:
			*to = make([]float32, dim)
			simd.Float32s(*to, v)
		case len(v) > 0:
			r.Fail("vector of another dimension")
		}
	}
	return n, broken("description", r.Done())
}

func encodeMember(cells []uint32) []byte {
	var b []byte
	for _, c := range cells {
		b = codec.AppendUvarint(b, uint64(c))
	}
	return b
}

func decodeMember(b []byte) ([]uint32, error) {
	r := codec.NewReader(b)
	var cells []uint32
	for r.Len() > 0 && r.Err() == nil {
		c := r.Uvarint()
		if c > maxCell || len(cells) == MaxReplicas {
			r.Fail("no such cell")
			break
		}
		cells = append(cells, uint32(c))
	}
	if len(cells) == 0 {
		r.Fail("no cell")
	}
	return cells, broken("members", r.Err())
}

// maxCell bounds ids on disk: lists are made for all below.
const maxCell = 1 << 24
