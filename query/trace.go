package query

import (
	"fmt"
	"io"
	"strings"
	"time"
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

func (t *timer) count(name string, n int) { t.step.Counts = append(t.step.Counts, Count{name, n}) }

// dropped counts what a budget cut, where it cut anything.
func (t *timer) dropped(what string, n int) {
	if n > 0 {
		t.count(what+"_dropped", n)
	}
}

func (t *timer) note(s string) { t.step.Note = s }

func (t *timer) inner(s TraceStep) { t.step.Steps = append(t.step.Steps, s) }

func (t *timer) end() TraceStep {
	t.step.Duration = t.now().Sub(t.start)
	return t.step
}

// WriteTree writes t as an indented tree, one step a line, for a person to read.
func (t Trace) WriteTree(w io.Writer) error {
	var sb strings.Builder
	fmt.Fprintf(&sb, "query  %v\n", t.Total.Round(time.Microsecond))
	writeSteps(&sb, t.Steps, "")
	_, err := io.WriteString(w, sb.String())
	return err
}

func writeSteps(sb *strings.Builder, steps []TraceStep, indent string) {
	for i, s := range steps {
		branch, below := "├─ ", "│  "
		if i == len(steps)-1 {
			branch, below = "└─ ", "   "
		}
		fmt.Fprintf(sb, "%s%s%s  %v", indent, branch, s.Name, s.Duration.Round(time.Microsecond))
		for _, c := range s.Counts {
			fmt.Fprintf(sb, "  %s=%d", c.Name, c.N)
		}
		if s.Note != "" {
			fmt.Fprintf(sb, "  (%s)", s.Note)
		}
		sb.WriteByte('\n')
		writeSteps(sb, s.Steps, indent+below)
	}
}
