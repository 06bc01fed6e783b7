package cluster

import (
	"fmt"
	"math"
	"slices"
)

// When Tend acts. Only what changed since a cluster was described is undone: a partition that k-means made uneven is left
// alone.
const (
	splitSize    = 4   // times the mean size
	splitSpread  = 2   // times the median spread
	splitLeast   = 32  // members: fewer do not place two centroids
	mergeShare   = 0.1 // of the mean size
	mergeLeast   = 8   // members
	rebuildTimes = 2   // as many chunks as when it was built
	rebuildFrom  = 100 // chunks, before which it is not worth it
	imbalance    = 8   // largest to mean size
)

type task uint8

const (
	taskRebuild task = iota
	taskMerge
	taskSplit
	taskDescribe
)

// duty is something that Tend has to do.
type duty struct {
	task task
	cell uint32
}

// String tells it to a person.
func (d duty) String() string {
	if d.task == taskRebuild {
		return "rebuild"
	}
	return fmt.Sprintf("%s cluster %d", [...]string{"rebuild", "merge", "split", "describe"}[d.task], d.cell)
}

// duties are what is to be done, in order.
type duties struct{ list []duty }

func (d *duties) of(t task) (out []uint32) {
	for _, x := range d.list {
		if x.task == t {
			out = append(out, x.cell)
		}
	}
	return out
}

// due lists what changes since the clusters were made call for.
func (n *Navigation) due() duties {
	var d duties
	mean := float64(n.total) / float64(max(1, n.k))
	largest := 0
	var spreads []float64
	for _, c := range n.clusters {
		if c != nil && c.ID != alwaysSearched && c.Size > 0 {
			largest = max(largest, c.Size)
			spreads = append(spreads, c.spread)
		}
	}
	grown := n.total >= rebuildTimes*max(n.head.Trained, rebuildFrom)
	uneven := n.total != n.head.Trained && n.k > 1 && float64(largest) > imbalance*mean && n.head.Options.Method == KMeans && n.grew(largest)
	if grown || uneven || n.seen.lost() {
		return duties{[]duty{{taskRebuild, 0}}}
	}
	slices.Sort(spreads)
	median := math.Inf(1)
	if len(spreads) > 0 {
		median = spreads[len(spreads)/2]
	}
	var split, describe []duty
	for _, c := range n.clusters {
		if c == nil || c.ID == alwaysSearched {
			continue
		}
		switch size := float64(c.Size); {
		case c.Size == 0 || n.k > 1 && c.Size < c.note.Size && size < max(mergeLeast, mergeShare*mean):
			d.list = append(d.list, duty{taskMerge, c.ID})
		case c.Size > c.note.Size && c.Size >= splitLeast && c.note.UpdatedAt != 0 && (size > splitSize*mean || c.spread > splitSpread*median) &&
			c.dirty && c.spread > indivisible:
			split = append(split, duty{taskSplit, c.ID})
		case c.dirty:
			describe = append(describe, duty{taskDescribe, c.ID})
		}
	}
	d.list = append(append(d.list, split...), describe...)
	return d
}

// indivisible is the spread of vectors that are all the same.
const indivisible = 1e-5

// grew reports whether a cluster of that size has grown since it was described.
func (n *Navigation) grew(size int) bool {
	return slices.ContainsFunc(n.clusters, func(c *Cluster) bool {
		return c != nil && c.ID != alwaysSearched && c.Size == size && float64(c.Size) > (1+dirtySize)*float64(c.note.Size)
	})
}
