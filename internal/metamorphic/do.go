package metamorphic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/query"
	"github.com/glimdb/db/vector"
)

// do does one operation on the database and on the model.
func (r *runner) do(ctx context.Context, op Op) error {
	switch op.Kind {
	case Search:
		return r.d.View(ctx, func(tx *db.Tx) error { return search(tx, r.m, op) })
	case Scan:
		return r.d.View(ctx, func(tx *db.Tx) error { return scan(tx, r.m, op.Name, op.Other) })
	case DocInsert, DocPut, DocDelete:
		return r.document(ctx, op)
	case EntityCreate, EntityType, EntityRename, EntityMerge, EntityDelete, EntityReset, AliasRemove, RelationCreate, RelationDelete:
		return r.edit(ctx, op)
	case BesidePut, BesideDrop:
		return r.doBeside(ctx, op)
	case Query:
		return r.query(ctx, op)
	case Filtered:
		return r.filtered(ctx, op)
	case SearchEntities:
		return r.searchEntities(ctx, op)
	case DumpLoad:
		return r.dumpLoad(ctx)
	case Reopen:
		return errors.Join(r.close(), r.start(ctx))
	case Crash:
		next := r.fs.Crash()
		_ = r.close() // a database without a disk may say so
		r.fs = next
		return errors.Join(r.start(ctx), check(ctx, r.d))
	case CrashTx, FaultTx:
		return r.interruptedTx(ctx, op)
	case CrashDoc:
		return r.crashDoc(ctx, op)
	case Reembed:
		return r.reembed(ctx, op)
	case CrashReembed:
		return r.crashReembed(ctx, op)
	case CacheClear:
		_, err := r.d.ClearCache(ctx)
		return err
	default:
		return r.d.Update(ctx, func(tx *db.Tx) error { return r.write(tx, op) })
	}
}

func (r *runner) close() error {
	d := r.d
	r.d = nil
	return d.Close()
}

// write is an operation inside a transaction.
func (r *runner) write(tx *db.Tx, op Op) error {
	g, err := tx.Graph("plain")
	if err != nil {
		return err
	}
	c, err := tx.Vectors("plain")
	if err != nil {
		return err
	}
	switch op.Kind {
	case KVPut:
		r.m.kv[op.Name] = op.Text
		return tx.KV("plain").Put([]byte(op.Name), []byte(op.Text))
	case KVDelete:
		delete(r.m.kv, op.Name)
		return tx.KV("plain").Delete([]byte(op.Name))
	case VectorPut:
		r.m.vecs[op.Name] = op.Vector
		return errors.Join(c.Put(op.Name, op.Vector), search(tx, r.m, Op{Vector: op.Vector, N: 3, Exact: true}))
	case VectorDelete:
		delete(r.m.vecs, op.Name)
		return c.Delete(op.Name)
	case NodePut:
		r.m.nodes[op.Name] = op.Text
		return g.PutNode(graph.Node{Name: op.Name, Type: op.Text})
	case NodeDelete:
		_, had := r.m.nodes[op.Name]
		r.m.deleteNode(op.Name)
		return found(had, g.DeleteNode(op.Name))
	case NodeRename:
		err := g.RenameNode(op.Name, op.Other)
		_, had := r.m.nodes[op.Name]
		if _, taken := r.m.nodes[op.Other]; had && taken && op.Name != op.Other {
			if !errors.Is(err, graph.ErrExists) {
				return fmt.Errorf("rename to a name that is taken: %w", orMissing(err))
			}
			return nil
		}
		if had {
			r.m.rename(op.Name, op.Other)
		}
		return found(had, err)
	case EdgePut:
		err := g.PutEdge(graph.Edge{Src: op.Name, Dst: op.Other, Weight: float64(op.N)})
		if r.m.putEdge(op.Name, op.Other, float64(op.N)) {
			return err
		}
		var missing *graph.MissingNodeError
		if !errors.As(err, &missing) {
			return fmt.Errorf("edge without a node: %w", orMissing(err))
		}
		return nil
	case EdgeDelete:
		_, had := r.m.edges[pair(op.Name, op.Other)]
		delete(r.m.edges, pair(op.Name, op.Other))
		return found(had, g.DeleteEdge(op.Name, op.Other, ""))
	}
	return fmt.Errorf("unknown operation %q", op.Kind)
}

var errAccepted = errors.New("accepted, want an error")

func orMissing(err error) error {
	if err == nil {
		return errAccepted
	}
	return err
}

// found holds err against what the model says: nil when the object was there, else ErrNotFound.
func found(had bool, err error) error {
	switch {
	case had:
		return err
	case errors.Is(err, db.ErrNotFound):
		return nil
	}
	return fmt.Errorf("absent object: %w", orMissing(err))
}

// scan compares a range of keys.
func scan(tx *db.Tx, m *model, from, to string) error {
	var got, want []string
	for it, err := range tx.KV("plain").Scan([]byte(from), []byte(to)) {
		if err != nil {
			return err
		}
		got = append(got, kvLine(string(it.Key), string(it.Value)))
	}
	for _, k := range slices.Sorted(maps.Keys(m.kv)) {
		if from <= k && k < to {
			want = append(want, kvLine(k, m.kv[k]))
		}
	}
	if d := differ(got, want); d != "" {
		return fmt.Errorf("scan from %q to %q: %s", from, to, d)
	}
	return nil
}

// search compares with brute force: an exact one hit by hit, another one as far as its promise goes.
func search(tx *db.Tx, m *model, op Op) error {
	c, err := tx.Vectors("plain")
	if err != nil {
		return err
	}
	hits, err := c.Search(op.Vector, vector.SearchOptions{K: op.N, Exact: op.Exact})
	if err != nil {
		return err
	}
	want := m.nearest(op.Vector, op.N)
	var got []string
	last := float32(0)
	for _, h := range hits {
		v, ok := m.vecs[h.ID]
		if !ok || slices.Contains(got, h.ID) {
			return fmt.Errorf("search returns %q, absent or repeated", h.ID)
		}
		dist := distance(op.Vector, v)
		if dist < last {
			return fmt.Errorf("search returns %q out of order", h.ID)
		}
		got, last = append(got, h.ID), dist
	}
	if len(got) != len(want) || op.Exact && !slices.Equal(got, want) {
		return fmt.Errorf("search (exact %v) returns %v, want %v", op.Exact, got, want)
	}
	return nil
}

func (r *runner) document(ctx context.Context, op Op) error {
	doc := document(op.Name, op.Text)
	old, had := r.m.docs[op.Name]
	switch op.Kind {
	case DocInsert:
		_, err := r.d.Insert(ctx, doc)
		if had && old != op.Text {
			if err == nil {
				return fmt.Errorf("insert of a known id with another text: %w", errAccepted)
			}
			return nil
		}
		r.m.docs[op.Name] = op.Text
		return err
	case DocPut:
		_, err := r.d.Put(ctx, doc)
		r.m.docs[op.Name] = op.Text
		r.m.forget()
		return err
	default:
		_, err := r.d.Delete(ctx, op.Name)
		delete(r.m.docs, op.Name)
		r.m.forget()
		return found(had, err)
	}
}

// query asks twice: equal states give equal answers, now and under the other options of the group.
func (r *runner) query(ctx context.Context, op Op) error {
	var first string
	for i := range 2 {
		res, err := r.d.Query(ctx, op.Text, query.Options{Mode: query.Mode(op.Name), Want: query.WantContext})
		if err != nil {
			return err
		}
		answer := fmt.Sprintf("%s %s\n%s", op.Name, res.Outcome, res.Context)
		if i == 0 {
			first = answer
			r.out.Answers = append(r.out.Answers, answer)
		} else if answer != first {
			return fmt.Errorf("the same question gives another answer:\n%s\nthen\n%s", first, answer)
		}
	}
	return nil
}

// dumpLoad loads a dump into an empty database, compares, and goes on with the new one.
func (r *runner) dumpLoad(ctx context.Context) error {
	want, err := dump(ctx, r.d)
	if err != nil {
		return err
	}
	var full bytes.Buffer
	if err := r.d.Dump(ctx, &full, db.DumpOptions{}); err != nil {
		return err
	}
	if err := r.close(); err != nil {
		return err
	}
	r.fs = testkit.NewCrashFS(uint64(r.n))
	clear(r.beside) // a dump is of one workspace
	if r.d, err = r.open(r.fs); err != nil {
		return err
	}
	if _, err := r.d.Load(ctx, &full); err != nil {
		return err
	}
	got, err := dump(ctx, r.d)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("loaded dump differs:\n%s\nwant\n%s", got, want)
	}
	return check(ctx, r.d)
}

// interrupted cuts the power at the k-th file operation of f, or after it, and opens what is left. acked
// tells whether f was acknowledged.
func (r *runner) interrupted(ctx context.Context, k int, f func() error) (acked bool, err error) {
	r.fs.CrashAt(k)
	err = f()
	crashed := r.fs.Crashed()
	next := r.fs.Crash()
	_ = r.close() // a database without a disk may say so
	r.fs = next
	if err != nil && !crashed {
		return false, err
	}
	return err == nil, r.recovered(ctx)
}

// filled fills the disk at the k-th file operation of f, makes space again, and opens what is left.
func (r *runner) filled(ctx context.Context, k int, f func() error) (acked bool, err error) {
	r.fs.FailAt(k, testkit.ErrNoSpace)
	err = f()
	if err == nil || errors.Is(err, db.ErrDiskFull) {
		if _, derr := dump(ctx, r.d); derr != nil {
			return false, fmt.Errorf("reading with a full disk: %w", derr)
		}
	}
	r.fs.Heal()
	_ = r.close() // a database whose disk was full may say so
	if err != nil && !errors.Is(err, db.ErrDiskFull) {
		return false, err
	}
	return err == nil, r.recovered(ctx)
}

// recovered opens and checks what an interruption left.
func (r *runner) recovered(ctx context.Context) error {
	if err := r.start(ctx); err != nil {
		return fmt.Errorf("open after the interruption: %w", err)
	}
	return check(ctx, r.d)
}

// interruptedTx: a transaction over all three data models is whole or absent, then it is done again.
func (r *runner) interruptedTx(ctx context.Context, op Op) error {
	do := func(m *model) func(tx *db.Tx) error {
		w := &runner{m: m}
		return func(tx *db.Tx) error {
			return errors.Join(
				w.write(tx, Op{Kind: KVPut, Name: op.Name, Text: op.Text}),
				w.write(tx, Op{Kind: VectorPut, Name: op.Name, Vector: op.Vector}),
				w.write(tx, Op{Kind: NodePut, Name: op.Name, Text: op.Text}))
		}
	}
	next := r.m.clone()
	interrupt := r.interrupted
	if op.Kind == FaultTx {
		interrupt = r.filled
	}
	acked, err := interrupt(ctx, op.N, func() error { return r.d.Update(ctx, do(next)) })
	if err != nil {
		return err
	}
	if acked {
		r.m = next
		return nil // step compares
	}
	var got []string
	if err := r.d.View(ctx, func(tx *db.Tx) (err error) { got, err = r.read(tx); return err }); err != nil {
		return err
	}
	absent, whole := differ(got, r.m.lines(r.cfg.Whole)), differ(got, next.lines(r.cfg.Whole))
	if absent != "" && whole != "" {
		return fmt.Errorf("half a transaction after the interruption: against none of it: %s; against all of it: %s", absent, whole)
	}
	return r.d.Update(ctx, do(r.m))
}

// crashDoc: a document's Put under way is absent, waiting or whole, and the rest as before; then it is
// finished and done again.
func (r *runner) crashDoc(ctx context.Context, op Op) error {
	old := r.m.clone()
	put := func() error {
		_, err := r.d.Put(ctx, document(op.Name, op.Text))
		return err
	}
	acked, err := r.interrupted(ctx, op.N, put)
	if err != nil {
		return err
	}
	r.m.docs[op.Name] = op.Text
	r.m.forget()
	if acked {
		return nil // step compares
	}
	var got []string
	if err := r.d.View(ctx, func(tx *db.Tx) (err error) { got, err = r.read(tx); return err }); err != nil {
		return err
	}
	absent, whole := differ(got, old.lines(r.cfg.Whole)), differ(got, r.m.lines(r.cfg.Whole))
	if absent != "" && whole != "" {
		return fmt.Errorf("half a document after power loss: against none of it: %s; against all of it: %s", absent, whole)
	}
	s, err := r.d.Process(ctx, index.ProcessOptions{})
	if err != nil || s.Failed > 0 {
		return fmt.Errorf("resume after power loss: %d failed: %w", s.Failed, orMissing(err))
	}
	return put()
}

func (m *model) clone() *model {
	return &model{maps.Clone(m.kv), maps.Clone(m.vecs), maps.Clone(m.nodes), maps.Clone(m.edges), maps.Clone(m.docs), m.curation.clone()}
}
