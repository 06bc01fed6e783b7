// Package cache keeps entries under keys of a workspace up to a number of bytes; the entries written first go first.
//
// It knows nothing of what is kept. It commits nothing: Put and Clear stage into the caller's batch, and belong to
// the goroutine in the writer turn. A Cache is a value without state in memory, so that one handle sees what another
// did, and a crash leaves nothing to repair.
//
// Reading an entry does not renew it: that would make every hit a write.
//
// Keys, below the prefix that New is given, which nothing else may use:
//
//	'i' key       the place of the entry, a number
//	'n' number    the entry: its key and value; numbers ascend
//	't'           the sums: entries, bytes, the first number in use, the next one
//
// Entries lie in the order in which they came, keys being hashes mostly: new ones are written behind the others, so
// that merging the engine's tables moves the small keys 'i' alone. Earlier builds had entries under their keys ('e', 'o',
// 's'); the first Put removes them.
//
// Invariants:
//   - C1: every key leads to a place, every place holds the entry of the key that leads to it, and the sums are those of the entries.
//   - C2: a Put removes at most two entries for each that it stores, and 16 more, so that its cost is bounded. Sizes
//     are over the limit only while that takes.
package cache
