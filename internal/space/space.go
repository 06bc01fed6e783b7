package space

import (
	"fmt"
	"slices"

	"github.com/glimdb/db/internal/codec"
)

// Space is the byte that tells whose keys these are.
type Space byte

// First bytes of every key.
const (
	global    byte = 0x01 // store-wide keys
	workspace byte = 0x02 // keys of one workspace
)

// Store-wide spaces.
const (
	Stamp  Space = 's' // db: format version; tokenizer, embedder and its dimension of the default workspace
	LSN    Space = 'l' // wal: last assigned LSN
	Change Space = 'c' // wal: change feed, by LSN
)

// Spaces of a workspace.
const (
	Bound       Space = 'w' // db: tokenizer, embedder and its dimension of a workspace other than the default one
	User        Space = 'u' // db: KV spaces of public transactions, by (space name, key)
	Vector      Space = 'v' // vector: collections, rows, id maps
	HNSW        Space = 'h' // vector/hnsw and vector/ivf: what a collection's index derives and saves
	Graph       Space = 'g' // graph: nodes, edges, adjacency, counters
	Document    Space = 'd' // index: document records (status, counts, reasons)
	Text        Space = 't' // index: document texts
	Chunk       Space = 'k' // index: chunks, by (document, order)
	Source      Space = 'o' // index: extraction records behind entities and relations
	Contrib     Space = 'b' // index: document -> names it contributes to
	Sequence    Space = 'n' // index: the next sequence number and the queue of unprocessed documents
	Track       Space = 'r' // index: track id -> documents
	Hash        Space = 'x' // index: content hash -> documents
	Manual      Space = 'm' // index: what people decided about entities and relations
	Posting     Space = 'i' // postings: inverted indexes, by name
	Reembed     Space = 'y' // index: what the vectors of the next embedding model were made from
	Cluster     Space = 'z' // cluster: the navigation layer over chunks, by generation
	ReplyCache  Space = 'p' // internal/cache: model replies, keywords and answers, by kind
	VectorCache Space = 'e' // internal/cache: embeddings
)

// Info describes a space.
type Info struct {
	Space  Space
	Name   string
	Owner  string // the package that encodes what follows the prefix; where two do, the lower one
	Global bool   // store-wide, not of a workspace
	Since  int    // format version
}

// All describes every space, for documentation and checks.
func All() []Info { return slices.Clone(all) }

var all = []Info{
	{Stamp, "stamp", "db", true, 1},
	{LSN, "lsn", "wal", true, 1},
	{Change, "change", "wal", true, 1},
	{Bound, "bound", "db", false, 1},
	{User, "user", "db", false, 1},
	{Vector, "vector", "vector", false, 1},
	{HNSW, "hnsw", "vector/hnsw", false, 1},
	{Graph, "graph", "graph", false, 1},
	{Document, "document", "index", false, 1},
	{Text, "text", "index", false, 1},
	{Chunk, "chunk", "index", false, 1},
	{Source, "source", "index", false, 1},
	{Contrib, "contrib", "index", false, 1},
	{Sequence, "sequence", "index", false, 1},
	{Track, "track", "index", false, 1},
	{Hash, "hash", "index", false, 1},
	{Manual, "manual", "index", false, 1},
	{Posting, "posting", "postings", false, 1},
	{Reembed, "reembed", "index", false, 1},
	{Cluster, "cluster", "cluster", false, 1},
	{ReplyCache, "replycache", "internal/cache", false, 1},
	{VectorCache, "vectorcache", "internal/cache", false, 1},
}

// Key returns the prefix of a store-wide space.
func Key(s Space) []byte { return []byte{global, byte(s)} }

// Prefix returns the prefix of all keys of a workspace.
func Prefix(ws string) []byte { return codec.AppendKeyString([]byte{workspace}, ws) }

// Workspaces returns the bounds of the keys of all workspaces.
func Workspaces() (lower, upper []byte) { return []byte{workspace}, []byte{workspace + 1} }

// WorkspaceOf returns the workspace that key belongs to. It fails for store-wide and malformed keys.
func WorkspaceOf(key []byte) (string, error) {
	if len(key) == 0 || key[0] != workspace {
		return "", fmt.Errorf("%w: not a key of a workspace", codec.ErrCorrupt)
	}
	ws, _, err := codec.KeyString(key[1:])
	return ws, err
}

// In returns the prefix of one space of a workspace.
func In(ws string, s Space) []byte { return append(Prefix(ws), byte(s)) }
