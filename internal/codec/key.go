package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrCorrupt marks bytes that no encoder of this package writes.
var ErrCorrupt = errors.New("codec: corrupt encoding")

// A string part is escaped and terminated, so that "a" sorts before "ab" whatever follows:
// 0x00 becomes 0x00 0xFF, and 0x00 0x01 ends the part.
const (
	escape     = 0x00
	escapedNul = 0xFF
	terminator = 0x01
)

// AppendKeyString appends s as one ordered, self-delimiting key part.
func AppendKeyString(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		b = append(b, c)
		if c == escape {
			b = append(b, escapedNul)
		}
	}
	return append(b, escape, terminator)
}

// KeyString consumes one part written by AppendKeyString and returns what follows it.
func KeyString(b []byte) (s string, rest []byte, err error) {
	n, nul := 0, false
	for {
		if n+1 >= len(b) {
			return "", nil, fmt.Errorf("%w: unterminated key string", ErrCorrupt)
		}
		if b[n] != escape {
			n++
			continue
		}
		switch b[n+1] {
		case terminator:
			if !nul {
				return string(b[:n]), b[n+2:], nil
			}
			out := make([]byte, 0, n)
			for i := 0; i < n; i++ {
				out = append(out, b[i])
				if b[i] == escape {
					i++ // skip the escape's second byte
				}
			}
			return string(out), b[n+2:], nil
		case escapedNul:
			nul = true
			n += 2
		default:
			return "", nil, fmt.Errorf("%w: bad escape in key string", ErrCorrupt)
		}
	}
}

// AppendKeyUint64 appends v as eight big-endian bytes.
func AppendKeyUint64(b []byte, v uint64) []byte { return binary.BigEndian.AppendUint64(b, v) }

// AppendKeyUint32 appends v as four big-endian bytes.
func AppendKeyUint32(b []byte, v uint32) []byte { return binary.BigEndian.AppendUint32(b, v) }

// KeyUint64 consumes a part written by AppendKeyUint64.
func KeyUint64(b []byte) (uint64, []byte, error) {
	if len(b) < 8 {
		return 0, nil, fmt.Errorf("%w: short uint64 key part", ErrCorrupt)
	}
	return binary.BigEndian.Uint64(b), b[8:], nil
}

// KeyUint32 consumes a part written by AppendKeyUint32.
func KeyUint32(b []byte) (uint32, []byte, error) {
	if len(b) < 4 {
		return 0, nil, fmt.Errorf("%w: short uint32 key part", ErrCorrupt)
	}
	return binary.BigEndian.Uint32(b), b[4:], nil
}

// PrefixEnd returns the smallest key greater than every key that begins with prefix, or nil when there
// is none (a prefix of 0xFF bytes only). The result is a new slice.
func PrefixEnd(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] != 0xFF {
			end[i]++
			return end[:i+1]
		}
	}
	return nil
}
