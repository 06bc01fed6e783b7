package eval

import (
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/query"
)

// noteRouting notes what clusters a question went to, and how much of its gold is in them.
func (a *asking) noteRouting(q *Question, res *query.Result) error {
	r := res.Routing
	if r == nil {
		return nil
	}
	if !r.Used || r.Total == 0 {
		a.scanned = append(a.scanned, 1)
		for _, l := range []Level{Documents, Chunks} {
			if len(q.gold(l)) > 0 {
				a.ceilings[l] = append(a.ceilings[l], 1)
			}
		}
		return nil
	}
	a.scanned = append(a.scanned, float64(r.Scanned)/float64(r.Total))
	within := map[Level]map[string]bool{Documents: {}, Chunks: {}}
	for _, c := range r.Clusters {
		ids, known := a.members[c.ID]
		if !known {
			var err error
			if ids, err = a.d.ClusterMembers(a.ctx, c.ID); err != nil {
				return err
			}
			a.members[c.ID] = ids
		}
		for _, id := range ids {
			doc, _, _ := record.ParseChunkID(id)
			within[Chunks][id], within[Documents][doc] = true, true
		}
	}
	for l, ids := range within {
		gold := q.gold(l)
		if len(gold) == 0 {
			continue
		}
		n := 0
		for id := range gold {
			if ids[id] {
				n++
			}
		}
		a.ceilings[l] = append(a.ceilings[l], float64(n)/float64(len(gold)))
	}
	return nil
}

// meanOf is nil for nothing.
func meanOf(all []float64) *float64 {
	if len(all) == 0 {
		return nil
	}
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	sum /= float64(len(all))
	return &sum
}
