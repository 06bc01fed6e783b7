// Command ann measures nearest-neighbour search against its peers in one run: Glim's graph index bare and
// through the whole database, Glim's exact scan, github.com/coder/hnsw, and hnswlib where g++ and its
// headers are installed (Debian: libhnswlib-dev). From the root of the repository:
//
//	go -C bench/ann run . -data clustered768 -n 100000
//
// For each it reports recall@1, @10 and @100 against microseconds and queries per second, the time of the
// build, and bytes per vector; then how many times as fast as hnswlib each is at equal recall, what share of
// an index's speed is left through the database, and what share of the memory's bandwidth the exact scan
// reaches. It writes a CSV and, for each data set, a PNG of the curves.
//
// How it measures. Times are those of the thread that works, by its processor clock, so that other work on
// the machine disturbs them little; one thread builds and one searches. The contenders take turns: builds
// advance in slices, and in each round every contender runs once at every width. A ratio is taken within a
// round and the median of rounds is shown with its range. Curves are interpolated between the measured
// widths. Recall counts what is not farther than the k-th exact neighbour, so that ties are no misses.
// All contenders get the same vectors, normalised beforehand under cosine, and return ids in order.
//
// It is a module of its own, because what it needs (a plotter and its fonts, a peer) must not reach a user
// of the library. It owns no on-disk keys; it keeps generated vectors and exact answers in a cache folder
// and everything else in a temporary one. It is one process with one goroutine at work at a time.
package main
