package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
)

// doneEvent is the data of the last event.
const doneEvent = "[DONE]"

// events returns the data of a stream of server-sent events. Each data line is one event, as in every
// server of this kind, so that a missing empty line between two does no harm; comments, other fields and
// empty data are skipped. The end of the stream is no error, a line without its end is io.ErrUnexpectedEOF
// unless it is complete in itself. A slice is valid until the next step.
func events(r io.Reader) iter.Seq2[[]byte, error] {
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
			if data, ok := bytes.CutPrefix(bytes.TrimRight(line, "\r\n"), []byte("data:")); ok {
				data = bytes.TrimSpace(data)
				if err != nil && !json.Valid(data) && string(data) != doneEvent {
					yield(nil, io.ErrUnexpectedEOF)
					return
				}
				if len(data) > 0 && !yield(data, nil) {
					return
				}
			}
			if err != nil {
				return
			}
			line = line[:0]
		}
	}
}
