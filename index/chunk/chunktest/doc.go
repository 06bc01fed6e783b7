// Package chunktest is the conformance suite for chunkers: Run it in a test of your own.
//
// It judges no quality: whether a border is a good place to cut is the chunker's own business. It is imported
// from tests only and owns no keys. Concurrency: Run may be called from several tests at once.
//
// It has no invariants of its own; it tests C1 to C4 of package chunk and, where asked, C5 and C6.
package chunktest
