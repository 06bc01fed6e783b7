package postings

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/glimdb/db/kv"
)

// Query is what a search looks for.
type Query struct {
	// Terms are those of which an item must hold at least one; repeats count once.
	Terms []string
	// All: an item must hold all of Terms.
	All bool
	// K is the number of hits wanted, from 1 to MaxK.
	K int
	// BM25 are the parameters of scores; zero: DefaultBM25.
	BM25 BM25
	// Set restricts the search to some items; nil: none. Numbers of items and lengths are those of the whole index.
	Set *Set
	// Accept, unless it is nil, decides about what would be a hit as far as its score goes, best chances first, in no
	// order that is promised. It is called on the goroutine of the search.
	Accept func(id string) (bool, error)
}

// Limits of a Query.
const (
	MaxK     = 1 << 16
	MaxTerms = 1 << 15
)

// Hit is an item that was found.
type Hit struct {
	ID    string
	Score float64 // above 0
}

// Found is the result of a search.
type Found struct {
	Hits []Hit // by falling score, then by id
	// Epochs is how many of the groups of 1,024 items were looked into, of OfEpochs that hold a term.
	Epochs, OfEpochs int
}

// Search returns the K best items: exactly those, whatever is skipped. It reads the heads of all blocks of the terms, a short
// run of keys each, and of blocks those that may change the result. Errors: ErrInvalid, those of ctx, of Accept and
// of reading.
func (x *Index) Search(ctx context.Context, r kv.Reader, q Query) (Found, error) {
	if q.BM25 == (BM25{}) {
		q.BM25 = DefaultBM25()
	}
	if err := q.BM25.Validate(); err != nil {
		return Found{}, err
	}
	if len(q.Terms) > MaxTerms {
		return Found{}, &InvalidError{Field: "term", Reason: fmt.Sprintf("%d of them, want at most %d", len(q.Terms), MaxTerms)}
	}
	if q.K < 1 || q.K > MaxK {
		return Found{}, &InvalidError{Field: "k", Reason: fmt.Sprintf("%d, want 1 to %d", q.K, MaxK)}
	}
	c, err := x.readCounters(r)
	if err != nil {
		return Found{}, x.failed("search", err)
	}
	s := searches.Get().(*search)
	defer s.release()
	s.x, s.r, s.q, s.weigher = x, r, q, q.BM25.weigher(&c)
	found, err := s.run(ctx)
	if err != nil {
		return Found{}, x.failed("search", err)
	}
	return found, nil
}

var searches = sync.Pool{New: func() any { return new(search) }}

// search is one Search call. Its memory is used again.
type search struct {
	x *Index
	r kv.Reader
	q Query
	weigher

	wanted []wanted
	blocks kv.Cursor
	kept   []byte // lists of blocks, see keptBytes
	view   view
	epochs []epochBound

	// Of the epoch that is looked at, by slot where they are arrays.
	here    []held
	allowed []uint64 // nil: all
	score   [epochSize]float64
	state   [epochSize]uint16
	live    []int32 // slots that are candidates
	list    []posting

	best hits
}

// wanted is a term that is searched for.
type wanted struct {
	text   string
	items  int // that hold it
	rarity float64
	lists  []list    // by epoch, ascending
	young  []posting // of segments
}

// list is a term's postings in one epoch, not read yet.
type list struct {
	epoch
	head
	bound float64 // of what it adds to a score
	// from and to are where it is: among the postings of segments where fresh, else in search.kept, or in the store when
	// both are 0.
	from, to int
	fresh    bool
}

// held is a term in an epoch.
type held struct {
	*wanted
	*list
	left float64 // bound of what it and those after it can add
}

// keptBytes is how much of blocks is kept while their heads are read. What is beyond is read again when it is needed.
const keptBytes = 4 << 20

// epochBound is an epoch that holds some of the terms.
type epochBound struct {
	epoch
	bound float64
}

// slack makes sums bounds that are made in another order than scores.
const slack = 1 + 1e-9

// release gives the memory back, unless a rare, large search took much.
func (s *search) release() {
	large := cap(s.kept) > keptBytes
	for i := range s.wanted {
		w := &s.wanted[i]
		large = large || cap(w.young) > keptBytes/16
		*w = wanted{lists: w.lists[:0], young: w.young[:0]}
	}
	if large {
		return
	}
	clear(s.here[:cap(s.here)])
	clear(s.best.list)
	s.x, s.r, s.q, s.blocks, s.allowed = nil, nil, Query{}, nil, nil
	s.wanted, s.kept, s.epochs, s.here = s.wanted[:0], s.kept[:0], s.epochs[:0], s.here[:0]
	s.best = hits{list: s.best.list[:0]}
	s.view = view{items: s.view.items[:0]}
	searches.Put(s)
}

func (s *search) run(ctx context.Context) (found Found, err error) {
	if s.blocks, err = s.x.cursor(s.r, kindBlock); err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, s.blocks.Close()) }()
	if err := s.collect(ctx); err != nil {
		return found, err
	}
	s.order()
	s.best.k, s.best.accept = s.q.K, s.q.Accept
	s.best.name = func(o ordinal) (string, error) { return s.x.idOf(s.r, o) }
	found.OfEpochs = len(s.epochs)
	for _, e := range s.epochs {
		if err := ctx.Err(); err != nil {
			return found, err
		}
		if s.best.full() && e.bound*slack < s.best.least() {
			break
		}
		found.Epochs++
		if err := s.look(e.epoch); err != nil {
			return found, err
		}
	}
	found.Hits, err = s.best.sorted()
	return found, err
}

// collect finds out where the terms are.
func (s *search) collect(ctx context.Context) error {
	terms := slices.Clone(s.q.Terms)
	slices.Sort(terms)
	for _, text := range slices.Compact(terms) {
		if n := len(s.wanted); n < cap(s.wanted) {
			s.wanted = s.wanted[:n+1]
			s.wanted[n].text = text
		} else {
			s.wanted = append(s.wanted, wanted{text: text})
		}
	}
	for i := range s.wanted {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.heads(&s.wanted[i]); err != nil {
			return err
		}
	}
	return s.segments(ctx)
}

// heads reads the heads of a term's blocks.
func (s *search) heads(w *wanted) error {
	prefix := s.x.termKey(w.text)
	for ok := s.blocks.SeekGE(prefix); ok && bytes.HasPrefix(s.blocks.Key(), prefix); ok = s.blocks.Next() {
		n, err := numberOf(s.blocks.Key(), len(prefix))
		if err != nil {
			return err
		}
		h, raw, err := openBlock(s.blocks.Value())
		if err := errors.Join(err, s.blocks.Err()); err != nil {
			return err
		}
		l := list{epoch: epoch(n), head: h}
		if len(s.kept)+len(raw) <= keptBytes {
			l.from, l.to = len(s.kept), len(s.kept)+len(raw)
			s.kept = append(s.kept, raw...)
		}
		w.items += h.count
		w.lists = append(w.lists, l)
	}
	return s.blocks.Err()
}

// segments looks into what is not folded. What segments of one epoch hold of a term is one list.
func (s *search) segments(ctx context.Context) error {
	c, err := s.x.cursor(s.r, kindSegment)
	if err != nil {
		return err
	}
	defer c.Close()
	for c.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		o, err := numberOf(c.Key(), len(s.x.prefix)+1)
		if err == nil {
			err = s.view.open(ordinal(o), c.Value())
		}
		for i := 0; err == nil && i < len(s.wanted); i++ {
			err = s.wanted[i].look(&s.view, ordinal(o).epoch())
		}
		if err := errors.Join(err, c.Err()); err != nil {
			return err
		}
	}
	for i := range s.wanted {
		w := &s.wanted[i]
		for k := range w.lists {
			if l := &w.lists[k]; l.fresh {
				l.head = headOf(w.young[l.from:l.to])
			}
		}
	}
	return c.Err()
}

// look adds what a segment holds of the term.
func (w *wanted) look(v *view, e epoch) (err error) {
	from := len(w.young)
	if w.young, err = v.find(w.young, w.text); err != nil || len(w.young) == from {
		return err
	}
	w.items += len(w.young) - from
	if n := len(w.lists); n > 0 && w.lists[n-1].fresh && w.lists[n-1].epoch == e {
		w.lists[n-1].to = len(w.young)
	} else {
		w.lists = append(w.lists, list{epoch: e, from: from, to: len(w.young), fresh: true})
	}
	return nil
}

// order sorts terms and epochs, and bounds what they can add.
func (s *search) order() {
	if s.q.All && slices.ContainsFunc(s.wanted, func(w wanted) bool { return w.items == 0 }) {
		return
	}
	slices.SortFunc(s.wanted, func(a, b wanted) int { return cmp.Or(cmp.Compare(a.items, b.items), strings.Compare(a.text, b.text)) })
	for i := range s.wanted {
		w := &s.wanted[i]
		w.rarity = s.rarity(w.items)
		for k := range w.lists {
			l := &w.lists[k]
			l.bound = w.rarity * s.of(l.most, l.shortest)
			s.epochs = append(s.epochs, epochBound{l.epoch, l.bound})
		}
	}
	slices.SortFunc(s.epochs, func(a, b epochBound) int { return cmp.Compare(a.epoch, b.epoch) })
	n := 0
	for i := 0; i < len(s.epochs); {
		e, terms := s.epochs[i], 1
		for i++; i < len(s.epochs) && s.epochs[i].epoch == e.epoch; i++ {
			e.bound += s.epochs[i].bound
			terms++
		}
		if s.q.All && terms < len(s.wanted) || s.q.Set != nil && s.q.Set.of(e.epoch) == nil {
			continue
		}
		s.epochs[n] = e
		n++
	}
	s.epochs = s.epochs[:n]
	slices.SortFunc(s.epochs, func(a, b epochBound) int {
		return cmp.Or(cmp.Compare(b.bound, a.bound), cmp.Compare(a.epoch, b.epoch))
	})
}

// at returns the list of a term in an epoch, nil when there is none.
func (w *wanted) at(e epoch) *list {
	i, ok := slices.BinarySearchFunc(w.lists, e, func(l list, e epoch) int { return cmp.Compare(l.epoch, e) })
	if !ok {
		return nil
	}
	return &w.lists[i]
}

// out is the state of an item that is out of the question. Others are the number of terms that it was seen with.
const out = ^uint16(0)

// look scores the items of an epoch, rare terms first, and offers them.
func (s *search) look(e epoch) error {
	s.here = s.here[:0]
	for i := range s.wanted {
		if l := s.wanted[i].at(e); l != nil {
			s.here = append(s.here, held{&s.wanted[i], l, 0})
		}
	}
	for i, left := len(s.here)-1, 0.0; i >= 0; i-- {
		left += s.here[i].bound
		s.here[i].left = left * slack
	}
	if s.allowed = nil; s.q.Set != nil {
		s.allowed = s.q.Set.of(e)
	}
	clear(s.state[:])
	s.live = s.live[:0]
	for i, h := range s.here {
		opens := !s.q.All || i == 0
		if s.best.full() {
			s.weed(h.left)
			opens = opens && h.left >= s.best.least()
		}
		if !opens && len(s.live) == 0 {
			return nil
		}
		postings, err := s.read(h)
		if err != nil {
			return err
		}
		s.add(h.rarity, postings, opens)
		if s.q.All {
			s.live = slices.DeleteFunc(s.live, func(slot int32) bool { return s.state[slot] != uint16(i+1) })
		}
	}
	for _, slot := range s.live {
		if err := s.best.offer(e.at(int(slot)), s.score[slot]); err != nil {
			return err
		}
	}
	return nil
}

// read returns the postings of a term in an epoch. They are valid until the next call.
func (s *search) read(h held) (_ []posting, err error) {
	var raw []byte
	switch {
	case h.fresh:
		return h.wanted.young[h.from:h.to], nil
	case h.to > 0:
		raw = s.kept[h.from:h.to]
	default:
		key := s.x.blockKey(h.text, h.epoch)
		if !s.blocks.SeekGE(key) || !bytes.Equal(s.blocks.Key(), key) {
			return nil, errors.Join(s.blocks.Err(), corrupt(fmt.Errorf("a block of epoch %d is not there any more", h.epoch)))
		}
		if _, raw, err = openBlock(s.blocks.Value()); err != nil {
			return nil, err
		}
	}
	s.list, err = decodeList(s.list[:0], raw, h.epoch.first(), h.epoch.at(epochSize-1), h.count)
	return s.list, corrupt(err)
}

// add adds what a term gives to the scores of candidates, and makes new ones of unseen items where opens.
func (s *search) add(rarity float64, list []posting, opens bool) {
	for _, p := range list {
		slot := p.ordinal.slot()
		switch {
		case s.state[slot] == out:
			continue
		case s.state[slot] > 0:
		case !opens || s.allowed != nil && s.allowed[slot/64]&(1<<(slot%64)) == 0:
			continue
		default:
			s.score[slot] = 0
			s.live = append(s.live, int32(slot))
		}
		s.state[slot]++
		s.score[slot] += rarity * s.of(p.count, p.length)
	}
}

// weed drops candidates that are not among the best even with all of left.
func (s *search) weed(left float64) {
	least := s.best.least()
	s.live = slices.DeleteFunc(s.live, func(slot int32) bool {
		if s.score[slot]*slack+left >= least {
			return false
		}
		s.state[slot] = out
		return true
	})
}
