package arch

import "strings"

// row says what a package may import of this module.
type row struct {
	imports []string // by its files
	tests   []string // by its test files besides; every package's tests may import itself and testOnly
}

func words(s string) []string { return strings.Fields(s) }

// table is the layering: an arrow down only, siblings never see each other. A new package needs a row,
// and a row needs a reason that holds in a review.
var table = map[string]row{
	// Leaves know nothing of the product.
	"internal/brief":      {},
	"internal/codec":      {},
	"internal/invariants": {},
	"internal/lexical":    {},
	"internal/prompt":     {},
	"internal/simd":       {},
	"internal/kmeans":     {imports: words("internal/simd")}, // cells of an index, and clusters of what is stored
	"internal/space":      {imports: words("internal/codec")},
	"internal/record":     {imports: words("internal/codec internal/space")},
	"internal/filter":     {imports: words("internal/brief internal/record")}, // one selection of documents for both sides
	"llm":                 {tests: words("llm/token")},
	"llm/token":           {tests: words("llm")},

	// Providers and offline stand-ins implement llm's interfaces.
	"internal/endpoint": {imports: words("llm")}, // what clients of model servers have in common
	"llm/openai":        {imports: words("llm internal/endpoint")},
	"llm/anthropic":     {imports: words("llm internal/endpoint")},
	"llm/ollama":        {imports: words("llm internal/endpoint")},
	"llm/rerank":        {imports: words("llm internal/endpoint"), tests: words("llm/token")},
	"llm/hashed":        {imports: words("llm internal/lexical")},

	// A bounded cache in a key space; db and whoever keeps derived bytes under a limit.
	"internal/cache": {imports: words("kv internal/codec"), tests: words("wal")},

	// The engine: kv below, three data models and the commit path beside each other.
	"kv":                {imports: words("internal/codec internal/invariants")},
	"wal":               {imports: words("kv internal/codec internal/space internal/invariants")},
	"graph":             {imports: words("kv internal/brief internal/codec internal/space internal/invariants")},
	"graph/analytics":   {imports: words("graph")}, // algorithms over a whole graph's snapshot
	"vector":            {imports: words("kv internal/brief internal/codec internal/space internal/simd internal/invariants")},
	"postings":          {imports: words("kv internal/brief internal/codec internal/space internal/invariants")},
	"internal/analysis": {imports: words("postings internal/lexical")}, // what index stores and query asks for must be read alike
	"vector/oplog":      {imports: words("kv internal/codec")},         // the persisted form of an index, whatever is indexed
	"vector/hnsw": {
		imports: words("vector vector/oplog kv internal/codec internal/simd"),
	},
	"vector/ivf": {imports: words("vector vector/oplog kv internal/codec internal/kmeans internal/simd")},

	// The two halves of retrieval. Neither sees the commit path, the index behind vector, db, or the other;
	// their tests may put a whole engine together.
	"index/chunk": {imports: words("llm"), tests: words("llm/token")},
	"index": {
		imports: words("kv graph vector postings index/chunk llm internal/analysis internal/brief internal/filter internal/prompt internal/lexical internal/record internal/codec internal/space"),
		tests:   words("wal vector/hnsw llm/token llm/hashed"),
	},
	"cluster": { // a navigation layer over chunks: query routes by it
		imports: words("kv graph graph/analytics vector llm internal/kmeans internal/lexical internal/record internal/codec internal/simd internal/space"),
		tests:   words("wal vector/hnsw index llm/hashed"),
	},
	"index/format": {imports: words("index internal/brief"), tests: words("index/chunk")}, // documents of files, for the library and the command
	"query": {
		imports: words("kv graph vector postings cluster llm internal/analysis internal/filter internal/prompt internal/lexical internal/record internal/codec internal/simd internal/space"),
		tests:   words("wal vector/hnsw llm/token llm/hashed"),
	},

	// The stream of dumps, the formats of exports, the public face, the command.
	"internal/chart":     {},
	"internal/export":    {},
	"internal/graphview": {},
	"internal/dump":      {imports: words("kv internal/codec")},
	".": {
		imports: words("kv wal graph graph/analytics vector vector/hnsw vector/ivf postings index index/chunk cluster query llm llm/token llm/hashed internal/brief internal/cache internal/dump internal/export internal/codec internal/invariants internal/lexical internal/prompt internal/record internal/space"),
		tests:   words("llm/openai llm/rerank"),
	},
	"eval":     {imports: words(". index kv query internal/chart internal/record"), tests: words("cluster")}, // asks a database from outside, as its users do
	"cmd/glim": {imports: words(". eval graph graph/analytics vector cluster index index/chunk index/format query llm llm/anthropic llm/ollama llm/openai llm/rerank llm/token internal/brief internal/graphview")},

	// Never imported; compares layers with bare peers, so that it may reach below db.
	"bench": {tests: words(". eval kv wal graph graph/analytics vector vector/hnsw vector/ivf postings internal/analysis index index/chunk cluster query llm llm/token llm/hashed internal/codec internal/lexical internal/record internal/simd internal/space")},

	// Imported from tests only.
	"internal/testkit":           {},
	"internal/testkit/replay":    {imports: words("llm")},
	"internal/testkit/vectorkit": {imports: words("kv vector")},
	"internal/metamorphic":       {imports: words(". graph vector index query llm llm/hashed")}, // a caller of the public face
	"llm/llmtest":                {imports: words("llm"), tests: words("llm/token")},
	"index/chunk/chunktest":      {imports: words("index/chunk llm")},
	"vector/vectortest":          {imports: words("kv vector internal/codec internal/space"), tests: words("vector/hnsw vector/ivf")},
	"internal/arch":              {},
}

// testOnly may be imported by test files and by each other.
var testOnly = words("internal/testkit internal/testkit/replay internal/metamorphic llm/llmtest index/chunk/chunktest internal/testkit/vectorkit vector/vectortest")

// confined modules may be imported only at the places listed: directories, or single files.
var confined = []struct {
	module string
	places []string
	tests  bool // any test file, too
	why    string
}{
	{"github.com/cockroachdb/pebble/v2/vfs", words("kv . internal/testkit internal/testkit/vectorkit vector/vectortest bench"), true, "file systems may be named, the engine may not"},
	{"github.com/cockroachdb/pebble", words("kv bench"), false, "only kv imports the engine; the contract names nothing of it"},
	{"gonum.org/v1/gonum", words("graph/gonum.go cluster/pca.go"), true, "one adapter file; the rest of graph is gonum-free"},
	{"github.com/pkoukk", words("llm/token bench"), false, "tokens are counted behind llm.Tokenizer"},
	{"github.com/blevesearch/snowballstem", words("internal/analysis"), false, "what stems which words is one analyser's business, whose id says so"},
	{"github.com/RoaringBitmap", words("vector"), false, "sets of ids are vector.IDSet elsewhere"},
	{"github.com/ledongthuc/pdf", words("index/format"), false, "it panics, and trusts what a file says of its sizes"},
	{"golang.org/x/image", words("internal/chart"), false, "drawing is behind one small package"},
	{"github.com/spf13", words("cmd/glim"), false, "the library has no command line"},
	{"github.com/schollz", words("cmd/glim"), false, "the library has no terminal"},
	{"github.com/coder/hnsw", words("bench"), false, "a peer to measure against, not a part"},
	{"github.com/rogpeppe", nil, true, "a test tool"},
	{"pgregory.net/rapid", nil, true, "a test tool"},
	{"go.uber.org/goleak", words("internal/testkit"), true, "a test tool"},
}
