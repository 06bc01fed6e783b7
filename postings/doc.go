// Package postings keeps inverted indexes as ordered keys in the shared batch: which items hold a term, how
// often, and how long they are; and it finds the items that fit some terms best, by BM25.
//
// It analyses nothing: items come as the terms that the caller found in them, under the caller's ids. It does not
// keep texts either, so that who removes an item says once more what it held.
//
// An item gets an ordinal, dense and ascending; 1,024 of them are an epoch. What a batch adds is one segment, one
// key whatever the number of terms, so that adding reads nothing of what there is and writes little more than the
// terms themselves. Segments are few: Fold joins small ones, and turns those of an epoch that is full into blocks, one
// a term and epoch, which lie together by term, so that a search reads a short run of keys a term. Removing
// rewrites what held the item, so that every number is exact: the items of a term, the items, their lengths. Epochs of which
// most items are gone hold many short blocks: Sparse names what is left of them, Move sends it where new items go.
//
// A search knows from the head of a block how much it can add to a score at most. Epochs go by falling bounds until
// none can change the result; within one, rare terms go first, and a term that cannot bring up new items is read for
// those that still have a chance, or not at all. The result is that of scoring everything (B6).
//
// Keys, all under space.Posting of a workspace and the index's name as one key part:
//
//	c                  configuration
//	m                  the owner's mark
//	k                  counters: next ordinal, items, length of all, segments, epochs that are folded
//	s <id>          -> ordinal
//	i <ordinal>     -> length, id
//	y <ordinal>     -> segment: the items from this ordinal on that one batch added, by term
//	p <term> <epoch>-> block: the items of an epoch that hold a term
//
// A Keyed index is the other kind, for items that change often and a little: one key a posting, under its own name:
//
//	c, m               as above
//	k                  counters: items, length of all
//	l <id>          -> length
//	q <term> <id>   -> count
//
// Concurrency: an Index is an immutable handle, safe for concurrent use on snapshots. Changes are staged into a
// kv.Batch, which belongs to one goroutine and the writer turn. What a batch adds and removes is kept beside
// it until it is applied, or read through this package: pass the *kv.Batch itself, not a wrapper.
//
// Invariants, verified by Check where they are about what is stored:
//   - B1: s and i are inverse; ordinals are below the next one and never used again.
//   - B2: the counters equal what a scan counts.
//   - B3: what segments and blocks hold of an item adds up to its length, which each posting of it states.
//   - B4: a segment lies within one epoch that is not folded, a block in one that is; both ascend, no list is empty.
//   - B5: the head of a block tells its count, its largest count of one item, and its shortest item.
//   - B6: a search returns what scoring every item gives, order included: by score, then by id.
//   - B7: folding changes no answer, and an open view shows what it showed.
package postings
