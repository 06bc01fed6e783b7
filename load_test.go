package db_test

import (
	"strings"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/query"
)

// TestLoadOfPartialGraphs: a dump leaves out stores that are empty; documents that have neither entities nor
// relations, or only the former, can be asked for and deleted after a load all the same.
func TestLoadOfPartialGraphs(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":      "The spare key is under the blue pot.",
		"no relations": "The spare key is under the blue pot.\nE Blue Pot (hides the key)",
		"all":          "The spare key is under the blue pot.\nE Blue Pot (hides the key)\nR Blue Pot - Spare Key (hides)",
	} {
		t.Run(name, func(t *testing.T) {
			o := testOptions(nil)
			d := openTest(t, o)
			empty := logical(t, d)
			if _, err := d.Insert(ctx, index.Document{ID: "a", Text: text}); err != nil {
				t.Fatal(err)
			}
			e := openTest(t, o)
			if _, err := e.Load(ctx, strings.NewReader(dumpOf(t, d, db.DumpOptions{}))); err != nil {
				t.Fatal(err)
			}
			checkDB(t, e)
			res, err := e.Query(ctx, "where is the spare key", query.Options{Mode: query.Naive, CosineThreshold: query.Some(-1.0)})
			if err != nil || len(res.Data.Chunks) != 1 {
				t.Fatalf("before the delete: %+v, %v", res, err)
			}
			if _, err := e.Delete(ctx, "a"); err != nil {
				t.Fatal(err)
			}
			equalDumps(t, logical(t, e), empty)
			if res, err = e.Query(ctx, "where is the spare key", query.Options{Mode: query.Naive, CosineThreshold: query.Some(-1.0)}); err != nil || len(res.Data.Chunks) != 0 {
				t.Errorf("after the delete: %+v, %v", res, err)
			}
		})
	}
}
