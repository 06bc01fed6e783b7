package index

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/wal"
)

// countingReader counts the steps of its cursors.
type countingReader struct {
	kv.Reader
	steps int
}

func (r *countingReader) Cursor(lower, upper []byte) (kv.Cursor, error) {
	c, err := r.Reader.Cursor(lower, upper)
	return &countingCursor{c, r}, err
}

type countingCursor struct {
	kv.Cursor
	r *countingReader
}

func (c *countingCursor) Next() bool             { c.r.steps++; return c.Cursor.Next() }
func (c *countingCursor) Prev() bool             { c.r.steps++; return c.Cursor.Prev() }
func (c *countingCursor) SeekGE(key []byte) bool { c.r.steps++; return c.Cursor.SeekGE(key) }
func (c *countingCursor) SeekLT(key []byte) bool { c.r.steps++; return c.Cursor.SeekLT(key) }

// hub is a store with one entity of many records: two in each chunk, three chunks a document.
func hub(t testing.TB, documents int) *kv.Snapshot {
	t.Helper()
	store, err := kv.Open("db", kv.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	log, err := wal.Open(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = log.Update(context.Background(), "test", nil, func(b *kv.Batch) error {
		for seq := range documents {
			for order := range 3 {
				for n := range 2 {
					s := hubRecord(seq+1, order, n)
					if err := b.Set(s.Key(""), s.Encode()); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	view, err := log.View()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := view.Close(); err != nil {
			t.Error(err)
		}
		if err := errors.Join(log.Close(), store.Close()); err != nil {
			t.Error(err)
		}
	})
	return view
}

func hubRecord(seq, order, n int) *record.Source {
	return &record.Source{Kind: record.KindEntity, Object: record.EntityObject("hub"), Doc: fmt.Sprint("d", seq), Type: "t",
		Position: record.Position{Seq: uint64(seq), Order: order, Record: n}, Description: fmt.Sprint(seq, order, n)}
}

// TestHubCostsItsCap is P8: what is read of a hub depends on the cap, not on the records.
func TestHubCostsItsCap(t *testing.T) {
	const limit = 200
	view := hub(t, 10_000) // 60,000 records
	o := record.EntityObject("hub")
	for _, newest := range []bool{false, true} {
		r := &countingReader{Reader: view}
		h := &history{r: r, skip: map[uint64]bool{1: true, 9_999: true}}
		defer h.Close()
		added := []record.Source{*hubRecord(20_000, 0, 0), *hubRecord(20_000, 0, 1)}
		got, _, err := h.within(record.KindEntity, o, added, limit, newest)
		if err != nil {
			t.Fatal(err)
		}
		if n := distinctChunks(got); n != limit {
			t.Errorf("newest %t: %d chunks, want %d", newest, n, limit)
		}
		if max := 2*limit + 4; r.steps > max {
			t.Errorf("newest %t: %d steps, want at most %d", newest, r.steps, max)
		}
		last := got[len(got)-1]
		if newest != (last.Seq == 20_000) {
			t.Errorf("newest %t: ends with %+v", newest, last.Position)
		}
		for i := range got {
			if got[i].Seq == 1 || got[i].Seq == 9_999 {
				t.Errorf("newest %t: record of a skipped document %+v", newest, got[i].Position)
			}
			if i > 0 && got[i-1].Position.Compare(got[i].Position) >= 0 {
				t.Errorf("newest %t: %+v before %+v", newest, got[i-1].Position, got[i].Position)
			}
		}
	}
}

// TestWithinAgainstAll compares bounded reading with reading all, sorting and cutting.
func TestWithinAgainstAll(t *testing.T) {
	view := hub(t, 12)
	o := record.EntityObject("hub")
	for limit := 1; limit < 45; limit += 3 {
		for skipped := range uint64(14) {
			for _, newest := range []bool{false, true} {
				var added, all []record.Source
				for order := range 2 { // document 5, again
					added = append(added, *hubRecord(5, order, 7))
				}
				skip := map[uint64]bool{5: true, skipped: true}
				for seq := 1; seq <= 12; seq++ {
					if seq == 5 {
						all = append(all, added...)
					}
					for order := 0; order < 3 && !skip[uint64(seq)]; order++ {
						all = append(all, *hubRecord(seq, order, 0), *hubRecord(seq, order, 1))
					}
				}
				h := &history{r: view, skip: skip}
				got, _, err := h.within(record.KindEntity, o, added, limit, newest)
				if err = errors.Join(err, h.Close()); err != nil {
					t.Fatal(err)
				}
				if want := cutChunks(all, limit, newest); !sameSources(got, want) {
					t.Fatalf("limit %d, skip %d, newest %t: %d records, want %d", limit, skipped, newest, len(got), len(want))
				}
			}
		}
	}
}

func cutChunks(all []record.Source, limit int, newest bool) (out []record.Source) {
	var places []record.Mark
	for i := range all {
		if p := all[i].Mark(); len(places) == 0 || places[len(places)-1] != p {
			places = append(places, p)
		}
	}
	keep := make(map[record.Mark]bool)
	for _, p := range capped(places, limit, newest) {
		keep[p] = true
	}
	for i := range all {
		if keep[all[i].Mark()] {
			out = append(out, all[i])
		}
	}
	return out
}
