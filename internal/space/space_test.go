package space

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/codec"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden file")

// The prefixes are on disk: a difference here is a change of format.
func TestGolden(t *testing.T) {
	var b strings.Builder
	for _, i := range All() {
		prefix := In("ws", i.Space)
		if i.Global {
			prefix = Key(i.Space)
		}
		fmt.Fprintf(&b, "%-12s %-12s global=%-5v since=%d %s\n", i.Name, i.Owner, i.Global, i.Since, hex.EncodeToString(prefix))
	}
	golden := filepath.Join("testdata", "spaces.golden")
	if *rewrite {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("spaces are\n%swant\n%s", b.String(), want)
	}
}

func TestS1_BytesAreDistinct(t *testing.T) {
	type scope struct {
		global bool
		space  Space
	}
	seen := map[scope]string{}
	for _, i := range All() {
		k := scope{i.Global, i.Space}
		if other, ok := seen[k]; ok {
			t.Errorf("%s and %s share the byte %q", i.Name, other, i.Space)
		}
		seen[k] = i.Name
		if i.Name == "" || i.Owner == "" || i.Since < 1 {
			t.Errorf("incomplete: %+v", i)
		}
	}
	All()[0].Name = "changed"
	if All()[0].Name == "changed" {
		t.Error("a caller can change the table")
	}
}

// S2: the keys of a workspace lie within its bounds and outside those of every other one.
func TestS2_WorkspacesDoNotMix(t *testing.T) {
	names := []string{"", "\x00", "\x00\x01", "a", "a\x00", "ab", "a\xff", "\xff\xff"}
	for _, ws := range names {
		lower := Prefix(ws)
		upper := codec.PrefixEnd(lower)
		for _, other := range names {
			for _, i := range All() {
				for _, rest := range []string{"", "\x00", "\xff\xff"} {
					k := append(In(other, i.Space), rest...)
					if i.Global {
						k = append(Key(i.Space), rest...)
					}
					inside := bytes.Compare(k, lower) >= 0 && bytes.Compare(k, upper) < 0
					if want := other == ws && !i.Global; inside != want {
						t.Errorf("key %q of workspace %q within %q: %v", k, other, ws, inside)
					}
				}
			}
		}
	}
}

// FuzzWorkspaceOf reads arbitrary keys: no panic; a key that is accepted lies in the workspace that is named.
func FuzzWorkspaceOf(f *testing.F) {
	for _, ws := range []string{"", "ws", "a\x00b", "\xff"} {
		f.Add(In(ws, Graph))
	}
	f.Add(Key(LSN))
	f.Add([]byte{workspace, 'a', 0})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, key []byte) {
		ws, err := WorkspaceOf(key)
		if err != nil {
			if !errors.Is(err, codec.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if !bytes.HasPrefix(key, Prefix(ws)) {
			t.Fatalf("key %x is not in workspace %q", key, ws)
		}
	})
}
