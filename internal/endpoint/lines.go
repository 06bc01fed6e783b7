package endpoint

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
)

// Events returns the data of a stream of server-sent events. Each data line is one event, as in every model
// server, so that a missing empty line between two does no harm; comments, other fields and empty data are
// skipped. The end of the stream is no error; a line without its end comes with io.ErrUnexpectedEOF unless it is
// complete in itself: JSON, or the text last. A slice is valid until the next step.
func Events(r io.Reader, last string) iter.Seq2[[]byte, error] {
	return pieces(r, func(line []byte) []byte {
		data, ok := bytes.CutPrefix(line, []byte("data:"))
		if !ok {
			return nil
		}
		return bytes.TrimSpace(data)
	}, last)
}

// Lines returns the lines of a stream of JSON values, one a line; empty ones are skipped. Ends are as in Events.
func Lines(r io.Reader) iter.Seq2[[]byte, error] { return pieces(r, bytes.TrimSpace, "") }

// pieces yields what piece finds in each line, unless that is empty.
func pieces(r io.Reader, piece func(line []byte) []byte, last string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		buf := bufio.NewReader(r)
		var line []byte
		for {
			part, err := buf.ReadSlice('\n')
			line = append(line, part...)
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if err != nil && !errors.Is(err, io.EOF) {
				yield(nil, err)
				return
			}
			data := piece(bytes.TrimRight(line, "\r\n"))
			if err != nil && len(data) > 0 && !json.Valid(data) && string(data) != last {
				yield(data, io.ErrUnexpectedEOF)
				return
			}
			if len(data) > 0 && !yield(data, nil) || err != nil {
				return
			}
			line = line[:0]
		}
	}
}
