package token

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// class is a set of kinds of characters; a character has exactly one kind.
type class uint8

const (
	upper    class = 1 << iota // \p{Lu}\p{Lt}
	lower                      // \p{Ll}
	caseless                   // \p{Lm}\p{Lo}
	mark                       // \p{M}
	number                     // \p{N}
	space                      // \s but line ends
	newline                    // \r and \n
	symbol                     // anything else

	letter = upper | lower | caseless // \p{L}
)

// The table covers every plane that has letters; the rest, private use and variation selectors, is looked up.
const tabled = 0x32400

// classes is 200 kB, filled at first use in about a millisecond.
var classes = sync.OnceValue(func() *[tabled]class {
	t := new([tabled]class)
	for i := range t {
		t[i] = symbol
	}
	fill := func(c class, tables ...*unicode.RangeTable) {
		for _, table := range tables {
			for _, r := range table.R16 {
				for i := uint32(r.Lo); i <= uint32(r.Hi); i += uint32(r.Stride) {
					t[i] = c
				}
			}
			for _, r := range table.R32 {
				for i := r.Lo; i <= min(r.Hi, tabled-1); i += r.Stride {
					t[i] = c
				}
			}
		}
	}
	fill(upper, unicode.Lu, unicode.Lt)
	fill(lower, unicode.Ll)
	fill(caseless, unicode.Lm, unicode.Lo)
	fill(mark, unicode.M)
	fill(number, unicode.N)
	fill(space, unicode.White_Space)
	fill(newline, &unicode.RangeTable{R16: []unicode.Range16{{Lo: '\n', Hi: '\n', Stride: 1}, {Lo: '\r', Hi: '\r', Stride: 1}}})
	return t
})

func classOf(r rune) class {
	if r < tabled {
		return classes()[r]
	}
	switch {
	case unicode.Is(unicode.M, r):
		return mark
	case unicode.Is(unicode.Lo, r):
		return caseless
	}
	return symbol
}

// Short names for the literal below.
const (
	up = upper
	lo = lower
	nu = number
	sp = space
	nl = newline
	sy = symbol
)

// asciiClass is the start of the table, ready at program start, because almost all text needs no more.
var asciiClass = [utf8.RuneSelf]class{
	sy, sy, sy, sy, sy, sy, sy, sy, sy, sp, nl, sp, sp, nl, sy, sy,
	sy, sy, sy, sy, sy, sy, sy, sy, sy, sy, sy, sy, sy, sy, sy, sy,
	sp, sy, sy, sy, sy, sy, sy, sy, sy, sy, sy, sy, sy, sy, sy, sy,
	nu, nu, nu, nu, nu, nu, nu, nu, nu, nu, sy, sy, sy, sy, sy, sy,
	sy, up, up, up, up, up, up, up, up, up, up, up, up, up, up, up,
	up, up, up, up, up, up, up, up, up, up, up, sy, sy, sy, sy, sy,
	sy, lo, lo, lo, lo, lo, lo, lo, lo, lo, lo, lo, lo, lo, lo, lo,
	lo, lo, lo, lo, lo, lo, lo, lo, lo, lo, lo, sy, sy, sy, sy, sy,
}
