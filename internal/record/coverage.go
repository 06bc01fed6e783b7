package record

import "github.com/glimdb/db/internal/codec"

// Coverage is how much of a workspace's documents an index of postings holds: the mark of that index.
type Coverage struct {
	Whole bool
	UpTo  string // the last document that is covered, in order of ids; "": none. Ids are not empty
}

// Covers reports whether a document's chunks are in the index.
func (c Coverage) Covers(doc string) bool { return c.Whole || doc <= c.UpTo }

// Encode returns the stored form.
func (c Coverage) Encode() []byte {
	return codec.AppendString(codec.AppendBool(nil, c.Whole), c.UpTo)
}

// DecodeCoverage reads what Encode wrote.
func DecodeCoverage(v []byte) (Coverage, error) {
	r := codec.NewReader(v)
	c := Coverage{Whole: r.Bool(), UpTo: r.String()}
	return c, r.Done()
}
