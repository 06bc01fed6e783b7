package index

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/glimdb/db/internal/filter"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// Filter selects documents: by status, track, ids, how ids and paths begin, metadata (equal, one of, in a range, there
// at all), and their own time. Zero fields select all; of several set ones all must hold. Queries have the same one.
type Filter = filter.Filter

// Condition is one on metadata; see Filter.Where.
type Condition = filter.Condition

// matcher checks f. It returns one *OptionError for each field that no document can satisfy, joined.
func matcher(f Filter) (*filter.Matcher, error) {
	m, problems := f.Compile()
	errs := make([]error, len(problems))
	for i, p := range problems {
		errs[i] = &OptionError{Field: "Filter." + p.Field, Value: p.Value, Want: p.Want, Err: p.Err}
	}
	return m, errors.Join(errs...)
}

// selects reports whether m matches a document as its newest version is.
func selects(m *filter.Matcher, d *record.Document) bool {
	return m.Match(filter.SubjectOf(d, newest(d)))
}

// newest is the version that a document's status is about: the one that waits, or else the visible one.
func newest(d *record.Document) *record.Version {
	if d.Pending != nil {
		return d.Pending
	}
	return d.Current
}

// Documents iterates the documents that f selects: in order of enqueue when it names a track, by id
// otherwise. Ids, a track and an id prefix cost what they select, other filters a scan over all documents. A status
// that is none, or metadata that no document carries, is an *OptionError.
func Documents(r kv.Reader, ws string, f Filter) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		m, err := matcher(f)
		if err != nil {
			yield(Info{}, err)
			return
		}
		var source iter.Seq2[record.Document, error]
		switch {
		case f.Track != "":
			source = documentsOf(r, ws, f.Track)
		case len(f.IDs) > 0:
			source = documentsAt(r, ws, f.IDs)
		default:
			source = documentsFrom(r, ws, f.IDPrefix)
		}
		for d, err := range source {
			if err != nil {
				yield(Info{}, fmt.Errorf("index: documents: %w", err))
				return
			}
			if selects(m, &d) && !yield(infoOf(&d), nil) {
				return
			}
		}
	}
}

// documentsAt iterates the documents with ids, by id.
func documentsAt(r kv.Reader, ws string, ids []string) iter.Seq2[record.Document, error] {
	return func(yield func(record.Document, error) bool) {
		for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
			d, err := documentOf(r, ws, id)
			if err == nil && d == nil {
				continue
			}
			if err != nil {
				yield(record.Document{}, err)
				return
			}
			if !yield(*d, nil) {
				return
			}
		}
	}
}
