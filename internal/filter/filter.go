package filter

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/internal/record"
)

// Filter selects documents. Zero fields select all; of several set ones all must hold. Its JSON form is stable.
type Filter struct {
	// Status is where a document stands: pending, processing, processed or failed.
	Status string `json:"status,omitempty"`
	// Track is that of the Enqueue call, or the document's own.
	Track string `json:"track,omitempty"`
	// IDs are the only documents that may match; unknown ones are no error. At most MaxIDs.
	IDs []string `json:"ids,omitempty"`
	// IDPrefix and PathPrefix are how id and path begin, at most 4 KiB of UTF-8.
	IDPrefix   string `json:"id_prefix,omitempty"`
	PathPrefix string `json:"path_prefix,omitempty"`
	// Metadata: each entry must be there with this value; of a list any item, or the whole list. 1 and 1.0 are the same,
	// and so are a number or boolean and a text that writes it as JSON does: 2020 and "2020" (a cell of a table, say),
	// but not 7 and "007". Two texts are the same only when they are equal.
	Metadata record.Metadata `json:"metadata,omitempty"`
	// Where are further conditions on metadata, at most 64.
	Where []Condition `json:"where,omitempty"`
	// Since and Until bound the document's own time, Since itself included, Until not. A document without a time is in
	// no range.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// Condition is one about an entry of metadata: that it is there, and what is set beside its key. Of a list any item may
// satisfy In, and any item Min and Max.
type Condition struct {
	Key string `json:"key"`
	// In: the value is one of these, as Filter.Metadata compares; at most 1,000.
	In []any `json:"in,omitempty"`
	// Min and Max bound the value, themselves included: two numbers compare as numbers, a text that writes one
	// with a number too, two texts by code points (dates as 2024-05-01 do). Nothing else is in a range.
	Min any `json:"min,omitempty"`
	Max any `json:"max,omitempty"`
}

// Limits of a filter. They bound what one call can cost before anything is read.
const (
	MaxIDs        = 10_000
	maxIDBytes    = 512
	maxPrefix     = 4 << 10
	maxEntries    = 256
	maxConditions = 64
	maxValues     = 1000
	maxKey        = 64 << 10
)

// IsZero reports whether every document is selected.
func (f Filter) IsZero() bool {
	return f.Status == "" && f.Track == "" && len(f.IDs) == 0 && f.IDPrefix == "" && f.PathPrefix == "" &&
		len(f.Metadata) == 0 && len(f.Where) == 0 && f.Since.IsZero() && f.Until.IsZero()
}

// Problem is a field of a Filter that no document can satisfy or that is out of range.
type Problem struct {
	Field string // its name in Filter
	JSON  string // its name in the JSON form
	Value any    // what was given; long texts are shortened
	Want  string
	Err   error // the cause, or nil
}

// Matcher is a Filter that was checked.
type Matcher struct {
	f   Filter
	ids map[string]bool
}

// Subject is what a filter looks at.
type Subject struct {
	ID, Path, Status, Track string
	Metadata                map[string]any
	Time                    time.Time
}

// SubjectOf is the document d as its version v, which may be nil, is.
func SubjectOf(d *record.Document, v *record.Version) Subject {
	if v == nil {
		return Subject{ID: d.ID, Status: d.Status.String()}
	}
	return Subject{ID: d.ID, Path: v.Path, Status: d.Status.String(), Track: v.Track, Metadata: v.Metadata, Time: v.Time}
}

// Compile checks f and returns its matcher, with values in their stored form, or one Problem for each wrong field.
func (f Filter) Compile() (*Matcher, []Problem) {
	var c compiler
	c.want(f.Status == "" || slices.Contains(record.Statuses(), f.Status), "Status", "status", f.Status, strings.Join(record.Statuses(), ", "))
	c.text("Track", "track", f.Track)
	c.text("IDPrefix", "id_prefix", f.IDPrefix)
	c.text("PathPrefix", "path_prefix", f.PathPrefix)
	m := &Matcher{f: f}
	m.ids = c.idSet(f.IDs)
	m.f.Metadata = c.metadata(f.Metadata)
	m.f.Where = c.conditions(f.Where)
	if !f.Since.IsZero() && !f.Until.IsZero() && !f.Since.Before(f.Until) {
		c.add("Until", "until", f.Until.Format(time.RFC3339Nano), "a time after "+f.Since.Format(time.RFC3339Nano), nil)
	}
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	return m, nil
}

// Filter is the one that was checked, with values in their stored form. It must not be changed.
func (m *Matcher) Filter() Filter { return m.f }

// Match reports whether a document is selected.
func (m *Matcher) Match(s Subject) bool {
	f := &m.f
	if f.Status != "" && f.Status != s.Status || f.Track != "" && f.Track != s.Track || m.ids != nil && !m.ids[s.ID] ||
		!strings.HasPrefix(s.ID, f.IDPrefix) || !strings.HasPrefix(s.Path, f.PathPrefix) {
		return false
	}
	if !f.Since.IsZero() && (s.Time.IsZero() || s.Time.Before(f.Since)) || !f.Until.IsZero() && (s.Time.IsZero() || !s.Time.Before(f.Until)) {
		return false
	}
	for k, want := range f.Metadata {
		if have, ok := s.Metadata[k]; !ok || !record.SameValue(have, want) {
			return false
		}
	}
	for i := range f.Where {
		if have, ok := s.Metadata[f.Where[i].Key]; !ok || !f.Where[i].match(have) {
			return false
		}
	}
	return true
}

func (c *Condition) match(have any) bool {
	if len(c.In) > 0 && !slices.ContainsFunc(c.In, func(want any) bool { return record.SameValue(have, want) }) {
		return false
	}
	if c.Min == nil && c.Max == nil {
		return true
	}
	if list, many := have.([]string); many {
		return slices.ContainsFunc(list, func(item string) bool { return c.within(item) })
	}
	return c.within(have)
}

func (c *Condition) within(have any) bool {
	for _, bound := range []struct {
		value any
		sign  int
	}{{c.Min, 1}, {c.Max, -1}} {
		if bound.value == nil {
			continue
		}
		if n, ok := record.CompareValues(have, bound.value); !ok || n*bound.sign < 0 {
			return false
		}
	}
	return true
}

// compiler collects what is wrong.
type compiler struct{ problems []Problem }

func (c *compiler) add(field, json string, value any, want string, err error) {
	c.problems = append(c.problems, Problem{field, json, value, want, err})
}

func (c *compiler) want(ok bool, field, json, value, want string) {
	if !ok {
		c.add(field, json, brief.Quote(value), want, nil)
	}
}

func (c *compiler) text(field, json, s string) {
	c.want(len(s) <= maxPrefix && utf8.ValidString(s), field, json, s, fmt.Sprintf("UTF-8 of at most %d bytes", maxPrefix))
}

func (c *compiler) idSet(ids []string) map[string]bool {
	if len(ids) > MaxIDs {
		c.add("IDs", "ids", fmt.Sprintf("%d ids", len(ids)), fmt.Sprintf("at most %d", MaxIDs), nil)
		return nil
	}
	var set map[string]bool
	for _, id := range ids {
		if id == "" || len(id) > maxIDBytes || !utf8.ValidString(id) {
			c.add("IDs", "ids", brief.Quote(id), fmt.Sprintf("ids of 1 to %d bytes of UTF-8", maxIDBytes), nil)
			return nil
		}
		if set == nil {
			set = make(map[string]bool, len(ids))
		}
		set[id] = true
	}
	return set
}

func (c *compiler) metadata(given record.Metadata) record.Metadata {
	const want = "what a document may carry"
	if len(given) > maxEntries {
		c.add("Metadata", "metadata", fmt.Sprintf("%d entries", len(given)), fmt.Sprintf("at most %d", maxEntries), nil)
		return nil
	}
	out := make(record.Metadata, len(given))
	for k, v := range given {
		value, _, err := record.MetadataValue(v)
		if err == nil && !isKey(k) {
			err = errKey
		}
		if err != nil {
			c.add("Metadata", "metadata", fmt.Sprintf("%d entries", len(given)), want, fmt.Errorf("entry %s: %w", brief.Quote(k), err))
			return nil
		}
		out[k] = value
	}
	return out
}

var errKey = fmt.Errorf("a key is 1 to %d bytes of UTF-8", maxKey)

func isKey(k string) bool { return k != "" && len(k) <= maxKey && utf8.ValidString(k) }

func (c *compiler) conditions(given []Condition) []Condition {
	if len(given) > maxConditions {
		c.add("Where", "where", fmt.Sprintf("%d conditions", len(given)), fmt.Sprintf("at most %d", maxConditions), nil)
		return nil
	}
	out := make([]Condition, len(given))
	for i := range given {
		if err := out[i].settle(&given[i]); err != nil {
			c.add("Where", "where", fmt.Sprintf("condition %d on %s", i+1, brief.Quote(given[i].Key)), "values that a document may carry", err)
			return nil
		}
	}
	return out
}

// settle fills c with the stored form of given.
func (c *Condition) settle(given *Condition) (err error) {
	c.Key = given.Key
	if !isKey(c.Key) {
		return errKey
	}
	if len(given.In) > maxValues {
		return fmt.Errorf("%d values, limit %d", len(given.In), maxValues)
	}
	for _, v := range given.In {
		value, _, err := record.MetadataValue(v)
		if err != nil {
			return err
		}
		c.In = append(c.In, value)
	}
	if c.Min, err = boundOf(given.Min); err == nil {
		c.Max, err = boundOf(given.Max)
	}
	return err
}

// boundOf is the stored form of a bound; nil stays nil.
func boundOf(v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	v, _, err := record.MetadataValue(v)
	if _, ordered := record.CompareValues(v, v); err == nil && !ordered {
		err = fmt.Errorf("a %T has no order", v)
	}
	return v, err
}
