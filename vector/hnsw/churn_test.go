package hnsw_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/glimdb/db/internal/testkit/vectorkit"
	"github.com/glimdb/db/vector"
	"github.com/glimdb/db/vector/hnsw"
)

// A graph whose nodes were all replaced, three times over, is as good as a new one of the same nodes: it has about as
// many links, and a narrow search finds as much.
func TestChurnedGraphIsAsGoodAsNew(t *testing.T) {
	const dim, turns, queries, k, atOnce = 48, 3, 500, 10, 16
	n := vectorkit.Scaled(1500)
	r := vectorkit.Rand(t, 31)
	points := vectorkit.Points(t, vector.Config{Dim: dim}, vectorkit.Embedded(r, (turns+1)*n+queries, dim))
	first := points.Len() - queries // of the queries, which are in no graph

	churned := hnsw.New(vector.IndexOptions{Config: points.Config()})
	churned.Attach(points, nil)
	var live []uint32
	for slot := range uint32(n) {
		churned.Insert(slot)
		live = append(live, slot)
	}
	for next := uint32(n); next < first; {
		for part := range slices.Chunk(r.Perm(n), atOnce) {
			var dead []uint32
			for _, at := range part {
				churned.Insert(next)
				dead, live[at] = append(dead, live[at]), next
				next++
			}
			churned.Remove(dead)
		}
	}
	fresh := hnsw.New(vector.IndexOptions{Config: points.Config()})
	fresh.Attach(points, nil)
	for _, slot := range live {
		fresh.Insert(slot)
	}

	probe := points.NewProbe()
	ids, out := make([]uint32, vector.MaxGather), make([]float32, vector.MaxGather)
	missed := func(x vector.Index, slot uint32) int {
		probe.SetSlot(slot)
		var all []float32
		for part := range slices.Chunk(live, vector.MaxGather) {
			probe.Distances(part, out[:len(part)])
			all = append(all, out[:len(part)]...)
		}
		slices.SortFunc(all, cmp.Compare[float32])
		near := x.Search(vector.Query{Probe: probe, K: k, Ef: k, Admit: func(uint32) bool { return true }}, ids[:0])
		probe.Distances(near, out[:len(near)])
		return k - len(slices.DeleteFunc(out[:len(near)], func(d float32) bool { return d > all[k-1] }))
	}
	lost := 0
	for slot := first; slot < points.Len(); slot++ {
		lost += missed(churned, slot) - missed(fresh, slot)
	}
	percent := 100 * float64(lost) / (queries * k)
	links, want := churned.Stats().Links, fresh.Stats().Links
	t.Logf("%.2f points of recall lost; %d links, %d in a new graph", percent, links, want)
	if percent > 1 {
		t.Errorf("%.2f points of recall are lost", percent)
	}
	if links*10 < want*9 {
		t.Errorf("%d links, %d in a new graph", links, want)
	}
}
