package vector

import (
	"context"
	"fmt"
	"slices"

	"github.com/glimdb/db/kv"
)

const (
	// feedStep is how many vectors an index takes in before searches and persistence hear of it: the tail
	// they scan meanwhile costs less than one search.
	feedStep = 128
	// maxTail is how many vectors may wait for the index before a commit helps with them: scanning more
	// would cost more than the graph search beside it.
	maxTail = 4096
	// deadShare is the share of dead slots, one in deadShare, from which a collection moves to new points.
	deadShare = 4
	// minDead is the number of dead slots below which moving is not worth it.
	minDead = 256
)

// nudge wakes the indexer.
func (s *Set) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// work is the indexer: it feeds what commits left in the tails to the indexes until the set is closed.
func (s *Set) work() {
	defer close(s.done)
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.wake:
		}
		if err := s.upkeep(s.ctx); err != nil && s.ctx.Err() == nil {
			s.o.Logger.Warn("vector index upkeep failed; searches stay exact about what it lacks", "err", err)
		}
	}
}

// Settle waits until every index has taken in all vectors committed before the call, helping with it.
func (s *Set) Settle(ctx context.Context) error {
	if s.o.NewIndex == nil {
		return nil
	}
	if err := s.upkeep(ctx); err != nil {
		return fmt.Errorf("vector: settle: %w", err)
	}
	return nil
}

// upkeep brings every collection up to date once.
func (s *Set) upkeep(ctx context.Context) error {
	s.feed.Lock()
	defer s.feed.Unlock()
	for _, st := range s.all() {
		if err := st.upkeep(ctx); err != nil {
			return fmt.Errorf("collection %q: %w", st.name, err)
		}
	}
	return ctx.Err()
}

func (s *Set) all() []*state {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]*state, 0, len(s.states))
	for _, st := range s.states {
		all = append(all, st)
	}
	slices.SortFunc(all, func(a, b *state) int { return cmpOrd(uint64(a.id), uint64(b.id)) })
	return all
}

func (st *state) upkeep(ctx context.Context) error {
	if lsn := kv.LSN(st.dropped.Load()); lsn != 0 {
		if st.set.o.Oldest() >= lsn {
			st.set.mu.Lock()
			delete(st.set.states, st.id)
			st.set.mu.Unlock()
		}
		return nil
	}
	st.shed()
	for ctx.Err() == nil {
		more, err := st.step(ctx)
		if err != nil || !more {
			return err
		}
	}
	return ctx.Err()
}

// step feeds the next few vectors to the index and reports whether more wait.
func (st *state) step(ctx context.Context) (more bool, err error) {
	x, more := st.take()
	if x == nil {
		return false, nil
	}
	return more, st.persist(ctx, x)
}

// take feeds the next few vectors to the index, which it returns; nil when there was nothing to do. The
// caller holds the set's feed lock.
func (st *state) take() (x Index, more bool) {
	sh := st.shape.Load()
	n := sh.p.Len()
	if sh.index == nil {
		if !st.large(sh.p) {
			return nil, false
		}
		sh = &shape{p: sh.p, index: st.newIndex()}
	}
	to := min(n, sh.fed+feedStep)
	if to == sh.fed {
		return nil, false
	}
	for slot := sh.fed; slot < to; slot++ {
		if sh.p.Ended(slot) == 0 || st.set.o.Oldest() < sh.p.Ended(slot) {
			sh.index.Insert(slot)
		}
	}
	sh.index.Skip(sh.p.Ordinal(to - 1))
	st.shape.Store(&shape{p: sh.p, index: sh.index, fed: to})
	return sh.index, to < n
}

// help lets a writer pay for a tail that has grown too long. Nothing is persisted: the writer holds the
// writer turn; the indexer catches up on that.
func (st *state) help() {
	sh := st.shape.Load()
	if sh.index == nil || int(sh.p.Len())-int(sh.fed) <= maxTail || !st.set.feed.TryLock() {
		return
	}
	defer st.set.feed.Unlock()
	st.take()
}

func (st *state) newIndex() Index {
	return st.set.o.NewIndex(IndexOptions{Config: st.cfg, Prefix: indexPrefix(st.ws, st.id), Persist: st.set.o.Update != nil})
}

// persist commits what the index has to write. A failure loses work, not vectors.
func (st *state) persist(ctx context.Context, x Index) error {
	if st.set.o.Update == nil {
		return nil
	}
	for _, write := range x.Drain() {
		// The commit itself is not cancelled: its batch would only have to be written again.
		if _, err := st.set.o.Update(context.WithoutCancel(ctx), "vector index", nil, write); err != nil {
			x.Lost()
			return err
		}
	}
	return nil
}

// shed takes slots that no view shows any more out of the index, and moves to new points when too many of
// them have piled up.
func (st *state) shed() {
	dead := st.dead.Load()
	sh := st.shape.Load()
	if dead < minDead || dead*deadShare < int64(sh.p.Len()) {
		return
	}
	oldest := st.set.o.Oldest()
	gone := func(p *Points, slot uint32) bool {
		end := p.Ended(slot)
		return end != 0 && end <= oldest
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	sh = st.shape.Load()
	var (
		n       = sh.p.Len()
		moved   = make([]uint32, n)
		removed []uint32
		next    = newPoints(st.cfg)
		to      uint32
		fed     uint32
		left    int64
	)
	for slot := range n {
		if slot == sh.fed {
			fed = to
		}
		if gone(sh.p, slot) {
			moved[slot] = NoSlot
			if slot < sh.fed {
				removed = append(removed, slot)
			}
			continue
		}
		moved[slot] = to
		seg, i := sh.p.seg(slot), int(slot)%len(sh.p.seg(slot).ids)
		next.append(to, seg.ids[i], seg.ords[i], seg.added[i], sh.p.Vector(slot))
		if end := sh.p.Ended(slot); end != 0 {
			next.end(to, end)
			left++
		}
		to++
	}
	if sh.fed == n {
		fed = to
	}
	next.publish(to)
	ns := &shape{p: next, index: sh.index, fed: fed}
	if sh.index != nil {
		sh.index.Remove(removed)
		ns.index = sh.index.Move(next, moved)
	}
	st.dead.Store(left)
	st.shape.Store(ns)
}
