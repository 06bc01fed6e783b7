package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/vector"
)

func TestVecFiles(t *testing.T) {
	dir := t.TempDir()
	m := clustered(1, 20, 7)
	path := filepath.Join(dir, "m.fvecs")
	if err := writeFvecs(path, m); err != nil {
		t.Fatal(err)
	}
	got, err := readFvecs(path)
	if err != nil || got.dim != m.dim || !slices.Equal(got.values, m.values) {
		t.Errorf("read back %d × %d: %v", got.rows(), got.dim, err)
	}
	ids := [][]uint32{{1, 2, 3}, {}, {math.MaxUint32}}
	path = filepath.Join(dir, "m.ivecs")
	if err := writeIvecs(path, ids); err != nil {
		t.Fatal(err)
	}
	back, err := readIvecs(path)
	if err != nil || len(back) != len(ids) {
		t.Fatalf("read back %v: %v", back, err)
	}
	for i := range ids {
		if !slices.Equal(back[i], ids[i]) {
			t.Errorf("row %d is %v, want %v", i, back[i], ids[i])
		}
	}
	for name, text := range map[string]string{
		"cut head":         "\x02\x00",
		"cut row":          "\x02\x00\x00\x00abcd",
		"no vector file":   "GIF89a.............",
		"uneven dimension": "\x01\x00\x00\x00abcd\x02\x00\x00\x00abcdefgh",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if m, err := readFvecs(path); err == nil {
			t.Errorf("%s: read as %d rows", name, m.rows())
		}
	}
}

// TestClustered pins what the generated set is: a function of its seed, with near neighbours, in no order.
func TestClustered(t *testing.T) {
	a, b := clustered(1, 500, 48), clustered(1, 500, 48)
	if !slices.Equal(a.values, b.values) {
		t.Error("two runs differ")
	}
	if slices.Equal(a.values, clustered(2, 500, 48).values) {
		t.Error("the seed has no effect")
	}
	d, err := split("c", vector.Cosine, clustered(1, 3000, 256), dataOptions{queries: 100})
	if err != nil {
		t.Fatal(err)
	}
	exact := bruteForce(d)
	nearest, hundredth := 0.0, 0.0
	for q, ids := range exact {
		nearest -= d.distance(q, ids[0]) / 100
		hundredth -= d.distance(q, ids[99]) / 100
	}
	if nearest < 0.8 || hundredth > nearest-0.1 || hundredth < 0.3 {
		t.Errorf("mean cosines %.3f to the nearest, %.3f to the hundredth: not like texts", nearest, hundredth)
	}
}

// TestDimension estimates the local intrinsic dimension (Levina and Bickel, 2004), which decides how hard
// a set is: that of text embeddings, far below the number of values.
func TestDimension(t *testing.T) {
	d, err := split("c", vector.Cosine, clustered(clusteredSeed, 4000, 384), dataOptions{queries: 200})
	if err != nil {
		t.Fatal(err)
	}
	const k = 20
	inverse := 0.0
	for q, ids := range bruteForce(d) {
		chord := func(i int) float64 { return math.Sqrt(2 + 2*d.distance(q, ids[i])) }
		for i := range k - 1 {
			inverse += math.Log(chord(k-1)/chord(i)) / (k - 2)
		}
	}
	if dim := float64(d.queries.rows()) / inverse; dim < 5 || dim > 20 {
		t.Errorf("the intrinsic dimension is %.1f", dim)
	}
}

// packWords makes a package of the shape npm serves.
func packWords(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, f := range []struct{ name, text string }{{"package/package.json", "{}"}, {"package/" + wordsPackage + ".json", text}} {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestWords(t *testing.T) {
	vectors := map[string][]float32{}
	for i, word := range []string{"the", `"`, `\`, "[1,2]", `"vectors":{`, "a]b", "Übung", "}"} {
		v := make([]float32, wordsDim+wordsExtra)
		for j := range v {
			v[j] = float32(i) + float32(j)/128
		}
		vectors[word] = v
	}
	text, err := json.Marshal(vectors)
	if err != nil {
		t.Fatal(err)
	}
	whole := `{"precision":8,"words":["the","\""],"vectors":` + string(text) + `,"unkVector":[0,0]}`
	m, err := readPackedWords(bytes.NewReader(packWords(t, whole)))
	if err != nil {
		t.Fatal(err)
	}
	if m.dim != wordsDim || m.rows() != len(vectors) {
		t.Fatalf("%d words of %d values, want %d of %d", m.rows(), m.dim, len(vectors), wordsDim)
	}
	for i := range m.rows() {
		word := m.row(i)[0]
		if m.row(i)[99] != word+99./128 {
			t.Errorf("word %d begins %v and ends %v", i, word, m.row(i)[99])
		}
	}
	for name, text := range map[string]string{
		"no vectors":   `{"words":[]}`,
		"cut":          whole[:len(whole)/2],
		"short vector": `{"vectors":{"a":[1,2,3]}}`,
		"no number":    strings.Replace(whole, "0.0078125", `"x"`, 1),
		"no list":      `{"vectors":{"a":1}}`,
		"bad follower": strings.Replace(whole, "]}", "];", 1),
	} {
		if m, err := readPackedWords(bytes.NewReader(packWords(t, text))); err == nil {
			t.Errorf("%s: read as %d words", name, m.rows())
		}
	}
	for name, packed := range map[string][]byte{"nothing": nil, "no archive": []byte("hello"), "cut archive": packWords(t, whole)[:200]} {
		if _, err := readPackedWords(bytes.NewReader(packed)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// The file given is read, and what was made of it is kept.
	dir := t.TempDir()
	o := dataOptions{queries: 1, words: filepath.Join(dir, "w.tgz"), cache: filepath.Join(dir, "cache")}
	for i := range 20 {
		vectors[fmt.Sprint("more", i)] = slices.Repeat([]float32{1, 2}, (wordsDim+wordsExtra)/2)
	}
	delete(vectors, "the")
	if text, err = json.Marshal(vectors); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(o.words, packWords(t, `{"vectors":`+string(text)+`}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		sets, err := loadWords(o)
		if err != nil {
			t.Fatal(err)
		}
		if d := sets[0]; d.base.rows() != len(vectors)-1 || d.queries.rows() != 1 || d.base.dim != wordsDim {
			t.Errorf("%d vectors × %d and %d queries of %d words", d.base.rows(), d.base.dim, d.queries.rows(), len(vectors))
		}
		if err := os.WriteFile(o.words, []byte("gone"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// shared returns the options of a machine that has the real data, or skips.
func shared(t *testing.T) dataOptions {
	t.Helper()
	o := dataOptions{queries: 200, shared: findShared()}
	if o.shared == "" {
		t.Skipf("the real data is not here: set %s to its folder", sharedEnv)
	}
	return o
}

// TestFashion compares our exact answer with the one published beside the pictures.
func TestFashion(t *testing.T) {
	o := shared(t)
	o.queries = 25
	sets, err := loadFashion(o)
	if err != nil {
		t.Fatal(err)
	}
	d := sets[0]
	if d.base.rows() != 10_000 || d.base.dim != 784 || d.metric != vector.L2 {
		t.Fatalf("%d pictures of %d pixels, %v", d.base.rows(), d.base.dim, d.metric)
	}
	want, err := readIvecs(filepath.Join(o.shared, "ann-fashion-mnist", "groundtruth_l2_top100.ivecs"))
	if err != nil {
		t.Fatal(err)
	}
	for q, got := range bruteForce(d) {
		if !slices.Equal(got, want[q]) {
			t.Errorf("query %d:\n got %v\nwant %v", q, got, want[q])
		}
	}
}

// TestText compares our exact answer with the ten nearest that lie beside the vectors of a text.
func TestText(t *testing.T) {
	o := shared(t)
	sets, err := loadText(o)
	if err != nil {
		t.Fatal(err)
	}
	if len(sets) != len(textFolders()) {
		t.Fatalf("%d sets of %d folders", len(sets), len(textFolders()))
	}
	for i, name := range textFolders() {
		dir := filepath.Join(o.shared, name)
		text, err := os.ReadFile(filepath.Join(dir, "gt_cosine_top10.json"))
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]map[string][][2]any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		entities, err := readVDB(filepath.Join(dir, "vdb_entities.json"))
		if err != nil {
			t.Fatal(err)
		}
		chunks, err := readVDB(filepath.Join(dir, "vdb_chunks.json"))
		if err != nil {
			t.Fatal(err)
		}
		d := *sets[i]
		d.base = d.base.slice(0, len(entities.ids))
		for q, got := range bruteForce(&d) {
			for at, pair := range want["entities"][chunks.ids[q]] {
				if id := entities.ids[got[at]]; id != pair[0] {
					if far := -d.distance(q, got[at]); math.Abs(far-pair[1].(float64)) > 1e-5 {
						t.Errorf("%s, query %d, rank %d: %s at %.6f, want %v at %.6f", name, q, at, id, far, pair[0], pair[1])
					}
				}
			}
		}
	}
}
