package graph

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// Degrees of pageSize consecutive ids share one key. On disk.
const (
	pageBits = 6
	pageSize = 1 << pageBits
)

// degreePage holds the degrees of ids page*pageSize ... page*pageSize+pageSize-1.
type degreePage [pageSize]uint32

func (id nodeID) page() nodeID { return id >> pageBits }
func (id nodeID) slot() int    { return int(id & (pageSize - 1)) }

// appendPage appends the degrees without the zeros at the end; an empty result means no key.
func appendPage(b []byte, p *degreePage) []byte {
	n := pageSize
	for n > 0 && p[n-1] == 0 {
		n--
	}
	for _, d := range p[:n] {
		b = binary.AppendUvarint(b, uint64(d))
	}
	return b
}

func decodePage(v []byte, p *degreePage) error {
	*p = degreePage{}
	for i := 0; len(v) > 0; i++ {
		if i == pageSize {
			return corrupt(errors.New("degree page is too long"))
		}
		if c := v[0]; c < 0x80 { // nearly all degrees
			p[i], v = uint32(c), v[1:]
			continue
		}
		d, n := binary.Uvarint(v)
		if n <= 0 || d > math.MaxUint32 {
			return corrupt(errors.New("bad degree"))
		}
		p[i], v = uint32(d), v[n:]
	}
	return nil
}

// degreeTable holds the pages of the ids it was loaded for.
type degreeTable struct {
	at    map[nodeID]int // page number -> index
	pages []degreePage
}

func (t *degreeTable) degree(id nodeID) int {
	if i, ok := t.at[id.page()]; ok {
		return int(t.pages[i][id.slot()])
	}
	return 0
}

// load adds the pages of ids that t does not hold yet.
func (t *degreeTable) load(g *Graph, r kv.Reader, ids []nodeID) error {
	if err := g.settle(r); err != nil {
		return err
	}
	if t.at == nil {
		t.at = make(map[nodeID]int)
	}
	var want []nodeID
	last := nodeID(math.MaxUint32) // no page has this number
	for _, id := range ids {
		p := id.page()
		if p == last {
			continue
		}
		last = p
		if _, ok := t.at[p]; !ok {
			t.at[p] = -1
			want = append(want, p)
		}
	}
	slices.Sort(want)
	base := len(t.pages)
	t.pages = slices.Grow(t.pages, len(want))[:base+len(want)]
	i := base
	return g.readMany(r, kindDegree, want, func(p nodeID, v []byte) error {
		t.at[p] = i
		i++
		if v == nil {
			t.pages[i-1] = degreePage{}
			return nil
		}
		return decodePage(v, &t.pages[i-1])
	})
}

// readMany calls fn for each of ids with the value under its key of that kind, nil where there is none.
func (g *Graph) readMany(r kv.Reader, kind byte, ids []nodeID, fn func(id nodeID, value []byte) error) error {
	values, err := r.GetMany(g.keys(kind, len(ids), 4*len(ids), func(k []byte, i int) []byte { return codec.AppendKeyUint32(k, uint32(ids[i])) }))
	if err != nil {
		return err
	}
	for i, v := range values {
		if err := fn(ids[i], v); err != nil {
			return err
		}
	}
	return nil
}

// Degrees returns the number of incident edges of each node, 0 for absent ones. A self-loop counts
// twice; in a directed graph incoming and outgoing edges count alike. It costs one pass over the names'
// keys and one over the degree pages.
func (g *Graph) Degrees(r kv.Reader, names []string) ([]int, error) {
	ids, err := g.lookup(r, names)
	if err != nil {
		return nil, fmt.Errorf("graph: degrees: %w", err)
	}
	var t degreeTable
	if err := t.load(g, r, ids); err != nil {
		return nil, fmt.Errorf("graph: degrees: %w", err)
	}
	out := make([]int, len(ids))
	for i, id := range ids {
		out[i] = t.degree(id)
	}
	return out, nil
}
