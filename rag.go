package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/query"
)

// KnowledgeGraph is the name of the graph that documents become: entities are nodes (Node.Type is the
// entity type), relations are undirected edges. Its properties: description, keywords, sources (chunk
// ids), source_count, paths, tokens, created_at. Transactions may read it; documents write it.
const KnowledgeGraph = record.GraphName

// Insert stores documents and processes them: when it returns nil, each is wholly searchable. A document
// whose id is stored with another text is refused (see Put); one that is stored as it is costs nothing.
// Validation refuses all documents of the call or none. When processing fails for some, the error is a
// *ProcessError that names them, and the others are done; what models answered is kept, and Retry goes on
// from there. A cancelled call leaves its documents pending for the next Process.
//
// The receipt tells what was taken in: cleaning counts (Removed), and Result, which is about the queue. What was
// found, dropped and warned of is in Document(ctx, id).
func (d *DB) Insert(ctx context.Context, docs ...index.Document) (index.Receipt, error) {
	return d.write(ctx, docs, index.Insert)
}

// Put is Insert that replaces documents whose id is known: readers see the old version, whole, until the
// commit that swaps it, and chunks that did not change cost no model and no embedding call.
func (d *DB) Put(ctx context.Context, docs ...index.Document) (index.Receipt, error) {
	return d.write(ctx, docs, index.Put)
}

func (d *DB) write(ctx context.Context, docs []index.Document, policy index.Policy) (index.Receipt, error) {
	return writing(ctx, d, func(ctx context.Context, s *state) (index.Receipt, error) { return s.write(ctx, docs, policy) })
}

func (s *state) write(ctx context.Context, docs []index.Document, policy index.Policy) (index.Receipt, error) {
	r, err := s.offer(ctx, docs, policy)
	if err != nil {
		return r, err
	}
	ids := r.IDs()
	if len(ids) == 0 {
		return r, nil
	}
	var (
		mu     sync.Mutex
		causes = make(map[string]error)
	)
	note := func(p index.Progress) {
		if p.Err != nil {
			mu.Lock()
			defer mu.Unlock()
			causes[p.Document] = p.Err
		}
	}
	sum, err := s.process(ctx, index.ProcessOptions{IDs: ids, Progress: note})
	if err == nil && sum.Failed > 0 {
		err = &ProcessError{Summary: sum, Causes: causes}
	}
	return r, err
}

// offer enqueues documents that this call will process. Where it may wait for room it makes room itself.
func (s *state) offer(ctx context.Context, docs []index.Document, policy index.Policy) (index.Receipt, error) {
	if len(docs) == 0 {
		return index.Receipt{}, nil
	}
	for {
		r, err := s.pipe.Offer(ctx, docs, policy)
		full, ok := errors.AsType[*index.QueueFullError](err)
		if !ok || !s.opts.Index.WaitWhenFull || full.Adding > full.Limit {
			return r, err
		}
		if _, err := s.process(ctx, index.ProcessOptions{}); err != nil {
			return index.Receipt{}, err
		}
	}
}

// Enqueue stores documents durably for Process, in milliseconds and without any model call. When more would wait than
// Index.MaxPending the call is refused with ErrQueueFull or, with Index.WaitWhenFull, waits for others to be done.
func (d *DB) Enqueue(ctx context.Context, policy index.Policy, docs ...index.Document) (index.Receipt, error) {
	return writing(ctx, d, func(ctx context.Context, s *state) (index.Receipt, error) {
		if len(docs) == 0 {
			return index.Receipt{}, nil
		}
		return s.pipe.Enqueue(ctx, docs, policy)
	})
}

// Process works on waiting documents, those interrupted by a crash included, by falling priority, in order of enqueue
// and several at a time. Documents that fail are counted in the summary with their reasons. With Follow it is a
// worker in the background, which ends with its context or the database.
func (d *DB) Process(ctx context.Context, o index.ProcessOptions) (index.Summary, error) {
	return writing(ctx, d, func(ctx context.Context, s *state) (index.Summary, error) { return s.process(ctx, o) })
}

func (s *state) process(ctx context.Context, o index.ProcessOptions) (index.Summary, error) {
	if err := s.mayEmbed(); err != nil {
		return index.Summary{}, err
	}
	return s.pipe.Process(ctx, o)
}

// ProcessError tells that some documents of an Insert or Put could not be processed. errors.Is and
// errors.As look into the causes.
type ProcessError struct {
	Summary index.Summary
	// Causes are the reasons, by document id.
	Causes map[string]error
}

// Error implements error. It tells the reason of the first document in order of id.
func (e *ProcessError) Error() string {
	ids := slices.Sorted(maps.Keys(e.Summary.Errors))
	if len(ids) == 0 {
		return "db: documents failed"
	}
	msg := fmt.Sprintf("db: document %q: %s", ids[0], e.Summary.Errors[ids[0]])
	if n := len(ids) - 1; n > 0 {
		msg += fmt.Sprintf(" (and %d more failed)", n)
	}
	return msg
}

// Unwrap returns the causes in order of id.
func (e *ProcessError) Unwrap() []error {
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(e.Causes)) {
		errs = append(errs, e.Causes[id])
	}
	return errs
}

// Delete removes documents and everything that only they say, in one commit; afterwards the logical state
// is as if they had never been there. If any id is unknown nothing is deleted and errors.Is finds
// ErrNotFound.
func (d *DB) Delete(ctx context.Context, ids ...string) (index.DeleteResult, error) {
	return d.remove(ctx, func(ctx context.Context, s *state) (index.DeleteResult, error) { return s.pipe.Delete(ctx, ids...) })
}

// DeleteMatching deletes the documents that f selects as Delete does, in one commit or, where their texts are larger
// than 16 MiB together, in several. A filter that selects everything is refused.
func (d *DB) DeleteMatching(ctx context.Context, f index.Filter) (index.DeleteResult, error) {
	return d.remove(ctx, func(ctx context.Context, s *state) (index.DeleteResult, error) { return s.pipe.DeleteMatching(ctx, f) })
}

func (d *DB) remove(ctx context.Context, call func(context.Context, *state) (index.DeleteResult, error)) (index.DeleteResult, error) {
	return writing(ctx, d, func(ctx context.Context, s *state) (index.DeleteResult, error) {
		if err := s.mayEmbed(); err != nil {
			return index.DeleteResult{}, err
		}
		return call(ctx, s)
	})
}

// Retry puts documents back into the queue that failed, or for which a reply of the model was cut off or of no use, all
// of them when none is named, and returns the ids that now wait for Process.
func (d *DB) Retry(ctx context.Context, ids ...string) ([]string, error) {
	return writing(ctx, d, func(ctx context.Context, s *state) ([]string, error) { return s.pipe.Retry(ctx, ids...) })
}

// Document returns a document's status with counts and reasons, or an error that ErrNotFound matches.
func (d *DB) Document(ctx context.Context, id string) (index.Info, error) {
	return reading(ctx, d, "Document", func(_ context.Context, s *state, r kv.Reader) (index.Info, error) {
		i, err := index.GetInfo(r, s.name, id)
		return d.priced(i), err
	})
}

// priced puts in what a document cost at the prices of the options.
func (d *DB) priced(i index.Info) index.Info {
	if len(d.opts.Prices) > 0 {
		i.Cost, i.Unpriced = d.opts.Prices.Cost(i.Spent)
	}
	return i
}

// Text returns a document's visible text as it was stored: cleaned, spans of chunks refer to it.
func (d *DB) Text(ctx context.Context, id string) (string, error) {
	return reading(ctx, d, "Text", func(_ context.Context, s *state, r kv.Reader) (string, error) { return index.Text(r, s.name, id) })
}

// Documents yields the documents that f selects, of one view.
func (d *DB) Documents(ctx context.Context, f index.Filter) iter.Seq2[index.Info, error] {
	return listing(ctx, d, "Documents", func(s *state, r kv.Reader) iter.Seq2[index.Info, error] {
		return func(yield func(index.Info, error) bool) {
			for i, err := range index.Documents(r, s.name, f) {
				if !yield(d.priced(i), err) {
					return
				}
			}
		}
	})
}

// Chunks yields the chunks of a document's visible version in order, of one view, beginning with that of Order from (0:
// the first). A page is a loop that is left; the next one begins where it ended. None is yielded beyond the last and
// for a document that waits for the first time; an unknown document is an error that ErrNotFound matches.
func (d *DB) Chunks(ctx context.Context, id string, from int) iter.Seq2[index.Chunk, error] {
	return listing(ctx, d, "Chunks", func(s *state, r kv.Reader) iter.Seq2[index.Chunk, error] {
		return index.Chunks(r, s.name, id, from)
	})
}

// listing yields what is read from one view, which lives as long as the loop.
func listing[T any](ctx context.Context, d *DB, name string, list func(*state, kv.Reader) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		_, err := reading(ctx, d, name, func(ctx context.Context, s *state, r kv.Reader) (struct{}, error) {
			for v, err := range list(s, r) {
				if err == nil {
					err = ctx.Err()
				}
				if err != nil {
					return struct{}{}, err
				}
				if !yield(v, nil) {
					return struct{}{}, errStopped
				}
			}
			return struct{}{}, nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			var none T
			yield(none, err)
		}
	}
}

// errStopped ends a scan whose caller has seen enough.
var errStopped = errors.New("db: stopped by the caller")

// Query answers a question from one view of the documents. What comes back without a chat model: context,
// entities, relations, chunks and references, and no Stream. With Options.Stream the answer arrives through
// Result.Stream, which ends when the database is closed; Options.Want of WantAnswer makes a missing model
// ErrNoModel.
func (d *DB) Query(ctx context.Context, question string, o query.Options) (*query.Result, error) {
	s, leave, err := d.arrive(ctx, "", reads)
	if err != nil {
		return nil, err
	}
	defer leave()
	if cmp.Or(o.Mode, d.opts.Query.Mode) != query.Bypass {
		if err := s.mayEmbed(); err != nil {
			return nil, err
		}
	}
	// A stream outlives this call, and the context with it.
	ctx, release := living(asking(ctx), s.ctx)
	streams := false
	defer func() {
		if !streams {
			release()
		}
	}()
	res, err := s.engine.Query(ctx, question, s.weighed(o))
	if err == nil && res.Stream != nil {
		streams = true
		res.Stream = d.streaming(ctx, res.Stream, release)
	}
	return res, because(ctx, err)
}

// streaming makes an answer stream a running call while it is read; one that is never read holds nothing
// but a context that ends with the database.
func (d *DB) streaming(ctx context.Context, s iter.Seq2[string, error], release func()) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		_, leave, err := d.begin(d.name, "Query stream", reads)
		if err != nil {
			yield("", err)
			return
		}
		defer leave()
		defer release()
		for piece, err := range s {
			if !yield(piece, because(ctx, err)) {
				return
			}
		}
	}
}

// writing runs f as a call that writes.
func writing[T any](ctx context.Context, d *DB, f func(context.Context, *state) (T, error)) (v T, err error) {
	ctx, s, leave, err := d.enter(ctx, writes)
	if err != nil {
		return v, err
	}
	defer leave()
	v, err = f(ctx, s)
	return v, because(ctx, err)
}

// reading runs f on a snapshot of the last commit. name is that of the method, for Close.
func reading[T any](ctx context.Context, d *DB, name string, f func(context.Context, *state, kv.Reader) (T, error)) (v T, err error) {
	ctx, s, leave, err := d.host(ctx, name, reads)
	if err != nil {
		return v, err
	}
	defer leave()
	snap, err := d.log.View()
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }() // also when a loop over the result panics
	v, err = f(ctx, s, snap)
	return v, because(ctx, err)
}

// mayEmbed refuses work with other models than the documents were indexed with.
func (s *state) mayEmbed() error {
	for {
		before := s.models.names()
		snap, err := s.log.View()
		if err != nil {
			return err
		}
		err = errors.Join(s.checkModels(snap), snap.Close())
		if err == nil || s.models.names() == before { // else the model changed between the two
			return err
		}
	}
}
