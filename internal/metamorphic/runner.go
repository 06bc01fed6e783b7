package metamorphic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/query"
	"github.com/glimdb/db/vector"
)

// Config is one way to run a list.
type Config struct {
	Name string
	// Group names the content: configurations of one group must agree on answers and dumps.
	Group string
	// Whole: every document is one chunk, so that the model knows its entities and relations.
	Whole bool
	// Options of the database; FS, Extractor and Now are the runner's.
	Options db.Options
}

// Outcome is what the configurations of a group must agree on.
type Outcome struct {
	Answers []string // one an operation that reads what the model cannot know
	Dump    string   // logical, at the end
}

// checkpoint is the number of operations between two comparisons of the whole state.
const checkpoint = 10

type runner struct {
	cfg Config
	fs  *testkit.CrashFS
	d   *db.DB
	m   *model
	dim int // of the embedding model
	out Outcome
	n   int // operations done

	beside map[string]string // documents of the other workspace
}

// Run runs a list under one configuration and returns the first difference from the model, or error.
func Run(ctx context.Context, cfg Config, seed uint64, ops []Op) (_ Outcome, err error) {
	r := &runner{cfg: cfg, fs: testkit.NewCrashFS(seed), m: newModel(), dim: dimensions[0], beside: make(map[string]string)}
	defer func() {
		if r.d != nil {
			err = errors.Join(err, r.d.Close())
		}
		if err != nil {
			err = fmt.Errorf("metamorphic: %s: operation %d: %w", cfg.Name, r.n, err)
		}
	}()
	if err := r.start(ctx); err != nil {
		return Outcome{}, err
	}
	for rest := ops; len(rest) > 0; {
		n, err := r.step(ctx, rest)
		if err != nil {
			return Outcome{}, fmt.Errorf("%s: %w", rest[0].Kind, err)
		}
		rest = rest[n:]
	}
	if err := r.compare(ctx); err != nil {
		return Outcome{}, err
	}
	if err := check(ctx, r.d); err != nil {
		return Outcome{}, err
	}
	r.out.Dump, err = dump(ctx, r.d)
	return r.out, err
}

// start opens the database and makes sure that the collection and the graph exist.
func (r *runner) start(ctx context.Context) (err error) {
	if r.d, err = r.open(r.fs); err != nil {
		return err
	}
	return r.d.Update(ctx, func(tx *db.Tx) error {
		_, err := tx.CreateVectors("plain", vector.Config{Metric: vector.L2, Dim: dim})
		if err != nil {
			return err
		}
		_, err = tx.CreateGraph("plain", graph.Config{})
		return err
	})
}

func (r *runner) open(fs *testkit.CrashFS) (*db.DB, error) {
	e, err := embedder(r.dim)
	if err != nil {
		return nil, err
	}
	o := r.cfg.Options
	o.FS, o.Extractor, o.Models.Embedder, o.Models.Reranker = fs, scripted{}, e, query.NewOfflineReranker()
	o.Now = func() time.Time { return time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC) }
	return db.Open("glim.db", db.WithOptions(o))
}

// step does the first operation of rest, a snapshot with those it is held over, and returns how many.
func (r *runner) step(ctx context.Context, rest []Op) (n int, err error) {
	op := rest[0]
	r.n++
	if op.Kind == Snapshot {
		n, err = r.snapshot(ctx, op.N, rest[1:])
		return n + 1, err
	}
	if err := r.do(ctx, op); err != nil {
		return 1, err
	}
	if r.n%checkpoint == 0 || op.restarts() {
		return 1, r.compare(ctx)
	}
	return 1, nil
}

// restarts: the database is another one after the operation, so that no View can be held over it.
func (op Op) restarts() bool {
	switch op.Kind {
	case DumpLoad, Reopen, Crash, CrashTx, FaultTx, CrashDoc, CrashReembed:
		return true
	}
	return false
}

// snapshot holds a View open over up to n operations.
func (r *runner) snapshot(ctx context.Context, n int, rest []Op) (done int, err error) {
	err = r.d.View(ctx, func(tx *db.Tx) error {
		before, err := r.read(tx)
		if err != nil {
			return err
		}
		if d := differ(before, r.m.lines(r.cfg.Whole)); d != "" {
			return errors.New("a new view differs from the model: " + d)
		}
		model := r.m.clone()
		for done < min(n, len(rest)) && !rest[done].restarts() {
			k, err := r.step(ctx, rest[done:])
			if err != nil {
				return fmt.Errorf("%s under a view: %w", rest[done].Kind, err)
			}
			done += k
		}
		after, err := r.read(tx)
		if err != nil {
			return err
		}
		if d := differ(after, before); d != "" {
			return errors.New("an open view changed: " + d)
		}
		return search(tx, model, Op{Vector: make([]float32, dim), N: 10, Exact: true})
	})
	return done, err
}

// compare holds the whole state against the model.
func (r *runner) compare(ctx context.Context) error {
	var got []string
	err := r.d.View(ctx, func(tx *db.Tx) (err error) { got, err = r.read(tx); return err })
	if err != nil {
		return err
	}
	if d := differ(got, r.m.lines(r.cfg.Whole)); d != "" {
		return errors.New("state differs from the model: " + d)
	}
	var docs, want []string
	for info, err := range r.d.Documents(ctx, index.Filter{}) {
		if err != nil {
			return err
		}
		text, err := r.d.Text(ctx, info.ID)
		if err != nil {
			return err
		}
		docs = append(docs, fmt.Sprintf("%s %s %q", info.ID, info.Status, strings.TrimSpace(text)))
	}
	for id, text := range r.m.docs {
		want = append(want, fmt.Sprintf("%s processed %q", id, strings.TrimSpace(text)))
	}
	slices.Sort(docs)
	slices.Sort(want)
	if d := differ(docs, want); d != "" {
		return errors.New("documents differ from the model: " + d)
	}
	return nil
}

// read renders what a transaction sees.
func (r *runner) read(tx *db.Tx) (out []string, err error) {
	for it, err := range tx.KV("plain").Scan(nil, nil) {
		if err != nil {
			return nil, err
		}
		out = append(out, kvLine(string(it.Key), string(it.Value)))
	}
	c, err := tx.Vectors("plain")
	if err != nil {
		return nil, err
	}
	for row, err := range c.All() {
		if err != nil {
			return nil, err
		}
		out = append(out, vectorLine(row.ID, row.Vector))
	}
	if out, err = readGraph(tx, "plain", "plain", out); err != nil {
		return nil, err
	}
	if r.cfg.Whole {
		if out, err = readGraph(tx, db.KnowledgeGraph, "knowledge", out); err != nil && !errors.Is(err, db.ErrNotFound) {
			return nil, err
		}
	}
	slices.Sort(out)
	return out, nil
}

func readGraph(tx *db.Tx, name, shown string, out []string) ([]string, error) {
	g, err := tx.Graph(name)
	if err != nil {
		return out, err
	}
	for n, err := range g.Nodes() {
		if err != nil {
			return out, err
		}
		out = append(out, nodeLine(shown, n.Name, n.Type, n.Degree))
	}
	for e, err := range g.Edges() {
		if err != nil {
			return out, err
		}
		out = append(out, edgeLine(shown, e.Src, e.Dst, e.Weight))
	}
	return out, nil
}

func check(ctx context.Context, d *db.DB) error {
	for p, err := range d.Check(ctx) {
		if err != nil {
			return err
		}
		return fmt.Errorf("check: %s: %s", p.Part, p)
	}
	return nil
}

func dump(ctx context.Context, d *db.DB) (string, error) {
	var b bytes.Buffer
	err := d.Dump(ctx, &b, db.DumpOptions{Logical: true})
	return b.String(), err
}
