package index_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/kv"
)

// spellingsStore holds two entities that only letter case tells apart, one with an alias, and one that was deleted.
func spellingsStore(t *testing.T) *store {
	s := newStore(t, index.Options{})
	s.put(doc("one", "E Mira Voss|person|Mends bridges.", "R Mira Voss - Bridge|works on|She mends it.", "E TERN|rules|Rules.", "E Tern|person|Flies.",
		"E 青石 Light|place|A light.", "E Old Mill|place|It stands no more."))
	s.edited(s.AddAlias(ctx, "Mira Voss", "The Mender"))
	s.edited(s.DeleteEntity(ctx, "Old Mill"))
	return s
}

// Every edit and look-up takes a name by any spelling that tells one entity, and says whom it took it for.
func TestNamesInAnySpelling(t *testing.T) {
	for given, want := range map[string]string{"Mira Voss": "", "“Mira Voss”": "", "mira  VOSS": "Mira Voss", "Ｍｉｒａ　Ｖｏｓｓ": "", "ｍira voss": "Mira Voss",
		"The Mender": "Mira Voss", "the mender": "Mira Voss", "‘THE MENDER’": "Mira Voss"} {
		s := spellingsStore(t)
		if i, err := s.entityInfo(given, index.InfoOptions{}); err != nil || i.Name != "Mira Voss" {
			t.Errorf("%s is %+v, %v", given, i, err)
		}
		if r, err := s.relationInfo("bridge", given, index.InfoOptions{}); err != nil || r.Src != "Bridge" || r.Dst != "Mira Voss" {
			t.Errorf("its relation is %+v, %v", r, err)
		}
		var resolved []index.ResolvedName
		if want != "" {
			resolved = []index.ResolvedName{{given, want}}
		}
		for what, do := range map[string]func() (index.EditResult, error){
			"edit":  func() (index.EditResult, error) { return s.EditEntity(ctx, given, index.EntityFields{Type: text("t")}) },
			"reset": func() (index.EditResult, error) { return s.ResetEntity(ctx, given) },
			"again": func() (index.EditResult, error) { return s.ResetEntity(ctx, given) }, // nothing to change
			"alias": func() (index.EditResult, error) { return s.AddAlias(ctx, given, "Another") },
		} {
			if res := s.edited(do()); !slices.Equal(res.Resolved, resolved) {
				t.Errorf("%s of %s resolved %v, want %v", what, given, res.Resolved, resolved)
			}
		}
		for range 2 {
			if res := s.edited(s.DeleteEntity(ctx, given)); !slices.Equal(res.Resolved, resolved) || s.entity("Mira Voss") != nil {
				t.Errorf("deleting %s resolved %v", given, res.Resolved)
			}
			var none *index.NoObjectError
			if _, err := s.entityInfo(given, index.InfoOptions{}); !errors.As(err, &none) || !none.Deleted || none.Names[0] != given {
				t.Errorf("deleted %s: %v", given, err)
			}
			if res := s.edited(s.ResetEntity(ctx, given)); !slices.Equal(res.Resolved, resolved) || s.entity("Mira Voss") == nil {
				t.Errorf("reset of %s resolved %v", given, res.Resolved)
			}
		}
	}
}

// A name that several entities have is refused with all of them; one that is exact never is.
func TestAmbiguousNames(t *testing.T) {
	s := spellingsStore(t)
	before := s.dump()
	var several *index.AmbiguousError
	_, err := s.EditEntity(ctx, "tern", index.EntityFields{Type: text("t")})
	if !errors.As(err, &several) || !errors.Is(err, index.ErrAmbiguous) || !errors.Is(err, index.ErrEdit) || errors.Is(err, kv.ErrNotFound) ||
		several.Name != "tern" || !slices.Equal(several.Candidates, []string{"TERN", "Tern"}) {
		t.Errorf("edit of tern: %v", err)
	}
	if _, err := s.MergeEntities(ctx, index.Merge{Into: "tern", From: []string{"Bridge"}}); !errors.Is(err, index.ErrAmbiguous) {
		t.Errorf("merge into tern: %v", err)
	}
	if _, err := s.relationInfo("tern", "Bridge", index.InfoOptions{}); !errors.Is(err, index.ErrAmbiguous) {
		t.Errorf("relation of tern: %v", err)
	}
	s.same("after refusals", before)
	s.edited(s.DeleteEntity(ctx, "Tern"))
	if i, err := s.entityInfo("tern", index.InfoOptions{}); err != nil || i.Name != "TERN" {
		t.Errorf("with one of them deleted: %+v, %v", i, err)
	}
	s.edited(s.DeleteEntity(ctx, "TERN"))
	if _, err := s.ResetEntity(ctx, "tern"); !errors.Is(err, index.ErrAmbiguous) {
		t.Errorf("reset of two: %v", err)
	}
}

// An alias is taken off by any spelling; INTO of a merge is a known entity, or a new spelling of one of those merged.
func TestSpellingsOfAliasesAndMerges(t *testing.T) {
	s := spellingsStore(t)
	before := s.dump()
	res := s.edited(s.MergeEntities(ctx, index.Merge{Into: "MIRA VOSS", From: []string{"tHE mender", "bridge"}}))
	if i, err := s.entityInfo("Bridge", index.InfoOptions{}); err != nil || i.Name != "MIRA VOSS" ||
		!slices.Equal(res.Resolved, []index.ResolvedName{{"bridge", "Bridge"}, {"tHE mender", "Mira Voss"}}) {
		t.Fatalf("respelt: %+v, %v; %v", i, err, res.Resolved)
	}
	s.edited(s.RemoveAlias(ctx, "BRIDGE"))
	s.edited(s.RenameEntity(ctx, "mira voss", "Mira Voss"))
	s.edited(s.RemoveAlias(ctx, "MIRA VOSS"))
	s.same("parted again", before)

	res = s.edited(s.MergeEntities(ctx, index.Merge{Into: "mira voss", From: []string{"Bridge"}}))
	if i, err := s.entityInfo("Bridge", index.InfoOptions{}); err != nil || i.Name != "Mira Voss" || !slices.Equal(res.Resolved, []index.ResolvedName{{"mira voss", "Mira Voss"}}) {
		t.Errorf("into a known one: %+v, %v; %v", i, err, res.Resolved)
	}
	if res = s.edited(s.RemoveAlias(ctx, "bridge")); !slices.Equal(res.Resolved, []index.ResolvedName{{"bridge", "Mira Voss"}}) {
		t.Errorf("parted from %v", res.Resolved)
	}
	s.same("parted again", before)
	s.edited(s.AddAlias(ctx, "Bridge", "THE MENDER"))
	var several *index.AmbiguousError
	if _, err := s.RemoveAlias(ctx, "the mender"); !errors.As(err, &several) || !slices.Equal(several.Candidates, []string{"THE MENDER", "The Mender"}) {
		t.Errorf("two aliases: %v", err)
	}
}
