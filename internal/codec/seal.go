package codec

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum is the CRC-32C of a key and its value: of both, so that no value passes for another's.
func sum(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}

// Seal returns value with a checksum of key and value behind it, four bytes. It may write behind the length of value.
func Seal(key, value []byte) []byte {
	return binary.LittleEndian.AppendUint32(value, sum(key, value))
}

// Unseal returns the value that Seal was given, aliasing v, or an error that is ErrCorrupt.
func Unseal(key, v []byte) ([]byte, error) {
	n := len(v) - 4
	if n < 0 || binary.LittleEndian.Uint32(v[n:]) != sum(key, v[:n]) {
		return nil, fmt.Errorf("%w: key %x: the checksum of %d bytes is wrong", ErrCorrupt, key, len(v))
	}
	return v[:n:n], nil
}
