package index_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/kv"
)

// TestReuseOfMovedChunks: chunks that a new version only moves cost no call of any model, wherever they land.
func TestReuseOfMovedChunks(t *testing.T) {
	lines := []string{"E Ada|person|Ada writes.", "R Ada - Brin|work|Ada helps Brin.", "E Brin|person|Brin sings.", "E Cole|person|Cole sails."}
	for name, next := range map[string][]string{
		"one in front":    append([]string{"E New|t|new."}, lines...),
		"one in between":  slices.Insert(slices.Clone(lines), 2, "E New|t|new."),
		"the first gone":  lines[1:],
		"turned around":   {lines[3], lines[2], lines[1], lines[0]},
		"twice":           append(slices.Clone(lines), lines...),
		"one for another": {lines[0], "E New|t|new.", lines[2], lines[3]},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, index.Options{})
			s.put(doc("x", lines...), doc("other", "E Ada|person|Ada rests."))
			s.extract.memo, s.embed.memo = map[string]bool{}, map[string]bool{} // reuse is not the caches' doing
			s.extract.asked, s.embed.sent = nil, nil
			s.put(doc("x", next...))
			for _, text := range s.extract.asked {
				if slices.Contains(lines, text) {
					t.Errorf("asked again about %q", text)
				}
			}
			for _, text := range s.embed.sent {
				if slices.Contains(lines, text) {
					t.Errorf("embedded again: %q", text)
				}
			}
			fresh := newStore(t, index.Options{})
			fresh.put(doc("x", next...), doc("other", "E Ada|person|Ada rests."))
			if d := diff(s.dump(), fresh.dump()); d != "" {
				t.Errorf("not what the new version alone gives:\n%s", d)
			}
			if i := s.info("x"); i.ReusedChunks != len(next)-len(s.extract.asked) {
				t.Errorf("%d chunks reused, %d asked about, of %d", i.ReusedChunks, len(s.extract.asked), len(next))
			}
		})
	}
}

// TestNoTextIsLeft is D25: of a deleted or replaced document no word stays anywhere in the store, also where it was the
// only description of an entity that others name as an end.
func TestNoTextIsLeft(t *testing.T) {
	secret := func(s string) string { return s + " xyzzy" }
	d := index.Document{ID: "secret", Path: "xyzzy/secret", Metadata: map[string]any{"xyzzy": "xyzzy"}, Text: strings.Join([]string{
		"R A - B|" + secret("k") + "|" + secret("A meets B"), "E C|" + secret("t") + "|" + secret("C is"),
		"R C - D|k|" + secret("C knows D"), "R B - D|k|" + secret("B sees D")}, "\n")}
	rest := []index.Document{doc("one", "R B - D|k|B and D."), doc("two", "E D|t|D.", "R A - B|k|A and B.")}
	for _, order := range [][]index.Document{{d, rest[0], rest[1]}, {rest[0], d, rest[1]}, {rest[0], rest[1], d}} {
		for name, remove := range map[string]func(*store){
			"deleted":  func(s *store) { s.delete("secret") },
			"by path":  func(s *store) { s.deleteMatching(index.Filter{PathPrefix: "xyzzy/"}) },
			"replaced": func(s *store) { s.put(index.Document{ID: "secret", Text: "E E|t|e."}); s.delete("secret") },
		} {
			s := newStore(t, index.Options{})
			for _, d := range order {
				s.put(d)
			}
			remove(s)
			v := s.view()
			c, err := v.Cursor(nil, []byte{0xff})
			if err != nil {
				t.Fatal(err)
			}
			for c.Next() {
				if bytes.Contains(c.Key(), []byte("xyzzy")) || bytes.Contains(c.Value(), []byte("xyzzy")) {
					t.Errorf("%s: the text is still under %q", name, c.Key())
				}
			}
			if err := errors.Join(c.Err(), c.Close(), v.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (s *store) deleteMatching(f index.Filter) index.DeleteResult {
	s.t.Helper()
	r, err := s.DeleteMatching(context.Background(), f)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// TestDeleteMatching: what a filter selects goes as if its ids had been given.
func TestDeleteMatching(t *testing.T) {
	docs := []index.Document{
		{ID: "a", Path: "old/a", Track: "one", Text: "E A|t|a.\nR A - B|k|x.", Metadata: map[string]any{"year": 2024, "tags": []string{"red", "blue"}}},
		{ID: "b", Path: "old/b", Track: "two", Text: "E A|t|b.", Metadata: map[string]any{"year": 2025.0}},
		{ID: "c", Path: "new/c", Track: "one", Text: "E B|t|c.", Metadata: map[string]any{"draft": true, "tags": []string{"blue"}}},
		{ID: "d", Path: "new/d", Track: "two", Text: "broken"},
	}
	fill := func(t *testing.T) *store {
		s := newStore(t, index.Options{})
		s.extract.before = func(_ context.Context, text string) error {
			if text == "broken" {
				return errors.New("broken")
			}
			return nil
		}
		s.put(docs...)
		return s
	}
	for _, c := range []struct {
		f    index.Filter
		gone []string
	}{
		{index.Filter{Track: "one"}, []string{"a", "c"}},
		{index.Filter{PathPrefix: "old/"}, []string{"a", "b"}},
		{index.Filter{IDPrefix: "b"}, []string{"b"}},
		{index.Filter{Status: "failed"}, []string{"d"}},
		{index.Filter{Metadata: map[string]any{"year": 2025}}, []string{"b"}},
		{index.Filter{Metadata: map[string]any{"tags": "blue"}}, []string{"a", "c"}},
		{index.Filter{Metadata: map[string]any{"tags": []string{"red", "blue"}}}, []string{"a"}},
		{index.Filter{Metadata: map[string]any{"draft": true}, Track: "two"}, nil},
		{index.Filter{Metadata: map[string]any{"draft": "yes"}}, nil},
		{index.Filter{PathPrefix: "nowhere"}, nil},
	} {
		s, want := fill(t), fill(t)
		if r := s.deleteMatching(c.f); r.Documents != len(c.gone) {
			t.Errorf("%+v: %+v", c.f, r)
		}
		if len(c.gone) > 0 {
			want.delete(c.gone...)
		}
		if d := diff(s.dump(), want.dump()); d != "" {
			t.Errorf("%+v:\n%s", c.f, d)
		}
	}
	s := fill(t)
	for field, f := range map[string]index.Filter{"Filter": {}, "Filter.Status": {Status: "gone"}, "Filter.Metadata": {Metadata: map[string]any{"k": struct{}{}}}} {
		_, err := s.DeleteMatching(context.Background(), f)
		if bad, ok := errors.AsType[*index.OptionError](err); !ok || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestDeleteMatchingWhileOthersWrite: documents that stop matching before their turn stay, those that vanish are no
// error, and what no single commit holds takes several.
func TestDeleteMatchingWhileOthersWrite(t *testing.T) {
	s := newStore(t, index.Options{})
	other := s.pipeline(s.log)
	for _, id := range []string{"a", "b", "c"} {
		s.put(index.Document{ID: id, Path: "old/" + id, Text: "E A|t|" + id})
	}
	changes := []func() error{
		func() error {
			_, err := other.Enqueue(context.Background(), []index.Document{{ID: "a", Path: "new/a", Text: "E A|t|a"}}, index.Put)
			return err
		},
		func() error { _, err := other.Delete(context.Background(), "b"); return err },
	}
	s.hook = func(kind string) {
		if kind == "delete" && len(changes) > 0 {
			change := changes[0]
			changes = changes[1:]
			if err := change(); err != nil {
				t.Error(err)
			}
		}
	}
	if r := s.deleteMatching(index.Filter{PathPrefix: "old/"}); r.Documents != 1 {
		t.Errorf("deleted %+v", r)
	}
	s.hook = nil
	s.process()
	if e := s.entity("A"); e == nil || e.Description != "a" || e.Paths[0] != "new/a" {
		t.Errorf("A is %+v", e)
	}
	for i := range 6 {
		s.put(index.Document{ID: fmt.Sprint("long", i), Text: fmt.Sprint("E A|t|", i)})
	}
	s.LimitRemoval(4 * len("E A|t|0"))
	commits := 0
	s.hook = func(kind string) {
		if kind == "delete" {
			commits++
		}
	}
	if r := s.deleteMatching(index.Filter{IDPrefix: "long"}); r.Documents != 6 || commits != 2 {
		t.Errorf("%+v in %d commits", r, commits)
	}
	s.hook = nil
}

// TestMetadata: values keep their types, whatever integer or float the caller has, through a dump as well.
func TestMetadata(t *testing.T) {
	s := newStore(t, index.Options{})
	s.put(index.Document{ID: "x", Text: "x", Metadata: map[string]any{"s": "text", "b": true, "i": int8(-3), "u": uint32(7), "f": float32(0.5), "one": 1.0,
		"l": []string{"a", "b"}, "any": []any{"c"}, "none": []string{}}})
	want := map[string]any{"s": "text", "b": true, "i": int64(-3), "u": int64(7), "f": 0.5, "one": 1.0}
	got := s.info("x").Metadata
	lists := fmt.Sprint(got["l"], got["any"], got["none"])
	maps.DeleteFunc(got, func(k string, _ any) bool { return k == "l" || k == "any" || k == "none" })
	if !maps.Equal(got, want) || lists != "[a b] [c] []" {
		t.Errorf("metadata %v and %s", got, lists)
	}
	given := index.Document{ID: "x", Text: "x", Metadata: map[string]any{"one": 1}}
	if r := s.enqueue(index.Put, given); r.Documents[0].Result != index.Enqueued {
		t.Errorf("1 for 1.0 and others left out: %+v", r)
	}
	s.process()
	if r := s.enqueue(index.Put, given); r.Documents[0].Result != index.Unchanged {
		t.Errorf("the same again: %+v", r)
	}
	c := newStore(t, index.Options{})
	s.copyTo(c)
	if d := diff(c.dump(), s.dump()); d != "" {
		t.Error(d)
	}
	if one, ok := c.info("x").Metadata["one"].(int64); !ok || one != 1 {
		t.Errorf("one became %v", c.info("x").Metadata["one"])
	}

	many := make(map[string]any)
	for i := range index.MaxMetadata + 1 {
		many[fmt.Sprint(i)] = i
	}
	for name, m := range map[string]map[string]any{
		"a struct": {"k": struct{}{}}, "nil": {"k": nil}, "a nested list": {"k": []any{1}}, "a key that is empty": {"": "x"}, "a key": {"\xff": "x"},
		"text": {"k": "\xff"}, "item": {"k": []string{"\xff"}}, "not a number": {"k": math.NaN()}, "infinite": {"k": float32(math.Inf(1))},
		"too large": {"k": uint64(math.MaxUint64)}, "too many": many, "too long": {"k": strings.Repeat("x", index.MaxMetadataBytes)},
		"too long a list": {"k": []string{strings.Repeat("x", index.MaxMetadataBytes)}},
	} {
		_, err := s.Enqueue(context.Background(), []index.Document{{ID: "y", Text: "y", Metadata: m}}, index.Insert)
		if bad, ok := errors.AsType[*index.DocumentError](err); !ok || bad.Field != "metadata" {
			t.Errorf("%s: %v", name, err)
		}
		if strings.HasPrefix(name, "too") != errors.Is(err, kv.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTimesOfADocument: when it came stays, when its visible version came changes with that.
func TestTimesOfADocument(t *testing.T) {
	s := newStore(t, index.Options{})
	first := s.now
	s.enqueue(index.Insert, doc("x", "E A|t|a."))
	if i := s.info("x"); !i.CreatedAt.Equal(first) || !i.UpdatedAt.IsZero() || !i.EnqueuedAt.Equal(first) {
		t.Errorf("enqueued: %+v", i)
	}
	s.now = first.Add(time.Hour)
	s.process()
	if i := s.info("x"); !i.CreatedAt.Equal(first) || !i.UpdatedAt.Equal(s.now) {
		t.Errorf("processed: %+v", i)
	}
	visible := s.now
	s.now = first.Add(2 * time.Hour)
	s.extract.before = func(context.Context, string) error { return errors.New("no") }
	s.put(doc("x", "E A|t|b."))
	if i := s.info("x"); i.Status != "failed" || !i.CreatedAt.Equal(first) || !i.UpdatedAt.Equal(visible) || !i.EnqueuedAt.Equal(s.now) {
		t.Errorf("failed to be replaced: %+v", i)
	}
	s.reopen()
	c := newStore(t, index.Options{})
	s.copyTo(c)
	if a, b := s.info("x"), c.info("x"); !a.CreatedAt.Equal(b.CreatedAt) || !a.UpdatedAt.Equal(b.UpdatedAt) {
		t.Errorf("a dump made %v, %v of %v, %v", b.CreatedAt, b.UpdatedAt, a.CreatedAt, a.UpdatedAt)
	}
}
