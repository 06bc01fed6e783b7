package query

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/llm"
)

// The reference's own stores and answers; see the README beside the data.
type goldenStore struct {
	Documents []struct {
		DocID    string `json:"doc_id"`
		FilePath string `json:"file_path"`
		Chunks   []struct {
			ChunkID  string `json:"chunk_id"`
			Order    int
			Content  string
			FilePath string `json:"file_path"`
		}
	}
	Graph struct {
		Nodes []struct {
			ID, Description string
			EntityType      string `json:"entity_type"`
			SourceID        string `json:"source_id"`
			FilePath        string `json:"file_path"`
		}
		Edges []struct {
			Src, Tgt, Keywords, Description string
			Weight                          float64
			SourceID                        string `json:"source_id"`
			FilePath                        string `json:"file_path"`
		}
	}
}

type goldenQuery struct {
	Variant, Query, Mode, Status string
	LL                           []string `json:"ll_keywords"`
	HL                           []string `json:"hl_keywords"`
	Param                        struct {
		TopK      int `json:"top_k"`
		ChunkTopK int `json:"chunk_top_k"`
		Entities  int `json:"max_entity_tokens"`
		Relations int `json:"max_relation_tokens"`
		Total     int `json:"max_total_tokens"`
	}
	Picker     string `json:"kg_chunk_pick_method"`
	Entities   []string
	Relations  [][2]string
	Chunks     [][2]string
	References [][2]string
	Hits       []struct {
		VDB  string
		Hits [][2]any
	} `json:"vector_hits"`
}

const goldenSeparator = "<SEP>"

// goldenTokenizer is the one the reference ran with.
type goldenTokenizer struct{ wordTokenizer }

var goldenToken = regexp.MustCompile(`\s*[A-Za-z0-9_]+|\s*[^A-Za-z0-9_\s]|\s+`)

func (goldenTokenizer) Count(text string) int { return len(goldenToken.FindAllStringIndex(text, -1)) }
func (goldenTokenizer) ID() string            { return "golden" }

// goldenEmbedder looks vectors up.
type goldenEmbedder map[string][]float32

func (g goldenEmbedder) Embed(_ context.Context, texts []string, _ llm.Kind) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if out[i] = g[text]; out[i] == nil {
			return nil, fmt.Errorf("no vector recorded for %q", text)
		}
	}
	return out, nil
}
func (goldenEmbedder) Dim() int   { return 384 }
func (goldenEmbedder) ID() string { return "fake/embed-384" } // that of the collections

func readGolden(t *testing.T, path string, to any) {
	t.Helper()
	b, err := os.ReadFile(path)
	check(t, err)
	check(t, json.Unmarshal(b, to))
}

// pyLine is a line as the reference serialises it, for its token counts.
func pyLine(pairs ...string) string {
	b := []byte{'{'}
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(record.AppendJSON(append(record.AppendJSON(b, pairs[i]), ": "...), pairs[i+1]), ""...)
	}
	return string(append(b, '}'))
}

// goldenCase is the reference's stored state: as an engine, and as plain maps for the model of its algorithm.
type goldenCase struct {
	engine    *Engine
	emb       goldenEmbedder
	content   map[string]string // chunk id -> text
	path      map[string]string // chunk id -> file
	node      map[string]record.Entity
	edge      map[[2]string]record.Relation
	neighbors map[string][]string // in stored order
}

func newGolden(t *testing.T, dir, name string) *goldenCase {
	var g goldenStore
	readGolden(t, filepath.Join(dir, "golden_"+name+".json"), &g)
	c := &goldenCase{emb: readVectors(t, filepath.Join(dir, "embeddings_"+name+".json")), content: map[string]string{}, path: map[string]string{},
		node: map[string]record.Entity{}, edge: map[[2]string]record.Relation{}, neighbors: map[string][]string{}}
	vector := func(text string) []float32 {
		v := c.emb[text]
		if v == nil {
			t.Fatalf("no vector recorded for %q", text)
		}
		return v
	}
	tok := goldenTokenizer{}
	split := func(s string) []string { return strings.Split(s, goldenSeparator) }
	// A line break costs nothing with this tokenizer, ours counts it in full: what is stored is one less.
	tokens := func(pairs ...string) int { return tok.Count(pyLine(pairs...)) - lineBreak }
	s := newStore(t, c.emb.Dim())
	s.tok = tok
	s.commit(func(w *writer) {
		for _, d := range g.Documents {
			for _, k := range d.Chunks {
				if got := w.chunk(d.DocID, k.Order, k.FilePath, k.Content, vector(k.Content)); got != k.ChunkID {
					t.Fatalf("chunk id %q, want %q", got, k.ChunkID)
				}
				c.content[k.ChunkID], c.path[k.ChunkID] = k.Content, k.FilePath
			}
		}
		for _, n := range g.Graph.Nodes {
			e := record.Entity{Name: n.ID, Type: n.EntityType, Description: n.Description, Sources: split(n.SourceID), Paths: split(n.FilePath),
				Tokens: tokens("entity", n.ID, "type", n.EntityType, "description", n.Description)}
			c.node[e.Name] = e
			check(t, w.g.PutNode(w.b, graph.Node{Name: e.Name, Type: e.Type, Props: e.Props()}))
			check(t, w.entities.Put(w.b, n.ID, vector(n.ID+"\n"+n.Description)))
		}
		for _, x := range g.Graph.Edges {
			c.neighbors[x.Src] = append(c.neighbors[x.Src], x.Tgt)
			c.neighbors[x.Tgt] = append(c.neighbors[x.Tgt], x.Src)
			a, b := record.SortPair(x.Src, x.Tgt)
			r := record.Relation{Src: a, Dst: b, Weight: x.Weight, Keywords: strings.Split(x.Keywords, ","), Description: x.Description,
				Sources: split(x.SourceID), Paths: split(x.FilePath), Tokens: tokens("entity1", x.Src, "entity2", x.Tgt, "description", x.Description)}
			c.edge[[2]string{a, b}] = r
			check(t, w.g.PutEdge(w.b, graph.Edge{Src: a, Dst: b, Weight: x.Weight, Props: r.Props()}))
			check(t, w.relations.Put(w.b, record.PairID(a, b), vector(x.Keywords+"\t"+a+"\n"+b+"\n"+x.Description)))
		}
	})
	c.engine = s.engine(func(cfg *Config) { cfg.Embedder, cfg.Tokenizer = c.emb, tok })
	return c
}

func readVectors(t *testing.T, path string) goldenEmbedder {
	var coded map[string]string
	readGolden(t, path, &coded)
	emb := make(goldenEmbedder, len(coded))
	for text, b64 := range coded {
		raw, err := base64.StdEncoding.DecodeString(b64)
		check(t, err)
		v := make([]float32, len(raw)/4)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		emb[text] = v
	}
	return emb
}

// rules are the ways in which the reference and Glim differ on purpose.
type rules struct {
	// discoveryTies: relations of equal rank and weight stay in order of discovery. Ours: by pair (spec/query.md
	// §4.2), because adjacency order is an accident of insertion.
	discoveryTies bool
	// halfVectors: the chunk picker compares vectors rounded to float16. Ours: float32, as stored.
	halfVectors bool
	// entities and relations above 0 override how many the budget keeps: the reference estimates the prefix from
	// a token cut and sometimes stops before an item that fits. Ours: the longest prefix that fits (§6.1).
	entities, relations int
}

// shown is what a query shows, in order.
type shown struct {
	entities   []string
	relations  [][2]string
	chunks     [][2]string // id, reference
	references [][2]string // id, path
}

func (a shown) diff(b shown) string {
	var sb strings.Builder
	add := func(what string, equal bool, x, y any) {
		if !equal {
			fmt.Fprintf(&sb, "\n%s\n  got  %q\n  want %q", what, x, y)
		}
	}
	add("entities", slices.Equal(a.entities, b.entities), a.entities, b.entities)
	add("relations", slices.Equal(a.relations, b.relations), a.relations, b.relations)
	add("chunks", slices.Equal(a.chunks, b.chunks), a.chunks, b.chunks)
	add("references", slices.Equal(a.references, b.references), a.references, b.references)
	return sb.String()
}

// model computes what a query shows from the recorded vector hits, by rules: plain slices and maps, no store,
// no engine. Chunk budgets never bind in these cases.
func (c *goldenCase) model(q goldenQuery, by rules) shown {
	var low, high Data
	var hits []candidate
	rel := func(p [2]string) Relation {
		e := c.edge[p]
		return Relation{Src: e.Src, Dst: e.Dst, Weight: e.Weight, Sources: e.Sources, Tokens: e.Tokens, Rank: len(c.neighbors[p[0]]) + len(c.neighbors[p[1]])}
	}
	ent := func(name string) Entity {
		return Entity{Name: name, Sources: c.node[name].Sources, Tokens: c.node[name].Tokens}
	}
	for _, h := range q.Hits {
		for _, hit := range h.Hits {
			switch h.VDB {
			case "entities":
				low.Entities = append(low.Entities, ent(hit[0].(string)))
			case "relationships":
				p := hit[0].([]any)
				a, b := record.SortPair(p[0].(string), p[1].(string))
				high.Relations = append(high.Relations, rel([2]string{a, b}))
				high.Entities = append(high.Entities, ent(a), ent(b))
			case "chunks":
				hits = append(hits, candidate{hit[0].(string), []Found{{}}})
			}
		}
	}
	seen := map[[2]string]bool{}
	for _, e := range low.Entities {
		for _, n := range c.neighbors[e.Name] {
			a, b := record.SortPair(e.Name, n)
			if p := [2]string{a, b}; !seen[p] {
				seen[p] = true
				low.Relations = append(low.Relations, rel(p))
			}
		}
	}
	slices.SortStableFunc(low.Relations, func(x, y Relation) int {
		tie := 0
		if !by.discoveryTies {
			tie = cmp.Or(cmp.Compare(x.Src, y.Src), cmp.Compare(x.Dst, y.Dst))
		}
		return cmp.Or(cmp.Compare(y.Rank, x.Rank), cmp.Compare(y.Weight, x.Weight), tie)
	})
	highEntities := mergeEntities(pointers(high.Entities))
	ents, rels := mergeEntities(pointers(low.Entities), highEntities), mergeRelations(pointers(low.Relations), pointers(high.Relations))
	cutE, cutR := cmp.Or(q.Param.Entities, defaultEntityBudget), cmp.Or(q.Param.Relations, defaultRelBudget)
	ents, _ = prefix(ents, cutE, func(e *Entity) int { return e.Tokens + lineBreak })
	rels, _ = prefix(rels, cutR, func(r *Relation) int { return r.Tokens + lineBreak })
	if by.entities > 0 {
		ents = ents[:by.entities]
	}
	if by.relations > 0 {
		rels = rels[:by.relations]
	}

	pick := func(p pool) []candidate {
		if q.Picker == "WEIGHT" {
			return p.pickByWeight(defaultRelated, "")
		}
		ids, owners := p.all()
		near := newNearest(c.emb[q.Query], p.vectorQuota(defaultRelated), false)
		for i, id := range ids {
			v := slices.Clone(c.emb[c.content[id]])
			if by.halfVectors {
				for k, f := range v {
					v[k] = half(f)
				}
			}
			near.see(i, v)
		}
		return p.pickByVector(near, ids, owners, "")
	}
	owners := func(n int, sources func(int) []string) (out []owner) {
		for i := range n {
			out = append(out, owner{strconv.Itoa(i), sources(i)})
		}
		return out
	}
	ofE := pick(newPool(owners(len(ents), func(i int) []string { return ents[i].Sources }), nil, true, 0))
	taken := map[string]bool{}
	for _, k := range ofE {
		taken[k.id] = true
	}
	ofR := pick(newPool(owners(len(rels), func(i int) []string { return rels[i].Sources }), taken, false, 0))
	var chunks []Chunk
	for _, k := range mergeCandidates(hits, ofE, ofR) {
		chunks = append(chunks, Chunk{ID: k.id, Path: c.path[k.id]})
	}
	chunks = chunks[:min(len(chunks), cmp.Or(q.Param.ChunkTopK, defaultChunkTopK))]
	for i := range chunks {
		chunks[i].InContext = true
	}
	refs := refer(chunks)
	return show(Data{values(ents), values(rels), chunks, refs})
}

// pointers are those to the elements of list.
func pointers[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

func show(d Data) (s shown) {
	for _, e := range d.Entities {
		s.entities = append(s.entities, e.Name)
	}
	for _, r := range d.Relations {
		s.relations = append(s.relations, [2]string{r.Src, r.Dst})
	}
	for _, c := range d.Chunks {
		if c.InContext { // the reference shows no others
			s.chunks = append(s.chunks, [2]string{c.ID, c.Reference})
		}
	}
	for _, r := range cited(d.References) {
		s.references = append(s.references, [2]string{r.ID, r.Path})
	}
	return s
}

// half rounds to float16 and back, to even.
func half(f float32) float32 {
	if f == 0 {
		return 0
	}
	_, exp := math.Frexp(float64(f))
	step := math.Ldexp(1, max(exp-11, -24)) // 11 significant bits; the spacing of subnormals below 2^-14
	return float32(math.RoundToEven(float64(f)/step) * step)
}

// purposes are the rules one by one: the name under which a difference is listed, why Glim differs, and the
// rules of the reference with this one replaced by ours.
var purposes = []struct {
	name, why string
	ours      func(rules) rules
}{
	{"ties", "relations of equal rank and weight are ordered by pair, not by the accident of insertion (spec/query.md §4.2)",
		func(by rules) rules { by.discoveryTies = false; return by }},
	{"float32", "chunks are picked by the vectors as they are stored, not rounded to float16 (§5.3)",
		func(by rules) rules { by.halfVectors = false; return by }},
	{"prefix", "the entity or relation budget keeps the longest prefix that fits; the reference sometimes drops an item that fits (§6.1)",
		func(by rules) rules { by.entities, by.relations = 0, 0; return by }},
}

// TestGoldenLightRAG holds the engine against recorded answers of the reference, order included. A model of the
// algorithm stands between the two: under the reference's rules it must give exactly the recorded answers, under
// ours exactly the engine's, so that whatever differs, differs by a rule. testdata/golden_differences.txt lists
// every answer that differs with the rules that make it differ; all others are equal.
func TestGoldenLightRAG(t *testing.T) {
	dir := testkit.Data(t, "golden-lightrag")
	var list strings.Builder
	list.WriteString("Answers that differ from the recorded ones of the reference, and by which rule:\n\n")
	for _, p := range purposes {
		fmt.Fprintf(&list, "%-8s %s\n", p.name, p.why)
	}
	for _, name := range []string{"tiny_fixed", "tiny_tick", "S"} {
		t.Run(name, func(t *testing.T) {
			c := newGolden(t, dir, name)
			var file struct{ Results []goldenQuery }
			readGolden(t, filepath.Join(dir, "queries_"+name+".json"), &file)
			var differences []string
			for _, q := range file.Results {
				if why := c.compare(t, q); len(why) > 0 {
					differences = append(differences, fmt.Sprintf("%-7s %-6s %q: %s", q.Variant, q.Mode, q.Query, strings.Join(why, ", ")))
				}
			}
			fmt.Fprintf(&list, "\n%s: %d of %d answers are the same\n\n", name, len(file.Results)-len(differences), len(file.Results))
			for _, d := range differences {
				fmt.Fprintf(&list, "%s\n", d)
			}
		})
	}
	golden(t, "golden_differences.txt", list.String())
}

// compare asks one question and returns the names of the rules that make the answer another than the recorded
// one: none when it is the same to the last place.
func (c *goldenCase) compare(t *testing.T, q goldenQuery) (why []string) {
	t.Helper()
	for i, x := range q.Relations { // the reference shows the direction of the edge, ours the sorted pair
		q.Relations[i][0], q.Relations[i][1] = record.SortPair(x[0], x[1])
	}
	recorded := shown{q.Entities, q.Relations, q.Chunks, q.References}
	what := fmt.Sprintf("%s %s %q", q.Variant, q.Mode, q.Query)

	reference := rules{discoveryTies: true, halfVectors: true}
	model := c.model(q, reference)
	nE, nR := len(q.Entities), len(q.Relations)
	if nE <= len(model.entities) && nR <= len(model.relations) && nE+nR < len(model.entities)+len(model.relations) {
		reference.entities, reference.relations = nE, nR
		model = c.model(q, reference)
	}
	if d := model.diff(recorded); d != "" {
		t.Errorf("%s: the model under the reference's rules against the reference:%s", what, d)
	}

	r := ask(t, c.engine, q.Query, Options{Mode: Mode(q.Mode), LowKeywords: q.LL, HighKeywords: q.HL, TopK: q.Param.TopK, ChunkTopK: q.Param.ChunkTopK,
		Picker: Picker(strings.ToLower(q.Picker)), Want: WantData, NoNames: true, Budget: Budget{q.Param.Entities, q.Param.Relations, q.Param.Total}})
	if ok := r.Outcome == OutcomeOK; ok != (q.Status == "success") {
		t.Errorf("%s: the outcome is %s, the reference's %s", what, r.Outcome, q.Status)
	}
	ours := show(r.Data)
	if d := ours.diff(c.model(q, rules{})); d != "" {
		t.Errorf("%s: the engine against the model under our rules:%s", what, d)
	}
	if ours.diff(recorded) == "" {
		return nil
	}
	for _, p := range purposes {
		if c.model(q, p.ours(reference)).diff(recorded) != "" {
			why = append(why, p.name)
		}
	}
	if len(why) == 0 {
		t.Errorf("%s: no rule alone makes the answer another than the recorded one:%s", what, ours.diff(recorded))
	}
	return why
}
