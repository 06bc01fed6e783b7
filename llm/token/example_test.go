package token_test

import (
	"fmt"

	"github.com/glimdb/db/llm/token"
)

func Example() {
	tok := token.Default()
	ids := tok.Encode(nil, "The lantern bridge, 提灯橋.")
	fmt.Println(tok.ID(), tok.Count("The lantern bridge, 提灯橋."), ids)
	fmt.Printf("%s\n", tok.Decode(ids[:4]))

	_, err := token.New("o300k")
	fmt.Println(err)
	// Output:
	// o200k_base 8 [976 111163 23273 11 97020 90649 137273 13]
	// The lantern bridge,
	// token: unknown encoding "o300k" (have cl100k_base, o200k_base, p50k_base, p50k_edit, r50k_base)
}
