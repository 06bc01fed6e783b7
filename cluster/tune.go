package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
)

// TuneOptions are those of one Tune.
type TuneOptions struct {
	// Questions are such as will be asked, and can be answered; 1 to 10,000. Without any, chunks stand in, which are more
	// like other chunks than questions are, and the threshold stays.
	Questions []string
	// Recall is the share of the ten nearest chunks that is aimed at; 0: 0.975.
	Recall float64
	// Curve also clusters a sample with several K, see Options.Elbow.
	Curve bool
	// Keep only measures: the limits stay what they are.
	Keep bool
}

const maxQuestions = 10_000

// Tuning is the evidence of a Tune.
type Tuning struct {
	Questions int `json:"questions"` // that were asked; chunks where none were given
	// Table tells what each number of clusters finds.
	Table []TunePoint `json:"table"`
	// Limits are what follows; they are in force unless Keep was set.
	Limits Limits `json:"limits"`
	// Recall, Share and Probes are those under Limits.
	Recall float64 `json:"recall"`
	Share  float64 `json:"share"`
	Probes float64 `json:"probes"`
	// Curve is what several K yield, and Elbow the one at its bend; nil and 0 unless asked for.
	Curve []CurvePoint `json:"curve,omitempty"`
	Elbow int          `json:"elbow,omitempty"`
}

// TunePoint is what searching the nearest clusters yields.
type TunePoint struct {
	Clusters int     `json:"clusters"`
	Recall   float64 `json:"recall"` // share of the ten nearest chunks in them: no search of them finds more
	Share    float64 `json:"share"`  // part of all chunks in them
}

// Tune measures how many clusters questions have to search, and sets the limits of the generation: the least number that
// reaches the recall, a slack under which one question in fifty counts as spread evenly, and as threshold the twentieth
// part of the questions that are least like any cluster. It embeds the questions, and searches all chunks for each exactly.
// Without clusters it is ErrNone.
func (l *Layer) Tune(ctx context.Context, o TuneOptions) (t Tuning, err error) {
	def(&o.Recall, aimRecall)
	switch {
	case !(o.Recall > 0 && o.Recall <= 1):
		return t, &OptionError{"Recall", o.Recall, "above 0, at most 1"}
	case len(o.Questions) > maxQuestions:
		return t, &OptionError{"Questions", len(o.Questions), fmt.Sprintf("at most %d", maxQuestions)}
	}
	if err := l.begin(ctx); err != nil {
		return t, err
	}
	defer l.end()
	view, err := l.cfg.Updater.View()
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	n := l.nav.Load()
	if n == nil {
		return t, ErrNone
	}
	s, err := n.coll.Survey(view)
	if err != nil {
		return t, err
	}
	f := newField(s)
	if o.Curve {
		if t.Curve, err = Curve(ctx, f.rows(n.head.Dim), n.head.Options.Seed); err != nil {
			return t, err
		}
		if len(t.Curve) > 0 {
			t.Elbow = t.Curve[elbow(t.Curve)].K
		}
	}
	probes, err := l.questions(ctx, view, n, f, o.Questions)
	if err != nil || len(probes) == 0 {
		return t, errors.Join(err, s.Err())
	}
	t.Questions = len(probes)
	t.Limits = limitsFor(probes, n, o.Recall)
	t.Limits.Threshold = n.head.Limits.Threshold
	if len(o.Questions) > 0 {
		t.Limits.Threshold = threshold(probes)
	}
	t.Recall, t.Share, t.Probes = outcome(probes, n, t.Limits)
	t.Table = table(probes, n, t.Limits.Max)
	if o.Keep {
		return t, nil
	}
	return t, l.setLimits(ctx, t.Limits)
}

// questions are the probes of questions, or of chunks.
func (l *Layer) questions(ctx context.Context, r kv.Reader, n *Navigation, f *field, questions []string) ([]probe, error) {
	cells := make(map[string][]uint32)
	for _, c := range n.clusters {
		if c != nil {
			for _, m := range n.cells.Members(r, c.ID) {
				cells[m.ID] = append(cells[m.ID], c.ID)
			}
		}
	}
	of := func(id string) []uint32 { return cells[id] }
	if len(questions) == 0 {
		return n.probeChunks(ctx, r, f, of)
	}
	e := l.cfg.Embedder()
	vectors, err := e.Embed(ctx, questions, llm.ForQuery)
	if err == nil {
		err = llm.CheckVectors(e.ID(), vectors, len(questions), n.head.Dim)
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: embed %d questions: %w", len(questions), err)
	}
	return n.probe(ctx, r, vectors, nil, of)
}

// threshold is the score of the best cluster that all but a twentieth of the probes reach.
func threshold(probes []probe) float64 {
	best := make([]float64, 0, len(probes))
	for _, p := range probes {
		if len(p.near) > 0 {
			best = append(best, p.near[0].Score)
		}
	}
	slices.Sort(best)
	const unlike = 20
	return best[len(best)/unlike]
}

// table tells what each number of clusters finds, up to most, in steps that grow.
func table(probes []probe, n *Navigation, most int) (out []TunePoint) {
	for k := 1; k <= min(2*most, n.k); k += max(1, k/4) {
		p := TunePoint{Clusters: k, Recall: recallOf(probes, k)}
		for _, x := range probes {
			p.Share += n.share(x.near[:min(k, len(x.near))])
		}
		p.Share /= float64(len(probes))
		out = append(out, p)
	}
	return out
}

// setLimits puts limits in force, under which routed questions are watched anew.
func (l *Layer) setLimits(ctx context.Context, lim Limits) error {
	return l.setHead(ctx, func(n *Navigation, h *head) bool {
		h.Limits, h.First = lim, 0
		n.seen = l.watch.newSeen(0)
		return true
	})
}

// setHead commits a change of the head, made on a copy of the present navigation; change returns false to leave it at that.
func (l *Layer) setHead(ctx context.Context, change func(n *Navigation, h *head) bool) error {
	_, err := l.cfg.Updater.Update(ctx, ChangeKind, nil, func(b *kv.Batch) error {
		n := l.nav.Load()
		if n == nil {
			return ErrNone
		}
		next := n.with(n.lsn, n.head, nil)
		if !change(next, &next.head) {
			return nil
		}
		v, err := next.head.encode()
		if err != nil {
			return err
		}
		b.OnCommit(func(kv.LSN) { l.nav.Store(next) })
		return b.Set(headKey(l.cfg.Workspace), v)
	})
	return err
}
