package index

import (
	"regexp"
	"strings"

	"github.com/glimdb/db/internal/prompt"
)

// delim is the field delimiter of a reply in lines. Models damage it; repairDelimiters puts it back.
const delim = prompt.FieldDelimiter

// A repairRule replaces one shape of damage. Rules run in order, each over the result of those before.
type repairRule struct {
	shape *regexp.Regexp
	with  string
}

func repairs(pairs ...string) []repairRule {
	out := make([]repairRule, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, repairRule{regexp.MustCompile(pairs[i]), pairs[i+1]})
	}
	return out
}

// repairRules mend every shape that the reference mends, and white space inside the delimiter, another
// sign in place of the core, and an opening half glued between two fields. Shapes that stand free in
// prose ("a <|> b", "x <|| y", "x | y") are no delimiters.
var repairRules = repairs(
	`<[ \t]*\|+[ \t]*\\?#(?:[ \t|]*#)?[ \t]*\|+[ \t]*>+`, delim, // <| #|> <||#|> <|##|> <|#||#|> <|\#|> <|#|>>
	`<.?\|#\|.?>`, delim, // one stray sign outside a pipe
	`<\|?#\|?>+`, delim, // one or both pipes missing
	`<[ \t]*\|[ \t]*#[ \t]*>+|<[ \t]*#[ \t]*\|[ \t]*>+`, delim, // the same with white space
	`<[^|\s]#\|>+|<\|#[^|\s]>`, delim, // one pipe replaced
	`<\|[^\p{L}\p{N}\s|<>]\|>`, delim, // the core replaced
	`<\|#\|+([^>|]|$)`, delim+"$1", // closing > missing
	`<\|#:([^>]|$)`, delim+"$1",
	`(\S)<\|{1,2}>(\S)`, "$1"+delim+"$2", // no core, glued
	`(\S)<\|{1,2}>(\S)`, "$1"+delim+"$2", // again, for fields of one character
	`(\S)<\|{1,2}_?([^\s#|>_])`, "$1"+delim+"$2", // only the opening half, glued
	`(^|[^<])\|#\|>`, "$1"+delim, // opening < missing
	`<\|#\|>\|+`, delim, // a pipe left over
	`\|\|#\|\|`, delim,
)

// repairRules2025 are the shapes that LightRAG 1.4.9 mended, in its order; replaying replies recorded
// with it needs the same choice.
var repairRules2025 = repairs(
	`<\|#\|*#\|>`, delim,
	`<\|\\#\|>`, delim,
	`(\S)<\|+>(\S)`, "$1"+delim+"$2",
	`(\S)<\|+>(\S)`, "$1"+delim+"$2",
	`<.?\|#\|.?>`, delim,
	`<\|?#\|?>`, delim,
	`<[^|]#\|>|<\|#[^|]>`, delim,
	`<\|#\|+([^>|]|$)`, delim+"$1",
	`<\|#:([^>]|$)`, delim+"$1",
	`<\|+#\|>`, delim,
	`(\S)<\|\|([^>]|$)`, "$1"+delim+"$2",
	`(^|[^<])\|#\|>`, "$1"+delim,
	`<\|#\|>\|`, delim,
	`\|\|#\|\|`, delim,
)

// repairDelimiters mends the delimiters of line and tells whether it changed anything.
func repairDelimiters(line string, rs []repairRule) (string, bool) {
	if !strings.ContainsAny(strings.ReplaceAll(line, delim, ""), "|#") {
		return line, false // every shape of damage has one of them
	}
	mended := line
	for _, r := range rs {
		mended = r.shape.ReplaceAllString(mended, r.with)
	}
	return mended, mended != line
}
