package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/glimdb/db/internal/kmeans"
	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/kv"
)

// TendReport tells what Tend did.
type TendReport struct {
	Rebuilt   bool `json:"rebuilt"`
	Merged    int  `json:"merged"`
	Split     int  `json:"split"`
	Moved     int  `json:"moved"` // chunks that went to another cluster
	Described int  `json:"described"`
}

// Tend does what changes of documents have made due (Info.Due): clusters that have become small send their members to the
// next nearest; large and wide ones are split in two, and the vectors around them looked at again (LIRE; Xu and others,
// "SPFresh", 2023); outdated descriptions are made anew, the old ones staying until then; and a generation that has
// doubled, or by which questions find less than they did (Monitored), is built anew with its own options, but by k-means
// when the method does not take so many. Each is a commit of its own, planned on a view, that leaves alone what
// another commit changed meanwhile. Queries and documents go on. Without clusters it does nothing.
func (l *Layer) Tend(ctx context.Context) (rep TendReport, err error) {
	if err := l.begin(ctx); err != nil {
		return rep, err
	}
	defer l.end()
	n := l.nav.Load()
	if n == nil {
		return rep, nil
	}
	d := n.due()
	if len(d.of(taskRebuild)) > 0 {
		_, err := l.build(ctx, n.head.Options.outgrown(n.total))
		rep.Rebuilt = err == nil
		return rep, err
	}
	for _, cell := range d.of(taskMerge) {
		moved, err := l.rearrange(ctx, cell, planMerge)
		if err != nil {
			return rep, fmt.Errorf("cluster: merge cluster %d: %w", cell, err)
		}
		rep.Moved += moved
		rep.Merged++
	}
	for _, cell := range d.of(taskSplit) {
		moved, err := l.rearrange(ctx, cell, planSplit)
		if err != nil {
			return rep, fmt.Errorf("cluster: split cluster %d: %w", cell, err)
		}
		rep.Moved += moved
		rep.Split++
	}
	rep.Described, err = l.refresh(ctx)
	return rep, err
}

// move is a planned move of a member.
type move struct {
	ord      uint64
	v        []float32
	from, to []uint32
}

// arrangement is a change of clusters on its way: planned on a view, applied in the writer turn.
type arrangement struct {
	l     *Layer
	view  *kv.Snapshot
	nav   *Navigation
	cell  uint32 // that goes
	next  uint32 // the next cluster's id, afterwards
	moves []move
}

// rearrange plans and commits a change that takes the members of cell elsewhere.
func (l *Layer) rearrange(ctx context.Context, cell uint32, plan func(context.Context, *arrangement) error) (moved int, err error) {
	view, err := l.cfg.Updater.View()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	a := &arrangement{l: l, view: view, nav: l.nav.Load(), cell: cell}
	if a.nav == nil || a.nav.at(cell) == nil {
		return 0, nil
	}
	a.next = a.nav.head.Next
	if err := plan(ctx, a); err != nil {
		return 0, err
	}
	_, err = l.cfg.Updater.Update(ctx, ChangeKind, nil, func(b *kv.Batch) error {
		moved, err = a.apply(b)
		return err
	})
	return moved, err
}

// member is one of a cluster, first of all.
type member struct {
	ord   uint64
	v     []float32
	cells []uint32
}

// members are those that have cell as their primary.
func (a *arrangement) members(ctx context.Context, cell uint32) ([]member, error) {
	return a.l.primaries(ctx, a.view, a.nav, cell)
}

func (l *Layer) primaries(ctx context.Context, r kv.Reader, n *Navigation, cell uint32) ([]member, error) {
	all := n.cells.Members(r, cell)
	ids := make([]string, len(all))
	for i, m := range all {
		ids[i] = m.ID
	}
	vectors, err := n.coll.GetMany(r, ids)
	if err != nil {
		return nil, err
	}
	var out []member
	for i, m := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v, err := r.Get(memberKey(l.cfg.Workspace, n.head.Generation, m.Ordinal))
		if errors.Is(err, kv.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		cells, err := decodeMember(v)
		if err != nil {
			return nil, err
		}
		if cells[0] == cell && vectors[i] != nil {
			out = append(out, member{m.Ordinal, vectors[i], cells})
		}
	}
	return out, nil
}

// without returns the navigation as if cell were gone and others had come.
func (n *Navigation) without(cell uint32, others ...*Cluster) *Navigation {
	out := n.with(n.lsn, n.head, others)
	out.clusters[cell] = nil
	return out
}

// planMerge sends every member to the nearest other cluster.
func planMerge(ctx context.Context, a *arrangement) error {
	list, err := a.members(ctx, a.cell)
	if err != nil {
		return err
	}
	rest := a.nav.without(a.cell)
	for _, m := range list {
		a.moves = append(a.moves, move{m.ord, m.v, m.cells, rest.assign(m.v)})
	}
	return nil
}

// aroundSplit is the number of clusters whose members are looked at again after a split.
const aroundSplit = 8

// planSplit makes two clusters of one, and moves what is nearer to another centroid then.
func planSplit(ctx context.Context, a *arrangement) error {
	list, err := a.members(ctx, a.cell)
	if err != nil {
		return err
	}
	h := a.nav.head
	rows := kmeans.Rows{N: len(list), Dim: h.Dim, Row: func(i int) []float32 { return list[i].v }}
	c, err := kmeans.Run(ctx, rows, kmeans.Options{K: 2, Spherical: true, Seed: h.Options.Seed, SampleEach: len(list)})
	if err != nil {
		return err
	}
	halves, err := c.Assign(ctx, rows, 1)
	if err != nil {
		return err
	}
	sums := [2][]int64{make([]int64, h.Dim), make([]int64, h.Dim)}
	var sizes [2]int
	for i, half := range halves {
		add(sums[half], list[i].v, 1)
		sizes[half]++
	}
	first := newCluster(h.Next, sizes[0], sums[0], new(note))
	second := newCluster(h.Next+1, sizes[1], sums[1], new(note))
	if sizes[0] == 0 || sizes[1] == 0 || first.mean == nil || second.mean == nil {
		return nil // nothing moves, and the description tells the size from then on
	}
	a.next += 2
	now := a.nav.without(a.cell, first, second)
	for _, m := range list {
		a.moves = append(a.moves, move{m.ord, m.v, m.cells, now.assign(m.v)})
	}
	return a.around(ctx, now, first, second)
}

// around moves the members of the nearest clusters that are nearer to one of the new centroids than to their own.
func (a *arrangement) around(ctx context.Context, now *Navigation, first, second *Cluster) error {
	old := a.nav.at(a.cell)
	var near []Scored
	for _, c := range a.nav.clusters {
		if c != nil && c.ID != a.cell && c.mean != nil && c.Size > 0 && old.mean != nil {
			near = append(near, Scored{c.ID, float64(simd.Dot(old.mean, c.mean))})
		}
	}
	slices.SortFunc(near, byScore)
	for _, s := range near[:min(len(near), aroundSplit)] {
		list, err := a.members(ctx, s.ID)
		if err != nil {
			return err
		}
		own := a.nav.at(s.ID).mean
		for _, m := range list {
			if max(simd.Dot(m.v, first.mean), simd.Dot(m.v, second.mean)) > simd.Dot(m.v, own) {
				a.moves = append(a.moves, move{m.ord, m.v, m.cells, now.assign(m.v)})
			}
		}
	}
	return nil
}

// apply stages the moves whose members are still where they were, and the end of a cluster without members.
func (a *arrangement) apply(b *kv.Batch) (moved int, err error) {
	nav, ws := a.l.nav.Load(), a.l.cfg.Workspace
	if nav == nil || nav.head.Generation != a.nav.head.Generation || nav.head.Next != a.nav.head.Next {
		return 0, nil
	}
	h := nav.head
	h.Next = a.next
	p := &pending{l: a.l, nav: nav, delta: make(map[uint32]*delta)}
	for _, m := range a.moves {
		key := memberKey(ws, h.Generation, m.ord)
		v, err := b.Get(key)
		if errors.Is(err, kv.ErrNotFound) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if cells, err := decodeMember(v); err != nil || !slices.Equal(cells, m.from) {
			if err != nil {
				return 0, err
			}
			continue
		}
		if err := b.Set(key, encodeMember(m.to)); err != nil {
			return 0, err
		}
		p.move(m.v, m.ord, m.from, m.to)
		moved++
	}
	next := nav.with(b.LSN()+1, h, p.changed())
	if err := p.stage(b); err != nil {
		return 0, err
	}
	if next.clusters[a.cell].Size == 0 {
		next = next.without(a.cell)
		next.terms = postings(next.clusters)
		next.count()
		if err := errors.Join(b.Delete(sumKey(ws, h.Generation, a.cell)), b.Delete(noteKey(ws, h.Generation, a.cell))); err != nil {
			return 0, err
		}
	}
	v, err := h.encode()
	if err != nil {
		return 0, err
	}
	b.OnCommit(func(kv.LSN) {
		next.cells.Assign(p.moves)
		a.l.nav.Store(next)
	})
	return moved, b.Set(headKey(ws), v)
}

// refresh describes the clusters anew whose descriptions are outdated.
func (l *Layer) refresh(ctx context.Context) (described int, err error) {
	view, err := l.cfg.Updater.View()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	n := l.nav.Load()
	if n == nil {
		return 0, nil
	}
	var topics []*topic
	for _, c := range n.clusters {
		if c == nil || c.Size == 0 || !c.dirty {
			continue
		}
		list := n.cells.Members(view, c.ID)
		t := &topic{c: c, ids: make([]string, len(list))}
		for i, m := range list {
			t.ids[i] = m.ID
		}
		if t.vectors, err = n.coll.GetMany(view, t.ids); err != nil {
			return 0, err
		}
		topics = append(topics, t)
	}
	if len(topics) == 0 {
		return 0, nil
	}
	df := func(term string) int { return 1 + len(n.terms[term]) }
	if err := l.describe(ctx, view, topics, n.head.Options, n.clusters, df, n.k); err != nil {
		return 0, fmt.Errorf("cluster: %w", err)
	}
	_, err = l.cfg.Updater.Update(ctx, ChangeKind, nil, func(b *kv.Batch) error {
		now := l.nav.Load()
		if now == nil || now.head.Generation != n.head.Generation {
			return nil
		}
		var changed []*Cluster
		for _, t := range topics {
			if c := now.at(t.c.ID); c != nil {
				changed = append(changed, c.described(t.note))
			}
		}
		slices.SortFunc(changed, func(a, b *Cluster) int { return cmp.Compare(a.ID, b.ID) })
		for _, c := range changed {
			if err := l.put(b, n.head.Generation, c, true); err != nil {
				return err
			}
		}
		described = len(changed)
		next := now.with(b.LSN()+1, now.head, changed)
		b.OnCommit(func(kv.LSN) { l.nav.Store(next) })
		return nil
	})
	return described, err
}
