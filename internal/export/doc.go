// Package export writes tables as CSV, JSON Lines and Markdown, and graphs as GraphML, whatever their texts hold.
//
// It knows nothing of what is in them: names of columns and values come from the caller, one row at a time, and are
// written at once. Nothing grows with the number of rows.
//
// What a format cannot hold is replaced by something that can be seen, and counted in Notes: control characters
// by their pictures (U+2400 to U+2421), other forbidden characters and invalid UTF-8 by U+FFFD. JSON Lines hold
// everything but invalid UTF-8.
//
// A value is a string, a []string, an int64, a float64, a bool, a time.Time, or nil for none.
//
// Keys: none. Concurrency: a writer belongs to one goroutine.
//
// Invariants:
//   - E1: every output is valid for its format, whatever the values.
//   - E2: a CSV or JSON Lines output, read back, gives the values, but for characters that Notes count.
//   - E3: nodes whose ids differ have ids that differ in GraphML.
package export
