package format

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
)

// pdfObject is where an object begins in the rebuilt file.
type pdfObject struct {
	at         int
	generation int
}

const (
	// pdfHeader is the one header that the library reads whatever follows.
	pdfHeader = "%PDF-1.7\n"
	// maxObject is the largest number of an object: readers keep a table up to it.
	maxObject = 1 << 21
)

var (
	pdfObj     = regexp.MustCompile(`(\d{1,10})[\x00\t\n\f\r ]+(\d{1,5})[\x00\t\n\f\r ]+obj\b`)
	pdfRoot    = regexp.MustCompile(`/Root[\x00\t\n\f\r ]+(\d{1,10})[\x00\t\n\f\r ]+(\d{1,5})[\x00\t\n\f\r ]+R`)
	pdfInfo    = regexp.MustCompile(`/Info[\x00\t\n\f\r ]+(\d{1,10})[\x00\t\n\f\r ]+(\d{1,5})[\x00\t\n\f\r ]+R`)
	pdfEncrypt = regexp.MustCompile(`/Encrypt[\x00\t\n\f\r ]*(?:<<|\d)`)
	pdfLength  = regexp.MustCompile(`/Length[\x00\t\n\f\r ]+(\d{1,10})[\x00\t\n\f\r ]*(?:/|>>)`)
	pdfCount   = regexp.MustCompile(`/N[\x00\t\n\f\r ]+(\d{1,9})`)
	pdfFirst   = regexp.MustCompile(`/First[\x00\t\n\f\r ]+(\d{1,9})`)
	pdfCatalog = regexp.MustCompile(`/Type[\x00\t\n\f\r ]*/Catalog\b`)
)

// rebuild returns the file with a header and a table of objects that fit: every object that is found by its own
// mark, later ones in place of earlier ones, and those of object streams unpacked behind them.
func (f *pdfFile) rebuild(data []byte) ([]byte, error) {
	if pdfEncrypt.Match(data) {
		return nil, ErrEncrypted
	}
	out := append([]byte(pdfHeader), data...)
	out = append(out, '\n')
	objects := make(map[int]pdfObject)
	catalog := -1
	ends, streams := finder{data: data, pattern: []byte("endobj")}, finder{data: data, pattern: []byte("stream")}
	for at := 0; at < len(data); {
		if err := f.d.late(f.ctx); err != nil {
			return nil, err
		}
		m := pdfObj.FindSubmatchIndex(data[at:])
		if m == nil {
			break
		}
		number, generation := atoi(data[at+m[2]:at+m[3]]), atoi(data[at+m[4]:at+m[5]])
		start, body := at+m[0], at+m[1]
		end := ends.from(body)
		s := streams.from(body)
		at = end
		var dict, stream []byte
		if s < end {
			dict = data[body:s]
			stream, at = streamAt(data, s+len("stream"), dict)
		} else {
			dict = data[body:end]
		}
		if number > maxObject {
			continue
		}
		objects[number] = pdfObject{at: len(pdfHeader) + start, generation: generation}
		if pdfCatalog.Match(dict) {
			catalog = number
		}
		if stream != nil && bytes.Contains(dict, []byte("/ObjStm")) {
			var err error
			if out, err = f.unfold(out, objects, &catalog, dict, stream); err != nil {
				return nil, err
			}
		}
	}
	root := lastReference(pdfRoot, data, objects)
	if root < 0 {
		root = catalog
	}
	if root < 0 {
		return nil, fmt.Errorf("%w: PDF: no catalogue of pages", ErrMalformed)
	}
	f.objects = len(objects)
	return writeTable(out, objects, root, lastReference(pdfInfo, data, objects)), nil
}

// finder looks for a pattern from places that only go forward, each byte once.
type finder struct {
	data, pattern []byte
	next          int // place of the pattern at or after what was asked last
	known         bool
}

// from returns the first place of the pattern at or after at, the end of the data if there is none.
func (f *finder) from(at int) int {
	if !f.known || f.next < at {
		f.known, f.next = true, len(f.data)
		if i := bytes.Index(f.data[at:], f.pattern); i >= 0 {
			f.next = at + i
		}
	}
	return f.next
}

// streamAt returns the bytes of a stream whose keyword ends at a place, and where the search for objects goes on.
func streamAt(data []byte, at int, dict []byte) (stream []byte, next int) {
	if bytes.HasPrefix(data[at:], []byte("\r\n")) {
		at += 2
	} else if at < len(data) && (data[at] == '\n' || data[at] == '\r') {
		at++
	}
	if m := pdfLength.FindSubmatch(dict); m != nil {
		if end := at + atoi(m[1]); end <= len(data) && bytes.HasPrefix(bytes.TrimLeft(data[end:min(end+8, len(data))], "\r\n "), []byte("endst")) {
			return data[at:end], end
		}
	}
	end := len(data)
	if i := bytes.Index(data[at:], []byte("endstream")); i >= 0 {
		end = at + i
	}
	return data[at:end], end
}

// unfold appends the objects of an object stream as objects of the file. A stream that cannot be read gives none:
// what misses them will say so.
func (f *pdfFile) unfold(out []byte, objects map[int]pdfObject, catalog *int, dict, stream []byte) ([]byte, error) {
	content := stream
	if bytes.Contains(dict, []byte("/FlateDecode")) {
		z, err := zlib.NewReader(bytes.NewReader(stream))
		if err != nil {
			return out, nil
		}
		content, _ = io.ReadAll(io.LimitReader(z, f.left+1))
		if f.left -= int64(len(content)); f.left < 0 {
			return nil, f.full()
		}
	}
	n, first := pdfCount.FindSubmatch(dict), pdfFirst.FindSubmatch(dict)
	if n == nil || first == nil || atoi(first[1]) > len(content) {
		return out, nil
	}
	head, body := bytes.Fields(content[:atoi(first[1])]), content[atoi(first[1]):]
	for i := 0; i+1 < min(2*atoi(n[1]), len(head)); i += 2 {
		number, start, end := atoi(head[i]), atoi(head[i+1]), len(body)
		if i+3 < len(head) {
			end = min(atoi(head[i+3]), len(body))
		}
		if number > maxObject || start >= end {
			continue
		}
		objects[number] = pdfObject{at: len(out)}
		if pdfCatalog.Match(body[start:end]) {
			*catalog = number
		}
		out = fmt.Appendf(out, "%d 0 obj\n%s\nendobj\n", number, body[start:end])
		if f.left -= int64(end - start); f.left < 0 { // overlapping ones repeat each other
			return nil, f.full()
		}
	}
	return out, nil
}

// lastReference is the object that the last match refers to, among those that are there; -1 if none is.
func lastReference(re *regexp.Regexp, data []byte, objects map[int]pdfObject) int {
	found := -1
	for _, m := range re.FindAllSubmatch(data, -1) {
		if n := atoi(m[1]); objects[n] != (pdfObject{}) {
			found = n
		}
	}
	return found
}

// writeTable appends the table of objects and the trailer.
func writeTable(out []byte, objects map[int]pdfObject, root, info int) []byte {
	numbers := slices.Sorted(maps.Keys(objects))
	table := len(out)
	out = append(out, "xref\n"...)
	for i := 0; i < len(numbers); {
		run := i + 1
		for run < len(numbers) && numbers[run] == numbers[run-1]+1 {
			run++
		}
		out = fmt.Appendf(out, "%d %d\n", numbers[i], run-i)
		for ; i < run; i++ {
			o := objects[numbers[i]]
			out = fmt.Appendf(out, "%010d %05d n \n", o.at, o.generation)
		}
	}
	out = fmt.Appendf(out, "trailer\n<< /Size %d /Root %d %d R", numbers[len(numbers)-1]+1, root, objects[root].generation)
	if info >= 0 {
		out = fmt.Appendf(out, " /Info %d %d R", info, objects[info].generation)
	}
	return fmt.Appendf(out, " >>\nstartxref\n%d\n%%%%EOF\n", table)
}

// atoi reads digits; what is none, or too large, is larger than any place or number.
func atoi(b []byte) int {
	n, err := strconv.Atoi(string(b))
	if err != nil || n < 0 {
		return 1 << 40
	}
	return n
}
