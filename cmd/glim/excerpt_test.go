package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/glimdb/db/index"
	"github.com/rivo/uniseg"
)

func TestExcerptShowsTheSentenceThatAnswers(t *testing.T) {
	dull := strings.Repeat("Nothing of note happened on the quay. ", 20)
	quay := strings.Repeat("码头上什么事也没有。", 40)
	for _, c := range []struct{ name, text, question, begin, hit string }{
		{"short text is whole", "One. Two designed it.", "Who designed it?", "One.", "Two designed it."},
		{"long text begins there", dull + "Skarn Light was designed by Edith Calloway. " + dull, "Who is the designer of Skarn Light?",
			"... Skarn Light was designed by Edith Calloway.", "Skarn Light was designed by Edith Calloway."},
		{"rare words count more", "The Light on Skarn Rock. " + strings.Repeat("The sea reaches Skarn Rock. ", 20) + "Skarn Light was designed by Edith Calloway.",
			"Who designed the lighthouse on Skarn Rock?", "... Skarn Light was designed", "Skarn Light was designed by Edith Calloway."},
		{"question words say nothing", "What they have, they have. " + dull + "The mill is shut.", "What have they of the mill?", "... The mill is shut.", "The mill is shut."},
		{"a heading is no answer", "# Who designed the light\n\n" + dull + "\n\nEdith designed it.", "Who designed the light?", "... Edith designed it.", "Edith designed it."},
		{"items of a list", "- Bread is dark.\n- Eel buns contain no eel.", "What do eel buns contain?", "Bread is dark. / Eel buns", "Eel buns contain no eel."},
		{"titles and initials end nothing", "Mr. J. Holt burned the table. He slept.", "What did Holt burn?", "Mr. J. Holt", "Mr. J. Holt burned the table."},
		{"hard-wrapped lines are joined", "The lens was\r\nmade in Lyon. It\r\nturns.", "Where was the lens made?", "The lens was made", "The lens was made in Lyon."},
		{"nothing matches", dull, "xylophone", "Nothing of note", ""},
		{"Chinese", quay + "灯塔由伊迪丝设计。" + quay, "谁设计了灯塔？", "... 灯塔由伊迪丝设计。", "灯塔由伊迪丝设计。"},
		{"Chinese lines join without a space", "灯塔由伊\n迪丝设计。", "谁设计了灯塔？", "灯塔由伊迪丝设计。", "灯塔由伊迪丝设计。"},
		{"escapes cannot pass", "The lens\x1b[2J was made in Lyon.", "Where was the lens made?", "The lens\uFFFD[2J was made", "The lens\uFFFD[2J was made in Lyon."},
		{"empty", " \n", "Who?", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			const room = 360
			e := excerptOf(c.text, c.question, room)
			if !strings.HasPrefix(e.text, c.begin) {
				t.Errorf("got %.80q, want it to begin with %q", e.text, c.begin)
			}
			if got := e.text[e.hit.start:e.hit.end]; got != c.hit {
				t.Errorf("hit is %q, want %q", got, c.hit)
			}
			if w := uniseg.StringWidth(e.text); w > room {
				t.Errorf("%d columns", w)
			}
		})
	}
}

func TestExcerptCutInsideTheHit(t *testing.T) {
	long := "The lens " + strings.Repeat("and the lamp and the tower ", 40) + "were made in Lyon."
	e := excerptOf(long, "lens lamp tower Lyon", 100)
	if !strings.HasSuffix(e.text, cutMark) || e.hit.end > len(e.text)-len(cutMark) || e.hit.start != 0 {
		t.Errorf("got %q with hit %v", e.text, e.hit)
	}
}

func TestFragments(t *testing.T) {
	got := fragments(" one\ntwo " + index.Separator + index.Separator + "three")
	if want := []string{"one two", "three"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
