package graphview

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

var hostile = []string{"</script><script>alert(1)</script>", `"quoted" 'single'`, "line\u2028and\u2029para", "bidi\u202eevil\u2066", "<!--", "]]>",
	`<img src=x onerror="alert(1)">`, "{{.Title}} ${x} `y`", "n0", "__proto__", "青石港", "\\u003c", ""}

func hostileView() View {
	v := View{Title: hostile[0], AllNodes: 9554, AllEdges: 7, Notes: []string{hostile[6]}, Start: hostile[3]}
	for i, name := range hostile {
		s := Source{Texts: hostile, Documents: []string{name}, Chunks: []string{name}, ChunkCount: 2}
		v.Nodes = append(v.Nodes, Node{Name: name, Type: name, Degree: i, Source: s})
		v.Edges = append(v.Edges, Edge{Src: hostile[0], Dst: name, Keywords: []string{name}, Weight: float64(i) / 3, Source: s})
	}
	return v
}

func render(t *testing.T, v View) (string, *html.Node) {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, v); err != nil {
		t.Fatal(err)
	}
	doc, err := html.Parse(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), doc
}

// TestDataSurvives: a browser's parser finds the same data, and the page's own scripts and nothing else.
func TestDataSurvives(t *testing.T) {
	want := hostileView()
	_, doc := render(t, want)
	var data string
	var scripts []string
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "script" {
			if text := n.FirstChild.Data; len(n.Attr) > 0 {
				data = text
			} else {
				scripts = append(scripts, text)
			}
		}
	}
	if len(scripts) != 2 || scripts[0] != libraryJS || scripts[1] != pageJS {
		t.Errorf("%d scripts, or others than the page's own", len(scripts))
	}
	var got View
	if err := json.Unmarshal([]byte(data), &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if i := strings.IndexAny(data, "<>&\u2028\u2029"); i >= 0 {
		t.Errorf("the data holds %q as it is", data[i])
	}
}

// TestLoadsNothing: no element names an address, and the policy forbids every request and every other script.
func TestLoadsNothing(t *testing.T) {
	_, doc := render(t, hostileView())
	policy := ""
	for n := range doc.Descendants() {
		for _, a := range n.Attr {
			switch {
			case a.Key == "src" || a.Key == "href" || a.Key == "action" || a.Key == "srcset" || strings.HasPrefix(a.Key, "on"):
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			case a.Key == "content" && strings.HasPrefix(a.Val, "default-src"):
				policy = a.Val
			}
		}
		if n.Data == "link" || n.Data == "img" || n.Data == "iframe" || n.Data == "base" {
			t.Errorf("an element %s", n.Data)
		}
	}
	for _, want := range []string{"default-src 'none'; ", hash(libraryJS), hash(pageJS)} {
		if !strings.Contains(policy, want) {
			t.Errorf("policy %q lacks %s", policy, want)
		}
	}
	if strings.Contains(policy, "http") || strings.Contains(strings.Split(policy, "script-src")[1], "unsafe") {
		t.Errorf("policy %q", policy)
	}
	for name, own := range map[string]string{"page.css": pageCSS, "page.html": pageHTML} {
		if strings.Contains(own, "http://") || strings.Contains(own, "https://") || strings.Contains(own, "url(") || strings.Contains(own, "@import") {
			t.Errorf("%s names an address", name)
		}
	}
	for name, script := range map[string]string{"page.js": pageJS, "the library": libraryJS} {
		if lower := strings.ToLower(script); strings.Contains(lower, "</script") || strings.Contains(lower, "<!--") {
			t.Errorf("%s would end its element", name)
		}
	}
}

//go:embed cytoscape/README.md
var libraryReadme string

func TestLibraryIsTheOneNamed(t *testing.T) {
	sum := sha256.Sum256([]byte(libraryJS))
	if !strings.Contains(libraryReadme, hex.EncodeToString(sum[:])) {
		t.Error("cytoscape/README.md names another file")
	}
	if !strings.Contains(libraryLicense, "Permission is hereby granted") || !strings.Contains(libraryJS, `version="`+"3.35.0"+`"`) {
		t.Error("not the licence or the version that the README names")
	}
}

func TestRefused(t *testing.T) {
	for name, v := range map[string]View{
		"two of a name": {Nodes: []Node{{Name: "a"}, {Name: "a"}}},
		"a loose end":   {Nodes: []Node{{Name: "a"}}, Edges: []Edge{{Src: "a", Dst: "b"}}},
		"no weight":     {Nodes: []Node{{Name: "a"}}, Edges: []Edge{{Src: "a", Dst: "a", Weight: math.NaN()}}},
		"no start":      {Start: "x"},
	} {
		if err := Write(&bytes.Buffer{}, v); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestLayout: the same each time, all apart, what is joined nearer than what is not, lone nodes not far out.
func TestLayout(t *testing.T) {
	var edges [][2]int
	for i := range 20 { // two cliques and ten lone nodes
		for j := range i {
			if i/10 == j/10 {
				edges = append(edges, [2]int{i, j})
			}
		}
	}
	at := layout(30, edges)
	if !reflect.DeepEqual(at, layout(30, edges)) {
		t.Error("another picture of the same graph")
	}
	sum, n := [2]float64{}, [2]float64{}
	for i := range 20 {
		for j := range i {
			apart := math.Hypot(at[i].X-at[j].X, at[i].Y-at[j].Y)
			if !(apart > 1) {
				t.Errorf("nodes %d and %d are %v apart", i, j, apart)
			}
			same := 0
			if i/10 == j/10 {
				same = 1
			}
			sum[same], n[same] = sum[same]+apart, n[same]+1
		}
	}
	if joined, not := sum[1]/n[1], sum[0]/n[0]; !(joined < not/1.5) {
		t.Errorf("joined nodes are %.0f apart, others %.0f", joined, not)
	}
	for i, p := range at {
		if away := math.Hypot(p.X, p.Y); !(away < 20*spacing) {
			t.Errorf("node %d is %.0f from the middle", i, away)
		}
	}
	if got := layout(0, nil); len(got) != 0 {
		t.Errorf("no nodes: %v", got)
	}
}
