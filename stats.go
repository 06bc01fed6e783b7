package db

import (
	"context"
	"errors"
	iofs "io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db/cluster"
	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/vector"
)

// Stats describe what the database holds.
type Stats struct {
	LSN       kv.LSN         `json:"lsn"`
	Documents int            `json:"documents"`
	Statuses  map[string]int `json:"statuses"` // documents by status
	Chunks    int            `json:"chunks"`
	Entities  int            `json:"entities"`
	Relations int            `json:"relations"`
	// DiskBytes is the size of all files in the directory, logs included; VectorBytes is the memory that vectors and their indexes take.
	DiskBytes   int64 `json:"disk_bytes"`
	VectorBytes int64 `json:"vector_bytes"`
	// Collections are the vector collections by name, the documents' own included.
	Collections map[string]vector.Stats `json:"collections,omitempty"`
	// Routing is how much questions routed by topic clusters find; nil without VectorOptions.RecallSample, or before the first.
	Routing *cluster.Monitored `json:"routing,omitempty"`
	// Postings tell what full-text search covers.
	Postings index.Tended `json:"postings"`
	// Models are those in use. Stored are those that the documents were indexed with; only they can be used
	// with the database. nil: it was never given a document.
	Models ModelInfo     `json:"models"`
	Stored *StoredModels `json:"stored_models,omitempty"`
	// Next is a change of the embedding model that was begun and not ended; nil: none. Reembed goes on with it.
	Next *index.NextModel `json:"next_model,omitempty"`
	// Caches are the caches of what models said.
	Caches map[CacheKind]CacheStats `json:"caches"`
	// Usage is what models used since Open, by purpose.
	Usage map[llm.Purpose]llm.Usage `json:"usage,omitempty"`
}

// StoredModels are the models bound to a database with its first document.
type StoredModels struct {
	Embedder  string `json:"embedder"`
	Dim       int    `json:"dim"`
	Tokenizer string `json:"tokenizer"`
}

// Stats counts documents, chunks, entities and relations of one view. It costs a scan over the documents'
// status records.
func (d *DB) Stats(ctx context.Context) (Stats, error) {
	return reading(ctx, d, "Stats", func(_ context.Context, w *state, r kv.Reader) (Stats, error) {
		disk, err := d.diskBytes()
		if err != nil {
			return Stats{}, err
		}
		s := Stats{LSN: r.LSN(), DiskBytes: disk, Models: w.models.names(), Usage: w.models.meter.ByPurpose()}
		if bound, err := readStamp(r, w.name); err != nil {
			return s, err
		} else if bound.Embedder != "" {
			s.Stored = &StoredModels{bound.Embedder, bound.Dim, bound.Tokenizer}
		}
		if s.Next, err = w.pipe.Reembedding(r); err != nil {
			return s, err
		}
		if s.Postings, err = w.pipe.Tended(r); err != nil {
			return s, err
		}
		if n := w.clusters.Current(); n != nil {
			s.Routing = n.Monitored()
		}
		if s.Caches, err = w.caches(r); err != nil {
			return s, err
		}
		if s.Statuses, err = index.StatusCounts(r, w.name); err != nil {
			return s, err
		}
		for _, n := range s.Statuses {
			s.Documents += n
		}
		g, err := graph.Open(r, w.name, record.GraphName)
		if err == nil {
			var n graph.Stats
			n, err = g.Stats(r)
			s.Entities, s.Relations = int(n.Nodes), int(n.Edges)
		}
		if err = ignore(err, ErrNotFound); err != nil {
			return s, err
		}
		names, err := w.vectors.Names(r, w.name)
		if err != nil {
			return s, err
		}
		for _, name := range names {
			c, err := w.vectors.Collection(r, w.name, name)
			if err != nil {
				return s, err
			}
			st := c.Stats()
			s.VectorBytes += st.Bytes
			if nextCollection(name) {
				continue
			}
			if s.Collections == nil {
				s.Collections = make(map[string]vector.Stats)
			}
			s.Collections[name] = st
			if name == record.ChunkCollection {
				if s.Chunks, err = c.Len(r); err != nil {
					return s, err
				}
			}
		}
		return s, nil
	})
}

// Extractors tells which extractors read the chunks of the documents, sorted by ID. Nothing binds a database to one:
// ModelInfo.Extractor is that of documents to come. It reads all chunks.
func (d *DB) Extractors(ctx context.Context) ([]index.ExtractorUse, error) {
	return reading(ctx, d, "Extractors", func(_ context.Context, w *state, r kv.Reader) ([]index.ExtractorUse, error) {
		return index.Extractors(r, w.name)
	})
}

// diskBytes adds up the files of the directory, which is flat. One that the engine removes meanwhile counts
// nothing.
func (d *DB) diskBytes() (int64, error) {
	fs := d.opts.FS
	if fs == nil {
		fs = vfs.Default
	}
	names, err := fs.List(d.path)
	if err != nil {
		return 0, err
	}
	sum := int64(0)
	for _, name := range names {
		info, err := fs.Stat(fs.PathJoin(d.path, name))
		if errors.Is(err, iofs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if !info.IsDir() {
			sum += info.Size()
		}
	}
	return sum, nil
}

// Metrics are counters of the storage engine, at no cost to speak of.
func (d *DB) Metrics() (kv.Metrics, error) {
	_, leave, err := d.begin(d.name, "", reads)
	if err != nil {
		return kv.Metrics{}, err
	}
	defer leave()
	return d.store.Metrics()
}
