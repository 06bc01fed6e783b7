package openai

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/glimdb/db/llm"
)

// FuzzStream: whatever a server streams, the call ends with one finish reason or one error, and nothing after it.
func FuzzStream(f *testing.F) {
	f.Add("data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	f.Add("data: [DONE]")
	f.Add("data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}}]}\ndata: {\"error\":\"x\"}")
	f.Add(": c\r\nevent: x\r\ndata:\r\ndata: 1\n")
	chat, err := NewChat(Config{ChatModel: "m"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		ends := 0
		chat.stream(t.Context(), strings.NewReader(body), func(d llm.Delta, err error) bool {
			if ends > 0 {
				t.Fatal("something after the end")
			}
			if err != nil || d.Finish != "" {
				ends++
			}
			if err != nil && (d != llm.Delta{} || len(err.Error()) > 1000) {
				t.Fatalf("%+v with %v", d, err)
			}
			return true
		})
		if ends != 1 {
			t.Fatalf("%d ends", ends)
		}
	})
}

// FuzzErrorBody: an excerpt is one short line of valid UTF-8 without secrets.
func FuzzErrorBody(f *testing.F) {
	for _, s := range []string{`{"error":{"message":"m","code":1}}`, `[{"error":"x"}]`, "<title>x</title>", "<TITLE>İ</TITLE>", "\xff\xfe", `{"error":{"code":"secret-key"}}`, "[]", "null"} {
		f.Add([]byte(s))
	}
	e, err := Config{Key: "secret-key"}.endpoint()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		code, message := parseError(data)
		for _, text := range []string{e.excerpt(code), e.excerpt(message)} {
			if len(text) > excerptLimit+len("…") || !utf8.ValidString(text) || strings.ContainsAny(text, "\n\r") || strings.Contains(text, "secret-key") {
				t.Fatalf("%q", text)
			}
		}
	})
}

// FuzzVectors: a list of embeddings is read whole, in order, or refused.
func FuzzVectors(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":"AACAPwAAAAA="}]}`), 2)
	f.Add([]byte(`{"data":[{"embedding":null}]}`), 1)
	f.Add([]byte(`{"error":"x"}`), 1)
	f.Fuzz(func(t *testing.T, data []byte, texts int) {
		vecs, _, err := parseVectors(data, texts)
		if err == nil && len(vecs) == texts {
			for i, v := range vecs {
				if v == nil {
					t.Fatalf("text %d has no vector", i)
				}
			}
		}
	})
}

func TestEventsOfLongLines(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	body := "data: \"" + long + "\"\n\ndata: 2\n"
	var got []string
	for data, err := range events(io.MultiReader(strings.NewReader(body[:50]), bytes.NewReader([]byte(body[50:])))) {
		if err != nil || !json.Valid(data) {
			t.Fatalf("%q, %v", data, err)
		}
		got = append(got, string(data))
	}
	if len(got) != 2 || len(got[0]) != len(long)+2 || got[1] != "2" {
		t.Errorf("%d events", len(got))
	}
}
