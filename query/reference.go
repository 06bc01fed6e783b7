package query

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// unknownSource is the path that documents without one carry in data taken over from LightRAG.
const unknownSource = "unknown_source"

func citable(path string) bool { return path != "" && path != unknownSource }

// refer numbers the documents of chunks, those in the context first, by number of chunks, then first
// appearance, and gives each chunk the number of its document; a chunk without a path gets none.
func refer(chunks []Chunk) []Reference {
	refs := []Reference{}
	at := make(map[string]int)
	for i := range chunks {
		c := &chunks[i]
		if !citable(c.Path) {
			continue
		}
		j, ok := at[c.Path]
		if !ok {
			j = len(refs)
			at[c.Path] = j
			refs = append(refs, Reference{Path: c.Path})
		}
		refs[j].Chunks++
		if c.InContext {
			refs[j].InContext++
		}
		if !slices.Contains(refs[j].Documents, c.Document) {
			refs[j].Documents = append(refs[j].Documents, c.Document)
		}
	}
	slices.SortStableFunc(refs, func(a, b Reference) int {
		if a.InContext+b.InContext > 0 {
			return cmp.Compare(b.InContext, a.InContext)
		}
		return cmp.Compare(b.Chunks, a.Chunks)
	})
	ids := make(map[string]string, len(refs))
	for i := range refs {
		refs[i].ID = strconv.Itoa(i + 1)
		ids[refs[i].Path] = refs[i].ID
	}
	for i := range chunks {
		chunks[i].Reference = ids[chunks[i].Path]
	}
	return refs
}

// cited is the part of refs that the context lists.
func cited(refs []Reference) []Reference {
	n := 0
	for n < len(refs) && refs[n].InContext > 0 {
		n++
	}
	return refs[:n]
}

// referTo returns the ids of the references that paths have, in order of the list.
func referTo(refs []Reference, paths []string) []string {
	out := []string{}
	for _, r := range refs {
		if slices.Contains(paths, r.Path) {
			out = append(out, r.ID)
		}
	}
	return out
}

// referenceLine is the line of the reference list. Control characters of a path would break the list.
func referenceLine(id, path string) string {
	return "[" + id + "] " + strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, path)
}
