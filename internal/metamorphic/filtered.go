package metamorphic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/query"
)

// document is the document of a name and a text. What filters select by follows from these two.
func document(name, text string) index.Document {
	return index.Document{ID: name, Path: name + ".txt", Text: text, Metadata: map[string]any{"lines": lineCount(text)}}
}

func lineCount(text string) int { return strings.Count(text, "\n") }

// selection is a filter in the form that operations have: a field and what it is to be, "" for none.
type selection string

// The fields, each behind a space by a value: an id, ids with commas between them, how an id or a path begins, the number of
// lines, and the least.
const (
	byID       = "id"
	byIDPrefix = "id-prefix"
	byPath     = "path"
	byLines    = "lines"
	byLeast    = "lines-from"
)

// filter is what the database is asked with.
func (s selection) filter() query.Filter {
	field, value, _ := strings.Cut(string(s), " ")
	n, _ := strconv.Atoi(value)
	switch field {
	case byID:
		return query.Filter{IDs: strings.Split(value, ",")}
	case byIDPrefix:
		return query.Filter{IDPrefix: value}
	case byPath:
		return query.Filter{PathPrefix: value}
	case byLines:
		return query.Filter{Metadata: map[string]any{"lines": n}}
	case byLeast:
		return query.Filter{Where: []query.Condition{{Key: "lines", Min: n}}}
	}
	return query.Filter{}
}

// selects is what the model makes of it.
func (s selection) selects(name, text string) bool {
	field, value, _ := strings.Cut(string(s), " ")
	n, _ := strconv.Atoi(value)
	switch field {
	case byID:
		return slices.Contains(strings.Split(value, ","), name)
	case byIDPrefix:
		return strings.HasPrefix(name, value)
	case byPath:
		return strings.HasPrefix(name+".txt", value)
	case byLines:
		return lineCount(text) == n
	case byLeast:
		return lineCount(text) >= n
	}
	return true
}

// selected is the part of the documents that s selects.
func (m *model) selected(s selection) map[string]string {
	docs := maps.Clone(m.docs)
	maps.DeleteFunc(docs, func(name, text string) bool { return !s.selects(name, text) })
	return docs
}

// spoken lists what documents speak of, as the graph has it: entities and relations.
func (m *model) spokenBy(docs map[string]string) (entities map[string]bool, relations map[[2]string]bool) {
	entities, relations = map[string]bool{}, map[[2]string]bool{}
	add := func(n string) {
		if !m.gone[n] {
			entities[m.name(n)] = true
		}
	}
	for _, text := range docs {
		x := parse(text)
		for _, e := range x.Entities {
			add(e.Name)
		}
		for _, r := range x.Relations {
			add(r.Src)
			add(r.Dst)
			p := pair(r.Src, r.Dst)
			if to := pair(m.name(p[0]), m.name(p[1])); to[0] != to[1] && !m.gone[p[0]] && !m.gone[p[1]] && !m.apart[p] {
				relations[to] = true
			}
		}
	}
	return entities, relations
}

// everything is a number of hits that no list of operations reaches.
const everything = 1000

// filtered asks with a filter. No mode tells of anything that the filter does not select; naive, which is asked for everything,
// finds what it finds without the filter, in the same order, less the other documents.
func (r *runner) filtered(ctx context.Context, op Op) error {
	s := selection(op.Other)
	least := query.Some(-1.0)
	o := query.Options{Mode: query.Mode(op.Name), Search: query.Searches()[op.N%len(query.Searches())], Want: query.WantData,
		NoRerank: true, ChunkTopK: everything, TopK: everything, CosineThreshold: least, Filter: s.filter()}
	if err := r.d.Settle(ctx); err != nil {
		return err
	}
	got, err := r.d.Query(ctx, op.Text, o)
	if err != nil {
		return err
	}
	docs := r.m.selected(s)
	for _, c := range got.Data.Chunks {
		if _, ok := docs[c.Document]; !ok {
			return fmt.Errorf("%q finds a passage of %s", s, c.Document)
		}
	}
	if got.Filter == nil || got.Filter.Documents != len(docs) {
		return fmt.Errorf("%q selects %+v, want %d documents", s, got.Filter, len(docs))
	}
	for _, why := range got.Reasons {
		if slices.Contains([]query.ReasonCode{query.ReasonDanglingEntities, query.ReasonDanglingRelations, query.ReasonDanglingChunks, query.ReasonVectorsMissing}, why.Code) {
			return fmt.Errorf("%q: %s", s, why.Detail)
		}
	}
	if err := r.onlySpoken(got, docs); err != nil {
		return fmt.Errorf("%q: %w", s, err)
	}
	if o.Mode != query.Naive {
		return nil
	}
	o.Filter = query.Filter{}
	all, err := r.d.Query(ctx, op.Text, o)
	if err != nil {
		return err
	}
	all.Data.Chunks = slices.DeleteFunc(all.Data.Chunks, func(c query.Chunk) bool { return !s.selects(c.Document, r.m.docs[c.Document]) })
	want := passages(all)
	if d := differ(passages(got), want); d != "" && o.Search != query.SearchHybrid { // which merges by the scores of its lists
		return fmt.Errorf("%q by %s: %s", s, o.Search, d)
	}
	if o.Search == query.SearchVector {
		if err := r.allPassages(ctx, docs, passages(got)); err != nil {
			return fmt.Errorf("%q: %w", s, err)
		}
	}
	r.out.Answers = append(r.out.Answers, fmt.Sprintf("%q by %s\n%s", s, o.Search, strings.Join(passages(got), "\n")))
	return nil
}

func passages(r *query.Result) []string {
	out := []string{}
	for _, c := range r.Data.Chunks {
		out = append(out, c.ID)
	}
	return out
}

// onlySpoken: entities and relations are those that documents speak of, and as many are said to be selected.
func (r *runner) onlySpoken(got *query.Result, docs map[string]string) error {
	if !r.cfg.Whole {
		return nil
	}
	entities, relations := r.m.spokenBy(docs)
	for _, e := range got.Data.Entities {
		if !entities[e.Name] {
			return fmt.Errorf("finds %s", e.Name)
		}
	}
	for _, e := range got.Data.Relations {
		if !relations[pair(e.Src, e.Dst)] {
			return fmt.Errorf("finds %s - %s", e.Src, e.Dst)
		}
	}
	if got.Filter.Entities != len(entities) || got.Filter.Relations != len(relations) {
		return fmt.Errorf("selects %+v, want %d entities, %d relations", got.Filter, len(entities), len(relations))
	}
	return nil
}

// allPassages: ids are those of all passages of documents, each once.
func (r *runner) allPassages(ctx context.Context, docs map[string]string, ids []string) error {
	var want []string
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		for c, err := range r.d.Chunks(ctx, name, 0) {
			if err != nil {
				return err
			}
			want = append(want, c.ID)
		}
	}
	if r.cfg.Whole && len(want) != len(docs) {
		return errors.New("a document is not one passage")
	}
	slices.Sort(want)
	if d := differ(slices.Sorted(slices.Values(ids)), want); d != "" {
		return errors.New("not all passages: " + d)
	}
	return nil
}
