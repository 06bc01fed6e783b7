package vector

import (
	"fmt"
	"sync/atomic"
)

// Plan is a way to search a collection.
type Plan uint8

const (
	// PlanAuto lets the search choose what costs least.
	PlanAuto Plan = iota
	// PlanScan compares every vector: exact.
	PlanScan
	// PlanSet compares the vectors of the id set, and no others: exact.
	PlanSet
	// PlanIDs looks the given ids up one by one and compares their vectors: exact.
	PlanIDs
	// PlanIndex asks the index, and compares the vectors that it has not taken in.
	PlanIndex
	// PlanWide is PlanIndex with a search so much wider that enough of what it finds passes the filter.
	PlanWide
	// PlanNarrow is PlanIndex with a search that goes on until it has found enough that passes the filter.
	PlanNarrow

	plans = int(PlanNarrow) + 1
)

// String returns the plan's name in lower case.
func (p Plan) String() string {
	names := [plans]string{"auto", "scan", "set", "ids", "index", "wide", "narrow"}
	if int(p) < plans {
		return names[p]
	}
	return fmt.Sprintf("plan(%d)", uint8(p))
}

// MarshalText implements encoding.TextMarshaler.
func (p Plan) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// planCounts counts searches by the plan that gave their result, and those whose first plan did not.
type planCounts struct {
	by      [plans]atomic.Uint64
	retried atomic.Uint64
}

func (p *planCounts) count(i SearchInfo) {
	p.by[i.Plan].Add(1)
	if i.Tried != PlanAuto {
		p.retried.Add(1)
	}
}

// SearchInfo tells how a search was done.
type SearchInfo struct {
	// Plan gave the result.
	Plan Plan
	// Tried is the plan that was chosen first, when it found fewer vectors than there are or gave up; else it
	// is PlanAuto.
	Tried Plan
	// Share is the part of the vectors that was expected to pass the filters: 1 without any, 0 where it was
	// not asked.
	Share float64
}

// Costs by which a plan is chosen, in units of one row of a scan. Measured on 15,000 vectors of 768 dimensions
// and 40,000 of 100: a row of a scan takes 22 ns and 10 ns, one of a subset 32 to 54 ns, and a graph search
// 0.7 µs for each of the ef slots it is to find, those that do not pass the filter counted.
const (
	gatherRows = 2
	walkRows   = 40
	// A filter that admits this share at least is applied after a wider search: a fifth cheaper than
	// PlanNarrow at 1/2 and above, and dearer below.
	wideFrom = 0.5
	// A graph search without filters for more than 1/manyShare of the vectors costs more than a scan.
	manyShare = 8
	// filterSample vectors, spread over the collection, tell the share that passes a predicate: to 2 points
	// at a share of 1/10. It costs less than a tenth of a graph search.
	filterSample = 256
)

// choice is a plan with what it needs.
type choice struct {
	plan  Plan
	share float64 // expected to pass the filters
	most  int     // slots that an index may compare before an exact plan is cheaper; 0: any number
}

// choose returns the plan that costs least, or the one that was asked for.
func (t *search) choose() choice {
	plan, cost := t.exactPlan()
	exact := choice{plan: plan}
	fed := int(t.fed)
	switch {
	case t.o.Plan == PlanScan, t.o.Plan == PlanSet:
		return choice{plan: t.o.Plan}
	case t.o.Exact || t.g.index == nil || fed == 0 || !t.g.whole.Load():
		return exact
	case t.o.Plan == PlanIndex || t.o.Plan == PlanAuto && t.f.none():
		if t.o.Plan == PlanAuto && t.o.K > fed/manyShare {
			return exact
		}
		return choice{plan: PlanIndex, share: 1}
	}
	share := t.share()
	exact.share = share
	if t.o.Plan != PlanAuto {
		return choice{plan: t.o.Plan, share: max(share, 1/float64(fed))}
	}
	if float64(walkRows*t.width()) >= share*float64(cost) {
		return exact
	}
	if share >= wideFrom {
		return choice{plan: PlanWide, share: share}
	}
	return choice{plan: PlanNarrow, share: share, most: cost / gatherRows}
}

// exactPlan returns the cheapest plan that is exact, and its cost.
func (t *search) exactPlan() (Plan, int) {
	if t.f.set != nil && gatherRows*t.f.in.count < uint64(t.n) {
		return PlanSet, gatherRows * int(t.f.in.count)
	}
	return PlanScan, int(t.n)
}

// share is the part of the slots in the index that is expected to be admitted: from the size of the set where
// there is no predicate, else from a sample.
func (t *search) share() float64 {
	if t.f.test == nil && t.f.set != nil {
		return min(1, float64(t.f.in.count)/float64(t.n))
	}
	if t.f.none() {
		return 1
	}
	pass := 0
	for i := range uint64(filterSample) {
		if t.admit(uint32(i * uint64(t.fed) / filterSample)) {
			pass++
		}
	}
	return float64(pass) / filterSample
}
