package index

import (
	"cmp"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// CustomGraph is a document that is given as what it says: entities and relations, with the chunks they come from.
// It is stored, shown, replaced and deleted like any other document, and shares entities and relations with others; no
// extractor is asked. In JSON it has LightRAG's form.
type CustomGraph struct {
	// ID identifies the document; empty means "graph-" + MD5 of the content.
	ID string `json:"id,omitempty"`
	// Path is shown in references; empty: DefaultGraphPath.
	Path     string         `json:"path,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
	Time     time.Time      `json:"time,omitzero"` // the document's own

	Chunks    []CustomChunk    `json:"chunks,omitempty"`
	Entities  []CustomEntity   `json:"entities,omitempty"`
	Relations []CustomRelation `json:"relationships,omitempty"`
}

// DefaultGraphPath is the path of custom graphs that name none.
const DefaultGraphPath = "custom_kg"

// CustomChunk is a passage. The document's text is all of them in order, with a blank line between.
type CustomChunk struct {
	Content string `json:"content"`             // cleaned like any text; not blank
	Source  string `json:"source_id,omitempty"` // what entities and relations call it; each once
	Order   int    `json:"chunk_order_index,omitempty"`
}

// CustomEntity is one mention of an entity. Several of one name are merged like those of texts.
type CustomEntity struct {
	Name        string `json:"entity_name"` // stored as NormalizeName has it
	Type        string `json:"entity_type,omitempty"`
	Description string `json:"description,omitempty"`
	Source      string `json:"source_id,omitempty"` // of the chunk it comes from; empty: of the document as a whole
}

// CustomRelation is one mention of a relation. Ends that are no entity of any document become entities by it.
type CustomRelation struct {
	Src         string   `json:"src_id"`
	Dst         string   `json:"tgt_id"`
	Description string   `json:"description"` // not blank
	Keywords    Keywords `json:"keywords,omitempty"`
	Weight      float64  `json:"weight,omitempty"` // 0: 1; above 0, to a million
	Source      string   `json:"source_id,omitempty"`
}

// Keywords are short phrases; in JSON a list, or one text with commas.
type Keywords []string

// UnmarshalJSON implements json.Unmarshaler.
func (k *Keywords) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err == nil {
		*k = splitKeywords(text)
		return nil
	}
	return json.Unmarshal(b, (*[]string)(k))
}

// CustomOptions are the options of one InsertGraph call.
type CustomOptions struct {
	// Policy says what becomes of a document of that id with another content: refused, or replaced in one commit.
	Policy Policy
	// Lenient leaves out entities and relations that cannot be stored (no name, both ends one, no description) and
	// counts them with the document; else one of them refuses the call.
	Lenient bool
}

// CustomResult is the answer of InsertGraph.
type CustomResult struct {
	ID     string `json:"id"`
	Result string `json:"result"` // Stored, or Unchanged
	// Replaces: another version was there.
	Replaces  bool           `json:"replaces,omitempty"`
	LSN       kv.LSN         `json:"lsn"` // of the commit; 0 when nothing had to change
	Chunks    int            `json:"chunks"`
	Entities  int            `json:"entities"`  // distinct names, ends of relations included
	Relations int            `json:"relations"` // distinct pairs
	Dropped   map[string]int `json:"dropped,omitempty"`
	Warnings  []string       `json:"warnings,omitempty"`
}

// Stored is the result of InsertGraph for what is visible now.
const Stored = "stored"

// customExtractor marks the chunks of custom graphs, which no extractor read.
const customExtractor = "custom"

// InsertGraph stores a custom graph as one document, in one commit: when it returns nil all of it is visible. Names
// resolve like those in texts: an alias speaks of its entity, what was deleted by hand stays so. A source that
// no chunk has is none, with a warning. Errors are *DocumentError, one for each thing that cannot be stored, joined, the
// first hundred of them; *TooLargeError; and those of models.
func (p *Pipeline) InsertGraph(ctx context.Context, g CustomGraph, o CustomOptions) (CustomResult, error) {
	if o.Policy > Put {
		return CustomResult{}, &OptionError{Field: "Policy", Value: int(o.Policy), Want: "Insert or Put"}
	}
	c, err := p.custom(&g, o)
	if err != nil {
		return CustomResult{}, err
	}
	for {
		res, err := p.tryGraph(ctx, c, o.Policy)
		if !errors.Is(err, errSuperseded) {
			return res, err
		}
	}
}

// custom is a validated custom graph: the extraction of each of its chunks, and of none.
type custom struct {
	incoming
	chunks   []record.Chunk
	found    []Extraction // by chunk; the last is of the document as a whole
	dropped  map[string]int
	warnings []string
}

// maxRefusals bounds the errors of one call.
const maxRefusals = 100

func (p *Pipeline) custom(g *CustomGraph, o CustomOptions) (*custom, error) {
	v := &customReader{c: &custom{dropped: make(map[string]int)}, id: g.ID, lenient: o.Lenient, at: make(map[string]int)}
	meta, err := metadataOf(g.Metadata)
	if err != nil {
		v.refuse("metadata", "", err)
	}
	path := cmp.Or(g.Path, DefaultGraphPath)
	if field, err := checkFields(Document{ID: g.ID, Path: path, Time: g.Time}); err != nil {
		v.refuse(field, "", err)
	}
	text := v.chunks(p, g.Chunks, path)
	v.c.found = make([]Extraction, len(g.Chunks)+1)
	for i := range g.Entities {
		v.entity(i, &g.Entities[i])
	}
	for i := range g.Relations {
		v.relation(i, &g.Relations[i])
	}
	if len(g.Chunks)+len(g.Entities)+len(g.Relations) == 0 {
		v.refuse("graph", "", ErrEmptyDocument)
	}
	if v.unknown > 0 {
		v.c.warnings = append(v.c.warnings, fmt.Sprintf("%d entities or relations name a source that no chunk has, the first is %s", v.unknown, brief.Quote(v.first)))
	}
	if len(v.errs) > 0 {
		return nil, errors.Join(v.errs...)
	}
	v.c.id, v.c.text = g.ID, text
	if g.ID == "" {
		v.c.id = "graph-" + v.c.digest()
	}
	for i := range v.c.chunks {
		v.c.chunks[i].Doc = v.c.id
	}
	now := p.cfg.Now()
	sum := sha256.Sum256([]byte(text))
	v.c.version = record.Version{Hash: hex.EncodeToString(sum[:]), Path: path, Metadata: meta, Time: g.Time.UTC(), Bytes: len(text),
		Removed: v.removed, EnqueuedAt: now.UnixNano(), Track: fmt.Sprintf("graph_%s_%08x", now.UTC().Format("20060102_150405"), p.cfg.Random())}
	_, err = p.freeze(&v.c.version, &Document{Text: text, Chunks: v.spans}, text)
	return v.c, err
}

// digest identifies the content.
func (c *custom) digest() string {
	b := codec.AppendString(nil, c.text)
	for i := range c.chunks {
		b = codec.AppendString(b, c.chunks[i].Content)
	}
	for _, x := range c.found {
		for _, s := range sourcesFrom(0, &record.Chunk{}, x) {
			b = codec.AppendString(b, string(s.Key("")))
			b = codec.AppendString(b, string(s.Encode()))
		}
		b = append(b, 0)
	}
	sum := md5.Sum(b)
	return hex.EncodeToString(sum[:])
}

// customReader checks a custom graph.
type customReader struct {
	c       *custom
	id      string
	lenient bool
	at      map[string]int // numbers of chunks by source
	spans   []chunk.Span
	removed int
	unknown int
	first   string
	errs    []error
}

func (v *customReader) refuse(where, field string, err error) {
	if field != "" {
		where += ": " + field
	}
	if len(v.errs) < maxRefusals {
		v.errs = append(v.errs, &DocumentError{ID: v.id, Field: where, Err: err})
	}
}

// drop refuses an entity or a relation, or counts it.
func (v *customReader) drop(where, field, reason string, err error) {
	if v.lenient {
		v.c.dropped[reason]++
		return
	}
	v.refuse(where, field, err)
}

// chunks cleans and orders the passages and returns the text they make.
func (v *customReader) chunks(p *Pipeline, given []CustomChunk, path string) string {
	const between = "\n\n"
	v.spans = make([]chunk.Span, len(given))
	order := make([]int, len(given))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(given[a].Order, given[b].Order) })
	var text strings.Builder
	for i, n := range order {
		g, where := &given[n], fmt.Sprintf("chunk %d", n)
		content, report, err := CleanText(g.Content, InvalidDrop)
		v.removed += report.Invalid + report.Controls
		_, twice := v.at[g.Source]
		switch {
		case err != nil:
			v.refuse(where, "content", err)
		case !hasContent(content):
			v.refuse(where, "content", ErrEmptyDocument)
		case g.Source != "" && twice:
			v.refuse(where, "source_id", fmt.Errorf("%s is given twice", brief.Quote(g.Source)))
		case text.Len()+len(content) > MaxTextBytes:
			v.refuse(where, "content", fmt.Errorf("%w: more than %d bytes in all", kv.ErrTooLarge, MaxTextBytes))
			return ""
		}
		if g.Source != "" {
			v.at[g.Source] = i
		}
		if i > 0 {
			text.WriteString(between)
		}
		c := record.Chunk{Order: i, Start: text.Len(), End: text.Len() + len(content), Path: path, Content: content, Extractor: customExtractor,
			Tokens: p.cfg.Tokenizer.Count(content)}
		c.CountLine(p.cfg.Tokenizer.Count)
		v.c.chunks = append(v.c.chunks, c)
		v.spans[i] = chunk.Span{Start: c.Start, End: c.End}
		text.WriteString(content)
	}
	return text.String()
}

// of returns where the records of a source go.
func (v *customReader) of(source string) *Extraction {
	if i, ok := v.at[source]; ok && source != "" {
		return &v.c.found[i]
	}
	if source != "" {
		if v.unknown++; v.unknown == 1 {
			v.first = source
		}
	}
	return &v.c.found[len(v.c.found)-1]
}

func (v *customReader) entity(i int, e *CustomEntity) {
	where := fmt.Sprintf("entity %d", i)
	name := NormalizeName(e.Name)
	if name == "" {
		v.drop(where, "entity_name", DropName, fmt.Errorf("%w: %s", ErrName, brief.Quote(e.Name)))
		return
	}
	typ, err := oneLine(e.Type)
	if err != nil {
		v.refuse(where, "entity_type", err)
	}
	description := ""
	if strings.TrimSpace(e.Description) != "" {
		if description, err = handText(e.Description); err != nil {
			v.refuse(where, "description", err)
		}
	}
	x := v.of(e.Source)
	x.Entities = append(x.Entities, EntityRecord{Name: name, Type: cmp.Or(typ, UnknownType), Description: description})
}

func (v *customReader) relation(i int, r *CustomRelation) {
	where := fmt.Sprintf("relationship %d", i)
	src, dst := NormalizeName(r.Src), NormalizeName(r.Dst)
	switch {
	case src == "":
		v.drop(where, "src_id", DropName, fmt.Errorf("%w: %s", ErrName, brief.Quote(r.Src)))
		return
	case dst == "":
		v.drop(where, "tgt_id", DropName, fmt.Errorf("%w: %s", ErrName, brief.Quote(r.Dst)))
		return
	case src == dst:
		v.drop(where, "", DropSelfLoop, fmt.Errorf("%w: %s", ErrSelfRelation, brief.Quote(src)))
		return
	case strings.TrimSpace(r.Description) == "":
		v.drop(where, "description", DropDescription, badField("it is blank"))
		return
	}
	weight := cmp.Or(r.Weight, 1)
	set, err := RelationFields{Description: &r.Description, Keywords: r.Keywords, Weight: &weight}.clean()
	if err != nil {
		var e *EditError
		if errors.As(err, &e) {
			v.refuse(where, e.Field, e.Err)
		}
		return
	}
	x := v.of(r.Source)
	x.Relations = append(x.Relations, RelationRecord{Src: src, Dst: dst, Description: *set.Description, Keywords: set.Keywords, Weight: set.Weight.Float()})
}
