package query

import (
	"strconv"
	"strings"
	"sync"

	"github.com/glimdb/db/internal/prompt"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/llm"
)

const (
	// safetyMargin is left unused by every prompt: joining counted pieces may cost a token here and there.
	safetyMargin = 200
	// messageOverhead is what chat formats spend on a message beside its text.
	messageOverhead = 4
	// chunkShare is the part of the total budget that entities and relations leave to chunks.
	chunkShare = 0.2
	// lineBreak is the cost of the newline after a line, counted in full although it mostly merges with
	// the end of the line.
	lineBreak = 1
	// maxMemo bounds the counts remembered, maxMemoText the bytes of a text that is: templates and paths.
	maxMemo     = 4096
	maxMemoText = 8 << 10
)

// counter counts tokens of texts that are not stored: prompts, questions, paths. It remembers the counts
// of those that come again. Safe for concurrent use.
type counter struct {
	tok  llm.Tokenizer
	mu   sync.Mutex
	memo map[string]int // guarded by mu
}

func (c *counter) count(text string) int {
	if text == "" {
		return 0
	}
	return c.tok.Count(text)
}

// again is count for texts that many queries share.
func (c *counter) again(text string) int {
	if len(text) > maxMemoText {
		return c.count(text)
	}
	c.mu.Lock()
	n, ok := c.memo[text]
	c.mu.Unlock()
	if ok {
		return n
	}
	n = c.count(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.memo == nil || len(c.memo) >= maxMemo {
		c.memo = make(map[string]int)
	}
	c.memo[text] = n
	return n
}

// fixed counts what the prompt holds whatever is found: system text, the frame of the context, history,
// question, and the safety margin.
func (c *counter) fixed(kg bool, question string, r Reply) (int, error) {
	system, err := systemPrompt(kg, r, "")
	if err != nil {
		return 0, err
	}
	n := c.again(system) + c.again(frame(kg)) + c.count(question) + 2*messageOverhead + safetyMargin
	for _, m := range r.History {
		n += c.count(m.Content) + messageOverhead
	}
	return n, nil
}

// systemPrompt is the answer model's system message around context.
func systemPrompt(kg bool, r Reply, context string) (string, error) {
	p := prompt.AnswerParams{ResponseType: r.ResponseType, UserPrompt: r.UserPrompt, Context: context, KG: kg}
	if r.SystemPrompt != "" {
		return prompt.AnswerWith(r.SystemPrompt, p)
	}
	return prompt.Answer(p), nil
}

// entity and relation return the tokens of a record's line: the stored count, or for a record put into
// the graph without one its real count.
func (c *counter) entity(e *Entity) int {
	if e.Tokens <= 0 {
		e.Tokens = c.count(record.EntityLine(e.Name, e.Type, e.Description))
	}
	return e.Tokens + lineBreak
}

func (c *counter) relation(r *Relation) int {
	if r.Tokens <= 0 {
		r.Tokens = c.count(record.RelationLine(r.Src, r.Dst, r.Description))
	}
	return r.Tokens + lineBreak
}

// leastRelation is the cost of a relation whose names and description are empty.
func (c *counter) leastRelation() int {
	return max(c.again(record.RelationLine("", "", ""))+lineBreak, 1)
}

// prefix returns the longest prefix of list whose summed cost is within budget, and that sum.
func prefix[T any](list []*T, budget int, cost func(*T) int) (kept []*T, sum int) {
	for i, e := range list {
		n := cost(e)
		if sum+n > budget {
			return list[:i], sum
		}
		sum += n
	}
	return list, sum
}

// values are what list points at.
func values[T any](list []*T) []T {
	out := make([]T, len(list))
	for i, e := range list {
		out[i] = *e
	}
	return out
}

// cutGraph cuts entities and relations to their budgets and, when they would leave less than chunkShare
// of the total for chunks, relations and then entities further.
func (q *run) cutGraph(ents []*Entity, rels []*Relation) ([]*Entity, []*Relation) {
	res, b, count := q.res, q.opt.Budget, q.e.count
	room := b.Total - res.Tokens.Fixed - int(chunkShare*float64(b.Total))
	keptE, sumE := prefix(ents, min(b.Entities, room), count.entity)
	keptR, sumR := prefix(rels, min(b.Relations, room-sumE), count.relation)
	res.Tokens.Entities, res.Tokens.Relations = sumE, sumR
	res.Counts.Entities = Cut{len(ents), len(keptE)}
	res.Counts.Relations = Cut{len(rels), len(keptR)}
	res.counted(ReasonEntitiesCut, len(ents)-len(keptE), "entities over their budget")
	res.counted(ReasonRelationsCut, len(rels)-len(keptR), "relations over their budget")
	return keptE, keptR
}

// fitting returns how many of chunks fit into what the rest of the prompt leaves, their part of the reference
// list included.
func (q *run) fitting(chunks []Chunk) int {
	res, count := q.res, q.e.count
	budget := q.opt.Budget.Total - res.Tokens.Fixed - res.Tokens.Entities - res.Tokens.Relations
	widest := strings.Repeat("9", len(strconv.Itoa(len(chunks))))
	wider := 0 // stored counts allow for a reference id as wide as record.ReferencePlaceholder
	if len(widest) > len(record.ReferencePlaceholder) {
		wider = count.again(widest)
	}
	listed := make(map[string]bool)
	refs, lines := 0, 0
	for i := range chunks {
		c := &chunks[i]
		if c.lineTokens <= 0 {
			c.lineTokens = count.count(record.ChunkLine(record.ReferencePlaceholder, c.Context, c.Content))
		}
		line, ref := c.lineTokens+lineBreak+wider, 0
		if citable(c.Path) && !listed[c.Path] {
			ref = count.again(referenceLine(widest, c.Path)) + lineBreak
		}
		if lines+line+refs+ref > budget {
			res.Tokens.Chunks, res.Tokens.References = lines, refs
			return i
		}
		lines, refs, listed[c.Path] = lines+line, refs+ref, true
	}
	res.Tokens.Chunks, res.Tokens.References = lines, refs
	return len(chunks)
}
