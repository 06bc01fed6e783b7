package vector

import (
	"context"
	"errors"
	"sync"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

const (
	// feedBatch slots are indexed between two looks at other work; their links become one record.
	feedBatch = 64
	// tailBytes bounds what a search compares of the vectors that wait for the index, codes or rows: about what
	// a walk of the graph costs. Above it, and above tailMin vectors, writers help.
	tailBytes, tailMin = 512 << 10, 256
	// helpSlots are indexed by each Put beyond the bound: more than the one it adds, so that the tail
	// shrinks.
	helpSlots = 2
)

// feed is the work of one collection's index. Its lock is never held while waiting for the writer turn,
// because a writer in its turn may wait for it.
type feed struct {
	mu    sync.Mutex
	erase bool // the persisted form of a dropped index is to be removed
}

// indexer runs the background work of a set: one goroutine, woken by commits.
type indexer struct {
	set    *Set
	ctx    context.Context
	cancel context.CancelFunc
	poke   chan struct{}
	done   chan struct{}
}

func startIndexer(s *Set) *indexer {
	x := &indexer{set: s, poke: make(chan struct{}, 1), done: make(chan struct{})}
	x.ctx, x.cancel = context.WithCancel(context.Background())
	x.wake()
	go x.run()
	return x
}

func (x *indexer) wake() {
	select {
	case x.poke <- struct{}{}:
	default:
	}
}

func (x *indexer) run() {
	defer close(x.done)
	for {
		select {
		case <-x.ctx.Done():
			return
		case <-x.poke:
		}
		if err := x.set.settle(x.ctx); err != nil && x.ctx.Err() == nil {
			x.set.log.Warn("vector: index data could not be saved; it will be written again later", "err", err)
		}
	}
}

func (x *indexer) close() error {
	x.cancel()
	<-x.done
	return nil
}

// help indexes a few slots on the caller's goroutine when too many wait.
func (x *indexer) help(c *Collection) {
	g := c.gen.Load()
	if g.index == nil || g.points.Len()-g.fed.Load() <= c.tailMax() {
		return
	}
	c.feed.mu.Lock()
	defer c.feed.mu.Unlock()
	c.take(helpSlots)
}

// tailMax is the number of vectors waiting for the index above which writers help.
func (c *Collection) tailMax() uint32 {
	p := c.gen.Load().points
	each := p.codeStride + 8*p.wordStride
	if each == 0 {
		each = 4 * p.stride
	}
	return uint32(max(tailMin, tailBytes/each))
}

// Settle does the background work that is due, on this goroutine, and returns when there is none: the
// tails are empty, vectors that no view shows are forgotten, and what was derived is committed. Call it
// outside a writer turn. Searches are right without it; it only moves the work.
func (s *Set) Settle(ctx context.Context) error {
	s.mu.RLock()
	closed := s.closed
	s.mu.RUnlock()
	if closed {
		return ErrClosed
	}
	return s.settle(ctx)
}

func (s *Set) settle(ctx context.Context) error {
	var errs []error
	for _, c := range s.collections() {
		if s.forget(c) {
			continue
		}
		errs = append(errs, c.settle(ctx))
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// settle does and saves what is due for one collection, as long as it lives.
func (c *Collection) settle(ctx context.Context) error {
	for more := true; more && c.live.Load(); {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.bring(ctx); err != nil {
			return err
		}
		c.set.balance()
		more = c.work()
		if err := c.save(ctx); err != nil {
			return err
		}
	}
	return nil
}

// forget lets go of a dropped collection that no view shows, and reports whether c was dropped.
func (s *Set) forget(c *Collection) bool {
	end := kv.LSN(c.dropped.Load())
	if end == 0 {
		return false
	}
	if err := c.letAwaited(); err != nil {
		s.log.Warn("vector: a view could not be closed", "collection", c.Name(), "err", err)
	}
	if s.o.Oldest != nil && s.o.Oldest() >= end {
		s.mu.Lock()
		s.let(c)
		s.mu.Unlock()
	}
	return true
}

// work does one portion of what is due and reports whether more is.
func (c *Collection) work() bool {
	c.feed.mu.Lock()
	defer c.feed.mu.Unlock()
	c.adopt()
	c.take(feedBatch)
	c.reclaim()
	g := c.gen.Load()
	return g.index != nil && (g.fed.Load() < g.points.Len() || len(g.doomed) > 0)
}

// adopt gives the collection an index once it has outgrown the exact threshold.
func (c *Collection) adopt() {
	g := c.gen.Load()
	if g.index != nil || c.set.o.NewIndex == nil || c.size() <= c.set.o.ExactBytes || g.points.Len() == 0 {
		return
	}
	x := c.newIndex()
	x.Attach(g.points, nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	next := newGeneration(g.points, x)
	next.gone, next.dead = g.gone, g.dead
	c.gen.Store(next)
}

// size is the number of values of the present vectors: the bytes of their int8 codes, where there are any.
func (c *Collection) size() int64 { return int64(c.count.Load().n) * int64(c.config.Dim) }

// take feeds up to n slots of the tail to the index. While that holds ghosts it waits: what is inserted among
// vectors that lie nowhere is badly linked for good.
func (c *Collection) take(n int) {
	g := c.gen.Load()
	if g.index == nil || !g.whole.Load() {
		return
	}
	oldest := c.oldest()
	fed, end := g.fed.Load(), g.points.Len()
	if fed == end {
		return
	}
	for ; n > 0 && fed < end; n-- {
		if ended := g.points.Ended(fed); ended == 0 || ended > oldest {
			g.index.Insert(fed)
		}
		fed++
		g.fed.Store(fed)
	}
	g.index.Skip(g.points.Ordinal(fed - 1))
}

// oldest returns a commit such that no view, open or to come, is before it. The deletes it is compared
// with must have been read before, or be at most it: the last commit published here bounds it.
func (c *Collection) oldest() kv.LSN {
	if c.set.o.Oldest == nil {
		return 0
	}
	last := c.count.Load().lsn
	return min(last, c.set.o.Oldest())
}

// save commits what the index wants written. It is called without feed.mu, and by one goroutine at a time
// for a collection, so that writes commit in the order in which they were drained.
func (c *Collection) save(ctx context.Context) error {
	if c.set.o.Update == nil {
		return nil
	}
	c.persist.Lock()
	defer c.persist.Unlock()
	c.feed.mu.Lock()
	x := c.gen.Load().index
	var writes []func(*kv.Batch) error
	erase := c.feed.erase
	if erase {
		prefix := indexPrefix(c.ws, c.id)
		writes = append(writes, func(b *kv.Batch) error { return b.DeleteRange(prefix, codec.PrefixEnd(prefix)) })
		c.feed.erase = false
	}
	if x != nil {
		writes = append(writes, x.Drain()...)
	}
	c.feed.mu.Unlock()
	for _, w := range writes {
		if err := c.update(ctx, w); err != nil {
			c.feed.mu.Lock()
			if x != nil {
				x.Lost()
			}
			c.feed.erase = c.feed.erase || erase
			c.feed.mu.Unlock()
			return err
		}
	}
	return c.savePacks(ctx)
}

// update commits what w writes, unless the collection was dropped, whose keys are gone and stay gone, or released.
func (c *Collection) update(ctx context.Context, w func(*kv.Batch) error) error {
	_, err := c.set.o.Update(ctx, ChangeKind, nil, func(b *kv.Batch) error {
		if !c.live.Load() {
			return nil
		}
		return w(b)
	})
	return err
}
