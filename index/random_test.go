package index_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/kv"
)

// randomDoc makes a document out of few names and sentences, so that documents share everything.
func randomDoc(rng *rand.Rand, id string) index.Document {
	name := func() string { return string(rune('A' + rng.IntN(6))) }
	var lines []string
	for range 1 + rng.IntN(6) {
		switch rng.IntN(5) {
		case 0:
			lines = append(lines, fmt.Sprintf("plain %d", rng.IntN(5)))
		case 1, 2:
			lines = append(lines, fmt.Sprintf("E %s|type%d|Fact %d.", name(), rng.IntN(3), rng.IntN(9)))
		default:
			lines = append(lines, fmt.Sprintf("R %s - %s|k%d,k%d|Link %d.", name(), name(), rng.IntN(4), rng.IntN(4), rng.IntN(9)))
		}
	}
	return doc(id, lines...)
}

// TestRandomHistories: whatever happened to a store, it equals one that only ever saw the documents that
// are left, in their order (P2, P4). Odd seeds have small caps.
func TestRandomHistories(t *testing.T) {
	seeds := uint64(24)
	if testing.Short() {
		seeds = 6
	}
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			o := index.Options{Workers: 3, SummaryFragments: 4}
			if seed%2 == 1 {
				o.MaxSources, o.MaxPaths, o.KeepNewest = 3, 2, seed%4 == 1
			}
			s := newStore(t, o)
			texts := make(map[string]index.Document)
			var order []string
			for range 30 {
				id := fmt.Sprintf("doc%d", rng.IntN(8))
				switch rng.IntN(8) {
				case 0, 1, 2:
					d := randomDoc(rng, id)
					s.enqueue(index.Put, d)
					if _, known := texts[id]; !known {
						order = append(order, id)
					}
					texts[id] = d
				case 3, 4:
					s.process()
				case 5: // interrupted at some chunk
					ctx, cancel := context.WithCancel(context.Background())
					var left atomic.Int32
					left.Store(int32(rng.IntN(4)))
					s.extract.before = func(ctx context.Context, _ string) error {
						if left.Add(-1) < 0 {
							cancel()
						}
						return ctx.Err()
					}
					s.extract.memo = map[string]bool{}
					if _, err := s.ProcessSerially(ctx); err != nil && !errors.Is(err, context.Canceled) {
						t.Fatal(err)
					}
					cancel()
					s.extract.before = nil
				case 6:
					s.reopen()
				default:
					if len(order) == 0 {
						continue
					}
					var gone []string
					for range 1 + rng.IntN(3) {
						gone = append(gone, order[rng.IntN(len(order))])
					}
					s.delete(gone...)
					order = slices.DeleteFunc(order, func(id string) bool { return slices.Contains(gone, id) })
					for _, id := range gone {
						delete(texts, id)
					}
				}
				s.check()
			}
			s.process()
			fresh := newStore(t, o)
			for _, id := range order {
				fresh.put(texts[id])
			}
			if d := diff(s.dump(), fresh.dump()); d != "" {
				t.Fatalf("differs from a fresh store:\n%s", d)
			}
			if len(order) > 0 {
				s.delete(order...)
			}
			if d := s.dump(); len(d) > 0 {
				t.Fatalf("an empty store holds\n%s", strings.Join(d, "\n"))
			}
		})
	}
}

// ProcessSerially works on one document and one chunk at a time.
func (s *store) ProcessSerially(ctx context.Context) (index.Summary, error) {
	return s.Process(ctx, index.ProcessOptions{Workers: 1})
}

// TestExportImport: a loaded store is the one it was exported from, and goes on like it.
func TestExportImport(t *testing.T) {
	s := newStore(t, index.Options{SummaryFragments: 3})
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range 8 {
		s.put(randomDoc(rng, fmt.Sprintf("d%d", i)))
	}
	s.delete("d2")
	s.put(randomDoc(rng, "d0"))
	s.enqueue(index.Put, randomDoc(rng, "d1"), randomDoc(rng, "late"))

	c := newStore(t, index.Options{SummaryFragments: 3})
	s.copyTo(c)
	if d := diff(c.dump(), s.dump()); d != "" {
		t.Fatalf("the loaded store differs:\n%s", d)
	}
	c.check()
	for _, x := range []*store{s, c} {
		x.process()
		x.delete("d5", "d0")
		x.put(randomDoc(rand.New(rand.NewPCG(4, 4)), "next"))
	}
	if d := diff(c.dump(), s.dump()); d != "" {
		t.Fatalf("the loaded store goes on differently:\n%s", d)
	}
	for kind, value := range map[string]string{
		"other":             `{}`,
		index.EntryDocument: `{"id":"x","status":"odd"}`,
		index.EntrySource:   `{"kind":"entity","object":["b","a"]}`,
		index.EntryTally:    `{"object":[]}`,
		index.EntryChunk:    `[`,
	} {
		_, err := c.log.Update(context.Background(), "test", nil, func(b *kv.Batch) error {
			return index.Import(b, "", kind, []byte(value))
		})
		if err == nil {
			t.Errorf("%s %s was taken", kind, value)
		}
	}
}
