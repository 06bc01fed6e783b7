package index_test

import (
	"fmt"

	"github.com/glimdb/db/index"
)

// Models damage the format; what can be mended is used, what cannot is counted.
func ExampleParseReply() {
	x := index.ParseReply(`Here are the records:
entity<|#|>"Ada Pell"<|#|>Person<|#|>Ada Pell runs
the mill at the weir.
entity<| #|>Tern Mill<|#|>Location<|#|>Tern Mill grinds flour.
relation<|#|>Ada Pell<|#|>Tern Mill<|#|>work, trade<|#|>Ada Pell runs Tern Mill.
relation<|#|>Ada Pell<|#|>Ada Pell<|#|>self<|#|>She is herself.
<|COMPLETE|>`, index.ParseOptions{})
	for _, e := range x.Entities {
		fmt.Printf("%s (%s): %s\n", e.Name, e.Type, e.Description)
	}
	for _, r := range x.Relations {
		fmt.Printf("%s - %s %q: %s\n", r.Src, r.Dst, r.Keywords, r.Description)
	}
	fmt.Println(x.Report.Summary())
	// Output:
	// Ada Pell (person): Ada Pell runs the mill at the weir.
	// Tern Mill (location): Tern Mill grinds flour.
	// Ada Pell - Tern Mill ["work" "trade"]: Ada Pell runs Tern Mill.
	// 1 dropped (1 self_loop); 2 repaired (1 delimiter, 1 joined_lines)
}

func ExampleNormalizeName() {
	for _, spelling := range []string{`"Orbit Desk"`, "Orbit  Desk", "“Orbit Desk” ", "Ｏｒｂｉｔ Ｄｅｓｋ"} {
		fmt.Println(index.NormalizeName(spelling))
	}
	// Output:
	// Orbit Desk
	// Orbit Desk
	// Orbit Desk
	// Orbit Desk
}
