package bench

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/glimdb/db/internal/testkit"
)

// novelQuestions is how many questions about each novel are asked: the first ones in the file.
const novelQuestions = 20

// novels reads twenty whole novels and questions of which each is about one of them: what should be found is a passage of
// that novel, for the evidence that goes with a question is told in other words than the novel's.
func novels(b testing.TB) *judged {
	dir := testkit.Data(b, "eval-graphragbench-novel")
	f, err := os.Open(filepath.Join(dir, "novel.json.gz"))
	must(b, err)
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	must(b, err)
	var texts []struct {
		Name string `json:"corpus_name"`
		Text string `json:"context"`
	}
	must(b, json.NewDecoder(unzipped).Decode(&texts))
	c := &judged{}
	at := make(map[string]int)
	for _, t := range texts {
		at[t.Name] = len(c.docs)
		c.add(t.Name, t.Text)
	}
	var questions []struct{ Source, Question string }
	readJSON(b, filepath.Join(dir, "novel_questions.json"), &questions)
	asked := make(map[string]int)
	for _, q := range questions {
		if asked[q.Source] < novelQuestions {
			asked[q.Source]++
			c.ask(q.Question, map[int]float64{at[q.Source]: 1})
		}
	}
	return c
}
