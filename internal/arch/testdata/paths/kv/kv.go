package kv

// As in /home/other/notes.txt.
const (
	store    = "/home/someone/store"
	relative = "a/home/b"
	url      = "https://example.com/home/page/one"
)
