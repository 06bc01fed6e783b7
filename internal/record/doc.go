// Package record holds the stored records of the retrieval layer and their keys: documents, chunks,
// entities, relations and the source records behind them.
//
// It exists because index writes these records and query reads them, and neither may see the other. It
// does no I/O: keys and values only. Key layouts are listed in keys.go; the spaces are owned by index.
//
// All functions are pure and safe for concurrent use.
//
// Invariants:
//   - R1: decode(encode(x)) == x for every record; a decoder never panics on arbitrary bytes.
//   - R2: source records sort by (object, document sequence, chunk order, record number).
//   - R3: a pair key is the same for (a, b) and (b, a), and no two pairs share one.
package record
