package record

import (
	"strconv"
	"strings"
)

// Names of the graph and of the vector collections of a workspace.
const (
	GraphName          = "knowledge"
	ChunkCollection    = "chunks"   // id: chunk id
	EntityCollection   = "entities" // id: entity name
	RelationCollection = "relations"
)

// ChunkPostings is the name of the inverted index of a workspace's chunks. Its items are chunk ids.
const ChunkPostings = "chunks"

// EntityPostings is the name of the keyed inverted index of a workspace's entities. Its items are entity names.
const EntityPostings = "entities"

// NextPrefix begins the names of the collections that take the place of the others when the embedding model changes.
const NextPrefix = "next/"

const chunkMark = "-chunk-"

// ChunkID names a chunk: "<document id>-chunk-<order, at least 3 digits>".
func ChunkID(doc string, order int) string {
	b := make([]byte, 0, len(doc)+len(chunkMark)+8)
	b = append(append(b, doc...), chunkMark...)
	for least := 100; least > 1 && order < least; least /= 10 {
		b = append(b, '0')
	}
	return string(strconv.AppendInt(b, int64(order), 10))
}

// ParseChunkID splits a chunk id; ok is false when id is not one.
func ParseChunkID(id string) (doc string, order int, ok bool) {
	i := strings.LastIndex(id, chunkMark)
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.ParseUint(id[i+len(chunkMark):], 10, 31)
	if err != nil || ChunkID(id[:i], int(n)) != id {
		return "", 0, false
	}
	return id[:i], int(n), true
}

// SortPair returns the names in code-point order: the canonical form of an undirected pair.
func SortPair(a, b string) (string, string) {
	if a > b {
		return b, a
	}
	return a, b
}

// PairID names a relation in its vector collection: the byte length of the smaller name, a colon, and
// both names in order. Unlike a plain join it cannot collide.
func PairID(a, b string) string {
	a, b = SortPair(a, b)
	return strconv.Itoa(len(a)) + ":" + a + b
}

// ParsePairID splits what PairID made.
func ParsePairID(id string) (a, b string, ok bool) {
	num, rest, found := strings.Cut(id, ":")
	if !found {
		return "", "", false
	}
	n, err := strconv.ParseUint(num, 10, 31)
	if err != nil || int(n) > len(rest) {
		return "", "", false
	}
	a, b = rest[:n], rest[n:]
	return a, b, PairID(a, b) == id
}
