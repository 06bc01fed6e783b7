package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// pending is what a batch does to the layer: a delta for each cluster, staged as one key before the batch is applied.
type pending struct {
	l     *Layer
	nav   *Navigation
	delta map[uint32]*delta
	moves []vector.CellChange
}

type delta struct {
	n   int
	sum []int64
}

type pendingKey struct{ l *Layer }

// Changed implements vector.Observer: a chunk that comes goes to the nearest cluster, one that goes is subtracted from
// its own. A vector costs a dot product with each centroid and one key, a batch one key for each cluster that it touches.
func (l *Layer) Changed(b *kv.Batch, c *vector.Collection, ch vector.Change) error {
	nav := l.nav.Load()
	if nav == nil || nav.coll != c {
		return nil
	}
	p := b.Attachment(pendingKey{l}, func() any {
		p := &pending{l: l, nav: nav, delta: make(map[uint32]*delta)}
		b.BeforeApply(func() error { return p.stage(b) })
		b.OnCommit(p.publish)
		return p
	}).(*pending)
	if ch.Replaces {
		if err := p.remove(b, ch); err != nil {
			return fmt.Errorf("cluster: %w", err)
		}
	}
	if ch.After == nil {
		return nil
	}
	cells := nav.assign(ch.After)
	p.move(ch.After, ch.New, nil, cells)
	return b.Set(memberKey(l.cfg.Workspace, nav.head.Generation, ch.New), encodeMember(cells))
}

func (p *pending) remove(b *kv.Batch, ch vector.Change) error {
	key := memberKey(p.l.cfg.Workspace, p.nav.head.Generation, ch.Old)
	v, err := b.Get(key)
	if errors.Is(err, kv.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	cells, err := decodeMember(v)
	if err != nil {
		return err
	}
	p.move(ch.Before, ch.Old, cells, nil)
	return b.Delete(key)
}

// move counts a vector that leaves some cells for others.
func (p *pending) move(v []float32, ord uint64, from, to []uint32) {
	if len(from) > 0 && (len(to) == 0 || from[0] != to[0]) {
		p.count(from[0], v, -1)
	}
	if len(to) > 0 && (len(from) == 0 || from[0] != to[0]) {
		p.count(to[0], v, 1)
	}
	p.moves = append(p.moves, vector.CellChange{Ordinal: ord, From: from, To: to})
}

func (p *pending) count(cell uint32, v []float32, by int) {
	d := p.delta[cell]
	if d == nil {
		d = &delta{sum: make([]int64, p.nav.head.Dim)}
		p.delta[cell] = d
	}
	d.n += by
	add(d.sum, v, int64(by))
}

// changed returns the touched clusters as they will be, in order of id.
func (p *pending) changed() []*Cluster {
	out := make([]*Cluster, 0, len(p.delta))
	for id, d := range p.delta {
		sum, n, described := slices.Clone(d.sum), d.n, new(note)
		if old := p.nav.at(id); old != nil {
			n += old.Size
			described = old.note
			for i, v := range old.sum {
				sum[i] += v
			}
		}
		out = append(out, newCluster(id, n, sum, described))
	}
	slices.SortFunc(out, func(a, b *Cluster) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func (n *Navigation) at(id uint32) *Cluster {
	if int(id) < len(n.clusters) {
		return n.clusters[id]
	}
	return nil
}

func (p *pending) stage(b *kv.Batch) error {
	for _, c := range p.changed() {
		if err := b.Set(sumKey(p.l.cfg.Workspace, p.nav.head.Generation, c.ID), encodeSum(c.Size, c.sum)); err != nil {
			return err
		}
	}
	return nil
}

func (p *pending) publish(lsn kv.LSN) {
	if p.l.nav.Load() != p.nav { // the batch built clusters anew, or dropped them
		return
	}
	n := p.nav.with(lsn, p.nav.head, p.changed())
	n.cells.Assign(p.moves)
	p.l.nav.Store(n)
	p.l.nudge(n)
}

// nudge asks for Tend when something is to be done.
func (l *Layer) nudge(n *Navigation) {
	if len(n.due().list) == 0 {
		return
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// assign returns the cells that a new vector goes to: the nearest centroid's and its replicas. Without any centroid it is
// always searched.
func (n *Navigation) assign(v []float32) []uint32 {
	var far []Scored
	for _, c := range n.clusters {
		if c != nil && c.mean != nil && c.Size > 0 {
			far = append(far, Scored{c.ID, float64(simd.Dot(v, c.mean))})
		}
	}
	return closure(far, n.head.Options, func(id uint32) []float32 { return n.clusters[id].mean })
}

// closure chooses cells by cosine, as SPANN does (Chen and others, 2021): the nearest first, then those at most 1+ε times
// as far, but for those that are nearer to a chosen one than to the vector.
func closure(near []Scored, o Options, mean func(id uint32) []float32) []uint32 {
	if len(near) == 0 {
		return []uint32{alwaysSearched}
	}
	if o.Replicas == 1 {
		return []uint32{slices.MinFunc(near, byScore).ID}
	}
	slices.SortFunc(near, byScore)
	out := []uint32{near[0].ID}
	limit := distance(near[0].Score) * (1 + o.Epsilon)
	for _, s := range near[1:] {
		if len(out) == o.Replicas || distance(s.Score) > limit {
			break
		}
		near := func(chosen uint32) bool { return float64(simd.Dot(mean(s.ID), mean(chosen))) > s.Score }
		if !slices.ContainsFunc(out, near) {
			out = append(out, s.ID)
		}
	}
	return out
}

// distance is that of two vectors of length one, given their cosine.
func distance(cos float64) float64 { return math.Sqrt(max(0, 2*(1-cos))) }
