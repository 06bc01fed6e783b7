// Package vector keeps collections of vectors under the caller's ids and finds the nearest to a query,
// as a view of one commit shows them.
//
// It embeds nothing and commits nothing: vectors come from the caller, and changes are staged in the
// shared batch. It knows no graph index either; one is injected as a factory (NewIndex).
//
// Rows are the truth. A batch stages float32 rows (normalised under cosine), ids and deletes; when it
// commits, they are published in memory at the commit's LSN, in the tail, which every search scans. A
// collection whose int8 codes fit a cache is only scanned: codes first, float32 rows for every slot whose
// error bound leaves it a chance, so that the result is exact. A larger one feeds its tail to an Index in
// the background and searches index and tail. Indexes persist themselves as derived data, in commits of
// their own; losing any of that loses only work. So do packs: what memory holds of vectors beside their rows, by
// which a collection of codes with an index is opened, a quarter of the bytes; its rows come behind the first searches.
//
// What an index compares is the collection's quantisation: a byte a value (Int8), the rows (Float32), or a bit a
// value, its sign (Binary). Whatever that is, the rows of its candidates make the scores, and an exact search
// reads what bounds the scores: codes, or the rows. Under SetOptions.MemoryBytes the rows of the largest
// collections are not in memory; what is chosen by codes or bits is then read from the view that is searched.
// A graph over bits is built from rows as long as they are in memory; once they are not, bits have to do, and
// under L2 codes.
//
// Filters are predicates or prepared sets of ids (IDSet), which are predicates whose answers are kept in a
// bitmap by slot. A planner weighs scan, set, and index searches that are wider or go on until enough passes;
// an index that has spent what an exact plan costs gives up, so that no filter, however it correlates with
// distance, costs much more than twice the exact plan. A watch repeats a sample of searches
// exactly on the points that they read, which needs no snapshot where rows are in memory (V5).
//
// Collections belong to workspaces, which memory holds one by one: Load reads one, Release lets go of it, and between the
// two its collections can be used.
//
// A slot is a vector's place in memory, an ordinal its number on disk. Both ascend in commit order.
// Replacing a vector ends its slot and begins another. Deleted slots stay until no view shows them; then
// the index reconnects around them, and when they outnumber the living the collection moves to new
// points. Readers of the old points keep them; nothing readable is ever overwritten.
//
// Keys: space.Vector (collections by name; rows by collection and ordinal; ordinals by collection and
// id; packs by collection and first ordinal). space.HNSW belongs to the index, under the collection's prefix.
//
// Concurrency: Set and Collection are safe for concurrent use. Searches take no lock that a commit or
// the indexer holds for long, and never wait for a sync. Put and Delete belong to the goroutine in the
// writer turn. Lock order: Set.loading, arrival.mu, Collection.persist, feed.mu, Collection.mu, Set.mu. Update is called holding
// only persist, because a writer in its turn may wait for feed.mu. IDSet.mu and those of the watch are leaves.
// Close waits for the indexer and the watch.
//
// Invariants:
//   - V1: a reader at LSN n finds exactly the vectors of commits 1..n; a batch, its own changes, too.
//   - V2: a committed vector is found by the next search, before it is indexed and after any kill; where
//     memory holds only bits, as far as these tell it from others.
//   - V3: scores come from the float32 rows by one kernel; order is score, then id (design P9).
//   - V4: a search returns K hits whenever K admitted vectors exist.
//   - V5: a slot's row, code and id never change once Len counts it; only its end is set, once. Rows come into
//     memory all at a time, when the collection is opened or soon after, and may leave it all at a time and for
//     good: the store has the same, and who took hold of one keeps it.
//   - V6: the index decides recall and speed, never which vectors may be returned.
//   - V7: a batch that is dropped leaves no trace, in memory either.
//   - V8: a set of ids stands, at every view, for the vectors that the view shows under these ids.
package vector
