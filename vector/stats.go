package vector

// Stats describe a collection's present state.
type Stats struct {
	Live int `json:"live"` // vectors
	Dead int `json:"dead"` // deleted vectors that views may still show, or that await removal
	Tail int `json:"tail"` // vectors that the index has not taken in yet; 0 without one
	// Bytes is the memory in all: what Memory tells, and ids, numbers and places of every slot.
	Bytes  int64  `json:"bytes"`
	Memory Memory `json:"memory"`
	// Disk estimates the bytes of the tables with its keys and those of its index; what is still in the log of
	// commits counts nothing, and without SetOptions.Store it is 0.
	Disk int64 `json:"disk"`
	// Index is nil where every search scans.
	Index *IndexStats `json:"index,omitempty"`
	// Searches counts those since the store was opened, by the plan that gave the result. Retried are those
	// whose first plan found too few or gave up.
	Searches map[Plan]uint64 `json:"searches,omitempty"`
	Retried  uint64          `json:"retried,omitempty"`
	// Recall is what the watch found out; nil without SetOptions.RecallSample, or before the first sample.
	Recall *RecallEstimate `json:"recall,omitempty"`
}

// Memory is where the bytes of a collection are.
type Memory struct {
	Rows  int64 `json:"rows"`  // float32 values; 0 when they are read from the store instead
	Codes int64 `json:"codes"` // quantised values, a byte or a bit each
	Links int64 `json:"links"` // the index beside them
}

// Stats describes the present state. It costs some microseconds, and may read index blocks of tables.
func (c *Collection) Stats() Stats {
	g := c.gen.Load()
	n := g.points.Len()
	live := c.count.Load().n
	st := Stats{Live: live, Dead: max(0, int(n)-live), Bytes: g.points.bytes(), Memory: g.points.memory()}
	if g.index != nil {
		x := g.index.Stats()
		st.Index = &x
		st.Tail = int(n - min(n, g.fed.Load()))
		st.Memory.Links = x.Bytes
		st.Bytes += x.Bytes
	}
	for p := range plans {
		if n := c.searches.by[p].Load(); n > 0 {
			if st.Searches == nil {
				st.Searches = make(map[Plan]uint64)
			}
			st.Searches[Plan(p)] = n
		}
	}
	st.Disk = c.diskBytes()
	st.Retried = c.searches.retried.Load()
	st.Recall = c.recall.estimate()
	return st
}
