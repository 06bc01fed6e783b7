package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/vector"
)

// Updater is the commit path.
type Updater interface {
	Update(ctx context.Context, kind string, ids []string, fn func(b *kv.Batch) error) (kv.LSN, error)
	View() (*kv.Snapshot, error)
}

// Summarizer condenses texts; those of package index are such. It is safe for concurrent use.
type Summarizer interface {
	Summarize(ctx context.Context, kind, name string, fragments []string) (string, error)
	ID() string
}

// Config is what a Layer works with. All but Model, Logger and Now are required.
type Config struct {
	Updater   Updater
	Vectors   *vector.Set
	Workspace string
	// Embedder returns the one of the stored vectors, which may change.
	Embedder func() llm.Embedder
	// Model writes summaries; nil: they are sentences of the chunks.
	Model Summarizer
	// RecallSample is the share of routed searches, 0 to 1, that Watch repeats exactly.
	RecallSample float64
	Now          func() time.Time // nil: time.Now
	Logger       *slog.Logger     // nil discards
}

// Layer is the navigation layer of one workspace. Safe for concurrent use.
type Layer struct {
	cfg   Config
	watch *watch
	nav   atomic.Pointer[Navigation]

	work chan struct{} // holds a token while a Build, Tend, Tune or Drop runs
	wake chan struct{}
}

// ChangeKind is the kind of the commits that build and mend the layer.
const ChangeKind = "clusters"

// ErrNone tells that no clusters have been built, or that those there were have been dropped. It is a kv.ErrNotFound.
var ErrNone = fmt.Errorf("cluster: no clusters have been built: %w", kv.ErrNotFound)

// Open reads the present generation from r, a view of the present state, if there is one: its descriptions, and a key for
// each vector. No batch may run meanwhile.
func Open(r kv.Reader, c Config) (*Layer, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	l := &Layer{cfg: c, watch: newWatch(c.RecallSample), work: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
	n, err := l.load(r)
	if err != nil {
		return nil, fmt.Errorf("cluster: open: %w", err)
	}
	if n != nil {
		l.nav.Store(n)
		n.coll.Observe(l)
	}
	return l, nil
}

// Current is the present navigation, or nil.
func (l *Layer) Current() *Navigation { return l.nav.Load() }

// Wake receives a value after commits that leave the layer in want of Tend.
func (l *Layer) Wake() <-chan struct{} { return l.wake }

// headOf reads the head, or ErrNone.
func (l *Layer) headOf(r kv.Reader) (head, error) {
	v, err := r.Get(headKey(l.cfg.Workspace))
	if errors.Is(err, kv.ErrNotFound) {
		return head{}, ErrNone
	}
	if err != nil {
		return head{}, err
	}
	return decodeHead(v)
}

// chunks is the collection of chunks; nil before the first document.
func (l *Layer) chunks(r kv.Reader) (*vector.Collection, error) {
	c, err := l.cfg.Vectors.Collection(r, l.cfg.Workspace, record.ChunkCollection)
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil
	}
	return c, err
}

// load returns the stored navigation; nil when there is none, or it is of another collection.
func (l *Layer) load(r kv.Reader) (*Navigation, error) {
	h, err := l.headOf(r)
	if errors.Is(err, ErrNone) {
		return nil, nil
	}
	coll, cerr := l.chunks(r)
	if err = errors.Join(err, cerr); err != nil {
		return nil, err
	}
	if coll == nil || !h.of(coll) {
		return nil, nil
	}
	n := &Navigation{head: h, lsn: r.LSN(), since: h.Since, clusters: make([]*Cluster, h.Next), coll: coll, cells: coll.NewCells(),
		seen: l.watch.newSeen(h.First)}
	err = l.each(r, kindSum, h.Generation, func(key, value []byte) error {
		cell, err := cellOf(key, h.Next)
		if err != nil {
			return err
		}
		size, sum, err := decodeSum(value, h.Dim)
		if err != nil {
			return err
		}
		d := new(note)
		if v, err := r.Get(noteKey(l.cfg.Workspace, h.Generation, cell)); err == nil {
			if d, err = decodeNote(v, h.Dim); err != nil {
				return err
			}
		} else if !errors.Is(err, kv.ErrNotFound) {
			return err
		}
		n.clusters[cell] = newCluster(cell, size, sum, d)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var in []vector.CellChange
	err = l.members(r, h, func(ord uint64, cells []uint32) error {
		in = append(in, vector.CellChange{Ordinal: ord, To: cells})
		return nil
	})
	n.cells.Assign(in)
	n.terms = postings(n.clusters)
	n.count()
	return n, err
}

// of reports whether the generation was made from coll.
func (h *head) of(coll *vector.Collection) bool {
	return coll.Born() == h.Collection && coll.Config().Model == h.Model && coll.Config().Dim == h.Dim
}

// each calls f for the keys of a kind of one generation, the part behind the generation.
func (l *Layer) each(r kv.Reader, kind byte, gen uint64, f func(key, value []byte) error) (err error) {
	prefix := under(l.cfg.Workspace, kind, gen)
	c, err := r.Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for c.Next() {
		if err := f(c.Key()[len(prefix):], c.Value()); err != nil {
			return err
		}
	}
	return c.Err()
}

// members calls f for each vector of a generation, in order of ordinal.
func (l *Layer) members(r kv.Reader, h head, f func(ord uint64, cells []uint32) error) error {
	return l.each(r, kindMember, h.Generation, func(key, value []byte) error {
		ord, rest, err := codec.KeyUint64(key)
		if err != nil || len(rest) > 0 {
			return fmt.Errorf("%w: member key of a cluster", kv.ErrCorrupt)
		}
		cells, err := decodeMember(value)
		if err != nil {
			return err
		}
		for _, c := range cells {
			if c >= h.Next {
				return fmt.Errorf("%w: vector %d is in cluster %d, which does not exist", kv.ErrCorrupt, ord, c)
			}
		}
		return f(ord, cells)
	})
}

func cellOf(key []byte, next uint32) (uint32, error) {
	cell, rest, err := codec.KeyUint32(key)
	if err != nil || len(rest) > 0 || cell >= next {
		return 0, fmt.Errorf("%w: key of cluster %d", kv.ErrCorrupt, cell)
	}
	return cell, nil
}

// Drop removes the clusters; without any it is ErrNone. No chunk is touched.
func (l *Layer) Drop(ctx context.Context) error {
	if err := l.begin(ctx); err != nil {
		return err
	}
	defer l.end()
	_, err := l.cfg.Updater.Update(ctx, ChangeKind, nil, func(b *kv.Batch) error {
		if _, err := l.headOf(b); err != nil && !errors.Is(err, kv.ErrCorrupt) {
			return err
		}
		all := space.In(l.cfg.Workspace, space.Cluster)
		b.OnCommit(func(kv.LSN) { l.replace(nil) })
		return b.DeleteRange(all, codec.PrefixEnd(all))
	})
	return err
}

// begin waits for the turn of work that excludes other such.
func (l *Layer) begin(ctx context.Context) error {
	select {
	case l.work <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Layer) end() { <-l.work }

// replace puts n in the place of the present navigation. It belongs to hooks of commits.
func (l *Layer) replace(n *Navigation) {
	old := l.nav.Load()
	if old != nil && (n == nil || old.coll != n.coll) {
		old.coll.Observe(nil)
	}
	l.nav.Store(n)
	if n != nil {
		n.coll.Observe(l)
	}
}
