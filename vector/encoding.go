package vector

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/simd"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// Kinds of keys inside space.Vector of a workspace. The bytes are on disk.
const (
	kindMeta byte = 'm' // name -> collection id, configuration
	kindRow  byte = 'r' // collection id, ordinal -> id, vector
	kindID   byte = 'i' // collection id, id -> ordinal
	kindPack byte = 'p' // collection id, first ordinal -> what memory holds of simd.SegmentRows vectors
)

// collectionID is never used twice in a store: the LSN of the commit that created the collection, and
// its number within that commit.
type collectionID uint64

const createdPerCommit = 1 << 16 // LSNs keep 48 bits

func newCollectionID(lsn kv.LSN, n int) collectionID {
	return collectionID(uint64(lsn)*createdPerCommit + uint64(n))
}

func (id collectionID) born() kv.LSN { return kv.LSN(id / createdPerCommit) }

func metaPrefix(ws string) []byte { return append(space.In(ws, space.Vector), kindMeta) }

func metaKey(ws, name string) []byte { return append(metaPrefix(ws), name...) }

// collectionPrefix begins all keys of one kind of one collection.
func collectionPrefix(ws string, kind byte, id collectionID) []byte {
	return codec.AppendKeyUint64(append(space.In(ws, space.Vector), kind), uint64(id))
}

// indexPrefix begins the keys that a collection's index may write.
func indexPrefix(ws string, id collectionID) []byte {
	return codec.AppendKeyUint64(space.In(ws, space.HNSW), uint64(id))
}

// The last number of a configuration is its quantization and, above that, a bit for each choice. On disk.
const (
	quantizationMask       = 3
	choiceExtendCandidates = 1 << 2
	choiceKeepPruned       = 1 << 3
	choices                = choiceExtendCandidates | choiceKeepPruned
)

func encodeMeta(id collectionID, c Config) []byte {
	b := codec.AppendUvarint(nil, uint64(id))
	b = codec.AppendUvarint(b, uint64(c.Metric))
	b = codec.AppendUvarint(b, uint64(c.Dim))
	b = codec.AppendString(b, c.Model)
	b = codec.AppendUvarint(b, uint64(c.M))
	b = codec.AppendUvarint(b, uint64(c.EfConstruction))
	b = codec.AppendUvarint(b, uint64(c.Kind))
	last := uint64(c.Quantization)
	if c.ExtendCandidates {
		last |= choiceExtendCandidates
	}
	if c.KeepPruned {
		last |= choiceKeepPruned
	}
	return codec.AppendUvarint(b, last)
}

func decodeMeta(name string, v []byte) (collectionID, Config, error) {
	r := codec.NewReader(v)
	id := collectionID(r.Uvarint())
	metric := r.Uvarint()
	c := Config{Dim: r.Int(), Model: r.String(), M: r.Int(), EfConstruction: r.Int()}
	kind, last := uint64(HNSW), uint64(Int8)
	if r.Err() == nil && r.Len() > 0 { // records of older stores end here
		kind, last = r.Uvarint(), r.Uvarint()
	}
	if err := r.Done(); err != nil {
		return 0, Config{}, fmt.Errorf("%w: configuration of collection %q: %w", kv.ErrCorrupt, name, err)
	}
	if metric > uint64(L2) {
		return 0, Config{}, fmt.Errorf("%w: configuration of collection %q: metric %d", kv.ErrCorrupt, name, metric)
	}
	quant, made := last&quantizationMask, last&^quantizationMask
	if kind > uint64(IVF) || quant > uint64(Binary) || made&^choices != 0 {
		return 0, Config{}, fmt.Errorf("%w: configuration of collection %q: kind %d, quantization and choices %b", kv.ErrCorrupt, name, kind, last)
	}
	c.ExtendCandidates, c.KeepPruned = made&choiceExtendCandidates != 0, made&choiceKeepPruned != 0
	c.Metric, c.Kind, c.Quantization = Metric(metric), Kind(kind), Quantization(quant)
	if full, err := c.withDefaults(name); err != nil || full != c {
		return 0, Config{}, fmt.Errorf("%w: configuration of collection %q: %v", kv.ErrCorrupt, name, c)
	}
	return id, c, nil
}

// A row is the id behind its length and the values of the vector, four little-endian bytes each.
func appendRow(b []byte, id string, v []float32) []byte {
	b = slices.Grow(b, binary.MaxVarintLen64+len(id)+4*len(v))
	return simd.AppendFloat32s(codec.AppendString(b, id), v)
}

// decodeRow returns the id, aliasing v, and fills vec, whose length is the dimension.
func decodeRow(v []byte, vec []float32) (id []byte, err error) {
	r := codec.NewReader(v)
	id = r.Bytes()
	if r.Err() != nil || r.Len() != 4*len(vec) {
		return nil, fmt.Errorf("%w: row of %d bytes for dimension %d", kv.ErrCorrupt, len(v), len(vec))
	}
	simd.Float32s(vec, v[len(v)-4*len(vec):])
	return id, nil
}

func decodeOrdinal(v []byte) (uint64, error) {
	n, rest, err := codec.KeyUint64(v)
	if err != nil || len(rest) > 0 {
		return 0, fmt.Errorf("%w: ordinal of %d bytes", kv.ErrCorrupt, len(v))
	}
	return n, nil
}
