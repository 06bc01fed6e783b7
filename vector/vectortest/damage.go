package vectortest

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/vector"
)

// damages are what may happen to a stored value; nil is that it is missing.
var damages = []struct {
	name string
	to   func(value []byte) []byte
}{
	{"missing", func([]byte) []byte { return nil }},
	{"empty", func([]byte) []byte { return []byte{} }},
	{"cut", func(v []byte) []byte { return v[:len(v)/2] }},
	{"longer", func(v []byte) []byte { return append(slices.Clone(v), 0) }},
	{"first byte flipped", flipped(func(int) int { return 0 })},
	{"byte flipped", flipped(func(n int) int { return n / 2 })},
	{"last byte flipped", flipped(func(n int) int { return n - 1 })},
}

func flipped(at func(n int) int) func(v []byte) []byte {
	return func(v []byte) []byte {
		v = slices.Clone(v)
		v[at(len(v))] ^= 1
		return v
	}
}

// Damage to any value that the index saved, or the loss of it, is noticed, told, and costs only work: searches
// are right before and after the index has been made again. Of each kind of key, which is the byte behind the
// collection's prefix, the first and the last are damaged.
func (u Suite) damage(t *testing.T) {
	disk := testkit.NewCrashFS(1)
	s := &vectorkit.Store{T: t, FS: disk, Options: u.saving()}
	s.Open()
	c, m := s.Create("v", vector.Config{Dim: 4, M: 8, EfConstruction: 16}), vectorkit.Model{}
	n := vectorkit.Scaled(400)
	s.Fill(c, m, 0, n)
	s.Settle()
	s.Fill(c, m, n, 10)
	s.Settle()
	s.Delete(c, m, vectorkit.Every(0, 9, 1))
	s.Settle()
	keys := savedKeys(s)
	s.Close()
	if len(keys) == 0 {
		t.Fatal("nothing is saved")
	}
	for i, key := range keys {
		for _, damage := range damages {
			t.Run(fmt.Sprintf("%c%d/%s", key[indexPrefixLen], i, damage.name), func(t *testing.T) {
				s := &vectorkit.Store{T: t, FS: disk.Clone(1)}
				s.Options.ExactBytes = vectorkit.IndexAlways // and no index, which would save itself
				s.Open()
				s.Write(func(b *kv.Batch) error {
					value, err := b.Get(key)
					if err != nil {
						return err
					}
					if value = damage.to(value); value == nil {
						return b.Delete(key)
					}
					return b.Set(key, value)
				})
				s.Close()
				rebuilt(s, u.saving(), m)
			})
		}
	}
}

// rebuilt opens a store whose index is damaged.
func rebuilt(s *vectorkit.Store, o vector.SetOptions, m vectorkit.Model) {
	s.T.Helper()
	var warnings bytes.Buffer
	var loads loads
	s.Options = loads.of(o)
	s.Options.Logger = slog.New(slog.NewTextHandler(&warnings, nil))
	s.Open()
	if loads.n != 1 || loads.found > 0 || loads.err != nil && !errors.Is(loads.err, kv.ErrCorrupt) {
		s.T.Errorf("%d loads, of %d vectors: %v", loads.n, loads.found, loads.err)
	}
	s.Holds(m)
	s.Settle()
	s.Holds(m)
	s.Check()
	if got := s.Collection("v").Stats().Index.Nodes; got != len(m) {
		s.T.Errorf("%d nodes for %d vectors", got, len(m))
	}
	s.Close()
	if told := strings.Contains(warnings.String(), "cannot be used"); told != (loads.err != nil) {
		s.T.Errorf("the index is found damaged: %v; told: %q", loads.err, warnings.String())
	}
	s.Open()
	if loads.n != 2 || loads.found < len(m) || loads.err != nil {
		s.T.Errorf("made again: %d loads, of %d vectors: %v", loads.n, loads.found, loads.err)
	}
	s.Check()
	s.Close()
}

// loads is what the indexes of a set found when it was opened.
type loads struct {
	n, found int
	err      error
}

// of returns options whose indexes tell what they load.
func (l *loads) of(o vector.SetOptions) vector.SetOptions {
	inner := o.NewIndex
	o.NewIndex = func(io vector.IndexOptions) vector.Index { return &loading{inner(io), l} }
	return o
}

type loading struct {
	vector.Index
	to *loads
}

func (l *loading) Load(r kv.Reader) ([]uint64, uint64, error) {
	ordinals, fed, err := l.Index.Load(r)
	l.to.n, l.to.found, l.to.err = l.to.n+1, len(ordinals), err
	return ordinals, fed, err
}

// indexPrefixLen is the length of what begins the keys of an index: the space, and the collection's number.
var indexPrefixLen = len(space.In("", space.HNSW)) + 8

// savedKeys are the first and the last key of each kind that the only index of s has saved.
func savedKeys(s *vectorkit.Store) (keys [][]byte) {
	s.T.Helper()
	snap := s.View()
	defer snap.Close()
	prefix := space.In("", space.HNSW)
	cur, err := snap.Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		s.T.Fatal(err)
	}
	for cur.Next() {
		n, key := len(keys), slices.Clone(cur.Key())
		if n > 1 && keys[n-1][indexPrefixLen] == key[indexPrefixLen] && keys[n-2][indexPrefixLen] == key[indexPrefixLen] {
			keys[n-1] = key
			continue
		}
		keys = append(keys, key)
	}
	if err := errors.Join(cur.Err(), cur.Close()); err != nil {
		s.T.Fatal(err)
	}
	return keys
}
