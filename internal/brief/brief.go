package brief

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	whole = 200 // characters that are shown as they are: more than any name that a person reads
	shown = 100 // of a longer text
)

// Quote is s in quotes, as %q writes it. Of more than 200 characters it shows the first 100, and tells the
// length: "xxx…" (1048576 bytes).
func Quote[T ~string](s T) string {
	if len(s) <= whole || utf8.RuneCountInString(string(s)) <= whole {
		return strconv.Quote(string(s))
	}
	end := 0
	for range shown {
		_, n := utf8.DecodeRuneInString(string(s[end:]))
		end += n
	}
	return strings.TrimSuffix(strconv.Quote(string(s[:end])), `"`) + fmt.Sprintf(`…" (%d bytes)`, len(s))
}
