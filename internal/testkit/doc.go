// Package testkit holds what the tests of several packages share: the folder of real data, in-memory file
// systems, and a file system that fails or loses power at a chosen operation.
//
// It knows no package of the product, so that every package's tests may use it; it is imported from tests
// only. It owns no on-disk keys.
//
// The way to prove that a commit path survives anything is the loop:
//
//	testkit.EveryCrashPoint(t, testkit.Loop{Seed: 1}, run, verify)
//
// It calls run on a fresh file system that loses power at the k-th changing operation, k = 1, 2, 3, ...,
// then verify on what the power loss left, until a run gets through. EveryFault does the same with an
// error (a full disk, a broken one) in the place of the power loss.
//
// Concurrency: a CrashFS is safe for concurrent use; its controls (FailAt, CrashAt, Heal) may be called
// while files are in use.
//
// Invariants:
//   - T1: data that a Sync reported as durable before the crash is in the file system after it.
//   - T2: no operation that began after the crash point succeeds, except Close.
//   - T3: equal sequences of operations fail or crash at the same operation. What of the unsynced data a
//     crash keeps follows the seed only roughly, for the in-memory file system walks directories in no
//     fixed order: a failure is repeated by running its point again a few times.
package testkit
