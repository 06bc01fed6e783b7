package main

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/glimdb/db/vector"
)

// sharedEnv names the folder of real data, as it does for the module's tests; without it the folder
// shared/data beside an ancestor of the working directory is used.
const sharedEnv = "GLIM_DATA"

// findShared returns the folder of real data, or "".
func findShared() string {
	if env := os.Getenv(sharedEnv); env != "" {
		return env
	}
	dir, err := os.Getwd()
	for err == nil {
		p := filepath.Join(dir, "shared", "data")
		if st, err := os.Stat(p); err == nil && st.IsDir() {
			return p
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return ""
}

// sharedFolder returns a folder of the real data.
func sharedFolder(o dataOptions, data, name string) (string, error) {
	dir := filepath.Join(o.shared, name)
	if _, err := os.Stat(dir); o.shared == "" || err != nil {
		return "", absent("%s is left out: %s is not here (-shared DIR, or the environment's %s)", data, name, sharedEnv)
	}
	return dir, nil
}

// loadFashion reads 10,000 pictures of 28 × 28 grey values, compared by L2, and 200 queries.
func loadFashion(o dataOptions) ([]*dataset, error) {
	dir, err := sharedFolder(o, "fashion", "ann-fashion-mnist")
	if err != nil {
		return nil, err
	}
	base, err := readImages(filepath.Join(dir, "base-images-idx3-ubyte.gz"))
	if err != nil {
		return nil, err
	}
	queries, err := readImages(filepath.Join(dir, "query-images-idx3-ubyte.gz"))
	if err != nil {
		return nil, err
	}
	if o.n > 0 {
		base = base.slice(0, min(o.n, base.rows()))
	}
	d, err := checked(&dataset{"fashion", vector.L2, base, queries.slice(0, min(o.queries, queries.rows()))})
	return []*dataset{d}, err
}

// readImages reads a zipped IDX file of unsigned bytes in three dimensions: pictures, rows, columns.
func readImages(path string) (m matrix, err error) {
	f, err := os.Open(path)
	if err != nil {
		return m, err
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	const magic, maxValues = 2051, 1 << 30
	var head [4]uint32
	if err := binary.Read(r, binary.BigEndian, &head); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	n, dim := uint64(head[1]), uint64(head[2])*uint64(head[3])
	if head[0] != magic || dim == 0 || n > maxValues/dim {
		return m, fmt.Errorf("%s: not a file of pictures", path)
	}
	pixels := make([]byte, n*dim)
	if _, err := io.ReadFull(r, pixels); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	m = newMatrix(int(n), int(dim))
	for i, p := range pixels {
		m.values[i] = float32(p)
	}
	return m, nil
}

// textFolders hold vectors of real texts, a data set each: small ones, which show what exact search is for.
func textFolders() []string {
	return []string{"lightrag-tiki-vi", "lightrag-ollama-zh", "lightrag-carol"}
}

// loadText makes one data set a folder: entities and relations are searched, chunks are the queries.
func loadText(o dataOptions) (out []*dataset, err error) {
	for _, name := range textFolders() {
		dir, err := sharedFolder(o, "text", name)
		if err != nil {
			return nil, err
		}
		var base matrix
		for _, kind := range []string{"entities", "relationships"} {
			m, err := readVDB(filepath.Join(dir, "vdb_"+kind+".json"))
			if err != nil {
				return nil, err
			}
			if base.dim != 0 && base.dim != m.vectors.dim {
				return nil, fmt.Errorf("%s: vectors of %d and of %d dimensions", dir, base.dim, m.vectors.dim)
			}
			base = matrix{m.vectors.dim, append(base.values, m.vectors.values...)}
		}
		chunks, err := readVDB(filepath.Join(dir, "vdb_chunks.json"))
		if err != nil {
			return nil, err
		}
		queries := chunks.vectors
		if queries.dim != base.dim {
			return nil, fmt.Errorf("%s: queries of %d dimensions, vectors of %d", dir, queries.dim, base.dim)
		}
		if o.n > 0 {
			base = base.slice(0, min(o.n, base.rows()))
		}
		queries = queries.slice(0, min(o.queries, queries.rows()))
		if err := errors.Join(base.normalise(), queries.normalise()); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		d, err := checked(&dataset{"text-" + strings.TrimPrefix(name, "lightrag-"), vector.Cosine, base, queries})
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// vdb is a vector file of LightRAG's default storage.
type vdb struct {
	ids     []string
	vectors matrix
}

// readVDB reads a file {embedding_dim, data: [{__id__, …}], matrix: base64 of float32 rows}.
func readVDB(path string) (vdb, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return vdb{}, absent("text is left out: %s is not here", path)
		}
		return vdb{}, err
	}
	var file struct {
		Dim  int `json:"embedding_dim"`
		Data []struct {
			ID string `json:"__id__"`
		} `json:"data"`
		Matrix string `json:"matrix"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return vdb{}, fmt.Errorf("%s: %w", path, err)
	}
	raw, err := base64.StdEncoding.DecodeString(file.Matrix)
	if err != nil {
		return vdb{}, fmt.Errorf("%s: %w", path, err)
	}
	if file.Dim <= 0 || len(raw) != 4*file.Dim*len(file.Data) {
		return vdb{}, fmt.Errorf("%s: %d bytes are not %d vectors of %d values", path, len(raw), len(file.Data), file.Dim)
	}
	out := vdb{vectors: newMatrix(len(file.Data), file.Dim)}
	for i := range out.vectors.values {
		out.vectors.values[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	for _, d := range file.Data {
		out.ids = append(out.ids, d.ID)
	}
	return out, nil
}
