package system_test

import (
	"fmt"
	"math"
	"testing"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/system"
)

// TestNextSwitch asks for the times at which conditions change: the first float at which they, as computed, are
// others.
func TestNextSwitch(t *testing.T) {
	const saw = "(if cos(pi*(2*t - 0.5)) < 0 then 3 else 1)/4 + atan(tan(pi*(2*t - 0.5)))/(2*pi)"
	after := func(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }
	for _, c := range []struct {
		cond        string
		from, limit float64
		want        float64
	}{
		{"t >= a", 0, 10, 0.7},
		{"t > a", 0, 10, after(0.7)},
		{"t < a", 0, 10, 0.7},
		{"t <= a", 0, 10, after(0.7)},
		{"not (a > t)", 0, 10, 0.7},
		{"t >= a", 0, 0.7, 0.7},
		{"t > a", 0, 0.7, math.Inf(1)},
		{"t >= a", 0.7, 10, math.Inf(1)},
		{"t > a", 0.7, 10, after(0.7)},
		{"t > a and t < 0.1", 0, 10, 0.1}, // the first of its comparisons
		{"t > 1e6 + a", 0, 1e7, after(1e6 + 0.7)},
		{"t > 1e6 + a", 1e6, 1e6 + 1, after(1e6 + 0.7)},
		{"a*1e-12*t >= a*1e-12*3", 0, 1e6, 3},
		{"-1e12*(t - a) <= 0", 0, 1e6, 0.7},
		{"t > 0", -1, 1, math.Ldexp(1, -69)}, // nearer times are not told from 0
		{"t*t >= 4", 0, 10, 2},
		{"(t - 1)*(t - 1.0001) < 0", 0, 10, after(1)},
		{"a > 0.5", 0, 10, math.Inf(1)},
		{"x > t", 0, 10, math.Inf(1)}, // not of time alone
		{"floor(t) > 2", 0.5, 10, 1},
		{"mod(t, 4) > 3.5", 0, 10, after(3.5)},
		// Next to a pole of tan, 0.25 takes all of times below 1e-17.
		{saw + " < 0.35", 0, 10, 0.35},
		{saw + " <= 0", 0, 10, 0x1p-56},
	} {
		m := modelOf(t, fmt.Sprintf("time t from 0 to 1\nparam a = 0.7\nstate x = 0\nx' = if %s then 1 else 0\n"+
			"objective J = final(x)\n", c.cond))
		p := system.NewProblem(m, pointOf(t, m), []int{0}, nil)
		k, err := p.Kit(1, compiled.Values, false)
		if err != nil {
			t.Fatal(err)
		}
		w := p.Worker(k)
		y, modes := []float64{0}, make([]float64, p.Size().M)
		w.Start(c.from, y, nil)
		w.Enter(nil, modes)
		w.Choose(c.from, y, nil, modes)
		w.Enter(nil, modes)
		got := w.NextSwitch(c.from, c.limit)
		if math.Abs(got-c.want) > 1e-20 && !(c.want < 1e-20 && got > 0 && got <= c.want) {
			t.Errorf("%s changes behind %v at %v, want %v", c.cond, c.from, got, c.want)
		}
	}
}
