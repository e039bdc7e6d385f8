package trust

import (
	"fmt"
	"strings"
	"testing"
)

// TestStrangeEvents compares the events of two runs.
func TestStrangeEvents(t *testing.T) {
	named := func(x Happening) string {
		if x.Elem > 0 {
			return fmt.Sprintf("%c[1,%d]", x.What, x.Elem)
		}
		return string(rune(x.What))
	}
	at := func(name string, times ...float64) (list []Happening) {
		for _, x := range times {
			list = append(list, Happening{x, int32(name[0]), 0})
		}
		return list
	}
	for _, c := range []struct {
		a, b []Happening
		want string // a part of what is said; "" for nothing
	}{
		{at("e", 1, 2), at("e", 1, 2), ""},
		{at("e", 1, 2), at("e", 1+1e-9, 2-1e-9), ""},
		{at("e", 1, 2), at("e", 1), "e at 2 happens in this run alone"},
		{at("e", 1), at("e", 1, 2), "e at 2 happens in the independent run alone"},
		{at("e", 1, 2, 3), at("e", 1, 2.5, 3), "e happens at 2 in this run, at 2.5 in the independent run"},
		{at("e", 2, 3), at("e", 1, 2, 3), "at 1 in the independent run"}, // the first one
		{at("e", 1, 10), at("e", 1), ""},                                 // at the end
		{at("e", 0), nil, ""},                                            // at the start
		{append(at("e", 1), at("f", 2)...), append(at("f", 1), at("e", 2)...), "e happens at 1"},
		{append(at("e", 1), at("f", 1)...), append(at("f", 1), at("e", 1)...), ""}, // the order of a tie
		{[]Happening{{3, 'e', 2}}, nil, "e[1,2] at 3"},
	} {
		a, b := &Happenings{List: c.a, named: named}, &Happenings{List: c.b, named: named}
		got, _ := StrangeEvent(a, b, 0, 10, 10)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%v and %v: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}
