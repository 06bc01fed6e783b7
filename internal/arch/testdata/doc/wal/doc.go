// Package wal has two comments.
package wal
