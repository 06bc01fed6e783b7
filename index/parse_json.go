package index

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// looksLikeJSON tells whether a reply is meant as JSON: it begins with an object or a list, in a fence or
// not.
func looksLikeJSON(reply string) bool {
	s := strings.TrimSpace(reply)
	if rest, ok := strings.CutPrefix(s, "```"); ok {
		_, rest, _ = strings.Cut(rest, "\n") // the language
		s = strings.TrimSpace(rest)
	}
	return strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[")
}

// jsonObject returns the reply from its one top-level object on, or "". An object inside a list does not
// count: it would be one of several.
func jsonObject(reply string) string {
	quoted := false
	for i := range len(reply) {
		switch c := reply[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[':
			return ""
		case c == '{':
			return reply[i:]
		}
	}
	return ""
}

// json reads {"entities": [{name, type, description}], "relationships": [{source, target, keywords,
// description}]}, which models answer now and then though asked for lines. It reads item by item, so that
// a reply that is cut off or damaged gives what stands before the damage. Text behind the object is
// ignored. The rules for fields are those of lines, but keywords may be empty. An object that is not JSON is read once
// more, mended; what gives more is used.
func (p *parser) json(reply string) {
	object := jsonObject(reply)
	if object == "" {
		p.out.Report.dropped(DropUnreadable)
		return
	}
	if p.jsonObject(object) {
		return
	}
	q := parser{o: p.o, types: p.types}
	if q.jsonObject(mendJSON(object)); q.records() > p.records() || q.whole {
		q.out.Report.repaired(RepairJSON)
		p.out, p.whole = q.out, q.whole
	}
	if !p.whole {
		p.out.Report.dropped(DropUnreadable)
	}
}

// jsonObject reads an object and tells whether it got to its end.
func (p *parser) jsonObject(object string) bool {
	dec := json.NewDecoder(strings.NewReader(object))
	dec.UseNumber()
	return p.jsonFields(dec)
}

// jsonFields reads the fields of the object that dec stands before and tells whether it got through.
func (p *parser) jsonFields(dec *json.Decoder) bool {
	if _, err := dec.Token(); err != nil {
		return false
	}
	lists := false
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return false
		}
		var item func(map[string]any)
		switch key {
		case "entities":
			item = func(m map[string]any) { p.entity(jsonText(m["name"]), jsonText(m["type"]), jsonText(m["description"])) }
		case "relationships", "relations":
			item = func(m map[string]any) {
				p.relation(jsonText(m["source"]), jsonText(m["target"]), jsonText(m["keywords"]), jsonText(m["description"]))
			}
		}
		if item == nil { // some other field
			if err := dec.Decode(new(any)); err != nil {
				return false
			}
			continue
		}
		if !p.jsonItems(dec, item) {
			return false
		}
		lists = true
	}
	_, err := dec.Token()
	p.whole = lists && err == nil
	return err == nil
}

// jsonItems reads a list of objects; anything else in the list is dropped, a plain value in place of
// the list is skipped.
func (p *parser) jsonItems(dec *json.Decoder, item func(map[string]any)) bool {
	start, err := dec.Token()
	switch {
	case err != nil || start == json.Delim('{'):
		return false
	case start != json.Delim('['):
		return true
	}
	for dec.More() {
		var v any
		if err := dec.Decode(&v); err != nil {
			return false
		}
		if m, ok := v.(map[string]any); ok {
			item(m)
		} else {
			p.out.Report.dropped(DropFieldCount)
		}
	}
	_, err = dec.Token()
	return err == nil
}

// jsonText renders a value as the text of a field. LaTeX that JSON read as escapes (\frac, \beta) gets its
// backslash back.
func jsonText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return restoreLaTeX(v)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = jsonText(v[i])
		}
		return strings.Join(parts, ",")
	}
	return fmt.Sprint(v)
}

func restoreLaTeX(s string) string {
	if !strings.ContainsAny(s, "\f\b") {
		return s
	}
	var sb strings.Builder
	for i, r := range s {
		next, _ := utf8.DecodeRuneInString(s[min(i+1, len(s)):]) // of interest after one-byte characters only
		switch {
		case r == '\f' && unicode.IsLetter(next):
			sb.WriteString(`\f`)
		case r == '\b' && unicode.IsLetter(next):
			sb.WriteString(`\b`)
		default:
			sb.WriteRune(r)
		}
	}
	return sb.String()
}
