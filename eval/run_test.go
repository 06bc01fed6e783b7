package eval_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/cluster"
	"github.com/glimdb/db/eval"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/query"
)

// shipped opens a database of the shipped corpus, under a folder as the command would name it.
func shipped(t *testing.T) *db.DB {
	t.Helper()
	d, err := db.Open("eval.db", db.WithFS(vfs.NewMem()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for p, err := range d.Check(context.Background()) {
			t.Errorf("check: %v %v", p, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	paths, err := filepath.Glob(filepath.Join("..", "testdata", "corpus", "*"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no corpus: ", err)
	}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		id := "testdata/corpus/" + filepath.Base(p)
		if _, err := d.Insert(t.Context(), index.Document{ID: id, Path: id, Text: string(text)}); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func questions(t *testing.T) []eval.Question {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "testdata", "questions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	qs, err := eval.ReadQuestions(f, "questions.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return qs
}

func report(t *testing.T, d *db.DB, qs []eval.Question, setups []eval.Setup, o eval.Options) *eval.Report {
	t.Helper()
	r, err := eval.Run(t.Context(), d, qs, setups, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRunOfTheShippedSet compares the figures of a run with rankings that are asked for and judged one by one.
func TestRunOfTheShippedSet(t *testing.T) {
	d, qs := shipped(t), questions(t)
	setups := eval.Modes(query.Options{}, query.Naive, query.Mix)
	setups[1].Exhaustive = &setups[1].Options
	done := 0
	r := report(t, d, qs, setups, eval.Options{Ks: []int{5, 1, 5}, Progress: func(string, int, int) { done++ }})
	if done != 60 || r.Questions != 30 || r.Documents != 8 || r.VectorBytes <= 0 || r.DiskBytes <= 0 || fmt.Sprint(r.Ks) != "[1 5]" {
		t.Errorf("%d asked; %+v", done, r)
	}
	if len(r.Rows) != 3 { // naive looks for no entities
		t.Fatalf("%d rows", len(r.Rows))
	}
	for _, row := range r.Rows {
		hits, judged := 0, 0
		for _, q := range qs {
			gold := q.Documents
			if row.Level == eval.Entities {
				gold = q.Entities
			}
			if len(gold) == 0 {
				continue
			}
			judged++
			res, err := d.Query(t.Context(), q.Question, query.Options{Mode: query.Mode(row.Setup), Want: query.WantData})
			if err != nil {
				t.Fatal(err)
			}
			first := ""
			if row.Level == eval.Documents && len(res.Data.Chunks) > 0 {
				first = strings.TrimPrefix(res.Data.Chunks[0].Document, "testdata/corpus/")
			} else if row.Level == eval.Entities && len(res.Data.Entities) > 0 {
				first = res.Data.Entities[0].Name
			}
			if gold[first] > 0 {
				hits++
			}
		}
		if row.Judged != judged || math.Abs(row.At[0].Hit-float64(hits)/float64(judged)) > 1e-12 {
			t.Errorf("%s, %s: %d judged, Hit@1 %v; want %d, %d hits", row.Setup, row.Level, row.Judged, row.At[0].Hit, judged, hits)
		}
		if len(row.RecallCurve) != 5 || row.RecallCurve[0] != row.At[0].Recall || row.RecallCurve[4] != row.At[1].Recall || row.RecallCurve[1] < row.RecallCurve[0] {
			t.Errorf("%s: curve %v, measures %+v", row.Setup, row.RecallCurve, row.At)
		}
		l := row.Latency
		if l.Mean <= 0 || l.P50 > l.P95 || l.P95 > l.P99 || row.Embedding.Mean > l.Mean {
			t.Errorf("latencies %+v, embedding %+v", l, row.Embedding)
		}
		if row.Setup == "mix" && (len(row.NeighborRecall) != 2 || row.NeighborRecall[1] != 1) || row.Setup == "naive" && row.NeighborRecall != nil {
			t.Errorf("%s: neighbours %v", row.Setup, row.NeighborRecall)
		}
	}
	if hit := r.Rows[1].At[1].Hit; hit < 0.9 {
		t.Errorf("mix finds a document among five for %v of the questions", hit)
	}
	again := report(t, d, qs, setups, eval.Options{Ks: []int{1, 5}})
	for i := range r.Rows { // E3
		if fmt.Sprint(again.Rows[i].Measures) != fmt.Sprint(r.Rows[i].Measures) {
			t.Errorf("another run: %+v and %+v", again.Rows[i].Measures, r.Rows[i].Measures)
		}
	}
	checkForms(t, r)
}

// checkForms reads back what each format wrote.
func checkForms(t *testing.T, r *eval.Report) {
	t.Helper()
	written := func(f eval.Format) string {
		var b bytes.Buffer
		if err := r.Write(&b, f); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	var back eval.Report
	if err := json.Unmarshal([]byte(written(eval.JSON)), &back); err != nil || back.Rows[2].MRR != r.Rows[2].MRR || back.Rows[1].At[1] != r.Rows[1].At[1] {
		t.Errorf("JSON: %v, %+v", err, back)
	}
	rows, err := csv.NewReader(strings.NewReader(written(eval.CSV))).ReadAll()
	if err != nil || len(rows) != 4 || rows[0][3] != "Recall@1" || rows[1][3] != fmt.Sprint(r.Rows[0].At[0].Recall) || rows[1][0] != "naive" {
		t.Errorf("CSV: %v, %v", err, rows)
	}
	markdown := written(eval.Markdown)
	if lines := strings.Split(markdown, "\n"); !strings.HasPrefix(lines[0], "| setup | level | questions | Recall@1 |") || strings.Count(lines[1], "---") != strings.Count(lines[2], " | ")+1 {
		t.Errorf("Markdown:\n%s", markdown)
	}
	text := written(eval.Text)
	if !strings.HasPrefix(text, "questions 30; documents 8, ") || !strings.Contains(text, "\nRecall@5 ") || !strings.Contains(text, "\nneighbours@5 ") {
		t.Errorf("text:\n%s", text)
	}
	if err := r.Write(io.Discard, "xml"); err == nil {
		t.Error("an unknown format was written")
	}
	var b bytes.Buffer
	if err := r.Draw(&b, eval.PNG); err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(&b); err != nil {
		t.Error(err)
	}
	if err := r.Draw(&b, eval.SVG); err != nil || !strings.Contains(b.String(), ">mix, documents<") {
		t.Errorf("SVG: %v", err)
	}
	if err := r.Draw(&b, "gif"); err == nil {
		t.Error("an unknown image was drawn")
	}
}

// TestRunRefusals: gold that the database does not have is told, not measured as a failure.
func TestRunRefusals(t *testing.T) {
	d := shipped(t)
	if _, err := d.Insert(t.Context(), index.Document{ID: "other/tide-mill.md", Path: "other/tide-mill.md", Text: "Another mill, by another tide."}); err != nil {
		t.Fatal(err)
	}
	naive := eval.Modes(query.Options{}, query.Naive)
	ask := func(q eval.Question) error {
		_, err := eval.Run(t.Context(), d, []eval.Question{q}, naive, eval.Options{})
		return err
	}
	for want, q := range map[string]eval.Question{
		`no document "atlas.md"`: {Question: "x", Documents: eval.Gold{"atlas.md": 1}},
		`several documents end in "tide-mill.md": other/tide-mill.md, testdata/corpus/tide-mill.md`: {Question: "x", Documents: eval.Gold{"tide-mill.md": 1}},
		`is no id of a chunk`:         {Question: "x", Chunks: eval.Gold{"skarn-light.md": 1}},
		`has no chunk 999`:            {Question: "x", Chunks: eval.Gold{"skarn-light.md-chunk-999": 1}},
		`nothing is said to be right`: {Question: "x"},
		`the question is empty`:       {Documents: eval.Gold{"skarn-light.md": 1}},
	} {
		err := ask(q)
		e, ok := errors.AsType[*eval.QuestionError](err)
		if !ok || e.Line != 1 || e.Do == "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, q := range []eval.Question{
		{Question: "the lighthouse", Documents: eval.Gold{"testdata/corpus/tide-mill.md": 1}},
		{Question: "the lighthouse", Chunks: eval.Gold{"corpus/skarn-light.md-chunk-000": 1}},
	} {
		if err := ask(q); err != nil {
			t.Error(err)
		}
	}
	good := []eval.Question{{Question: "Who is Maren Holt?", Entities: eval.Gold{"MAREN HOLT": 1, "Nobody At All": 1}}}
	r := report(t, d, good, eval.Modes(query.Options{}, query.Local), eval.Options{})
	if r.AbsentEntities != 1 || r.Rows[0].Level != eval.Entities || r.Rows[0].At[3].Recall != 0.5 {
		t.Errorf("%+v", r)
	}
	if _, err := d.InsertGraph(t.Context(), index.CustomGraph{ID: "birds", Chunks: []index.CustomChunk{{Source: "log", Content: "The Tern met a tern."}},
		Entities: []index.CustomEntity{{Name: "Tern", Description: "A ship.", Source: "log"}, {Name: "tern", Description: "A bird.", Source: "log"}}}, index.CustomOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := ask(eval.Question{Question: "x", Entities: eval.Gold{"TERN": 1}}); !errors.Is(err, eval.ErrQuestion) || !strings.Contains(err.Error(), `several entities may be meant by "TERN"`) {
		t.Errorf("a name of two: %v", err)
	}
	for name, x := range map[string]struct {
		qs     []eval.Question
		setups []eval.Setup
		o      eval.Options
		want   error
	}{
		"no setup":     {good, nil, eval.Options{}, db.ErrOption},
		"a k of 0":     {good, naive, eval.Options{Ks: []int{0, 1}}, db.ErrOption},
		"a k of many":  {good, naive, eval.Options{Ks: []int{query.MaxTopK + 1}}, db.ErrOption},
		"no questions": {nil, naive, eval.Options{}, eval.ErrQuestion},
		"a bad mode":   {good, eval.Modes(query.Options{}, "psychic"), eval.Options{}, db.ErrUnknownMode},
	} {
		if _, err := eval.Run(t.Context(), d, x.qs, x.setups, x.o); !errors.Is(err, x.want) {
			t.Errorf("%s: %v, want %v", name, err, x.want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := eval.Run(ended, d, good, naive, eval.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}

// TestEntitiesAndNaive: naive looks for no entities, which leaves it out and says so; a question of another mode that
// falls back to naive has found none.
func TestEntitiesAndNaive(t *testing.T) {
	d := shipped(t)
	qs := []eval.Question{{Question: "Who is Maren Holt?", Entities: eval.Gold{"Maren Holt": 1}},
		{Question: strings.Repeat("?! ", 20), Entities: eval.Gold{"Maren Holt": 1}}}
	r := report(t, d, qs, eval.Modes(query.Options{}, query.Naive, query.Mix), eval.Options{Ks: []int{1}})
	if len(r.Rows) != 1 || fmt.Sprint(r.Unmeasured) != "[naive]" {
		t.Fatalf("%+v", r)
	}
	if row := r.Rows[0]; row.Judged != 2 || row.At[0].Recall != .5 || row.FallbackRate != .5 {
		t.Errorf("%+v", row)
	}
	var b bytes.Buffer
	if err := r.Write(&b, eval.Text); err != nil || !strings.Contains(b.String(), "nothing to measure in naive: ") {
		t.Errorf("%v\n%s", err, &b)
	}
}

// TestRunWithRouting: recall stays below the ceiling, and a question that falls back is counted and scans everything.
func TestRunWithRouting(t *testing.T) {
	d, qs := shipped(t), questions(t)
	off := query.Options{Mode: query.Naive}
	on := off
	on.Routing = query.RoutingOptions{Mode: query.RoutingVector, MinChunks: 1}
	setups := []eval.Setup{{Name: "routed", Options: on, Exhaustive: &off}, {Name: "all", Options: off}}
	row := report(t, d, qs, setups, eval.Options{}).Rows[0] // there are no clusters
	if *row.ScannedShare != 1 || *row.RoutingCeiling != 1 || row.FallbackRate != 1 || len(row.Fallbacks) == 0 || row.NeighborRecall[3] != 1 {
		t.Errorf("without clusters: scanned %v, ceiling %v, %+v", *row.ScannedShare, *row.RoutingCeiling, row)
	}
	if _, err := d.BuildClusters(t.Context(), cluster.Options{K: 3}); err != nil {
		t.Fatal(err)
	}
	r := report(t, d, qs, setups, eval.Options{Ks: []int{1, 5}})
	row = r.Rows[0]
	if *row.ScannedShare <= 0 || *row.ScannedShare > 1 || *row.RoutingCeiling < row.At[1].Recall || *row.RoutingCeiling > 1 {
		t.Errorf("scanned %v, ceiling %v, %+v", *row.ScannedShare, *row.RoutingCeiling, row.Measures)
	}
	if r.Rows[1].ScannedShare != nil || r.Rows[1].RoutingCeiling != nil {
		t.Error("a setup without routing tells of it")
	}
}

// A question may be as long as one of a query, and not longer.
func TestQuestionLength(t *testing.T) {
	const limit = 64 << 10
	d := shipped(t)
	long := strings.Repeat("灯塔 lamp ", limit)
	setups := []eval.Setup{{Name: "naive", Options: query.Options{Mode: query.Naive}}, {Name: "mix"}}
	for n, fits := range map[int]bool{limit - 1: true, limit: true, limit + 1: false} {
		line, err := json.Marshal(map[string]any{"question": string([]rune(long)[:n-1]) + "é", "documents": []string{"testdata/corpus/skarn-light.md"}})
		if err != nil {
			t.Fatal(err)
		}
		qs, err := eval.ReadQuestions(bytes.NewReader(line), "long.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		r, err := eval.Run(t.Context(), d, qs, setups, eval.Options{})
		if f, ok := errors.AsType[*query.FieldError](err); fits != (err == nil) || fits != (r != nil) || !fits && (!ok || f.Field != "query") {
			t.Errorf("%d characters: %.200v", n, err)
		}
	}
}
