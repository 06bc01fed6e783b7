package eval

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// Question is one question of a set. At least one of the three levels has gold.
type Question struct {
	Question string `json:"question"`
	// Documents, Entities and Chunks are the ids that should be found, of each level. In JSON each is a list of ids, or
	// an object of ids with gains.
	Documents Gold `json:"documents,omitempty"`
	Entities  Gold `json:"entities,omitempty"`
	Chunks    Gold `json:"chunks,omitempty"`
	// Answer is kept for the reader; it is not compared.
	Answer string `json:"answer,omitempty"`

	at place
}

// place is where a question stands.
type place struct {
	file string
	line int
}

// Level is what a ranking is made of.
type Level string

// The levels.
const (
	Documents Level = "documents" // in the order of their first chunk
	Chunks    Level = "chunks"
	Entities  Level = "entities"
)

// Levels lists all levels.
func Levels() []Level { return []Level{Documents, Chunks, Entities} }

func (q *Question) gold(l Level) Gold {
	switch l {
	case Documents:
		return q.Documents
	case Chunks:
		return q.Chunks
	}
	return q.Entities
}

// UnmarshalJSON reads a list of ids, whose gains are 1, or an object of gains.
func (g *Gold) UnmarshalJSON(b []byte) error {
	var ids []string
	if err := json.Unmarshal(b, &ids); err == nil {
		*g = make(Gold, len(ids))
		for _, id := range ids {
			(*g)[id] = 1
		}
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if open, _ := d.Token(); open != json.Delim('{') {
		return errNoGold
	}
	*g = make(Gold)
	for d.More() {
		key, _ := d.Token()
		var gain float64
		if err := d.Decode(&gain); err != nil {
			return errNoGold
		}
		id, _ := key.(string) // all keys are
		if _, twice := (*g)[id]; twice {
			return fmt.Errorf("%q has two gains", id)
		}
		(*g)[id] = gain
	}
	return nil
}

var errNoGold = errors.New("want a list of ids, or an object of ids with their gains as numbers")

// QuestionError tells what is wrong with a question, where, and what to do. errors.Is finds ErrQuestion.
type QuestionError struct {
	File string // as it was given to ReadQuestions; empty for questions made in Go
	Line int    // from 1; of questions made in Go, their number
	What string
	Do   string
}

// ErrQuestion is every QuestionError.
var ErrQuestion = errors.New("eval: bad question")

// Error implements error.
func (e *QuestionError) Error() string {
	where := fmt.Sprintf("question %d", e.Line)
	if e.File != "" {
		where = fmt.Sprintf("%s, line %d", e.File, e.Line)
	}
	return fmt.Sprintf("eval: %s: %s: %s", where, e.What, e.Do)
}

// Is makes every QuestionError an ErrQuestion.
func (e *QuestionError) Is(target error) bool { return target == ErrQuestion }

func (p place) refuse(do, format string, args ...any) error {
	return &QuestionError{File: p.file, Line: p.line, What: fmt.Sprintf(format, args...), Do: do}
}

// maxLine bounds a line of a set: a question is no book.
const maxLine = 1 << 20

// ReadQuestions reads a set as JSON Lines: an object a line, blank lines are skipped. name is the file's, for errors. The
// first bad line is a *QuestionError: no JSON, a field that is unknown or of another type, no question, no gold, a gain
// that is no number above 0, an id with two gains, a field that comes twice, a question asked twice; so is a set without questions.
func ReadQuestions(r io.Reader, name string) ([]Question, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var out []Question
	seen := make(map[string]int)
	at := place{file: name}
	for lines.Scan() {
		at.line++
		text := bytes.TrimSpace(lines.Bytes())
		if at.line == 1 {
			text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		}
		if len(text) == 0 {
			continue
		}
		q := Question{at: at}
		if err := q.decode(text); err != nil {
			return nil, err
		}
		if err := q.check(); err != nil {
			return nil, err
		}
		if before, twice := seen[q.Question]; twice {
			return nil, at.refuse("join the two, or leave one out", "the question is that of line %d", before)
		}
		seen[q.Question] = at.line
		out = append(out, q)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		at.line++
		return nil, at.refuse("put each question on a line of its own", "the line is longer than %d bytes", maxLine)
	case err != nil:
		return nil, fmt.Errorf("eval: %s: %w", name, err)
	case len(out) == 0:
		at.line = max(at.line, 1)
		return nil, at.refuse("write a JSON object a line", "there is no question")
	}
	return out, nil
}

// decode reads a line.
func (q *Question) decode(text []byte) error {
	if name := repeated(text); name != "" {
		return q.at.refuse("keep one of the two", "%q comes twice", name)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(q); err != nil {
		what := strings.TrimPrefix(err.Error(), "json: ")
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			what = fmt.Sprintf("%s cannot be of type %s", cmp.Or(wrong.Field, "a question"), wrong.Value)
		}
		return q.at.refuse(`write {"question": "...", "documents": ["ID"]}, with chunks or entities as well or instead`, "%s", what)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return q.at.refuse("put each question on a line of its own", "something follows the question")
	}
	return nil
}

// repeated is the first field of an object that comes twice, spelled alike but for case; "" without one, and for what is
// no object.
func repeated(text []byte) string {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, _ := d.Token(); open != json.Delim('{') {
		return ""
	}
	seen := make(map[string]bool)
	for d.More() {
		key, _ := d.Token()
		name, ok := key.(string)
		var value json.RawMessage
		if !ok || d.Decode(&value) != nil {
			return "" // what is wrong is told by who reads it
		}
		name = strings.ToLower(name)
		if seen[name] {
			return name
		}
		seen[name] = true
	}
	return ""
}

func (q *Question) check() error {
	if strings.TrimSpace(q.Question) == "" {
		return q.at.refuse("give it a question", "the question is empty")
	}
	n := 0
	for _, l := range Levels() {
		for id, gain := range q.gold(l) {
			n++
			if id == "" || math.IsNaN(gain) || gain <= 0 || math.IsInf(gain, 1) {
				return q.at.refuse("name an id, and a number above 0 as its gain", "%s: %q has the gain %v", l, id, gain)
			}
		}
	}
	if n == 0 {
		return q.at.refuse("name the documents, chunks or entities that answer it", "nothing is said to be right")
	}
	return nil
}
