package chunk_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/llm/token"
)

// A chunker of your own is a function from text to byte spans. Limit counts their tokens and cuts those
// that are too large.
func ExampleFunc() {
	paragraphs := chunk.Func("paragraphs", func(_ context.Context, text string) ([]chunk.Span, error) {
		var spans []chunk.Span
		at := 0
		for part := range strings.SplitSeq(text, "\n\n") {
			body := strings.TrimSpace(part)
			if body != "" {
				start := at + strings.Index(part, body)
				spans = append(spans, chunk.Span{Start: start, End: start + len(body)})
			}
			at += len(part) + len("\n\n")
		}
		return spans, nil
	})
	window, err := chunk.NewWindow(token.Default(), 9, 3, chunk.WithoutContained())
	if err != nil {
		fmt.Println(err)
		return
	}
	text := "A short paragraph.\n\nA longer one, which has more tokens than the limit allows."
	spans, err := chunk.Limit(paragraphs, window, false).Split(context.Background(), text)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range spans {
		fmt.Printf("%2d tokens: %s\n", s.Tokens, s.Text(text))
	}
	// Output:
	//  4 tokens: A short paragraph.
	//  9 tokens: A longer one, which has more tokens than
	//  7 tokens: more tokens than the limit allows.
}

func ExampleNewWindow() {
	window, err := chunk.NewWindow(token.Default(), chunk.DefaultSize, chunk.DefaultOverlap)
	if err != nil {
		fmt.Println(err)
		return
	}
	text := strings.Repeat("The lamp burned all night. ", 400)
	spans, err := window.Split(context.Background(), text)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, s := range spans {
		fmt.Printf("chunk %d: bytes %d to %d, %d tokens\n", i, s.Start, s.End, s.Tokens)
	}
	// Output:
	// chunk 0: bytes 0 to 5399, 1200 tokens
	// chunk 1: bytes 4950 to 10349, 1200 tokens
	// chunk 2: bytes 9902 to 10799, 201 tokens
}
