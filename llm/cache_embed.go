package llm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
)

// embedGroup is how many missing texts CacheEmbedder asks for before it stores them, where no Batch below says: what
// a failure further on leaves paid and kept.
const embedGroup = 256

// EmbedKey returns the key under which CacheEmbedder keeps the vector of a text: "embed/" and 128 bits of SHA-256
// over the length-prefixed model ID and text, the dimension and the kind.
func EmbedKey(modelID string, dim int, kind Kind, text string) string {
	h := newKeyHash()
	h.text(modelID)
	h.number(uint64(dim))
	h.number(uint64(kind))
	h.text(text)
	return string(PurposeEmbed) + "/" + h.sum()
}

// CacheEmbedder takes vectors of known texts from store and asks e for the others. Each text is asked for once,
// however often it stands in a call and in calls at the same time: those wait for the one that was first, and ask
// themselves when it got no vector. New vectors are checked as by CheckVectors and stored as they come, so that
// what succeeded before a failure is kept. If e is no Batch, it gets at most 256 texts a call.
//
// An error of store.Get fails the call, one of store.Put is logged.
func CacheEmbedder(e Embedder, store ByteStore, o CacheOptions) Embedder {
	batches, ok := e.(*batchEmbedder)
	if !ok {
		batches = &batchEmbedder{e, BatchOptions{Texts: embedGroup, Parallel: 1}}
	}
	return &cachedEmbedder{batchEmbedder: batches, store: store, opts: o.withDefaults(), flights: map[string]*vectorFlight{}}
}

type cachedEmbedder struct {
	*batchEmbedder
	store ByteStore
	opts  CacheOptions

	mu      sync.Mutex
	flights map[string]*vectorFlight // by key
}

// vectorFlight is one text that a call has taken on.
type vectorFlight struct {
	done chan struct{}
	vec  []float32 // read once done is closed; nil: no vector was had
}

// wantedText is a distinct text of one call.
type wantedText struct {
	text, key string
	places    []int // in the caller's texts
	flight    *vectorFlight
	vec       []float32 // nil until it is there
}

func (e *cachedEmbedder) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all := e.distinct(texts, kind)
	for open := all; len(open) > 0; {
		mine, others := e.claim(open)
		// Claimed texts first: nobody waits while others wait for it.
		if err := e.settle(ctx, mine, kind); err != nil {
			return nil, err
		}
		var err error
		if open, err = await(ctx, others); err != nil {
			return nil, err
		}
	}
	vecs := make([][]float32, len(texts))
	for _, w := range all {
		for n, at := range w.places {
			if vecs[at] = w.vec; n > 0 {
				vecs[at] = slices.Clone(w.vec) // every slice is the caller's alone
			}
		}
	}
	return vecs, nil
}

// distinct lists each text once, in order of appearance.
func (e *cachedEmbedder) distinct(texts []string, kind Kind) []*wantedText {
	id, dim := e.ID(), e.Dim()
	list := make([]*wantedText, 0, len(texts))
	known := make(map[string]*wantedText, len(texts))
	for i, text := range texts {
		w := known[text]
		if w == nil {
			w = &wantedText{text: text, key: EmbedKey(id, dim, kind, text)}
			known[text] = w
			list = append(list, w)
		}
		w.places = append(w.places, i)
	}
	return list
}

// claim takes on the texts that no other call works on. The claims must be settled.
func (e *cachedEmbedder) claim(list []*wantedText) (mine, others []*wantedText) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, w := range list {
		if w.flight = e.flights[w.key]; w.flight != nil {
			others = append(others, w)
			continue
		}
		w.flight = &vectorFlight{done: make(chan struct{})}
		e.flights[w.key] = w.flight
		mine = append(mine, w)
	}
	return mine, others
}

// land ends the claim of w with the vector it has, if any.
func (e *cachedEmbedder) land(w *wantedText) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.flights[w.key] != w.flight {
		return // it has landed
	}
	delete(e.flights, w.key)
	w.flight.vec = slices.Clone(w.vec)
	close(w.flight.done)
}

// settle gets the vectors of claimed texts, from the store or from the model, and ends the claims whatever happens.
func (e *cachedEmbedder) settle(ctx context.Context, mine []*wantedText, kind Kind) error {
	defer func() {
		for _, w := range mine {
			e.land(w)
		}
	}()
	var missing []*wantedText
	var texts []string
	for _, w := range mine {
		vec, err := e.stored(ctx, w.key)
		if err != nil {
			return err
		}
		if vec != nil {
			w.vec = vec
			e.land(w)
			continue
		}
		missing, texts = append(missing, w), append(texts, w.text)
	}
	err := e.embedParts(ctx, texts, kind, func(first int, part [][]float32) {
		got := missing[first : first+len(part)]
		for i, vec := range part {
			got[i].vec = vec
		}
		if err := e.keep(ctx, got); err != nil {
			e.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "vectors not cached", slog.Any("error", err))
		}
		for _, w := range got {
			e.land(w)
		}
	})
	return callersIndex(err, missing)
}

// keep stores the vectors of one batch, at once where the store can.
func (e *cachedEmbedder) keep(ctx context.Context, got []*wantedText) error {
	if many, ok := e.store.(BatchStore); ok {
		keys, values := make([]string, len(got)), make([][]byte, len(got))
		for i, w := range got {
			keys[i], values[i] = w.key, encodeVector(w.vec)
		}
		return many.PutMany(ctx, keys, values)
	}
	var errs []error
	for _, w := range got {
		errs = append(errs, e.store.Put(ctx, w.key, encodeVector(w.vec)))
	}
	return errors.Join(errs...)
}

// stored returns the vector under key, or nil.
func (e *cachedEmbedder) stored(ctx context.Context, key string) ([]float32, error) {
	data, ok, err := e.store.Get(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("llm: read vector cache: %w", err)
	}
	if !ok {
		return nil, nil
	}
	vec := decodeVector(data)
	if CheckVectors(e.ID(), [][]float32{vec}, 1, e.Dim()) != nil {
		e.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "unreadable entry of the vector cache is replaced")
		return nil, nil
	}
	return vec, nil
}

// await takes the vectors that other calls got and returns the texts for which they got none.
func await(ctx context.Context, others []*wantedText) (open []*wantedText, err error) {
	for _, w := range others {
		select {
		case <-w.flight.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if w.flight.vec == nil {
			open = append(open, w)
			continue
		}
		w.vec = slices.Clone(w.flight.vec)
	}
	return open, nil
}

// callersIndex makes the index of a VectorError count in the caller's texts.
func callersIndex(err error, missing []*wantedText) error {
	//nolint:errorlint // as in shiftIndex
	if bad, ok := err.(*VectorError); ok && bad.Index >= 0 && bad.Index < len(missing) {
		moved := *bad
		moved.Index = missing[bad.Index].places[0]
		return &moved
	}
	return err
}

// A stored vector is a version byte and little-endian float32 values.
const vectorVersion = 1

func encodeVector(v []float32) []byte {
	data := make([]byte, 1, 1+4*len(v))
	data[0] = vectorVersion
	for _, x := range v {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	return data
}

// decodeVector returns nil for anything that encodeVector did not make.
func decodeVector(data []byte) []float32 {
	if len(data) == 0 || data[0] != vectorVersion || len(data)%4 != 1 {
		return nil
	}
	data = data[1:]
	v := make([]float32, len(data)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return v
}
