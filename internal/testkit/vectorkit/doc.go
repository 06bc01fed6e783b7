// Package vectorkit gives the tests of vector indexes a store to keep collections in, a model to compare them
// with, and vectors of several shapes.
//
// The store is the real engine on a file system in memory, with the smallest commit path that serves a
// vector.Set: one writer at a time, LSN by LSN. The model is a map of vectors, searched by brute force.
//
// Concurrency: a Store serves concurrent commits and views; Open, Close and Reopen belong to one goroutine.
package vectorkit
