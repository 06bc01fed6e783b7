// Package kv is an ordered key-value store with snapshots and one shared write batch, over Pebble.
//
// Store owns the directory and the engine; Batch is the unit of atomicity for every data model above it
// (records, vectors, graphs stage into the same Batch and may register on-commit hooks); Snapshot is one
// immutable view. The contract names nothing of the engine and asks only for ordered keys, snapshots,
// range scans and one atomic multi-key commit, so that another ordered store can stand behind it.
//
// It does not order commits, assign LSNs or wait for durability: package wal does. It knows no key but
// the ones it is given and owns none on disk.
//
// Values carry a one-byte envelope: raw, or zstd when SetText finds that it pays.
//
// Concurrency: Store and Snapshot are safe for concurrent use. A Batch and a Cursor belong to one
// goroutine. Slices returned by Get belong to the caller; a Cursor's Key and Value are valid until its
// next move.
//
// Invariants:
//   - K1: a Batch becomes visible wholly or not at all.
//   - K2: once the engine reports a failed log, manifest or sync, every later write fails with ErrReadOnly
//     and no acknowledgement is given for what may not be durable (design P5).
//   - K3: one process owns a directory; a second Open fails with ErrLocked within a second.
//   - K4: Close is idempotent and names snapshots that were left open.
package kv
