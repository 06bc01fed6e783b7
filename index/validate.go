package index

import (
	"cmp"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// incoming is a validated document.
type incoming struct {
	id, text string
	version  record.Version
	repeated bool
	cut      bool // the caller says how
}

// validate cleans and checks every document of a call.
func (p *Pipeline) validate(docs []Document, track string, now time.Time) (list []incoming, ids []string, err error) {
	var errs []error
	seen := make(map[string]bool, len(docs))
	list = make([]incoming, len(docs))
	for i, d := range docs {
		refuse := func(field string, err error) {
			errs = append(errs, &DocumentError{Index: i, ID: d.ID, Field: field, Err: err})
		}
		text, report, err := CleanText(d.Text, InvalidDrop)
		switch {
		case err != nil:
			refuse("text", err)
		case !hasContent(text):
			refuse("text", ErrEmptyDocument)
		case len(text) > MaxTextBytes:
			refuse("text", fmt.Errorf("%w: %d bytes, limit %d", kv.ErrTooLarge, len(text), MaxTextBytes))
		}
		if field, err := checkFields(d); err != nil {
			refuse(field, err)
		}
		meta, err := metadataOf(d.Metadata)
		if err != nil {
			refuse("metadata", err)
		}
		id := d.ID
		if id == "" {
			sum := md5.Sum([]byte(text))
			id = "doc-" + hex.EncodeToString(sum[:])
		}
		c := incoming{id: id, text: text, version: record.Version{Path: d.Path, Metadata: meta, Bytes: len(text),
			Removed: report.Invalid + report.Controls, Track: cmp.Or(d.Track, track), EnqueuedAt: now.UnixNano(), Time: d.Time.UTC(),
			Priority: d.Priority}}
		sum := sha256.Sum256([]byte(text))
		c.version.Hash = hex.EncodeToString(sum[:])
		c.cut = d.Chunking != nil || d.Chunks != nil
		if text != "" {
			if field, err := p.freeze(&c.version, &d, text); err != nil {
				refuse(field, err)
			}
		}
		if seen[id] {
			if c.repeated = d.ID == ""; !c.repeated {
				refuse("id", &DuplicateError{ID: id})
			}
		} else {
			ids = append(ids, id)
		}
		seen[id] = true
		list[i] = c
	}
	return list, ids, errors.Join(errs...)
}

// hasContent reports whether a text has any character that is not white space, mark or format.
func hasContent(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.In(r, unicode.Cf, unicode.Mn)
	}) >= 0
}

// The years of a document's time: those that JSON and RFC 3339, which dumps and programs read, can write.
const minYear, maxYear = 1, 9999

// checkFields checks what is neither text nor metadata.
func checkFields(d Document) (field string, err error) {
	switch {
	case d.Time.UTC().Year() < minYear || d.Time.UTC().Year() > maxYear:
		return "time", fmt.Errorf("year %d, want %d to %d", d.Time.UTC().Year(), minYear, maxYear)
	case len(d.Path) > MaxPathBytes:
		return "path", fmt.Errorf("%w: %d bytes, limit %d", kv.ErrTooLarge, len(d.Path), MaxPathBytes)
	case !utf8.ValidString(d.Path):
		return "path", errors.New("not UTF-8")
	}
	if err := checkLabel(d.ID, MaxIDBytes); err != nil {
		return "id", err
	}
	if err := checkLabel(d.Track, MaxTrackBytes); err != nil {
		return "track", err
	}
	return "", nil
}

// checkLabel checks what is part of keys and typed by people.
func checkLabel(s string, limit int) error {
	switch {
	case len(s) > limit:
		return fmt.Errorf("%w: %d bytes, limit %d", kv.ErrTooLarge, len(s), limit)
	case !utf8.ValidString(s):
		return errors.New("not UTF-8")
	case strings.ContainsFunc(s, unicode.IsControl):
		return errors.New("contains a control character")
	case s != strings.TrimSpace(s):
		return errors.New("begins or ends with white space")
	}
	return nil
}
