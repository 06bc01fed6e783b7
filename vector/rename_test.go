package vector

import (
	"errors"
	"testing"

	"github.com/glimdb/db/kv"
)

// A collection takes the place of another in one commit: views before it show the old one, whole, views after it the
// new one, and so does the set that is opened next.
func TestRenameTakesThePlaceOfAnother(t *testing.T) {
	s := open(t, SetOptions{})
	create := func(name, model string, dim int, id string) {
		t.Helper()
		s.must(func(b *kv.Batch) error {
			c, err := s.set.Create(b, "", name, Config{Dim: dim, Model: model})
			if err != nil {
				return err
			}
			v := make([]float32, dim)
			v[0] = 1
			return c.Put(b, id, v)
		})
	}
	shows := func(r kv.Reader, name, model, id string) {
		t.Helper()
		c, err := s.set.Collection(r, "", name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		found, err := c.Search(t.Context(), r, make1(c.Config().Dim), SearchOptions{K: 5})
		if err != nil || c.Config().Model != model || len(found) != 1 || found[0].ID != id {
			t.Fatalf("%s is %v with %v, %v; want %s of %s", name, c.Config(), found, err, id, model)
		}
	}
	absent := func(r kv.Reader, name string) {
		t.Helper()
		if _, err := s.set.Collection(r, "", name); !errors.Is(err, kv.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
	create("live", "m1", 2, "old")
	create("next", "m2", 3, "new")
	before := s.view()
	defer before.Close()

	// A batch that is dropped leaves everything as it was.
	broken := errors.New("broken")
	err := s.update(func(b *kv.Batch) error {
		return errors.Join(s.set.Drop(b, "", "live"), s.set.Rename(b, "", "next", "live"), broken)
	})
	if !errors.Is(err, broken) {
		t.Fatal(err)
	}
	now := s.view()
	shows(now, "live", "m1", "old")
	shows(now, "next", "m2", "new")
	now.Close()

	var taken *ParameterError
	if err := s.update(func(b *kv.Batch) error { return s.set.Rename(b, "", "next", "live") }); !errors.As(err, &taken) || taken.Field != "to" {
		t.Errorf("a name that is taken: %v", err)
	}
	if err := s.update(func(b *kv.Batch) error { return s.set.Rename(b, "", "none", "other") }); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("no collection: %v", err)
	}

	s.must(func(b *kv.Batch) error {
		if err := errors.Join(s.set.Drop(b, "", "live"), s.set.Rename(b, "", "next", "live")); err != nil {
			return err
		}
		shows(b, "live", "m2", "new")
		absent(b, "next")
		return nil
	})
	after := s.view()
	defer after.Close()
	shows(before, "live", "m1", "old")
	shows(before, "next", "m2", "new")
	shows(after, "live", "m2", "new")
	absent(after, "next")
	if c := s.named("live"); c.Name() != "live" {
		t.Errorf("its name is %q", c.Name())
	}

	// The name that became free can be given again, and back.
	create("next", "m3", 4, "third")
	latest := s.view()
	defer latest.Close()
	shows(latest, "next", "m3", "third")
	shows(before, "next", "m2", "new")
	absent(after, "next")
	s.must(func(b *kv.Batch) error {
		return errors.Join(s.set.Rename(b, "", "live", "tmp"), s.set.Rename(b, "", "next", "live"), s.set.Rename(b, "", "tmp", "next"))
	})
	last := s.view()
	shows(last, "live", "m3", "third")
	shows(last, "next", "m2", "new")
	last.Close()
	s.must(func(b *kv.Batch) error { // what is renamed can be written, and dropped
		c, err := s.set.Collection(b, "", "live")
		if err != nil {
			return err
		}
		return errors.Join(c.Delete(b, "third"), c.Put(b, "fourth", make1(4)), s.set.Drop(b, "", "next"))
	})
	for _, v := range []*kv.Snapshot{before, after, latest} {
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s.reopen()
	last = s.view()
	defer last.Close()
	shows(last, "live", "m3", "fourth")
	absent(last, "next")
}

// make1 is the first unit vector.
func make1(dim int) []float32 {
	v := make([]float32, dim)
	v[0] = 1
	return v
}
