package index

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/glimdb/db/internal/prompt"
)

// golden writes ¦ for the delimiter and ¶ for a line end.
var notation = strings.NewReplacer("¦", delim, "¶", "\n")

// show renders records: E name/type: description, R source-target [keywords]: description.
func show(x Extraction) []string {
	out := []string{}
	for _, e := range x.Entities {
		out = append(out, fmt.Sprintf("E %s/%s: %s", e.Name, e.Type, e.Description))
	}
	for _, r := range x.Relations {
		out = append(out, fmt.Sprintf("R %s-%s [%s]: %s", r.Src, r.Dst, strings.Join(r.Keywords, ","), r.Description))
	}
	return out
}

func counts(m map[string]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s=%d", k, m[k]))
	}
	return strings.Join(parts, " ")
}

// TestGoldenReplies has the reference's answers to small replies. Where ours differs, the case says so.
func TestGoldenReplies(t *testing.T) {
	for _, tc := range []struct {
		name, reply string
		want        []string
		dropped     string
	}{
		{"1 plain", "entity¦Alice¦Person¦desc¶relation¦Alice¦Bob¦knows¦r desc¶<|COMPLETE|>",
			[]string{"E Alice/person: desc", "R Alice-Bob [knows]: r desc"}, ""},
		{"2 lower-case marker splits", "entity¦A1¦Person¦d<|complete|>entity¦B1¦Person¦d2",
			[]string{"E A1/person: d", "E B1/person: d2"}, ""},
		{"3 glued", "entity¦A1¦Person¦d¦relation¦A1¦B1¦k¦rd", []string{"E A1/person: d", "R A1-B1 [k]: rd"}, ""},
		{"3 relationship", "relationship¦A1¦B1¦k¦rd", []string{"R A1-B1 [k]: rd"}, ""},
		{"4 bullet", "- entity¦A1¦Person¦d", []string{"E A1/person: d"}, ""},
		{"4 number", "1. entity¦A1¦Person¦d", []string{"E A1/person: d"}, ""},
		{"4 bold", "**entity**¦A1¦Person¦d", []string{"E A1/person: d"}, ""},
		{"4 upper case", "ENTITY¦A1¦Person¦d", []string{"E A1/person: d"}, ""},
		{"4 plural", "entities¦A1¦Person¦d", []string{"E A1/person: d"}, ""},
		{"4 spaces", "entity ¦ A1 ¦ Person ¦ d", []string{"E A1/person: d"}, ""},
		{"5 brackets and quotes", `("entity"¦"A1"¦"Person"¦"d")`, []string{`E A1/person: "d")`}, ""},
		{"6 entity with two names", "entity¦A1¦B1¦kw¦rd", []string{"R A1-B1 [kw]: rd"}, ""},
		{"6 six fields", "entity¦A1¦B1¦kw¦rd¦x", []string{}, "field_count=1"},
		{"6 relation of four", "relation¦A1¦B1¦rd", []string{}, "field_count=1"},
		{"6 relation of six", "relation¦A1¦B1¦kw¦rd¦x", []string{}, "field_count=1"},
		{"6 empty type", "entity¦A1¦¦d", []string{}, "field_count=1"},
		{"6 empty keywords", "relation¦A1¦B1¦¦d", []string{}, "field_count=1"},
		{"7 self-loop", "relation¦A1¦A1¦k¦d", []string{}, "self_loop=1"},
		{"7 self-loop in quotes", "relation¦“A”¦A¦k¦d", []string{}, "self_loop=1"},
		{"7 list number", "relation¦12¦A¦k¦d", []string{}, "empty_name=1"},
		{"12 full-width comma", "relation¦A1¦B1¦甲，乙¦d", []string{"R A1-B1 [甲,乙]: d"}, ""},
		{"12 number as keywords", "relation¦A1¦B1¦12¦d", []string{"R A1-B1 []: d"}, ""},
		{"13 preamble and fence", "Here are the records:¶```¶entity¦A1¦Person¦d¶```", []string{"E A1/person: d"}, ""},

		// The reference cuts a description at the first line end; ours goes on.
		{"13 two lines", "entity¦A1¦Person¦line1¶line2", []string{"E A1/person: line1 line2"}, ""},
		// The reference loses the second entity glued to a first, and makes an entity of a relation without
		// prefix.
		{"glued entities", "entity¦A1¦Person¦d¦entity¦B1¦Event¦d2¦entity¦C1¦Event¦d3",
			[]string{"E A1/person: d", "E B1/event: d2", "E C1/event: d3"}, ""},
		{"relation without prefix", "A1¦B1¦k¦rd", []string{"R A1-B1 [k]: rd"}, ""},
		{"entity without prefix", "A1¦Person¦d", []string{"E A1/person: d"}, ""},
		// The reference takes an entity with a delimiter in its description for a relation to the type.
		{"delimiter in a description", "entity¦A1¦Person¦half¦other half", []string{"E A1/person: half other half"}, ""},
		{"two delimiters in a description", "entity¦A1¦Person¦a¦b¦c", []string{"E A1/person: a b c"}, ""},
		// The reference applies its filter of list numbers to descriptions too.
		{"number as description", "entity¦A1¦Data¦42", []string{"E A1/data: 42"}, ""},

		{"broken between fields", "entity¦A1¦Person¦¶d¶relation¦A1¦B1¶k¦rd", []string{"E A1/person: d", "R A1-B1 [k]: rd"}, ""},
		{"three lines, then chatter", "entity¦A1¦Person¦a¶b¶c¶¶I hope this helps", []string{"E A1/person: a b c"}, "unreadable=1"},
		{"headings between", "# Entities¶entity¦A1¦Person¦d¶**Relations**¶relation¦A1¦B1¦k¦rd¶---", []string{"E A1/person: d", "R A1-B1 [k]: rd"}, ""},
		{"cut off in a record", "entity¦A1¦Person¦d¶relation¦A1¦B", []string{"E A1/person: d"}, "field_count=1"},
		{"named like a prefix", "entity¦Entity¦Concept¦d¶relation¦Entity¦Relation¦k¦rd¶entity¦Relationship¦Concept¦d",
			[]string{"E Entity/concept: d", "E Relationship/concept: d", "R Entity-Relation [k]: rd"}, ""},
		{"short record, then a whole one", "entity¦A1¦relation¦A1¦B1¦k¦rd", []string{"R A1-B1 [k]: rd"}, "field_count=1"},
		{"company of the prefix", "New entity¦A1¦Person¦d", []string{"E A1/person: d"}, ""},
		{"delimiter in quotes", "entity¦Format¦Concept¦the mark \"<|#|>\" ends a field; so does '<|#|>'.", []string{`E Format/concept: the mark "<|#|>" ends a field; so does '<|#|>'.`}, ""},
		{"empty description", "entity¦A1¦Person¦&#8;", []string{}, "empty_description=1"},
		{"CR LF", "entity¦A1¦Person¦d\r¶entity¦B1¦Person¦d\r¶", []string{"E A1/person: d", "E B1/person: d"}, ""},
		{"same name twice", "entity¦A1¦Person¦d¶entity¦A1¦Person¦e", []string{"E A1/person: d", "E A1/person: e"}, ""},
		{"both directions", "relation¦A¦B¦k¦d¶relation¦B¦A¦k¦d", []string{"R A-B [k]: d", "R B-A [k]: d"}, ""},
		{"the form repeated", "entity¦<name>¦<type>¦<description>¶relation¦<source name>¦<target name>¦<keywords>¦<description>", []string{}, "empty_name=2"},
		{"nothing", "", []string{}, ""},
		{"end mark only", prompt.EndMarker, []string{}, ""},
		{"prose", "There are no entities.", []string{}, "unreadable=1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x := ParseReply(notation.Replace(tc.reply), ParseOptions{})
			if got := show(x); !slices.Equal(got, tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
			if got := counts(x.Report.Dropped); got != tc.dropped {
				t.Errorf("dropped %q, want %q", got, tc.dropped)
			}
			for _, r := range x.Relations {
				if r.Weight != 1 {
					t.Errorf("weight %v", r.Weight)
				}
			}
		})
	}
}

func TestGoldenJSON(t *testing.T) {
	const object = `{"entities": [{"name": "Ann", "type": "Person", "description": "a"}, 7, {"name": "Mill", "type": "place", "description": 12}],
 "note": {"x": [1]}, "relationships": [{"source": "Ann", "target": "Mill", "keywords": ["work", "home"], "description": "r"}, {"source": "Ann", "target": "Ann"}]}`
	all := []string{"E Ann/person: a", "E Mill/place: 12", "R Ann-Mill [work,home]: r"}
	for _, tc := range []struct {
		name, reply string
		want        []string
		dropped     string
	}{
		{"object", object, all, "field_count=1 self_loop=1"},
		{"fenced", "```json\n" + object + "\n```", all, "field_count=1 self_loop=1"},
		{"trailing braces", object + "}}} and so on", all, "field_count=1 self_loop=1"},
		{"cut off", object[:strings.Index(object, `"note"`)], all[:2], "field_count=1 unreadable=1"},
		{"cut off in an item", object[:strings.Index(object, `"Mill"`)], all[:1], "field_count=1 unreadable=1"},
		{"no keywords", `{"relations":[{"source":"A","target":"B","description":"d"}]}`, []string{"R A-B []: d"}, ""},
		{"no lists", `{"entities":"none","relationships":{}}`, []string{}, "unreadable=1"},
		{"prose before, braces behind", "Here is the graph:\n" + object + "}} I hope it helps.", all, "field_count=1 self_loop=1"},
		{"prose before a fence", "Sure.\n```json\n" + object + "\n```\nDone.", all, "field_count=1 self_loop=1"},
		{"commas, quotes, bare keys", `{entities: [{'name': 'Ann\'s "Mill"', "type": "place", description: 'a',}, ], "relations": [{"source":"A","target":"B","keywords":None,"description":"d"},],}`,
			[]string{`E Ann's "Mill"/place: a`, "R A-B []: d"}, ""},
		{"line end in a string", "{\"entities\":[{\"name\":\"A\",\"type\":\"t\",\"description\":\"one\ntwo \\alpha\"}]}", []string{"E A/t: one\ntwo \\alpha"}, ""},
		{"prose and an array", `Found: [` + object + `]`, []string{}, "unreadable=2"},
		{"array", `[` + object + `]`, []string{}, "unreadable=2"},
		{"LaTeX", `{"entities":[{"name":"E","type":"t","description":"\frac{1}{2} \beta \n end"}]}`, []string{`E E/t: \frac{1}{2} \beta ` + "\n end"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x := ParseReply(tc.reply, ParseOptions{})
			if got := show(x); !slices.Equal(got, tc.want) || counts(x.Report.Dropped) != tc.dropped {
				t.Errorf("got %q, dropped %q; want %q, %q", got, counts(x.Report.Dropped), tc.want, tc.dropped)
			}
		})
	}
	for in, want := range map[string]string{"": "", `x [1] {"a":1}`: "", `say "[" {"a":1}`: `{"a":1}`, `prose {"a":1}}} end`: `{"a":1}}} end`} {
		if got := jsonObject(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestGoldenDelimiters(t *testing.T) {
	for _, d := range []string{
		"<|##|>", "<|#||#|>", `<|\#|>`, "<#>", "<#|>", "<|#>", "<|#|", "||#||", "|#|>", "<|>", "<||", "<|#:", "<|#|#|>",
		"<||>", "<|#||>", "<||#|>", "<||#||>", "<x|#|>", "<|#|x>", "<x#|>", "<|#x>", "<|#||", "<|#|>|",
		// Only ours. The reference leaves <| #|> alone and loses the record; HC-08 wants it stored, and no text has it.
		"<| #|>", "<|# |>", "<# |>", "<| # |>", "<|*|>", "<[#|>", "<|_", "<|", "<|#>>>",
	} {
		t.Run(d, func(t *testing.T) {
			x := ParseReply("entity"+delim+"Ann"+d+"Person"+delim+"text", ParseOptions{})
			if got := show(x); !slices.Equal(got, []string{"E Ann/person: text"}) || x.Report.Repaired[RepairDelimiter] != 1 {
				t.Errorf("got %q, repaired %v, dropped %v", got, x.Report.Repaired, x.Report.Dropped)
			}
		})
	}
	for _, text := range []string{"a <|> b", "x <|| y", "a | b", "a || b", "f(x) <| g", "# b", "C# <b> d", "a<b>c", "a|b", "if x<|y"} {
		if got, mended := repairDelimiters("entity"+delim+text, repairRules); mended && text != "if x<|y" {
			t.Errorf("%s became %s", text, got)
		}
	}
}

// TestDelimiters2025 holds the choice of LightRAG 1.4.9.
func TestDelimiters2025(t *testing.T) {
	for d, mended := range map[string]bool{
		"<|##|>": true, `<|\#|>`: true, "<#|>": true, "<|#": false, "<|>": true, "<||": true, "|#|>": true,
		"<|# |>": false, "<# |>": false, "<| #|>": false, "<|*|>": false, "<|_": false,
	} {
		x := ParseReply("entity"+delim+"Ann"+d+"Person"+delim+"text", ParseOptions{Format: FormatLines2025})
		if (len(x.Entities) == 1) != mended {
			t.Errorf("%s: got %q, want mended %t", d, show(x), mended)
		}
	}
}

func TestGoldenTypes(t *testing.T) {
	for in, want := range map[string]string{
		" , Foo Bar,Baz": "foobar", "Per/son": "", "Person | Org": "", "Bob's": "", "__proto__": "", "CONSTRUCTOR": "",
		"12": "", "中 文类": "中文类", "Natural Object": "naturalobject", `"Person"`: "person", "": "", " , ,": "",
		"Person, Role": "person", "Ｐerson": "person",
	} {
		t.Run(in, func(t *testing.T) {
			if got := normalizeType(in); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestGoldenNames(t *testing.T) {
	for in, want := range map[string]string{
		`"Alice"`: "Alice", "A&amp;B <br>Inc": "A&B Inc", "ＡＢＣ（１２）　公司": "ABC(12)公司", "《三体》": "三体",
		"中 A 文": "中A文", `"A "b" C"`: `"A "b" C"`, "O'Neil": "O'Neil",
		"7": "", "12": "", "1.2": "", ".": "", "012": "012", "123": "123", "12.345": "12.345", "1.2.34": "1.2.34", "v1.2": "v1.2", "99999": "99999",
		strings.Repeat("x", 300): strings.Repeat("x", 256),
		strings.Repeat("中", 256): strings.Repeat("中", 170),

		// The reference keeps inner spaces, and cleans once: its 中国 大学 would become 中国大学 when looked up.
		"A  B": "A B", `中国 "大 学"`: "中国大学",
		"“Rosa’s” Cafe": "Rosa's Cafe", "A—B": "A-B", "a\u00a0b": "a b", "1\u202f000": "1 000", "'x'": "x",
		"Ｘ－Ｙ": "X-Y", "e\u0301te\u0301": "été", "alice": "alice", "«Le Monde»": "Le Monde", "\u200b": "",
	} {
		t.Run(excerpt(in, 0, 24), func(t *testing.T) {
			if got := NormalizeName(in); got != want {
				t.Errorf("%q: got %q, want %q", in, got, want)
			}
		})
	}
}

func TestHC08_DamagedReply(t *testing.T) {
	reply := "```\n" + strings.Join([]string{
		"entity<|#|>Ada Pell<|#|>person<|#|>Ada Pell runs the mill.",
		"entity<|#|>Tern Mill<|#|>location<|#|>Tern Mill stands at the weir.",
		"relation<|#|>Ada Pell<|#|>Tern Mill<|#|>work<|#|>Ada Pell runs Tern Mill.",
		"entity<| #|>Brin Low<|#|>person<|#|>Brin Low keeps the books.",
		"relation<|#|>Ada Pell<||#|>Brin Low<|#|>colleagues<|#|>They work together.",
		"relation<|#|>Ada Pell<|#|>Brin Low<|#|>trust<|#|>extra<|#|>They trust each other.",
		"relation<|#|>Tern Mill<|#|>Brin Low",
		`entity<|#|>Ledger<|#|>artifact<|#|>The ledger shows the sign "<|#|>" on its cover.`,
	}, "\n") + "\n```"
	want := []string{
		"E Ada Pell/person: Ada Pell runs the mill.",
		"E Tern Mill/location: Tern Mill stands at the weir.",
		"E Brin Low/person: Brin Low keeps the books.",
		`E Ledger/artifact: The ledger shows the sign "<|#|>" on its cover.`,
		"R Ada Pell-Tern Mill [work]: Ada Pell runs Tern Mill.",
		"R Ada Pell-Brin Low [colleagues]: They work together.",
	}
	for range 2 {
		x := ParseReply(reply, ParseOptions{})
		if got := show(x); !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		if got, want := x.Report.Summary(), "2 dropped (2 field_count); 3 repaired (2 delimiter, 1 end_mark)"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestHC10_Spellings(t *testing.T) {
	for _, spelling := range []string{`"Orbit Desk"`, "Orbit  Desk", "Orbit Desk ", "“Orbit Desk”", "'Orbit Desk'", "Orbit\tDesk", "Orbit\u00a0Desk", "\u201cOrbit Desk", " Orbit\n Desk",
		"**Orbit Desk**", "*Orbit Desk*", "`Orbit Desk`", "**\"Orbit Desk\"**", "Or\u200bbit Desk", "\ufeffOrbit Desk\u200e", "Or\u00adbit Desk", "&quot;Orbit Desk&quot;", "Ｏｒｂｉｔ　Ｄｅｓｋ"} {
		if got := NormalizeName(spelling); got != "Orbit Desk" {
			t.Errorf("%q becomes %q", spelling, got)
		}
	}
	for _, spelling := range []string{"Rosa's Jean-Luc", "Rosa’s Jean‐Luc", "Rosa’s Jean‑Luc", "Rosa's Jean–Luc", "Rosa's Jean—Luc"} {
		if got := NormalizeName(spelling); got != "Rosa's Jean-Luc" {
			t.Errorf("%q becomes %q", spelling, got)
		}
	}
	x := ParseReply(notation.Replace("relation¦Ada Pell¦Brin Low¦k¦one¶relation¦Brin Low¦Ada Pell¦k¦two¶relation¦Ada Pell¦Ada Pell¦k¦three"), ParseOptions{})
	if got := show(x); !slices.Equal(got, []string{"R Ada Pell-Brin Low [k]: one", "R Brin Low-Ada Pell [k]: two"}) || x.Report.Dropped[DropSelfLoop] != 1 {
		t.Errorf("got %q, dropped %v", got, x.Report.Dropped)
	}
	if NormalizeName("orbit desk") == NormalizeName("Orbit Desk") {
		t.Error("letter case must count")
	}
}

func TestHC14_Names(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[31mRed\x1b[0m": "Red", "\x1b[1;38;5;9mRed": "Red", "Red\x1b": "Red", "Red\x00Blue\x1f": "RedBlue", "\x7fRed": "Red",
		"a<SEP>b": "a<SEP>b", "Re\xffd": "Red",
	} {
		if got := NormalizeName(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	x := ParseReply(notation.Replace("entity¦"+strings.Repeat("n", 70000)+"¦data¦d"), ParseOptions{})
	if len(x.Entities) != 1 || len(x.Entities[0].Name) != MaxNameRunes || x.Report.Repaired[RepairName] != 1 {
		t.Errorf("got %d records, repaired %v", len(x.Entities), x.Report.Repaired)
	}
}

// TestHostileReplies reads long replies that invite quadratic work.
func TestHostileReplies(t *testing.T) {
	for name, unit := range map[string]string{
		"continuation lines": "a\n", "delimiters": delim, "glued prefixes": delim + "entity", "one field": "x", "broken delimiters": "<|#|#",
		"quotes": "\"" + delim + "\"", "entities in HTML": "&amp;", "brackets": "(", "pipes": "|", "spaces": " ", "Chinese": "中 '",
	} {
		for format := range FormatTuplesUpper + 1 {
			n := 1 << 18
			if format != FormatLines {
				n = 1 << 16 // quadratic work would still show
			}
			reply := notation.Replace("entity¦A¦person¦d") + strings.Repeat(unit, n/len(unit))
			if x := ParseReply(reply, ParseOptions{Format: format}); len(x.Entities) > n/2 {
				t.Errorf("%s, %v: %d records", name, format, len(x.Entities))
			}
		}
	}
}

func TestTypesOfTheCaller(t *testing.T) {
	reply := notation.Replace("entity¦Heron¦Ship¦half¦other")
	if got := show(ParseReply(reply, ParseOptions{})); !slices.Equal(got, []string{"R Heron-Ship [half]: other"}) {
		t.Errorf("unknown type: %q", got)
	}
	if got := show(ParseReply(reply, ParseOptions{Types: []string{"ship"}})); !slices.Equal(got, []string{"E Heron/ship: half other"}) {
		t.Errorf("known type: %q", got)
	}
	if got := typeNames("- ship: a vessel\nport, quay\nperson: a human, by name"); !slices.Equal(got, []string{"ship", "port", "quay", "person"}) {
		t.Errorf("names %q", got)
	}
	if got := typeNames(prompt.DefaultTypes()); !slices.Equal(got, DefaultTypes()) {
		t.Errorf("the built-in guidance names %q", got)
	}
}

func TestGleanRules(t *testing.T) {
	first := ParseReply(notation.Replace("entity¦A¦person¦short¶entity¦A¦person¦more¶entity¦B¦person¦b¶relation¦A¦B¦k¦r"), ParseOptions{})
	second := ParseReply(notation.Replace("entity¦A¦person¦longer¶entity¦C¦person¦c¶entity¦B¦person¦x¶relation¦A¦B¦k¦longer r¶relation¦B¦A¦k¦r2¶relation¦A¦A¦k¦d"), ParseOptions{})
	for rule, want := range map[GleanRule][]string{
		GleanLonger: {"E A/person: longer", "E B/person: b", "E C/person: c", "R A-B [k]: longer r", "R B-A [k]: r2"},
		GleanNew:    {"E A/person: short", "E A/person: more", "E B/person: b", "E C/person: c", "R A-B [k]: r", "R B-A [k]: r2"},
		GleanAppend: {"E A/person: short", "E A/person: more", "E B/person: b", "E A/person: longer", "E C/person: c", "E B/person: x", "R A-B [k]: r", "R A-B [k]: longer r", "R B-A [k]: r2"},
	} {
		x := mergeGleaned(first, second, rule)
		if got := show(x); !slices.Equal(got, want) {
			t.Errorf("%v:\n got %q\nwant %q", rule, got, want)
		}
		if x.Report.Dropped[DropSelfLoop] != 1 {
			t.Errorf("%v: dropped %v", rule, x.Report.Dropped)
		}
	}
}

func TestNormalizeNameIsStable(t *testing.T) {
	for _, s := range nameSeeds() {
		checkName(t, s)
	}
}

func nameSeeds() []string {
	return []string{
		"", `""A""`, `'"A"'`, `"'《「A」》'"`, "&amp;amp;amp;lt;b&gt;", strings.Repeat("\"", 40) + "A", strings.Repeat("'", 300) + "x" + strings.Repeat("'", 300),
		"<<br>br>", "中 \" 文 '", "1.2\u202f", strings.Repeat("e\u0301", 300), strings.Repeat("&amp;", 100), "\x1b[31", "12 ", " 1 2", "ａ　ｂ", "“”", "a\u2028b",
	}
}

func checkName(t *testing.T, s string) {
	t.Helper()
	n := NormalizeName(s)
	if again := NormalizeName(n); again != n {
		t.Errorf("%q: %q becomes %q", s, n, again)
	}
	if !utf8.ValidString(n) || len(n) > MaxNameBytes || utf8.RuneCountInString(n) > MaxNameRunes || strings.TrimSpace(n) != n || strings.IndexFunc(n, isControl) >= 0 {
		t.Errorf("%q: bad name %q", s, n)
	}
}

func FuzzNormalizeName(f *testing.F) {
	for _, s := range nameSeeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkName(t, s) })
}

func FuzzParseReply(f *testing.F) {
	f.Add(notation.Replace("entity¦Alice¦Person¦desc¶relation¦Alice¦Bob¦knows¦r desc¶<|COMPLETE|>"), uint8(0))
	f.Add(notation.Replace("A1¦B1¦k¶rd¦entity¦relation¦¦<|complete|>¦“<|#|>”"), uint8(1))
	f.Add(`("entity"<|>"A"<|>"t"<|>"d")##("relationship"<|>"A"<|>"B"<|>"d"<|>"k"<|>9)<|COMPLETE|>`, uint8(2))
	f.Add("(\xff<|>\x00", uint8(3))
	f.Add("```json\n{\"entities\":[{\"name\":\"A\",\"type\":[1,{}],\"description\":\"\\frac\"}],\"relations\":[", uint8(0))
	f.Fuzz(func(t *testing.T, reply string, format uint8) {
		o := ParseOptions{Format: ReplyFormat(format % 4)}
		x := ParseReply(reply, o)
		fields := 0
		for _, e := range x.Entities {
			if e.Name == "" || !utf8.ValidString(e.Name+e.Type+e.Description) {
				t.Errorf("entity %+v", e)
			}
			fields += 2
		}
		for _, r := range x.Relations {
			if r.Src == "" || r.Dst == "" || r.Src == r.Dst && o.Format != FormatTuplesUpper || !utf8.ValidString(r.Src+r.Dst+r.Description) {
				t.Errorf("relation %+v", r)
			}
			fields += 2
		}
		if fields > len(reply) {
			t.Errorf("%d fields of %d bytes", fields, len(reply))
		}
		if again := ParseReply(reply, o); !slices.Equal(show(again), show(x)) || again.Report.Summary() != x.Report.Summary() {
			t.Error("not the same twice")
		}
	})
}

func BenchmarkParseReply(b *testing.B) {
	var sb strings.Builder
	for i := range 40 {
		fmt.Fprintf(&sb, "entity<|#|>Entity Number %d<|#|>person<|#|>It does something worth a sentence of some length, number %d.\n", i, i)
	}
	for i := range 60 {
		fmt.Fprintf(&sb, "relation<|#|>Entity Number %d<|#|>Entity Number %d<|#|>work, trade<|#|>They do something together, number %d.\n", i%40, (i+1)%40, i)
	}
	sb.WriteString(prompt.EndMarker)
	reply := sb.String()
	if x := ParseReply(reply, ParseOptions{}); len(x.Entities) != 40 || len(x.Relations) != 60 {
		b.Fatalf("%d and %d records", len(x.Entities), len(x.Relations))
	}
	b.SetBytes(int64(len(reply)))
	b.ReportAllocs()
	for b.Loop() {
		ParseReply(reply, ParseOptions{})
	}
}
