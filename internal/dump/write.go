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
	"slices"
)

// Version is the version of the stream's form that this package writes and reads.
const Version = 1

// ErrOrder tells of records out of order, see D1.
var ErrOrder = errors.New("dump: records are out of order")

// Options of a Writer.
type Options struct {
	// Logical leaves volatile fields out.
	Logical bool
}

// Writer writes one stream. Close ends it; without Close it is cut off, and reading it fails.
type Writer struct {
	w     *bufio.Writer
	o     Options
	sum   hash.Hash
	line  bytes.Buffer
	enc   *json.Encoder
	n     int
	order order
	err   error
}

type header struct {
	Version int `json:"glim_dump"`
}

type line struct {
	Kind     string          `json:"kind"`
	Key      []Text          `json:"key,omitempty"`
	Value    json.RawMessage `json:"value,omitempty"`
	Volatile json.RawMessage `json:"volatile,omitempty"`
}

type trailer struct {
	End *end `json:"end"`
}

type end struct {
	Records int    `json:"records"`
	Sum     string `json:"sha256"`
}

// NewWriter begins a stream on w.
func NewWriter(w io.Writer, o Options) *Writer {
	d := &Writer{w: bufio.NewWriterSize(w, 1<<16), o: o, sum: sha256.New()}
	d.enc = json.NewEncoder(&d.line)
	d.enc.SetEscapeHTML(false)
	d.put(header{Version})
	return d
}

// Record writes one record. A nil key means that the record's place is its order. value and volatile are
// anything encoding/json takes, nil for none; strings in them that may hold any bytes should be Text or
// []byte. The writer keeps neither. Errors: ErrOrder, and those of encoding and writing; the first sticks.
func (d *Writer) Record(kind string, key []string, value, volatile any) error {
	if d.err != nil {
		return d.err
	}
	if err := d.order.next(kind, key); err != nil {
		d.err = err
		return err
	}
	l := line{Kind: kind, Key: Texts(key)}
	var err error
	if value != nil {
		l.Value, err = marshal(value)
	}
	if err == nil && volatile != nil && !d.o.Logical {
		l.Volatile, err = marshal(volatile)
	}
	if err != nil {
		d.err = fmt.Errorf("dump: %s %q: %w", kind, key, err)
		return d.err
	}
	d.n++
	d.put(l)
	return d.err
}

// marshal is json.Marshal without escapes for HTML.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func (d *Writer) put(v any) {
	if d.err != nil {
		return
	}
	d.line.Reset()
	if d.err = d.enc.Encode(v); d.err == nil {
		d.sum.Write(d.line.Bytes())
		_, d.err = d.w.Write(d.line.Bytes())
	}
}

// Close writes the trailer and flushes. It does not close the underlying writer.
func (d *Writer) Close() error {
	d.put(trailer{&end{d.n, hex.EncodeToString(d.sum.Sum(nil))}})
	if d.err == nil {
		d.err = d.w.Flush()
	}
	return d.err
}

// order holds D1.
type order struct {
	seen []string // kinds, the present one last
	key  []string
}

func (o *order) next(kind string, key []string) error {
	if len(key) == 0 {
		return nil
	}
	if n := len(o.seen); n > 0 && o.seen[n-1] == kind {
		if slices.Compare(o.key, key) >= 0 {
			return fmt.Errorf("%w: %s %q after %q", ErrOrder, kind, key, o.key)
		}
	} else if slices.Contains(o.seen, kind) {
		return fmt.Errorf("%w: kind %q begins again", ErrOrder, kind)
	} else {
		o.seen = append(o.seen, kind)
	}
	o.key = append(o.key[:0], key...)
	return nil
}
