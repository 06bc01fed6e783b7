// Package record holds the stored records of the retrieval layer and their keys: documents, chunks,
// entities, relations, the source records behind them and their tallies, and the texts made of them for
// models (line.go).
//
// It exists because index writes these records and query reads them, and neither may see the other. It
// does no I/O: keys and values only. Entities and relations are stored as nodes and edges of the graph
// GraphName and in the collections named in ids.go; everything else is in spaces owned by index:
//
//	Document  id                                          -> status record
//	Text      id, 'c' (visible) or 'p' (waiting)          -> text
//	Chunk     id, order                                   -> chunk
//	Source    kind, object, sequence, order, record       -> source record
//	Source    'E' name or 'R' pair                        -> tally
//	Contrib   id                                          -> objects of the visible version
//	Manual    'e' name or 'r' pair                        -> decisions of people
//	Manual    'f', hash of an alias's fold, alias         -> name it stands for
//	Manual    '#' or '~'                                  -> last commit that changed what counts
//	Sequence  'n'                                         -> next sequence
//	Sequence  'q', sequence                               -> id of a document that waits
//	Track     track, sequence                             -> id
//	Hash      content hash, id                            -> nothing
//
// All functions are pure and safe for concurrent use.
//
// Invariants:
//   - R1: decode(encode(x)) == x for every record; a decoder never panics on arbitrary bytes.
//   - R2: source records sort by (kind, object, document sequence, chunk order, record number).
//   - R3: a pair key is the same for (a, b) and (b, a), and no two pairs share one.
//   - R4: adding records to a tally and taking them away again leaves it as it was, exactly.
package record
