// Package wal is the commit path: it opens no file. It gives each commit its LSN, adds the change record
// to the same batch, applies it, publishes in-memory state at that LSN, and waits outside the writer turn
// for its sync, which the commits of many writers share, before acknowledging.
//
// It does not own a log file (the engine's own log is the log), does not know what is committed, and
// makes no network call.
//
// The change records are a feed for replicas, caches and jobs: Changes reads it, Wait tells when there is
// more, Truncate drops its beginning. Consumers see durable commits only, so that no copy is ever ahead of
// a store that lost its last moments in a crash.
//
// Keys: space.LSN (last assigned LSN), space.Change (change feed, by LSN).
//
// Concurrency: Log is safe for concurrent use. One Update runs at a time (the writer turn); readers never
// wait for one: while a commit is applied and published, a new view is of the commit before it. Lock
// order: life, turn, pub. Nobody holds the turn or pub while waiting for a sync.
//
// Invariants:
//   - W1: LSNs are assigned 1, 2, 3, ... in commit order and never reused; a change record exists for each.
//   - W2: a view at LSN n shows exactly the commits 1..n, in the store and in all published state.
//   - W3: Update returns nil only after its commit is durable; a failed Update left no trace, unless it
//     returns an error that is kv.ErrReadOnly, after which the store must be reopened.
//   - W4: hooks run in LSN order, before any view at that LSN exists.
//   - W5: the feed yields a commit only once it is durable, and without gaps.
package wal
