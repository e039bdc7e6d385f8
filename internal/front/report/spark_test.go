package report

import (
	"math"
	"testing"
)

func TestSpark(t *testing.T) {
	times := []float64{0, 1, 2, 3, 4, 5, 6, 7}
	for _, c := range []struct {
		name   string
		values []float64
		want   string
	}{
		{"rising", []float64{0, 1, 2, 3, 4, 5, 6, 7}, "▁▂▃▄▅▆▇█"},
		{"a hole", []float64{0, 7, math.NaN(), math.NaN(), 7, 0, 0, 0}, "▁█  █▁▁▁"},
		{"flat", []float64{3, 3, 3, 3, 3, 3, 3, 3}, ""},
		{"infinite", []float64{0, 1, math.Inf(1), 3, 4, 5, 6, 7}, "▁▂ ▄▅▆▇█"},
	} {
		if got := spark(times, func(i int) float64 { return c.values[i] }, 8); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	jump := []float64{0, 1, 1, 2, 3, 4, 5, 6} // a time that stands twice
	values := []float64{0, 0, 7, 7, 7, 7, 7, 7}
	if got, want := spark(jump, func(i int) float64 { return values[i] }, 7), "▁██████"; got != want {
		t.Errorf("jump: %q, want %q", got, want)
	}
	if got := spark(times[:3], func(i int) float64 { return float64(i) }, 8); got != "" {
		t.Errorf("of three values: %q", got)
	}
}
