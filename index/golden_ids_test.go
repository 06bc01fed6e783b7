package index

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/internal/record"
)

// The golden vectors of ids, caps and source lists. Where ours differ on purpose, the test says how.

// TestGoldenPairs: the reference names the pair (B, A) by a hash over the smaller name and the larger one, and its
// list of chunks by both with a separator between them. Ours is the pair in that order with the length of the first
// name, since without one ("ab", "c") and ("a", "bc") would be one relation.
func TestGoldenPairs(t *testing.T) {
	o := record.RelationObject("B", "A")
	if sum := md5.Sum([]byte(o.A + o.B)); "rel-"+hex.EncodeToString(sum[:]) != "rel-b86fc6b051f63d73de262d4c34e3a0a9" {
		t.Errorf("the pair is %v", o)
	}
	if key := o.A + Separator + o.B; key != "A<SEP>B" {
		t.Errorf("tracked as %q", key)
	}
	if a, b := record.PairID("B", "A"), record.PairID("A", "B"); a != b || a != "1:AB" {
		t.Errorf("ids %q and %q", a, b)
	}
	if record.PairID("ab", "c") == record.PairID("a", "bc") {
		t.Error("two pairs have one id")
	}
	// The reference's hash over two fields, which prefixes each with its length for the same reason.
	fields := ""
	for _, f := range []string{"abc", "x"} {
		fields += fmt.Sprintf("%d:%s", len(f), f)
	}
	if sum := md5.Sum([]byte(fields)); hex.EncodeToString(sum[:]) != "801e9806abaeca2d17ceb9d291f7b77a" {
		t.Errorf("hash over %q", fields)
	}
}

func TestGoldenCaps(t *testing.T) {
	ids := []string{"a", "b", "c", "d", "e"}
	for _, tc := range []struct {
		name   string
		limit  int
		newest bool
		want   []string
	}{
		{"KEEP 3", 3, false, []string{"a", "b", "c"}},
		{"FIFO 3", 3, true, []string{"c", "d", "e"}},
		{"KEEP 0", 0, false, nil},
		{"FIFO 0", 0, true, nil},
		{"KEEP 5", 5, false, ids},
		{"FIFO 6", 6, true, ids},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := capped(ids, tc.limit, tc.newest); !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestGoldenSourceMerge: the sources [a, b, c] and [c, d] are a, b, c, d. The reference splits and trims strings for
// that; ours are lists of records, and the order is that of the text.
func TestGoldenSourceMerge(t *testing.T) {
	at := func(docs ...uint64) (list []record.Source) {
		for _, seq := range docs {
			list = append(list, record.Source{Doc: string(rune('a' + seq)), Path: fmt.Sprint("p", seq%2), Position: record.Position{Seq: seq}})
		}
		return list
	}
	want := []string{"a-chunk-000", "b-chunk-000", "c-chunk-000", "d-chunk-000"}
	for name, lists := range map[string][2][]record.Source{
		"shared in the middle": {at(0, 1, 2), at(2, 3)},
		"the other way round":  {at(2, 3), at(0, 1, 2)},
		"one is empty":         {at(0, 1, 2, 3), nil},
		"each its own":         {at(0, 2), at(1, 3)},
	} {
		sources, paths := provenance(Caps{Sources: 10, Paths: 10}, lists[0], lists[1])
		if !slices.Equal(sources, want) || !slices.Equal(paths, []string{"p0", "p1"}) {
			t.Errorf("%s: sources %q, paths %q", name, sources, paths)
		}
	}
}

// TestGoldenSeparatorNumbers: the empty part between two separators takes a number in the reference (a, b and c are
// chunks 0, 1 and 3). Ours are numbered without gaps, as they come.
func TestGoldenSeparatorNumbers(t *testing.T) {
	const text = "a\n\nb\n\n\n\nc"
	w, err := chunk.NewWindow(charTokens{}, 3, 1, chunk.WithSeparator("\n\n", false))
	if err != nil {
		t.Fatal(err)
	}
	spans, err := w.Split(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, s := range spans {
		got = append(got, record.ChunkID("d", i)+" "+text[s.Start:s.End])
	}
	if want := []string{"d-chunk-000 a", "d-chunk-001 b", "d-chunk-002 c"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
