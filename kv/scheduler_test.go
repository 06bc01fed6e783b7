package kv

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
)

// waitingDB stands for the engine: it has so many compactions to run, and accepts each one offered.
type waitingDB struct {
	s       *scheduler
	mu      sync.Mutex // the engine's lock: held when it calls the scheduler, taken when that calls it
	backlog int
	waiting bool
	running atomic.Int64
	most    atomic.Int64
	ran     int
	onAsk   func() // runs at the beginning of GetWaitingCompaction
}

func (d *waitingDB) GetAllowedWithoutPermission() int { return 1 }

func (d *waitingDB) GetWaitingCompaction() (bool, pebble.WaitingCompaction) {
	d.mu.Lock()
	defer d.mu.Unlock()
	had := d.waiting && d.backlog > 0
	d.waiting = had
	if d.onAsk != nil {
		d.onAsk()
	}
	return had, pebble.WaitingCompaction{}
}

func (d *waitingDB) Schedule(h pebble.CompactionGrantHandle) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.backlog == 0 {
		return false
	}
	d.run()
	return true
}

func (d *waitingDB) run() {
	d.backlog--
	d.ran++
	d.most.Store(max(d.most.Load(), d.running.Add(1)))
}

// want is the engine's maybeScheduleCompaction. The caller holds mu.
func (d *waitingDB) want() {
	for d.backlog > 0 && !d.waiting {
		if ok, _ := d.s.TrySchedule(); !ok {
			d.waiting = true
			return
		}
		d.run()
	}
}

func (d *waitingDB) add(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.backlog += n
	d.want()
}

func (d *waitingDB) end() {
	d.running.Add(-1)
	d.s.Done()
}

func newWaitingDB(failed func() bool) *waitingDB {
	d := &waitingDB{s: newScheduler(failed)}
	d.s.Register(2, d)
	return d
}

func TestSchedulerRunsOneAtATime(t *testing.T) {
	d := newWaitingDB(func() bool { return false })
	d.add(3)
	if d.ran != 0 {
		t.Fatalf("%d compactions began before the store ran", d.ran)
	}
	d.s.start()
	for want := 1; want <= 3; want++ {
		if d.ran != want || d.running.Load() != 1 {
			t.Fatalf("%d begun, %d running, want the %dth alone", d.ran, d.running.Load(), want)
		}
		d.end()
	}
	d.add(1)
	if d.ran != 4 || d.most.Load() != 1 {
		t.Errorf("%d begun, up to %d at once", d.ran, d.most.Load())
	}
	d.end()
}

// TestSchedulerForgetsNoRefusal: a request that is refused because another one is just being offered, and was
// not wanted, is offered next.
func TestSchedulerForgetsNoRefusal(t *testing.T) {
	d := newWaitingDB(func() bool { return false })
	d.onAsk = func() { // between the look and the answer
		d.onAsk = nil
		d.backlog++
		d.want()
	}
	d.s.start()
	if d.ran != 1 {
		t.Errorf("%d compactions of 1 that is wanted", d.ran)
	}
}

func TestSchedulerStopsAtAFailure(t *testing.T) {
	failed := false
	d := newWaitingDB(func() bool { return failed })
	d.s.start()
	d.add(3)
	failed = true
	d.end()
	d.add(1)
	if d.ran != 1 {
		t.Errorf("%d compactions begun, 1 before the failure", d.ran)
	}
}

// TestSchedulerUnregisterWaits: once it returned, the engine is called no more.
func TestSchedulerUnregisterWaits(t *testing.T) {
	d := newWaitingDB(func() bool { return false })
	asked, answer := make(chan struct{}), make(chan struct{})
	d.onAsk = func() { close(asked); <-answer }
	var wg sync.WaitGroup
	wg.Go(d.s.start)
	<-asked
	done := make(chan struct{})
	go func() { d.s.Unregister(); close(done) }()
	for { // Unregister is under way once nothing is granted any more
		d.s.mu.Lock()
		ended := d.s.ended
		d.s.mu.Unlock()
		if ended {
			break
		}
	}
	select {
	case <-done:
		t.Error("Unregister returned during a call to the engine")
	default:
	}
	close(answer)
	<-done
	wg.Wait()
	if ok, _ := d.s.TrySchedule(); ok {
		t.Error("a compaction began after Unregister")
	}
}

// TestSchedulerUnderLoad: every compaction that is wanted runs, one at a time, whoever asks when.
func TestSchedulerUnderLoad(t *testing.T) {
	const workers, each = 4, 200
	d := newWaitingDB(func() bool { return false })
	d.s.start()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range each {
				d.add(1)
			}
		})
	}
	var ended int
	for ended < workers*each {
		if d.running.Load() > 0 {
			d.end()
			ended++
		}
	}
	wg.Wait()
	if d.ran != workers*each || d.most.Load() != 1 {
		t.Errorf("%d of %d ran, up to %d at once", d.ran, workers*each, d.most.Load())
	}
}
