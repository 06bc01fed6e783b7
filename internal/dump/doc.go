// Package dump is a versioned stream of records as JSON Lines: a header, the records grouped by kind and
// sorted by key, and a trailer with their number and a checksum.
//
// It knows kinds, keys and JSON values, and nothing of what they mean: package db maps its state to records
// and back. It owns no keys, holds one record in memory at a time, and reads nothing from a store.
//
//	{"glim_dump":1}
//	{"kind":"kv","key":["settings","a2V5"],"value":{...},"volatile":{...}}
//	{"end":{"records":1,"sha256":"..."}}
//
// Volatile is what may differ between two databases in the same logical state (times, counts of attempts);
// a logical dump leaves it out, so that logical dumps of equal states are equal byte for byte.
//
// A Writer and a Reader belong to one goroutine.
//
// Invariants:
//   - D1: kinds of records with keys do not repeat, and keys ascend strictly within a kind; Writer refuses
//     and Read reports anything else. Records without keys stand in an order of their owner's.
//   - D2: reading what was written gives the same records, strings of any bytes included.
//   - D3: a stream that was cut off or changed is an error, at the latest at its end.
package dump
