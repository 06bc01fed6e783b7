package rerank

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// results finds the list of results in a reply.
func results(data []byte, form Form) (list []json.RawMessage, found bool) {
	if !json.Valid(data) {
		data = withoutNaN(data)
	}
	type listed struct {
		Results []json.RawMessage `json:"results"`
	}
	var reply struct {
		listed
		Output listed `json:"output"`
	}
	if json.Unmarshal(data, &reply) != nil {
		return nil, false
	}
	if list = reply.Results; form == Aliyun {
		list = reply.Output.Results
	}
	return list, list != nil
}

// withoutNaN puts null in the place of NaN and infinities outside strings, which some servers write although they are
// no JSON.
func withoutNaN(data []byte) []byte {
	words := [][]byte{[]byte("-Infinity"), []byte("Infinity"), []byte("NaN")}
	out := make([]byte, 0, len(data))
	inString := false
next:
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\' && i+1 < len(data):
			out = append(out, c)
			i++
		case c == '"':
			inString = !inString
		case !inString:
			for _, w := range words {
				if bytes.HasPrefix(data[i:], w) {
					out = append(out, "null"...)
					i += len(w) - 1
					continue next
				}
			}
		}
		out = append(out, data[i])
	}
	return out
}

// discarded counts what a reply lacks, and what was no result in it.
type discarded struct {
	shape, index, outOfRange, score, repeated, missing int
}

// String lists the counts that are not 0.
func (d discarded) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{d.shape, "no object"}, {d.index, "index is no whole number"}, {d.outOfRange, "index out of range"}, {d.score, "score is no finite number"},
		{d.repeated, "index repeated"}, {d.missing, "text without a score"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", p.what, p.n))
		}
	}
	return strings.Join(parts, ", ")
}

// read returns the score of each of n texts, NaN where there is none. The first usable score of a text counts, wherever
// in the list it stands: a server that repeats an index is not asked which one it means.
func read(list []json.RawMessage, n int) (scores []float64, bad discarded) {
	scores = make([]float64, n)
	for i := range scores {
		scores[i] = math.NaN()
	}
	for _, raw := range list {
		var result struct {
			Index json.RawMessage `json:"index"`
			Score json.RawMessage `json:"relevance_score"`
		}
		if !bytes.HasPrefix(raw, []byte("{")) || json.Unmarshal(raw, &result) != nil {
			bad.shape++
			continue
		}
		index, err := strconv.Atoi(string(result.Index)) // no text, no boolean, no fraction
		if err != nil {
			bad.index++
			continue
		}
		if index < 0 || index >= n {
			bad.outOfRange++
			continue
		}
		score, ok := number(result.Score)
		if !ok {
			bad.score++
			continue
		}
		if !math.IsNaN(scores[index]) {
			bad.repeated++
			continue
		}
		scores[index] = score
	}
	return scores, bad
}

// number reads a finite number, or a text that is one.
func number(raw json.RawMessage) (float64, bool) {
	text := string(raw)
	if strings.HasPrefix(text, `"`) {
		if json.Unmarshal(raw, &text) != nil {
			return 0, false
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}
