// Package codec encodes ordered key parts and compact values.
//
// It knows nothing of its users: no key prefix, no record type. Keys built from its Append functions
// compare bytewise in the order of the values they encode; values are read back by Reader, which never
// panics and never allocates more than its input holds.
//
// It owns no on-disk keys. All functions are pure and safe for concurrent use; a Reader is not.
//
// Invariants:
//   - C1: byte order of encoded keys equals the logical order of the parts.
//   - C2: decode(encode(x)) == x, and no encoded part is a prefix of another of the same kind.
//   - C3: a decoder fed arbitrary bytes returns an error or a value, never panics.
package codec
