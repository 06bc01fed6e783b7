package db_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
)

// alikeDocument is document n of many that are alike: an entity that all mention, one of ten that many do, and
// two of its own.
func alikeDocument(n int) index.Document {
	return doc(fmt.Sprintf("alike-%05d", n), fmt.Sprintf(`E Hub (fact %[1]d)
E Shelf %[2]d (fact %[1]d)
R Hub - Shelf %[2]d (link %[1]d)
E Own %[1]d (one of a kind)
E Other %[1]d (one of a kind)
R Hub - Own %[1]d (link %[1]d)
R Shelf %[2]d - Other %[1]d (link %[1]d)`, n, n%10))
}

// cost is what some changes took, in counts that no clock and no other process can move.
type cost struct {
	chat, texts int    // calls of the chat model, which summarises; embedded texts
	logged      uint64 // bytes handed to the log
	objects     uint64 // allocated, by reading and merging too
}

func (c cost) String() string {
	return fmt.Sprintf("%d chat calls, %d texts, %d bytes logged, %d objects", c.chat, c.texts, c.logged, c.objects)
}

// P8: a document costs what its own length asks for, however many are stored.
func TestP8_CostFollowsTheDocument(t *testing.T) {
	const sample = 40
	early, late := 100, 1200 // the caps (200 sources) lie between
	if testing.Short() {
		late = 400
	}
	chat, emb := extracting(), llmtest.NewEmbedder(8)
	o := modelled(chat, emb)
	o.Extractor, o.DisableReplyCache, o.MemTableBytes = scripted{}, true, 0 // what does not grow here is left out
	d := openTest(t, o)
	stored := 0
	fill := func(to int) {
		var docs []index.Document
		for ; stored < to; stored++ {
			docs = append(docs, alikeDocument(stored))
		}
		for part := range slices.Chunk(docs, 100) {
			insert(t, d, part...)
		}
	}
	measure := func(f func()) (c cost) {
		metrics := func() (uint64, uint64) {
			m, err := d.Metrics()
			if err != nil {
				t.Fatal(err)
			}
			var mem runtime.MemStats
			runtime.ReadMemStats(&mem)
			return m.LogBytesIn, mem.Mallocs
		}
		chat.Reset()
		emb.Reset()
		logged, objects := metrics()
		f()
		c.logged, c.objects = metrics()
		return cost{len(chat.Calls()), emb.Texts(), c.logged - logged, c.objects - objects}
	}
	inserts := func() {
		for range sample {
			fill(stored + 1)
		}
	}
	deletes := func() {
		for i := range sample {
			if _, err := d.Delete(ctx, alikeDocument(stored-1-i).ID); err != nil {
				t.Fatal(err)
			}
		}
		stored -= sample
	}
	var first, last [2]cost
	fill(early)
	first[0], first[1] = measure(inserts), measure(deletes)
	fill(late)
	last[0], last[1] = measure(inserts), measure(deletes)
	for i, what := range []string{"insert", "delete"} {
		a, b := first[i], last[i]
		t.Logf("%s of %d documents\n after %5d: %v\n after %5d: %v", what, sample, early, a, late, b)
		if b.chat > a.chat || b.texts > a.texts {
			t.Errorf("%s: more model work in a larger store", what)
		}
		if b.logged > 2*a.logged || b.objects > 2*a.objects {
			t.Errorf("%s: more than twice the work in a larger store", what)
		}
	}
}

// Opening rebuilds nothing: no model is asked, nothing is committed, and everything is found.
func TestOpenRebuildsNothing(t *testing.T) {
	chat, emb := extracting(), llmtest.NewEmbedder(8)
	o := modelled(chat, emb)
	d := openTest(t, o)
	for i := range 50 {
		insert(t, d, alikeDocument(i))
	}
	ask := func(d *db.DB) (found []string) {
		t.Helper()
		for _, mode := range retrieving {
			res, err := d.Query(ctx, "Own 7 and Shelf 7", query.Options{Mode: mode, Want: query.WantContext})
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, res.Context)
		}
		return found
	}
	want := ask(d) // caches the keywords
	before, err := d.Stats(ctx)
	if err != nil {
		t.Fatal(err)
	}
	closeChecked(t, d)

	chat.Reset()
	emb.Reset()
	d = openTest(t, o)
	after, err := d.Stats(ctx)
	if err != nil || after.LSN != before.LSN || after.Chunks != before.Chunks || after.Entities != before.Entities || after.VectorBytes != before.VectorBytes {
		t.Errorf("%+v, %v; before closing %+v", after, err, before)
	}
	m, err := d.Metrics()
	if err != nil || m.LogBytesIn != 0 {
		t.Errorf("opening committed %d bytes, %v", m.LogBytesIn, err)
	}
	if len(chat.Calls())+emb.Texts() != 0 {
		t.Errorf("opening asked models: %d chat calls, %d texts", len(chat.Calls()), emb.Texts())
	}
	if !slices.Equal(ask(d), want) {
		t.Error("other answers than before closing")
	}
}
