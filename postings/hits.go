package postings

import (
	"cmp"
	"slices"
)

// hits are the k best of what is offered: a heap with the worst on top. Ids are read only where scores are equal, and at the
// end.
type hits struct {
	k      int
	list   []hit
	name   func(o ordinal) (string, error)
	accept func(id string) (bool, error)
	err    error // the first of name
}

type hit struct {
	ordinal ordinal
	score   float64
	id      string // "" until it was read; ids are not empty
}

func (h *hits) full() bool { return len(h.list) == h.k }

// least is the score below which nothing gets in any more, once h is full.
func (h *hits) least() float64 { return h.list[0].score }

func (h *hits) id(e *hit) string {
	if e.id == "" && h.err == nil {
		e.id, h.err = h.name(e.ordinal)
	}
	return e.id
}

// worse orders by score, then by id.
func (h *hits) worse(a, b *hit) bool {
	if a.score != b.score {
		return a.score < b.score
	}
	return a.ordinal != b.ordinal && h.id(a) > h.id(b)
}

func (h *hits) offer(o ordinal, score float64) error {
	e := hit{ordinal: o, score: score}
	if h.full() && !h.worse(&h.list[0], &e) {
		return h.err
	}
	if h.accept != nil {
		id := h.id(&e)
		if h.err != nil {
			return h.err
		}
		if ok, err := h.accept(id); err != nil || !ok {
			return err
		}
	}
	if h.full() {
		h.list[0] = e
		h.down()
		return h.err
	}
	h.list = append(h.list, e)
	for i := len(h.list) - 1; i > 0; {
		up := (i - 1) / 2
		if !h.worse(&h.list[i], &h.list[up]) {
			break
		}
		h.list[i], h.list[up] = h.list[up], h.list[i]
		i = up
	}
	return h.err
}

// down moves the top to its place.
func (h *hits) down() {
	for i := 0; ; {
		worst := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(h.list); c++ {
			if h.worse(&h.list[c], &h.list[worst]) {
				worst = c
			}
		}
		if worst == i {
			return
		}
		h.list[i], h.list[worst] = h.list[worst], h.list[i]
		i = worst
	}
}

// sorted returns the hits, best first.
func (h *hits) sorted() ([]Hit, error) {
	out := make([]Hit, len(h.list))
	for i := range h.list {
		out[i] = Hit{h.id(&h.list[i]), h.list[i].score}
	}
	slices.SortFunc(out, compareHits)
	return out, h.err
}

// compareHits orders by falling score, then by id.
func compareHits(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) }
