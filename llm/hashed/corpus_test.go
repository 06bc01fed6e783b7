package hashed

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// corpusDir holds the shipped documents and questions about them.
const corpusDir = "../../testdata/corpus"

// TestCorpusQuestions asks the questions of the shipped corpus: the document that answers must come first for
// nearly all, among the first three for every one, and above the threshold.
func TestCorpusQuestions(t *testing.T) {
	f, err := os.Open(filepath.Join(corpusDir, "..", "questions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	entries, err := os.ReadDir(corpusDir)
	if err != nil {
		t.Fatal(err)
	}
	var names, texts []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext != ".md" && ext != ".txt" {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(corpusDir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		names, texts = append(names, e.Name()), append(texts, string(raw))
	}
	e := newEmbedder(t)
	docs := embed(t, e, texts...)
	asked, first, passed := 0, 0, 0
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var q struct {
			Question  string
			Documents []string
		}
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		for _, d := range q.Documents {
			if !slices.Contains(names, d) {
				t.Fatalf("%q expects %s, which is not in the corpus", q.Question, d)
			}
		}
		asked++
		v := embed(t, e, q.Question)[0]
		order := make([]int, len(docs))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int {
			if dot(v, docs[a]) > dot(v, docs[b]) {
				return -1
			}
			return 1
		})
		rank := slices.IndexFunc(order, func(i int) bool { return slices.Contains(q.Documents, names[i]) })
		score := dot(v, docs[order[rank]])
		if rank == 0 {
			first++
		}
		if score > threshold {
			passed++
		}
		if rank > 2 {
			t.Errorf("%q: %s is only number %d, at %.3f; %s leads at %.3f", q.Question, names[order[rank]], rank+1, score, names[order[0]], dot(v, docs[order[0]]))
		}
		t.Logf("%d %.3f %s (first %s)", rank+1, score, q.Question, names[order[0]])
	}
	t.Logf("%d questions: %d answered by the first document, %d above the threshold", asked, first, passed)
	floor(t, "answered by the first document", float64(first)/float64(asked), 0.85)
	floor(t, "above the threshold", float64(passed)/float64(asked), 0.85)
}
