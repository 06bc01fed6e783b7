package index

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/glimdb/db/internal/testkit"
)

var rewriteRules = flag.Bool("rewrite-rules", false, "rewrite the golden file of the rules")

func rules(t testing.TB, o RulesOptions) *Rules {
	t.Helper()
	r, err := NewRules(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func extract(t testing.TB, r *Rules, text string) Extraction {
	t.Helper()
	x, err := r.Extract(context.Background(), ExtractInput{ChunkID: "c", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

const passage = `Bob Cratchit, clerk to Ebenezer Scrooge, had five children. Scrooge paid Cratchit fifteen shillings a week.
"Merry Christmas!" cried Bob. Oh, how cold Scrooge was! The Bank of England stood in London. See ` + "`ledger.csv`" + `.`

func TestRulesRecords(t *testing.T) {
	x := extract(t, rules(t, RulesOptions{}), passage)
	types := make(map[string]string)
	for _, e := range x.Entities {
		types[e.Name] = e.Type
		if e.Description == "" {
			t.Errorf("%s has no description", e.Name)
		}
	}
	want := map[string]string{"Bob Cratchit": "person", "Ebenezer Scrooge": "person", "Bank of England": "organization", "London": "location", "ledger.csv": "data", "Christmas": "event"}
	if !maps.Equal(types, want) {
		t.Errorf("entities %v, want %v", types, want)
	}
	if len(x.Relations) == 0 {
		t.Fatal("no relations")
	}
	first := x.Relations[0]
	if first.Src != "Bob Cratchit" || first.Dst != "Ebenezer Scrooge" || first.Weight != 2 || !slices.Equal(first.Keywords, []string{"clerk"}) ||
		first.Description != "Bob Cratchit, clerk to Ebenezer Scrooge, had five children." {
		t.Errorf("first relation: %+v", first)
	}
}

func TestRulesShortNames(t *testing.T) {
	r := rules(t, RulesOptions{})
	// A surname that two people bear stays apart; a title tells its bearer apart.
	x := extract(t, r, "Maren Holt said that Jonas Holt knew Mrs. Holt. Holt was asleep.")
	var got []string
	for _, e := range x.Entities {
		got = append(got, e.Name)
	}
	for _, want := range []string{"Maren Holt", "Jonas Holt", "Mrs. Holt", "Holt"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s in %q", want, got)
		}
	}
	// A text that mostly says the short name keeps it, linked to the full one.
	x = extract(t, r, "Ebenezer Scrooge said no. "+strings.Repeat("Then Scrooge said no to Marley. ", 20))
	found := false
	for _, l := range x.Relations {
		found = found || l.Src == "Ebenezer Scrooge" && l.Dst == "Scrooge" && slices.Contains(l.Keywords, aliasKeyword)
	}
	if !found {
		t.Errorf("the names are not linked: %+v", x.Relations)
	}
}

func TestRulesGlosses(t *testing.T) {
	x := extract(t, rules(t, RulesOptions{}), "Lin Wei (林薇), marine biologist, wrote to the World Health Organization (WHO). Settings (Windows) are no names of one thing.")
	same := make(map[string]string)
	for _, l := range x.Relations {
		if slices.Contains(l.Keywords, aliasKeyword) {
			same[l.Src] = l.Dst
		}
	}
	if want := map[string]string{"Lin Wei": "林薇", "World Health Organization": "WHO"}; !maps.Equal(same, want) {
		t.Errorf("names of one thing: %v, want %v", same, want)
	}
	for _, e := range x.Entities {
		if want := map[string]string{"林薇": "person", "WHO": "organization"}[e.Name]; want != "" && e.Type != want {
			t.Errorf("%s is a %s", e.Name, e.Type)
		}
	}
}

// checkExtraction reports what no extraction may have.
func checkExtraction(t *testing.T, x Extraction, entities, relations int) {
	t.Helper()
	names := make(map[string]bool)
	if len(x.Entities) > entities || len(x.Relations) > relations {
		t.Fatalf("%d entities and %d relations, limits %d and %d", len(x.Entities), len(x.Relations), entities, relations)
	}
	for _, e := range x.Entities {
		if e.Name == "" || NormalizeName(e.Name) != e.Name || names[e.Name] || normalizeType(e.Type) != e.Type || !utf8.ValidString(e.Name+e.Description) {
			t.Fatalf("entity %+v", e)
		}
		if n := utf8.RuneCountInString(e.Description); n > describeSentences*(maxQuoteRunes+8) {
			t.Fatalf("the description of %q has %d characters", e.Name, n)
		}
		names[e.Name] = true
	}
	pairs := make(map[[2]string]bool)
	for _, l := range x.Relations {
		a, b := min(l.Src, l.Dst), max(l.Src, l.Dst)
		if a == b || !names[a] || !names[b] || pairs[[2]string{a, b}] || l.Weight <= 0 || l.Weight > maxRuleWeight || len(l.Keywords) > maxRuleKeywords {
			t.Fatalf("relation %+v", l)
		}
		if !utf8.ValidString(l.Description + strings.Join(l.Keywords, "")) {
			t.Fatalf("relation %+v is not UTF-8", l)
		}
		pairs[[2]string{a, b}] = true
	}
}

func TestRulesLimits(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "Then Karl%c%c Weber met Anna%c%c Meyer. ", 'a'+i%26, 'a'+i/26, 'a'+i%26, 'a'+i/26)
	}
	x := extract(t, rules(t, RulesOptions{MaxEntities: 10, MaxRelations: 2}), b.String())
	checkExtraction(t, x, 10, 2)
	if len(x.Entities) != 10 || x.Report.Dropped[droppedEntityLimit] < 300 || x.Report.Dropped[droppedRelationLimit] < 1 {
		t.Errorf("%d entities, report %+v", len(x.Entities), x.Report)
	}
	if _, err := NewRules(RulesOptions{MaxEntities: -1}); !errors.Is(err, ErrConfig) {
		t.Errorf("a negative limit: %v", err)
	}
	if a, b := rules(t, RulesOptions{}).ID(), rules(t, RulesOptions{MaxEntities: 1}).ID(); a == b {
		t.Errorf("two limits, one ID %s", a)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := rules(t, RulesOptions{}).Extract(ctx, ExtractInput{Text: passage}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// hostileTexts must be read without harm; their sizes are those of one chunk gone wrong.
var hostileTexts = []string{
	"", " ", "\ufeff", "\x00", "\xff\xfe", "🙂", "???", "the of and", strings.Repeat("x", 262144), strings.Repeat("漢", 4000), strings.Repeat("Bob Smith, ", 4000),
	strings.Repeat("Z̡̖̜͖̰̣͉", 3000), strings.Repeat("|a", 20000), strings.Repeat("BOB ", 5000), strings.Repeat("《好》", 10000), strings.Repeat("玛·伦", 10000), strings.Repeat("`a` ", 5000),
	strings.Repeat("“", 10000), "Bob\u2028met\u2029Ann", "Bob `<|#|>` met Ann<SEP>Bob",
}

func TestRulesHostile(t *testing.T) {
	r := rules(t, RulesOptions{})
	for _, text := range hostileTexts {
		x := extract(t, r, text)
		checkExtraction(t, x, DefaultRulesEntities, DefaultRulesRelations)
		if again := extract(t, r, text); !reflect.DeepEqual(x, again) {
			t.Errorf("%.20q: two extractions differ", text)
		}
	}
}

func FuzzRules(f *testing.F) {
	for _, text := range hostileTexts {
		f.Add(text[:min(len(text), 100)])
	}
	f.Add(passage)
	f.Add("林薇说玛伦·霍尔特在青石港。《信》")
	r := rules(f, RulesOptions{})
	f.Fuzz(func(t *testing.T, text string) {
		checkExtraction(t, extract(t, r, text), DefaultRulesEntities, DefaultRulesRelations)
	})
}

const corpusDir = "../testdata/corpus"

// TestRulesCorpus pins what the shipped corpus becomes, and that the entities its questions are about exist.
func TestRulesCorpus(t *testing.T) {
	entries, err := os.ReadDir(corpusDir)
	if err != nil {
		t.Fatal(err)
	}
	r := rules(t, RulesOptions{})
	found := make(map[string]bool)
	var b strings.Builder
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext != ".md" && ext != ".txt" {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(corpusDir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		x := extract(t, r, string(raw))
		checkExtraction(t, x, DefaultRulesEntities, DefaultRulesRelations)
		fmt.Fprintf(&b, "# %s\n", e.Name())
		for _, e := range x.Entities {
			found[e.Name] = true
			fmt.Fprintf(&b, "%s [%s]\n", e.Name, e.Type)
		}
		for _, l := range x.Relations {
			fmt.Fprintf(&b, "%s -- %s %g %s\n", l.Src, l.Dst, l.Weight, strings.Join(l.Keywords, ","))
		}
	}
	golden := filepath.Join("testdata", "rules_corpus.golden")
	if *rewriteRules {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("%s differs (run with -rewrite-rules to accept); got:\n%s", golden, b.String())
	}
	questions, err := os.ReadFile(filepath.Join(corpusDir, "..", "questions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(questions)) {
		var q struct {
			Question string
			Entities []string
		}
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			t.Fatal(err)
		}
		for _, name := range q.Entities {
			if !found[name] {
				t.Errorf("%q is about %s, which is no entity", q.Question, name)
			}
		}
	}
}

// TestRulesBook reads a novel in pieces of a chunk's size and compares with what a model found in it.
func TestRulesBook(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(testkit.Data(t, "a-christmas-carol"), "book.txt"))
	if err != nil {
		t.Fatal(err)
	}
	const size = 5000
	r := rules(t, RulesOptions{})
	degree := make(map[string]map[string]bool)
	types := make(map[string]map[string]int)
	for from := 0; from < len(raw); from += size {
		x := extract(t, r, string(raw[from:min(len(raw), from+size)]))
		checkExtraction(t, x, DefaultRulesEntities, DefaultRulesRelations)
		for _, e := range x.Entities {
			if degree[e.Name] == nil {
				degree[e.Name], types[e.Name] = make(map[string]bool), make(map[string]int)
			}
			types[e.Name][e.Type]++
		}
		for _, l := range x.Relations {
			degree[l.Src][l.Dst], degree[l.Dst][l.Src] = true, true
		}
	}
	for _, name := range []string{"Scrooge", "Bob Cratchit", "Tiny Tim", "Marley", "Jacob Marley", "Fezziwig", "Mrs. Cratchit", "Ebenezer Scrooge", "Fred", "Ghost of Christmas Past", "Christmas Day", "Camden Town"} {
		if degree[name] == nil {
			t.Errorf("no %s", name)
		}
	}
	for _, junk := range []string{"Oh", "Chapter", "The", "Yes", "No", "But", "Hallo", "Humbug", "Good", "Mr", "Illustration", "He", "I", "SCROOGE", "Mr. Scrooge", "Monday", "December"} {
		if degree[junk] != nil {
			t.Errorf("%s is an entity", junk)
		}
	}
	for name, want := range map[string]string{"Scrooge": "person", "Bob Cratchit": "person", "Christmas": "event", "Camden Town": "location", "United States": "location"} {
		if types[name][want]*2 <= len(types[name]) {
			t.Errorf("%s is %v, want mostly %s", name, types[name], want)
		}
	}
	if !degree["Scrooge"]["Marley"] || !degree["Scrooge"]["Ghost"] {
		t.Error("Scrooge is not related to Marley and the Ghost")
	}
	t.Logf("%d entities; %d of the model's 30 best connected are among them", len(degree), modelHubs(t, degree))
	if n := modelHubs(t, degree); n < 18 {
		t.Errorf("only %d of the model's 30 best connected entities were found", n)
	}
}

// modelHubs counts which of the 30 entities of highest degree in the recorded graph are in found, in any case and
// with or without an article.
func modelHubs(t *testing.T, found map[string]map[string]bool) int {
	raw, err := os.ReadFile(filepath.Join(testkit.Data(t, "lightrag-carol"), "graph_chunk_entity_relation.graphml"))
	if err != nil {
		t.Fatal(err)
	}
	var g struct {
		Edges []struct {
			Source string `xml:"source,attr"`
			Target string `xml:"target,attr"`
		} `xml:"graph>edge"`
	}
	if err := xml.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	degree := make(map[string]int)
	for _, e := range g.Edges {
		degree[e.Source]++
		degree[e.Target]++
	}
	hubs := slices.SortedFunc(maps.Keys(degree), func(a, b string) int {
		if degree[a] != degree[b] {
			return degree[b] - degree[a]
		}
		return strings.Compare(a, b)
	})
	lower := make(map[string]bool)
	for name := range found {
		lower[strings.ToLower(name)] = true
	}
	n := 0
	var missing []string
	for _, name := range hubs[:30] {
		if key := strings.ToLower(name); lower[key] || lower[strings.TrimPrefix(key, "the ")] {
			n++
		} else {
			missing = append(missing, name)
		}
	}
	t.Logf("not found: %q", missing)
	return n
}

func TestRulesMessyDocuments(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testkit.Data(t, "messy-docs"), "*"))
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	r := rules(t, RulesOptions{})
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		checkExtraction(t, extract(t, r, string(raw)), DefaultRulesEntities, DefaultRulesRelations)
	}
}

func BenchmarkRules(b *testing.B) {
	r := rules(b, RulesOptions{})
	text := strings.Repeat(passage+"\n\n", 16)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		extract(b, r, text)
	}
}
