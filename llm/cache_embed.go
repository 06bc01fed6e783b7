package llm

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"slices"
)

// embedGroup is how many missing texts CacheEmbedder asks for before it stores them: what a failure further on
// leaves paid and kept. Batch below may split a group again.
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

// CacheEmbedder takes vectors of known texts from store and asks e for the others, each text once a call. New
// vectors are checked as by CheckVectors before they are stored. An error of store.Get fails the call, one of
// store.Put is logged. Equal texts of concurrent calls may be asked for twice.
func CacheEmbedder(e Embedder, store ByteStore, o CacheOptions) Embedder {
	return &cachedEmbedder{Embedder: e, store: store, opts: o.withDefaults()}
}

type cachedEmbedder struct {
	Embedder
	store ByteStore
	opts  CacheOptions
}

func (e *cachedEmbedder) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	vecs := make([][]float32, len(texts))
	missing, places, err := e.lookup(ctx, texts, kind, vecs)
	if err != nil {
		return nil, err
	}
	for start := 0; start < len(missing); start += embedGroup {
		group := missing[start:min(start+embedGroup, len(missing))]
		fresh, err := e.Embedder.Embed(ctx, group, kind)
		if err == nil {
			err = CheckVectors(e.ID(), fresh, len(group), e.Dim())
		}
		if err != nil {
			return nil, callersIndex(err, missing, start, places)
		}
		for i, text := range group {
			if err := e.store.Put(ctx, EmbedKey(e.ID(), e.Dim(), kind, text), encodeVector(fresh[i])); err != nil {
				e.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "vector not cached", slog.Any("error", err))
			}
			for n, at := range places[text] {
				if n > 0 {
					fresh[i] = slices.Clone(fresh[i]) // every slice is the caller's alone
				}
				vecs[at] = fresh[i]
			}
		}
	}
	return vecs, nil
}

// lookup fills in the vectors that are stored. It returns the other texts, each once in order of appearance, and
// where each stands.
func (e *cachedEmbedder) lookup(ctx context.Context, texts []string, kind Kind, vecs [][]float32) ([]string, map[string][]int, error) {
	var missing []string
	places := map[string][]int{}
	for i, text := range texts {
		if _, ok := places[text]; ok {
			places[text] = append(places[text], i)
			continue
		}
		data, ok, err := e.store.Get(ctx, EmbedKey(e.ID(), e.Dim(), kind, text))
		if err != nil {
			return nil, nil, fmt.Errorf("llm: read vector cache: %w", err)
		}
		if ok {
			if v := decodeVector(data); CheckVectors(e.ID(), [][]float32{v}, 1, e.Dim()) == nil {
				vecs[i] = v
				continue
			}
			e.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "unreadable entry of the vector cache is replaced")
		}
		missing = append(missing, text)
		places[text] = []int{i}
	}
	return missing, places, nil
}

// callersIndex makes the index of a VectorError count in the caller's texts.
func callersIndex(err error, missing []string, start int, places map[string][]int) error {
	//nolint:errorlint // as in shiftIndex
	if bad, ok := err.(*VectorError); ok && bad.Index >= 0 && start+bad.Index < len(missing) {
		moved := *bad
		moved.Index = places[missing[start+bad.Index]][0]
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
