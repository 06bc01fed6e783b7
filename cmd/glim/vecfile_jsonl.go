package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/glimdb/db/vector"
)

// jsonl reads an object a line. Empty lines are skipped.
type jsonl struct {
	c    *counted
	line int64
	buf  []byte
}

// maxJSONLine bounds a line: the largest vector with every value written as long as it can be, and a megabyte of
// other members.
const maxJSONLine = vector.MaxDim*32 + 1<<20

func openJSONL(r io.ReadSeeker) (vecReader, error) { return &jsonl{c: newCounted(r)}, nil }

func (j *jsonl) next() (vecRecord, error) {
	for {
		j.line++
		at := place{"line", j.line}
		line, err := j.read()
		if len(bytes.TrimSpace(line)) > 0 && (err == nil || errors.Is(err, io.EOF)) {
			rec, reason := parseVector(line)
			if reason != "" {
				return vecRecord{}, &vecFileError{at, reason}
			}
			rec.at = at
			return rec, nil
		}
		if err != nil {
			return vecRecord{}, err
		}
	}
}

// read returns the next line. Its error is io.EOF for the last one, which may be empty.
func (j *jsonl) read() ([]byte, error) {
	j.buf = j.buf[:0]
	for {
		part, err := j.c.r.ReadSlice('\n')
		j.buf = append(j.buf, part...)
		switch {
		case len(j.buf) > maxJSONLine:
			return nil, &vecFileError{place{"line", j.line}, fmt.Sprintf("longer than %s", bytesOf(maxJSONLine))}
		case !errors.Is(err, bufio.ErrBufferFull):
			return j.buf, err
		}
	}
}

// parseVector reads a line, or returns why it cannot.
func parseVector(line []byte) (vecRecord, string) {
	var v struct {
		ID     json.RawMessage `json:"id"`
		Vector json.RawMessage `json:"vector"`
	}
	if err := json.Unmarshal(line, &v); err != nil {
		return vecRecord{}, "no JSON object: " + err.Error()
	}
	if len(v.Vector) == 0 {
		return vecRecord{}, `no member "vector"`
	}
	vec, reason := parseValues(v.Vector)
	if reason != "" {
		return vecRecord{}, reason
	}
	var id string
	var number json.Number
	switch {
	case len(v.ID) == 0 || string(v.ID) == "null":
		return vecRecord{}, `no member "id"`
	case json.Unmarshal(v.ID, &id) == nil:
	case v.ID[0] != '"' && json.Unmarshal(v.ID, &number) == nil:
		if _, err := number.Int64(); err != nil {
			return vecRecord{}, fmt.Sprintf("id %s is neither a string nor a whole number", v.ID)
		}
		id = number.String()
	default:
		return vecRecord{}, fmt.Sprintf("id %s is neither a string nor a whole number", cut(string(v.ID), 40))
	}
	return vecRecord{id: id, vec: vec}, ""
}

// parseValues reads the values of a vector, or returns why it cannot.
func parseValues(raw []byte) (vec []float32, reason string) {
	if bytes.IndexByte(raw, 'n') >= 0 { // null, which the decoder takes for 0
		return nil, "the vector is no list of numbers"
	}
	if err := json.Unmarshal(raw, &vec); err != nil {
		return nil, "the vector is no list of numbers that float32 holds: " + err.Error()
	}
	return vec, ""
}
