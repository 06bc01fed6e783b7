package graph

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// Kinds of keys: the byte after a graph's prefix. On disk; see doc.go.
const (
	kindConfig   byte = 'c'
	kindCounters byte = 'k'
	kindName     byte = 's'
	kindID       byte = 'i'
	kindNode     byte = 'n'
	kindDegree   byte = 'd'
	kindOut      byte = 'o'
	kindIn       byte = 'r'
	kindEdge     byte = 'e'
	kindShelf    byte = 'h'
	kindFold     byte = 'f'
	kindDerived  byte = 'p'
	kindStamp    byte = 'a'
)

// layout numbers the meaning of the keys above; a graph with another number is refused. Layout 1 had no
// shelves, layout 2 no folded names.
const layout = 3

// MaxNameBytes bounds node, edge type and graph names. Names are keys: several must fit one block of the
// store (32 KiB), or every search in that block becomes a copy of it.
const MaxNameBytes = 4096

// nodeID is a node's number behind its name. 0 is no node.
type nodeID uint32

func (g *Graph) key(kind byte, room int) []byte {
	b := make([]byte, 0, len(g.prefix)+1+room)
	return append(append(b, g.prefix...), kind)
}

func (g *Graph) nameKey(name string) []byte { return append(g.key(kindName, len(name)), name...) }

func (g *Graph) idKey(kind byte, id nodeID) []byte {
	return codec.AppendKeyUint32(g.key(kind, 4), uint32(id))
}

func (g *Graph) pairKey(kind byte, a, b nodeID, typ string) []byte {
	return appendPair(g.key(kind, 8+len(typ)), a, b, typ)
}

func appendPair(k []byte, a, b nodeID, typ string) []byte {
	k = codec.AppendKeyUint32(k, uint32(a))
	k = codec.AppendKeyUint32(k, uint32(b))
	return append(k, typ...)
}

// keys makes n keys of a kind that are size bytes long together, behind what all of that kind have in common: rest
// appends what is behind that of the key at a place.
func (g *Graph) keys(kind byte, n, size int, rest func(k []byte, at int) []byte) [][]byte {
	keys := make([][]byte, n)
	all := make([]byte, 0, n*(len(g.prefix)+1)+size)
	for i := range keys {
		from := len(all)
		all = rest(append(append(all, g.prefix...), kind), i)
		keys[i] = all[from:len(all):len(all)]
	}
	return keys
}

// setID overwrites the id at the end of a key made by idKey.
func setID(key []byte, id nodeID) { binary.BigEndian.PutUint32(key[len(key)-4:], uint32(id)) }

// idOf reads the id of a key of kind i, n or d.
func (g *Graph) idOf(key []byte) (nodeID, error) {
	if len(key) != len(g.prefix)+5 {
		return 0, fmt.Errorf("%w: id key of %d bytes", kv.ErrCorrupt, len(key))
	}
	return nodeID(binary.BigEndian.Uint32(key[len(key)-4:])), nil
}

// listedID reads the other end from a key of kind o without the prefix of its node.
func listedID(key []byte) (nodeID, error) {
	if len(key) < 4 {
		return 0, corrupt(fmt.Errorf("key of an edge ends after %d bytes", len(key)))
	}
	return nodeID(binary.BigEndian.Uint32(key)), nil
}

// pairOf reads a key of kind o, r or e. typ aliases key.
func (g *Graph) pairOf(key []byte) (a, b nodeID, typ []byte, err error) {
	n := len(g.prefix) + 1
	if len(key) < n+8 {
		return 0, 0, nil, fmt.Errorf("%w: edge key of %d bytes", kv.ErrCorrupt, len(key))
	}
	return nodeID(binary.BigEndian.Uint32(key[n:])), nodeID(binary.BigEndian.Uint32(key[n+4:])), key[n+8:], nil
}

func appendConfig(b []byte, c Config) []byte {
	return codec.AppendBool(codec.AppendUvarint(b, layout), c.Directed)
}

func decodeConfig(v []byte) (Config, error) {
	r := codec.NewReader(v)
	if n := r.Uvarint(); r.Err() == nil && n != layout {
		return Config{}, fmt.Errorf("%w: graph layout %d, this version reads %d", kv.ErrCorrupt, n, layout)
	}
	c := Config{Directed: r.Bool()}
	return c, corrupt(r.Done())
}

func (c *counters) encode() []byte {
	b := codec.AppendUvarint(nil, c.next)
	b = codec.AppendUvarint(b, c.nodes)
	return codec.AppendUvarint(b, c.edges)
}

func decodeCounters(v []byte) (counters, error) {
	r := codec.NewReader(v)
	c := counters{next: r.Uvarint(), nodes: r.Uvarint(), edges: r.Uvarint()}
	return c, corrupt(r.Done())
}

func decodeID(v []byte) (nodeID, error) {
	id, rest, err := codec.KeyUint32(v)
	if err == nil && (len(rest) > 0 || id == 0) {
		err = errors.New("bad node id")
	}
	return nodeID(id), corrupt(err)
}

func appendWeight(b []byte, w float64) []byte { return codec.AppendFloat64(b, w) }

func decodeWeight(v []byte) (float64, error) {
	r := codec.NewReader(v)
	w := r.Float64()
	return w, corrupt(r.Done())
}

// Props are the properties of a node or an edge. Values are string, int64, float64 (finite), bool or
// []string; strings are valid UTF-8. A nil and an empty map are the same, and so are a nil and an empty
// list.
type Props map[string]any

// Values hands out the properties of a node or an edge one after the other, in order of key. What it told counts when
// it returns no error.
type Values = func(fn func(key string, v codec.Value)) error

// valuesIn hands out the properties that v has left.
func valuesIn(v *codec.Reader) Values {
	return func(fn func(string, codec.Value)) error {
		v.EachProp(fn)
		return corrupt(v.Done())
	}
}

func encodeNode(n Node) []byte {
	return codec.AppendProps(codec.AppendString(nil, n.Type), n.Props)
}

// decodeNode reads type and properties; name and degree live under other keys.
func decodeNode(v []byte) (Node, error) {
	r := codec.NewTextReader(v)
	n := Node{Type: r.String()}
	n.Props = r.Props()
	return n, corrupt(r.Done())
}

func encodeEdge(e Edge) []byte {
	return codec.AppendProps(appendWeight(nil, e.Weight), e.Props)
}

// decodeEdge reads weight and properties; the ends and the type are in the key.
func decodeEdge(v []byte) (Edge, error) {
	r := codec.NewTextReader(v)
	e := Edge{Weight: r.Float64()}
	e.Props = r.Props()
	return e, corrupt(r.Done())
}

func corrupt(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: graph: %w", kv.ErrCorrupt, err)
}

func checkName(field, s string) error {
	if s == "" {
		return &InvalidError{Field: field, Reason: "empty"}
	}
	return checkText(field, s)
}

func checkText(field, s string) error {
	if len(s) > MaxNameBytes {
		return &InvalidError{Field: field, Reason: fmt.Sprintf("%d bytes, limit %d (names are keys)", len(s), MaxNameBytes)}
	}
	if !utf8.ValidString(s) {
		return &InvalidError{Field: field, Reason: "not UTF-8"}
	}
	return nil
}

func checkWeight(w float64) error {
	if math.IsNaN(w) || math.IsInf(w, 0) {
		return &InvalidError{Field: "edge weight", Reason: fmt.Sprintf("%v is not finite", w)}
	}
	return nil
}

func checkProps(p Props) error {
	for _, k := range slices.Sorted(maps.Keys(p)) {
		if !utf8.ValidString(k) {
			return &InvalidError{Field: "property", Key: strings.ToValidUTF8(k, "\uFFFD"), Reason: "key is not UTF-8"}
		}
		reason := ""
		switch v := p[k].(type) {
		case int64, bool:
		case string:
			if !utf8.ValidString(v) {
				reason = "not UTF-8"
			}
		case float64:
			if math.IsNaN(v) || math.IsInf(v, 0) {
				reason = fmt.Sprintf("%v is not finite", v)
			}
		case []string:
			for i, s := range v {
				if !utf8.ValidString(s) {
					reason = fmt.Sprintf("element %d is not UTF-8", i)
					break
				}
			}
		default:
			reason = fmt.Sprintf("type %T; want string, int64, float64, bool or []string", v)
		}
		if reason != "" {
			return &InvalidError{Field: "property", Key: k, Reason: reason}
		}
	}
	return nil
}
