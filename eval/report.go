package eval

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/glimdb/db/internal/chart"
	"github.com/glimdb/db/kv"
)

// Report is what Run measured. Its JSON form is stable; durations are in nanoseconds.
type Report struct {
	Questions int   `json:"questions"`
	Ks        []int `json:"k"`
	// AbsentEntities are gold entities that the graph does not have: each is a miss.
	AbsentEntities int `json:"absent_entities"`
	// LSN, sizes and memory are those of the database when the run began. VectorBytes is the memory of vectors and their
	// indexes.
	LSN         kv.LSN `json:"lsn"`
	Documents   int    `json:"documents"`
	Chunks      int    `json:"chunks"`
	Entities    int    `json:"entities"`
	VectorBytes int64  `json:"vector_bytes"`
	DiskBytes   int64  `json:"disk_bytes"`
	// Clusters are the topic clusters that questions can be routed by; nil without any.
	Clusters *Clusters `json:"clusters,omitempty"`
	// BuildTook is how long it took to make the database; 0: Run cannot know, who made it may fill it in.
	BuildTook time.Duration `json:"build_ns,omitempty"`
	Rows      []Row         `json:"rows"`
	// Unmeasured are the setups without a row: naive ones, which look for no entities, where no question has other gold.
	Unmeasured []string `json:"unmeasured,omitempty"`
}

// Clusters is what topic clusters took.
type Clusters struct {
	Count int           `json:"count"`
	Took  time.Duration `json:"took_ns"` // to build them
	Bytes int64         `json:"bytes"`   // of memory, beside the vectors
}

// Row is one setup at one level. Measures are means over the questions with gold of that level.
type Row struct {
	Setup  string `json:"setup"`
	Level  Level  `json:"level"`
	Judged int    `json:"judged"` // questions with gold of the level
	Measures
	// RecallCurve is Recall at every K from 1 to the largest.
	RecallCurve []float64 `json:"recall_curve"`
	// NeighborRecall is that of the chunks, at each K of the report; nil when the setup names nothing exhaustive.
	NeighborRecall []float64 `json:"neighbor_recall,omitempty"`
	// Latency is that of retrieval, from the question to the list of results, embedding included; Embedding is its part.
	Latency   Latency `json:"latency"`
	Embedding Latency `json:"embedding"`
	// ScannedShare is the mean share of all chunks that questions with routing were compared with, and RoutingCeiling the
	// share of gold (documents: those with a chunk) within the clusters they went to, an upper bound of Recall; a question
	// that fell back to all chunks has 1 in both. nil without routing.
	ScannedShare   *float64 `json:"scanned_share,omitempty"`
	RoutingCeiling *float64 `json:"routing_ceiling,omitempty"`
	// FallbackRate is the share of questions for which another way was taken than the one asked for; Fallbacks count
	// which.
	FallbackRate float64        `json:"fallback_rate"`
	Fallbacks    map[string]int `json:"fallbacks,omitempty"`
}

// Latency describes durations. A percentile is the smallest duration that so many per cent are not longer than.
type Latency struct {
	Mean time.Duration `json:"mean_ns"`
	P50  time.Duration `json:"p50_ns"`
	P95  time.Duration `json:"p95_ns"`
	P99  time.Duration `json:"p99_ns"`
}

func latencyOf(all []time.Duration) Latency {
	if len(all) == 0 {
		return Latency{}
	}
	sorted := slices.Sorted(slices.Values(all))
	sum := time.Duration(0)
	for _, d := range sorted {
		sum += d
	}
	at := func(percent int) time.Duration { return sorted[(len(sorted)*percent+99)/100-1] }
	return Latency{sum / time.Duration(len(sorted)), at(50), at(95), at(99)}
}

// Format is the form of a written report.
type Format string

// The formats.
const (
	Text     Format = "text"     // aligned columns
	Markdown Format = "markdown" // one table, and what it was measured on
	CSV      Format = "csv"      // the table alone, numbers in full
	JSON     Format = "json"     // everything
)

// Formats lists all formats.
func Formats() []Format { return []Format{Text, Markdown, CSV, JSON} }

// Write writes the report.
func (r *Report) Write(w io.Writer, f Format) error {
	switch f {
	case JSON:
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(r)
	case CSV:
		c := csv.NewWriter(w)
		if err := c.WriteAll(r.table(func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) })); err != nil {
			return err
		}
		return c.Error()
	case Text, Markdown:
		table := r.table(func(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) })
		if f == Text {
			return writeText(w, r.about(), table)
		}
		return writeMarkdown(w, r.about(), table)
	}
	return fmt.Errorf("eval: format %q, want one of %v", f, Formats())
}

// about says in one line what was measured.
func (r *Report) about() string {
	s := fmt.Sprintf("questions %d; documents %d, chunks %d, entities %d at commit %d; vectors %.1f MiB, disk %.1f MiB",
		r.Questions, r.Documents, r.Chunks, r.Entities, r.LSN, mebibytes(r.VectorBytes), mebibytes(r.DiskBytes))
	if c := r.Clusters; c != nil {
		s += fmt.Sprintf("; topic clusters %d, built in %v, %.1f MiB", c.Count, c.Took.Round(time.Millisecond), mebibytes(c.Bytes))
	}
	if r.BuildTook > 0 {
		s += fmt.Sprintf("; built in %v", r.BuildTook.Round(time.Millisecond))
	}
	if r.AbsentEntities > 0 {
		s += fmt.Sprintf("; gold entities that the graph does not have: %d", r.AbsentEntities)
	}
	if len(r.Unmeasured) > 0 {
		s += "; nothing to measure in " + strings.Join(r.Unmeasured, ", ") + ": naive looks for no entities, and the questions have no other gold"
	}
	return s
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }

// table is the head and the rows as cells.
func (r *Report) table(number func(float64) string) [][]string {
	head := []string{"setup", "level", "questions"}
	for _, name := range []string{"Recall", "Precision", "Hit", "nDCG"} {
		for _, k := range r.Ks {
			head = append(head, fmt.Sprintf("%s@%d", name, k))
		}
	}
	head = append(head, "MRR")
	neighbors := slices.ContainsFunc(r.Rows, func(row Row) bool { return row.NeighborRecall != nil })
	if neighbors {
		for _, k := range r.Ks {
			head = append(head, fmt.Sprintf("neighbours@%d", k))
		}
	}
	routed := slices.ContainsFunc(r.Rows, func(row Row) bool { return row.ScannedShare != nil })
	if routed {
		head = append(head, "ceiling", "scanned")
	}
	head = append(head, "fallbacks", "mean ms", "p50 ms", "p95 ms", "p99 ms", "embed ms")
	out := [][]string{head}
	for _, row := range r.Rows {
		cells := []string{row.Setup, string(row.Level), strconv.Itoa(row.Judged)}
		for _, value := range []func(AtK) float64{func(a AtK) float64 { return a.Recall }, func(a AtK) float64 { return a.Precision },
			func(a AtK) float64 { return a.Hit }, func(a AtK) float64 { return a.NDCG }} {
			for _, at := range row.At {
				cells = append(cells, number(value(at)))
			}
		}
		cells = append(cells, number(row.MRR))
		if neighbors {
			for i := range r.Ks {
				cell := ""
				if row.NeighborRecall != nil {
					cell = number(row.NeighborRecall[i])
				}
				cells = append(cells, cell)
			}
		}
		if routed {
			for _, v := range []*float64{row.RoutingCeiling, row.ScannedShare} {
				cell := ""
				if v != nil {
					cell = number(*v)
				}
				cells = append(cells, cell)
			}
		}
		cells = append(cells, number(row.FallbackRate))
		for _, d := range []time.Duration{row.Latency.Mean, row.Latency.P50, row.Latency.P95, row.Latency.P99, row.Embedding.Mean} {
			cells = append(cells, number(float64(d)/1e6))
		}
		out = append(out, cells)
	}
	return out
}

// writeText writes aligned columns, turned on their side: there are more measures than fit a line, and few setups.
func writeText(w io.Writer, about string, table [][]string) error {
	widths := make([]int, len(table))
	for i, row := range table {
		for _, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var sb strings.Builder
	fmt.Fprintln(&sb, about)
	for measure := range table[0] {
		line := ""
		for i, row := range table {
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(row[measure]))
			if i == 0 {
				line += row[measure] + gap
			} else {
				line += "  " + gap + row[measure]
			}
		}
		fmt.Fprintln(&sb, strings.TrimRight(line, " "))
	}
	_, err := io.WriteString(w, sb.String())
	return err
}

func writeMarkdown(w io.Writer, about string, table [][]string) error {
	var sb strings.Builder
	for i, row := range table {
		for j, cell := range row {
			row[j] = strings.NewReplacer("|", `\|`, "\n", " ").Replace(cell)
		}
		fmt.Fprintf(&sb, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			sb.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	fmt.Fprintf(&sb, "\n%s.\n", about)
	_, err := io.WriteString(w, sb.String())
	return err
}

// Image is the form of a drawing.
type Image string

// The images.
const (
	SVG Image = "svg"
	PNG Image = "png"
)

// Draw draws the recall of every row against K, from 1 to the largest.
func (r *Report) Draw(w io.Writer, f Image) error {
	c := chart.Chart{Title: "Recall", X: "K", Y: "Recall@K", Top: 1}
	for _, row := range r.Rows {
		line := chart.Line{Name: row.Setup + ", " + string(row.Level)}
		for i, v := range row.RecallCurve {
			line.Points = append(line.Points, chart.Point{X: float64(i + 1), Y: v})
		}
		c.Lines = append(c.Lines, line)
	}
	switch f {
	case SVG:
		return c.WriteSVG(w)
	case PNG:
		return c.WritePNG(w)
	}
	return errors.New("eval: want svg or png")
}
