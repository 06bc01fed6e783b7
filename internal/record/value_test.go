package record

import "testing"

func TestSameValue(t *testing.T) {
	for _, c := range []struct {
		have, want any
		same       bool
	}{
		{"2020", int64(2020), true}, {int64(2020), "2020", true}, {"2020", 2020.0, true}, {"9.50", 9.5, true}, {9.5, "9.50", true},
		{"true", true, true}, {true, "true", true}, {int64(1), 1.0, true}, {1.0, int64(1), true},
		{"007", int64(7), false}, {"TRUE", true, false}, {"1", true, false}, {int64(1), true, false},
		{"2020", "2020.0", false}, {`"x"`, "x", false}, {"2021", int64(2020), false}, {`["a"]`, int64(1), false},
		{[]string{"a", "2020"}, int64(2020), true}, {[]string{"a", "b"}, "b", true}, {[]string{"a", "b"}, "c", false},
		{[]string{"a", "b"}, []string{"a", "b"}, true}, {[]string{"a", "b"}, []string{"a"}, false}, {"a", []string{"a"}, false},
	} {
		if got := SameValue(c.have, c.want); got != c.same {
			t.Errorf("%#v for %#v: %v", c.have, c.want, got)
		}
	}
}

func TestCompareValues(t *testing.T) {
	for _, c := range []struct {
		a, b any
		n    int
		ok   bool
	}{
		{int64(1), int64(2), -1, true}, {int64(2), 1.5, 1, true}, {2.0, int64(2), 0, true}, {int64(1<<62 + 1), int64(1 << 62), 1, true},
		{"10", int64(9), 1, true}, {int64(9), "10", -1, true}, {"10", "9", -1, true}, {"2024-05-01", "2024-12-31", -1, true},
		{"x", int64(1), 0, false}, {true, true, 0, false}, {true, int64(1), 0, false}, {"é", "z", 1, true},
		{[]string{"a"}, "a", 0, false}, {"007", int64(7), 0, false},
	} {
		if n, ok := CompareValues(c.a, c.b); n != c.n && ok || ok != c.ok {
			t.Errorf("%#v beside %#v: %d, %v, want %d, %v", c.a, c.b, n, ok, c.n, c.ok)
		}
	}
}
