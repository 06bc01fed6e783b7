package graph

import (
	"errors"
	"fmt"

	"github.com/glimdb/db/internal/brief"
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
	hub    int // degree from which a node has a shelf: hubDegree, less in tests
}

func handle(ws, name string, cfg Config) *Graph {
	return &Graph{name: name, prefix: graphPrefix(ws, name), cfg: cfg, hub: hubDegree}
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
		return nil, fmt.Errorf("graph: create %s: %w", brief.Quote(name), err)
	}
	s := g.staged(b)
	s.reset()
	s.loaded, s.dirty, s.next = true, true, 1
	return g, nil
}

// Open returns the graph of that name, or an error that is kv.ErrNotFound.
func Open(r kv.Reader, ws, name string) (*Graph, error) {
	g := handle(ws, name, Config{})
	v, err := r.Get(g.key(kindConfig, 0))
	if err != nil {
		return nil, fmt.Errorf("graph: open %s: %w", brief.Quote(name), err)
	}
	if g.cfg, err = decodeConfig(v); err != nil {
		return nil, fmt.Errorf("graph: open %s: %w", brief.Quote(name), err)
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
		return fmt.Errorf("graph: drop %s: %w", brief.Quote(name), err)
	}
	g.staged(b).reset()
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
