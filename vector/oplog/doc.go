// Package oplog keeps the derived state of an index on disk: a checkpoint of elements in parts, and a log of
// the operations since, under a prefix that is the index's alone.
//
// It knows neither elements nor operations: the index encodes and decodes them, and gives the bytes that the
// header is to carry. It commits nothing: Drain hands out writes, one batch each.
//
// Keys behind the prefix: 'h', the header, which names the valid epoch and counts what belongs to it; 'c',
// epoch and number, a part of the checkpoint; 'o', epoch and number, a record of the log. Each value ends in the
// CRC-32C of its key and itself.
//
// A record and the header that counts it are one batch. A checkpoint is written when the log has outgrown
// half of the last one; it becomes valid with the header that names its epoch, in the batch that removes all
// others.
//
// Concurrency: a Log belongs to one goroutine at a time, but for Logged and Written.
//
// Invariants:
//   - O1: whichever prefix of the drained writes is committed, Load finds the state of one Drain, whole, or
//     nothing.
//   - O2: after Lost the next Drain begins by removing whatever is there.
//   - O3: a value that is missing, another than was written, of another version, or not decoded to the last byte
//     is kv.ErrCorrupt; only a header that is missing is a log that was never written.
package oplog
