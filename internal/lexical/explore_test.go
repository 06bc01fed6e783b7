package lexical

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"testing"
	"time"
)

func TestExplore(t *testing.T) {
	p := os.Getenv("GX")
	if p == "" {
		t.Skip()
	}
	b, _ := os.ReadFile(p)
	size, _ := strconv.Atoi(os.Getenv("GXN"))
	if size == 0 {
		size = 5000
	}
	cnt := map[string]int{}
	org := map[string]Origin{}
	t0 := time.Now()
	for i := 0; i < len(b); i += size {
		r := Read(string(b[i:min(len(b), i+size)]))
		for _, m := range r.Mentions {
			cnt[m.Name]++
			org[m.Name] = m.Origin
		}
	}
	fmt.Println(time.Since(t0), len(b))
	var k []string
	for w := range cnt {
		k = append(k, w)
	}
	sort.Slice(k, func(a, b int) bool {
		if cnt[k[a]] != cnt[k[b]] {
			return cnt[k[a]] > cnt[k[b]]
		}
		return k[a] < k[b]
	})
	for i, w := range k {
		if i > 400 {
			break
		}
		fmt.Printf("%s(%d,%d) ", w, cnt[w], org[w])
	}
	fmt.Println(len(k))
}
