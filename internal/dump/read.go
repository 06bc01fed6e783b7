package dump

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"math"
)

// Errors of reading, tested with errors.Is.
var (
	// ErrVersion: the stream is no dump, or one of a version this package does not know.
	ErrVersion = errors.New("dump: unknown version")
	// ErrTruncated: the stream ends before its trailer.
	ErrTruncated = errors.New("dump: cut off before its end")
	// ErrChecksum: the trailer's count or checksum is not that of the records.
	ErrChecksum = errors.New("dump: checksum does not match")
	// ErrLine: a line is not what the form allows; *LineError tells which.
	ErrLine = errors.New("dump: bad line")
)

// MaxLine bounds one line, in bytes: a document of the largest size (256 MiB), every byte of it escaped,
// still fits, and an int of 32 bits holds it.
const MaxLine = math.MaxInt32

// LineError names the line, counted from 1, that could not be read. errors.Is finds ErrLine and its cause.
type LineError struct {
	Line int
	Err  error
}

// Error implements error.
func (e *LineError) Error() string { return fmt.Sprintf("dump: line %d: %v", e.Line, e.Err) }

// Unwrap returns ErrLine and the cause.
func (e *LineError) Unwrap() []error { return []error{ErrLine, e.Err} }

// Record is one record as read. The caller owns it.
type Record struct {
	Line     int
	Kind     string
	Key      []string
	Value    json.RawMessage
	Volatile json.RawMessage
}

// Decode unmarshals the record's value, and its volatile part when v is not nil and it has one.
func (r *Record) Decode(value, volatile any) error {
	if err := strict(r.Value, value); err != nil {
		return &LineError{r.Line, err}
	}
	if volatile != nil && len(r.Volatile) > 0 {
		if err := strict(r.Volatile, volatile); err != nil {
			return &LineError{r.Line, err}
		}
	}
	return nil
}

// strict refuses unknown fields: what a later version adds may not be dropped without a word.
func strict(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}

// Read yields the records of a stream. An error comes last: of the underlying reader, or one of this
// package's. A record is yielded before the checksum over it is known; act on it in a transaction.
func Read(r io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		d := &reader{r: bufio.NewReaderSize(r, 1<<16), sum: sha256.New()}
		if err := d.header(); err != nil {
			yield(Record{}, err)
			return
		}
		for {
			rec, done, err := d.next()
			switch {
			case err != nil:
				yield(Record{}, err)
				return
			case done || !yield(rec, nil):
				return
			}
		}
	}
}

type reader struct {
	r     *bufio.Reader
	sum   hash.Hash
	n     int // lines read
	order order
}

// line returns the next line without its end; io.EOF only when there is none.
func (d *reader) line() ([]byte, error) {
	var buf []byte
	for {
		part, err := d.r.ReadSlice('\n')
		buf = append(buf, part...)
		switch {
		case len(buf) > MaxLine:
			return nil, &LineError{d.n + 1, fmt.Errorf("longer than %d bytes", MaxLine)}
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(buf) > 0:
			return nil, ErrTruncated // every line ends with a line feed
		case err != nil:
			return nil, err
		}
		d.n++
		return buf, nil
	}
}

func (d *reader) header() error {
	b, err := d.line()
	var h header
	if err == nil && (json.Unmarshal(b, &h) != nil || h.Version == 0) {
		return fmt.Errorf("%w: the first line is no header", ErrVersion)
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, ErrTruncated):
		return fmt.Errorf("%w: there is no header", ErrVersion)
	case err != nil:
		return err
	case h.Version != Version:
		return fmt.Errorf("%w %d: this program reads version %d", ErrVersion, h.Version, Version)
	}
	d.sum.Write(b)
	return nil
}

func (d *reader) next() (rec Record, done bool, err error) {
	b, err := d.line()
	if errors.Is(err, io.EOF) {
		return rec, false, ErrTruncated
	}
	if err != nil {
		return rec, false, err
	}
	var l struct {
		line
		End *end `json:"end"`
	}
	if err := strict(b, &l); err != nil {
		return rec, false, &LineError{d.n, err}
	}
	if l.End != nil {
		return rec, true, d.finish(l.End)
	}
	rec = Record{Line: d.n, Kind: l.Kind, Key: Strings(l.Key), Value: l.Value, Volatile: l.Volatile}
	if l.Kind == "" {
		return rec, false, &LineError{d.n, errors.New("no kind")}
	}
	if err := d.order.next(rec.Kind, rec.Key); err != nil {
		return rec, false, &LineError{d.n, err}
	}
	d.sum.Write(b)
	return rec, false, nil
}

func (d *reader) finish(e *end) error {
	if got := hex.EncodeToString(d.sum.Sum(nil)); e.Records != d.n-2 || e.Sum != got {
		return fmt.Errorf("%w: %d records with %s, the trailer says %d with %s", ErrChecksum, d.n-2, got, e.Records, e.Sum)
	}
	if _, err := d.line(); !errors.Is(err, io.EOF) {
		return &LineError{d.n, errors.New("something follows the trailer")}
	}
	return nil
}
