// Package kmeans partitions vectors around centroids: Lloyd's algorithm with k-means++ seeds, on a sample
// whose size follows from the number of centroids, in a bounded number of rounds.
//
// It knows no store, collection or metric by name: a partition is Euclidean or, for directions, spherical
// (Dhillon and Modha, 2001): rows count by their direction, centroids have length one. It keeps nothing of
// what it is given and owns no keys.
//
// Seeds are drawn as Arthur and Vassilvitskii do ("k-means++", 2007): each with a chance in proportion to
// the squared distance from the nearest one before it.
//
// Cost: with s rows in the sample, k·min(s, 16·k) distances for the seeds and k·s for each round. Memory beside
// the rows: the centroids twice, once in float64, and 20 bytes for each row of the sample.
//
// Concurrency: Run and Assign call the row function from as many goroutines as they are told to use, and
// have none left when they return. Nearest is pure.
//
// Invariants:
//   - K1: equal rows, in equal order, with equal options give equal centroids on one kind of processor,
//     whatever the number of goroutines.
//   - K2: there are as many centroids as asked for, or as many as the candidates for seeds have distinct rows
//     (directions), if these are fewer; at least one when there are rows. All are finite when the rows are.
//   - K3: a centroid that lost all its rows in a round begins anew at the row that is worst served.
package kmeans
