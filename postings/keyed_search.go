package postings

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
)

// KeyedQuery is what a search of a Keyed index looks for.
type KeyedQuery struct {
	// Terms are those of which an item must hold at least one; repeats count once.
	Terms []string
	// Must lists groups of terms, all of them among Terms: an item must hold at least one of each group.
	Must [][]string
	// K is the number of hits wanted, from 1 to MaxK.
	K int
	// BM25 are the parameters of scores; zero: DefaultBM25.
	BM25 BM25
	// Accept, unless it is nil, decides about what would be a hit as far as its score goes. Numbers of items and lengths are
	// those of the whole index whatever it says. It is called on the goroutine of the search, in no order that is promised.
	Accept func(id string) (bool, error)
}

// Search returns the K best items, by falling score, then by id. It reads every posting of the terms, and the lengths of
// the items that may be among the best. Errors: ErrInvalid, those of ctx, of Accept and of reading.
func (k *Keyed) Search(ctx context.Context, r kv.Reader, q KeyedQuery) ([]Hit, error) {
	if q.BM25 == (BM25{}) {
		q.BM25 = DefaultBM25()
	}
	if err := q.BM25.Validate(); err != nil {
		return nil, err
	}
	if len(q.Terms) > MaxTerms {
		return nil, &InvalidError{Field: "term", Reason: fmt.Sprintf("%d of them, want at most %d", len(q.Terms), MaxTerms)}
	}
	if q.K < 1 || q.K > MaxK {
		return nil, &InvalidError{Field: "k", Reason: fmt.Sprintf("%d, want 1 to %d", q.K, MaxK)}
	}
	hits, err := k.search(ctx, r, q)
	if err != nil {
		return nil, k.x.failed("search", err)
	}
	return hits, nil
}

// heldTerm is a term that is asked for, and the items that hold it.
type heldTerm struct {
	term     string
	postings []keyedPosting // by id
	rarity   float64
	next     int // of postings
}

type keyedPosting struct {
	id    []byte // of memory that all of a term share
	count uint32
}

// chance is an item that holds a term, and what its score is at most.
type chance struct {
	id     []byte
	counts []weighted // in the order in which scores are summed
	bound  float64
}

type weighted struct {
	rarity float64
	count  uint32
}

func (c *chance) score(w *weigher, length uint32) (sum float64) {
	for _, t := range c.counts {
		sum += t.rarity * w.of(t.count, length)
	}
	return sum
}

func (k *Keyed) search(ctx context.Context, r kv.Reader, q KeyedQuery) ([]Hit, error) {
	total, err := k.readCounters(r)
	if err != nil {
		return nil, err
	}
	w := q.BM25.weigher(&counters{items: total.items, length: total.length})
	held, err := k.held(ctx, r, q.Terms, &w)
	if err != nil || len(held) == 0 {
		return []Hit{}, err
	}
	chances := k.chances(held, q.Must, &w)
	slices.SortFunc(chances, func(a, b chance) int { return cmp.Or(cmp.Compare(b.bound, a.bound), bytes.Compare(a.id, b.id)) })
	best := keyedBest{k: q.K, hits: []Hit{}, accept: q.Accept}
	for len(chances) > 0 && best.open(chances[0].bound) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		some := chances[:min(len(chances), max(q.K, lengthsAtOnce))]
		chances = chances[len(some):]
		keys := make([][]byte, len(some))
		for i := range some {
			keys[i] = k.itemKey(string(some[i].id))
		}
		values, err := r.GetMany(keys)
		if err != nil {
			return nil, err
		}
		for i := range some {
			if values[i] == nil {
				return nil, corrupt(errNoItem)
			}
			length, err := decodeNumber(values[i], 1)
			if err != nil {
				return nil, err
			}
			if err := best.offer(string(some[i].id), some[i].score(&w, length)); err != nil {
				return nil, err
			}
		}
	}
	return best.hits, nil
}

// lengthsAtOnce is how many lengths are read at a time, at least.
const lengthsAtOnce = 64

// held reads the postings of terms, rarest first, equally rare ones in byte order, those without any left out.
func (k *Keyed) held(ctx context.Context, r kv.Reader, terms []string, w *weigher) ([]heldTerm, error) {
	all := k.x.key(kindPosting, 0)
	c, err := r.Cursor(all, codec.PrefixEnd(all))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var out []heldTerm
	for _, term := range slices.Compact(slices.Sorted(slices.Values(terms))) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h := heldTerm{term: term}
		prefix := k.termKey(term)
		for ok := c.SeekGE(prefix); ok && bytes.HasPrefix(c.Key(), prefix); ok = c.Next() {
			count, err := decodeNumber(c.Value(), 1)
			if err != nil {
				return nil, err
			}
			h.postings = append(h.postings, keyedPosting{bytes.Clone(c.Key()[len(prefix):]), count})
		}
		if err := c.Err(); err != nil {
			return nil, err
		}
		if n := len(h.postings); n > 0 {
			h.rarity = w.rarity(n)
			out = append(out, h)
		}
	}
	slices.SortStableFunc(out, func(a, b heldTerm) int { return cmp.Compare(len(a.postings), len(b.postings)) })
	return out, nil
}

// chances merges the postings into items: those that hold one term of each group of must.
func (k *Keyed) chances(held []heldTerm, must [][]string, w *weigher) (out []chance) {
	var here []int // the terms that the item holds
	for {
		here = here[:0]
		var id []byte
		for i := range held {
			h := &held[i]
			if h.next == len(h.postings) {
				continue
			}
			switch at := h.postings[h.next].id; {
			case len(here) == 0 || bytes.Compare(at, id) < 0:
				id, here = at, append(here[:0], i)
			case bytes.Equal(at, id):
				here = append(here, i)
			}
		}
		if len(here) == 0 {
			return out
		}
		e, least := chance{id: id, counts: make([]weighted, len(here))}, uint32(0)
		for j, i := range here {
			h := &held[i]
			e.counts[j] = weighted{h.rarity, h.postings[h.next].count}
			least += e.counts[j].count
			h.next++
		}
		if holdsAll(must, held, here) {
			e.bound = e.score(w, least) // it is no shorter than what was found in it
			out = append(out, e)
		}
	}
}

// holdsAll reports whether one term of each group is among those of held that are numbered.
func holdsAll(must [][]string, held []heldTerm, numbers []int) bool {
	for _, group := range must {
		if !slices.ContainsFunc(numbers, func(i int) bool { return slices.Contains(group, held[i].term) }) {
			return false
		}
	}
	return true
}

// keyedBest are the k best of what is offered, sorted.
type keyedBest struct {
	k      int
	hits   []Hit
	accept func(id string) (bool, error)
}

// open reports whether an item of that score might get in.
func (b *keyedBest) open(score float64) bool {
	return len(b.hits) < b.k || score >= b.hits[b.k-1].Score
}

func (b *keyedBest) offer(id string, score float64) error {
	e := Hit{ID: id, Score: score}
	at, _ := slices.BinarySearchFunc(b.hits, e, compareHits)
	if at == b.k {
		return nil
	}
	if b.accept != nil {
		if ok, err := b.accept(id); err != nil || !ok {
			return err
		}
	}
	b.hits = slices.Insert(b.hits, at, e)
	b.hits = b.hits[:min(len(b.hits), b.k)]
	return nil
}

var errNoItem = errors.New("a posting of what is no item")
