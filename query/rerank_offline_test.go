package query

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestOfflineReranker(t *testing.T) {
	r := NewOfflineReranker()
	for _, c := range []struct {
		name, question string
		docs           []string
		want           []int // places of the docs, best first
	}{
		{"the words stand together", "Who repaired the pump?", []string{
			"The pump stands in the yard. " + strings.Repeat("Nothing happened. ", 5) + "Ada repaired the roof.", "Ada Pell repaired the pump in May.", "A yard."}, []int{1, 0, 2}},
		{"neighbouring sentences count together", "Which storm broke the mast?", []string{
			"A storm came. Rain fell. The mast was new.", "A storm came. It broke the mast.", "A mast."}, []int{1, 0, 2}},
		{"the form asked for", "Who founded the station?", []string{"The station found eels.", "Vale founded the station."}, []int{1, 0}},
		{"rare words count more", "heron harbour", []string{"The harbour.", "A heron.", "Harbour dues.", "Harbour wall."}, []int{1, 0, 2, 3}},
		{"Chinese", "谁修理了水泵？", []string{"屋顶很旧。水泵也很旧。", "李雷修理了水泵。", "院子。"}, []int{1, 0, 2}},
		{"equal ones are equal", "pump", []string{"A pump.", "A pump.", "A roof."}, []int{0, 1, 2}},
	} {
		scores, err := r.Rerank(context.Background(), c.question, c.docs)
		check(t, err)
		order := make([]int, len(scores))
		for i := range order {
			order[i] = i
			if s := scores[i]; s < 0 || s > 1 {
				t.Errorf("%s: score %v", c.name, s)
			}
		}
		slices.SortStableFunc(order, func(x, y int) int {
			switch {
			case scores[x] > scores[y]:
				return -1
			case scores[x] < scores[y]:
				return 1
			}
			return 0
		})
		if !slices.Equal(order, c.want) {
			t.Errorf("%s: order %v of scores %v, want %v", c.name, order, scores, c.want)
		}
	}
	for _, question := range []string{"", "???", "who is the", strings.Repeat("pump ", 10_000)} {
		scores, err := r.Rerank(context.Background(), question, []string{"A pump.", ""})
		if err != nil || len(scores) != 2 || scores[0] != scores[0] || scores[1] != 0 {
			t.Errorf("%.20q: %v, %v", question, scores, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Rerank(ctx, "pump", []string{"A pump."}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestOfflineRerankerWithStatistics: which word is rare, and what is long, is told by the store and not by the few texts.
func TestOfflineRerankerWithStatistics(t *testing.T) {
	docs := []string{"Heron harbour.", "A heron.", "A harbour.", "The heron stood."}
	for _, c := range []struct {
		herons, harbours int
		length           float64
		best             int // of the two that hold one word only
	}{{900, 3, 2, 2}, {3, 900, 2, 1}, {3, 900, 1000, 1}} {
		s := &statistics{passages: 1000, length: c.length, holding: map[string]int{"heron": c.herons, "harbour": c.harbours}}
		scores, err := offlineReranker{}.rerank(context.Background(), "heron harbour", docs, s)
		check(t, err)
		if other := 3 - c.best; scores[c.best] <= scores[other] {
			t.Errorf("%+v: scores %v", c, scores)
		}
		if long := scores[1] / scores[3]; c.best == 1 && (long > 1.1) != (c.length < 1000) {
			t.Errorf("%+v: the shorter text has %v of the longer", c, long)
		}
	}
}

// TestOfflineRerankerOnCorpus: over the whole shipped corpus, the document that answers a shipped question
// comes first nearly always.
func TestOfflineRerankerOnCorpus(t *testing.T) {
	const data = "../testdata"
	files, err := filepath.Glob(filepath.Join(data, "corpus", "*"))
	check(t, err)
	var docs []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		check(t, err)
		docs = append(docs, string(b))
	}
	b, err := os.ReadFile(filepath.Join(data, "questions.jsonl"))
	check(t, err)
	asked, wrong := 0, []string{}
	for line := range strings.Lines(string(b)) {
		var q struct {
			Question  string
			Documents []string
		}
		check(t, json.Unmarshal([]byte(line), &q))
		scores, err := NewOfflineReranker().Rerank(context.Background(), q.Question, docs)
		check(t, err)
		best := 0
		for i, s := range scores {
			if s > scores[best] {
				best = i
			}
		}
		asked++
		if !slices.Contains(q.Documents, filepath.Base(files[best])) {
			wrong = append(wrong, q.Question)
		}
	}
	if asked < 30 || len(wrong) > asked/15 {
		t.Errorf("%d of %d questions have another document first: %q", len(wrong), asked, wrong)
	}
}

func BenchmarkOfflineReranker(b *testing.B) {
	doc := strings.Repeat("The tide mill at the mouth of the creek has ground barley since 1742. ", 70) // about 1,200 tokens
	docs := slices.Repeat([]string{doc}, 20)
	b.SetBytes(int64(len(doc) * len(docs)))
	b.ReportAllocs()
	for b.Loop() {
		scores, err := NewOfflineReranker().Rerank(context.Background(), "since when has the mill ground barley", docs)
		if err != nil || scores[0] < .5 {
			b.Fatal(scores, err)
		}
	}
}
