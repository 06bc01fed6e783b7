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
//	'e' key       the entry
//	'o' number    the key of the entry that was written at this place; numbers ascend
//	's'           the sums: entries, bytes, the first number in use, the next one
//
// Invariants:
//   - C1: every entry stands at one place, every place names an entry, and the sums are those of the entries.
//   - C2: a Put removes at most two entries for each that it stores, and 16 more, so that its cost is bounded. Sizes
//     are over the limit only while that takes.
package cache
