package query

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// timer measures one step.
type timer struct {
	now   func() time.Time
	start time.Time
	step  TraceStep
}

func (e *Engine) timer(name Step) *timer {
	return &timer{now: e.now, start: e.now(), step: TraceStep{Name: name}}
}

func (t *timer) count(name string, n int) {
	t.step.Counts = append(t.step.Counts, Count{Name: name, N: n})
}

// cut counts what is left of found.
func (t *timer) cut(name string, kept, found int) {
	t.step.Counts = append(t.step.Counts, Count{Name: name, N: kept, Of: found})
}

// scored notes the scores of a list, best first.
func (t *timer) scored(best, least float64) { t.step.Scores = &Scores{best, least} }

func (t *timer) note(s string) { t.step.Note = s }

func (t *timer) inner(s TraceStep) { t.step.Steps = append(t.step.Steps, s) }

func (t *timer) end() TraceStep {
	t.step.Duration = t.now().Sub(t.start)
	return t.step
}

// Explain writes what the query did as a tree for a person to read: a step a line with its time, what it found, what was
// left after each cut, the scores, and under it the ways that were taken instead of others; then why something is absent.
// Of a streamed answer it tells once the stream has ended. Names in it are as they are stored.
func (r *Result) Explain(w io.Writer) error {
	var sb strings.Builder
	sb.WriteString(string(r.Mode))
	if r.Ran != r.Mode {
		fmt.Fprintf(&sb, ", ran as %s", r.Ran)
	}
	fmt.Fprintf(&sb, ": %s in %v", r.Outcome, readable(r.Trace.Total))
	if r.LSN > 0 {
		fmt.Fprintf(&sb, ", at commit %d", r.LSN)
	}
	sb.WriteByte('\n')
	r.explain(&sb, r.Trace.Steps, "")
	for _, reason := range r.Reasons {
		fmt.Fprintf(&sb, "%s: %s\n", reason.Code, reason.Detail)
	}
	_, err := io.WriteString(w, sb.String())
	return err
}

// stepColumns and timeColumns are the widths of the first two columns of the tree.
const stepColumns, timeColumns = 17, 9

func (r *Result) explain(sb *strings.Builder, steps []TraceStep, indent string) {
	for i, s := range steps {
		branch, below := "├─ ", "│  "
		if i == len(steps)-1 {
			branch, below = "└─ ", "   "
		}
		head := indent + branch + string(s.Name)
		line := fmt.Sprintf("%s%s %*v  %s", head, strings.Repeat(" ", max(0, stepColumns-utf8.RuneCountInString(head))),
			timeColumns, readable(s.Duration), s.facts())
		sb.WriteString(strings.TrimRight(line, " ") + "\n")
		for _, f := range r.Fallbacks {
			if f.Step == s.Name {
				fmt.Fprintf(sb, "%s%s   %s instead of %s: %s\n", indent, below, f.To, f.From, f.Why)
			}
		}
		r.explain(sb, s.Steps, indent+below)
	}
}

// facts are the counts, scores and note of a step.
func (s *TraceStep) facts() string {
	facts := make([]string, 0, len(s.Counts)+1)
	for _, c := range s.Counts {
		text := fmt.Sprintf("%s %d", strings.ReplaceAll(c.Name, "_", " "), c.N)
		if c.Of > c.N {
			text += fmt.Sprintf(" of %d", c.Of)
		}
		facts = append(facts, text)
	}
	if s.Scores != nil {
		facts = append(facts, fmt.Sprintf("scores %.3g to %.3g", s.Scores.Best, s.Scores.Least))
	}
	text := strings.Join(facts, ", ")
	if s.Note != "" {
		text += " (" + strings.ReplaceAll(s.Note, "_", " ") + ")"
	}
	return text
}

// readable is a duration to as many digits as say something.
func readable(d time.Duration) time.Duration {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond)
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(100 * time.Nanosecond)
}
