package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// hostile draws texts that are hard on formats.
func hostile() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{"", "a", "=1+1", "+", "-2", "@x", "'", "''", "＝", "\t", "\x00", "\x01", "\x1b[31m", "\x7f", "\u0085", "\ufffd", "\ufffe",
		"\uffff", "\xff", "\xed\xa0\x80", "&", "<", ">", `"`, "]]>", "&amp;", "\n", "\r", "\r\n", "👩‍🚀", "青石港", "e\u0301", "|", "\\|", "\\", ",", ";", "#", "`*_[x](y)",
		"\u202e", "\u2028", "a#0123456789abcdef", "␀", "<br>", `\.`, " "})
	return rapid.Custom(func(t *rapid.T) string {
		return piece.Draw(t, "first") + rapid.StringN(0, 3, -1).Draw(t, "middle") + piece.Draw(t, "last")
	})
}

var columns = []string{"text", "list", "int", "float", "bool", "time", "none"}

func row(t *rapid.T) []any {
	return []any{hostile().Draw(t, "text"), rapid.SliceOfN(hostile(), 0, 3).Draw(t, "list"), rapid.Int64().Draw(t, "int"),
		rapid.Float64().Draw(t, "float"), rapid.Bool().Draw(t, "bool"), time.Unix(rapid.Int64Range(0, 1<<36).Draw(t, "time"), 0), nil}
}

// shown is s with what keep refuses replaced, said another way than clean does it, and how many that were.
func shown(s string, keep func(rune) bool) (out string, replaced int) {
	for i, r := range s {
		switch invalid := r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"); {
		case !invalid && keep(r):
			out += string(r)
			continue
		case r < 0x20:
			out += string(rune(0x2400 + r))
		case r == 0x7f:
			out += "␡"
		default:
			out += "\ufffd"
		}
		replaced++
	}
	return out, replaced
}

// E1, E2: what CSV readers read is what was written, but for what the notes count.
func TestCSVReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.Bool().Draw(t, "raw")
		rows := rapid.SliceOfN(rapid.Custom(row), 0, 5).Draw(t, "rows")
		var b bytes.Buffer
		c, err := NewCSV(&b, columns, raw)
		for _, r := range rows {
			err = errors.Join(err, c.Row(r))
		}
		if err := errors.Join(err, c.Close()); err != nil {
			t.Fatal(err)
		}
		got, err := csv.NewReader(&b).ReadAll()
		if err != nil || len(got) != len(rows)+1 || !slices.Equal(got[0], columns) {
			t.Fatalf("%q, %v", got, err)
		}
		replaced, guarded := 0, 0
		for i, r := range rows {
			cells := got[i+1]
			for _, cell := range cells[:2] {
				if first, _ := utf8.DecodeRuneInString(cell); !raw && strings.ContainsRune("=+-@\t＝＋－＠", first) {
					t.Errorf("cell %q is a formula", cell)
				}
			}
			want, n := shown(r[0].(string), inCSV)
			if first, _ := utf8.DecodeRuneInString(want); !raw && strings.ContainsRune("=+-@\t＝＋－＠", first) {
				guarded++
			}
			text := cells[0]
			if !raw {
				text = strings.TrimPrefix(text, "'")
			}
			var list []string
			if err := json.Unmarshal([]byte(cells[1]), &list); err != nil || text != want {
				t.Fatalf("text %q, want %q; list %q: %v", text, want, cells[1], err)
			}
			replaced += n
			for j, s := range r[1].([]string) {
				if utf8.ValidString(s) && !strings.Contains(s, "\x7f") && list[j] != s { // JSON escapes the rest
					t.Fatalf("list %q, want %q", list, r[1])
				}
				replaced += strings.Count(s, "\x7f")
			}
			if cells[2] != fmt.Sprint(r[2]) || cells[4] != fmt.Sprint(r[4]) || cells[6] != "" {
				t.Fatalf("%q of %v", cells, r)
			}
		}
		if c.Replaced != replaced || c.Guarded != guarded {
			t.Fatalf("%+v, want %d replaced, %d guarded", c.Notes, replaced, guarded)
		}
	})
}

// E1, E2: JSON Lines are exact.
func TestJSONLReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(row), 0, 5).Draw(t, "rows")
		var b bytes.Buffer
		j := NewJSONL(&b, "thing", columns)
		for _, r := range rows {
			if err := j.Row(r); err != nil {
				t.Fatal(err)
			}
		}
		if n := bytes.Count(b.Bytes(), []byte{'\n'}); n != len(rows) {
			t.Fatalf("%d lines for %d rows", n, len(rows))
		}
		dec := json.NewDecoder(&b)
		replaced := 0
		for _, r := range rows {
			var got struct {
				Kind, Text string
				List       []string
				Int        int64
				Float      float64
				Bool       bool
				Time       time.Time
				None       *int
			}
			if err := dec.Decode(&got); err != nil {
				t.Fatal(err)
			}
			texts := append([]string{r[0].(string)}, r[1].([]string)...)
			for i, s := range append([]string{got.Text}, got.List...) {
				want, n := shown(texts[i], func(rune) bool { return true })
				if s != want {
					t.Fatalf("%q, want %q", s, want)
				}
				replaced += n
			}
			if got.Kind != "thing" || got.List == nil || got.Int != r[2] || got.Float != r[3] || got.Bool != r[4] || !got.Time.Equal(r[5].(time.Time)) || got.None != nil {
				t.Fatalf("%+v of %v", got, r)
			}
		}
		if j.Replaced != replaced {
			t.Fatalf("%d replaced, want %d", j.Replaced, replaced)
		}
	})
}

// E1, E3: GraphML is XML in which ids that differ stay different, and texts are as they were.
func TestGraphMLReadsBack(t *testing.T) {
	attributes := []Attribute{{"text", "string"}, {"list", "string"}, {"int", "long"}}
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(hostile(), 1, 8, rapid.ID[string]).Draw(t, "ids")
		var b bytes.Buffer
		g := NewGraphML(&b, attributes, attributes[:1])
		for _, id := range ids {
			if err := g.Node(id, map[string]any{"text": id, "list": []string{id}, "int": int64(7), "other": 1}); err != nil {
				t.Fatal(err)
			}
		}
		for i, id := range ids {
			if err := g.Edge(id, ids[(i+1)%len(ids)], map[string]any{"text": nil}); err != nil {
				t.Fatal(err)
			}
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		var doc struct {
			XMLName xml.Name `xml:"http://graphml.graphdrawing.org/xmlns graphml"`
			Keys    []struct {
				ID  string `xml:"id,attr"`
				For string `xml:"for,attr"`
			} `xml:"key"`
			Nodes []struct {
				ID   string `xml:"id,attr"`
				Data []struct {
					Key   string `xml:"key,attr"`
					Value string `xml:",chardata"`
				} `xml:"data"`
			} `xml:"graph>node"`
			Edges []struct {
				Source string   `xml:"source,attr"`
				Target string   `xml:"target,attr"`
				Data   []string `xml:"data"`
			} `xml:"graph>edge"`
		}
		if err := xml.Unmarshal(b.Bytes(), &doc); err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
		if len(doc.Keys) != 4 || doc.Keys[3].For != "edge" || len(doc.Nodes) != len(ids) || len(doc.Edges) != len(ids) {
			t.Fatalf("%+v", doc)
		}
		seen := make(map[string]bool)
		for i, n := range doc.Nodes {
			if seen[n.ID] {
				t.Fatalf("id %q twice", n.ID)
			}
			seen[n.ID] = true
			want, replaced := shown(ids[i], inXML)
			if !strings.HasPrefix(n.ID, want) || replaced == 0 && !digested.MatchString(ids[i]) && n.ID != ids[i] {
				t.Fatalf("id %q of %q", n.ID, ids[i])
			}
			if len(n.Data) != 3 || n.Data[0].Key != "d0" || n.Data[0].Value != want || n.Data[2].Value != "7" {
				t.Fatalf("data %+v of %q", n.Data, ids[i])
			}
			if e := doc.Edges[i]; e.Source != n.ID || e.Target != doc.Nodes[(i+1)%len(ids)].ID || len(e.Data) != 0 {
				t.Fatalf("edge %+v", e)
			}
		}
	})
}

// E1: every row of a Markdown table has its cells, on one line.
func TestMarkdownKeepsItsTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(row), 0, 5).Draw(t, "rows")
		var b bytes.Buffer
		m, err := NewMarkdown(&b, "Things", columns)
		for _, r := range rows {
			err = errors.Join(err, m.Row(r))
		}
		if err := errors.Join(err, m.Close()); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(b.String(), "\n")
		if lines[0] != "## Things" || len(rows) == 0 != strings.Contains(b.String(), "\nNone.\n") {
			t.Fatalf("%q", b.String())
		}
		for _, line := range lines[2 : 4+len(rows)] {
			if n := cellsOf(line); n != len(columns) || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f }) || !utf8.ValidString(line) {
				t.Fatalf("%d cells in %q", n, line)
			}
		}
	})
	var b bytes.Buffer
	m, err := NewMarkdown(&b, "T", []string{"a", "b"})
	if err := errors.Join(err, m.Row([]any{"x|y\\|<b>*&\n2", []string{"p", "q"}}), m.Close()); err != nil {
		t.Fatal(err)
	}
	if want := "| x\\|y\\\\\\|&lt;b&gt;\\*&amp;<br>2 | p, q |"; !strings.Contains(b.String(), want) {
		t.Errorf("got %q, want %q in it", b.String(), want)
	}
}

// cellsOf counts the cells as readers of tables do: at bars that no backslash precedes.
func cellsOf(line string) int {
	n := -1
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '|':
			n++
		}
	}
	return n
}

// A writer that fails ends every format with its error.
func TestFailedWrite(t *testing.T) {
	full := errors.New("full")
	w := writerFunc(func([]byte) (int, error) { return 0, full })
	c, err := NewCSV(w, columns, false)
	if err == nil {
		err = c.Close()
	}
	g := NewGraphML(w, nil, nil)
	_, merr := NewMarkdown(w, "t", columns)
	for name, err := range map[string]error{"csv": err, "jsonl": NewJSONL(w, "k", nil).Row(nil), "graphml": g.Node("a", nil), "markdown": merr} {
		if !errors.Is(err, full) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

var _ io.Writer = writerFunc(nil)
