package token

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"strconv"
	"sync"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

// noToken is what lookup returns for text that is no token. As a rank it sorts behind every other.
const noToken = math.MaxUint32

// vocabulary maps tokens to ids and back. In tiktoken's files the id of a token is also its merge rank. It is
// a hash table of offsets into one string: a third of the memory of a Go map of strings, and built
// without an allocation a token.
type vocabulary struct {
	blob   string   // the tokens in id order, joined
	ends   []uint32 // ends[id] is where token id ends in blob; equal to ends[id-1] for ids not in use
	slots  []uint32 // open addressing, linear probing; id+1, 0 is free
	mask   uint64
	seed   maphash.Seed
	longer int // no token has this many bytes or more
}

// lazyVocabulary returns a function that parses the embedded file at its first call.
func lazyVocabulary(file string) func() *vocabulary {
	return sync.OnceValue(func() *vocabulary {
		data, err := assets.Assets.ReadFile(file)
		if err == nil {
			var v *vocabulary
			if v, err = parseVocabulary(data); err == nil {
				return v
			}
		}
		// The file is compiled into the program, and a test parses each: this is a broken build.
		panic(fmt.Sprintf("token: embedded vocabulary %s: %v", file, err))
	})
}

// parseVocabulary reads lines of "base64 rank", ranks rising.
func parseVocabulary(data []byte) (*vocabulary, error) {
	lines := bytes.Count(data, []byte{'\n'}) + 1
	v := &vocabulary{
		ends: make([]uint32, 0, lines+1),
		seed: maphash.MakeSeed(),
	}
	// At most half full, so that probing stays short.
	size := uint64(1) << bits.Len(uint(lines)*2)
	v.slots, v.mask = make([]uint32, size), size-1
	blob := make([]byte, 0, len(data)/2)
	for line := 1; len(data) > 0; line++ {
		row, rest, _ := bytes.Cut(data, []byte{'\n'})
		data = rest
		if row = bytes.TrimSuffix(row, []byte{'\r'}); len(row) == 0 {
			continue
		}
		text, rank, ok := bytes.Cut(row, []byte{' '})
		id, err := strconv.ParseUint(string(rank), 10, 31)
		if !ok || err != nil || id < uint64(len(v.ends)) || id > uint64(lines)*2 {
			return nil, fmt.Errorf("line %d: want base64, a space and a rank above the last one", line)
		}
		for uint64(len(v.ends)) < id {
			v.ends = append(v.ends, uint32(len(blob)))
		}
		start := len(blob)
		if blob, err = base64.StdEncoding.AppendDecode(blob, text); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		v.ends = append(v.ends, uint32(len(blob)))
		v.longer = max(v.longer, len(blob)-start+1)
		slot := maphash.Bytes(v.seed, blob[start:]) & v.mask
		for v.slots[slot] != 0 {
			slot = (slot + 1) & v.mask
		}
		v.slots[slot] = uint32(id) + 1
	}
	v.blob = string(blob)
	for b := range 256 {
		if v.lookup(string([]byte{byte(b)})) == noToken {
			return nil, fmt.Errorf("byte %#02x is no token", b)
		}
	}
	return v, nil
}

// lookup returns the id of the token that is exactly s, or noToken.
func (v *vocabulary) lookup(s string) uint32 {
	if len(s) >= v.longer {
		return noToken
	}
	slot := maphash.String(v.seed, s) & v.mask
	for {
		id := v.slots[slot]
		if id == 0 {
			return noToken
		}
		if v.text(int(id)-1) == s {
			return id - 1
		}
		slot = (slot + 1) & v.mask
	}
}

// text returns the bytes of a token, "" when there is none.
func (v *vocabulary) text(id int) string {
	switch {
	case id < 0 || id >= len(v.ends):
		return ""
	case id == 0:
		return v.blob[:v.ends[0]]
	}
	return v.blob[v.ends[id-1]:v.ends[id]]
}
