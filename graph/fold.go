package graph

import (
	"fmt"
	"hash/fnv"
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
// It costs one look-up a spelling, in batches, and reads no name that is not alike, hash collisions aside.
func (g *Graph) NamesAlike(r kv.Reader, spellings []string) ([][]string, error) {
	folds := make([]string, len(spellings))
	keys := make([][]byte, len(spellings))
	for i, s := range spellings {
		folds[i] = Fold(s)
		keys[i] = g.foldKey(folds[i], "")
	}
	lists, err := r.ScanMany(keys, MaxAlike)
	if err != nil {
		return nil, fmt.Errorf("graph: names alike: %w", err)
	}
	out := make([][]string, len(spellings))
	for i, list := range lists {
		for _, p := range list {
			if name := string(p.Key); Fold(name) == folds[i] {
				out[i] = append(out[i], name)
			}
		}
	}
	return out, nil
}
