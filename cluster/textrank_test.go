package cluster

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// TestRankIsThatOfTheEquations compares the walk with the solution of the equations that define it, by elimination.
func TestRankIsThatOfTheEquations(t *testing.T) {
	r := seeded(t, 4)
	words := strings.Fields("lamp keeper mill ferry harbour bridge storm winter repair barley ladder signal tower")
	for n := range 30 {
		var list []*sentence
		numbers := make(map[string]int)
		for range n {
			var some []string
			for range 1 + r.IntN(6) {
				some = append(some, words[r.IntN(len(words))])
			}
			terms, _ := termsOf(strings.Join(some, " "), numbers)
			list = append(list, &sentence{terms: terms})
		}
		rankSentences(list)
		// (I - d·Wᵀ) rank = 1-d
		m := make([][]float64, n)
		for i := range m {
			m[i] = make([]float64, n+1)
			m[i][i], m[i][n] = 1, 1-damping
		}
		for i, s := range list {
			sum := 0.0
			for j, o := range list {
				if i != j {
					sum += s.likeness(o)
				}
			}
			for j, o := range list {
				if i != j && sum > 0 {
					m[j][i] -= damping * s.likeness(o) / sum
				}
			}
		}
		for i, want := range solved(m) {
			if got := list[i].rank; math.Abs(got-want) > rankTolerance/(1-damping) {
				t.Errorf("%d sentences: rank %d is %v, want %v", n, i, got, want)
			}
		}
	}
}

// solved is the solution of a system with a dominant diagonal, by Gauss and Jordan.
func solved(m [][]float64) []float64 {
	for i := range m {
		for j := range m {
			if j == i {
				continue
			}
			f := m[j][i] / m[i][i]
			for k := range m[j] {
				m[j][k] -= f * m[i][k]
			}
		}
	}
	out := make([]float64, len(m))
	for i := range m {
		out[i] = m[i][len(m)] / m[i][i]
	}
	return out
}

func TestCoreSentences(t *testing.T) {
	for _, c := range []struct {
		name  string
		texts []string
		want  []string
	}{
		{"none", nil, nil},
		{"empty", []string{"", " \n"}, nil},
		{"no words", []string{"!!! … ???", "--- *** ---"}, nil},
		{"one", []string{"The lamp burns."}, []string{"The lamp burns."}},
		{"function words", []string{"It is so."}, []string{"It is so."}},
		{"identical", []string{"The lamp burns. The lamp burns.", "The  lamp\nburns."}, []string{"The lamp burns."}},
		{"restated", []string{"The old keeper lights the lamp at dusk. At dusk the lamp the keeper lights. A ferry crosses."},
			[]string{"The old keeper lights the lamp at dusk.", "A ferry crosses."}},
		{"a heading counts without prose", []string{"# The Skarn Light"}, []string{"The Skarn Light"}},
		{"and not beside it", []string{"# The Skarn Light\n\nThe keeper lights the lamp."}, []string{"The keeper lights the lamp."}},
		{"unspaced", []string{"灯台守は毎晩ランプに火をともす。灯台守はランプを磨く。船が港に入る。"},
			[]string{"灯台守は毎晩ランプに火をともす。", "灯台守はランプを磨く。", "船が港に入る。"}},
		{"not valid", []string{"\xff\xfe lamp \xff."}, []string{"\xff\xfe lamp \xff."}},
	} {
		if got := coreSentences(c.texts); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// The sentences that others lean on are picked, asides are not, and they stand in the order of the texts.
func TestCoreIsWhatOthersLeanOn(t *testing.T) {
	texts := []string{
		"Nobody likes Mondays. The keeper of the lighthouse trims the lamp wick every evening. Soup was served.",
		"The wick of the lamp needs oil. A lighthouse without a keeper is dark every evening. Paint dries slowly.",
		"Oil for the lighthouse lamp comes by boat. Cats sleep. The keeper stores oil below the lamp room. Bread rose.",
	}
	got := coreSentences(texts)
	if len(got) != coreMost || strings.Index(strings.Join(texts, " "), got[0]) > strings.Index(strings.Join(texts, " "), got[4]) {
		t.Fatalf("%q", got)
	}
	for _, s := range got {
		if !strings.Contains(s, "lamp") && !strings.Contains(s, "lighthouse") {
			t.Errorf("an aside was picked: %q", s)
		}
	}
}

// However much there is, what is compared is bounded, each text has a share of it, and so is what is picked.
func TestCoreIsBounded(t *testing.T) {
	var long strings.Builder
	for i := range 3 * rankMost {
		fmt.Fprintf(&long, "Word%d follows another%d in a book%d that goes on for ever and says little. ", i, i%7, i%11)
	}
	texts := []string{long.String(), "The keeper lights the lamp."}
	list := sentencesOf(texts)
	if len(list) != rankMost/2+1 || list[len(list)-1].text != texts[1] {
		t.Errorf("%d sentences, the last is %q", len(list), list[len(list)-1].text)
	}
	core := coreSentences(texts)
	if len(core) > coreMost || len(strings.Join(core, "")) > coreBytes {
		t.Errorf("%d sentences: %q", len(core), core)
	}
	wide := "A " + strings.Repeat("sentence of many words that never ends ", 20) + "stops."
	if core := coreSentences([]string{wide}); len(core) != 1 || len(core[0]) <= coreBytes {
		t.Errorf("a long sentence alone: %q", core)
	}
}

func BenchmarkCoreSentences(b *testing.B) {
	r := seeded(b, 1)
	var text strings.Builder
	for range rankMost {
		for range 20 {
			fmt.Fprintf(&text, "Word%d ", r.IntN(2000))
		}
		text.WriteString("ends. ")
	}
	texts := []string{text.String()}
	if n := len(sentencesOf(texts)); n != rankMost {
		b.Fatal(n)
	}
	for b.Loop() {
		if len(coreSentences(texts)) == 0 {
			b.Fatal("nothing")
		}
	}
}

// polisher is a summary model that remembers what it was given.
type polisher struct {
	mu    sync.Mutex
	given [][]string
}

func (*polisher) ID() string { return "polisher" }

func (p *polisher) Summarize(_ context.Context, _, _ string, fragments []string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.given = append(p.given, slices.Clone(fragments))
	return "Polished.", nil
}

// In hybrid the model polishes the core sentences, in generative it reads the passages, and extractive leaves it alone.
func TestSummaryModes(t *testing.T) {
	passage := "A lamp burns in window %d. The keeper of the lamp sleeps by day. Nobody answers in room %d. Rain falls on pier %d. A dog barks at ship %d. Fog comes from hill %d. Oil is dear in year %d."
	var texts []string
	changes := make(map[string][]float32)
	p := &polisher{}
	s := openStore(t, vfs.NewMem(), 64)
	s.layer.cfg.Model = p
	for i := range 6 {
		v := gauss(seeded(t, 2), 64)
		v[i] += 0.01
		changes[record.ChunkID("doc", i)] = v
	}
	s.put(changes)
	if _, err := s.log.Update(ctx, "test", nil, func(b *kv.Batch) error {
		for i := range 6 {
			k := record.Chunk{Doc: "doc", Order: i, Content: strings.ReplaceAll(passage, "%d", fmt.Sprint(i))}
			texts = append(texts, k.Content)
			if err := b.SetText(record.ChunkKey(ws, "doc", i), k.Encode()); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []SummaryMode{SummaryExtractive, SummaryHybrid, SummaryGenerative} {
		p.given = nil
		rep := s.build(Options{K: 1, Summary: mode})
		summary := rep.Clusters[0].Summary
		switch mode {
		case SummaryExtractive:
			if len(p.given) > 0 || rep.Summarizer != rankerID || strings.Count(summary, ".") != coreMost {
				t.Errorf("extractive, by %s: %q, model given %q", rep.Summarizer, summary, p.given)
			}
		case SummaryHybrid:
			if len(p.given) != 1 || len(p.given[0]) < 3 || len(p.given[0]) > coreMost || summary != "Polished." || rep.Summarizer != "polisher" {
				t.Fatalf("hybrid, by %s: %q, model given %q", rep.Summarizer, summary, p.given)
			}
			for _, f := range p.given[0] {
				if !strings.Contains(strings.Join(texts, " "), f) || strings.Count(f, ".") != 1 {
					t.Errorf("not a sentence of the texts: %q", f)
				}
			}
		case SummaryGenerative:
			if len(p.given) != 1 || len(p.given[0]) != defaultReps || !slices.Contains(texts, p.given[0][0]) {
				t.Errorf("generative: model given %q", p.given)
			}
		}
	}
}
