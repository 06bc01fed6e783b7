package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/glimdb/db"
	"github.com/glimdb/db/query"
)

// Setup is one way of asking, a row of the table.
type Setup struct {
	Name string
	// Options are those of every question; Want is always query.WantData. ChunkTopK is raised to the largest K.
	Options query.Options
	// Exhaustive, when it is not nil, is what Options take a shortcut of (routing off, say): every question is asked with
	// it as well, and NeighborRecall tells what the shortcut loses.
	Exhaustive *query.Options
}

// Modes makes one setup of each mode, which differ from o in nothing else.
func Modes(o query.Options, modes ...query.Mode) []Setup {
	out := make([]Setup, len(modes))
	for i, m := range modes {
		out[i] = Setup{Name: string(m), Options: o}
		out[i].Options.Mode = m
	}
	return out
}

// Options are those of Run.
type Options struct {
	// Ks are the numbers of results that are looked at; default 1, 2, 5, 10; each 1 to query.MaxTopK.
	Ks []int
	// Progress, when it is not nil, is called after every question of a setup, on the goroutine of Run.
	Progress func(setup string, done, of int)
}

// Run asks every question under every setup, one after the other, and measures the rankings at each level that the
// questions have gold of. A first question that is not measured is asked before each setup, so that what is loaded once
// weighs on no latency.
//
// Errors: *QuestionError for questions that cannot be measured (see ReadQuestions), whose documents and chunks the
// database does not have, or whose entities may be several; *db.OptionError for Ks out of range, and for no setups; those of DB.Query, with the setup and
// the place of the question.
func Run(ctx context.Context, d *db.DB, questions []Question, setups []Setup, o Options) (*Report, error) {
	if len(o.Ks) == 0 {
		o.Ks = []int{1, 2, 5, 10}
	}
	o.Ks = slices.Compact(slices.Sorted(slices.Values(o.Ks)))
	if o.Ks[0] < 1 || o.Ks[len(o.Ks)-1] > query.MaxTopK {
		return nil, &db.OptionError{Field: "Ks", Value: o.Ks, Want: fmt.Sprint("numbers from 1 to ", query.MaxTopK)}
	}
	if len(setups) == 0 {
		return nil, &db.OptionError{Field: "setups", Value: "none", Want: "one or more"}
	}
	if len(questions) == 0 {
		return nil, place{line: 1}.refuse("give some", "there is no question")
	}
	questions, absent, err := resolve(ctx, d, questions)
	if err != nil {
		return nil, err
	}
	s, err := d.Stats(ctx)
	if err != nil {
		return nil, fmt.Errorf("eval: %w", err)
	}
	r := &Report{Questions: len(questions), AbsentEntities: absent, Ks: o.Ks, LSN: s.LSN, Documents: s.Documents, Chunks: s.Chunks,
		Entities: s.Entities, VectorBytes: s.VectorBytes, DiskBytes: s.DiskBytes}
	switch c, err := d.Clusters(ctx); {
	case err == nil:
		r.Clusters = &Clusters{Count: len(c.Clusters), Took: c.Took, Bytes: c.Bytes}
	case !errors.Is(err, db.ErrNotFound):
		return nil, fmt.Errorf("eval: %w", err)
	}
	for _, setup := range setups {
		a := &asking{ctx: ctx, d: d, setup: setup, ks: o.Ks, rankings: make(map[Level][]Measures), curves: make(map[Level][]Measures),
			ceilings: make(map[Level][]float64), members: make(map[uint32][]string)}
		if err := a.all(questions, o.Progress); err != nil {
			return nil, err
		}
		rows := a.rows()
		if len(rows) == 0 {
			r.Unmeasured = append(r.Unmeasured, setup.Name)
		}
		r.Rows = append(r.Rows, rows...)
	}
	return r, nil
}

// asking is one setup while it is measured.
type asking struct {
	ctx   context.Context
	d     *db.DB
	setup Setup
	ks    []int

	rankings, curves map[Level][]Measures // of each question with gold of the level; curves at every K to the largest
	neighbors        [][]float64          // by question, then K
	total, embed     []time.Duration
	fallbacks        map[string]int
	scanned          []float64           // of routed questions, the share of all chunks that were compared
	ceilings         map[Level][]float64 // of routed questions, the share of gold within the clusters
	members          map[uint32][]string // chunks of the clusters seen
	fellBack, asked  int
}

func (a *asking) all(questions []Question, progress func(string, int, int)) error {
	if _, err := a.ask(&questions[0], a.setup.Options); err != nil { // loads what is loaded once
		return err
	}
	a.fallbacks = make(map[string]int)
	for i := range questions {
		q := &questions[i]
		res, err := a.ask(q, a.setup.Options)
		if err != nil {
			return err
		}
		if err := a.note(q, res); err != nil {
			return err
		}
		if a.setup.Exhaustive != nil {
			full, err := a.ask(q, *a.setup.Exhaustive)
			if err != nil {
				return err
			}
			var at []float64
			for _, k := range a.ks {
				at = append(at, NeighborRecall(ranking(res, Chunks), ranking(full, Chunks), k))
			}
			a.neighbors = append(a.neighbors, at)
		}
		if progress != nil {
			progress(a.setup.Name, i+1, len(questions))
		}
	}
	return nil
}

func (a *asking) ask(q *Question, o query.Options) (*query.Result, error) {
	o.Want, o.Stream = query.WantData, false
	if largest := a.ks[len(a.ks)-1]; o.ChunkTopK < largest && (o.ChunkTopK != 0 || largest > defaultChunkTopK) {
		o.ChunkTopK = largest
	}
	res, err := a.d.Query(a.ctx, q.Question, o)
	if err != nil {
		return nil, fmt.Errorf("eval: %s, question of line %d: %w", a.setup.Name, q.at.line, err)
	}
	return res, nil
}

// defaultChunkTopK is that of query.Options.
const defaultChunkTopK = 20

func (a *asking) note(q *Question, res *query.Result) error {
	for _, l := range Levels() {
		gold := q.gold(l)
		if len(gold) == 0 || l == Entities && a.setup.Options.Mode == query.Naive {
			continue // naive looks for no entities; a question of another mode that fell back to it has found none
		}
		list := ranking(res, l)
		a.rankings[l] = append(a.rankings[l], Judge(list, gold, a.ks...))
		a.curves[l] = append(a.curves[l], Judge(list, gold, upTo(a.ks[len(a.ks)-1])...))
	}
	if err := a.noteRouting(q, res); err != nil {
		return err
	}
	a.total = append(a.total, res.Trace.Total)
	embed := time.Duration(0)
	for _, s := range res.Trace.Steps {
		if s.Name == query.StepEmbed {
			embed += s.Duration
		}
	}
	a.embed = append(a.embed, embed)
	a.asked++
	unrouted := res.Routing != nil && res.Routing.Fallback != ""
	if unrouted && len(res.Fallbacks) == 0 {
		a.fallbacks["routing: "+string(res.Routing.Fallback)]++
	}
	if len(res.Fallbacks) > 0 || unrouted {
		a.fellBack++
	}
	for _, f := range res.Fallbacks {
		a.fallbacks[fmt.Sprintf("%s: %s instead of %s", f.Step, f.To, f.From)]++
	}
	return nil
}

func upTo(k int) []int {
	ks := make([]int, k)
	for i := range ks {
		ks[i] = i + 1
	}
	return ks
}

// ranking lists what a result shows at a level, best first; documents in the order of their first chunk.
func ranking(res *query.Result, l Level) (ids []string) {
	if l == Entities {
		for _, e := range res.Data.Entities {
			ids = append(ids, e.Name)
		}
		return ids
	}
	for _, c := range res.Data.Chunks {
		if l == Documents {
			ids = append(ids, c.Document)
		} else {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func (a *asking) rows() (rows []Row) {
	for _, l := range Levels() {
		if len(a.rankings[l]) == 0 {
			continue
		}
		row := Row{Setup: a.setup.Name, Level: l, Judged: len(a.rankings[l]), Measures: Mean(a.rankings[l]),
			Latency: latencyOf(a.total), Embedding: latencyOf(a.embed),
			ScannedShare: meanOf(a.scanned), RoutingCeiling: meanOf(a.ceilings[l]),
			FallbackRate: float64(a.fellBack) / float64(a.asked), Fallbacks: a.fallbacks}
		for _, at := range Mean(a.curves[l]).At {
			row.RecallCurve = append(row.RecallCurve, at.Recall)
		}
		if len(a.neighbors) > 0 {
			row.NeighborRecall = means(a.neighbors)
		}
		rows = append(rows, row)
	}
	return rows
}

// means averages lists of one length, place by place.
func means(lists [][]float64) []float64 {
	out := make([]float64, len(lists[0]))
	for _, list := range lists {
		for i, v := range list {
			out[i] += v
		}
	}
	for i := range out {
		out[i] /= float64(len(lists)) // last, so that the mean of ones is one
	}
	return out
}
