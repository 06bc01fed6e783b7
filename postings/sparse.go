package postings

import (
	"errors"

	"github.com/glimdb/db/kv"
)

// Epochs of which most items are gone hold many short blocks, each with a key, a head and a look of every search. Their
// items are moved where new items go: removed and added again, so that all that is said of these holds of a move.
const (
	// sparseItems is the number of items up to which a folded epoch is sparse: a quarter. A move is thus paid for by three
	// removals at least, however often items are replaced.
	sparseItems = epochSize / 4
	// movedItems is the number of items from which Sparse returns: those of one commit.
	movedItems = epochSize
)

// Place is where an item of a sparse epoch is.
type Place struct {
	ID      string
	ordinal ordinal
}

// Sparse lists the items of some sparse epochs from the one numbered from on (0: the first), at least 1,024 items while there
// are so many, and tells where to go on; done when there are no more. It costs a key for each item that it passes by.
func (x *Index) Sparse(r kv.Reader, from uint32) (list []Place, next uint32, done bool, err error) {
	c, err := x.readCounters(r)
	if err != nil {
		return nil, 0, false, x.failed("sparse epochs", err)
	}
	if uint64(from) >= c.folded {
		return nil, from, true, nil
	}
	lower, upper := x.itemKey(epoch(from).first()), x.itemKey(epoch(c.folded-1).at(epochSize-1))
	cur, err := r.Cursor(lower, append(upper, 0))
	if err != nil {
		return nil, 0, false, x.failed("sparse epochs", err)
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	begin, in := 0, epoch(from) // of the epoch that is read, in list
	for cur.Next() {
		n, err := numberOf(cur.Key(), len(x.prefix)+1)
		if err != nil {
			return nil, 0, false, err
		}
		_, id, err := decodeItem(cur.Value())
		if err != nil {
			return nil, 0, false, err
		}
		o := ordinal(n)
		if o.epoch() != in {
			if len(list) >= movedItems {
				return list, uint32(o.epoch()), false, nil
			}
			begin, in = len(list), o.epoch()
		}
		if begin >= 0 {
			list = append(list, Place{string(id), o})
		}
		if begin >= 0 && len(list)-begin > sparseItems { // not sparse: the rest of it is passed by
			list, begin = list[:begin], -1
		}
	}
	if err := cur.Err(); err != nil {
		return nil, 0, false, x.failed("sparse epochs", err)
	}
	return list, uint32(c.folded), true, nil
}

// Move stages that an item, which holds exactly terms, goes where new items go. moved is false, and nothing is staged, when
// it is no longer in its place. It costs what Remove and Add do.
func (x *Index) Move(b *kv.Batch, p Place, terms []Term) (moved bool, err error) {
	o, ok, err := x.ordinalOf(b, p.ID)
	if err != nil || !ok || o != p.ordinal {
		return false, err
	}
	if _, err := x.Remove(b, p.ID, terms); err != nil {
		return false, err
	}
	return true, x.Add(b, p.ID, terms)
}
