package brief

import (
	"strings"
	"testing"
)

func TestQuote(t *testing.T) {
	type name string
	for s, want := range map[name]string{
		"":                                  `""`,
		"a\"\n\x01é":                        `"a\"\n\x01é"`,
		name(strings.Repeat("灯", 200)):      `"` + strings.Repeat("灯", 200) + `"`,
		name(strings.Repeat("灯", 201)):      `"` + strings.Repeat("灯", 100) + `…" (603 bytes)`,
		name(strings.Repeat("\xff", 1<<20)): `"` + strings.Repeat(`\xff`, 100) + `…" (1048576 bytes)`,
	} {
		if got := Quote(s); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
