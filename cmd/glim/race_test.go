//go:build race

package main

// raceDetector tells that everything, the engine's checks of itself included, takes ten times as long.
const raceDetector = true
