package main

// openCoder leaves the peer out: it does not compile on this system.
func openCoder(*env) (contender, error) {
	return nil, absent("coder/hnsw is left out: it does not compile on Windows")
}
