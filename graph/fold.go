package graph

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/kv"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// MaxAlike bounds the names that NamesAlike returns for one spelling.
const MaxAlike = 16

// Fold returns the form in which names that differ in letter case, in the width of their characters, in
// composition or in the length of their blanks only are equal. Accents count.
func Fold(name string) string {
	ascii := true
	for i := 0; i < len(name) && ascii; i++ {
		ascii = name[i] < utf8.RuneSelf
	}
	if ascii {
		name = strings.ToLower(name)
	} else {
		name = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(name)))
		name = strings.ReplaceAll(name, "’", "'")
	}
	if name == "" || !strings.ContainsFunc(name, unicode.IsSpace) {
		return name
	}
	return strings.Join(strings.Fields(name), " ")
}

// foldKey is the key under which a name is found in any spelling. The fold is hashed: it may be longer than
// a key, and only equality is asked for.
func (g *Graph) foldKey(fold, name string) []byte {
	h := fnv.New64a()
	h.Write([]byte(fold))
	return append(codec.AppendKeyUint64(g.key(kindFold, foldBytes+len(name)), h.Sum64()), name...)
}

// foldBytes is the length of a hash in a key.
const foldBytes = 8

// NamesAlike returns for each spelling the names of nodes with the same Fold, in byte order, at most MaxAlike.
// It costs one seek a spelling and reads no name that is not alike, hash collisions aside.
func (g *Graph) NamesAlike(r kv.Reader, spellings []string) ([][]string, error) {
	type wanted struct {
		key  []byte
		fold string
		at   int
	}
	want := make([]wanted, len(spellings))
	for i, s := range spellings {
		fold := Fold(s)
		want[i] = wanted{g.foldKey(fold, ""), fold, i}
	}
	slices.SortFunc(want, func(x, y wanted) int { return cmp.Or(bytes.Compare(x.key, y.key), cmp.Compare(x.at, y.at)) })
	c, err := g.cursor(r, kindFold)
	if err != nil {
		return nil, fmt.Errorf("graph: names alike: %w", err)
	}
	defer c.Close()
	out := make([][]string, len(spellings))
	for i, w := range want {
		if i > 0 && want[i-1].fold == w.fold {
			out[w.at] = out[want[i-1].at]
			continue
		}
		for ok := c.SeekGE(w.key); ok && bytes.HasPrefix(c.Key(), w.key) && len(out[w.at]) < MaxAlike; ok = c.Next() {
			if name := string(c.Key()[len(w.key):]); Fold(name) == w.fold {
				out[w.at] = append(out[w.at], name)
			}
		}
	}
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("graph: names alike: %w", err)
	}
	return out, nil
}
