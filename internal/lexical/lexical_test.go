package lexical

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func words(text string, class ...Class) []string {
	var out []string
	for _, t := range Tokens(text) {
		if len(class) == 0 || slices.Contains(class, t.Class) {
			out = append(out, text[t.Start:t.End])
		}
	}
	return out
}

func TestTokens(t *testing.T) {
	cases := []struct {
		text string
		want string // tokens joined by ·, or by ¦ where the text has the dot
	}{
		{"Don't stop the tide-mill.", "Don't·stop·the·tide-mill·."},
		{"see book.txt, v0.4.2 and llama3.2:latest", "see·book.txt·,·v0.4.2·and·llama3.2:latest"},
		{"1,204 of 3.5% at 16:30", "1,204·of·3.5·%·at·16:30"},
		{"run `ollama serve` now", "run·ollama serve·now"},
		{"POST /api/generate.", "POST·/api/generate·."},
		{"mail a.b@c.example or https://x.example/a?b=1.", "mail·a.b@c.example·or·https://x.example/a?b=1·."},
		{"[docs](https://x.example) <b>bold</b> &amp; 3 < 4", "[·docs·](https://x.example)·<b>·bold·</b>·&amp;·3·<·4"},
		{"灯塔在Orrin港。", "灯塔在·Orrin·港·。"},
		{"_Scrooge_ snake_case", "_·Scrooge·_·snake_case"},
		{"e\u0301te\u0301", "e\u0301te\u0301"},
		{"a\xffb", "a·\xff·b"},
	}
	for _, c := range cases {
		if got := strings.Join(words(c.text), "·"); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
	if got := words("3fa85f6457174562b3fcaa963f66afa6 word ZXhhbXBsZSBvZiBhIGJhc2U2NCBibG9iIDEyMzQ1", Tag); len(got) != 2 {
		t.Errorf("blobs: %q", got)
	}
}

func TestSentences(t *testing.T) {
	cases := []struct {
		text string
		want []string
	}{
		{"Mr. Holt came. He left at 4 p.m. on Monday.", []string{"Mr. Holt came.", "He left at 4 p.m. on Monday."}},
		{"\"Humbug!\" said Scrooge. \"Why?\" he asked.", []string{"\"Humbug!\" said Scrooge.", "\"Why?\" he asked."}},
		{"The U.S. navy.\nIt sailed on\n  a long line that is wrapped as plain text is.", []string{"The U.S. navy.", "It sailed on\n  a long line that is wrapped as plain text is."}},
		{"# Title\n\nText here.\n- one\n- two\n\n| a | b |\n|---|---|\n| c | d |", []string{"Title", "Text here.", "one", "two", "| a | b |", "| c | d |"}},
		{"灯塔亮了。船回来了！“真的？”他问。", []string{"灯塔亮了。", "船回来了！", "“真的？”", "他问。"}},
		{"STAVE ONE\nMarley was dead: to begin with.", []string{"STAVE ONE", "Marley was dead: to begin with."}},
		{"Version 1.2.3 is out... And more.", []string{"Version 1.2.3 is out...", "And more."}},
		{"J. K. Vale wrote it.", []string{"J. K. Vale wrote it."}},
		{"", nil},
		{" \n\t\n", nil},
	}
	for _, c := range cases {
		var got []string
		for _, s := range Sentences(c.text) {
			got = append(got, c.text[s.Start:s.End])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q:\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestSentenceBlocks(t *testing.T) {
	text := "# Head\nProse.\n- item\n| a | b |\n```go\nfunc main() {}\n```\nAfter."
	want := []Block{Heading, Prose, Item, Row, Listing, Prose}
	var got []Block
	for _, s := range Sentences(text) {
		got = append(got, s.Block)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// A chunk that starts inside a code block: its first fence closes it.
	got = nil
	for _, s := range Sentences("x := 1\n```\nProse here.\n```sh\nls\n```\n") {
		got = append(got, s.Block)
	}
	if want = []Block{Listing, Prose, Listing}; !slices.Equal(got, want) {
		t.Errorf("inside a code block: got %v, want %v", got, want)
	}
}

func TestNormalAndStem(t *testing.T) {
	for _, c := range [][2]string{
		{"Café", "cafe"}, {"Scrooge’s", "scrooge"}, {"ＦＵＬＬ", "full"}, {"Straße", "strasse"}, {"ﬁn", "fin"}, {"Ёлка", "елка"},
		{"JAMES'", "james"}, {"it's", "it"}, {"co\u00adop", "coop"}, {"हिन्दी", "हिन्दी"},
	} {
		if got := Normal(c[0]); got != c[1] {
			t.Errorf("Normal(%q) = %q, want %q", c[0], got, c[1])
		}
	}
	for _, same := range [][]string{{"repair", "repaired", "repairs", "repairing"}, {"мельница", "мельницы"}} {
		for _, w := range same {
			if Stem(w) != Stem(same[0]) {
				t.Errorf("Stem(%q) = %q, Stem(%q) = %q", w, Stem(w), same[0], Stem(same[0]))
			}
		}
	}
	for _, w := range []string{"llama3.2", "漢字", "tide-mill"} {
		if Stem(w) != w {
			t.Errorf("Stem(%q) = %q", w, Stem(w))
		}
	}
}

func TestTerms(t *testing.T) {
	var got []string
	Terms("The tide-mill's wheels; 潮汐磨坊 `go test`", func(t Term) bool {
		if t.Rank != Stop {
			got = append(got, t.Text)
		}
		return true
	})
	want := []string{"tide-mill", "tide", "mill", "wheel", "潮汐", "汐磨", "磨坊", "go", "test"}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%q is not among %q", w, got)
		}
	}
	n := 0
	Terms("one two three", func(Term) bool { n++; return false })
	if n != 1 {
		t.Errorf("yield was called %d times after false", n)
	}
}

func names(text string) []string {
	var out []string
	for _, m := range Read(text).Mentions {
		if !slices.Contains(out, m.Name) {
			out = append(out, m.Name)
		}
	}
	return out
}

func TestNames(t *testing.T) {
	cases := []struct {
		text      string
		want, not []string
	}{
		{"But Ebenezer Scrooge, that is Mr. Scrooge, said nothing. SCROOGE was cold. Oh! Scrooge's clerk knew it. Yes, he did.",
			[]string{"Ebenezer Scrooge", "Scrooge"}, []string{"SCROOGE", "Mr. Scrooge", "But", "Oh", "Yes", "Mr"}},
		{"We met at the Bank of England and the University of Pell near St. Paul's Cathedral.", []string{"Bank of England", "University of Pell", "St. Paul's Cathedral"}, []string{"England", "We"}},
		{"The Ghost of Christmas Yet to Come stood there with the Ghost.", []string{"Ghost of Christmas Yet to Come", "Ghost"}, []string{"Yet", "Come", "The Ghost"}},
		{"Yesterday Mrs. Cratchit wrote to Captain Anna Holt and to Dr. Osei.", []string{"Mrs. Cratchit", "Anna Holt", "Osei"}, []string{"Yesterday", "Captain"}},
		{"A. R. Rahman composed it for J. B. Lippincott Company.", []string{"A. R. Rahman", "J. B. Lippincott Company"}, nil},
		{"LightRAG stores graphs in MongoDB on an RTX 4090 with GPT-4 and the NASA API.", []string{"LightRAG", "MongoDB", "RTX 4090", "GPT-4"}, []string{"4090"}},
		{"Use `ollama run` with `model.gguf`, never `100%`.", []string{"ollama run", "model.gguf"}, []string{"Use", "100%"}},
		{"On Monday in December the flood came. Martin's Day was wet, and Fermat's Theorem held.", []string{"Martin's Day", "Fermat's Theorem"}, []string{"Monday", "December", "Martin"}},
		{"The tide mill grinds. A tide mill needs a creek; the tide mill has one.", []string{"tide mill"}, []string{"grinds", "one"}},
		{"## How The Great Machine Works\n\nNobody here knows.", nil, []string{"How The Great Machine Works", "Great Machine Works", "Nobody"}},
		{"https://x.example/Foo [label](https://x.example/Bar) aGVsbG8gd29ybGQgZnJvbSBiYXNlNjQgZW5jb2RlZA12 0x1F 1F3FB", nil, []string{"Foo", "Bar", "1F3FB"}},
		{"Lin Wei of the Orrin Research Station explained it.", []string{"Lin Wei", "Orrin Research Station"}, nil},
	}
	for _, c := range cases {
		got := names(c.text)
		for _, w := range c.want {
			if !slices.Contains(got, w) {
				t.Errorf("%q: no %q in %q", c.text, w, got)
			}
		}
		for _, w := range c.not {
			if slices.Contains(got, w) {
				t.Errorf("%q: %q in %q", c.text, w, got)
			}
		}
	}
}

func TestNamesUnspaced(t *testing.T) {
	cases := []struct {
		text      string
		want, not []string
	}{
		{"李伟和王芳去年结婚了。", []string{"李伟", "王芳"}, []string{"王芳去", "结婚"}},
		{"林月在南京开了一家茶馆。林月的哥哥是林峰。", []string{"林月", "林峰", "南京"}, []string{"哥哥"}},
		{"李白和杜甫是唐代诗人。", []string{"李白", "杜甫"}, nil},
		{"孙子曰：兵者，国之大事。孙子曰：凡用兵之法。", []string{"孙子"}, []string{"孙子曰"}},
		{"高温和高压是危险的。江苏与安徽相邻。白云和黄沙在天上。高峰在北京的早上。", []string{"江苏", "安徽"}, []string{"高温", "高压", "白云", "黄沙", "高峰"}},
		{"林薇是海洋生物学家。林薇在奥林研究站工作。站长陈立新认为林薇很好。", []string{"林薇", "奥林研究站", "陈立新"}, []string{"是", "站长陈立新"}},
		{"守塔人玛伦·霍尔特说话了。玛伦·霍尔特点灯，玛伦在等。", []string{"玛伦·霍尔特", "玛伦"}, []string{"霍尔特点灯"}},
		{"《青石晚报》报道了青石港的台风，青石港停电了。一九〇八年建成。", []string{"青石晚报", "青石港"}, []string{"一九〇八年"}},
		{"Ollama 支持导入 GGUF 模型，使用 Modelfile 文件。用 `ollama create` 创建。", []string{"Ollama", "GGUF", "Modelfile", "ollama create"}, nil},
		{"浮动系泊很好。我们设计浮动系泊。她说浮动系泊已经装好。", []string{"浮动系泊"}, []string{"我们", "已经"}},
		{"アルゴリズムとデータ。このアルゴリズムは速い。最短経路を探す。最短経路は短い。", []string{"アルゴリズム", "最短経路"}, nil},
		{"서울은 크다. 서울에 간다. 서울의 대학교.", []string{"서울"}, nil},
	}
	for _, c := range cases {
		got := names(c.text)
		for _, w := range c.want {
			if !slices.Contains(got, w) {
				t.Errorf("%q: no %q in %q", c.text, w, got)
			}
		}
		for _, w := range c.not {
			if slices.Contains(got, w) {
				t.Errorf("%q: %q in %q", c.text, w, got)
			}
		}
	}
}

func TestRuns(t *testing.T) {
	var got []string
	for _, r := range Runs("Who runs the old tide mill, and `go test`? 谁修理了潮汐磨坊？") {
		got = append(got, strings.Join(r.Words, " "))
	}
	want := []string{"runs", "old tide mill", "go test", "修理", "潮汐磨坊"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// check reports violations of L2 and of what Reading promises.
func check(t *testing.T, text string) {
	t.Helper()
	valid := utf8.ValidString(text)
	border := func(i int) bool { return !valid || i == len(text) || utf8.RuneStart(text[i]) }
	at := 0
	for _, tok := range Tokens(text) {
		if tok.Start < at || tok.End <= tok.Start || tok.End > len(text) || !border(tok.Start) || !border(tok.End) {
			t.Fatalf("token %+v after %d in %q", tok, at, text)
		}
		at = tok.End
	}
	at = 0
	for _, s := range Sentences(text) {
		if s.Start < at || s.End <= s.Start || s.End > len(text) || s.End-s.Start > maxSentence+utf8.UTFMax || !border(s.Start) || !border(s.End) {
			t.Fatalf("sentence %+v after %d in %q", s, at, text)
		}
		at = s.End
	}
	r, again := Read(text), Read(text)
	if !slices.Equal(r.Mentions, again.Mentions) {
		t.Fatalf("two readings of %q differ", text)
	}
	at = 0
	for _, m := range r.Mentions {
		from, to := r.TokenRange(m.Sentence)
		if m.Start < at || m.End <= m.Start || m.End > len(text) || m.First < from || m.Last >= to || m.First > m.Last || m.Name == "" {
			t.Fatalf("mention %+v after %d in %q", m, at, text)
		}
		at = m.End
	}
	for _, run := range Runs(text) {
		if run.Start >= run.End || len(run.Words) == 0 {
			t.Fatalf("run %+v in %q", run, text)
		}
	}
	Terms(text, func(term Term) bool {
		if term.Text == "" {
			t.Fatalf("an empty term in %q", text)
		}
		return true
	})
}

var hostile = []string{
	"", "\x00", "\xff\xfe\xfd", "’s", "'s", "Mr.", "Mr. ", "J.", "《》", "《a", "·", "玛·", "·伦", "a·b", "`", "``", "```", "```\n", "#", "# ", "- ", "1.", "|", "||",
	"<", "<a", "<!--", "&", "&;", "](", "](x", "\\n", "www.", "://", "@", "a@", "/", "//", "~/", "../", "...", "。。。", "“", "\u200d", "\u00ad", "A\u0301", "İ", "ǅ", "㍿", "﷽",
	"第", "第一", "一二", "叫", "Bob of", "Bob of the", "Bob &", "& Bob", "St. St. St.", "Yet to", "The The", "MR. MR.",
}

func TestInvariants(t *testing.T) {
	for _, s := range hostile {
		check(t, s)
		check(t, strings.Repeat(s, 100))
		check(t, "Bob met "+s+" in Paris, 他在北京"+s+"说话。")
	}
	for _, s := range []string{strings.Repeat("A", 262144), strings.Repeat("漢", 20000), strings.Repeat("e\u0301", 20000), strings.Repeat("👩‍👩‍👧", 3000), strings.Repeat("Bob Smith and ", 3000)} {
		check(t, s)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Add("Mr. Holt's daughter, Maren, kept the log (see `log.csv`).\n\n## Title Case Here\n- 林薇说：“好。”\n| a | b |")
	f.Fuzz(func(t *testing.T, text string) { check(t, text) })
}

// Kinds of text that look like names and are none, each beside one of the same form that is.
func TestNoNames(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"They sung a Glee, and any Defect was for the Porch. Then the Ferrand Lens turned.", "Ferrand Lens"},
		{"The Dutch merchant met Welsh miners near Cardiff.", "Cardiff"},
		{"Whoop! Fezziwig danced, and Fezziwig clapped.", "Fezziwig"},
		{"Angelic messengers came down. Abundance rejoices over Whitechapel.", "Whitechapel"},
		{"Bed-curtains hung there, and the old AS-IS clause of the Lippincott Company.", "Lippincott Company"},
		{"The AMD GPUs beside an AMD GPU have 16GB and an 8-bit mode, base64-encoded by ROCm. See 1.F.3.", "AMD GPU, ROCm"},
		{"Set `content` to `true`, wait `5m`, use `--url` and `sudo rm -rf /tmp`, then ask `launchctl` or `keep_alive`.", "launchctl, keep_alive"},
		{"The metric assesses the answer. This metric assesses the recall. A vector search finds more; the vector search is fast.", "vector search"},
		{"Redistributing Project Gutenberg copies is fine; Project Gutenberg says so.", "Project Gutenberg"},
		{"Ghost of Christmas Past rose. The Ghost of Christmas Past spoke.", "Ghost of Christmas Past"},
		{"小米卖智能手机。大家买手机。智能手环来了，智能手环又来。新的智能手表，智能手表卖了，手机很多，手机便宜。", "手机, 智能手环, 智能手表"},
		{"他们进入海外高端市场。国内市场很小，但是市场不错，都是市场。", "市场"},
		{"扫描过程中发现错误，过程中发现问题，解析过程中断。", ""},
	} {
		if got := strings.Join(names(c.text), ", "); got != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

// TestPlacesAndJapaneseNames: single mentions are enough where the words themselves tell.
func TestPlacesAndJapaneseNames(t *testing.T) {
	for text, want := range map[string][]string{
		"王丽说杭州离上海不远。黄河南岸有人家。":                           {"王丽", "杭州", "上海"},
		"田中太郎は東京のトヨタ自動車で働き、山田花子と京都大学で会った。鈴木さんは愛知県にいる。":  {"田中太郎", "東京", "トヨタ自動車", "山田花子", "京都大学", "鈴木", "愛知県"},
		"各都市の最短経路を求める。空模様が悪いのに、人は歩いている。":                nil,
		"Die Eier bringt Bruder Jürgen Groß am Montag.": {"Eier", "Jürgen Groß", "Montag"},
	} {
		var got []string
		for _, m := range Read(text).Mentions {
			got = append(got, m.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
