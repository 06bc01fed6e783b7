package index

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// Filter selects documents. Zero fields select all; of several set ones all must hold.
type Filter struct {
	Status     string // one of Statuses
	Track      string // of the Enqueue call, or the document's own
	PathPrefix string
	IDPrefix   string
	// Metadata: each entry must be there with this value; of a list any item, or the whole list. 1 and 1.0 are the same,
	// and so are a number or boolean and a text that writes it as JSON does: 2020 and "2020" (a cell of a table, say),
	// but not 7 and "007". Two texts are the same only when they are equal.
	Metadata map[string]any
}

// selector is a Filter that was checked.
type selector struct {
	Filter
	metadata record.Metadata
}

// selector returns an *OptionError for a status or a metadata value that no document can have.
func (f Filter) selector() (*selector, error) {
	if f.Status != "" && !slices.Contains(Statuses(), f.Status) {
		return nil, &OptionError{Field: "Filter.Status", Value: brief.Quote(f.Status), Want: strings.Join(Statuses(), ", ")}
	}
	m, err := metadataOf(f.Metadata)
	if err != nil {
		return nil, &OptionError{Field: "Filter.Metadata", Value: fmt.Sprintf("%d entries", len(f.Metadata)), Want: "what a document may carry", Err: err}
	}
	return &selector{f, m}, nil
}

// empty reports whether every document is selected.
func (f Filter) empty() bool {
	return f.Status == "" && f.Track == "" && f.PathPrefix == "" && f.IDPrefix == "" && len(f.Metadata) == 0
}

func (s *selector) match(i *Info) bool {
	return (s.Status == "" || s.Status == i.Status) && (s.Track == "" || s.Track == i.Track) &&
		strings.HasPrefix(i.Path, s.PathPrefix) && strings.HasPrefix(i.ID, s.IDPrefix) && hasMetadata(i.Metadata, s.metadata)
}

// Documents iterates the documents that f selects: in order of enqueue when it names a track, by id
// otherwise. A track and an id prefix cost what they select, other filters a scan over all documents. A status
// that is none, or metadata that no document carries, is an *OptionError.
func Documents(r kv.Reader, ws string, f Filter) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		s, err := f.selector()
		if err != nil {
			yield(Info{}, err)
			return
		}
		source := documentsFrom(r, ws, f.IDPrefix)
		if f.Track != "" {
			source = documentsOf(r, ws, f.Track)
		}
		for d, err := range source {
			if err != nil {
				yield(Info{}, fmt.Errorf("index: documents: %w", err))
				return
			}
			if i := infoOf(&d); s.match(&i) && !yield(i, nil) {
				return
			}
		}
	}
}
