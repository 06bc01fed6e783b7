package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/testkit"
)

// judged is a retrieval collection: what is searched, what is asked, and what should be found.
type judged struct {
	docs      []index.Document // numbered by their place; the id of document i is judgedID(i)
	questions []string
	gains     []map[int]float64 // by question: the gain of each relevant document, above 0
	// graph, when it is not nil, is stored instead of the documents: its chunk i is document i.
	graph *index.CustomGraph
}

func judgedID(i int) string { return fmt.Sprintf("%05d", i) }

func (c *judged) add(path, text string) {
	c.docs = append(c.docs, index.Document{ID: judgedID(len(c.docs)), Path: path, Text: text})
}

func (c *judged) ask(question string, gains map[int]float64) {
	if len(gains) > 0 {
		c.questions, c.gains = append(c.questions, question), append(c.gains, gains)
	}
}

// musique reads 100 questions that need two to four of 1,890 passages each.
func musique(b testing.TB) *judged {
	dir := testkit.Data(b, "eval-musique-train")
	var passages []struct{ Title, Text string }
	var questions []struct {
		Question   string
		Paragraphs []struct {
			Title      string
			Text       string `json:"paragraph_text"`
			Supporting bool   `json:"is_supporting"`
		}
	}
	readJSON(b, filepath.Join(dir, "musique_train_corpus.json"), &passages)
	readJSON(b, filepath.Join(dir, "musique_train.json"), &questions)
	c := &judged{}
	at := make(map[string]int)
	for _, p := range passages {
		text := p.Title + "\n" + p.Text
		at[text] = len(c.docs)
		c.add(p.Title, text)
	}
	for _, q := range questions {
		gains := make(map[int]float64)
		for _, p := range q.Paragraphs {
			if p.Supporting {
				gains[at[p.Title+"\n"+p.Text]] = 1
			}
		}
		c.ask(q.Question, gains)
	}
	return c
}

// musiqueTriples is musique with the graph that a model extracted: triples of three parts, each a relation that
// the sentence of its parts describes.
func musiqueTriples(b testing.TB) *judged {
	c := musique(b)
	text, err := os.ReadFile(filepath.Join(testkit.Data(b, "eval-musique-train"), "openie_musique_train_results_ner_gpt-3.5-turbo-1106_1890.json"))
	must(b, err)
	var recorded struct {
		Docs []struct {
			Passage string
			Triples [][]any `json:"extracted_triples"`
		}
	}
	must(b, json.Unmarshal(bytes.ReplaceAll(text, []byte(": NaN"), []byte(": null")), &recorded))
	c.graph = &index.CustomGraph{ID: "musique"}
	for i, d := range recorded.Docs {
		if d.Passage != c.docs[i].Text {
			b.Fatalf("passage %d of the triples is another than that of the collection", i)
		}
		source := judgedID(i)
		c.graph.Chunks = append(c.graph.Chunks, index.CustomChunk{Content: d.Passage, Source: source, Order: i})
		for _, t := range d.Triples {
			if len(t) != 3 {
				continue // recorded noise
			}
			var s [3]string
			for k := range s {
				s[k] = fmt.Sprint(t[k])
			}
			c.graph.Relations = append(c.graph.Relations, index.CustomRelation{Src: s[0], Dst: s[2], Keywords: index.Keywords{s[1]},
				Description: strings.Join(s[:], " "), Source: source})
		}
	}
	return c
}

// cranfield reads 225 questions about 1,400 abstracts, with graded judgements.
func cranfield(b testing.TB) *judged {
	dir := testkit.Data(b, "eval-cranfield")
	c := &judged{}
	for i, text := range smart(b, filepath.Join(dir, "cran.all.1400")) {
		if strings.TrimSpace(text) == "" {
			text = "-" // two abstracts are missing; no document is empty
		}
		c.add(fmt.Sprint("cranfield/", i+1), text)
	}
	questions := smart(b, filepath.Join(dir, "cran.qry"))
	gains := make([]map[int]float64, len(questions))
	f, err := os.Open(filepath.Join(dir, "cranqrel"))
	must(b, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var question, doc, grade int
		if _, err := fmt.Sscan(lines.Text(), &question, &doc, &grade); err != nil {
			b.Fatalf("judgement %q: %v", lines.Text(), err)
		}
		if gains[question-1] == nil {
			gains[question-1] = make(map[int]float64)
		}
		gains[question-1][doc-1] = float64(5 - max(grade, 1)) // 1 is best; a few are -1, which also means relevant
	}
	must(b, lines.Err())
	for i, q := range questions {
		c.ask(strings.Join(strings.Fields(q), " "), gains[i])
	}
	return c
}

// smart reads the texts (.W) of a file in SMART format.
func smart(b testing.TB, path string) (texts []string) {
	raw, err := os.ReadFile(path)
	must(b, err)
	for _, item := range strings.Split("\n"+string(raw), "\n.I ")[1:] {
		_, text, _ := strings.Cut(strings.ReplaceAll(item, "\r", ""), "\n.W\n")
		texts = append(texts, text)
	}
	return texts
}

// sample reads the five documents and six questions that LightRAG evaluates itself with.
func sample(b testing.TB) *judged {
	dir := testkit.Data(b, "eval-lightrag-sample")
	paths, err := filepath.Glob(filepath.Join(dir, "sample_documents", "*.md"))
	must(b, err)
	c := &judged{}
	at := make(map[string]int)
	for _, p := range paths {
		text, err := os.ReadFile(p)
		must(b, err)
		at[filepath.Base(p)] = len(c.docs)
		c.add(filepath.Base(p), string(text))
	}
	var file struct {
		Oracle []struct {
			Question string
			Expected []string `json:"expected_documents"`
		}
	}
	readJSON(b, filepath.Join(dir, "sample_retrieval_oracle.json"), &file)
	for _, o := range file.Oracle {
		gains := make(map[int]float64)
		for _, name := range o.Expected {
			gains[at[name]] = 1
		}
		c.ask(o.Question, gains)
	}
	return c
}

func readJSON(b testing.TB, path string, to any) {
	b.Helper()
	raw, err := os.ReadFile(path)
	must(b, err)
	if err := json.Unmarshal(raw, to); err != nil {
		b.Fatalf("%s: %v", filepath.Base(path), err)
	}
}
