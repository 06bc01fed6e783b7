package index_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/analysis"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/postings"
)

// found searches the postings for the words of a text.
func (s *store) found(text string) (ids []string) {
	s.t.Helper()
	v := s.view()
	defer v.Close()
	x, err := postings.Open(v, "", record.ChunkPostings)
	if err != nil {
		s.t.Fatal(err)
	}
	words, err := analysis.New(s.opts.TextLanguage)
	if err != nil {
		s.t.Fatal(err)
	}
	f, err := x.Search(context.Background(), v, postings.Query{Terms: words.Terms(text), K: 100})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, h := range f.Hits {
		ids = append(ids, h.ID)
	}
	slices.Sort(ids)
	return ids
}

func (s *store) tended() index.Tended {
	s.t.Helper()
	v := s.view()
	defer v.Close()
	t, err := s.Tended(v)
	if err != nil {
		s.t.Fatal(err)
	}
	return t
}

func (s *store) tend() {
	s.t.Helper()
	if err := s.Tend(context.Background()); err != nil {
		s.t.Fatal(err)
	}
}

// ordinals are the numbers of chunks in the postings, as they are stored.
func (s *store) ordinals() map[string]string {
	s.t.Helper()
	v := s.view()
	defer v.Close()
	prefix := append(space.In("", space.Posting), record.ChunkPostings+"\x00\x01s"...)
	c, err := v.Cursor(prefix, append(prefix, 0xFF))
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	out := map[string]string{}
	for c.Next() {
		out[string(c.Key()[len(prefix):])] = string(c.Value())
	}
	return out
}

// TestPostingsFollowChunks: what is found is what is stored, after each insert, replacement and deletion, and a chunk that
// stays where it was is not touched.
func TestPostingsFollowChunks(t *testing.T) {
	s := newStore(t, index.Options{})
	if got := s.tended(); !got.Whole || got.Items != 0 {
		t.Errorf("an empty store: %+v", got)
	}
	s.put(doc("a", "wheels turn", "the mill stands"), doc("b", "mills turning"))
	if got, want := s.found("turn"), []string{"a-chunk-000", "b-chunk-000"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	before := s.ordinals()
	s.put(doc("a", "wheels turn", "the tower stands", "a river"))
	after := s.ordinals()
	if len(after) != 4 || after["a-chunk-000"] != before["a-chunk-000"] || after["a-chunk-001"] == before["a-chunk-001"] {
		t.Errorf("ordinals %x, before %x", after, before)
	}
	for text, want := range map[string][]string{"mill": {"b-chunk-000"}, "towers": {"a-chunk-001"}, "RIVER": {"a-chunk-002"}, "the": nil} {
		if got := s.found(text); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	s.delete("a")
	if got := s.found("wheel turn tower river"); !slices.Equal(got, []string{"b-chunk-000"}) {
		t.Errorf("%v", got)
	}
	s.delete("b")
	if got := s.tended(); got.Items != 0 || got.Length != 0 || got.Segments != 0 || !got.Whole {
		t.Errorf("an emptied store: %+v", got)
	}
}

// dropPostings makes s a store from before there were postings.
func (s *store) dropPostings() {
	s.t.Helper()
	_, err := s.log.Update(context.Background(), "test", nil, func(b *kv.Batch) error {
		x, err := postings.Open(b, "", record.ChunkPostings)
		if err != nil {
			return err
		}
		return x.Drop(b)
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// TestTend: a store without postings gets them, while documents come, change and go, and after interruptions.
func TestTend(t *testing.T) {
	s := newStore(t, index.Options{})
	line := strings.Repeat("some words that fill a line ", 4000) // 100 kB: several commits
	var docs []index.Document
	for i := range 30 {
		docs = append(docs, doc(fmt.Sprintf("d%02d", i), fmt.Sprintf("own%d", i), line))
	}
	s.put(docs...)
	s.dropPostings()
	if got := s.tended(); got.Whole {
		t.Fatalf("%+v", got)
	}
	s.check()
	// Documents on both sides of where the work is, and one that is not there any more when it is committed.
	commits := 0
	s.hook = func(kind string) {
		if kind != "postings" {
			return
		}
		commits++
		hook := s.hook
		s.hook = nil
		defer func() { s.hook = hook }()
		other := s.pipeline(s.log)
		do := func(docs []index.Document, gone ...string) {
			if _, err := other.Enqueue(context.Background(), docs, index.Put); err != nil {
				t.Fatal(err)
			}
			if _, err := other.Process(context.Background(), index.ProcessOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := other.Delete(context.Background(), gone...); err != nil {
				t.Fatal(err)
			}
		}
		switch commits {
		case 1:
			do([]index.Document{doc("d03", "changed before"), doc("d25", "changed before")}, "d05")
		case 3:
			do([]index.Document{doc("d03x", "new behind"), doc("d29x", "new ahead"), doc("d02", "own2", line, "more")}, "d01", "d28")
		}
		s.check()
	}
	if err := s.Tend(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.hook = nil
	if commits < 4 {
		t.Errorf("%d commits", commits)
	}
	got := s.tended()
	if !got.Whole || got.Items != len(s.ordinals()) {
		t.Errorf("%+v", got)
	}
	for text, want := range map[string][]string{"own1": nil, "own2": {"d02-chunk-000"}, "changed": {"d03-chunk-000", "d25-chunk-000"},
		"new": {"d03x-chunk-000", "d29x-chunk-000"}, "own29": {"d29-chunk-000"}} {
		if ids := s.found(text); !slices.Equal(ids, want) {
			t.Errorf("%s: %v, want %v", text, ids, want)
		}
	}
	s.check()

	// Interrupted after each commit, it ends all the same.
	s.dropPostings()
	for rounds := 0; ; rounds++ {
		ctx, cancel := context.WithCancel(context.Background())
		n := 0
		s.hook = func(kind string) {
			if n++; n > 1 {
				cancel()
			}
		}
		err := s.Tend(ctx)
		cancel()
		s.hook = nil
		s.check()
		if err == nil {
			if rounds < 2 {
				t.Errorf("done after %d interruptions", rounds)
			}
			break
		}
		if !errors.Is(err, context.Canceled) || rounds > 50 {
			t.Fatal(rounds, err)
		}
	}
	if got := s.tended(); !got.Whole {
		t.Errorf("%+v", got)
	}
}

// TestAnotherLanguage: postings of another analyser are not used, and made anew.
func TestAnotherLanguage(t *testing.T) {
	s := newStore(t, index.Options{})
	s.put(doc("a", "viele Häuser"), doc("b", "ein Haus"))
	s.opts.TextLanguage = "german"
	s.reopen()
	if got := s.tended(); got.Whole || got.Analyser == "" {
		t.Errorf("%+v", got)
	}
	s.check()
	s.put(doc("c", "im Hause"))
	s.delete("b")
	s.check()
	s.tend()
	if got := s.tended(); !got.Whole || !strings.Contains(got.Analyser, "german") {
		t.Errorf("%+v", got)
	}
	if got, want := s.found("häusern"), []string{"a-chunk-000", "c-chunk-000"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestPostingsAreFolded: what commits leave to do is done by the way.
func TestPostingsAreFolded(t *testing.T) {
	s := newStore(t, index.Options{Workers: 1})
	for i := range 150 {
		s.put(doc(fmt.Sprint("d", i), fmt.Sprint("line ", i)))
		if got := s.tended(); got.Segments > 130 {
			t.Fatalf("%+v", got)
		}
	}
	if got := s.tended(); got.Segments > 90 {
		t.Errorf("%+v", got)
	}
}

// TestSparsePostings: what is left of many documents is moved together, beside a document that changes meanwhile, and found as
// before.
func TestSparsePostings(t *testing.T) {
	s := newStore(t, index.Options{Workers: 1})
	lines := make([]string, 700)
	for i := range lines {
		lines[i] = fmt.Sprintf("wheel %d turns", i)
	}
	for i := range 6 {
		s.put(doc(fmt.Sprint("long", i), lines...), doc(fmt.Sprint("short", i), "a river", "a mill"))
	}
	for i := range 6 {
		s.delete(fmt.Sprint("long", i))
	}
	before, want := s.ordinals(), s.found("mill")
	if err := s.CompactPostings(ctx); err != nil {
		t.Fatal(err)
	}
	moved := 0
	for id, o := range s.ordinals() {
		if before[id] != o {
			moved++
		}
	}
	if got := s.found("mill"); len(want) != 6 || !slices.Equal(got, want) || moved < 8 || len(before) != 12 {
		t.Errorf("%d of %d moved; found %v, before %v", moved, len(before), got, want)
	}
	if err := s.CompactPostings(ctx); err != nil {
		t.Fatal(err)
	}
	s.put(doc("short0", "a river", "a tower"))
	if got := s.found("tower"); !slices.Equal(got, []string{"short0-chunk-001"}) {
		t.Errorf("%v", got)
	}
}

// TestDamagedPostings: postings of other chunks, or of other texts, are found by Check.
func TestDamagedPostings(t *testing.T) {
	for name, damage := range map[string]func(b *kv.Batch, x *postings.Index) error{
		"another text": func(b *kv.Batch, x *postings.Index) error {
			words, _ := analysis.New("")
			if _, err := x.Remove(b, "a-chunk-000", words.Counts("one line")); err != nil {
				return err
			}
			return x.Add(b, "a-chunk-000", []postings.Term{{Text: "other", Count: 2}})
		},
		"no chunk": func(b *kv.Batch, x *postings.Index) error { return x.Add(b, "z-chunk-000", nil) },
		"no postings": func(b *kv.Batch, x *postings.Index) error {
			words, _ := analysis.New("")
			_, err := x.Remove(b, "a-chunk-000", words.Counts("one line"))
			return err
		},
		"progress": func(b *kv.Batch, x *postings.Index) error { return x.SetMark(b, []byte{9}) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, index.Options{})
			s.put(doc("a", "one line"))
			problems := s.damaged(func(b *kv.Batch) error {
				x, err := postings.Open(b, "", record.ChunkPostings)
				if err != nil {
					return err
				}
				return damage(b, x)
			})
			if !slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, "I11") }) {
				t.Errorf("found %v", problems)
			}
		})
	}
}

// errUndo drops a batch.
var errUndo = errors.New("undo")

// damaged tells what Check finds in a batch that fn damages, which is dropped.
func (s *store) damaged(fn func(b *kv.Batch) error) (problems []string) {
	s.t.Helper()
	_, err := s.log.Update(context.Background(), "test", nil, func(b *kv.Batch) error {
		if err := fn(b); err != nil {
			return err
		}
		for p, err := range s.Check(context.Background(), b) {
			if err != nil {
				return err
			}
			problems = append(problems, p.String())
		}
		return errUndo
	})
	if !errors.Is(err, errUndo) {
		s.t.Fatal(err)
	}
	return problems
}

// TestDamagedEntityPostings: postings of other entities, or of other texts, are found by Check.
func TestDamagedEntityPostings(t *testing.T) {
	for name, damage := range map[string]func(b *kv.Batch, k *postings.Keyed) error{
		"another text": func(b *kv.Batch, k *postings.Keyed) error {
			return k.Change(b, "A", []postings.Term{{Text: "other", Count: 1}})
		},
		"no entity": func(b *kv.Batch, k *postings.Keyed) error { return k.Add(b, "Z", nil) },
		"progress":  func(b *kv.Batch, k *postings.Keyed) error { return k.SetMark(b, []byte{9}) },
		"no postings": func(b *kv.Batch, k *postings.Keyed) error {
			if err := k.Drop(b); err != nil {
				return err
			}
			k, err := postings.CreateKeyed(b, "", record.EntityPostings, k.Config())
			if err != nil {
				return err
			}
			return k.SetMark(b, record.Coverage{Whole: true}.Encode())
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, index.Options{})
			s.put(doc("a", "E A|person|first thing"))
			if got := s.tended().Entities; !got.Whole || got.Items == 0 || got.Due {
				t.Fatalf("%+v", got)
			}
			problems := s.damaged(func(b *kv.Batch) error {
				k, err := postings.OpenKeyed(b, "", record.EntityPostings)
				if err != nil {
					return err
				}
				return damage(b, k)
			})
			if !slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, "I11") }) {
				t.Errorf("%q", problems)
			}
		})
	}
}
