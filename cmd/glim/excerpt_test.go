package main

import (
	"strings"
	"testing"
)

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("Nothing of note happened on the quay. ", 20)
	for _, c := range []struct{ name, text, question, begin string }{
		{"short text is whole", "One. Two designed it.", "Who designed it?", "One."},
		{"the sentence that answers", long + "Skarn Light was designed by Edith Calloway. " + long, "Who is the designer of Skarn Light?", "... Skarn Light was designed by Edith Calloway."},
		{"rare words count more", "The Light on Skarn Rock. " + strings.Repeat("The sea reaches Skarn Rock. ", 20) + "Skarn Light was designed by Edith Calloway.", "Who designed the lighthouse on Skarn Rock?", "... Skarn Light was designed"},
		{"nothing matches", long, "xylophone", "Nothing of note"},
		{"Chinese", strings.Repeat("码头上什么事也没有。", 40) + "灯塔由伊迪丝设计。" + strings.Repeat("码头上什么事也没有。", 40), "谁设计了灯塔？", "... 灯塔由伊迪丝设计。"},
	} {
		if got := excerpt(c.text, c.question, 360); !strings.HasPrefix(got, c.begin) {
			t.Errorf("%s: got %.80q, want it to begin with %q", c.name, got, c.begin)
		}
	}
}
