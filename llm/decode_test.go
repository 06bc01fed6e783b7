package llm

import (
	"bytes"
	"testing"
)

// FuzzEntries: whatever lies in the store is either read back as written or refused.
func FuzzEntries(f *testing.F) {
	f.Add([]byte{})
	f.Add(encodeReply("text"))
	f.Add(encodeVector([]float32{1, -2.5}))
	f.Add([]byte{1, 0, 0, 0})
	f.Add([]byte{2, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if text, err := decodeReply(data); err == nil && !bytes.Equal(encodeReply(text), data) {
			t.Fatalf("reply %q from %x", text, data)
		}
		if v := decodeVector(data); v != nil {
			if 4*len(v)+1 != len(data) {
				t.Fatalf("%d values from %d bytes", len(v), len(data))
			}
		}
	})
}
