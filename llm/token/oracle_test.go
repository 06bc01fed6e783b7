package token

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/glimdb/db/internal/testkit"
)

// oracle is tiktoken-go itself over the embedded vocabularies.
var oracle = func() func(t testing.TB, name string) *tiktoken.Tiktoken {
	var mu sync.Mutex
	known := map[string]*tiktoken.Tiktoken{}
	return func(t testing.TB, name string) *tiktoken.Tiktoken {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		if known[name] == nil {
			tiktoken.SetBpeLoader(loader.NewOfflineLoader())
			enc, err := tiktoken.GetEncoding(name)
			if err != nil {
				t.Fatal(err)
			}
			known[name] = enc
		}
		return known[name]
	}
}()

func mustNew(t testing.TB, name string) *Tokenizer {
	t.Helper()
	tok, err := New(name)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// sameAsOracle checks T1 to T3 for one valid text.
func sameAsOracle(t *testing.T, tok *Tokenizer, text string) {
	t.Helper()
	want := oracle(t, tok.ID()).EncodeOrdinary(text)
	got := tok.Encode(nil, text)
	if !slices.Equal(got, want) {
		i := 0
		for i < min(len(got), len(want)) && got[i] == want[i] {
			i++
		}
		t.Fatalf("%s: ids differ from tiktoken-go at token %d of %d (%d) of %q", tok.ID(), i, len(want), len(got), around(tok, got, i, text))
	}
	if n := tok.Count(text); n != len(want) {
		t.Fatalf("%s: Count = %d, want %d", tok.ID(), n, len(want))
	}
	if back := string(tok.Decode(got)); back != text {
		t.Fatalf("%s: Decode(Encode(x)) != x for %.100q", tok.ID(), text)
	}
}

func around(tok *Tokenizer, ids []int, i int, text string) string {
	at := len(tok.Decode(ids[:min(i, len(ids))]))
	return text[max(0, at-20):min(len(text), at+40)]
}

func TestRealTextsEqualTiktoken(t *testing.T) {
	var files []string
	for _, set := range []string{"a-christmas-carol", "lightrag-ollama-zh/inputs", "messy-docs"} {
		dir := testkit.Data(t, set)
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	// tiktoken-go needs a second a megabyte: whole files are for the default encoding, their beginnings
	// for the others.
	const whole, beginning = 1 << 18, 1 << 13
	for _, name := range Encodings() {
		t.Run(name, func(t *testing.T) {
			tok := mustNew(t, name)
			for _, file := range files {
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				limit := beginning
				if name == DefaultEncoding && !testing.Short() {
					limit = whole
				}
				text := strings.ToValidUTF8(string(data[:min(len(data), limit)]), "\uFFFD")
				sameAsOracle(t, tok, text)
			}
		})
	}
}

// Every character of the table and a few beyond, in the surroundings that the patterns look at.
func TestEveryCharacterEqualsTiktoken(t *testing.T) {
	for _, name := range []string{O200kBase, Cl100kBase, R50kBase} {
		t.Run(name, func(t *testing.T) {
			tok := mustNew(t, name)
			step := rune(1)
			if testing.Short() || name != DefaultEncoding {
				step = 17
			}
			var sb strings.Builder
			flush := func() {
				sameAsOracle(t, tok, sb.String())
				sb.Reset()
			}
			add := func(r rune) {
				if !utf8.ValidRune(r) {
					return
				}
				sb.WriteString("aB" + string(r) + "'S " + string(r) + "\n1" + string(r) + " x")
				if sb.Len() > 1<<14 {
					flush()
				}
			}
			for r := rune(0); r < 0x3400; r += step {
				add(r)
			}
			// Past the scripts with letter case and marks, ranges are wide: sample them.
			for r := rune(0x3400); r < 0x10FFFF; r += 97 * step {
				add(r)
			}
			for r := rune(0xA000); r < 0x20000; r += 5 * step {
				add(r)
			}
			for r := rune(0xE0100); r < 0xE01F0; r += step {
				add(r)
			}
			flush()
		})
	}
}

// atoms are what the patterns tell apart.
var atoms = []string{
	" ", "  ", "\t", "\n", "\r\n", "\r", "\u00a0", "\u3000", "\u2028", "\v", "a", "b", "the", "Z", "AB", "Dž", "ʰ", "ª", "中", "漢字", "ひ", "の", "한국",
	"é", "e\u0301", "\u0301", "\u0301\u0302", "\u0e33", "ß", "Ω", "я", "Ж", "1", "22", "333", "4444", "٣", "Ⅷ", "½", "'", "'s", "'S", "'ll", "'RE", "'t", "'d", "'ſ", "’s",
	".", ",", "/", "//", "\n/", "!", "...", "^", "^^^^", "-", "—", "😀", "👨‍👩‍👧‍👦", "🇫🇷", "\ufe0f", "\u200d", "\ufeff", "\ufffd", "\x00", "\x1b[31m", "<|endoftext|>", "<|fim_prefix|>", "<|", "|>",
	"https://example.org/a?b=c", "camelCaseWord", "ALLCAPS", "don't", "I'M", "QUJDREVG", "==", "\U000e0101", "\U00020000", "𝔸", "ⓐ", "Å", "ﬁ",
}

func randomText(r *rand.Rand, n int) string {
	var sb strings.Builder
	for range n {
		s := atoms[r.IntN(len(atoms))]
		if r.IntN(8) == 0 {
			s = strings.Repeat(s, 1+r.IntN(40))
		}
		sb.WriteString(s)
	}
	return sb.String()
}

func TestRandomTextsEqualTiktoken(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	rounds := 600
	if testing.Short() {
		rounds = 60
	}
	for _, name := range Encodings() {
		t.Run(name, func(t *testing.T) {
			tok := mustNew(t, name)
			for range rounds {
				sameAsOracle(t, tok, randomText(r, r.IntN(40)))
			}
		})
	}
}

// Long pre-tokens take the other merge: it must not be told from the short one by its result.
func TestLongRunsEqualTiktoken(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	letters := func(n int, from string) string {
		runes := []rune(from)
		var sb strings.Builder
		for range n {
			sb.WriteRune(runes[r.IntN(len(runes))])
		}
		return sb.String()
	}
	texts := map[string]string{
		"one Han character": strings.Repeat("的", 1500),
		"Han":               letters(1500, "的一是不了人我在有他这为之大来以个中上们"),
		"lower":             letters(4000, "etaoinshrdlu"),
		"base64":            letters(4000, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
		"carets":            strings.Repeat("^", 4000),
		"marks":             "a" + strings.Repeat("\u0301", 1500),
		"spaces":            strings.Repeat(" ", 3000) + "x",
		"newlines":          strings.Repeat("\n", 3000),
		"digits":            strings.Repeat("7", 3000),
		"largest":           letters(maxPiece, "ab"),
		"border":            strings.Repeat("x", smallPiece) + " " + strings.Repeat("x", smallPiece+1),
	}
	for _, name := range []string{O200kBase, Cl100kBase, R50kBase} {
		tok := mustNew(t, name)
		for what, text := range texts {
			t.Run(name+"/"+what, func(t *testing.T) { sameAsOracle(t, tok, text) })
		}
	}
}

// Beyond maxPiece the tokens are those of the pieces: characters stay whole and the count close to exact.
func TestCutPreTokens(t *testing.T) {
	tok := Default()
	for _, unit := range []string{"的", "x", "\u0301", "^", "\xe4"} {
		text := strings.Repeat(unit, 3*maxPiece/len(unit)+1)
		var want int
		for rest := text; len(rest) > 0; {
			n := cutPiece(rest)
			if utf8.ValidString(text) != utf8.ValidString(rest[:n]) {
				t.Fatalf("%q is cut inside a character", unit)
			}
			want += tok.Count(rest[:n])
			rest = rest[n:]
		}
		if got := tok.Count(text); got != want {
			t.Errorf("%q: %d tokens, the pieces have %d", unit, got, want)
		}
		if ids := tok.Encode(nil, text); len(ids) != want || string(tok.Decode(ids)) != text {
			t.Errorf("%q: no round trip", unit)
		}
	}
}
