package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// Report tells what a Build made.
type Report struct {
	Info
	// Joined is the number of chunks that came, or went, while it was made.
	Joined int `json:"joined"`
	// Clustering, Describing and Measuring are the times that these took.
	Clustering time.Duration `json:"clustering_ns"`
	Describing time.Duration `json:"describing_ns"`
	Measuring  time.Duration `json:"measuring_ns"`
}

// memberBatch is the number of members in one commit.
const memberBatch = 32 << 10

// errMoved: the collection of chunks is another one than when the build began.
var errMoved = errors.New("cluster: the chunks were embedded anew meanwhile")

// Build clusters the chunks as the present view shows them and puts the result in the place of the present generation.
// Queries and documents go on meanwhile; what documents change is taken in by the commit that makes the switch. A build that
// ends early, by its context, a failing model or a kill, changes nothing that anybody sees. Before the first document nothing is
// built, and the report is empty.
//
// It costs about rounds · sample · K dot products, N·K for the assignment, 200 exact searches to measure, and for each
// cluster a summary. Memory beside the vectors: 12 bytes a chunk. Errors: *OptionError; what the models failed with.
func (l *Layer) Build(ctx context.Context, o Options) (Report, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Report{}, err
	}
	if err := l.begin(ctx); err != nil {
		return Report{}, err
	}
	defer l.end()
	return l.build(ctx, o)
}

func (l *Layer) build(ctx context.Context, o Options) (rep Report, err error) {
	view, err := l.cfg.Updater.View()
	if err != nil {
		return rep, err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	b := &builder{l: l, o: o, view: view}
	if b.coll, err = l.chunks(view); err != nil || b.coll == nil {
		b.rep.Data, b.rep.Options = view.LSN(), o
		return b.rep, err
	}
	for _, step := range []func(context.Context) error{b.cluster, b.describe, b.measure, b.stageMembers, b.swap} {
		if err := step(ctx); err != nil {
			return Report{}, fmt.Errorf("cluster: build: %w", err)
		}
	}
	b.rep.Info = l.Current().Info()
	return b.rep, nil
}

// builder is one build.
type builder struct {
	l    *Layer
	o    Options
	view *kv.Snapshot
	coll *vector.Collection
	part *partition
	head head
	nav  *Navigation // of the view
	rep  Report
}

func (b *builder) cluster(ctx context.Context) error {
	began := b.l.cfg.Now()
	old, err := b.l.headOf(b.view)
	if err != nil && !errors.Is(err, ErrNone) && !errors.Is(err, kv.ErrCorrupt) { // what is damaged is replaced
		return err
	}
	cfg := b.coll.Config()
	if cfg.Metric != vector.Cosine {
		return fmt.Errorf("%w: chunks compare by %v, clusters need cosine", vector.ErrParameter, cfg.Metric)
	}
	s, err := b.coll.Survey(b.view)
	if err != nil {
		return err
	}
	f := newField(s)
	if b.part, err = split(ctx, f, cfg.Dim, b.o); err != nil {
		return err
	}
	clusters := b.part.clusters(cfg.Dim)
	if err := b.part.replicate(ctx, clusters, b.o); err != nil {
		return err
	}
	if b.o.Replicas > 1 {
		clusters = b.part.clusters(cfg.Dim)
	}
	b.head = head{Generation: max(old.Generation, b.l.last()) + 1, Collection: b.coll.Born(), Data: b.view.LSN(), Model: cfg.Model, Dim: cfg.Dim,
		Trained: f.Len(), K: b.part.k, Next: uint32(b.part.k + 1), BuiltAt: b.l.cfg.Now().Unix(), Options: b.o}
	b.nav = &Navigation{head: b.head, clusters: clusters, coll: b.coll, seen: b.l.watch.newSeen(0)}
	b.nav.count()
	b.rep.Clustering = b.l.cfg.Now().Sub(began)
	return f.Err()
}

// last is the number of the generation in memory.
func (l *Layer) last() uint64 {
	if n := l.nav.Load(); n != nil {
		return n.head.Generation
	}
	return 0
}

func (b *builder) describe(ctx context.Context) error {
	began := b.l.cfg.Now()
	byID := make(map[uint32]*topic)
	var topics []*topic
	for _, c := range b.nav.clusters {
		if c != nil && c.ID != alwaysSearched {
			byID[c.ID] = &topic{c: c}
			topics = append(topics, byID[c.ID])
		}
	}
	for i, cell := range b.part.primary {
		if t := byID[cell]; t != nil {
			t.ids, t.vectors = append(t.ids, b.part.f.id(i)), append(t.vectors, b.part.f.vector(i))
		}
	}
	if err := b.l.describe(ctx, b.view, topics, b.o, b.nav.clusters, nil, len(topics)); err != nil {
		return err
	}
	for _, t := range topics {
		b.nav.clusters[t.c.ID] = t.c.described(t.note)
	}
	b.nav.terms = postings(b.nav.clusters)
	b.head.Summarizer = b.l.summarizer(b.o)
	b.rep.Describing = b.l.cfg.Now().Sub(began)
	return nil
}

// summarizer names what describes clusters under o.
func (l *Layer) summarizer(o Options) string {
	switch {
	case o.Summary == SummaryNone:
		return ""
	case l.cfg.Model == nil || o.Summary == SummaryExtractive:
		return rankerID
	}
	return l.cfg.Model.ID()
}

func (b *builder) measure(ctx context.Context) (err error) {
	began := b.l.cfg.Now()
	b.head.Quality, b.head.Limits, err = b.nav.measure(ctx, b.view, b.part, b.o)
	b.rep.Measuring = b.l.cfg.Now().Sub(began)
	b.head.Took = int64(b.rep.Clustering + b.rep.Describing + b.rep.Measuring)
	return errors.Join(err, b.part.f.Err())
}

// stageMembers stores the members of the generation, which nobody looks at yet, and clears what an earlier build left.
func (b *builder) stageMembers(ctx context.Context) error {
	ws, gen := b.l.cfg.Workspace, b.head.Generation
	update := func(f func(*kv.Batch) error) error {
		_, err := b.l.cfg.Updater.Update(ctx, ChangeKind, nil, f)
		return err
	}
	if err := update(func(batch *kv.Batch) error { return b.l.clear(batch) }); err != nil {
		return err
	}
	n := b.part.f.Len()
	for from := 0; from < n; from += memberBatch {
		err := update(func(batch *kv.Batch) error {
			for i := from; i < min(from+memberBatch, n); i++ {
				if err := batch.Set(memberKey(ws, gen, b.part.f.ordinal(i)), encodeMember(b.part.cellsOf(i))); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// clear removes the keys of all generations but the present one.
func (l *Layer) clear(b *kv.Batch) error {
	h, err := l.headOf(b)
	if err != nil && !errors.Is(err, ErrNone) && !errors.Is(err, kv.ErrCorrupt) {
		return err
	}
	var errs []error
	for _, kind := range []byte{kindSum, kindNote, kindMember} {
		end := codec.PrefixEnd(under(l.cfg.Workspace, kind, 0)[:len(headKey(l.cfg.Workspace))])
		errs = append(errs, b.DeleteRange(under(l.cfg.Workspace, kind, 0), under(l.cfg.Workspace, kind, h.Generation)),
			b.DeleteRange(under(l.cfg.Workspace, kind, h.Generation+1), end))
	}
	return errors.Join(errs...)
}

// swap takes in what changed since the view, and puts the generation in place.
func (b *builder) swap(ctx context.Context) error {
	_, err := b.l.cfg.Updater.Update(ctx, ChangeKind, nil, func(batch *kv.Batch) error {
		coll, err := b.l.chunks(batch)
		if err != nil {
			return err
		}
		if coll != b.coll {
			return errMoved
		}
		p, err := b.catchUp(batch)
		if err != nil {
			return err
		}
		b.rep.Joined = len(p.moves)
		h := b.head
		h.Since = batch.LSN() + 1
		n := b.nav.with(h.Since, h, p.changed())
		if err := b.stage(batch, n); err != nil {
			return err
		}
		n.cells = coll.NewCells()
		n.cells.Assign(b.members(p))
		batch.OnCommit(func(kv.LSN) { b.l.replace(n) })
		return nil
	})
	return err
}

// catchUp assigns the vectors that came since the view, and takes those away that went.
func (b *builder) catchUp(batch *kv.Batch) (*pending, error) {
	now, err := b.coll.Survey(batch)
	if err != nil {
		return nil, err
	}
	p := &pending{l: b.l, nav: b.nav, delta: make(map[uint32]*delta)}
	was := b.byOrdinal()
	ws, gen := b.l.cfg.Workspace, b.head.Generation
	at := 0
	gone := func(until uint64) error {
		for ; at < len(was) && b.part.f.ordinal(was[at]) < until; at++ {
			i := was[at]
			p.move(b.part.f.vector(i), b.part.f.ordinal(i), b.part.cellsOf(i), nil)
			if err := batch.Delete(memberKey(ws, gen, b.part.f.ordinal(i))); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range now.Len() {
		ord := now.Ordinal(i)
		if err := gone(ord); err != nil {
			return nil, err
		}
		if at < len(was) && b.part.f.ordinal(was[at]) == ord {
			at++
			continue
		}
		cells := b.nav.assign(now.Vector(i))
		p.move(now.Vector(i), ord, nil, cells)
		if err := batch.Set(memberKey(ws, gen, ord), encodeMember(cells)); err != nil {
			return nil, err
		}
	}
	const beyond = 1<<64 - 1
	return p, errors.Join(gone(beyond), now.Err())
}

// byOrdinal lists the numbers of the vectors in order of ordinal.
func (b *builder) byOrdinal() []int {
	out := make([]int, b.part.f.Len())
	for i, at := range b.part.f.order {
		out[at] = i // the survey is in that order
	}
	return out
}

// members are those of the generation with the changes of p.
func (b *builder) members(p *pending) []vector.CellChange {
	out := make([]vector.CellChange, 0, b.part.f.Len())
	gone := make(map[uint64]bool)
	for _, m := range p.moves {
		if len(m.To) == 0 {
			gone[m.Ordinal] = true
		}
	}
	for i := range b.part.f.Len() {
		if ord := b.part.f.ordinal(i); !gone[ord] {
			out = append(out, vector.CellChange{Ordinal: ord, To: b.part.cellsOf(i)})
		}
	}
	for _, m := range p.moves {
		if len(m.To) > 0 {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b vector.CellChange) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	return out
}

// stage writes the head and the clusters of n, and removes the generation before.
func (b *builder) stage(batch *kv.Batch, n *Navigation) error {
	v, err := n.head.encode()
	if err == nil {
		err = batch.Set(headKey(b.l.cfg.Workspace), v)
	}
	if err == nil {
		err = b.l.clear(batch) // the head is that of the new one
	}
	if err != nil {
		return err
	}
	for _, c := range n.clusters {
		if c != nil {
			if err := b.l.put(batch, n.head.Generation, c, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// put stages a cluster, and its description when that is new.
func (l *Layer) put(b *kv.Batch, gen uint64, c *Cluster, described bool) error {
	err := b.Set(sumKey(l.cfg.Workspace, gen, c.ID), encodeSum(c.Size, c.sum))
	if err == nil && described {
		err = b.SetText(noteKey(l.cfg.Workspace, gen, c.ID), c.note.encode())
	}
	return err
}
