package kv

import "time"

// Metrics are the store's figures since it was opened, or of the moment where the name says so.
type Metrics struct {
	// Block cache: bytes used now, look-ups that found their block and that did not.
	CacheBytes           int64
	CacheHits, CacheMiss int64
	// Bloom filters: table reads they saved, and those they let pass.
	FilterHits, FilterMiss int64
	// Memtables now, the one being written included.
	MemTableBytes uint64
	MemTables     int64
	// Levels now, from the newest data to the oldest.
	Levels [7]LevelMetrics
	// ValueFiles now, which hold long values apart from their keys, their bytes, and those of them that no key
	// refers to any more; bytes written to such files by flushes and compactions, rewriting included.
	ValueFiles                                    uint64
	ValueBytes, ValueBytesDead, ValueBytesWritten uint64
	// DiskBytes is what the store occupies now: tables, logs, and files about to be removed.
	DiskBytes uint64
	// Log: bytes that commits handed over, bytes written, and bytes that a reopening would replay now.
	LogBytesIn, LogBytesWritten, LogBytes uint64
	// Flushes and compactions that ended, compactions that failed, and what compaction is estimated to
	// have to rewrite before the levels are in shape.
	Flushes, Compactions, CompactionsFailed int64
	CompactionDebtBytes                     uint64
	// Throttled is how often, ThrottledTime how long commits waited for flushes and compactions.
	Throttled     int64
	ThrottledTime time.Duration
	// Handles open now.
	Snapshots, Cursors int
}

// LevelMetrics are the figures of one level.
type LevelMetrics struct {
	Tables       int64
	Bytes        int64
	BytesWritten uint64 // by flushes and compactions into this level
	BytesRead    uint64 // by compactions from this level
	// Overlapping is the number of tables that a look-up may have to read: more than 1 only on level 0.
	Overlapping int32
}

// WriteAmplification is the number of bytes written to disk for each byte that commits handed over.
func (m *Metrics) WriteAmplification() float64 {
	if m.LogBytesIn == 0 {
		return 0
	}
	n := m.LogBytesWritten + m.ValueBytesWritten
	for _, l := range m.Levels {
		n += l.BytesWritten
	}
	return float64(n) / float64(m.LogBytesIn)
}

// Metrics returns the store's figures. It costs some ten microseconds and no I/O.
func (s *Store) Metrics() (Metrics, error) {
	if err := s.enter(); err != nil {
		return Metrics{}, err
	}
	defer s.leave()
	e := s.db.Metrics()
	m := Metrics{
		CacheBytes: e.BlockCache.Size, CacheHits: e.BlockCache.Hits, CacheMiss: e.BlockCache.Misses,
		FilterHits: e.Filter.Hits, FilterMiss: e.Filter.Misses,
		MemTableBytes: e.MemTable.Size, MemTables: e.MemTable.Count,
		DiskBytes:  e.DiskSpaceUsage(),
		LogBytesIn: e.WAL.BytesIn, LogBytesWritten: e.WAL.BytesWritten, LogBytes: e.WAL.Size,
		Flushes: e.Flush.Count, Compactions: e.Compact.Count, CompactionsFailed: e.Compact.FailedCount,
		CompactionDebtBytes: e.Compact.EstimatedDebt,
	}
	m.ValueFiles, m.ValueBytes, m.ValueBytesWritten = e.BlobFiles.LiveCount, e.BlobFiles.LiveSize, s.fs.values.Load()
	if e.BlobFiles.ReferencedValueSize < e.BlobFiles.ValueSize {
		m.ValueBytesDead = e.BlobFiles.ValueSize - e.BlobFiles.ReferencedValueSize
	}
	for i := range e.Levels {
		l := &e.Levels[i]
		m.Levels[i] = LevelMetrics{
			Tables: l.TablesCount, Bytes: l.AggregateSize(), Overlapping: l.Sublevels,
			BytesWritten: l.TableBytesFlushed + l.TableBytesCompacted,
			BytesRead:    l.TableBytesRead,
		}
	}
	m.Throttled, m.ThrottledTime = s.throttle.stats()
	m.Snapshots, m.Cursors = s.handles.counts()
	return m, nil
}
