//go:build !race

package ivf

const raceDetector = false
