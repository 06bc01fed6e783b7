package index

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glimdb/db/internal/prompt"
)

var rewriteRejected = flag.Bool("rewrite-rejected", false, "rewrite the golden file of rejected records")

// TestRejectedRecords accounts for every piece of two recorded runs that became no record: which chunk, which of its
// two replies, which reason. xiaomi-zh has the 20 damaged lines that its parser refused, tiki-vi 21 relations of four
// fields beside one record of keywords an answer and the chatter. The reports of whole replies count the same.
func TestRejectedRecords(t *testing.T) {
	var b strings.Builder
	for _, run := range []struct {
		name      string
		format    ReplyFormat
		separator string
		shape     func(piece string, reason string) bool // of those that are counted
		want      int
	}{
		{"lightrag-xiaomi-zh", FormatLines2025, "\n", func(_, reason string) bool { return reason == DropFieldCount }, 20},
		{"lightrag-tiki-vi", FormatTuplesUpper, tupleRecords, fourFieldRelation, 21},
	} {
		folder, _ := loadReplay(t, run.name)
		o, counted := ParseOptions{Format: run.format}, 0
		fmt.Fprintf(&b, "# %s\n", run.name)
		for _, c := range folder.Chunks {
			for n, reply := range []string{c.Extract, c.Glean} {
				single := make(map[string]int)
				for i, piece := range nonEmpty(strings.ReplaceAll(reply, prompt.EndMarker, run.separator), run.separator) {
					x := ParseReply(piece, o)
					for reason, n := range x.Report.Dropped {
						single[reason] += n
						if run.shape(piece, reason) {
							counted++
						}
					}
					if len(x.Entities)+len(x.Relations) == 0 && len(x.Report.Dropped) > 0 {
						fmt.Fprintf(&b, "%.14s reply %d piece %d %s: %s\n", c.ID, n+1, i+1, counts(x.Report.Dropped), excerpt(collapse(piece), 0, 60))
					}
				}
				if whole := ParseReply(reply, o).Report.Dropped; !maps.Equal(whole, single) {
					t.Errorf("chunk %s, reply %d: dropped %v, piece by piece %v", c.ID, n+1, whole, single)
				}
			}
		}
		if counted != run.want {
			t.Errorf("%s: %d rejected records, want %d", run.name, counted, run.want)
		}
	}
	golden := filepath.Join("testdata", "rejected.golden")
	if *rewriteRejected {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("%s differs (run with -rewrite-rejected to accept); got:\n%s", golden, b.String())
	}
}

// fourFieldRelation reports whether a rejected piece is a relation without keywords or strength.
func fourFieldRelation(piece, reason string) bool {
	m := tupleBody.FindStringSubmatch(piece)
	return reason == DropFieldCount && m != nil && strings.HasPrefix(m[1], `"relationship"`) && len(nonEmpty(m[1], tupleDelim)) == 4
}
