package index_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/kv"
)

// edited fails the test when an edit failed.
func (s *store) edited(res index.EditResult, err error) index.EditResult {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	s.check()
	return res
}

func (s *store) same(what string, want []string) {
	s.t.Helper()
	if d := diff(s.dump(), want); d != "" {
		s.t.Fatalf("%s: the store differs:\n%s", what, d)
	}
}

func (s *store) entityInfo(name string, o index.InfoOptions) (index.EntityInfo, error) {
	s.t.Helper()
	v := s.view()
	defer v.Close()
	return s.GetEntity(v, name, o)
}

func (s *store) relationInfo(a, b string, o index.InfoOptions) (index.RelationInfo, error) {
	s.t.Helper()
	v := s.view()
	defer v.Close()
	return s.GetRelation(v, a, b, o)
}

var ctx = context.Background()

func text(s string) *string { return &s }

// bridge is a store of two documents that share Mira.
func bridge(t *testing.T) *store {
	s := newStore(t, index.Options{})
	s.put(doc("one", "E Mira|person|Mends bridges.", "R Mira - Bridge|works on|She mends it."),
		doc("two", "E Mira|person|Teaches.", "R School - Mira|employs|She works there."))
	return s
}

// A renamed entity keeps everything; documents old and new that use the old name speak of it; withdrawing them
// leaves nothing behind (D21, D22).
func TestRename(t *testing.T) {
	s := bridge(t)
	before := s.dump()
	res := s.edited(s.RenameEntity(ctx, "Mira", "Mira Voss"))
	if !slices.Equal(res.Entities, []string{"Mira", "Mira Voss"}) || len(res.Relations) != 4 || res.LSN == 0 {
		t.Errorf("result %+v", res)
	}
	e := s.entity("Mira Voss")
	if s.entity("Mira") != nil || e == nil || e.Description != "Mends bridges."+index.Separator+"Teaches." || e.SourceCount != 4 {
		t.Errorf("Mira Voss is %+v", e)
	}
	if s.relation("Mira", "Bridge") != nil || s.relation("Mira Voss", "Bridge") == nil || s.relation("School", "Mira Voss") == nil {
		t.Error("relations did not move")
	}
	i, err := s.entityInfo("Mira", index.InfoOptions{Statements: -1, Vector: true})
	if err != nil || i.Name != "Mira Voss" || !slices.Equal(i.Aliases, []string{"Mira"}) || i.Degree != 2 || len(i.Vector) != 8 || len(i.Statements) != 4 {
		t.Errorf("by the old name: %+v, %v", i, err)
	}
	s.put(doc("three", "E Mira|painter|Paints.", "R Mira - Harbour|draws|She draws it."))
	if e = s.entity("Mira Voss"); s.entity("Mira") != nil || e.SourceCount != 6 || !strings.HasSuffix(e.Description, "Paints.") ||
		s.relation("Mira Voss", "Harbour") == nil {
		t.Errorf("a new document: Mira Voss is %+v", e)
	}
	s.put(doc("four", "E Mira Voss|painter|Sings."))
	s.delete("four")
	s.delete("three")
	s.edited(s.RemoveAlias(ctx, "Mira"))
	s.same("undone", before)
	s.edited(s.RenameEntity(ctx, " “Mira” ", "Mira Voss"))
	s.edited(s.RenameEntity(ctx, "Mira Voss", "Mira"))
	s.edited(s.RemoveAlias(ctx, "Mira Voss"))
	s.same("renamed and back", before)
	s.edited(s.RenameEntity(ctx, "Mira", "M. Voss"))
	s.edited(s.AddAlias(ctx, "M. Voss", "The Mender"))
	s.edited(s.RenameEntity(ctx, "Mira", "Mira Voss")) // by an alias
	if i, err = s.entityInfo("The Mender", index.InfoOptions{}); err != nil || i.Name != "Mira Voss" || len(i.Aliases) != 3 {
		t.Errorf("after a second rename: %+v, %v", i, err)
	}
	s.delete("one", "two")
	if d := s.dump(); len(d) > 0 {
		t.Errorf("orphans:\n%s", strings.Join(d, "\n"))
	}
	s.put(doc("one", "E Mira|person|Mends bridges."))
	if s.entity("Mira") == nil {
		t.Error("a forgotten rename is remembered")
	}
}

// The reference's worked example: types, descriptions, sources, paths and the relation come together, the relation
// between the merged vanishes.
func TestMergeEntities(t *testing.T) {
	s := newStore(t, index.Options{})
	s.put(doc("f1", "E A1|person|a1", "R A1 - Zed|k2,k1|r1", "R A1 - A2|k|between"),
		doc("f2", "E A2|artist|a2", "R A2 - Zed|k3|r2"), doc("f3", "E Aaa|x|a", "E Zed|org|z"))
	before := s.dump()
	s.edited(s.MergeEntities(ctx, index.Merge{Into: "Aaa", From: []string{"A1", "A2", "“A1”"}}))
	e, r := s.entity("Aaa"), s.relation("Aaa", "Zed")
	if e == nil || e.Type != "person" || e.Description != "a1<SEP>a2<SEP>a" || e.SourceCount != 6 || !slices.Equal(e.Paths, []string{"f1.txt", "f2.txt", "f3.txt"}) {
		t.Errorf("entity %+v", e)
	}
	if r == nil || r.Weight != 2 || r.Description != "r1<SEP>r2" || !slices.Equal(r.Keywords, []string{"k1", "k2", "k3"}) || r.SourceCount != 2 {
		t.Errorf("relation %+v", r)
	}
	for _, name := range []string{"A1", "A2"} {
		if s.entity(name) != nil || s.relation(name, "Zed") != nil || s.relation("A1", "A2") != nil {
			t.Errorf("%s is still there", name)
		}
	}
	s.put(doc("f4", "R A2 - Aaa|k|itself", "R A1 - New|k|n"))
	if s.relation("Aaa", "New") == nil || s.entity("Aaa").SourceCount != 8 {
		t.Error("a new document does not speak of the merged entity")
	}
	s.delete("f4")
	s.edited(s.RemoveAlias(ctx, "A1"))
	if s.relation("A1", "Aaa") == nil || s.relation("Aaa", "Zed").Description != "r2" {
		t.Error("A1 did not part from the others")
	}
	s.edited(s.RemoveAlias(ctx, "A2"))
	s.same("parted", before)

	s.edited(s.MergeEntities(ctx, index.Merge{Into: "New One", From: []string{"A1", "A2", "Aaa"},
		Set: index.EntityFields{Type: text("group"), Description: text("All of them.")}}))
	if e = s.entity("New One"); e == nil || e.Type != "group" || e.Description != "All of them." {
		t.Errorf("merged into a new name: %+v", e)
	}
	s.delete("f1", "f2", "f3")
	if d := s.dump(); len(d) > 0 {
		t.Errorf("orphans:\n%s", strings.Join(d, "\n"))
	}
}

// What is set by hand stays whatever documents come and go (D23); a weight is raised to the evidence.
func TestEditsStay(t *testing.T) {
	s := bridge(t)
	before := s.dump()
	s.edited(s.EditEntity(ctx, "Mira", index.EntityFields{Type: text("  engineer "), Description: text("Chief mender.")}))
	weight := 2.5
	s.edited(s.EditRelation(ctx, "Bridge", "Mira", index.RelationFields{Keywords: []string{"b", "a", " b"}, Weight: &weight, Description: text("Mends.")}))
	holds := func(when string) {
		t.Helper()
		e, r := s.entity("Mira"), s.relation("Mira", "Bridge")
		if e == nil || e.Type != "engineer" || e.Description != "Chief mender." {
			t.Errorf("%s: entity %+v", when, e)
		}
		if r == nil || r.Weight != max(2.5, float64(r.SourceCount)) || r.Description != "Mends." || !slices.Equal(r.Keywords, []string{"a", "b"}) {
			t.Errorf("%s: relation %+v", when, r)
		}
		i, err := s.relationInfo("Mira", "Bridge", index.InfoOptions{Statements: 1})
		if err != nil || !slices.Equal(i.Set, []string{"description", "keywords", "weight"}) || len(i.Statements) != 1 || i.Statements[0].Description != "She mends it." {
			t.Errorf("%s: info %+v, %v", when, i, err)
		}
	}
	holds("edited")
	for n := range 4 {
		s.put(doc(fmt.Sprint("more", n), fmt.Sprintf("E Mira|%d|Other %d.", n, n), "R Mira - Bridge|c|Again."))
		holds("inserted")
	}
	if w := s.relation("Mira", "Bridge").Weight; w != 5 {
		t.Errorf("weight %g of 5 chunks", w)
	}
	s.put(doc("one", "E Mira|person|Mends roads.", "R Mira - Bridge|works on|She mends it."))
	holds("replaced")
	s.put(doc("one", "E Mira|person|Mends bridges.", "R Mira - Bridge|works on|She mends it."))
	s.delete("more0", "more1", "more2", "more3")
	holds("deleted")
	s.reopen()
	holds("reopened")
	c := newStore(t, index.Options{})
	s.copyTo(c)
	c.same("loaded", s.dump())
	s.edited(s.RenameEntity(ctx, "Mira", "Mira Voss"))
	s.edited(s.EditEntity(ctx, "Mira", index.EntityFields{Description: text("Later.")}))
	s.edited(s.RenameEntity(ctx, "Mira Voss", "Mira"))
	if e := s.entity("Mira"); e.Description != "Later." || e.Type != "engineer" {
		t.Errorf("an edit under another name: %+v", e)
	}
	s.edited(s.RemoveAlias(ctx, "Mira Voss"))
	s.edited(s.ResetEntity(ctx, "Mira"))
	s.edited(s.ResetRelation(ctx, "Mira", "Bridge"))
	s.same("reset", before)
	if res := s.edited(s.ResetEntity(ctx, "Mira")); res.LSN != 0 {
		t.Errorf("a reset of nothing: %+v", res)
	}
}

// What was deleted by hand stays so, whatever documents say, until it is reset; the decision goes with the last
// document that speaks of it.
func TestDeleteByHand(t *testing.T) {
	s := bridge(t)
	before := s.dump()
	s.edited(s.DeleteEntity(ctx, "Mira"))
	deleted := s.dump()
	if s.entity("Mira") != nil || s.relation("Mira", "Bridge") != nil || s.entity("Bridge") == nil {
		t.Error("the entity or its relation is there, or the other end is not")
	}
	var none *index.NoObjectError
	if _, err := s.entityInfo("Mira", index.InfoOptions{}); !errors.As(err, &none) || !none.Deleted {
		t.Errorf("deleted entity: %v", err)
	}
	s.put(doc("three", "E Mira|person|Sings.", "R Mira - Choir|in|Sings there."))
	if s.entity("Mira") != nil || s.relation("Mira", "Choir") != nil || s.entity("Choir") == nil {
		t.Error("a document brought it back")
	}
	fresh := bridge(t)
	fresh.put(doc("three", "E Mira|person|Sings.", "R Mira - Choir|in|Sings there."))
	s.edited(s.ResetEntity(ctx, "Mira"))
	s.same("reset", fresh.dump())
	s.edited(s.DeleteEntity(ctx, "Mira"))
	s.delete("three")
	s.same("deleted again", deleted)
	s.edited(s.CreateEntity(ctx, index.NewEntity{Name: "Mira", Description: "By hand."}))
	if e := s.entity("Mira"); e == nil || e.Description != "By hand.<SEP>Mends bridges.<SEP>Teaches." || e.Type != "person" || e.SourceCount != 4 {
		t.Errorf("created again: %+v", e)
	}
	s.edited(s.DeleteEntity(ctx, "Mira"))
	s.same("deleted a third time", deleted)
	s.edited(s.ResetEntity(ctx, "Mira"))
	s.same("reset again", before)

	s.edited(s.DeleteRelation(ctx, "Bridge", "Mira"))
	s.put(doc("three", "R Mira - Bridge|in|Again."))
	if s.relation("Mira", "Bridge") != nil || s.entity("Mira").SourceCount != 5 {
		t.Error("a document brought the relation back, or is no source of its end")
	}
	s.delete("three")
	s.edited(s.ResetRelation(ctx, "Mira", "Bridge"))
	s.same("relation reset", before)
	s.edited(s.DeleteRelation(ctx, "Bridge", "Mira"))
	s.edited(s.RenameEntity(ctx, "Mira", "Mira Voss"))
	if s.relation("Mira Voss", "Bridge") != nil {
		t.Error("a rename brought the relation back")
	}
	s.edited(s.DeleteEntity(ctx, "Mira Voss"))
	s.delete("one")
	s.delete("two")
	if d := s.dump(); len(d) > 0 {
		t.Errorf("orphans:\n%s", strings.Join(d, "\n"))
	}
}

// What people state lives without documents, adds to what they say, and goes only when it is deleted.
func TestStatedByHand(t *testing.T) {
	s := bridge(t)
	before := s.dump()
	s.edited(s.CreateEntity(ctx, index.NewEntity{Name: " “Guild” ", Type: "organisation", Description: "Of menders &amp; masons."}))
	s.edited(s.CreateRelation(ctx, index.NewRelation{Src: "Mira", Dst: "Guild", Description: "Founded it.", Keywords: []string{"founder"}, Weight: 3}))
	if e := s.entity("Guild"); e == nil || e.Description != "Of menders &amp; masons." || e.SourceCount != 0 || len(e.Sources) != 0 {
		t.Errorf("Guild is %+v", e)
	}
	if r := s.relation("Guild", "Mira"); r == nil || r.Weight != 3 || r.Description != "Founded it." {
		t.Errorf("relation %+v", r)
	}
	i, err := s.relationInfo("Mira", "Guild", index.InfoOptions{Statements: 9})
	if err != nil || !i.Stated || len(i.Statements) != 1 || !slices.Equal(i.Statements[0].Names, []string{"Mira", "Guild"}) || i.Statements[0].Document+i.Statements[0].Chunk != "" {
		t.Errorf("info %+v, %v", i, err)
	}
	s.put(doc("three", "E Guild|club|Meets.", "R Mira - Guild|k|Pays."))
	if e, r := s.entity("Guild"), s.relation("Guild", "Mira"); e.Description != "Of menders &amp; masons.<SEP>Meets." || r.Weight != 4 || r.SourceCount != 1 {
		t.Errorf("with a document: %+v, %+v", e, r)
	}
	s.delete("three")
	s.delete("one", "two") // the relation keeps its end
	if e := s.entity("Mira"); e == nil || e.Type != index.UnknownType || e.Description != "Founded it." {
		t.Errorf("Mira is %+v", e)
	}
	s.put(doc("one", "E Mira|person|Mends bridges.", "R Mira - Bridge|works on|She mends it."),
		doc("two", "E Mira|person|Teaches.", "R School - Mira|employs|She works there."))
	s.edited(s.DeleteRelation(ctx, "Guild", "Mira"))
	s.edited(s.DeleteEntity(ctx, "Guild"))
	s.same("deleted", before)

	// The order of statements leaves no trace.
	other := bridge(t)
	for i, x := range []*store{s, other} {
		names := []string{"P", "Q", "R", "S", "T"}
		if i > 0 {
			slices.Reverse(names)
		}
		for _, n := range names {
			x.edited(x.CreateEntity(ctx, index.NewEntity{Name: "New " + n, Description: n}))
			x.edited(x.CreateRelation(ctx, index.NewRelation{Src: "Mira", Dst: "New " + n, Description: "to " + n}))
		}
	}
	other.same("another order", s.dump())
}

// The first edit of an empty store makes what it needs.
func TestEditEmptyStore(t *testing.T) {
	s := newStore(t, index.Options{})
	if _, err := s.DeleteEntity(ctx, "Nobody"); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("delete: %v", err)
	}
	s.edited(s.CreateEntity(ctx, index.NewEntity{Name: "First", Description: "The first."}))
	s.edited(s.CreateEntity(ctx, index.NewEntity{Name: "Second", Description: "The second."}))
	s.edited(s.MergeEntities(ctx, index.Merge{Into: "First", From: []string{"Second"}}))
	if e := s.entity("First"); e == nil || e.Description != "The first.<SEP>The second." {
		t.Errorf("First is %+v", e)
	}
	s.edited(s.DeleteEntity(ctx, "Second"))
	if d := s.dump(); len(d) > 0 {
		t.Errorf("left:\n%s", strings.Join(d, "\n"))
	}
}

func TestEditErrors(t *testing.T) {
	s := bridge(t)
	s.edited(s.CreateEntity(ctx, index.NewEntity{Name: "New", Description: "d"}))
	s.edited(s.AddAlias(ctx, "Bridge", "The Span"))
	s.edited(s.DeleteEntity(ctx, "School"))
	before := s.dump()
	weight := func(f float64) index.RelationFields { return index.RelationFields{Weight: &f} }
	long := strings.Repeat("x", 65<<10)
	for name, tc := range map[string]struct {
		do    func() (index.EditResult, error)
		want  error
		field string
	}{
		"create: taken": {func() (index.EditResult, error) {
			return s.CreateEntity(ctx, index.NewEntity{Name: " “New” ", Description: "d"})
		}, index.ErrNameTaken, "name"},
		"create: taken by an alias": {func() (index.EditResult, error) {
			return s.CreateEntity(ctx, index.NewEntity{Name: "The Span", Description: "d"})
		}, index.ErrNameTaken, "name"},
		"create: no name": {func() (index.EditResult, error) {
			return s.CreateEntity(ctx, index.NewEntity{Name: "7", Description: "d"})
		}, index.ErrName, "name"},
		"create: no description": {func() (index.EditResult, error) {
			return s.CreateEntity(ctx, index.NewEntity{Name: "X1 Y", Description: " \n"})
		}, index.ErrField, "description"},
		"create: long description": {func() (index.EditResult, error) {
			return s.CreateEntity(ctx, index.NewEntity{Name: "X1 Y", Description: long})
		}, index.ErrField, "description"},
		"create: long type": {func() (index.EditResult, error) {
			return s.CreateEntity(ctx, index.NewEntity{Name: "X1 Y", Type: long, Description: "d"})
		}, index.ErrField, "type"},
		"edit: unknown": {func() (index.EditResult, error) {
			return s.EditEntity(ctx, "Nobody", index.EntityFields{Type: text("t")})
		}, kv.ErrNotFound, ""},
		"edit: blank": {func() (index.EditResult, error) {
			return s.EditEntity(ctx, "Mira", index.EntityFields{Description: text(" ")})
		}, index.ErrField, "description"},
		"edit: blank type": {func() (index.EditResult, error) {
			return s.EditEntity(ctx, "Mira", index.EntityFields{Type: text(" ")})
		}, index.ErrField, "type"},
		"edit: deleted": {func() (index.EditResult, error) {
			return s.EditEntity(ctx, "School", index.EntityFields{Type: text("t")})
		}, kv.ErrNotFound, ""},
		"rename: unknown":                {func() (index.EditResult, error) { return s.RenameEntity(ctx, "Nobody", "Somebody") }, kv.ErrNotFound, ""},
		"rename: taken":                  {func() (index.EditResult, error) { return s.RenameEntity(ctx, "Mira", "Bridge") }, index.ErrNameTaken, "new name"},
		"rename: taken by an alias":      {func() (index.EditResult, error) { return s.RenameEntity(ctx, "Mira", "The Span") }, index.ErrNameTaken, "new name"},
		"rename: taken by a deleted one": {func() (index.EditResult, error) { return s.RenameEntity(ctx, "Mira", "School") }, index.ErrNameTaken, "new name"},
		"rename: no name":                {func() (index.EditResult, error) { return s.RenameEntity(ctx, "Mira", "“ ”") }, index.ErrName, "new name"},
		"merge: nothing":                 {func() (index.EditResult, error) { return s.MergeEntities(ctx, index.Merge{Into: "Mira"}) }, index.ErrField, "from"},
		"merge: unknown": {func() (index.EditResult, error) {
			return s.MergeEntities(ctx, index.Merge{Into: "Mira", From: []string{"Bridge", "Nobody"}})
		}, kv.ErrNotFound, ""},
		"merge: into a deleted one": {func() (index.EditResult, error) {
			return s.MergeEntities(ctx, index.Merge{Into: "School", From: []string{"Bridge"}})
		}, index.ErrNameTaken, "into"},
		"merge: blank": {func() (index.EditResult, error) {
			return s.MergeEntities(ctx, index.Merge{Into: "Mira", From: []string{"Bridge"}, Set: index.EntityFields{Type: text("")}})
		}, index.ErrField, "type"},
		"alias: taken":    {func() (index.EditResult, error) { return s.AddAlias(ctx, "Mira", "New") }, index.ErrNameTaken, "alias"},
		"alias: none":     {func() (index.EditResult, error) { return s.RemoveAlias(ctx, "Mira") }, kv.ErrNotFound, ""},
		"delete: unknown": {func() (index.EditResult, error) { return s.DeleteEntity(ctx, "Nobody") }, kv.ErrNotFound, ""},
		"delete: twice":   {func() (index.EditResult, error) { return s.DeleteEntity(ctx, "School") }, kv.ErrNotFound, ""},
		"reset: unknown":  {func() (index.EditResult, error) { return s.ResetEntity(ctx, "Nobody") }, kv.ErrNotFound, ""},
		"relation: reverse exists": {func() (index.EditResult, error) {
			return s.CreateRelation(ctx, index.NewRelation{Src: "The Span", Dst: "Mira", Description: "d"})
		}, index.ErrNameTaken, ""},
		"relation: unknown end": {func() (index.EditResult, error) {
			return s.CreateRelation(ctx, index.NewRelation{Src: "Mira", Dst: "Nobody", Description: "d"})
		}, kv.ErrNotFound, "dst"},
		"relation: itself": {func() (index.EditResult, error) {
			return s.CreateRelation(ctx, index.NewRelation{Src: "The Span", Dst: "Bridge", Description: "d"})
		}, index.ErrSelfRelation, ""},
		"relation: weight": {func() (index.EditResult, error) {
			return s.CreateRelation(ctx, index.NewRelation{Src: "New", Dst: "Bridge", Description: "d", Weight: -1})
		}, index.ErrField, "weight"},
		"relation edit: unknown":        {func() (index.EditResult, error) { return s.EditRelation(ctx, "New", "Bridge", weight(2)) }, kv.ErrNotFound, ""},
		"relation edit: itself":         {func() (index.EditResult, error) { return s.EditRelation(ctx, "New", "New", weight(2)) }, index.ErrSelfRelation, ""},
		"relation edit: below evidence": {func() (index.EditResult, error) { return s.EditRelation(ctx, "Mira", "Bridge", weight(0.5)) }, index.ErrField, "weight"},
		"relation edit: not a number":   {func() (index.EditResult, error) { return s.EditRelation(ctx, "Mira", "Bridge", weight(math.NaN())) }, index.ErrField, "weight"},
		"relation edit: infinite":       {func() (index.EditResult, error) { return s.EditRelation(ctx, "Mira", "Bridge", weight(math.Inf(1))) }, index.ErrField, "weight"},
		"relation edit: blank": {func() (index.EditResult, error) {
			return s.EditRelation(ctx, "Mira", "Bridge", index.RelationFields{Description: text("")})
		}, index.ErrField, "description"},
		"relation delete: unknown":     {func() (index.EditResult, error) { return s.DeleteRelation(ctx, "New", "Bridge") }, kv.ErrNotFound, ""},
		"relation delete: deleted end": {func() (index.EditResult, error) { return s.DeleteRelation(ctx, "School", "Mira") }, kv.ErrNotFound, ""},
		"relation reset: unknown":      {func() (index.EditResult, error) { return s.ResetRelation(ctx, "New", "Bridge") }, kv.ErrNotFound, ""},
	} {
		_, err := tc.do()
		var e *index.EditError
		if !errors.Is(err, tc.want) || !errors.Is(err, index.ErrEdit) || !errors.As(err, &e) || e.Field != tc.field || e.Op == "" || len(e.Names) == 0 {
			t.Errorf("%s: %v (%+v), want %v of %q", name, err, e, tc.want, tc.field)
		}
	}
	var names []string
	for i := range index.MaxNames {
		names = append(names, fmt.Sprintf("Spare %d", i))
		s.put(doc(fmt.Sprint("spare", i), fmt.Sprintf("E Spare %d|t|d", i)))
	}
	if _, err := s.MergeEntities(ctx, index.Merge{Into: "Mira", From: names}); !errors.Is(err, index.ErrField) {
		t.Errorf("too many names: %v", err)
	}
	for i := range index.MaxNames {
		s.delete(fmt.Sprint("spare", i))
	}
	s.same("after refusals", before)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.RenameEntity(cancelled, "Mira", "X1 Y"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	s.same("after a cancelled call", before)
}

// An edit embeds and summarises outside the writer turn; what documents do meanwhile is not lost, and neither
// side is.
func TestEditMeetsDocuments(t *testing.T) {
	s := bridge(t)
	met := 0
	s.embed.before = func(texts []string) {
		if met++; met == 1 {
			s.put(doc("three", "E Mira|person|Sings.", "R Mira - Choir|in|Sings there.", "R Mira - Bridge|k|Crosses."))
		}
	}
	s.edited(s.RenameEntity(ctx, "Mira", "Mira Voss"))
	s.embed.before = nil
	if e := s.entity("Mira Voss"); s.entity("Mira") != nil || e.SourceCount != 7 || s.relation("Mira Voss", "Choir") == nil || s.relation("Mira Voss", "Bridge").SourceCount != 2 {
		t.Errorf("a document within a rename: %+v", e)
	}
	met = 0
	s.embed.before = func(texts []string) {
		if met++; met == 1 {
			s.edited(s.RenameEntity(ctx, "Mira Voss", "M. Voss"))
			s.edited(s.DeleteEntity(ctx, "Choir"))
		}
	}
	s.put(doc("four", "E Mira|person|Rows.", "R Choir - Boat|k|Rents.", "R Mira - Boat|k|Rows it."))
	s.embed.before = nil
	if e := s.entity("M. Voss"); e == nil || s.entity("Mira Voss") != nil || s.entity("Mira") != nil || e.SourceCount != 9 ||
		s.relation("M. Voss", "Boat") == nil || s.entity("Choir") != nil || s.relation("Choir", "Boat") != nil || s.entity("Boat") == nil {
		t.Errorf("edits within a document: %+v", e)
	}
	s.check()
	want := bridge(t)
	want.put(doc("three", "E Mira|person|Sings.", "R Mira - Choir|in|Sings there.", "R Mira - Bridge|k|Crosses."),
		doc("four", "E Mira|person|Rows.", "R Choir - Boat|k|Rents.", "R Mira - Boat|k|Rows it."))
	want.edited(want.RenameEntity(ctx, "Mira", "Mira Voss"))
	want.edited(want.RenameEntity(ctx, "Mira", "M. Voss"))
	want.edited(want.DeleteEntity(ctx, "Choir"))
	s.same("one after the other", want.dump())
}
