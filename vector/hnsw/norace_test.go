//go:build !race

package hnsw_test

const raceDetector = false
