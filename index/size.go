package index

import "github.com/glimdb/db/internal/record"

// A document is one commit, and a commit has a limit (Options.CommitBytes). How much a text will need is not known
// when it is enqueued: prose full of names needs thirty times its size, a log file less than its size. So two lower
// bounds are watched while it is processed, each as soon as it can be: what the records alone take, during
// extraction, before further chunks are paid for; and with the vectors that have to be made, before summaries and
// embeddings are.

// recordBytes is what the records of one chunk take in a commit.
func (p *Pipeline) recordBytes(list []record.Source) int {
	n := 0
	for i := range list {
		n += len(list[i].Key(p.cfg.Workspace)) + len(list[i].Encode())
	}
	return n
}

// fits refuses a plan that has been derived and whose new records and vectors alone are more than one commit holds.
func (a *attempt) fits() error {
	vector := 4 * a.p.embedder().Dim()
	n := 0
	if a.doc.Current == nil {
		n = len(a.chunks) * vector
	}
	for _, e := range a.plan.edits {
		if len(e.removed) == 0 { // else some may stay as they are
			n += a.p.recordBytes(e.added)
		}
		if e.embed || e.summarise && e.entity == nil && e.relation == nil {
			n += vector
		}
	}
	if n > a.p.commitBytes {
		return a.tooLarge(n)
	}
	return nil
}

// tooLarge is the refusal of a document that needs at least needs bytes, 0 when the commit alone told.
func (a *attempt) tooLarge(needs int) error {
	return &TooLargeError{IDs: []string{a.doc.ID}, Bytes: len(a.text), Needs: needs, Limit: a.p.commitBytes}
}
