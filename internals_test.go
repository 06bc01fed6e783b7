package db

// LoadedWorkspaces counts the workspaces in memory.
func LoadedWorkspaces(d *DB) (n int) {
	d.life.mu.Lock()
	defer d.life.mu.Unlock()
	for _, w := range d.life.workspaces {
		if w.state != nil {
			n++
		}
	}
	return n
}
