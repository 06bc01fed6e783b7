package record

import (
	"cmp"
	"slices"

	"github.com/glimdb/db/internal/codec"
)

// Count is a number of things of one kind. Lists of counts are sorted by Name, without zeros.
type Count struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// Counts turns a map into a sorted list.
func Counts(m map[string]int) []Count {
	var out []Count
	for k, n := range m {
		if n != 0 {
			out = append(out, Count{k, n})
		}
	}
	slices.SortFunc(out, func(a, b Count) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// CountMap turns a list into a map; nil when it is empty.
func CountMap(cs []Count) map[string]int {
	if len(cs) == 0 {
		return nil
	}
	m := make(map[string]int, len(cs))
	for _, c := range cs {
		m[c.Name] += c.N
	}
	return m
}

func appendCounts(b []byte, cs []Count) []byte {
	b = codec.AppendUvarint(b, uint64(len(cs)))
	for _, c := range cs {
		b = codec.AppendString(b, c.Name)
		b = codec.AppendInt(b, c.N)
	}
	return b
}

func readCounts(r *codec.Reader) []Count {
	n := r.Int()
	var out []Count
	for i := 0; i < n && r.Err() == nil; i++ {
		out = append(out, Count{Name: r.String(), N: r.Int()})
	}
	return out
}
