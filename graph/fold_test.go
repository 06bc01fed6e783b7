package graph

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/kv"
)

func TestFold(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"Skarn Rock", "SKARN rock", true},
		{"Skarn Rock", " skarn \n rock ", true},
		{"Ｇｌｉｍ　ＤＢ", "glim db", true},
		{"ﾊﾟﾘ", "パリ", true},
		{"Straße", "STRASSE", true},
		{"Cafe\u0301", "CAFÉ", true},
		{"Fezziwig’s", "fezziwig's", true},
		{"林薇", "林薇", true},
		{"Café", "Cafe", false},
		{"Skarn Rock", "SkarnRock", false},
		{"林薇", "林微", false},
	} {
		if got := Fold(c.a) == Fold(c.b); got != c.same {
			t.Errorf("%q and %q: %q and %q, want the same: %v", c.a, c.b, Fold(c.a), Fold(c.b), c.same)
		}
		if once := Fold(c.a); Fold(once) != once {
			t.Errorf("%q: folding twice gives %q", c.a, Fold(once))
		}
	}
}

func TestNamesAlike(t *testing.T) {
	s := newStore(t)
	g := s.create("g", Config{})
	long := strings.Repeat("ß", MaxNameBytes/2) // its fold is longer in runes, its key holds the name alone
	s.update(func(b *kv.Batch) error {
		return putAll(g, b, []string{"Who", "WHO", "Scrooge", "Skarn Rock", "林薇", long, "gone", "old"}, nil)
	})
	s.update(func(b *kv.Batch) error {
		if err := g.DeleteNode(b, "gone"); err != nil {
			return err
		}
		if err := g.RenameNode(b, "old", "New"); err != nil {
			return err
		}
		got, err := g.NamesAlike(b, []string{"NEW", "OLD"}) // a batch shows its own changes
		if err == nil && !reflect.DeepEqual(got, [][]string{{"New"}, nil}) {
			t.Errorf("in the batch: %q", got)
		}
		return err
	})
	got, err := g.NamesAlike(s.view(), []string{"who", "scrooge", "skarn  rock", "林薇", "Gone", "old", "new", "", "scroo", "SCROOGE", strings.Repeat("ss", MaxNameBytes/2)})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"WHO", "Who"}, {"Scrooge"}, {"Skarn Rock"}, {"林薇"}, nil, nil, {"New"}, nil, nil, {"Scrooge"}, {long}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestNamesAlikeBounded: names that are alike beyond counting cost no more than the bound.
func TestNamesAlikeBounded(t *testing.T) {
	s := newStore(t)
	g := s.create("g", Config{})
	var names []string
	for i := range 2 * MaxAlike {
		name := []byte("abcdef")
		for k := range name {
			if i>>k&1 == 1 {
				name[k] -= 'a' - 'A'
			}
		}
		names = append(names, string(name))
	}
	s.update(func(b *kv.Batch) error { return putAll(g, b, names, nil) })
	got, err := g.NamesAlike(s.view(), []string{"ABCDEF"})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	if !slices.Equal(got[0], names[:MaxAlike]) {
		t.Errorf("got %q, want the first %d of %q", got[0], MaxAlike, names)
	}
}
