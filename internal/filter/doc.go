// Package filter selects documents by what their records say: one definition for deleting, listing and asking.
//
// It reads nothing: who has a document's record asks a Matcher. It owns no on-disk keys. A Matcher is safe for
// concurrent use; a Filter belongs to its caller.
//
// Invariants:
//   - F1: the zero Filter matches every document, and each condition that is added matches no more than before.
//   - F2: texts are compared byte for byte: no case, width or normal form of Unicode is ignored.
package filter
