package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/glimdb/db/llm"
)

// Folder is a recorded run.
type Folder struct {
	Docs   []Doc   // in order of their ids
	Chunks []Chunk // in order of document and place

	summaries []entry
}

// Doc is one document.
type Doc struct{ ID, Text string }

// Chunk is one chunk with the two replies that every recorded chunk has.
type Chunk struct {
	ID, Doc, Text  string
	Order, Tokens  int
	Extract, Glean string
}

// entry is one record of the reply cache.
type entry struct {
	Return string `json:"return"`
	Type   string `json:"cache_type"`
	Chunk  string `json:"chunk_id"`
	Prompt string `json:"original_prompt"`
}

// Load reads the folder dir.
func Load(dir string) (*Folder, error) {
	var docs map[string]struct {
		Content string `json:"content"`
	}
	var chunks map[string]struct {
		Content string   `json:"content"`
		Tokens  int      `json:"tokens"`
		Order   int      `json:"chunk_order_index"`
		Doc     string   `json:"full_doc_id"`
		Replies []string `json:"llm_cache_list"`
	}
	cache, err := loadCache(filepath.Join(dir, "kv_store_llm_response_cache.json"))
	if err = errors.Join(err,
		readJSON(filepath.Join(dir, "kv_store_full_docs.json"), &docs),
		readJSON(filepath.Join(dir, "kv_store_text_chunks.json"), &chunks)); err != nil {
		return nil, fmt.Errorf("replay: load %s: %w", dir, err)
	}
	f := &Folder{}
	for id, d := range docs {
		f.Docs = append(f.Docs, Doc{id, d.Content})
	}
	for id, c := range chunks {
		chunk := Chunk{ID: id, Doc: c.Doc, Text: c.Content, Order: c.Order, Tokens: c.Tokens}
		if len(c.Replies) >= 2 {
			chunk.Extract, chunk.Glean = cache[c.Replies[0]].Return, cache[c.Replies[1]].Return
		}
		f.Chunks = append(f.Chunks, chunk)
	}
	f.repliesByText(cache)
	for _, c := range f.Chunks {
		if c.Extract == "" || c.Glean == "" {
			return nil, fmt.Errorf("replay: load %s: chunk %s lacks a reply", dir, c.ID)
		}
	}
	for _, e := range cache {
		if e.Type == "summary" || strings.HasPrefix(e.Prompt, "You are a helpful assistant responsible") {
			f.summaries = append(f.summaries, e)
		}
	}
	slices.SortFunc(f.Docs, func(a, b Doc) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(f.Chunks, func(a, b Chunk) int {
		if a.Doc != b.Doc {
			return strings.Compare(a.Doc, b.Doc)
		}
		return a.Order - b.Order
	})
	slices.SortFunc(f.summaries, func(a, b entry) int { return strings.Compare(a.Prompt, b.Prompt) })
	return f, nil
}

// repliesByText assigns the replies of folders that do not name the chunk: the prompt holds its text, that
// of the gleaning call in a JSON list of messages. Of several chunks in one prompt it is the longest: a
// last window can lie inside the one before.
func (f *Folder) repliesByText(cache map[string]entry) {
	for _, e := range cache {
		var history []llm.Message
		switch {
		case e.Type != "extract" || e.Chunk != "":
		case json.NewDecoder(strings.NewReader(e.Prompt)).Decode(&history) == nil && len(history) > 0: // a list, then text
			if c := f.find(history[0].Content); c != nil {
				c.Glean = e.Return
			}
		case strings.HasPrefix(e.Prompt, "---Goal---"):
			if c := f.find(e.Prompt); c != nil {
				c.Extract = e.Return
			}
		}
	}
}

// loadCache reads the reply cache, flat or nested by mode.
func loadCache(path string) (map[string]entry, error) {
	var raw map[string]json.RawMessage
	if err := readJSON(path, &raw); err != nil {
		return nil, err
	}
	out := map[string]entry{}
	for key, v := range raw {
		var e entry
		if err := json.Unmarshal(v, &e); err != nil {
			return nil, err
		}
		if e.Type != "" {
			out[key] = e
			continue
		}
		var nested map[string]entry
		if err := json.Unmarshal(v, &nested); err != nil {
			return nil, err
		}
		for k, e := range nested {
			out[k] = e
		}
	}
	return out, nil
}

func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// ErrNotRecorded means that the recording has no reply to a request.
var ErrNotRecorded = errors.New("replay: not recorded")

// Chat is a chat model that answers from the recording. Extraction and the first gleaning round are found
// by the chunk text in the first user message, later rounds find nothing more, summaries are found by the
// name of their subject and then by their fragments. Anything else is ErrNotRecorded.
type Chat struct {
	folder *Folder
	mu     sync.Mutex
	calls  map[llm.Purpose]int
}

// Chat returns a model with its counters at zero.
func (f *Folder) Chat() *Chat { return &Chat{folder: f, calls: map[llm.Purpose]int{}} }

// ID implements llm.Chat.
func (c *Chat) ID() string { return "replay" }

// Calls returns how many requests of a purpose were made.
func (c *Chat) Calls(p llm.Purpose) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[p]
}

// Generate implements llm.Chat.
func (c *Chat) Generate(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(llm.Delta{}, err)
			return
		}
		c.mu.Lock()
		c.calls[req.Purpose]++
		c.mu.Unlock()
		text, err := c.reply(req)
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		yield(llm.Delta{Text: text, Finish: llm.FinishStop, Usage: llm.Usage{Calls: 1}}, nil)
	}
}

func (c *Chat) reply(req llm.Request) (string, error) {
	first, rounds := "", 0
	for _, m := range req.Messages {
		switch {
		case m.Role == llm.User && first == "":
			first = m.Content
		case m.Role == llm.Assistant:
			rounds++
		}
	}
	switch req.Purpose {
	case llm.PurposeExtract, llm.PurposeGlean:
		chunk := c.folder.find(first)
		switch {
		case chunk == nil:
			return "", fmt.Errorf("%w: %s: no recorded chunk in the message", ErrNotRecorded, req.Purpose)
		case req.Purpose == llm.PurposeExtract:
			return chunk.Extract, nil
		case rounds == 1:
			return chunk.Glean, nil
		}
		return "<|COMPLETE|>", nil
	case llm.PurposeSummary:
		return c.folder.summary(first)
	}
	return "", fmt.Errorf("%w: %s", ErrNotRecorded, req.Purpose)
}

// find returns the chunk with the longest text that occurs in message.
func (f *Folder) find(message string) *Chunk {
	var best *Chunk
	for i := range f.Chunks {
		c := &f.Chunks[i]
		if (best == nil || len(c.Text) > len(best.Text)) && strings.Contains(message, c.Text) {
			best = c
		}
	}
	return best
}

// summary finds the recorded summary of the subject whose prompt shares most lines with the message.
func (f *Folder) summary(message string) (string, error) {
	best, shared := "", 0
	for _, e := range f.summaries {
		subject := subjectOf(e.Prompt)
		if subject == "" || !strings.Contains(message, subject) {
			continue
		}
		n := 1
		for line := range strings.Lines(message) {
			var item struct{ Description string }
			if json.Unmarshal([]byte(line), &item) == nil && item.Description != "" && strings.Contains(e.Prompt, item.Description) {
				n++
			}
		}
		if n > shared {
			best, shared = e.Return, n
		}
	}
	if shared == 0 {
		return "", fmt.Errorf("%w: summary", ErrNotRecorded)
	}
	return best, nil
}

// subjectOf returns the name that a recorded summary prompt is about.
func subjectOf(prompt string) string {
	for line := range strings.Lines(prompt) {
		for _, label := range []string{"Entities: ", "Entity Name: ", "Relation Name: "} {
			if s, ok := strings.CutPrefix(line, label); ok {
				return strings.TrimSpace(s)
			}
		}
	}
	return ""
}
