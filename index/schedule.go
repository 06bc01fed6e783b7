package index

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// queuePage bounds how many places of the queue are read at once, so that no view is kept while documents
// are processed.
const queuePage = 256

// place is a document's place in the queue.
type place struct {
	key []byte
	id  string
}

// schedule hands out the documents of one Process call, the first in the queue whenever a worker is free. It reads
// the queue page by page and never twice: the places of processed documents are deleted keys, which a scan from the
// start would have to step over for every document. What is put into the queue meanwhile is told by arrived.
type schedule struct {
	p       *Pipeline
	workers int
	queue   bool          // all that wait, not a list of ids
	follow  bool          // goes on when nothing waits
	wake    chan struct{} // of capacity 1: something arrived or ended

	mu      sync.Mutex
	page    []place           // read and not begun, in order
	from    []byte            // key from which on the queue was not read
	begun   int               // documents handed out
	running map[string]bool   // by id
	met     map[string][]byte // places of running documents that were read meanwhile
}

func newSchedule(p *Pipeline, o ProcessOptions, workers int) (*schedule, error) {
	s := &schedule{p: p, workers: workers, queue: o.IDs == nil, follow: o.Follow && o.IDs == nil, wake: make(chan struct{}, 1),
		from: record.QueuePrefix(p.cfg.Workspace), running: make(map[string]bool), met: make(map[string][]byte)}
	if s.queue {
		return s, nil
	}
	var err error
	s.page, err = p.placesOf(o.IDs)
	return s, err
}

// next waits for a free worker and returns the document to begin, "" when there is none or ctx has ended.
func (s *schedule) next(ctx context.Context) (string, error) {
	for ctx.Err() == nil {
		id, wait, err := s.pick()
		if id != "" || err != nil || !wait {
			return id, err
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
		}
	}
	return "", nil
}

// pick returns a document to begin, or whether one may come.
func (s *schedule) pick() (id string, wait bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.running) >= s.workers {
		return "", true, nil
	}
	for {
		for len(s.page) > 0 {
			first := s.page[0]
			s.page = s.page[1:]
			if s.running[first.id] {
				s.met[first.id] = first.key
				continue
			}
			s.running[first.id] = true
			s.begun++
			return first.id, false, nil
		}
		if s.queue {
			if s.page, err = s.p.queued(s.from); err != nil {
				return "", false, err
			}
		}
		if len(s.page) == 0 {
			return "", s.follow || len(s.running) > 0, nil
		}
		s.from = append(slices.Clone(s.page[len(s.page)-1].key), 0)
	}
}

// ended frees the worker of a document.
func (s *schedule) ended(id string) {
	s.mu.Lock()
	delete(s.running, id)
	if key, ok := s.met[id]; ok { // it was given anew, perhaps too late for whoever worked on it
		delete(s.met, id)
		s.rewind(key)
	}
	s.mu.Unlock()
	s.signal()
}

// arrived notes places that were put into the queue.
func (s *schedule) arrived(keys [][]byte) {
	s.mu.Lock()
	for _, key := range keys {
		s.rewind(key)
	}
	s.mu.Unlock()
	s.signal()
}

// rewind makes sure that the place is read, if it lies before what is still to be read.
func (s *schedule) rewind(key []byte) {
	if !s.queue || bytes.Compare(key, s.from) >= 0 {
		return
	}
	s.from = key
	if len(s.page) > 0 && bytes.Compare(s.page[0].key, key) < 0 {
		s.from = s.page[0].key
	}
	s.page = nil
}

func (s *schedule) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// found is the number of documents known so far, those begun included.
func (s *schedule) found() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun + len(s.page)
}

// queued returns a page of the queue from a key on.
func (p *Pipeline) queued(from []byte) (page []place, err error) {
	view, err := p.cfg.Updater.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	c, err := view.Cursor(from, codec.PrefixEnd(record.QueuePrefix(p.cfg.Workspace)))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for len(page) < queuePage && c.Next() {
		page = append(page, place{slices.Clone(c.Key()), string(c.Value())})
	}
	return page, c.Err()
}

// placesOf returns the places of those documents that wait, in the order of the queue.
func (p *Pipeline) placesOf(ids []string) (places []place, err error) {
	view, err := p.cfg.Updater.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	for _, id := range ids {
		d, err := p.documentOf(view, id)
		if err != nil {
			return nil, err
		}
		if d != nil && d.Waits() {
			places = append(places, place{d.QueueKey(p.cfg.Workspace), id})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return bytes.Compare(a.key, b.key) })
	return slices.CompactFunc(places, func(a, b place) bool { return a.id == b.id }), nil
}

// waiting counts the places of the queue, up to limit.
func (p *Pipeline) waiting(r kv.Reader, limit int) (n int, err error) {
	if limit == 0 {
		return 0, nil
	}
	prefix := record.QueuePrefix(p.cfg.Workspace)
	c, err := r.Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		return 0, fmt.Errorf("index: count the queue: %w", err)
	}
	defer c.Close()
	for n < limit && c.Next() {
		n++
	}
	return n, c.Err()
}

// watch makes s hear of documents that are put into the queue.
func (p *Pipeline) watch(s *schedule) {
	p.mu.Lock()
	p.schedules[s] = true
	p.mu.Unlock()
}

func (p *Pipeline) unwatch(s *schedule) {
	p.mu.Lock()
	delete(p.schedules, s)
	p.mu.Unlock()
}

// arrived tells the running Process calls of new places in the queue.
func (p *Pipeline) arrived(keys [][]byte) {
	p.mu.Lock()
	all := make([]*schedule, 0, len(p.schedules))
	for s := range p.schedules {
		all = append(all, s)
	}
	p.mu.Unlock()
	for _, s := range all {
		s.arrived(keys)
	}
}

// broadcast wakes everyone who waits for the next of some events. The zero value is ready.
type broadcast struct {
	mu sync.Mutex
	ch chan struct{}
}

// next is closed by the next wake.
func (b *broadcast) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *broadcast) wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}
