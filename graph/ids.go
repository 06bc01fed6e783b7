package graph

import (
	"cmp"
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
	ids := make([]nodeID, len(names))
	if len(names) <= getsBeforeCursor {
		for i, name := range names {
			id, err := g.id(r, name)
			if err != nil && !errors.Is(err, kv.ErrNotFound) {
				return nil, err
			}
			ids[i] = id
		}
		return ids, nil
	}
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Compare(names[x], names[y]) })
	c, err := g.cursor(r, kindName)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	s := newSeeker(c, kindName)
	head := g.key(kindName, 64)
	key := head
	for _, i := range order {
		key = append(key[:len(head)], names[i]...)
		if !s.find(key) {
			continue
		}
		if ids[i], err = decodeID(c.Value()); err != nil {
			return nil, err
		}
	}
	return ids, c.Err()
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
	err := g.readSorted(r, kindID, ids, func(id nodeID, v []byte, ok bool) error {
		if !ok {
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
