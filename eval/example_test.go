package eval_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db"
	"github.com/glimdb/db/eval"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/query"
)

// Two questions whose answers are known, asked in two modes.
func Example() {
	ctx := context.Background()
	d, err := db.Open("glim.db", db.WithFS(vfs.NewMem()))
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Insert(ctx,
		index.Document{ID: "mill.txt", Text: "Ines Calder runs the tide mill. The tide mill grinds barley."},
		index.Document{ID: "bridge.txt", Text: "Mira Voss repairs the Lantern Bridge every spring."},
	); err != nil {
		log.Fatal(err)
	}
	questions, err := eval.ReadQuestions(strings.NewReader(`
{"question": "Who runs the tide mill?", "documents": ["mill.txt"], "entities": ["Ines Calder"]}
{"question": "Who repairs the Lantern Bridge?", "documents": ["bridge.txt"]}
`), "questions.jsonl")
	if err != nil {
		log.Fatal(err)
	}
	report, err := eval.Run(ctx, d, questions, eval.Modes(query.Options{}, query.Naive, query.Mix), eval.Options{Ks: []int{2}})
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range report.Rows {
		fmt.Printf("%s, %s: Recall@2 %.2f of %d\n", row.Setup, row.Level, row.At[0].Recall, row.Judged)
	}
	// Output:
	// naive, documents: Recall@2 1.00 of 2
	// mix, documents: Recall@2 1.00 of 2
	// mix, entities: Recall@2 1.00 of 1
}

// A ranking of one's own is measured without a database.
func ExampleJudge() {
	m := eval.Judge([]string{"bridge.txt", "mill.txt"}, eval.Gold{"mill.txt": 2, "weir.txt": 1}, 1, 2)
	fmt.Printf("MRR %.2f, Recall@1 %.2f, Recall@2 %.2f\n", m.MRR, m.At[0].Recall, m.At[1].Recall)
	// Output: MRR 0.50, Recall@1 0.00, Recall@2 0.50
}
