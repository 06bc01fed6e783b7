package query

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

// golden compares got with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		check(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	check(t, err)
	if got != string(want) {
		t.Errorf("%s differs (run with -rewrite to accept); got:\n%s", path, got)
	}
}

func TestRenderGolden(t *testing.T) {
	ents := []Entity{{Name: "Ada Pell", Type: "person", Description: "Mends \"lamps\" & nets.\nSecond line."}, {Name: "灯塔", Type: "place", Description: "<b>海港</b>的灯塔。"}}
	rels := []Relation{{Src: "Ada Pell", Dst: "灯塔", Description: "Ada keeps the light."}}
	chunks := []Chunk{
		{Path: "north/readme.md", Document: "n", Content: "```\ncode\n```\nand text"},
		{Path: "", Document: "x", Content: "no path"},
		{Path: "south/a\nb.md", Document: "s", Content: "tab\there"},
		{Path: "south/a\nb.md", Document: "s", Content: "more"},
	}
	refs := refer(chunks)
	golden(t, "context_kg.md", render(true, ents, rels, chunks, refs))
	golden(t, "context_naive.md", render(false, nil, nil, chunks, refs))
	golden(t, "context_empty.md", frame(true))

	// every line of a block is whole: no content closes a fence or adds a line
	for _, l := range strings.Split(render(true, ents, rels, chunks, refs), "\n") {
		if strings.HasPrefix(l, "{") && !json.Valid([]byte(l)) {
			t.Errorf("line is not JSON: %q", l)
		}
	}
}

func TestResultGolden(t *testing.T) {
	r := ask(t, small(t).engine(), question, with(given, func(o *Options) { o.ChunkTopK, o.TopK = 3, 2 }))
	r.Trace = Trace{}
	for i := range r.Data.Entities { // kernels may differ in the last bits
		r.Data.Entities[i].Score = rounded(r.Data.Entities[i].Score)
	}
	for i := range r.Data.Relations {
		r.Data.Relations[i].Score = rounded(r.Data.Relations[i].Score)
	}
	for _, c := range r.Data.Chunks {
		for i, f := range c.Found {
			if !f.Score.IsZero() {
				c.Found[i].Score = Some(rounded(f.Score.Or(0)))
			}
		}
	}
	b, err := json.MarshalIndent(r, "", "  ")
	check(t, err)
	golden(t, "result_mix.json", string(b)+"\n")
}

func rounded(f float32) float32 { return float32(math.Round(float64(f)*100) / 100) }
