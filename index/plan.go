package index

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// plan is a change of source records together with everything that follows from it. It is made of a
// view, completed by models outside every lock, and staged into one batch if the objects it read are
// still what they were (design: plan, prepare, commit).
type plan struct {
	skip map[uint64]bool // sequences of the documents whose records are replaced
	// What documents take away and put in, or, in its place, what people change.
	removed []contribution
	added   []record.Source
	byHand  *revision

	// Made of the view, and again when a decision about names was changed meanwhile.
	names   *resolver
	edits   []*edit // by object, entities first
	dormant edit    // records that count for nothing
}

// edit is the part of a plan about one object. Its records may stand under several names.
type edit struct {
	object         record.Object
	removed, added []record.Source

	// Read from the view.
	version  uint64           // of the tally
	entity   *record.Entity   // as stored, nil when absent
	relation *record.Relation // as stored, nil when absent

	// Derived.
	tally        record.Tally
	gone         bool // nothing speaks of the object any more
	nextEntity   record.Entity
	nextRelation record.Relation
	fragments    []string
	summarise    bool   // the description is to be asked of the summarizer
	embed        bool   // text differs from what the stored vector was made of
	text         string // to embed
	vector       []float32
}

// newPlan holds what documents take away and put in.
func newPlan(removed []contribution, skip []uint64, added []record.Source) *plan {
	p := &plan{removed: removed, added: added, skip: make(map[uint64]bool, len(skip))}
	for _, seq := range skip {
		p.skip[seq] = true
	}
	return p
}

// build groups the records of a plan by the objects that they count for. Objects whose records stay exactly
// the same are left out.
func (p *Pipeline) build(r kv.Reader, pl *plan) (err error) {
	if pl.names, err = newResolver(r, p.cfg.Workspace); err != nil {
		return err
	}
	before := pl.edits
	pl.edits, pl.dormant = nil, edit{}
	if pl.byHand != nil {
		err = pl.byHand.build(r, pl)
	} else {
		err = pl.group()
	}
	if err != nil {
		pl.names = nil
		return err
	}
	slices.SortFunc(pl.edits, func(a, b *edit) int { return a.object.Compare(b.object) })
	pl.inherit(before)
	return nil
}

func (pl *plan) group() error {
	edits := make(map[record.Object]*edit)
	of := func(o record.Object) (*edit, error) {
		o, active, err := pl.names.target(o)
		if err != nil || !active {
			return &pl.dormant, err
		}
		e := edits[o]
		if e == nil {
			e = &edit{object: o}
			edits[o] = e
		}
		return e, nil
	}
	for _, c := range pl.removed {
		for o, list := range c {
			e, err := of(o)
			if err != nil {
				return err
			}
			e.removed = append(e.removed, list...)
		}
	}
	for i := range pl.added {
		e, err := of(pl.added[i].Object)
		if err != nil {
			return err
		}
		e.added = append(e.added, pl.added[i])
	}
	for _, e := range edits {
		slices.SortFunc(e.removed, compareSources)
		slices.SortFunc(e.added, compareSources)
		if !sameSources(e.removed, e.added) {
			pl.edits = append(pl.edits, e)
		}
	}
	return nil
}

// inherit takes over what models gave to the edits of an earlier build.
func (pl *plan) inherit(before []*edit) {
	for _, old := range before {
		if i, ok := slices.BinarySearchFunc(pl.edits, old.object, func(e *edit, o record.Object) int { return e.object.Compare(o) }); ok {
			e := pl.edits[i]
			e.tally.Digest, e.nextEntity.Description, e.nextRelation.Description = old.tally.Digest, old.nextEntity.Description, old.nextRelation.Description
			e.text, e.vector = old.text, old.vector
		}
	}
}

// stands reports whether the decisions that a plan was made under are still those of r.
func (pl *plan) stands(r kv.Reader, ws string) (bool, error) {
	now, err := newResolver(r, ws)
	if err != nil {
		return false, err
	}
	return now.edits == pl.names.edits && (pl.byHand == nil || now.dormant == pl.names.dormant), nil
}

func compareSources(a, b record.Source) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), a.Position.Compare(b.Position), a.Object.Compare(b.Object))
}

// ofKind returns the part of a sorted list of records that has kind k.
func ofKind(list []record.Source, k record.Kind) []record.Source {
	i, _ := slices.BinarySearchFunc(list, k, func(s record.Source, k record.Kind) int { return cmp.Compare(s.Kind, k) })
	j, _ := slices.BinarySearchFunc(list, k+1, func(s record.Source, k record.Kind) int { return cmp.Compare(s.Kind, k) })
	return list[i:j]
}

// derive reads what the edits touch from r and works out the views that follow. It makes no call.
func (p *Pipeline) derive(ctx context.Context, r kv.Reader, pl *plan, edits []*edit) (err error) {
	if err := p.readViews(r, edits); err != nil {
		return err
	}
	tallies, err := talliesOf(r, p.cfg.Workspace, edits)
	if err != nil {
		return err
	}
	h := &history{r: r, ws: p.cfg.Workspace, skip: pl.skip}
	defer func() { err = errors.Join(err, h.Close()) }()
	pl.names.r = r
	for i, e := range edits {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.deriveOne(h, pl, e, tallies[i]); err != nil {
			return fmt.Errorf("index: derive %v: %w", e.object, err)
		}
	}
	return nil
}

// readViews reads the stored views of the edits' objects, in two batched calls.
func (p *Pipeline) readViews(r kv.Reader, edits []*edit) error {
	for _, e := range edits {
		e.entity, e.relation = nil, nil
	}
	g, err := p.openGraph(r)
	if g == nil || err != nil {
		return err
	}
	n, _ := slices.BinarySearchFunc(edits, true, func(e *edit, _ bool) int {
		if e.object.IsRelation() {
			return 1
		}
		return -1
	})
	names := make([]string, 0, n)
	for _, e := range edits[:n] {
		names = append(names, e.object.A)
	}
	nodes, err := g.Nodes(r, names)
	if err != nil {
		return fmt.Errorf("index: read entities: %w", err)
	}
	for i, node := range nodes {
		if node == nil {
			continue
		}
		ent, err := record.EntityOf(node.Name, node.Type, node.Props)
		if err != nil {
			return fmt.Errorf("index: read entities: %w", err)
		}
		edits[i].entity = &ent
	}
	pairs := make([][2]string, 0, len(edits)-n)
	for _, e := range edits[n:] {
		pairs = append(pairs, [2]string{e.object.A, e.object.B})
	}
	edges, err := g.Edges(r, pairs)
	if err != nil {
		return fmt.Errorf("index: read relations: %w", err)
	}
	for i, edge := range edges {
		if edge == nil {
			continue
		}
		rel, err := record.RelationOf(edge.Src, edge.Dst, edge.Weight, edge.Props)
		if err != nil {
			return fmt.Errorf("index: read relations: %w", err)
		}
		edits[n+i].relation = &rel
	}
	return nil
}

// deriveOne works out what follows for e, whose stored records old sums.
func (p *Pipeline) deriveOne(h *history, pl *plan, e *edit, old record.Tally) error {
	members, err := pl.names.members(e.object)
	if err != nil {
		return err
	}
	set, err := pl.names.fields(e.object)
	if err != nil {
		return err
	}
	e.version = old.Version
	asked := e.tally.Digest // of an earlier try
	if pl.byHand == nil {
		e.tally = old.Clone()
		for i := range e.removed {
			e.tally.Add(&e.removed[i], -1)
		}
		e.tally.Chunks -= distinctChunks(e.removed)
	} else if e.tally, err = h.sum(members); err != nil { // other records than before may count
		return err
	}
	for i := range e.added {
		e.tally.Add(&e.added[i], 1)
	}
	e.tally.Chunks += distinctChunks(e.added)
	had := *e // what models gave to an earlier try
	e.fragments, e.summarise, e.embed, e.text, e.vector = nil, false, false, "", nil
	defer func() {
		if e.text == had.text {
			e.vector = had.vector
		}
	}()
	if e.gone = e.tally.Empty(); e.gone {
		return nil
	}
	if pl.byHand == nil && p.beyondCaps(e, &old) {
		p.sum(e, &set)
		return nil
	}
	m, err := p.merge(h, pl, e, &old, members)
	if err != nil {
		return err
	}
	m.edited(&set)
	e.fragments = m.fragments
	var stored string // present description
	if e.object.IsRelation() {
		e.nextRelation = m.relation(e.object)
		if e.relation != nil {
			stored, e.nextRelation.CreatedAt = e.relation.Description, e.relation.CreatedAt
		}
	} else {
		e.nextEntity = m.entity(e.object.A)
		if e.entity != nil {
			stored, e.nextEntity.CreatedAt = e.entity.Description, e.entity.CreatedAt
		}
	}
	e.tally.Digest, e.tally.Rules = "", p.rules
	if p.needsSummary(m.fragments) {
		e.tally.Digest = p.digest(m.fragments)
		switch given := had.description(); {
		case stored != "" && old.Digest == e.tally.Digest:
			p.describe(e, stored) // the same fragments: what was paid for stays
		case given != "" && asked == e.tally.Digest:
			p.describe(e, given)
		default:
			e.summarise = true
		}
		return nil
	}
	p.describe(e, p.joined(e.object, m.fragments))
	return nil
}

// merge derives the view of an edit's object.
func (p *Pipeline) merge(h *history, pl *plan, e *edit, old *record.Tally, members []record.Object) (merged, error) {
	if pl.byHand != nil {
		return p.mergeStored(h, &e.tally, members, &e.tally, e.added)
	}
	if m, ok, err := p.mergeBehind(h, e, old, members); ok || err != nil {
		return m, err
	}
	return p.mergeStored(h, old, members, &e.tally, e.added)
}

// description is the one settled for the next view; empty before.
func (e *edit) description() string {
	if e.object.IsRelation() {
		return e.nextRelation.Description
	}
	return e.nextEntity.Description
}

// needsModel reports whether a summary or a vector is still to be asked for.
func (e *edit) needsModel() bool { return e.summarise || e.embed && e.vector == nil }

// mergeStored derives the view of an object from the records of its members: the stored ones that h does not
// skip, which stored sums, and added. It completes tally with where the view ends.
func (p *Pipeline) mergeStored(h *history, stored *record.Tally, members []record.Object, tally *record.Tally, added []record.Source) (m merged, err error) {
	caps := p.cfg.Options.caps()
	read := func(k record.Kind, n int) ([]record.Source, record.Mark, error) {
		return h.only(n).among(k, members, ofKind(added, k), caps.Sources, caps.KeepNewest)
	}
	var records, endpoints []record.Source
	if members[0].IsRelation() {
		if records, tally.RecordsEnd, err = read(record.KindRelation, stored.Records); err != nil {
			return m, err
		}
		return mergeRelation(tally, records, caps), nil
	}
	if records, tally.RecordsEnd, err = read(record.KindEntity, stored.Records); err != nil {
		return m, err
	}
	if endpoints, tally.EndpointsEnd, err = read(record.KindEndpoint, stored.Endpoints); err != nil {
		return m, err
	}
	return mergeEntity(tally, records, endpoints, caps), nil
}

// beyondCaps reports whether all records that come and go lie after the last chunks that the stored view
// shows, so that only its sums change: the usual case for a hub, which then costs no reading at all.
func (p *Pipeline) beyondCaps(e *edit, old *record.Tally) bool {
	if old.Rules != p.rules || e.entity == nil && e.relation == nil || len(leaders(e.tally.Types)) > 1 {
		return false // of tied types the first one in the records wins
	}
	for _, list := range [][]record.Source{e.removed, e.added} {
		for i := range list {
			end := old.RecordsEnd
			if list[i].Kind == record.KindEndpoint {
				end = old.EndpointsEnd
			}
			if end == (record.Mark{}) || list[i].Mark().Compare(end) <= 0 {
				return false
			}
		}
	}
	return true
}

// sum brings the sums of a view up to date; the rest stays as it is stored.
func (p *Pipeline) sum(e *edit, set *record.Fields) {
	m := mergeEntity(&e.tally, nil, nil, Caps{})
	if e.relation != nil {
		m = mergeRelation(&e.tally, nil, Caps{})
	}
	m.edited(set)
	if e.relation != nil {
		e.nextRelation = *e.relation
		e.nextRelation.Weight, e.nextRelation.SourceCount = m.weight, m.count
		p.describe(e, e.relation.Description)
		return
	}
	e.nextEntity = *e.entity
	e.nextEntity.Type, e.nextEntity.SourceCount = m.typ, m.count
	p.describe(e, e.entity.Description)
}

// needsSummary applies LightRAG's thresholds: few and short fragments are joined, one alone is kept.
func (p *Pipeline) needsSummary(fragments []string) bool {
	if len(fragments) < 2 {
		return false
	}
	if len(fragments) >= p.cfg.Options.SummaryFragments {
		return true
	}
	tokens := 0
	for _, f := range fragments {
		tokens += p.cfg.Tokenizer.Count(f)
	}
	return tokens >= p.cfg.Options.SummaryTokens
}

// joined is the description without a summary.
func (p *Pipeline) joined(o record.Object, fragments []string) string {
	if len(fragments) == 0 && !o.IsRelation() {
		return "Entity " + o.A
	}
	return strings.Join(fragments, Separator)
}

// digest identifies fragments and what summarises them.
func (p *Pipeline) digest(fragments []string) string {
	h := sha256.New()
	h.Write(codec.AppendStrings(codec.AppendString(nil, p.cfg.Summarizer.ID()), fragments))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// describe settles the description of e and what follows from it.
func (p *Pipeline) describe(e *edit, description string) {
	if e.object.IsRelation() {
		n := &e.nextRelation
		n.Description = description
		if old := e.relation; old != nil && old.Description == description {
			n.Tokens = old.Tokens
		} else {
			n.Tokens = p.cfg.Tokenizer.Count(record.RelationLine(n.Src, n.Dst, description))
		}
		e.text = record.RelationText(n)
		e.embed = e.relation == nil || record.RelationText(e.relation) != e.text
	} else {
		n := &e.nextEntity
		n.Description = description
		if old := e.entity; old != nil && old.Description == description && old.Type == n.Type {
			n.Tokens = old.Tokens
		} else {
			n.Tokens = p.cfg.Tokenizer.Count(record.EntityLine(n.Name, n.Type, description))
		}
		e.text = record.EntityText(n)
		e.embed = e.entity == nil || record.EntityText(e.entity) != e.text
	}
}

// sameSources compares lists of records.
func sameSources(a, b []record.Source) bool {
	return slices.EqualFunc(a, b, func(x, y record.Source) bool {
		return x.Kind == y.Kind && x.Object == y.Object && x.Position == y.Position && bytes.Equal(x.Encode(), y.Encode())
	})
}

// changed reports whether the stored view differs from the next one.
func (e *edit) changed() bool {
	if e.object.IsRelation() {
		return e.relation == nil || !e.relation.Equal(&e.nextRelation)
	}
	return e.entity == nil || !e.entity.Equal(&e.nextEntity)
}

// openGraph returns the knowledge graph, nil before the first write.
func (p *Pipeline) openGraph(r kv.Reader) (*graph.Graph, error) {
	g, err := graph.Open(r, p.cfg.Workspace, record.GraphName)
	return g, absentIsNil(err)
}
