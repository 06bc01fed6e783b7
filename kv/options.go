package kv

import (
	"fmt"
	"log/slog"
	"math"
	"runtime"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options configure Open. The zero value is valid. No field is stored: all may differ on reopen.
type Options struct {
	// FS is the file system; nil means the operating system's.
	FS vfs.FS
	// ReadOnly opens an existing store without changing it. It takes the directory's lock all the same, where the file
	// system can be written.
	ReadOnly bool
	// CacheBytes is the size of the block cache; default 64 MiB, at least 1 MiB. Memtables count against it.
	CacheBytes int64
	// RowBytes bounds the memory of the rows that GetMany keeps; default 64 MiB, negative for none.
	RowBytes int64
	// MemTableBytes is the size of one memtable; default 8 MiB, 64 KiB to 1 GiB. A larger one makes each commit
	// dearer (its memory is fresh and its list deeper: 200 kB take half as long again at 32 MiB) and the log that
	// a reopening replays longer, and rewrites less (random keys are written 3.3 times at 32 MiB, 4.8 at 8, 5.1
	// at 4). A batch that fills more than half of one is applied without it. Up to MemTables of them exist.
	MemTableBytes uint64
	// MemTables is the number of full memtables that may wait for their flush before Apply waits; default
	// 4, at least 2.
	MemTables int
	// L0Tables is the number of overlapping tables in level 0 from which Apply waits for compaction; default
	// 24, at least 6. Reads slow down with their number.
	L0Tables int
	// BloomBits is the size of the filters per key, on all levels; default 10 (1 % false positives), 1 to 32,
	// negative for none. They save the reads of absent keys: an upsert costs one.
	BloomBits int
	// Compression of tables; default CompressionFast.
	Compression Compression
	// MaxOpenFiles bounds the table files held open; default 500, at least 64.
	MaxOpenFiles int
	// Logger receives engine warnings; nil discards. Never keys or values.
	Logger *slog.Logger
}

// Compression says how table blocks are compressed. Values that SetText has compressed and vectors do not
// shrink any further; keys, adjacency and records do.
type Compression uint8

const (
	// CompressionFast is the engine's fastest algorithm on every level.
	CompressionFast Compression = iota
	// CompressionBalanced adds zstd on the two lowest levels, where most data rests: smaller, slower writes.
	CompressionBalanced
	// CompressionNone stores blocks as they are.
	CompressionNone
)

// Defaults. Sizes are for a guest in another program's process on a small machine.
const (
	defaultCacheBytes    = 64 << 20
	defaultRowBytes      = 64 << 20
	defaultMemTableBytes = 8 << 20
	defaultMemTables     = 4
	defaultL0Tables      = 24
	defaultBloomBits     = 10
	defaultMaxOpenFiles  = 500
)

// never is a threshold which the engine does not reach: kv throttles writers itself, before they hold the
// engine's locks, so that a failed disk can wake them (see throttle).
const never = 1 << 16

func (o Options) withDefaults() (Options, error) {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	setDefault(&o.CacheBytes, defaultCacheBytes)
	setDefault(&o.RowBytes, defaultRowBytes)
	setDefault(&o.MemTableBytes, defaultMemTableBytes)
	setDefault(&o.MemTables, defaultMemTables)
	setDefault(&o.L0Tables, defaultL0Tables)
	setDefault(&o.BloomBits, defaultBloomBits)
	setDefault(&o.MaxOpenFiles, defaultMaxOpenFiles)
	for _, c := range []struct {
		name          string
		v, low, limit int64
	}{
		{"CacheBytes", o.CacheBytes, 1 << 20, math.MaxInt64},
		{"MemTableBytes", int64(min(o.MemTableBytes, math.MaxInt64)), 64 << 10, 1 << 30},
		{"MemTables", int64(o.MemTables), 2, 1 << 10},
		{"L0Tables", int64(o.L0Tables), 6, 1 << 12},
		{"BloomBits", int64(max(o.BloomBits, 0)), 0, 32},
		{"MaxOpenFiles", int64(o.MaxOpenFiles), 64, math.MaxInt32},
		{"Compression", int64(o.Compression), 0, int64(CompressionNone)},
	} {
		if c.v < c.low || c.v > c.limit {
			return o, fmt.Errorf("%w: %s is %d, want %d to %d", ErrOptions, c.name, c.v, c.low, c.limit)
		}
	}
	return o, nil
}

func setDefault[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// engine translates the options. The caller unrefs the caches once the engine is open.
func (o Options) engine() *pebble.Options {
	po := &pebble.Options{
		ReadOnly:                    o.ReadOnly,
		ErrorIfNotExists:            o.ReadOnly,
		Cache:                       pebble.NewCache(o.CacheBytes),
		MemTableSize:                o.MemTableBytes,
		MemTableStopWritesThreshold: never,
		L0StopWritesThreshold:       never,
		FileCache:                   pebble.NewFileCache(runtime.GOMAXPROCS(0), pebble.FileCacheSize(o.MaxOpenFiles)),
		// A table of level 0 is read by every look-up that the filters do not stop: compact early.
		L0CompactionThreshold: 2,
		FormatMajorVersion:    pebble.FormatNewest,
	}
	// One at a time; which one, and when, is scheduler's to say.
	po.CompactionConcurrencyRange = func() (lower, upper int) { return 1, 1 }
	if o.BloomBits > 0 {
		for i := range po.Levels {
			po.Levels[i].FilterPolicy = bloom.FilterPolicy(o.BloomBits)
		}
	}
	po.ApplyCompressionSettings(func() pebble.DBCompressionSettings {
		switch o.Compression {
		case CompressionBalanced:
			return pebble.DBCompressionBalanced
		case CompressionNone:
			return pebble.DBCompressionNone
		default:
			return pebble.DBCompressionFastest
		}
	})
	return po
}
