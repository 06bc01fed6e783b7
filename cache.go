package db

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/glimdb/db/internal/cache"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
)

// CacheKind names one of the durable caches of what models said.
type CacheKind string

// The caches. Their keys cover the whole input and the model's identity (llm.CacheKey, llm.EmbedKey), so that an
// entry is found by the very same question to the very same model alone.
const (
	CacheExtract  CacheKind = "extract"  // replies to extraction calls, rounds of gleaning included
	CacheSummary  CacheKind = "summary"  // summaries of descriptions
	CacheKeywords CacheKind = "keywords" // keywords of questions
	CacheAnswer   CacheKind = "answer"   // answers to questions, by their context
	CacheEmbed    CacheKind = "embed"    // vectors of texts
)

// CacheKinds returns all kinds.
func CacheKinds() []CacheKind {
	return []CacheKind{CacheExtract, CacheSummary, CacheKeywords, CacheAnswer, CacheEmbed}
}

// CacheLimits bound the caches, each in bytes of keys and values before compression. The entries written first go
// first, some with every write that is over the limit; reading an entry does not renew it. 0 is the default,
// a negative limit turns that cache off, MinCacheLimit is the least. They may differ on every Open; a lower limit is
// reached bit by bit, with the entries that come.
//
// What a limit costs is calls: no stored document, and no result of deleting or replacing one, depends on a cache. Extract
// should hold the replies for all documents that wait, about as much as their texts: a document whose processing
// is interrupted goes on from there.
type CacheLimits struct {
	Extract  int64 // default 1 GiB
	Summary  int64 // default 256 MiB
	Keywords int64 // default 64 MiB
	Answer   int64 // default 64 MiB
	Embed    int64 // default 1 GiB: 170,000 vectors of 1,536 dimensions
}

// MinCacheLimit is the least limit of a cache that is on: below, one document's replies would not fit.
const MinCacheLimit = 1 << 20

// limits are the fields by kind, with their defaults.
func (l *CacheLimits) limits() map[CacheKind]struct {
	field  *int64
	normal int64
} {
	return map[CacheKind]struct {
		field  *int64
		normal int64
	}{
		CacheExtract: {&l.Extract, 1 << 30}, CacheSummary: {&l.Summary, 256 << 20}, CacheKeywords: {&l.Keywords, 64 << 20},
		CacheAnswer: {&l.Answer, 64 << 20}, CacheEmbed: {&l.Embed, 1 << 30},
	}
}

// withDefaults fills what is 0, and names what is out of range.
func (l CacheLimits) withDefaults() (CacheLimits, error) {
	var errs []error
	limits := l.limits()
	for _, kind := range CacheKinds() {
		limit := limits[kind]
		setDefault(limit.field, limit.normal)
		if n := *limit.field; n >= 0 && n < MinCacheLimit {
			name := strings.ToUpper(string(kind[:1])) + string(kind[1:])
			errs = append(errs, &OptionError{Field: "CacheLimits." + name, Value: n, Want: fmt.Sprintf("0, negative, or at least %d", MinCacheLimit)})
		}
	}
	return l, errors.Join(errs...)
}

// CacheStats is the size of one cache.
type CacheStats struct {
	Entries int   `json:"entries"`
	Bytes   int64 `json:"bytes"` // of keys and values, before compression
	Limit   int64 `json:"limit"` // 0: the cache is off
}

// ClearCache drops the entries of the caches named, of all when none is, in one commit at a cost that does not depend
// on their number, and returns what was there, by kind. Nothing that is stored depends on them: what documents said, their
// views and their vectors stay, a delete leaves what it would have left, and what is processed or asked from now on
// makes its calls again. Replies that are under way are kept when they arrive.
//
// An unknown kind is an *OptionError.
func (d *DB) ClearCache(ctx context.Context, kinds ...CacheKind) (map[CacheKind]CacheStats, error) {
	if len(kinds) == 0 {
		kinds = CacheKinds()
	}
	for _, kind := range kinds {
		if !slices.Contains(CacheKinds(), kind) {
			return nil, &OptionError{Field: "kinds", Value: kind, Want: fmt.Sprint("one of ", CacheKinds())}
		}
	}
	return writing(ctx, d, func(ctx context.Context, s *state) (map[CacheKind]CacheStats, error) {
		if err := s.settleLate(ctx); err != nil {
			return nil, fmt.Errorf("db: clear cache: %w", err)
		}
		had := make(map[CacheKind]CacheStats, len(kinds))
		_, err := s.Update(ctx, changeCache, nil, func(b *kv.Batch) error {
			for _, kind := range kinds {
				if _, done := had[kind]; done {
					continue
				}
				size, err := s.cache(kind).Clear(b)
				if err != nil {
					return err
				}
				had[kind] = s.cacheStats(kind, size)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("db: clear cache: %w", err)
		}
		return had, nil
	})
}

const changeCache = "cache"

// cacheSpaces are the places of the caches: the numbers are on disk.
var cacheSpaces = map[CacheKind]struct {
	space  space.Space
	number byte
}{
	CacheExtract:  {space.ReplyCache, 1},
	CacheSummary:  {space.ReplyCache, 2},
	CacheKeywords: {space.ReplyCache, 3},
	CacheAnswer:   {space.ReplyCache, 4},
	CacheEmbed:    {space.VectorCache, 1},
}

func (s *state) cacheLimit(kind CacheKind) int64 {
	if s.opts.DisableReplyCache {
		return 0
	}
	return max(0, *s.opts.CacheLimits.limits()[kind].field)
}

func (s *state) cache(kind CacheKind) cache.Cache {
	at := cacheSpaces[kind]
	c := cache.New(append(space.In(s.name, at.space), at.number), s.cacheLimit(kind))
	if kind == CacheEmbed {
		return c.Raw()
	}
	return c
}

func (s *state) cacheStats(kind CacheKind, size cache.Size) CacheStats {
	return CacheStats{size.Entries, size.Bytes, s.cacheLimit(kind)}
}

// caches tells the sizes of all caches.
func (s *state) caches(r kv.Reader) (map[CacheKind]CacheStats, error) {
	out := make(map[CacheKind]CacheStats)
	for _, kind := range CacheKinds() {
		size, err := s.cache(kind).Size(r)
		if err != nil {
			return nil, err
		}
		out[kind] = s.cacheStats(kind, size)
	}
	return out, nil
}

// checkCaches yields how the caches are broken.
func (s *state) checkCaches(ctx context.Context, r kv.Reader) iter.Seq2[Problem, error] {
	return func(yield func(Problem, error) bool) {
		for _, kind := range CacheKinds() {
			found, err := s.cache(kind).Check(ctx, r)
			if err != nil {
				yield(Problem{}, err)
				return
			}
			for _, what := range found {
				if !yield(Problem{Part: "cache", Name: string(kind), What: what}, nil) {
					return
				}
			}
		}
	}
}

// byteStore keeps model replies or embeddings in one cache. Every entry is durable when Put returns (P6), but for those of
// questions, which are stored behind them, and no part of the logical state.
type byteStore struct {
	state *state // its log is there before the first call
	kind  CacheKind
	cache cache.Cache
}

// byteStore returns the store behind a cache; nil when that is off.
func (s *state) byteStore(kind CacheKind) llm.ByteStore {
	if s.opts.ReadOnly || s.cacheLimit(kind) == 0 {
		return nil
	}
	return &byteStore{s, kind, s.cache(kind)}
}

// Get implements llm.ByteStore.
func (s *byteStore) Get(_ context.Context, key string) ([]byte, bool, error) {
	if v, ok := s.state.late.get(s.kind, key); ok {
		return v, true, nil
	}
	snap, err := s.state.View()
	if err != nil {
		return nil, false, err
	}
	v, ok, err := s.cache.Get(snap, key)
	return v, ok, errors.Join(err, snap.Close())
}

// Put implements llm.ByteStore, see PutMany.
func (s *byteStore) Put(ctx context.Context, key string, value []byte) error {
	return s.PutMany(ctx, []string{key}, [][]byte{value})
}

// PutMany implements llm.BatchStore, in one commit. What has arrived was paid for: it is stored even if the
// caller gives up meanwhile, unless the writer turn then does not come within storeGrace.
func (s *byteStore) PutMany(ctx context.Context, keys []string, values [][]byte) error {
	if ctx.Value(askingKey{}) != nil && s.state.keepLate(s.kind, keys, values) {
		return nil
	}
	ctx, end := outlive(ctx, storeGrace)
	defer end()
	_, err := s.state.Update(ctx, changeCache, nil, func(b *kv.Batch) error { return s.cache.Put(b, keys, values) })
	return err
}
