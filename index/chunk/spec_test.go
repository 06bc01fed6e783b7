package chunk_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/index/chunk/chunktest"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/llm/token"
)

// hashed embeds a text by a hash of it: deterministic, and without any meaning.
func hashed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		h := fnv.New64a()
		h.Write([]byte(t))
		v := h.Sum64()
		out[i] = []float32{float32(v&0xffff) - 32768, float32(v>>16&0xffff) - 32768, float32(v>>32&0xffff) - 32768}
	}
	return out, nil
}

func build(t testing.TB, s chunk.Spec, tok llm.Tokenizer) chunk.Chunker {
	t.Helper()
	c, err := chunk.New(s, tok, hashed)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// specs are one or more of every method, at a size.
func specs(size int) []chunk.Spec {
	return []chunk.Spec{
		{Size: size, Overlap: -1},
		{Size: size, Overlap: size / 3, SkipContained: true},
		{Method: chunk.Recursive, Size: size},
		{Method: chunk.Recursive, Size: size, Overlap: min(size-1, 31), LeadingPunctuation: true},
		{Method: chunk.Recursive, Size: size, Separators: []string{"\n", "."}},
		{Method: chunk.Semantic, Size: size, Threshold: chunk.Percentile, Amount: 50},
		{Method: chunk.Semantic, Size: size, Threshold: chunk.StandardDeviation, Amount: 0.5, Buffer: -1, MinCharacters: 30},
		{Method: chunk.Semantic, Size: size, Threshold: chunk.Interquartile, Amount: 0.1},
		{Method: chunk.Semantic, Size: size, Threshold: chunk.Gradient, Chunks: 5},
		{Method: chunk.Markdown, Size: size},
		{Method: chunk.Markdown, Size: size, Overlap: -1},
	}
}

func TestConformanceOfMethods(t *testing.T) {
	for _, size := range []int{32, 400} {
		for _, s := range specs(size) {
			if testing.Short() && size > 32 {
				continue
			}
			t.Run(s.String(), func(t *testing.T) {
				tok := token.Default()
				chunktest.Run(t, build(t, s, tok), chunktest.Want{Covered: true, MaxTokens: size + size/400, Tokenizer: tok})
				if size == 32 {
					chunktest.Run(t, build(t, s, octets{}), chunktest.Want{Covered: true, MaxTokens: size, Tokenizer: octets{}})
				}
			})
		}
	}
}

func FuzzMethods(f *testing.F) {
	for _, text := range chunktest.Texts() {
		if len(text) < 2000 {
			f.Add(text, uint8(40))
		}
	}
	for _, text := range chunktest.Random(7, 20) {
		f.Add(text, uint8(11))
	}
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		text = strings.ToValidUTF8(text, "\uFFFD") // as what documents are read from delivers
		most := max(8, int(size))                  // characters of 4 bytes fit
		for _, s := range specs(most) {
			chunktest.Check(t, build(t, s, octets{}), chunktest.Want{Covered: true, MaxTokens: most, Tokenizer: octets{}}, text)
		}
	})
}

// TestRecursiveGolden has what the reference gives for one token a character.
func TestRecursiveGolden(t *testing.T) {
	for _, tc := range []struct {
		text          string
		size, overlap int
		want          []string
	}{
		{"aaaa\n\nbbbb\n\ncccc", 10, -1, []string{"aaaa\n\nbbbb", "cccc"}},
		{"aaaa\n\nbbbb\n\ncccc", 12, 6, []string{"aaaa\n\nbbbb", "bbbb\n\ncccc"}},
		{"aaaa\n\nbbbb\n\ncccc", 5, -1, []string{"aaaa", "bbbb", "cccc"}},
		{"今天天气好。我们去公园！你来吗？来，一起走吧。", 8, -1, []string{"今天天气好", "。我们去公园", "！你来吗", "？来，一起走吧", "。"}},
		{"今天天气好。我们去公园！你来吗？来，一起走吧。", 8, 3, []string{"今天天气好", "。我们去公园", "！你来吗", "？来，一起走吧", "。"}},
		{"one two three four five", 9, 4, []string{"one two", "three", "four", "five"}},
		{"abcdefghij", 4, 1, []string{"abcd", "defg", "ghij"}},
		{" \n ", 4, 1, nil},
	} {
		c := build(t, chunk.Spec{Method: chunk.Recursive, Size: tc.size, Overlap: tc.overlap, LeadingPunctuation: true}, runes{})
		if got := texts(tc.text, split(t, c, tc.text)); !slices.Equal(got, tc.want) {
			t.Errorf("%q %d/%d: got %q, want %q", tc.text, tc.size, tc.overlap, got, tc.want)
		}
	}
	// The reference leaves a piece whole that no separator divides; here it is cut all the same.
	c := build(t, chunk.Spec{Method: chunk.Recursive, Size: 4, Overlap: -1, Separators: []string{"\n\n", " "}}, runes{})
	if got := texts("abcdefghij", split(t, c, "abcdefghij")); !slices.Equal(got, []string{"abcd", "efgh", "ij"}) {
		t.Errorf("got %q", got)
	}
}

func TestRecursivePunctuationStays(t *testing.T) {
	text := "今天天气好。我们去公园！你来吗？来，一起走吧。"
	c := build(t, chunk.Spec{Method: chunk.Recursive, Size: 8, Overlap: -1}, runes{})
	want := []string{"今天天气好。", "我们去公园！", "你来吗？", "来，一起走吧。"}
	if got := texts(text, split(t, c, text)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	// Characters that a reader sees as one are not parted while there is another place to cut.
	families := strings.Repeat("👨‍👩‍👧‍👦e\u0301", 6)
	for _, s := range split(t, build(t, chunk.Spec{Method: chunk.Recursive, Size: 10, Overlap: -1}, runes{}), families) {
		if got := strings.Trim(strings.ReplaceAll(s.Text(families), "👨‍👩‍👧‍👦", ""), "e\u0301"); got != "" {
			t.Errorf("a family was parted: %q", s.Text(families))
		}
	}
}

// counting tells how often the whole of a long text is counted.
type counting struct {
	runes
	bytes *int
}

func (c counting) Count(text string) int {
	*c.bytes += len(text)
	return c.runes.Count(text)
}

func TestRecursiveCountsEachLevelOnce(t *testing.T) {
	text := "\n\n" + strings.Repeat("word ", 2000) // a separator that occurs and does not divide it
	n := 0
	c := build(t, chunk.Spec{Method: chunk.Recursive, Size: 100}, counting{bytes: &n})
	split(t, c, text)
	if n > 5*len(text) { // pieces, chunks with overlap, and the check of them
		t.Errorf("%d bytes counted of a text of %d", n, len(text))
	}
}

// topics embeds a text by the words in it that name a topic.
func topics(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = []float32{float32(strings.Count(t, "bread")), float32(strings.Count(t, "light")), 0.01}
	}
	return out, nil
}

func TestSemanticBreaks(t *testing.T) {
	text := "We bake bread. Good bread takes time! Is the bread done? The light is old. A light needs oil。The light turns. More bread then."
	for _, tc := range []struct {
		name string
		spec chunk.Spec
		want []int // sentences of each chunk
	}{
		{"percentile", chunk.Spec{Amount: 70}, []int{3, 3, 1}},
		{"three chunks wanted", chunk.Spec{Chunks: 3}, []int{3, 3, 1}},
		{"two chunks wanted of equal breaks", chunk.Spec{Chunks: 2}, []int{7}}, // none is above the other
		{"deviations", chunk.Spec{Threshold: chunk.StandardDeviation, Amount: 1}, []int{3, 3, 1}},
		{"too many deviations", chunk.Spec{Threshold: chunk.StandardDeviation}, []int{7}},
		{"a short rest", chunk.Spec{Amount: 70, MinCharacters: 60}, []int{6, 1}},
	} {
		tc.spec.Method, tc.spec.Buffer = chunk.Semantic, -1
		c, err := chunk.New(tc.spec, runes{}, topics)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, s := range split(t, c, text) {
			part := s.Text(text)
			got = append(got, strings.Count(part, ".")+strings.Count(part, "!")+strings.Count(part, "?")+strings.Count(part, "。"))
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: sentences a chunk %v, want %v", tc.name, got, tc.want)
		}
	}
	c, err := chunk.New(chunk.Spec{Method: chunk.Semantic, Threshold: chunk.Gradient}, runes{}, topics)
	if err != nil {
		t.Fatal(err)
	}
	if got := texts("One. Two.", split(t, c, "One. Two.")); !slices.Equal(got, []string{"One.", "Two."}) {
		t.Errorf("gradient of two sentences: %q", got)
	}
}

func TestSemanticRefusesBadVectors(t *testing.T) {
	for name, embed := range map[string]chunk.Embed{
		"too few": func(context.Context, []string) ([][]float32, error) { return nil, nil },
		"NaN": func(_ context.Context, texts []string) ([][]float32, error) {
			return slices.Repeat([][]float32{{float32(math.NaN())}}, len(texts)), nil
		},
		"mixed": func(_ context.Context, texts []string) ([][]float32, error) {
			return [][]float32{{1}, {1, 2}, {1}}[:len(texts)], nil
		},
		"failing": func(context.Context, []string) ([][]float32, error) { return nil, errors.New("no") },
	} {
		c, err := chunk.New(chunk.Spec{Method: chunk.Semantic}, runes{}, embed)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Split(context.Background(), "One. Two. Three."); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	silent := func(_ context.Context, texts []string) ([][]float32, error) {
		return slices.Repeat([][]float32{{0, 0}}, len(texts)), nil
	}
	c, err := chunk.New(chunk.Spec{Method: chunk.Semantic}, runes{}, silent)
	if err != nil {
		t.Fatal(err)
	}
	if got := split(t, c, "One. Two. Three."); len(got) != 1 {
		t.Errorf("vectors that say nothing: %v", got)
	}
}

func TestMarkdownStructure(t *testing.T) {
	text := `Preface.

# Guide

## Install

Download it, unpack it, and put it where your shell looks.

### Linux

Use the package.

## Limits

| name | most |
|------|------|
| files | 100000 |
| bytes | 999999 |
| links | 123456 |

Setext
------

` + "```sh\n# no heading\nrun --all\n```\n" + `
<h2 id="x">An <b>old</b> page</h2>

<table><tr><th>key</th></tr>
<tr><td>one</td></tr></table>
`
	type row struct{ context, text string }
	for _, tc := range []struct {
		size int
		want []row
	}{
		{2000, []row{{"", strings.TrimSpace(text)}}},
		{90, []row{
			{"", "Preface."},
			{"", "# Guide\n\n## Install\n\nDownload it, unpack it, and put it where your shell looks."},
			{"Guide > Install", "### Linux\n\nUse the package."},
			{"Guide", "## Limits\n\n| name | most |\n|------|------|\n| files | 100000 |\n| bytes | 999999 |"},
			{"Guide > Limits\n| name | most |", "| links | 123456 |\n\nSetext\n------\n\n```sh\n# no heading\nrun --all\n```"},
			{"Guide", "<h2 id=\"x\">An <b>old</b> page</h2>\n\n<table><tr><th>key</th></tr>"},
			{"Guide > An old page\nkey", "<tr><td>one</td></tr></table>"},
		}},
	} {
		c := build(t, chunk.Spec{Method: chunk.Markdown, Size: tc.size, Overlap: -1}, runes{})
		var got []row
		for _, s := range split(t, c, text) {
			got = append(got, row{s.Context, s.Text(text)})
		}
		if !slices.Equal(got, tc.want) {
			for i, r := range got {
				t.Logf("%d: %q in %q", i, r.text, r.context)
			}
			t.Errorf("size %d: %d chunks, want %d", tc.size, len(got), len(tc.want))
		}
	}
}

// A table is cut between rows only, whatever the size, while a row fits.
func TestMarkdownTableRows(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Prices\n\nIn crowns.\n\n| what | price |\n| --- | --- |\n")
	for i := range 300 {
		fmt.Fprintf(&b, "| item %d | %d |\n", i, i*i)
	}
	text := b.String()
	for _, size := range []int{60, 100, 333} {
		spans := split(t, build(t, chunk.Spec{Method: chunk.Markdown, Size: size}, runes{}), text)
		for i, s := range spans[1:] {
			if c := text[s.Start]; c != '|' || text[s.End-1] != '|' {
				t.Fatalf("size %d: chunk %d tears a row: %q", size, i+1, s.Text(text))
			}
			if i > 0 && s.Context != "Prices\n| what | price |" {
				t.Fatalf("size %d: chunk %d has context %q", size, i+1, s.Context)
			}
		}
	}
}

func TestMarkdownContextIsBounded(t *testing.T) {
	var b strings.Builder
	for level := 1; level <= 6; level++ {
		fmt.Fprintf(&b, "%s %s\n\n", strings.Repeat("#", level), strings.Repeat("題", 400))
	}
	b.WriteString(strings.Repeat("word ", 500))
	text := b.String()
	spans := split(t, build(t, chunk.Spec{Method: chunk.Markdown, Size: 100}, runes{}), text)
	if err := chunk.Check(text, spans); err != nil {
		t.Fatal(err)
	}
	last := spans[len(spans)-1].Context
	if len(last) < chunk.MaxContext/2 || !strings.HasSuffix(last, "…") {
		t.Errorf("the last context has %d bytes", len(last))
	}
}

func TestSpecErrors(t *testing.T) {
	for _, tc := range []struct {
		spec  chunk.Spec
		field string
	}{
		{chunk.Spec{Method: "sideways"}, "method"},
		{chunk.Spec{Method: chunk.Given}, "method"},
		{chunk.Spec{Size: -1}, "size"},
		{chunk.Spec{Size: 50, Overlap: 50}, "overlap"},
		{chunk.Spec{Separator: "\xff"}, "separator"},
		{chunk.Spec{Method: chunk.Recursive, Separators: []string{}}, "separators"},
		{chunk.Spec{Method: chunk.Recursive, Separators: make([]string, 65)}, "separators"},
		{chunk.Spec{Method: chunk.Recursive, Separators: []string{strings.Repeat("x", 257)}}, "separators"},
		{chunk.Spec{Method: chunk.Semantic, Threshold: "none"}, "threshold"},
		{chunk.Spec{Method: chunk.Semantic, Amount: 101}, "amount"},
		{chunk.Spec{Method: chunk.Semantic, Amount: math.NaN()}, "amount"},
		{chunk.Spec{Method: chunk.Semantic, Threshold: chunk.Interquartile, Amount: -1}, "amount"},
		{chunk.Spec{Method: chunk.Semantic, Buffer: 101}, "buffer"},
		{chunk.Spec{Method: chunk.Semantic, MinCharacters: -1}, "min_characters"},
		{chunk.Spec{Method: chunk.Semantic, Chunks: -1}, "chunks"},
	} {
		_, err := chunk.New(tc.spec, runes{}, hashed)
		var ce *chunk.ConfigError
		if !errors.As(err, &ce) || ce.Field != tc.field {
			t.Errorf("%+v: got %v, want a complaint about %s", tc.spec, err, tc.field)
		}
	}
	if _, err := chunk.New(chunk.Spec{Method: chunk.Semantic}, runes{}, nil); !errors.Is(err, chunk.ErrConfig) {
		t.Errorf("no embedder: %v", err)
	}
	if _, err := chunk.New(chunk.Spec{Method: chunk.Recursive}, nil, nil); !errors.Is(err, chunk.ErrConfig) {
		t.Errorf("no tokenizer: %v", err)
	}
}

// A description means the same after it was stored, whatever the defaults are then.
func TestSpecRoundTrip(t *testing.T) {
	for _, s := range append(specs(100), chunk.Spec{}, chunk.Spec{Method: chunk.Custom, ID: "mine", Size: 9}, chunk.Spec{Separator: "\x00|", SeparatorOnly: true}) {
		full, err := s.WithDefaults()
		if err != nil {
			t.Fatal(err)
		}
		again, err := full.WithDefaults()
		if err != nil || again.String() != full.String() {
			t.Errorf("%s: defaults again give %s (%v)", full, again, err)
		}
		read, err := chunk.ParseSpec(full.String())
		if err != nil || read.String() != full.String() {
			t.Errorf("%s: read as %s (%v)", full, read, err)
		}
	}
	for _, bad := range []string{"", "x", `{"method":1}`, `{"future":true}`} {
		if _, err := chunk.ParseSpec(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestSpecOver(t *testing.T) {
	base := chunk.Spec{Method: chunk.Recursive, Size: 500, Overlap: 7, Separators: []string{"|"}}
	for _, tc := range []struct{ s, want chunk.Spec }{
		{chunk.Spec{}, base},
		{chunk.Spec{Overlap: -1}, chunk.Spec{Method: chunk.Recursive, Size: 500, Overlap: -1, Separators: []string{"|"}}},
		{chunk.Spec{Size: 40}, chunk.Spec{Method: chunk.Recursive, Size: 40, Separators: []string{"|"}}},
		{chunk.Spec{Method: chunk.Markdown}, chunk.Spec{Method: chunk.Markdown, Size: 500, Overlap: 7}},
	} {
		if got := tc.s.Over(base); got.String() != tc.want.String() {
			t.Errorf("%s over %s: %s, want %s", tc.s, base, got, tc.want)
		}
	}
}

// Time grows with the text, whatever is in it: twice the text is at most a little more than twice the counting.
func TestMethodsAreLinear(t *testing.T) {
	for name, part := range map[string]string{
		"underlines": "-\n", "pipes": "|\n", "tables": "<table>\n", "headings": "# h\n", "words": "a ", "marks": "。", "sentences": "A. ", "fences": "```\n", "rules": "|-|\n",
	} {
		for _, s := range specs(50) {
			bytes := func(n int) int {
				counted := 0
				c := build(t, s, counting{bytes: &counted})
				split(t, c, strings.Repeat("x", n)+"\n"+strings.Repeat(part, n))
				return counted
			}
			if once, twice := bytes(2000), bytes(4000); twice > once*5/2 {
				t.Errorf("%s, %s: %d bytes counted, of twice the text %d", name, s, once, twice)
			}
		}
	}
}
