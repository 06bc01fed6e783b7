package prompt

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs from its golden file (go test -rewrite to accept):\n%s", name, got)
	}
}

// templates are all templates. One that is missing here is a file too many in text.
var templates = []Template{
	TemplateExtractSystem, TemplateExtractUser, TemplateExtractSection, TemplateTypes, TemplateGlean,
	TemplateSummarySystem, TemplateSummaryUser, TemplateKeywords, TemplateHypothesis, TemplateAnswerKG, TemplateAnswerNaive,
}

func TestRendered(t *testing.T) {
	p := ExtractParams{}
	own := ExtractParams{Language: "Chinese", Types: "ship: a vessel\nport: where ships lie\n", MaxRecords: 12, MaxEntities: 5}
	for name, got := range map[string]string{
		"extract_system":       ExtractSystem(p),
		"extract_system_own":   ExtractSystem(own),
		"extract_user":         ExtractUser(p, "", "The Heron left Port Alder at dawn."),
		"extract_user_section": ExtractUser(own, "Log → May", "The Heron left Port Alder at dawn."),
		"glean":                Glean(own),
		"summary_system":       SummarySystem(SummaryParams{}),
		"summary_user":         SummaryUser("Relation", "(Heron, Port Alder)", `{"Description":"left at dawn"}`),
		"keywords":             Keywords("", "When did the Heron leave?"),
		"hypothesis":           Hypothesis("When did the Heron leave?"),
		"answer_kg":            Answer(AnswerParams{ResponseType: "One sentence", UserPrompt: "Be brief.", Context: "CONTEXT", KG: true}),
		"answer_naive":         Answer(AnswerParams{Context: "CONTEXT"}),
	} {
		golden(t, name, got)
	}
}

// TestSlots holds the templates, the list of templates and the slots that the code fills together: a slot
// misspelt on either side would otherwise reach a model.
func TestSlots(t *testing.T) {
	slot := regexp.MustCompile(`\{\{[^}]*\}\}`)
	want := map[Template]string{
		TemplateExtractSystem:  "delimiter language marker max_entities max_records other types wrong_delimiter",
		TemplateExtractUser:    "fence language marker max_entities max_records section text",
		TemplateExtractSection: "headings",
		TemplateTypes:          "",
		TemplateGlean:          "language marker max_entities max_records",
		TemplateSummarySystem:  "language max_tokens",
		TemplateSummaryUser:    "fence items kind name",
		TemplateKeywords:       "fence language question",
		TemplateHypothesis:     "fence question",
		TemplateAnswerKG:       "context response_type user_prompt",
		TemplateAnswerNaive:    "context response_type user_prompt",
	}
	entries, err := files.ReadDir("text")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(templates) || len(want) != len(templates) {
		t.Fatalf("%d files, %d templates, %d expectations", len(entries), len(templates), len(want))
	}
	for _, tm := range templates {
		if tm.text() == "" {
			t.Errorf("%s: no text", tm)
		}
		for _, name := range strings.Fields(want[tm]) {
			if !strings.Contains(tm.text(), "{{"+name+"}}") {
				t.Errorf("%s: no slot %s", tm, name)
			}
		}
		for _, s := range slot.FindAllString(tm.text(), -1) {
			if !strings.Contains(" "+want[tm]+" ", " "+strings.Trim(s, "{}")+" ") {
				t.Errorf("%s: unknown slot %s", tm, s)
			}
		}
	}
	for _, got := range []string{
		ExtractSystem(ExtractParams{}), ExtractUser(ExtractParams{}, "h", "t"), Glean(ExtractParams{}),
		SummarySystem(SummaryParams{}), SummaryUser("k", "n", "i"), Keywords("l", "q"),
		Answer(AnswerParams{KG: true}), Answer(AnswerParams{}),
	} {
		if s := slot.FindString(got); s != "" {
			t.Errorf("slot %s left unfilled in:\n%s", s, got)
		}
	}
}

func TestValuesAreLiteral(t *testing.T) {
	const nasty = "{{language}} {{text}} {{marker}} {x} %s $1 \\n ``` ````"
	for name, got := range map[string]string{
		"extract":  ExtractUser(ExtractParams{Language: "L"}, nasty, nasty),
		"summary":  SummaryUser("k", nasty, nasty),
		"keywords": Keywords("L", nasty),
		"answer":   Answer(AnswerParams{UserPrompt: nasty, Context: nasty, KG: true}),
	} {
		want := 2
		if name == "keywords" {
			want = 1
		}
		if n := strings.Count(got, nasty); n != want {
			t.Errorf("%s: value found %d times, want %d", name, n, want)
		}
	}
	if got := ExtractUser(ExtractParams{}, "", nasty); strings.Count(got, "\n`````\n") != 2 {
		t.Errorf("the fence must be longer than every fence in the text:\n%s", got)
	}
}

func TestSystemMessagesHoldNoText(t *testing.T) {
	p := ExtractParams{Language: "English"}
	if a, b := ExtractUser(p, "", "one"), ExtractUser(p, "", "two"); commonPrefix(a, b) < len(a)/2 {
		t.Errorf("user messages of two chunks share %d of %d bytes only; put the text last", commonPrefix(a, b), len(a))
	}
	if with, without := ExtractUser(p, "Part I", "one"), ExtractUser(p, "", "one"); !strings.Contains(with, "Part I") || strings.Contains(without, "eadings") {
		t.Error("the section block must appear with headings and leave no trace without")
	}
}

func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func TestAnswerWith(t *testing.T) {
	p := AnswerParams{ResponseType: "List", Context: "{{user_prompt}} stays", KG: true}
	got, err := AnswerWith("{json: {}} {{context}} / {{response_type}} / {{user_prompt}} / {{other}}", p)
	if want := "{json: {}} {{user_prompt}} stays / List / None. / {{other}}"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if _, err := AnswerWith("no place", p); !errors.Is(err, ErrNoContextSlot) {
		t.Errorf("got %v, want ErrNoContextSlot", err)
	}
}

func TestHash(t *testing.T) {
	seen := map[string]Template{}
	for _, tm := range templates {
		h := Hash(tm)
		if len(h) != hashLength || seen[h] != "" {
			t.Errorf("hash of %s is %q, of %q too", tm, h, seen[h])
		}
		seen[h] = tm
	}
	if Hash(TemplateGlean, TemplateTypes) == Hash(TemplateTypes, TemplateGlean) {
		t.Error("order must count")
	}
	if len(ExtractHash()) != hashLength {
		t.Error("short extraction hash")
	}
}
