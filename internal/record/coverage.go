package record

import "github.com/glimdb/db/internal/codec"

// Coverage is how much of a workspace's documents, or entities, an index of postings holds: the mark of that index.
type Coverage struct {
	Whole bool
	UpTo  string // the last document or entity that is covered, in order of ids or names; "": none. They are not empty
}

// Covers reports whether the index holds the chunks of a document, or an entity.
func (c Coverage) Covers(id string) bool { return c.Whole || id <= c.UpTo }

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
