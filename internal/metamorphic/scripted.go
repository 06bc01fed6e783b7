package metamorphic

import (
	"context"
	"strings"

	"github.com/glimdb/db/index"
)

// scripted is an extractor whose records stand in the text, one a line: "E Name (description)" and
// "R Name - Name (description)".
type scripted struct{}

func (scripted) ID() string { return "metamorphic/1" }

func (scripted) Extract(_ context.Context, in index.ExtractInput) (index.Extraction, error) {
	return parse(in.Text), nil
}

func parse(text string) (x index.Extraction) {
	for line := range strings.Lines(text) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, desc, whole := strings.Cut(rest, " (")
		desc = strings.TrimSuffix(desc, ")")
		if !whole { // a window may end inside a line
			continue
		}
		switch kind {
		case "E":
			x.Entities = append(x.Entities, index.EntityRecord{Name: name, Type: "thing", Description: desc})
		case "R":
			if a, b, ok := strings.Cut(name, " - "); ok {
				x.Relations = append(x.Relations, index.RelationRecord{Src: a, Dst: b, Description: desc, Keywords: []string{"with"}, Weight: 1})
			}
		}
	}
	return x
}
