package wal

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/glimdb/db/kv"
)

func TestChangeRoundTrip(t *testing.T) {
	for _, c := range []Change{
		{LSN: 1, Kind: "", IDs: nil, Time: time.Unix(0, 0)},
		{LSN: 1<<64 - 1, Kind: "insert", IDs: []string{"a", "", "\x00\xff"}, Time: time.Unix(1_700_000_000, 999_999_999)},
		{LSN: 7, Kind: "delete", IDs: []string{"漢字"}, Time: time.Unix(-5, 0)},
		{LSN: 8, Kind: "delete", Workspace: "a\x00b", Time: time.Unix(0, 0)},
	} {
		got, err := decodeChange(changeKey(c.LSN), c.encode())
		if err != nil || got.LSN != c.LSN || got.Kind != c.Kind || !slices.Equal(got.IDs, c.IDs) || !got.Time.Equal(c.Time) || got.Workspace != c.Workspace {
			t.Errorf("%+v became %+v, %v", c, got, err)
		}
	}
}

func TestChangeKeysAreInLSNOrder(t *testing.T) {
	lsns := []kv.LSN{0, 1, 255, 256, 1 << 32, 1<<64 - 1}
	for i := range lsns[1:] {
		if bytes.Compare(changeKey(lsns[i]), changeKey(lsns[i+1])) >= 0 {
			t.Errorf("%d does not sort before %d", lsns[i], lsns[i+1])
		}
	}
}

func FuzzDecodeChange(f *testing.F) {
	c := Change{LSN: 3, Kind: "insert", IDs: []string{"a", "b"}, Time: time.Unix(1, 2)}
	f.Add(changeKey(3), c.encode())
	f.Add([]byte{}, []byte{})
	f.Add(changeKey(3)[:5], c.encode())
	f.Add(append(changeKey(3), 0), c.encode())
	f.Add(changeKey(3), append(c.encode(), 0))
	f.Add(changeKey(3), append(c.encode(), 1, 'w'))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		c, err := decodeChange(key, value)
		if err != nil {
			if !errors.Is(err, kv.ErrCorrupt) {
				t.Errorf("%v", err)
			}
			return
		}
		again, err := decodeChange(changeKey(c.LSN), c.encode())
		if err != nil || again.Kind != c.Kind || !slices.Equal(again.IDs, c.IDs) || !again.Time.Equal(c.Time) || again.Workspace != c.Workspace {
			t.Errorf("%+v became %+v, %v", c, again, err)
		}
	})
}
