//go:build race

package ivf

// raceDetector: pools drop what they are given at random, so that a search may allocate.
const raceDetector = true
