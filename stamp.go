package db

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// formatVersion is the on-disk format this package reads and writes. It changes when a key layout or a
// value encoding changes; CHANGELOG.md names it for each release.
const formatVersion = 1

// stamp is stored as JSON, once a workspace, and must stay readable for every later version. That of the default
// workspace is the one of the store.
type stamp struct {
	Format int `json:"format,omitempty"` // of the store
	// Loading: Load has begun and not ended; what the workspace holds is worth nothing.
	Loading bool `json:"loading,omitempty"`
	// What follows is set by the first document and fixed from then on.
	Tokenizer string `json:"tokenizer,omitempty"`
	Embedder  string `json:"embedder,omitempty"`
	Dim       int    `json:"dim,omitempty"`
}

// MismatchError tells that the documents of a workspace were made with another model than the one configured.
// Reading the graph, texts and statuses still works; inserting, deleting and searching by meaning do not. Reembed
// changes the embedding model of what is stored; nothing changes its tokenizer. errors.Is finds ErrMismatch.
type MismatchError struct {
	What          string // "embedder", "dimension" or "tokenizer"
	Stored, Given string
}

// Error implements error.
func (e *MismatchError) Error() string {
	advice := "open the database with that one"
	if e.What != "tokenizer" {
		advice += ", or change it with Reembed"
	}
	return fmt.Sprintf("db: %s is %s, but the documents were indexed with %s: %s", e.What, e.Given, e.Stored, advice)
}

// Unwrap makes errors.Is find ErrMismatch.
func (e *MismatchError) Unwrap() error { return ErrMismatch }

func stampKey(ws string) []byte {
	if ws == "" {
		return space.Key(space.Stamp)
	}
	return space.In(ws, space.Bound)
}

func readStamp(r kv.Reader, ws string) (stamp, error) {
	var s stamp
	v, err := r.Get(stampKey(ws))
	if errors.Is(err, kv.ErrNotFound) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(v, &s); err != nil {
		return s, fmt.Errorf("%w: unreadable stamp: %w", ErrCorrupt, err)
	}
	return s, nil
}

func writeStamp(b *kv.Batch, ws string, s stamp) error {
	v, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return b.Set(stampKey(ws), v)
}

// checkFormat refuses a directory of an unknown format before anything is written, and stamps a new one.
func (d *DB) checkFormat(ctx context.Context) error {
	snap, err := d.log.View()
	if err != nil {
		return err
	}
	s, err := readStamp(snap, "")
	empty := false
	if err == nil && s.Format == 0 {
		empty, err = isEmpty(snap)
	}
	if err = errors.Join(err, snap.Close()); err != nil {
		return err
	}
	switch {
	case s.Format == formatVersion:
		return nil
	case s.Format != 0:
		return fmt.Errorf("%w %d: this version reads format %d", ErrFormat, s.Format, formatVersion)
	case !empty:
		return fmt.Errorf("%w: the directory holds data but no format stamp; it was written by another program", ErrFormat)
	case d.opts.ReadOnly:
		return nil
	}
	_, err = d.log.Update(ctx, changeStamp, nil, func(b *kv.Batch) error { return writeStamp(b, "", stamp{Format: formatVersion}) })
	return err
}

const changeStamp = "stamp"

func isEmpty(r kv.Reader) (bool, error) {
	c, err := r.Cursor(nil, nil)
	if err != nil {
		return false, err
	}
	some := c.First()
	return !some, errors.Join(c.Err(), c.Close())
}

// checkModels compares the configured models with those of the stored documents. Without documents there
// is nothing to compare with.
func (s *state) checkModels(r kv.Reader) error {
	bound, err := readStamp(r, s.name)
	if err != nil {
		return err
	}
	return bound.compare(s.models.names())
}

func (s stamp) compare(m ModelInfo) error {
	switch {
	case s.Embedder == "":
		return nil
	case s.Embedder != m.Embedder:
		return &MismatchError{"embedder", fmt.Sprintf("%s (dimension %d)", s.Embedder, s.Dim), fmt.Sprintf("%s (dimension %d)", m.Embedder, m.Dim)}
	case s.Dim != m.Dim:
		return &MismatchError{"dimension", fmt.Sprintf("%d (%s)", s.Dim, s.Embedder), fmt.Sprintf("%d (%s)", m.Dim, m.Embedder)}
	case s.Tokenizer != m.Tokenizer:
		return &MismatchError{"tokenizer", s.Tokenizer, m.Tokenizer}
	}
	return nil
}

// stampModels fixes the models with the first documents, in their own commit, and refuses others from then on.
func (s *state) stampModels(b *kv.Batch) error {
	bound, err := readStamp(b, s.name)
	if err != nil {
		return err
	}
	m := s.models.names()
	if bound.Embedder != "" {
		return bound.compare(m)
	}
	bound.Tokenizer, bound.Embedder, bound.Dim = m.Tokenizer, m.Embedder, m.Dim
	return writeStamp(b, s.name, bound)
}
