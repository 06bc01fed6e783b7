package record

import (
	"time"

	"github.com/glimdb/db/internal/codec"
)

// Encode returns the stored form (ID is in the key).
func (d *Document) Encode() []byte {
	b := codec.AppendUvarint(nil, d.Seq)
	b = append(b, byte(d.Status))
	b = appendVersion(b, d.Current)
	b = appendVersion(b, d.Pending)

	c := &d.Contents
	b = codec.AppendInt(b, c.Chunks)
	b = codec.AppendInt(b, c.Entities)
	b = codec.AppendInt(b, c.Relations)
	b = appendCounts(b, c.Dropped)
	b = appendCounts(b, c.Repaired)
	b = codec.AppendInt(b, c.Truncated)
	b = codec.AppendInt(b, c.Unusable)
	b = codec.AppendStrings(b, c.Warnings)

	a := &d.Attempts
	b = codec.AppendInt(b, a.Tries)
	b = codec.AppendString(b, a.Error)
	b = codec.AppendVarint(b, a.StartedAt)
	b = codec.AppendVarint(b, a.EndedAt)
	b = codec.AppendUvarint(b, uint64(len(a.Stages)))
	for _, s := range a.Stages {
		b = codec.AppendString(b, s.Name)
		b = codec.AppendVarint(b, s.N)
	}
	for _, n := range [...]int{a.ReusedChunks, a.Calls, a.CachedCalls, a.PromptTokens, a.CompletionTokens, a.EmbeddedTexts} {
		b = codec.AppendInt(b, n)
	}
	b = codec.AppendVarint(b, d.CreatedAt)
	b = codec.AppendVarint(b, d.UpdatedAt)
	b = codec.AppendUvarint(b, uint64(len(d.Spent)))
	for i := range d.Spent {
		u := &d.Spent[i]
		b = codec.AppendString(b, u.Model)
		b = codec.AppendString(b, u.Purpose)
		for _, n := range [...]int{u.Calls, u.CachedCalls, u.PromptTokens, u.CompletionTokens} {
			b = codec.AppendInt(b, n)
		}
	}
	return b
}

// DecodeDocument reads what Encode wrote.
func DecodeDocument(id string, v []byte) (Document, error) {
	r := codec.NewTextReader(v)
	d := Document{ID: id, Seq: r.Uvarint(), Status: Status(r.Byte())}
	d.Current = readVersion(r)
	d.Pending = readVersion(r)

	c := &d.Contents
	c.Chunks, c.Entities, c.Relations = r.Int(), r.Int(), r.Int()
	c.Dropped, c.Repaired = readCounts(r), readCounts(r)
	c.Truncated, c.Unusable = r.Int(), r.Int()
	c.Warnings = r.Strings()

	a := &d.Attempts
	a.Tries, a.Error = r.Int(), r.String()
	a.StartedAt, a.EndedAt = r.Varint(), r.Varint()
	n := r.Int()
	for i := 0; i < n && r.Err() == nil; i++ {
		a.Stages = append(a.Stages, Count64{Name: r.String(), N: r.Varint()})
	}
	for _, p := range [...]*int{&a.ReusedChunks, &a.Calls, &a.CachedCalls, &a.PromptTokens, &a.CompletionTokens, &a.EmbeddedTexts} {
		*p = r.Int()
	}
	d.CreatedAt, d.UpdatedAt = r.Varint(), r.Varint()
	n = r.Int()
	for i := 0; i < n && r.Err() == nil; i++ {
		d.Spent = append(d.Spent, ModelUse{Model: r.String(), Purpose: r.String(), Calls: r.Int(), CachedCalls: r.Int(),
			PromptTokens: r.Int(), CompletionTokens: r.Int()})
	}
	return d, r.Done()
}

func appendVersion(b []byte, v *Version) []byte {
	b = codec.AppendBool(b, v != nil)
	if v == nil {
		return b
	}
	b = codec.AppendUvarint(b, v.Rev)
	b = codec.AppendString(b, v.Hash)
	b = codec.AppendString(b, v.Path)
	b = codec.AppendProps(b, v.Metadata)
	b = appendTime(b, v.Time)
	b = codec.AppendInt(b, v.Bytes)
	b = codec.AppendInt(b, v.Removed)
	b = codec.AppendString(b, v.Track)
	b = codec.AppendVarint(b, v.EnqueuedAt)
	b = append(b, byte(v.Priority))
	b = codec.AppendString(b, v.Chunker)
	b = codec.AppendUvarint(b, uint64(len(v.Spans)))
	for _, s := range v.Spans {
		b = codec.AppendInt(b, s.Start)
		b = codec.AppendInt(b, s.End)
		b = codec.AppendString(b, s.Context)
	}
	return b
}

func readVersion(r *codec.Reader) *Version {
	if !r.Bool() {
		return nil
	}
	v := &Version{Rev: r.Uvarint(), Hash: r.String(), Path: r.String()}
	v.Metadata = r.Props()
	v.Time, v.Bytes, v.Removed = readTime(r), r.Int(), r.Int()
	v.Track, v.EnqueuedAt, v.Priority = r.String(), r.Varint(), int8(r.Byte())
	v.Chunker = r.String()
	n := r.Int()
	for i := 0; i < n && r.Err() == nil; i++ {
		v.Spans = append(v.Spans, Span{Start: r.Int(), End: r.Int(), Context: r.String()})
	}
	return v
}

// appendTime stores a time as seconds and nanoseconds, which hold any year.
func appendTime(b []byte, t time.Time) []byte {
	b = codec.AppendBool(b, !t.IsZero())
	if t.IsZero() {
		return b
	}
	b = codec.AppendVarint(b, t.Unix())
	return codec.AppendInt(b, t.Nanosecond())
}

func readTime(r *codec.Reader) time.Time {
	if !r.Bool() {
		return time.Time{}
	}
	seconds := r.Varint()
	return time.Unix(seconds, int64(r.Int())).UTC()
}

// EncodeObjects returns the stored form of a document's contributions; they must be sorted.
func EncodeObjects(objects []Object) []byte {
	b := codec.AppendUvarint(nil, uint64(len(objects)))
	for _, o := range objects {
		b = codec.AppendString(b, o.A)
		b = codec.AppendString(b, o.B)
	}
	return b
}

// DecodeObjects reads what EncodeObjects wrote.
func DecodeObjects(v []byte) ([]Object, error) {
	r := codec.NewTextReader(v)
	n := r.Int()
	var out []Object
	for i := 0; i < n && r.Err() == nil; i++ {
		out = append(out, Object{A: r.String(), B: r.String()})
	}
	return out, r.Done()
}
