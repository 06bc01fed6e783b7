// Package space lists every key prefix on disk: its byte, its owner, and the format since which it exists.
//
// It does not encode what follows a prefix; each owner does that in its own encoding.go. It is a leaf and
// is never imported by kv, which knows no key but the ones it is given.
//
// Layout: store-wide keys begin with Global and a space byte; the keys of a workspace begin with
// Workspace, the workspace's name as one ordered key part, and a space byte, so that dropping a
// workspace is one range delete.
//
// Keys: all of them, by prefix; none is written here. Concurrency: the table is constant, and all functions are
// pure and safe for concurrent use.
//
// Invariants:
//   - S1: no two spaces share a byte (golden-tested); a byte that was ever released is never reused.
//   - S2: every key of a workspace lies between Prefix(ws) and codec.PrefixEnd(Prefix(ws)).
package space
