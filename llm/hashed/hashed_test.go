package hashed

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/llm"
)

func newEmbedder(t testing.TB) *Embedder {
	t.Helper()
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func embed(t testing.TB, e *Embedder, texts ...string) [][]float32 {
	t.Helper()
	v, err := e.Embed(context.Background(), texts, llm.ForDocument)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDimensions(t *testing.T) {
	for _, dim := range []int{-1, 1, MinDim - 1, MaxDim + 1} {
		if _, err := New(Options{Dim: dim}); err == nil {
			t.Errorf("dimension %d was accepted", dim)
		}
	}
	ids := make(map[string]bool)
	for _, dim := range []int{0, MinDim, 300, MaxDim} {
		e, err := New(Options{Dim: dim})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(embed(t, e, "salt marsh")[0]); n != e.Dim() {
			t.Errorf("Dim is %d, a vector has %d", e.Dim(), n)
		}
		ids[e.ID()] = true
	}
	if len(ids) != 4 {
		t.Errorf("IDs do not tell dimensions apart: %v", ids)
	}
}

// hostile are texts that have broken tokenizers.
var hostile = []string{
	"", " ", "\n\n", ".", "???", "🙂", "👩‍👩‍👧‍👦🏳️‍🌈", "\x00\xff\xfe", "the of and", "的了", "a",
	strings.Repeat("x", 262144), strings.Repeat("漢", 4000), strings.Repeat("a\u0301\u0302\u0303", 5000), strings.Repeat("-", 10000),
	strings.Repeat("a.", 20000), strings.Repeat("<", 10000), strings.Repeat("`", 10000), strings.Repeat("[](", 5000), "ſﬃÅ①",
}

func TestE1UnitLength(t *testing.T) {
	e := newEmbedder(t)
	for i, v := range embed(t, e, hostile...) {
		norm := math.Sqrt(dot(v, v))
		if math.IsNaN(norm) || math.Abs(norm-1) > 1e-5 {
			t.Errorf("text %d (%.20q): length %v", i, hostile[i], norm)
		}
	}
}

func TestE2SameTextSameVector(t *testing.T) {
	e, other := newEmbedder(t), newEmbedder(t)
	together := embed(t, e, append(slices.Clone(hostile), "Maren Holt keeps the light on Skarn Rock.")...)
	for i, text := range append(slices.Clone(hostile), "Maren Holt keeps the light on Skarn Rock.") {
		alone, err := other.Embed(context.Background(), []string{text}, llm.ForQuery)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(alone[0], together[i]) {
			t.Errorf("text %d (%.20q): the vector depends on its batch", i, text)
		}
	}
}

func TestNearAndFar(t *testing.T) {
	e := newEmbedder(t)
	cases := []struct{ text, near, far string }{
		{"Who repairs the tide mill?", "Ilse repaired the mill wheels after the spring tide.", "The council met on Tuesday to vote on harbour dues."},
		{"café owners in Orléans", "CAFE OWNER, ORLEANS", "tea shops of Lyon"},
		{"tide-mill", "a tide mill", "a wind farm"},
		{"lighthuose keeper", "lighthouse", "council"},
		{"谁修理了潮汐磨坊？", "潮汐磨坊的水轮由伊尔莎修理。", "议会星期二开会讨论港口费。"},
		{"서울의 대학교", "서울에는 대학교가 많다", "부산의 바다"},
		{"`ollama run` fails", "Use the command ollama run llama3.2", "Open the window"},
	}
	for _, c := range cases {
		v := embed(t, e, c.text, c.near, c.far)
		if near, far := dot(v[0], v[1]), dot(v[0], v[2]); near < threshold || near < far+0.05 {
			t.Errorf("%q: %.3f to %q, %.3f to %q", c.text, near, c.near, far, c.far)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := newEmbedder(t).Embed(ctx, []string{"a"}, llm.ForDocument); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context.Canceled", err)
	}
}

func FuzzEmbed(f *testing.F) {
	for _, s := range hostile {
		f.Add(s[:min(len(s), 200)])
	}
	e := newEmbedder(f)
	f.Fuzz(func(t *testing.T, s string) {
		v := embed(t, e, s)[0]
		if norm := math.Sqrt(dot(v, v)); math.IsNaN(norm) || math.Abs(norm-1) > 1e-5 {
			t.Fatalf("length %v", norm)
		}
	})
}

func BenchmarkEmbed(b *testing.B) {
	e := newEmbedder(b)
	text := strings.Repeat("The tide mill at Skarn Rock grinds barley for the whole harbour when the moon is full. ", 50)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		embed(b, e, text)
	}
}
