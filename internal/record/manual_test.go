package record

import (
	"reflect"
	"testing"

	"github.com/glimdb/db/internal/space"
)

func manualSamples() []Manual {
	text, none, weight := "a description", "", Weight(2_500_000)
	return []Manual{
		{},
		{AliasOf: "Ada"},
		{Aliases: []string{"Ada", "A.\x00"}, Deleted: true},
		{Set: Fields{Type: &none, Description: &text}},
		{Set: Fields{Keywords: []string{}, Weight: &weight}},
		{Set: Fields{Keywords: []string{"k", "l"}}},
	}
}

func TestManual(t *testing.T) {
	for i, m := range manualSamples() {
		got, err := DecodeManual(m.Encode())
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%+v became %+v, %v", m, got, err)
		}
		if m.Empty() != (i == 0) {
			t.Errorf("%+v: empty is %t", m, m.Empty())
		}
	}
	for _, o := range []Object{EntityObject("Ada\x00"), RelationObject("b", "a")} {
		rest := ManualKey("ws", o)[len(ManualPrefix("ws", o.IsRelation())):]
		if got, err := ParseManualKey(rest, o.IsRelation()); err != nil || got != o {
			t.Errorf("key of %v: %v, %v", o, got, err)
		}
	}
	rest := AliasKey("ws", "ada", "Ada")[len(AliasesPrefix("ws")):]
	if got, err := ParseAliasKey(rest); err != nil || got != "Ada" {
		t.Errorf("alias key: %q, %v", got, err)
	}
	keys := [][]byte{EditsKey("ws"), DormantKey("ws"), AliasesPrefix("ws"), ManualPrefix("ws", false), ManualPrefix("ws", true)}
	seen := map[string]bool{}
	for _, k := range keys {
		seen[string(k[:len(space.In("ws", space.Manual))+1])] = true
	}
	if len(seen) != len(keys) {
		t.Error("two kinds of keys share their first byte")
	}
}

// Or fills what is open and no more; Without takes exactly the named fields away.
func TestFields(t *testing.T) {
	a, b, w := "a", "b", Weight(1)
	f := Fields{Type: &a, Keywords: []string{}}
	f.Or(&Fields{Type: &b, Description: &b, Keywords: []string{"k"}, Weight: &w})
	if want := (Fields{Type: &a, Description: &b, Keywords: []string{}, Weight: &w}); !reflect.DeepEqual(f, want) {
		t.Errorf("or: %+v", f)
	}
	f.Without(&Fields{Type: &b, Keywords: []string{"x"}})
	if want := (Fields{Description: &b, Weight: &w}); !reflect.DeepEqual(f, want) {
		t.Errorf("without: %+v", f)
	}
	f.Without(&Fields{Description: &a, Weight: &w})
	if !f.Empty() {
		t.Errorf("not empty: %+v", f)
	}
}
