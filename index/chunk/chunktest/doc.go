// Package chunktest is the conformance suite for chunkers: Run it in a test of your own.
//
// It is imported from tests only, owns no keys and is safe for concurrent use. It tests invariants C1 to
// C4 of package chunk and, where asked, C5.
package chunktest
