package kv

// As in /work/notes.txt.
const (
	store    = "/home/someone/store"
	relative = "a/home/b"
	url      = "https://example.com/root/page"
)
