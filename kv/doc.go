// Package kv is an ordered key-value store with snapshots and one shared write batch, over Pebble.
//
// Store owns the directory and the engine; Batch is the unit of atomicity for every data model above it
// (records, vectors, graphs stage into the same Batch and may register on-commit hooks); Snapshot is one
// immutable view. The contract names nothing of the engine and asks only for ordered keys, snapshots,
// range scans and one atomic multi-key commit, so that another ordered store can stand behind it.
//
// It does not order commits or assign LSNs: package wal does. It knows no key but
// the ones it is given and owns none on disk.
//
// Values carry a one-byte envelope: raw, or zstd when SetText finds that it pays.
//
// Values of a kibibyte or more lie in files beside the tables of their keys (values.go), so that compactions do not write
// them again; files in which much is referred to by no key are written anew, and Compact leaves no such thing.
//
// # Failing disks
//
// The engine answers a failed log or manifest by ending the process, by a panic below its own locks, or by
// deleting the log that held the lost data. None of that may happen to a host program, so all its file
// operations pass through latchFS. The first failed change of the directory, or the first flush or compaction
// that cannot read what it needs, sets a latch: from then on nothing on disk is changed or removed, and the
// engine is told that its changes succeeded, so that its pipeline, and with it Close, goes on working; no
// compaction begins; reads are served as before. What keeps K2 is not what the engine believes but the latch,
// which Apply reads before its work and Batch.Durable after it. The log is cut back to its last synced byte, so
// that a change whose commit failed does not come back after a restart (unless the disk refuses even that).
//
// A panic of the engine on a goroutine of ours becomes an error. One on a goroutine of its own nobody can
// recover. Those known come of jobs that outlive an opening which fails, and are kept from it: compactions begin
// after it (scheduler), tables are not read before its end (latchFS.Open); and of files of values that cannot be
// written, which are pretended (latchFS). What is left are faults in the
// engine's code, a file system whose methods panic, and memory that runs out.
//
// Rows that GetMany reads stay in memory, opened, until a batch changes them or younger ones need the room (rows.go).
//
// Concurrency: Store and Snapshot are safe for concurrent use. A Batch and a Cursor belong to one
// goroutine. Slices returned by Get belong to the caller; a Cursor's Key and Value are valid until its
// next move. Close may be called at any time: what runs ends, or fails with ErrClosed at its next step.
//
// Lock order: Store.mu, then one of Snapshot.mu and cursor.mu, then handles.mu. The throttle's and the
// latch's locks are leaves, and so are those of the row cache's shards, below its own.
//
// Invariants:
//   - K1: a Batch becomes visible wholly or not at all.
//   - K2: once the disk failed, every later write fails with ErrReadOnly, and no acknowledgement is given
//     for what may not be durable (design P5).
//   - K3: one process owns a directory; a second Open fails with ErrLocked within a second.
//   - K4: Close is idempotent, leaves no goroutine and no lock, and names snapshots that were left open. One of the
//     engine's goroutines stays when a read fails while it writes values anew, and only then.
//   - K5: after Close every call on every handle fails with ErrClosed; none panics.
//   - K6: a read-only store changes no file but the lock's.
//   - K7: GetMany answers as Get of each key does, and ScanMany as a cursor, whatever rows are kept in memory.
package kv
