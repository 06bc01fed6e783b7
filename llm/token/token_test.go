package token

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/llm"
)

var _ llm.Tokenizer = (*Tokenizer)(nil)

func TestKnownEncodings(t *testing.T) {
	for name, want := range map[string][]int{
		O200kBase:  {13225, 11, 2375, 0},
		Cl100kBase: {9906, 11, 1917, 0},
		P50kBase:   {15496, 11, 995, 0},
		R50kBase:   {15496, 11, 995, 0},
	} {
		if got := mustNew(t, name).Encode(nil, "Hello, world!"); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if tok := mustNew(t, ""); tok.ID() != DefaultEncoding || Default().ID() != DefaultEncoding {
		t.Errorf("the default is %q", tok.ID())
	}
}

func TestUnknownEncoding(t *testing.T) {
	_, err := New("o200k")
	var typed *EncodingError
	if !errors.Is(err, ErrEncoding) || !errors.As(err, &typed) || typed.Name != "o200k" {
		t.Fatalf("error %v", err)
	}
	if !strings.Contains(err.Error(), O200kBase) {
		t.Errorf("the error does not say what there is: %v", err)
	}
}

func TestEncodeAppends(t *testing.T) {
	tok := Default()
	got := tok.Encode([]int{-1}, "Hello")
	if !slices.Equal(got, []int{-1, 13225}) {
		t.Fatalf("%v", got)
	}
}

func TestSpecialTokensAreText(t *testing.T) {
	for _, name := range Encodings() {
		tok := mustNew(t, name)
		for _, text := range []string{"<|endoftext|>", "a <|endofprompt|> b", "<|fim_prefix|>"} {
			ids := tok.Encode(nil, text)
			if len(ids) < 3 || string(tok.Decode(ids)) != text {
				t.Errorf("%s: %q became %v", name, text, ids)
			}
		}
	}
}

func TestDecodeOfOddIDs(t *testing.T) {
	if got := Default().Decode([]int{-1, 1 << 40, 199999, 200018, 13225}); string(got) != "Hello" {
		t.Fatalf("%q", got)
	}
}

// Every window of a token sequence decodes to the bytes between, even inside a character.
func TestDecodeOfWindows(t *testing.T) {
	tok := Default()
	text := "\ufeffA 👨‍👩‍👧‍👦 family, 鰯の頭 and ậ.\r\n"
	ids := tok.Encode(nil, text)
	var joined []byte
	for _, id := range ids {
		joined = append(joined, tok.Decode([]int{id})...)
	}
	if string(joined) != text {
		t.Fatalf("%q", joined)
	}
	for i := range ids {
		if got := tok.Decode(ids[i:]); !bytes.HasSuffix([]byte(text), got) {
			t.Fatalf("tokens from %d on: %q", i, got)
		}
	}
}

// The chunk sizes that a real run recorded: windows of 1,200 tokens at steps of 1,100 over the whole book.
func TestRecordedChunks(t *testing.T) {
	dir := testkit.Data(t, "lightrag-carol")
	var docs map[string]struct{ Content string }
	var chunks map[string]struct {
		Tokens  int
		Content string
		Order   int `json:"chunk_order_index"`
	}
	read := func(name string, to any) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, to); err != nil {
			t.Fatal(err)
		}
	}
	read("kv_store_full_docs.json", &docs)
	read("kv_store_text_chunks.json", &chunks)
	if len(docs) != 1 || len(chunks) != 42 {
		t.Fatalf("%d documents, %d chunks", len(docs), len(chunks))
	}
	tok := Default()
	for _, doc := range docs {
		ids := tok.Encode(nil, doc.Content)
		for id, c := range chunks {
			const size, step = 1200, 1100
			start := c.Order * step
			window := ids[start:min(start+size, len(ids))]
			if len(window) != c.Tokens {
				t.Errorf("%s: %d tokens, recorded %d", id, len(window), c.Tokens)
			}
			if got := strings.TrimSpace(string(tok.Decode(window))); got != c.Content {
				t.Errorf("%s: another text than recorded", id)
			}
		}
	}
}

// The first use happens in many goroutines at once.
func TestConcurrentUse(t *testing.T) {
	const text = "Concurrent 漢字 use, don't race.\n\n"
	long := strings.Repeat("的", 700)
	tok := mustNew(t, P50kBase)
	want := oracle(t, P50kBase).EncodeOrdinary(text + long)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if got := tok.Encode(nil, text+long); !slices.Equal(got, want) || tok.Count(text+long) != len(want) {
					t.Error("another result than alone")
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestAllocations(t *testing.T) {
	tok := Default()
	text := strings.Repeat("The lantern bridge was rebuilt in 1907; 提灯橋, supercalifragilistic. ", 50)
	ids := tok.Encode(nil, text)
	if n := testing.AllocsPerRun(20, func() { tok.Count(text) }); n != 0 {
		t.Errorf("Count: %v allocations", n)
	}
	if n := testing.AllocsPerRun(20, func() { ids = tok.Encode(ids[:0], text) }); n != 0 {
		t.Errorf("Encode into a slice that is large enough: %v allocations", n)
	}
	if n := testing.AllocsPerRun(20, func() { tok.Decode(ids) }); n != 1 {
		t.Errorf("Decode: %v allocations", n)
	}
}

// refuse is a transport that no call may reach.
type refuse struct{ t *testing.T }

func (r refuse) RoundTrip(req *http.Request) (*http.Response, error) {
	r.t.Errorf("a request to %s", req.URL)
	return nil, errors.New("no network in this test")
}

// Nothing outside the program is needed: a child process with an empty home, no cache and no network gets the
// same tokens.
func TestHC24_Offline(t *testing.T) {
	const childEnv = "GLIM_TOKEN_OFFLINE_CHILD"
	if os.Getenv(childEnv) != "" {
		http.DefaultTransport = refuse{t}
		for _, name := range Encodings() {
			if n := mustNew(t, name).Count("Hello, world!"); n != 4 {
				t.Errorf("%s: %d tokens", name, n)
			}
		}
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	cmd := exec.Command(self, "-test.run", "^TestHC24_Offline$")
	cmd.Dir = home
	cmd.Env = []string{childEnv + "=1", "HOME=" + home, "XDG_CACHE_HOME=" + home, "TMPDIR=" + home, "TIKTOKEN_CACHE_DIR=" + home,
		"HTTP_PROXY=http://127.0.0.1:1", "HTTPS_PROXY=http://127.0.0.1:1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	left, err := os.ReadDir(home)
	if err != nil || len(left) > 0 {
		t.Errorf("files left behind: %v, %v", left, err)
	}
}

func TestBrokenVocabularies(t *testing.T) {
	for what, data := range map[string]string{
		"empty":        "",
		"no rank":      "QQ==\n",
		"bad base64":   "Q 0\n",
		"bad rank":     "QQ== x\n",
		"falling rank": "QQ== 1\nQg== 0\n",
		"huge rank":    "QQ== 2000000000\n",
		"bytes absent": "QQ== 0\n",
	} {
		if _, err := parseVocabulary([]byte(data)); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// FuzzRoundTrip holds T1 and T2 for any bytes, and T3 for those that are UTF-8.
func FuzzRoundTrip(f *testing.F) {
	for _, s := range []string{
		"", "a", "\xff", "\xff\xfe end", "Pump\x00 A\x01 \xff\xfe end", "\xe4\xbd", "\xe4\xbd\xa0\xe4", "\xf0\x9f\x91", "中A中", "\u0301ABC", "\u0301 ABC's",
		"  \n  x", "   ", " \u00a0x", "'S'll", "//\n/", " /", "^^^^^^", "x\xc0\x80y", "\xed\xa0\x80", strings.Repeat("\xe4", 300), strings.Repeat("的", 100) + "\xff",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{O200kBase, Cl100kBase, R50kBase} {
			tok := mustNew(t, name)
			ids := tok.Encode(nil, text)
			if got := string(tok.Decode(ids)); got != text {
				t.Fatalf("%s: %q came back as %q", name, text, got)
			}
			if n := tok.Count(text); n != len(ids) {
				t.Fatalf("%s: Count %d, %d ids", name, n, len(ids))
			}
			if len(text) < 2000 && strings.ToValidUTF8(text, "") == text {
				sameAsOracle(t, tok, text)
			}
		}
	})
}
