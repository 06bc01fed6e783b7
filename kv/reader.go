package kv

// LSN numbers commits: 1 for the first, 0 for the empty store. Package wal assigns it.
type LSN uint64

// Reader is one consistent view of ordered keys: a Snapshot, or a Batch over the state it will apply to.
type Reader interface {
	// Get returns the value under key, or ErrNotFound. The slice is the caller's; key is not kept.
	Get(key []byte) ([]byte, error)
	// GetMany returns the values under keys in their order, nil where there is none, as Get would. It is for rows that are
	// read again and again: they are kept in memory, as Options.RowBytes says. The values are shared: read them as long
	// as you like, never write them; keys are not kept. Costs a hash for each key that is kept, and one cursor that moves
	// forward for all others.
	GetMany(keys [][]byte) ([][]byte, error)
	// ScanMany returns the rows under each of some prefixes, which are not empty, in order of their keys: the first limit,
	// all when limit is 0. It is for short lists that are read again and again: whole ones are kept in memory as GetMany's
	// rows are, and are as little to be written. Costs a hash for each list that is kept, and one cursor that moves
	// forward for all others.
	ScanMany(prefixes [][]byte, limit int) ([][]Pair, error)
	// Cursor iterates keys in [lower, upper) in byte order; a nil bound is open. The bounds are copied.
	// It starts before the first key. Close it.
	Cursor(lower, upper []byte) (Cursor, error)
	// LSN is the commit whose state this view shows (for a Batch: the state below its own changes).
	LSN() LSN
}

// Cursor moves over keys in order. First, Last, SeekGE, Next and Prev return false at either end and on
// error; Err tells which. Key and Value are valid until the next move and must not be written.
type Cursor interface {
	First() bool
	Last() bool
	SeekGE(key []byte) bool
	SeekLT(key []byte) bool
	Next() bool // before the first move it is First
	Prev() bool // before the first move it is Last
	Key() []byte
	Value() []byte
	Err() error
	Close() error
}

// Pair is a row of ScanMany.
type Pair struct {
	Key   []byte // without the prefix
	Value []byte
}
