package index_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// TestCheckSeesEveryKey: there is no key of index that can vanish, change, or be one too many without
// Check noticing. What it may not notice is listed.
func TestCheckSeesEveryKey(t *testing.T) {
	s := newStore(t, index.Options{SummaryFragments: 3})
	s.put(doc("a", "E A|t|one.", "E A|t|two.", "R A - B|k|they.", "text"), doc("b", "E A|u|three.", "R B - C|l|them."))
	s.extract.before = func(context.Context, string) error { return fmt.Errorf("down") }
	s.put(doc("c", "E X|t|x.")) // fails
	s.extract.before = nil
	s.enqueue(index.Put, doc("b", "E A|u|four.")) // waits

	problems := func() (n int) {
		v := s.view()
		defer v.Close()
		for _, err := range s.Check(context.Background(), v) {
			if err != nil {
				n++ // damage that cannot even be read
			}
			n++
		}
		return n
	}
	set := func(key, value []byte) {
		_, err := s.log.Update(context.Background(), "test", nil, func(b *kv.Batch) error {
			if value == nil {
				return b.Delete(key)
			}
			return b.Set(key, value)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := problems(); n != 0 {
		t.Fatalf("%d problems in a sound store", n)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	tested := make(map[space.Space]int)
	for _, sp := range []space.Space{space.Document, space.Text, space.Chunk, space.Source, space.Contrib, space.Sequence, space.Track, space.Hash} {
		type row struct{ key, value []byte }
		var rows []row
		v := s.view()
		prefix := space.In("", sp)
		c, err := v.Cursor(prefix, codec.PrefixEnd(prefix))
		if err != nil {
			t.Fatal(err)
		}
		for c.Next() {
			rows = append(rows, row{bytes.Clone(c.Key()), append([]byte{}, c.Value()...)})
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		v.Close()
		for _, r := range rows {
			tested[sp]++
			set(r.key, nil)
			if problems() == 0 {
				t.Errorf("key %q of space %q can vanish", r.key, sp)
			}
			if len(r.value) > 0 {
				cut := r.value[:rng.IntN(len(r.value))]
				set(r.key, append([]byte{}, cut...))
				if problems() == 0 {
					t.Errorf("value of %q in space %q can be cut to %d bytes", r.key, sp, len(cut))
				}
			}
			set(r.key, r.value)
		}
	}
	for sp, n := range tested {
		if n == 0 {
			t.Errorf("nothing was tested in space %q", sp)
		}
	}

	stray := record.Source{Kind: record.KindEntity, Object: record.EntityObject("A"), Doc: "a", Position: record.Position{Seq: 1, Order: 3}}
	orphan := record.Chunk{Doc: "nobody", Content: "x"}
	tally := record.Tally{Records: 1, Chunks: 1}
	for name, extra := range map[string]struct{ key, value []byte }{
		"source of an object": {stray.Key(""), stray.Encode()},
		"chunk":               {record.ChunkKey("", "nobody", 0), orphan.Encode()},
		"text":                {record.TextKey("", "nobody", true), []byte("x")},
		"tally":               {record.TallyKey("", record.EntityObject("nobody")), tally.Encode()},
		"objects":             {record.ContribKey("", "nobody"), record.EncodeObjects(nil)},
		"queue":               {record.QueueKey("", 0, 99), []byte("nobody")},
		"queue of another":    {record.QueueKey("", 0, 1), []byte("a")},
		"track":               {record.TrackKey("", "t", 1), []byte("a")},
		"hash":                {record.HashKey("", "h", "a"), []byte{}},
	} {
		set(extra.key, extra.value)
		if problems() == 0 {
			t.Errorf("a stray %s goes unnoticed", name)
		}
		set(extra.key, nil)
	}
	if n := problems(); n != 0 {
		t.Fatalf("%d problems after everything was put back", n)
	}
}

// TestCheckSeesViewsAndVectors: a view or vector that is not what the records say is a problem.
func TestCheckSeesViewsAndVectors(t *testing.T) {
	for name, spoil := range map[string]func(s *store, b *kv.Batch) error{
		"description": func(s *store, b *kv.Batch) error {
			e := s.entity("A")
			e.Description = "other"
			return s.putEntity(b, e)
		},
		"type": func(s *store, b *kv.Batch) error {
			e := s.entity("A")
			e.Type = "other"
			return s.putEntity(b, e)
		},
		"entity too many": func(s *store, b *kv.Batch) error {
			return s.putEntity(b, &record.Entity{Name: "Nobody", Type: "t"})
		},
		"vector too many": func(s *store, b *kv.Batch) error {
			c, err := s.vectors.Collection(b, "", record.EntityCollection)
			if err != nil {
				return err
			}
			return c.Put(b, "Nobody", make1(8))
		},
		"vector missing": func(s *store, b *kv.Batch) error {
			c, err := s.vectors.Collection(b, "", record.ChunkCollection)
			if err != nil {
				return err
			}
			return c.Delete(b, "a-chunk-000")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, index.Options{})
			s.put(doc("a", "E A|t|one.", "R A - B|k|they."))
			dropped := fmt.Errorf("drop the batch")
			_, err := s.log.Update(context.Background(), "test", nil, func(b *kv.Batch) error {
				if err := spoil(s, b); err != nil {
					return err
				}
				n := 0
				for _, err := range s.Check(context.Background(), b) { // reads its own writes
					if err != nil {
						return err
					}
					n++
				}
				if n == 0 {
					t.Error("goes unnoticed")
				}
				return dropped
			})
			if !errors.Is(err, dropped) {
				t.Fatal(err)
			}
		})
	}
}

func make1(n int) []float32 {
	v := make([]float32, n)
	v[0] = 1
	return v
}
