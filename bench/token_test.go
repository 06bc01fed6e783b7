package bench

import (
	"encoding/base64"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/glimdb/db/internal/testkit"
	"github.com/glimdb/db/llm/token"
)

func book(b *testing.B) string {
	data, err := os.ReadFile(filepath.Join(testkit.Data(b, "a-christmas-carol"), "book.txt"))
	if err != nil {
		b.Fatal(err)
	}
	return string(data)
}

// BenchmarkTokenBook counts a whole book, ours beside tiktoken-go; both must agree.
func BenchmarkTokenBook(b *testing.B) {
	text := book(b)
	tok := token.Default()
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	peer, err := tiktoken.GetEncoding(token.DefaultEncoding)
	if err != nil {
		b.Fatal(err)
	}
	if got, want := tok.Count(text), len(peer.EncodeOrdinary(text)); got != want {
		b.Fatalf("%d tokens, tiktoken-go has %d", got, want)
	}
	b.Run("count", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			tok.Count(text)
		}
	})
	b.Run("encode", func(b *testing.B) {
		var ids []int
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			ids = tok.Encode(ids[:0], text)
		}
	})
	b.Run("tiktoken-go", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			peer.EncodeOrdinary(text)
		}
	})
}

// started is what cpuTime counts from where it is a clock.
var started = time.Now()

// hostile are the inputs without a place to split at, n characters of each.
var hostile = []struct {
	name string
	text func(n int) string
}{
	{"han", func(n int) string { return strings.Repeat("的", n) }},
	{"base64", func(n int) string {
		r := rand.New(rand.NewPCG(1, 2))
		raw := make([]byte, n*3/4)
		for i := range raw {
			raw[i] = byte(r.Uint32())
		}
		return base64.StdEncoding.EncodeToString(raw)
	}},
	{"letters", func(n int) string {
		r := rand.New(rand.NewPCG(1, 2))
		raw := make([]byte, n)
		for i := range raw {
			raw[i] = 'a' + byte(r.Uint32N(26))
		}
		return string(raw)
	}},
	{"carets", func(n int) string { return strings.Repeat("^", n) }},
	{"marks", func(n int) string { return strings.Repeat("\u0301", n) }},
	{"capitals", func(n int) string { return strings.Repeat("A", n) }},
	{"mixed-case", func(n int) string { return strings.Repeat("中A", n/2) }},
	{"spaces", func(n int) string { return strings.Repeat(" ", n) + "x" }},
	{"newlines", func(n int) string { return strings.Repeat("\n", n) }},
	{"digits", func(n int) string { return strings.Repeat("7", n) }},
	{"bad-utf8", func(n int) string { return strings.Repeat("\xe4", n) }},
}

// BenchmarkTokenHostile reports how much longer 400,000 characters take than 40,000: 10 is linear, the bound
// is 15. Times are of the thread, so that waiting for a processor on a busy machine is not counted, and each is the
// least of nine, taken in turns; the short text is counted ten times in a row, so that what disturbs one disturbs both.
func BenchmarkTokenHostile(b *testing.B) {
	const small = 40_000
	tok := token.Default()
	tok.Count("load")
	timed := func(text string, times int) time.Duration {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		start := cpuTime()
		for range times {
			tok.Count(text)
		}
		return (cpuTime() - start) / time.Duration(times)
	}
	for _, h := range hostile {
		b.Run(h.name, func(b *testing.B) {
			short, long := h.text(small), h.text(10*small)
			once, ten := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			for b.Loop() {
				for range 9 {
					once, ten = min(once, timed(short, 10)), min(ten, timed(long, 1))
				}
			}
			b.ReportMetric(float64(ten)/float64(once), "x-for-10x")
			b.ReportMetric(float64(ten.Microseconds())/1000, "ms/400k")
			b.ReportMetric(0, "ns/op")
		})
	}
}
