// Package cluster keeps a navigation layer over the chunks of a workspace: topic clusters with a centroid, a summary and
// keywords each, by which a question finds the few among which it is worth searching.
//
// A Layer builds it offline (Build: k-means over the chunk vectors, or density; representatives, summaries, keywords;
// measured before it is used), stores it as one generation that takes its place in one commit, keeps it up with every
// commit that puts or deletes chunks, and mends it in the background (Tend: split, merge, new summaries, rebuild; Watch: what
// routed questions find). When to route, and when not to trust the route, is the reader's business (package query). It finds
// no chunks by text, calls no model in the writer turn, and changes nothing that a query without routing would see.
//
// A Navigation is one state of a generation and never changes. Each vector is in one cluster, and with replicas in
// further ones whose centroids are nearly as near; cluster 0 has no centroid and is always searched: what density finds to
// belong nowhere. The centroid of a cluster is the mean of its vectors, whose sum is kept in fixed point: adding and
// taking away are exact, in whatever order, so that a generation read from disk is the one that was in memory. Clusters
// in memory may be those of a later commit than a view that is searched; which vectors are found is always as the view
// shows.
//
// Keys, all in space.Cluster: the head of the present generation (JSON); by generation a cell's count and sum, its
// description, and the cells of each vector by ordinal. All is derived from chunks: no dump has it, and dropping it
// loses only work. Members of a generation that never took its place are removed with the next Build.
//
// Concurrency: a Layer is safe for concurrent use. Build, Tend and Drop exclude each other, and never a query or a
// document: models are called and vectors compared on a view; the commit then takes in what changed meanwhile.
//
// Invariants:
//   - C1: at every commit each vector of the generation's collection has one member key and is in one primary cell.
//   - C2: a cell's count and sum are exactly those of its primary members.
//   - C3: equal vectors and texts under equal ids, with equal options and models, give equal clusters, whatever the
//     order of commits and the number of workers. What later commits do to them depends on the order of these.
//   - C4: a generation is used only with the collection that it was made from and a question embedded by its model,
//     and by views that are not older than it.
//   - C5: ids are never used again within a generation.
package cluster
