// Command ann measures the vector layer: nearest-neighbour search against its peers, and everything else
// that is promised of vectors. From the root of the repository:
//
//	go -C bench/ann run . -measure all -data clustered768,clustered1536,words -n 100000
//
// A run ends with a table: each figure with what it must reach, the median of what was measured with its
// range, and whether it is reached. The same is left as figures.csv. The measures, a file each:
//
//   - curves: recall@1, @10 and @100 against microseconds, builds, and bytes per vector, of Glim's indexes
//     bare and through the whole database, Glim's exact scan, github.com/coder/hnsw, and hnswlib where g++ and
//     its headers are installed (Debian: libhnswlib-dev). It writes ann.csv and a PNG of each data set.
//   - threads: two searching threads against one.
//   - writer: searches beside a writer at full speed against idle ones, cost and recall.
//   - scan: exact scans against the bandwidth at which one thread reads memory.
//   - persist: processor time of all but indexing against indexing, and write amplification.
//   - commit: vectors and a document in one commit against bare Pebble writing the same.
//   - open: after kill -9 of a process that inserts, up to the first search, against one pass over the rows.
//   - memory: heap and resident set of a process against rows, codes and links, and without rows.
//   - churn: recall, reachability and space after five turns of the population, against a new database.
//   - million: load, search, bytes and opening of 1,000,000 × 384, for which it generates the vectors in parts.
//     It takes an hour or so and some 4 GB of memory, and "all" leaves it out.
//
// How it measures. Every ratio is of two things measured in one run, in turn. Times are those of the thread
// that works, or of the process where several do, by the processor's clock, so that other work on the machine
// disturbs them little; where a figure says wall, what is waited for is the point of it, and a busy machine
// shows. A ratio is taken within a round and the median of rounds is shown with its range. Curves are
// interpolated between the measured widths. Recall counts what is not farther than the k-th exact neighbour,
// so that ties are no misses. All contenders get the same vectors, normalised beforehand under cosine, and
// return ids in order. Every measure checks its answers, and fails when they are wrong.
//
// It is a module of its own, because what it needs (a plotter and its fonts, a peer) must not reach a user
// of the library. It owns no on-disk keys; it keeps generated vectors and exact answers in a cache folder
// and everything else in a temporary one. Measures run one after the other. Those that need a process to kill
// or to weigh start the program again.
package main
