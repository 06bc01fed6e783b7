package vector

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/glimdb/db/internal/brief"
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

var planNames = [plans]string{"auto", "scan", "set", "ids", "index", "wide", "narrow"}

// String returns the plan's name in lower case.
func (p Plan) String() string {
	if int(p) < plans {
		return planNames[p]
	}
	return fmt.Sprintf("plan(%d)", uint8(p))
}

// MarshalText implements encoding.TextMarshaler.
func (p Plan) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads a plan's name; of any other text it leaves p as it is and returns an error that is ErrParameter.
func (p *Plan) UnmarshalText(text []byte) error {
	i := slices.Index(planNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("%w: plan %s: want one of %s", ErrParameter, brief.Quote(string(text)), strings.Join(planNames[:], ", "))
	}
	*p = Plan(i)
	return nil
}

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

// Costs by which a plan is chosen, in nanoseconds of one core; only their ratios matter. Comparing a row takes a
// little and the time in which its bytes come from memory, a twelfth of one for each: a fiftieth where the
// cache holds the codes, a quarter beside others that use it up. Measured so on 15,000 vectors of 768
// dimensions and 40,000 of 100, scans take 26 to 180 ns and 10 to 50 ns a row, subsets 45 to 110 and 20 to 60, and a
// graph search 0.8 to 1.4 µs for each of the slots that it is to find, those that do not pass the filter counted.
const (
	scanCost     = 10
	gatherCost   = 20 // a row of a subset, which is looked for first
	bytesPerCost = 12
	walkCost     = 1000
	readCost     = 5000 // a row that is read from the store, its block in the cache or not, where only bits are in memory
	// A filter that admits this share at least is applied after a wider search: a fifth cheaper than
	// PlanNarrow at 1/2 and above, and dearer below.
	wideFrom = 0.5
	// A graph search without filters for more than 1/manyShare of the vectors costs more than a scan.
	manyShare = 8
	// filterSample vectors, spread over the collection, tell the share that passes a predicate: to 2 points
	// at a share of 1/10. It costs some 20 µs.
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
	if walkCost*float64(t.width()) >= share*cost {
		return exact
	}
	index := choice{plan: PlanNarrow, share: share, most: int(cost / t.rowCost(gatherCost))}
	if share >= wideFrom {
		index.plan = PlanWide
	}
	return index
}

// exactPlan returns the cheapest plan that is exact, and its cost.
func (t *search) exactPlan() (Plan, float64) {
	scan := t.rowCost(scanCost) * float64(t.n)
	if t.f.set != nil {
		if set := t.rowCost(gatherCost) * float64(t.f.in.count); set < scan {
			return PlanSet, set
		}
	}
	return PlanScan, scan
}

// rowCost is the cost of comparing a row that takes base beside its bytes.
func (t *search) rowCost(base float64) float64 {
	p := t.g.points
	if p.blind() {
		return base + readCost
	}
	n := p.codeStride
	if n == 0 {
		n = 4 * p.stride
	}
	return base + float64(n)/bytesPerCost
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
