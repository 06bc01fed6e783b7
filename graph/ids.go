package graph

import (
	"errors"
	"fmt"
	"slices"

	"github.com/glimdb/db/kv"
)

// id returns the id behind name, or a *MissingNodeError.
func (g *Graph) id(r kv.Reader, name string) (nodeID, error) {
	v, err := r.Get(g.nameKey(name))
	if errors.Is(err, kv.ErrNotFound) {
		return 0, &MissingNodeError{Name: name}
	}
	if err != nil {
		return 0, err
	}
	return decodeID(v)
}

// lookup returns the ids behind names, 0 where absent.
func (g *Graph) lookup(r kv.Reader, names []string) ([]nodeID, error) {
	size := 0
	for _, name := range names {
		size += len(name)
	}
	values, err := r.GetMany(g.keys(kindName, len(names), size, func(k []byte, i int) []byte { return append(k, names[i]...) }))
	if err != nil {
		return nil, err
	}
	ids := make([]nodeID, len(names))
	for i, v := range values {
		if v == nil {
			continue
		}
		if ids[i], err = decodeID(v); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// nameTable maps ids to names. All names share one allocation.
type nameTable struct {
	ids   []nodeID // sorted, distinct
	names []string
}

func (t *nameTable) name(id nodeID) string {
	i, ok := slices.BinarySearch(t.ids, id)
	if !ok {
		return ""
	}
	return t.names[i]
}

// namesOf resolves ids, which it sorts and makes distinct. An id without a name breaks invariant G1 and
// is an error.
func (g *Graph) namesOf(r kv.Reader, ids []nodeID) (nameTable, error) {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	ends := make([]int, 0, len(ids))
	var all []byte
	err := g.readMany(r, kindID, ids, func(id nodeID, v []byte) error {
		if v == nil {
			return corrupt(fmt.Errorf("id %d has no name", id))
		}
		all = append(all, v...)
		ends = append(ends, len(all))
		return nil
	})
	if err != nil {
		return nameTable{}, err
	}
	t := nameTable{ids: ids, names: make([]string, len(ids))}
	text, from := string(all), 0
	for i, end := range ends {
		t.names[i], from = text[from:end], end
	}
	return t, nil
}
