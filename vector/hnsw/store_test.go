package hnsw_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
)

// store is a minimal commit path over a real engine: one writer at a time, LSN by LSN.
type store struct {
	t  testing.TB
	fs vfs.FS
	o  vector.SetOptions

	refuse func(kind string) error // fails a commit of that kind; nil fails none

	mu  sync.Mutex
	kv  *kv.Store
	lsn kv.LSN
	set *vector.Set
}

const exactAlways, indexAlways = 1 << 40, -1

func newStore(t testing.TB, exactBytes int64) *store {
	return storeOf(t, vector.SetOptions{NewIndex: hnsw.Factory, ExactBytes: exactBytes})
}

func storeOf(t testing.TB, o vector.SetOptions) *store {
	s := &store{t: t, fs: vfs.NewMem(), o: o}
	s.open()
	t.Cleanup(s.close)
	return s
}

var lsnKey = []byte{1, 'l'}

func (s *store) open() {
	s.t.Helper()
	if err := s.tryOpen(); err != nil {
		s.t.Fatal(err)
	}
}

// tryOpen opens the store, or fails and leaves nothing open.
func (s *store) tryOpen() (err error) {
	if s.kv, err = kv.Open("db", kv.Options{FS: s.fs}); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.kv.Close())
		}
	}()
	s.lsn = 0
	snap, err := s.kv.Snapshot(0)
	if err != nil {
		return err
	}
	v, err := snap.Get(lsnKey)
	if err == nil {
		_, err = fmt.Sscan(string(v), &s.lsn)
	} else if errors.Is(err, kv.ErrNotFound) {
		err = nil
	}
	if err = errors.Join(err, snap.Close()); err != nil {
		return err
	}
	if snap, err = s.kv.Snapshot(s.lsn); err != nil {
		return err
	}
	s.o.Update, s.o.Oldest, s.o.Store = s.update, s.kv.OldestLSN, s.kv
	s.set, err = vector.OpenSet(snap, s.o)
	return errors.Join(err, snap.Close())
}

func (s *store) close() {
	s.t.Helper()
	if err := s.tryClose(); err != nil {
		s.t.Error(err)
	}
}

func (s *store) tryClose() error {
	if s.set == nil {
		return nil
	}
	err := errors.Join(s.set.Close(), s.kv.Close())
	s.set = nil
	return err
}

func (s *store) reopen() {
	s.t.Helper()
	s.close()
	s.open()
}

func (s *store) update(ctx context.Context, kind string, _ []string, fn func(*kv.Batch) error) (kv.LSN, error) {
	b, lsn, err := s.apply(ctx, kind, fn)
	if b == nil {
		return 0, err
	}
	if err == nil {
		err = b.Durable()
	}
	return lsn, errors.Join(err, b.Close())
}

// apply is the writer turn. The batch, when there is one, is the caller's to close.
func (s *store) apply(ctx context.Context, kind string, fn func(*kv.Batch) error) (*kv.Batch, kv.LSN, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	if s.refuse != nil {
		if err := s.refuse(kind); err != nil {
			return nil, 0, err
		}
	}
	b, err := s.kv.NewBatch(s.lsn)
	if err != nil {
		return nil, 0, err
	}
	if err := fn(b); err != nil {
		return b, 0, err
	}
	if err := b.Set(lsnKey, fmt.Append(nil, s.lsn+1)); err != nil {
		return b, 0, err
	}
	if err := s.kv.Apply(b); err != nil {
		return b, 0, err
	}
	s.lsn++
	b.Committed(s.lsn)
	return b, s.lsn, nil
}

func (s *store) write(fn func(b *kv.Batch) error) {
	s.t.Helper()
	if _, err := s.update(context.Background(), "", nil, fn); err != nil {
		s.t.Fatal(err)
	}
}

func (s *store) view() *kv.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap, err := s.kv.Snapshot(s.lsn)
	if err != nil {
		s.t.Fatal(err)
	}
	return snap
}

func (s *store) settle() {
	s.t.Helper()
	if err := s.set.Settle(context.Background()); err != nil {
		s.t.Fatal(err)
	}
}

func (s *store) create(name string, c vector.Config) *vector.Collection {
	s.t.Helper()
	s.write(func(b *kv.Batch) error {
		_, err := s.set.Create(b, "", name, c)
		return err
	})
	return s.collection(name)
}

func (s *store) collection(name string) *vector.Collection {
	s.t.Helper()
	snap := s.view()
	defer snap.Close()
	c, err := s.set.Collection(snap, "", name)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

func (s *store) check() {
	s.t.Helper()
	snap := s.view()
	defer snap.Close()
	for p, err := range s.set.Check(context.Background(), snap, "") {
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Error(p)
	}
}

// model is the plain truth: vectors by id, as given.
type model map[string][]float32

func (m model) clone() model {
	out := make(model, len(m))
	for id, v := range m {
		out[id] = v
	}
	return out
}

func score(metric vector.Metric, a, b []float32) float64 {
	var dot, aa, bb, dd float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot += x * y
		aa += x * x
		bb += y * y
		dd += (x - y) * (x - y)
	}
	switch metric {
	case vector.Cosine:
		return dot / math.Sqrt(aa*bb)
	case vector.Dot:
		return dot
	}
	return -math.Sqrt(dd)
}

type scored struct {
	id    string
	score float64
}

// brute returns every vector, best first, ties by id.
func (m model) brute(metric vector.Metric, q []float32) []scored {
	out := make([]scored, 0, len(m))
	for id, v := range m {
		out = append(out, scored{id, score(metric, q, v)})
	}
	slices.SortFunc(out, func(a, b scored) int {
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
		return strings.Compare(a.id, b.id)
	})
	return out
}

// tolerance is how far a float32 score may be from the exact one.
func tolerance(metric vector.Metric, q []float32) float64 {
	if metric == vector.L2 {
		return 1e-3 // the root of a small squared distance magnifies its rounding
	}
	return 1e-4 * (1 + float64(len(q))/64)
}

// recall compares hits with the truth: every hit must exist, be admitted, carry its true score, and come
// in order; the share of true neighbours found is returned (a hit as near as the K-th counts as one).
func recall(t testing.TB, metric vector.Metric, m model, q []float32, k int, filter func(string) bool, hits []vector.Hit) float64 {
	t.Helper()
	return recallOf(t, metric, m, m.brute(metric, q), q, k, filter, hits)
}

// recallOf is recall for a query whose true order of all vectors is known.
func recallOf(t testing.TB, metric vector.Metric, m model, all []scored, q []float32, k int, filter func(string) bool, hits []vector.Hit) float64 {
	t.Helper()
	want := make([]scored, 0, min(k, len(all)))
	for _, s := range all {
		if len(want) < k && (filter == nil || filter(s.id)) {
			want = append(want, s)
		}
	}
	if len(hits) != len(want) {
		t.Errorf("%d hits, want %d", len(hits), len(want))
	}
	tol := tolerance(metric, q)
	seen := map[string]bool{}
	found := 0
	for i, h := range hits {
		v, ok := m[h.ID]
		if !ok || seen[h.ID] || filter != nil && !filter(h.ID) {
			t.Errorf("hit %q: stored %v, repeated %v", h.ID, ok, seen[h.ID])
			continue
		}
		seen[h.ID] = true
		exact := score(metric, q, v)
		if math.Abs(exact-float64(h.Score)) > tol {
			t.Errorf("hit %q has score %v, want %v", h.ID, h.Score, exact)
		}
		if i > 0 && (hits[i-1].Score < h.Score || hits[i-1].Score == h.Score && hits[i-1].ID > h.ID) {
			t.Errorf("hits %d and %d are out of order: %v %v", i-1, i, hits[i-1], h)
		}
		if len(want) > 0 && exact >= want[len(want)-1].score-tol/10 {
			found++
		}
	}
	if len(want) == 0 {
		return 1
	}
	return float64(found) / float64(len(want))
}

// scaled is n, or a part of it under the race detector: that makes everything many times slower, and has
// nothing to find in the work of one goroutine.
func scaled(n int) int {
	if raceDetector {
		return n / 5
	}
	return n
}

func random(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func newRand(t testing.TB, seed uint64) *rand.Rand {
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}
