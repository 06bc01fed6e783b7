// Package graphview writes a picture of a graph as one HTML file that needs nothing else: the data, a page with a
// search box and a panel of details, and the library that draws (Cytoscape.js, in cytoscape/ with its licence).
//
// It does not read databases or choose what to show.
//
// Keys: none. Concurrency: Write may be called at any time from any goroutine.
//
// Invariants:
//   - W1: whatever names and texts hold, they are data: the file's only scripts are the page's own, pinned by the
//     hashes of its content security policy, and nothing that is not text becomes part of the page.
//   - W2: the page loads nothing: the policy forbids every request, and it names no address.
//   - W3: equal views give equal bytes, on one kind of processor.
package graphview
