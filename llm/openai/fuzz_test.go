package openai

import (
	"strings"
	"testing"

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
