package index

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
	"github.com/glimdb/db/llm"
)

// How a document is cut is fixed when it is enqueued and stored with it, in words of chunk.Spec: what processes it,
// after a restart with other options perhaps, cuts as the caller was promised. Only the embedding model's limit is
// that of the present model.

// chunking describes how a document is cut by these options and, where it says so, its own.
func (o Options) chunking(own *chunk.Spec) (chunk.Spec, error) {
	base := o.Chunking.Over(chunk.Spec{Size: o.ChunkTokens, Overlap: o.ChunkOverlap})
	custom := o.Chunker != nil && (own == nil || own.Method == "")
	if custom {
		base = chunk.Spec{Method: chunk.Custom, Size: o.ChunkTokens, Overlap: o.ChunkOverlap}
	}
	s := base
	if own != nil {
		s = own.Over(base)
	}
	if custom {
		s.ID = o.Chunker.ID()
	}
	return s.WithDefaults()
}

// checkChunking refuses options that no document could be cut by.
func (o Options) checkChunking(tok llm.Tokenizer) error {
	s, err := o.chunking(nil)
	if err == nil && s.Method != chunk.Custom && tok != nil {
		_, err = chunk.New(s, tok, noEmbed)
	}
	return o.chunkingError(err)
}

func noEmbed(context.Context, []string) ([][]float32, error) { return nil, errors.New("not called") }

// chunkingError names the option behind a setting.
func (o Options) chunkingError(err error) error {
	c, ok := errors.AsType[*chunk.ConfigError](err)
	if !ok {
		return err
	}
	field := "Chunking." + c.Field
	switch {
	case c.Field == "size" && o.Chunking.Size == 0:
		field = "ChunkTokens"
	case c.Field == "overlap" && o.Chunking.Overlap == 0:
		field = "ChunkOverlap"
	}
	return &OptionError{Field: field, Value: c.Value, Want: strings.TrimPrefix(c.Reason, "must be "), Err: err}
}

// freeze gives a version the description of how it is cut. cleaned is its text, made of what d holds.
func (p *Pipeline) freeze(v *record.Version, d *Document, cleaned string) (field string, err error) {
	s, err := p.cfg.Options.chunking(d.Chunking)
	if err == nil && s.Method != chunk.Custom {
		_, err = chunk.New(s, p.cfg.Tokenizer, noEmbed)
	}
	if err != nil {
		return "chunking", err
	}
	if d.Chunks != nil {
		if v.Spans, err = givenSpans(d.Text, cleaned, d.Chunks); err != nil {
			return "chunks", err
		}
		list, err := json.Marshal(v.Spans)
		if err != nil {
			return "chunks", err
		}
		sum := sha256.Sum256(list)
		if s, err = (chunk.Spec{Method: chunk.Given, Size: s.Size, Overlap: s.Overlap, ID: hex.EncodeToString(sum[:8])}).WithDefaults(); err != nil {
			return "chunking", err
		}
	}
	v.Chunker = s.String()
	return "", nil
}

// givenSpans moves spans of a text as the caller has it to where they lie in the cleaned text, and cuts white space
// off their ends.
func givenSpans(text, cleaned string, spans []chunk.Span) ([]record.Span, error) {
	borders := []int{0, len(text)}
	for i, s := range spans {
		if s.Start < 0 || s.Start > s.End || s.End > len(text) {
			return nil, &chunk.SpanError{Index: i, Span: s, Reason: fmt.Sprintf("outside the text of %d bytes", len(text))}
		}
		borders = append(borders, s.Start, s.End)
	}
	slices.Sort(borders)
	borders = slices.Compact(borders)
	// Cleaned piece by piece, the text is what it is when it is cleaned whole, unless a border lies in what cleaning
	// changes as one.
	var b strings.Builder
	at := make(map[int]int, len(borders))
	for i, border := range borders {
		at[border] = b.Len()
		if i+1 < len(borders) {
			b.WriteString(cleanPart(text[border:borders[i+1]]))
		}
	}
	whole := b.String()
	if strings.TrimSpace(whole) != cleaned {
		return nil, errors.New("a chunk begins or ends inside a character, an HTML entity or a terminal code")
	}
	cut := len(whole) - len(strings.TrimLeftFunc(whole, unicode.IsSpace))
	out := make([]record.Span, len(spans))
	check := make([]chunk.Span, len(spans))
	for i, s := range spans {
		start := min(max(at[s.Start]-cut, 0), len(cleaned))
		end := min(max(at[s.End]-cut, start), len(cleaned))
		part := cleaned[start:end]
		start += len(part) - len(strings.TrimLeftFunc(part, unicode.IsSpace))
		end = start + len(strings.TrimSpace(part))
		if start == end {
			return nil, &chunk.SpanError{Index: i, Span: s, Reason: "no text in it"}
		}
		out[i] = record.Span{Start: start, End: end, Context: s.Context}
		check[i] = chunk.Span{Start: start, End: end, Context: s.Context}
	}
	return out, chunk.Check(cleaned, check)
}

// chunkerOf returns the chunker that a version was enqueued for. old are the chunks of the visible version, which is
// the one to be cut again where v does not hold spans.
func (p *Pipeline) chunkerOf(v *record.Version, old []record.Chunk) (chunk.Chunker, error) {
	s, err := chunk.ParseSpec(v.Chunker)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", kv.ErrCorrupt, err)
	}
	tok, most := p.cfg.Tokenizer, s.Size
	if n := p.cfg.Options.EmbedTokens; n > 0 {
		most = min(most, n)
	}
	limit, err := chunk.NewWindow(tok, most, min(max(s.Overlap, 0), most/2), chunk.WithDrift(0))
	if err != nil {
		return nil, err
	}
	switch s.Method {
	case chunk.Custom:
		own, have := p.cfg.Options.Chunker, "none"
		if own != nil {
			have = own.ID()
		}
		if own == nil || have != s.ID {
			return nil, &ChunkerError{ID: s.ID, Given: have}
		}
		return chunk.Limit(own, limit, false), nil
	case chunk.Given:
		return chunk.Limit(given(v.Spans, old), limit, false), nil
	}
	c, err := chunk.New(s, tok, p.embedSentences)
	if err != nil {
		return nil, err
	}
	if most < s.Size {
		c = chunk.Limit(c, limit, false)
	}
	return anyLines{c}, nil
}

// given is a chunker that answers with spans that are known.
func given(spans []record.Span, old []record.Chunk) chunk.Chunker {
	return chunk.Func(string(chunk.Given), func(context.Context, string) ([]chunk.Span, error) {
		var out []chunk.Span
		for _, s := range spans {
			out = append(out, chunk.Span{Start: s.Start, End: s.End, Context: s.Context})
		}
		if len(spans) == 0 {
			for i := range old {
				out = append(out, chunk.Span{Start: old[i].Start, End: old[i].End, Context: old[i].Context})
			}
		}
		return out, nil
	})
}

// embedSentences embeds what the semantic method compares.
func (p *Pipeline) embedSentences(ctx context.Context, texts []string) ([][]float32, error) {
	fitting := make([]string, len(texts))
	for i, t := range texts {
		fitting[i] = p.fit(t)
	}
	vectors, err := p.embedder().Embed(ctx, fitting, llm.ForDocument)
	if err != nil {
		return nil, &CallError{Op: fmt.Sprintf("embed %d sentences", len(texts)), Err: err}
	}
	return vectors, nil
}

// embedText is what the vector of a chunk is made of: the chunk in its context or, where the embedding model does
// not accept both, alone.
func (p *Pipeline) embedText(c *record.Chunk) string {
	text := c.InContext()
	if limit := p.cfg.Options.EmbedTokens; c.Context != "" && limit > 0 && p.cfg.Tokenizer.Count(text) > limit {
		text = c.Content
	}
	return p.fit(text)
}

// chunkText tells chunks apart: equal ones have the same records and the same vector.
type chunkText struct{ context, content string }

func textOf(c *record.Chunk) chunkText { return chunkText{c.Context, c.Content} }
