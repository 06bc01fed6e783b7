// Package wal says it again.
package wal
