package graph

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
	"github.com/glimdb/db/kv"
)

// Config is fixed when a graph is created.
type Config struct {
	// Directed keeps (a, b) and (b, a) apart. Default: undirected.
	Directed bool
}

func (c Config) String() string {
	if c.Directed {
		return "directed"
	}
	return "undirected"
}

// Graph is a handle on one named graph of a workspace. It holds no view: every call names the reader or
// batch to work on. Safe for concurrent use.
type Graph struct {
	name   string
	prefix []byte // of all its keys; never written after construction
	cfg    Config
}

func handle(ws, name string, cfg Config) *Graph {
	return &Graph{name: name, prefix: graphPrefix(ws, name), cfg: cfg}
}

func graphPrefix(ws, name string) []byte {
	p := codec.AppendKeyString(space.In(ws, space.Graph), name)
	return p[:len(p):len(p)]
}

// Name is the graph's name.
func (g *Graph) Name() string { return g.name }

// Config is what the graph was created with.
func (g *Graph) Config() Config { return g.cfg }

// Create stages a new, empty graph. If one of that name exists with the same configuration it is
// returned; with another, the error is a *ConfigError.
func Create(b *kv.Batch, ws, name string, cfg Config) (*Graph, error) {
	if err := checkName("graph name", name); err != nil {
		return nil, fmt.Errorf("graph: create: %w", err)
	}
	have, err := Open(b, ws, name)
	switch {
	case err == nil && have.cfg != cfg:
		return nil, &ConfigError{Name: name, Have: have.cfg, Want: cfg}
	case err == nil:
		return have, nil
	case !errors.Is(err, kv.ErrNotFound):
		return nil, err
	}
	g := handle(ws, name, cfg)
	if err := b.Set(g.key(kindConfig, 0), appendConfig(nil, cfg)); err != nil {
		return nil, fmt.Errorf("graph: create %q: %w", name, err)
	}
	c := g.staged(b)
	*c = counters{loaded: true, next: 1}
	if err := g.save(b, c); err != nil {
		return nil, fmt.Errorf("graph: create %q: %w", name, err)
	}
	return g, nil
}

// Open returns the graph of that name, or an error that is kv.ErrNotFound.
func Open(r kv.Reader, ws, name string) (*Graph, error) {
	g := handle(ws, name, Config{})
	v, err := r.Get(g.key(kindConfig, 0))
	if err != nil {
		return nil, fmt.Errorf("graph: open %q: %w", name, err)
	}
	if g.cfg, err = decodeConfig(v); err != nil {
		return nil, fmt.Errorf("graph: open %q: %w", name, err)
	}
	return g, nil
}

// List returns the names of a workspace's graphs in byte order. It costs one seek a graph.
func List(r kv.Reader, ws string) ([]string, error) {
	prefix := space.In(ws, space.Graph)
	c, err := r.Cursor(prefix, codec.PrefixEnd(prefix))
	if err != nil {
		return nil, fmt.Errorf("graph: list: %w", err)
	}
	defer c.Close()
	var names []string
	for ok := c.First(); ok; {
		name, _, err := codec.KeyString(c.Key()[len(prefix):])
		if err != nil {
			return nil, fmt.Errorf("graph: list: %w: %w", kv.ErrCorrupt, err)
		}
		names = append(names, name)
		ok = c.SeekGE(codec.PrefixEnd(graphPrefix(ws, name)))
	}
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("graph: list: %w", err)
	}
	return names, nil
}

// Drop stages the removal of a graph with everything in it, at the cost of one range delete. The error
// is kv.ErrNotFound when there is none. Handles on it answer as for an empty graph and refuse changes.
func Drop(b *kv.Batch, ws, name string) error {
	g, err := Open(b, ws, name)
	if err != nil {
		return err
	}
	if err := b.DeleteRange(g.prefix, codec.PrefixEnd(g.prefix)); err != nil {
		return fmt.Errorf("graph: drop %q: %w", name, err)
	}
	*g.staged(b) = counters{}
	return nil
}

// Stats are a graph's counters.
type Stats struct {
	Nodes int
	Edges int // an undirected edge counts once
}

// Stats costs one get.
func (g *Graph) Stats(r kv.Reader) (Stats, error) {
	c, err := g.readCounters(r)
	if err != nil {
		return Stats{}, fmt.Errorf("graph: stats: %w", err)
	}
	return Stats{Nodes: int(c.nodes), Edges: int(c.edges)}, nil
}

// counters are kept decoded beside an open batch, so that a change reads them once a batch; the batch's
// key is always up to date with them.
type counters struct {
	loaded       bool
	next         uint64 // the id that the next node gets
	nodes, edges uint64
}

type countersOf string // the attachment key of a graph's counters: its key prefix

func (g *Graph) staged(b *kv.Batch) *counters {
	return b.Attachment(countersOf(g.prefix), func() any { return new(counters) }).(*counters)
}

// begin returns the counters that a change updates. It fails when the graph was dropped.
func (g *Graph) begin(b *kv.Batch) (*counters, error) {
	c := g.staged(b)
	if c.loaded {
		return c, nil
	}
	read, err := g.readCounters(b)
	if err != nil {
		return nil, fmt.Errorf("graph %q: %w", g.name, err)
	}
	*c = read
	return c, nil
}

func (g *Graph) readCounters(r kv.Reader) (counters, error) {
	v, err := r.Get(g.key(kindCounters, 0))
	if err != nil {
		return counters{}, err
	}
	c, err := decodeCounters(v)
	c.loaded = true
	return c, err
}

func (g *Graph) save(b *kv.Batch, c *counters) error {
	return b.Set(g.key(kindCounters, 0), c.encode())
}

func (c *counters) allocate() (nodeID, error) {
	if c.next > math.MaxUint32 {
		return 0, &LimitError{What: "node ids", Limit: math.MaxUint32}
	}
	id := nodeID(c.next)
	c.next++
	return id, nil
}

// keysOf returns the bounds of all keys of one kind.
func (g *Graph) keysOf(kind byte) (lower, upper []byte) {
	lower = g.key(kind, 0)
	return lower, codec.PrefixEnd(lower)
}

// cursor opens a cursor over all keys of one kind.
func (g *Graph) cursor(r kv.Reader, kind byte) (kv.Cursor, error) {
	lower, upper := g.keysOf(kind)
	return r.Cursor(lower, upper)
}

// seeker reads sorted keys with one cursor that only moves forward.
type seeker struct {
	c     kv.Cursor
	steps int  // tried before a seek
	on    bool // c stands on a key
	up    bool // c has moved
}

// nextBeforeSeek is how many steps are tried before a seek: stepping costs about a fifth of a seek, and
// ids wanted together are mostly close together. Not so for keys that most commits rewrite: a step over
// one passes every version that is not flushed yet, a seek passes none.
const nextBeforeSeek = 4

// find moves to key and reports whether it exists. Keys must come in ascending order.
func (s *seeker) find(key []byte) bool {
	if !s.up {
		s.up = true
		s.on = s.c.SeekGE(key)
		return s.on && bytes.Equal(s.c.Key(), key)
	}
	for range s.steps {
		if !s.on {
			return false
		}
		switch bytes.Compare(s.c.Key(), key) {
		case 0:
			return true
		case 1:
			return false
		}
		s.on = s.c.Next()
	}
	if s.on && bytes.Compare(s.c.Key(), key) < 0 {
		s.on = s.c.SeekGE(key)
	}
	return s.on && bytes.Equal(s.c.Key(), key)
}
