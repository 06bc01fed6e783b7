package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/glimdb/db/internal/space"
)

var documentSample = Document{ID: "a/b", Seq: 7, Status: StatusFailed,
	Current: &Version{Rev: 1, Hash: "h", Path: "p", Metadata: metadataSample, Time: time.Date(1066, 10, 14, 9, 0, 0, 5, time.UTC), Bytes: 9, Removed: 2, Track: "t", EnqueuedAt: 3, Priority: -128, Chunker: `{"size":9}`},
	Pending: &Version{Rev: 1 << 60, Priority: 127, Spans: []Span{{Start: 1, End: 1 << 30, Context: "A > B"}, {End: 9}}},
	Contents: Contents{Chunks: 3, Entities: 4, Relations: 5, Dropped: []Count{{"a", 1}}, Repaired: []Count{{"b", 2}}, Truncated: 1,
		Warnings: []string{"w"}},
	Attempts: Attempts{Tries: 2, Error: "e", StartedAt: 10, EndedAt: 20, Stages: []Count64{{"s", 1 << 40}}, ReusedChunks: 1, Calls: 2,
		CachedCalls: 3, PromptTokens: 4, CompletionTokens: 5, EmbeddedTexts: 6},
	CreatedAt: 1, UpdatedAt: -2, Spent: []ModelUse{{Model: "m", Purpose: "extract", Calls: 1, CachedCalls: 2, PromptTokens: 3, CompletionTokens: 4}, {}}}

var metadataSample = Metadata{"k": "v", "": "x", "yes": true, "no": false, "n": int64(math.MinInt64), "m": int64(math.MaxInt64), "one": 1.0, "f": -0.25,
	"big": 1e300, "tags": []string{"a", "", "港"}}

var chunkSample = Chunk{Doc: "d", Order: 3, Start: 1, End: 4, Tokens: 5, LineTokens: 6, Path: "p", Content: "日本", Context: "東京", ContextTokens: 7, Extractor: "x",
	Truncated: true, Dropped: []Count{{"a", 1}}, Repaired: []Count{{"b", 2}}, Warnings: []string{"w"}}

var tallySample = Tally{Version: 9, Records: 3, Endpoints: 1, Chunks: 2, Loose: 1, Weight: 2_500_000, Types: []TypeCount{{"a", 1}, {"b", 2}}, Digest: "d",
	RecordsEnd: Mark{3, 4}, EndpointsEnd: Mark{5, 6}, Rules: 77}

func sourceSamples() []Source {
	pos := Position{Seq: 1 << 40, Order: 2, Record: 3}
	return []Source{
		{Kind: KindEntity, Object: EntityObject("Ada\x00"), Position: pos, Doc: "d", Path: "p", Type: "t", Description: "x"},
		{Kind: KindEndpoint, Object: EntityObject("Ada"), Position: pos, Doc: "d", Description: "y"},
		{Kind: KindRelation, Object: RelationObject("b", "a"), Position: pos, Doc: "d", Path: "p", Description: "z",
			Keywords: []string{"k", "l"}, Weight: 1, Reversed: true},
	}
}

// TestRoundTrips is R1 on full records.
func TestRoundTrips(t *testing.T) {
	if got, err := DecodeDocument(documentSample.ID, documentSample.Encode()); err != nil || !reflect.DeepEqual(got, documentSample) {
		t.Errorf("document: %+v, %v", got, err)
	}
	if got, err := DecodeChunk("d", 3, chunkSample.Encode()); err != nil || !reflect.DeepEqual(got, chunkSample) {
		t.Errorf("chunk: %+v, %v", got, err)
	}
	if got, err := DecodeTally(tallySample.Encode()); err != nil || !reflect.DeepEqual(got, tallySample) {
		t.Errorf("tally: %+v, %v", got, err)
	}
	tight := tallySample
	tight.Loose = 0
	if got, err := DecodeTally(tight.Encode()); err != nil || !reflect.DeepEqual(got, tight) {
		t.Errorf("tally without loose records: %+v, %v", got, err)
	}
	for _, s := range sourceSamples() {
		rest := s.Key("ws")[len(space.In("ws", space.Source)):]
		k, o, p, err := ParseSourceKey(rest)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeSource(k, o, p, s.Encode()); err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("source: %+v, %v", got, err)
		}
	}
	objects := []Object{EntityObject("a"), RelationObject("b", "a")}
	if got, err := DecodeObjects(EncodeObjects(objects)); err != nil || !slices.Equal(got, objects) {
		t.Errorf("objects: %v, %v", got, err)
	}
}

// TestMetadata: values keep their types through a dump, and equality is that of values and types.
func TestMetadata(t *testing.T) {
	b, err := json.Marshal(metadataSample)
	if err != nil {
		t.Fatal(err)
	}
	var back Metadata
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, metadataSample) || !back.Equal(metadataSample) {
		t.Errorf("%s became %v, %v", b, back, err)
	}
	if b, err := json.Marshal(Metadata{"none": []string(nil)}); err != nil || string(b) != `{"none":[]}` {
		t.Errorf("an empty list became %s, %v", b, err)
	}
	for _, other := range []Metadata{nil, {"k": "v"}, {"k": []string{"v"}, "one": 1.0}, {"k": "v", "one": int64(1)}, {"k": "v", "one": 1.5}} {
		if other.Equal(Metadata{"k": "v", "one": 1.0}) {
			t.Errorf("%v counts as equal", other)
		}
	}
	for _, bad := range []string{`{"k":null}`, `{"k":{}}`, `{"k":[1]}`, `{"k":9223372036854775808}`, `{"k":1e999}`, `[]`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s was read as %v", bad, back)
		}
	}
}

// TestQueueOrder: byte order of the queue is falling priority, then order of enqueue.
func TestQueueOrder(t *testing.T) {
	type place struct {
		priority int8
		seq      uint64
	}
	places := []place{{-128, 1}, {-1, 9}, {0, 1 << 40}, {0, 2}, {127, 3}, {1, 7}}
	slices.SortFunc(places, func(a, b place) int {
		return bytes.Compare(QueueKey("w", a.priority, a.seq), QueueKey("w", b.priority, b.seq))
	})
	if want := []place{{127, 3}, {1, 7}, {0, 2}, {0, 1 << 40}, {-1, 9}, {-128, 1}}; !slices.Equal(places, want) {
		t.Errorf("the queue is %v", places)
	}
	for _, p := range places {
		priority, seq, err := ParseQueueKey(QueueKey("w", p.priority, p.seq)[len(QueuePrefix("w")):])
		if err != nil || priority != p.priority || seq != p.seq {
			t.Error(priority, seq, err)
		}
	}
}

// TestKeysParse: what a key is made of comes back, odd characters included.
func TestKeysParse(t *testing.T) {
	odd := "a\x00\xff/b"
	cut := func(key []byte, s space.Space) []byte { return key[len(space.In("w", s)):] }
	if id, err := ParseDocumentKey(cut(DocumentKey("w", odd), space.Document)); err != nil || id != odd {
		t.Error(id, err)
	}
	if id, pending, err := ParseTextKey(cut(TextKey("w", odd, true), space.Text)); err != nil || id != odd || !pending {
		t.Error(id, pending, err)
	}
	if doc, n, err := ParseChunkKey(cut(ChunkKey("w", odd, 70000), space.Chunk)); err != nil || doc != odd || n != 70000 {
		t.Error(doc, n, err)
	}
	if track, seq, err := ParseTrackKey(cut(TrackKey("w", odd, 5), space.Track)); err != nil || track != odd || seq != 5 {
		t.Error(track, seq, err)
	}
	if hash, id, err := ParseHashKey(cut(HashKey("w", "h", odd), space.Hash)); err != nil || hash != "h" || id != odd {
		t.Error(hash, id, err)
	}
	if id, err := ParseContribKey(cut(ContribKey("w", odd), space.Contrib)); err != nil || id != odd {
		t.Error(id, err)
	}
	for _, o := range []Object{EntityObject(odd), RelationObject(odd, "z")} {
		got, err := ParseTallyKey(TallyKey("w", o)[len(TallyPrefix("w", o.IsRelation())):], o.IsRelation())
		if err != nil || got != o {
			t.Error(got, err)
		}
	}
}

// TestSourceOrder is R2: byte order of keys is the order of positions, and no object's prefix covers
// another's records.
func TestSourceOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "a\x00", "ab", "b", "a\x00\x01"}
	var list []Source
	for range 500 {
		list = append(list, Source{Kind: KindEntity, Object: EntityObject(names[rng.IntN(len(names))]),
			Position: Position{Seq: rng.Uint64N(3) << 33, Order: rng.IntN(3) * 70000, Record: rng.IntN(300)}})
	}
	slices.SortFunc(list, func(a, b Source) int { return bytes.Compare(a.Key(""), b.Key("")) })
	for i := 1; i < len(list); i++ {
		a, b := &list[i-1], &list[i]
		if c := strings.Compare(a.Object.A, b.Object.A); c > 0 || c == 0 && a.Position.Compare(b.Position) > 0 {
			t.Fatalf("%+v before %+v", a, b)
		}
	}
	for i := range list {
		for _, n := range names {
			if bytes.HasPrefix(list[i].Key(""), SourcePrefix("", KindEntity, EntityObject(n))) != (n == list[i].Object.A) {
				t.Fatalf("prefix of %q and key of %q", n, list[i].Object.A)
			}
		}
	}
}

func TestPairs(t *testing.T) {
	if PairID("ab", "c") == PairID("a", "bc") || PairID("x", "y") != PairID("y", "x") {
		t.Error("pair ids collide or depend on order")
	}
	if RelationObject("b", "a") != RelationObject("a", "b") {
		t.Error("objects of a pair depend on order")
	}
	order := []Object{EntityObject("z"), RelationObject("a", "b"), EntityObject("a"), RelationObject("a", "aa")}
	slices.SortFunc(order, Object.Compare)
	if got := fmt.Sprint(order); got != `[entity "a" entity "z" relation "a" - "aa" relation "a" - "b"]` {
		t.Error(got)
	}
}

// TestTallyReturns: what was added and taken away again leaves nothing, in any order, exactly.
func TestTallyReturns(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var tally Tally
	var list []Source
	for range 200 {
		w, _ := WeightOf(rng.Float64() * 10)
		list = append(list, Source{Kind: []Kind{KindEntity, KindRelation, KindEndpoint}[rng.IntN(3)], Type: fmt.Sprint(rng.IntN(4)), Weight: w})
	}
	for i := range list {
		tally.Add(&list[i], 1)
	}
	if !slices.IsSortedFunc(tally.Types, func(a, b TypeCount) int { return strings.Compare(a.Type, b.Type) }) {
		t.Errorf("types are not sorted: %v", tally.Types)
	}
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for i := range list {
		tally.Add(&list[i], -1)
	}
	if !tally.Empty() || tally.Weight != 0 || len(tally.Types) != 0 {
		t.Errorf("left over: %+v", tally)
	}
}

func TestChunkIDs(t *testing.T) {
	for order, want := range map[int]string{0: "d-chunk-000", 7: "d-chunk-007", 42: "d-chunk-042", 100: "d-chunk-100", 12345: "d-chunk-12345"} {
		if got := ChunkID("d", order); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if doc, n, ok := ParseChunkID(want); doc != "d" || n != order || !ok {
			t.Errorf("%q is %q, %d, %t", want, doc, n, ok)
		}
	}
	for _, id := range []string{"d-chunk-1", "d-chunk-0100", "d-chunk-", "chunk-000", "d-chunk--01"} {
		if _, _, ok := ParseChunkID(id); ok {
			t.Errorf("%q is taken for a chunk id", id)
		}
	}
}

func TestWeight(t *testing.T) {
	for _, c := range []struct {
		in  float64
		out float64
		ok  bool
	}{{1, 1, true}, {0.85, 0.85, true}, {7, 7, true}, {0.0000001, 0.000001, true}, {0, 1, false}, {-1, 1, false}, {MaxWeight * 2, 1, false}} {
		if w, ok := WeightOf(c.in); w.Float() != c.out || ok != c.ok {
			t.Errorf("WeightOf(%g) = %g, %t", c.in, w.Float(), ok)
		}
	}
}

// TestLines: the lines are JSON of the right value, with everything literal that may be.
func TestLines(t *testing.T) {
	if got := EntityLine("Zoë", "person", `says "hi" <b> & 你好`); got != `{"entity":"Zoë","type":"person","description":"says \"hi\" <b> & 你好"}` {
		t.Error(got)
	}
	if got := RelationLine("a", "b", "x\ty\n"); got != `{"entity1":"a","entity2":"b","description":"x\ty\n"}` {
		t.Error(got)
	}
	if got := ChunkLine("1", "", "text"); got != `{"reference_id":"1","content":"text"}` {
		t.Error(got)
	}
	if got := ChunkLine("1", "Book > \"One\"", "text"); got != `{"reference_id":"1","headings":"Book > \"One\"","content":"text"}` {
		t.Error(got)
	}
}

// TestCountLine: what is stored sums up to the line as it is shown; chunks of before, which lack the tokens of their
// headings, are read with all else and say that their line is not counted.
func TestCountLine(t *testing.T) {
	count := func(s string) int { return len(s) }
	for _, context := range []string{"", "Book > One"} {
		c := Chunk{Doc: "d", Order: 1, Content: "text", Context: context, ContextTokens: 99}
		c.CountLine(count)
		if want := len(ChunkLine(ReferencePlaceholder, context, "text")); c.Line() != want || (c.ContextTokens == 0) != (context == "") {
			t.Errorf("%q: %d, %d of them headings, want %d", context, c.Line(), c.ContextTokens, want)
		}
		before := c
		before.ContextTokens = 0
		stored := before.Encode()
		got, err := DecodeChunk("d", 1, stored)
		if err != nil || !reflect.DeepEqual(got, before) || context != "" && got.Line() != 0 {
			t.Errorf("%q: stored before: %+v, line of %d, %v", context, got, got.Line(), err)
		}
		if _, err := DecodeChunk("d", 1, append(stored, 0)); err == nil {
			t.Errorf("%q: tokens of headings that are 0 have two forms", context)
		}
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{"", "a", "\"\\\x00\x1f\n\r\t", "\xff\xfe", "\u2028<>&", "😀"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var back string
		if err := json.Unmarshal(AppendJSON(nil, s), &back); err != nil {
			t.Fatal(err)
		}
		if want := string([]rune(s)); back != want {
			t.Fatalf("%q became %q", s, back)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(documentSample.Encode())
	f.Add(chunkSample.Encode())
	f.Add(tallySample.Encode())
	for _, m := range manualSamples() {
		f.Add(m.Encode())
	}
	for _, s := range sourceSamples() {
		f.Add(s.Encode())
		f.Add(s.Key("")[len(space.In("", space.Source)):])
	}
	f.Fuzz(func(t *testing.T, v []byte) {
		if d, err := DecodeDocument("x", v); err == nil {
			if again, err := DecodeDocument("x", d.Encode()); err != nil || !reflect.DeepEqual(again, d) {
				t.Fatalf("document %+v became %+v, %v", d, again, err)
			}
		}
		if c, err := DecodeChunk("x", 1, v); err == nil {
			if again, err := DecodeChunk("x", 1, c.Encode()); err != nil || !reflect.DeepEqual(again, c) {
				t.Fatalf("chunk %+v became %+v, %v", c, again, err)
			}
		}
		if y, err := DecodeTally(v); err == nil {
			if again, err := DecodeTally(y.Encode()); err != nil || !reflect.DeepEqual(again, y) {
				t.Fatalf("tally %+v became %+v, %v", y, again, err)
			}
		}
		if m, err := DecodeManual(v); err == nil {
			if again, err := DecodeManual(m.Encode()); err != nil || !reflect.DeepEqual(again, m) {
				t.Fatalf("decisions %+v became %+v, %v", m, again, err)
			}
		}
		for _, k := range []Kind{KindEntity, KindRelation, KindEndpoint} {
			if s, err := DecodeSource(k, Object{A: "a"}, Position{}, v); err == nil {
				if again, err := DecodeSource(k, Object{A: "a"}, Position{}, s.Encode()); err != nil || !reflect.DeepEqual(again, s) {
					t.Fatalf("source %+v became %+v, %v", s, again, err)
				}
			}
		}
		if list, err := DecodeObjects(v); err == nil {
			if again, err := DecodeObjects(EncodeObjects(list)); err != nil || !reflect.DeepEqual(again, list) {
				t.Fatalf("objects %+v became %+v, %v", list, again, err)
			}
		}
		for _, relations := range []bool{false, true} {
			o, err := ParseTallyKey(v, relations)
			if err == nil && o.IsRelation() == relations && !bytes.Equal(TallyKey("", o)[len(TallyPrefix("", relations)):], v) {
				t.Fatalf("tally key %x of %v", v, o)
			}
		}
		if doc, order, err := ParseChunkKey(v); err == nil && !bytes.Equal(ChunkKey("", doc, order)[len(space.In("", space.Chunk)):], v) {
			t.Fatalf("chunk key %x of %q, %d", v, doc, order)
		}
		if id, err := ParseDocumentKey(v); err == nil && !bytes.Equal(DocumentKey("", id)[len(DocumentPrefix("")):], v) {
			t.Fatalf("document key %x of %q", v, id)
		}
		if k, o, p, err := ParseSourceKey(v); err == nil {
			s := Source{Kind: k, Object: o, Position: p}
			if !bytes.Equal(s.Key("")[len(space.In("", space.Source)):], v) {
				t.Fatalf("key %x of %+v", v, s)
			}
		}
	})
}
