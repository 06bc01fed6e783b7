//go:build race

package hnsw_test

// raceDetector: pools drop what they are given at random, so that a search may allocate.
const raceDetector = true
