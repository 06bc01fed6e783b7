package endpoint

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := func() time.Time { return now }
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		header map[string]string
		want   time.Duration
	}{
		{nil, 0},
		{map[string]string{"Retry-After": "7"}, 7 * time.Second},
		{map[string]string{"Retry-After": "0.5"}, 500 * time.Millisecond},
		{map[string]string{"Retry-After": "-1"}, 0},
		{map[string]string{"Retry-After": "NaN"}, 0},
		{map[string]string{"Retry-After": "soon"}, 0},
		{map[string]string{"Retry-After": "1e300"}, 365 * 24 * time.Hour},
		{map[string]string{"Retry-After": date(time.Minute)}, time.Minute},
		{map[string]string{"Retry-After": date(-time.Minute)}, 0},
		{map[string]string{"Retry-After": date(time.Hour + time.Minute), "Date": date(time.Hour)}, time.Minute},
		{map[string]string{"Retry-After": "7", "Retry-After-Ms": "20"}, 20 * time.Millisecond},
	} {
		h := http.Header{}
		for k, v := range c.header {
			h.Set(k, v)
		}
		if got := retryAfter(h, clock); got != c.want {
			t.Errorf("%v: %v, want %v", c.header, got, c.want)
		}
	}
}

// FuzzErrorBody: an excerpt is one short line of valid UTF-8 without secrets.
func FuzzErrorBody(f *testing.F) {
	for _, s := range []string{`{"error":{"message":"m","code":1}}`, `[{"error":"x"}]`, "<title>x</title>", "<TITLE>İ</TITLE>", "\xff\xfe", `{"error":{"code":"secret-key"}}`, "[]", "null"} {
		f.Add([]byte(s))
	}
	e, err := New(Config{URL: "http://h", Key: "secret-key"}, "")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		code, message := ParseError(data)
		for _, text := range []string{e.Excerpt(code), e.Excerpt(message)} {
			if len(text) > excerptLimit+len("…") || !utf8.ValidString(text) || strings.ContainsAny(text, "\n\r") || strings.Contains(text, "secret-key") {
				t.Fatalf("%q", text)
			}
		}
	})
}

func TestEventsOfLongLines(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	body := "data: \"" + long + "\"\n\ndata: 2\n"
	var got []string
	for data, err := range Events(io.MultiReader(strings.NewReader(body[:50]), strings.NewReader(body[50:])), "") {
		if err != nil || !json.Valid(data) {
			t.Fatalf("%q, %v", data, err)
		}
		got = append(got, string(data))
	}
	if len(got) != 2 || len(got[0]) != len(long)+2 || got[1] != "2" {
		t.Errorf("%d events", len(got))
	}
}
