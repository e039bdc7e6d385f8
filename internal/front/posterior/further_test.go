package posterior

import (
	"strings"
	"testing"
)

// TestFurther: searches go on where modes were found once, and where a narrow mode was missed by the first of them.
func TestFurther(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	two := prior(`param a = 0 in [-12,12], b = 0 in [-12,12]
objective L = -log(0.2*exp(-0.5*((a-4)^2+(b-4)^2)/0.25)/0.25 + 0.8*exp(-0.5*((a+4)^2+(b+4)^2)))
sample { of = L  over = [a, b]  draws = 100  warmup = 500  seed = 3 }`)
	r := drawn(t, two, Options{})
	if len(r.Modes) != 2 || r.Modes[1].Draws < 40 || r.unseen.searches < 20 {
		t.Errorf("%d modes of %+v; %v", len(r.Modes), r.unseen, r.Warnings)
	}
	many := prior(`param a = 0 in [-10,10], b = 0 in [-10,10]
objective L = 0.5*(sin(1.2*a)/0.3)^2 + 0.5*((b-a)/0.4)^2 + 0.02*(a-2)^2
sample { of = L  over = [a, b]  method = laplace  seed = 1 }`)
	if r = drawn(t, many, Options{}); r.unseen.modes != 7 {
		t.Errorf("%+v; %v", r.unseen, r.Warnings)
	}
	r = drawn(t, strings.Replace(many, "seed = 1", "seed = 1  starts = 8", 1), Options{})
	if r.Status != "partial" || !strings.Contains(messages(r), "found by one search of 8 each") {
		t.Errorf("%s, %+v; %v", r.Status, r.unseen, r.Warnings)
	}
}

// TestAbove: an R-hat has the digits that tell it from the most that is good.
func TestAbove(t *testing.T) {
	for x, want := range map[float64]string{
		1.01: "1.01", 1.0102: "1.0102", 1.013: "1.013", 1.02: "1.02", 3.456: "3.46",
	} {
		if s := above(x); s != want {
			t.Errorf("%g: %s, not %s", x, s, want)
		}
	}
}
