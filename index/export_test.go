package index

// LimitCommit makes p refuse documents that are known to need more than n bytes in one commit.
func (p *Pipeline) LimitCommit(n int) { p.commitBytes = n }

// LimitRemoval makes DeleteMatching take n bytes of text in one commit.
func (p *Pipeline) LimitRemoval(n int) { p.removalBytes = n }
