package kv

import (
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// scheduler grants the engine its compactions: one at a time, none before the store runs, and none once it
// failed. The engine's own scheduler knows neither bound, and both protect the host:
//
//   - A compaction that still runs when the engine's opening fails reads through caches that are gone by
//     then, on a goroutine of the engine, where no recover of ours reaches the panic.
//   - One that failed is asked for again at once, and fails again, for as long as the store is open.
//
// It implements the engine's CompactionScheduler and the handle of the one compaction that runs. Lock order:
// the engine's locks, then mu.
type scheduler struct {
	failed func() bool

	mu       sync.Mutex
	db       pebble.DBForCompaction // set by Register, before any other call of the engine
	started  bool                   // the store runs
	ended    bool                   // the engine is being closed
	busy     bool                   // a compaction runs, or one is being offered
	refused  bool                   // the engine was refused because of busy
	offering bool                   // a call to db is under way
	offered  *sync.Cond             // offering became false
}

func newScheduler(failed func() bool) *scheduler {
	s := &scheduler{failed: failed}
	s.offered = sync.NewCond(&s.mu)
	return s
}

// Register implements the engine's scheduler.
func (s *scheduler) Register(_ int, db pebble.DBForCompaction) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.db = db
}

// registered reports whether the engine came so far in its opening that it runs jobs.
func (s *scheduler) registered() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.db != nil
}

// Unregister implements the engine's scheduler: when it returns, db is called no more.
func (s *scheduler) Unregister() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for s.offering {
		s.offered.Wait()
	}
}

// TrySchedule implements the engine's scheduler. The engine remembers a refusal, and waits to be offered what
// it asked for.
func (s *scheduler) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open() {
		return false, nil
	}
	if s.busy {
		s.refused = true
		return false, nil
	}
	s.busy = true
	return true, s
}

// UpdateGetAllowedWithoutPermission implements the engine's scheduler. The number is one, always.
func (s *scheduler) UpdateGetAllowedWithoutPermission() {}

// start lets compactions begin; those that the engine asked for while it opened are offered.
func (s *scheduler) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = true
	s.offer()
}

// Done implements the handle: the compaction ended.
func (s *scheduler) Done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = false
	s.offer()
}

// Started, MeasureCPU and CumulativeStats implement the handle.

func (s *scheduler) Started()                                          {}
func (s *scheduler) MeasureCPU(pebble.CompactionGoroutineKind)         {}
func (s *scheduler) CumulativeStats(pebble.CompactionGrantHandleStats) {}

func (s *scheduler) open() bool { return s.started && !s.ended && !s.failed() }

// offer grants a compaction that the engine waits for. It holds the one place meanwhile, and looks again when
// that made it refuse a request. The caller holds mu, which is free during the calls to db: they take locks
// under which the engine calls TrySchedule.
func (s *scheduler) offer() {
	for s.open() && !s.busy && s.db != nil {
		s.busy, s.refused, s.offering = true, false, true
		s.mu.Unlock()
		waiting, _ := s.db.GetWaitingCompaction()
		accepted := waiting && s.db.Schedule(s)
		s.mu.Lock()
		s.offering = false
		s.offered.Broadcast()
		if accepted {
			return
		}
		s.busy = false
		if !s.refused {
			return
		}
	}
}
