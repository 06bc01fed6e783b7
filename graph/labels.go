package graph

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/glimdb/db/kv"
)

// Limits of the label searches: a list for people to choose from.
const (
	DefaultPopular = 300
	MaxPopular     = 1000
	DefaultSearch  = 50
	MaxSearch      = 100
)

// Label is a node's name with its degree.
type Label struct {
	Name   string
	Degree int
}

// before is the order of popularity.
func (l Label) before(m Label) bool {
	if l.Degree != m.Degree {
		return l.Degree > m.Degree
	}
	return l.Name < m.Name
}

// Labels returns all node names in code-point order. AllNodes is the way to read a graph that may not fit
// in memory.
func (g *Graph) Labels(ctx context.Context, r kv.Reader) ([]string, error) {
	var names []string
	for w, err := range g.nameWindows(r, "") {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("graph: labels: %w", err)
		}
		names = append(names, w.names...)
	}
	return names, nil
}

// PopularLabels returns the limit nodes of the highest degree, ties in name order, isolated nodes last.
// limit is 1..MaxPopular. It reads all ids and degree pages once and keeps limit names.
func (g *Graph) PopularLabels(ctx context.Context, r kv.Reader, limit int) ([]Label, error) {
	if limit < 1 || limit > MaxPopular {
		return nil, &InvalidError{Field: "argument", Key: "limit", Reason: fmt.Sprintf("%d is not in 1..%d", limit, MaxPopular)}
	}
	visits, _, err := g.popular(ctx, r, limit)
	if err != nil {
		return nil, fmt.Errorf("graph: popular labels: %w", err)
	}
	labels := make([]Label, len(visits))
	for i, v := range visits {
		labels[i] = v.Label
	}
	return labels, nil
}

type popularNode struct {
	Label
	id nodeID
}

// popular returns the limit most popular nodes and the number of all nodes.
func (g *Graph) popular(ctx context.Context, r kv.Reader, limit int) (_ []popularNode, total int, err error) {
	if err := g.settle(r); err != nil {
		return nil, 0, err
	}
	ids, err := g.cursor(r, kindID)
	if err != nil {
		return nil, 0, err
	}
	defer ids.Close()
	pages, err := g.cursor(r, kindDegree)
	if err != nil {
		return nil, 0, err
	}
	defer pages.Close()
	best := bounded[popularNode]{limit: limit, before: func(x, y popularNode) bool { return x.before(y.Label) }}
	var page degreePage
	number := ^nodeID(0) // no page has this number
	pageKey := g.idKey(kindDegree, 0)
	for ids.Next() {
		id, err := g.idOf(ids.Key())
		if err != nil {
			return nil, 0, err
		}
		if id.page() != number {
			if err := ctx.Err(); err != nil {
				return nil, 0, err
			}
			number, page = id.page(), degreePage{}
			setID(pageKey, number)
			if pages.SeekGE(pageKey) && bytes.Equal(pages.Key(), pageKey) {
				if err := decodePage(pages.Value(), &page); err != nil {
					return nil, 0, err
				}
			}
		}
		total++
		degree := int(page[id.slot()])
		if len(best.heap) == limit && degree < best.heap[0].Degree {
			continue // the name would not be kept: do not copy it
		}
		best.push(popularNode{Label{string(ids.Value()), degree}, id})
	}
	if err := errors.Join(ids.Err(), pages.Err()); err != nil {
		return nil, 0, err
	}
	return best.sorted(), total, nil
}

// Match is a node name that SearchLabels found.
type Match struct {
	Name  string
	Score int
}

// Scores of label search, after LightRAG's.
const (
	scoreEqual  = 1000
	scorePrefix = 500
	scoreInside = 100 // less the name's length in characters
	scoreWord   = 50  // added when a match follows a space or an underscore
)

// SearchLabels returns the nodes whose name holds query, letter case ignored and blanks around query
// trimmed: equal names first, then names that begin with it, then the others, shorter ones and those in
// which it begins a word before; ties in name order. limit is 1..MaxSearch. An empty query finds
// nothing. It reads all names once.
func (g *Graph) SearchLabels(ctx context.Context, r kv.Reader, query string, limit int) ([]Match, error) {
	if limit < 1 || limit > MaxSearch {
		return nil, &InvalidError{Field: "argument", Key: "limit", Reason: fmt.Sprintf("%d is not in 1..%d", limit, MaxSearch)}
	}
	query = strings.ToLower(strings.TrimSpace(query))
	if query == "" {
		return nil, nil
	}
	best := bounded[Match]{limit: limit, before: func(x, y Match) bool {
		if x.Score != y.Score {
			return x.Score > y.Score
		}
		return x.Name < y.Name
	}}
	for w, err := range g.nameWindows(r, "") {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("graph: search labels: %w", err)
		}
		for _, name := range w.names {
			if score, ok := labelScore(name, query); ok {
				best.push(Match{name, score})
			}
		}
	}
	return best.sorted(), nil
}

// LabelScore is the score that SearchLabels gives a name for query; ok tells whether it finds it.
func LabelScore(name, query string) (score int, ok bool) {
	if query = strings.ToLower(strings.TrimSpace(query)); query == "" {
		return 0, false
	}
	return labelScore(name, query)
}

// labelScore scores a name against a trimmed query in lower case.
func labelScore(name, query string) (score int, ok bool) {
	lower := strings.ToLower(name)
	switch {
	case !strings.Contains(lower, query):
		return 0, false
	case lower == query:
		return scoreEqual, true
	case strings.HasPrefix(lower, query):
		return scorePrefix, true
	}
	score = scoreInside - utf8.RuneCountInString(name)
	if strings.Contains(lower, " "+query) || strings.Contains(lower, "_"+query) {
		score += scoreWord
	}
	return score, true
}
