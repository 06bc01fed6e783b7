package hashed

import (
	"fmt"
	"testing"
)

// TestUnrelatedShortTexts: a text of a word or two is near what shares a word with it and hardly anything else.
func TestUnrelatedShortTexts(t *testing.T) {
	e := newEmbedder(t)
	shorts := []string{"x", "林薇", "🙂", "q", "7", "潮汐", "Europe", "vw", "灯塔", "Ω", "zebra", "Orrin", "港口", "Skarn Rock"}
	var names, descs []string
	for i := range 1500 {
		a, b := string(rune('b'+i%20))+string("aeiou"[i/20%5])+string(rune('b'+i/100%20)), fmt.Sprint(i)
		names = append(names, a+"kpf"+b)
		d := ""
		for k := range 20 {
			d += fmt.Sprintf("w%dz%dk ", i, k)
		}
		descs = append(descs, d)
	}
	nv, dv, sv := embed(t, e, names...), embed(t, e, descs...), embed(t, e, shorts...)
	all := 0
	for i, s := range sv {
		n, d := 0, 0
		for k := range nv {
			if dot(s, nv[k]) > threshold {
				n++
			}
			if dot(s, dv[k]) > threshold {
				d++
			}
		}
		if n > 8 || d > 8 {
			t.Errorf("%q: %d of 1500 unrelated names and %d descriptions are above the threshold", shorts[i], n, d)
		}
		all += n + d
	}
	if pairs := 2 * len(names) * len(shorts); 1000*all > pairs {
		t.Errorf("%d of %d unrelated pairs are above the threshold, more than one in a thousand", all, pairs)
	}
	related := [][2]string{{"Scrooge", "Uncle Scrooge"}, {"林薇", "林薇\n林薇是灯塔的看守人，住在青石港。"}, {"灯塔", "青石港灯塔"}, {"Maren Holt", "Maren Holt\nMaren Holt keeps the light on Skarn Rock and writes the log every evening."}, {"lighthouse keeper", "Maren Holt\nMaren Holt keeps the lighthouse on Skarn Rock and writes the log every evening."}}
	for _, r := range related {
		v := embed(t, e, r[0], r[1])
		if got := dot(v[0], v[1]); got < threshold {
			t.Errorf("%q is only %.3f near %q", r[0], got, r[1])
		}
	}
}
