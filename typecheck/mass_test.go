package typecheck

import (
	"math"
	"testing"
)

// TestPriorMass compares with 40-digit values of mpmath 1.3.0.
func TestPriorMass(t *testing.T) {
	inf := math.Inf(1)
	for _, k := range []struct {
		name   string
		v      map[string]float64
		lo, hi float64
		want   float64
	}{
		{"normal", map[string]float64{"mean": 1, "sd": 2}, -1, 2.5, 0.61471739369167475},
		{"normal", map[string]float64{"mean": 0, "sd": 1}, 6, 8, 9.8658702294164071e-10},
		{"normal", map[string]float64{"mean": 0, "sd": 1}, -inf, -7, 1.279812543885835e-12},
		{"lognormal", map[string]float64{"mu": 0.5, "sd": 0.7}, 0.1, 10, 0.99495857625592256},
		{"lognormal", map[string]float64{"mu": 0.5, "sd": 0.7}, -1, 1, 0.2375252620269765},
		{"laplace", map[string]float64{"mu": 1, "b": 0.5}, 0, 3, 0.92317453893732656},
		{"exponential", map[string]float64{"lambda": 2}, 1, 20, 0.13533528323661269},
		{"student", map[string]float64{"nu": 3, "mu": 0, "s": 1}, -1, 2.5, 0.76064556701808191},
		{"student", map[string]float64{"nu": 3, "mu": 0, "s": 1}, 10, 100, 0.0010630972682454826},
		{"student", map[string]float64{"nu": 30.5, "mu": 0, "s": 1}, 0, 0.3, 0.1168938258484777},
		{"student", map[string]float64{"nu": 1, "mu": 0, "s": 1}, 0, inf, 0.5},
		{"gamma", map[string]float64{"shape": 2.5, "lambda": 2}, 0.1, 3, 0.96054181272962858},
		{"gamma", map[string]float64{"shape": 2.5, "lambda": 2}, 10, inf, 1.4933679000503952e-7},
		{"gamma", map[string]float64{"shape": 0.3, "lambda": 2}, 0, 0.01, 0.34299751585698791},
		{"gamma", map[string]float64{"shape": 50, "lambda": 1}, 40, 60, 0.84525825224691322},
		{"beta", map[string]float64{"a": 2, "b": 3}, 0.1, 0.6, 0.7685},
		{"beta", map[string]float64{"a": 0.5, "b": 0.5}, 0.9, 1, 0.20483276469913345},
		{"beta", map[string]float64{"a": 20, "b": 3}, 0, 0.5, 6.0558319091796875e-5},
		{"uniform", map[string]float64{"lo": 1, "hi": 3}, 0, 2, 0.5},
		{"uniform", map[string]float64{"lo": 1, "hi": 3}, 4, 5, 0},
	} {
		got := priorMass(k.name, k.v, k.lo, k.hi)
		if !(math.Abs(got-k.want) <= 3e-14*k.want) {
			t.Errorf("%s%v in [%g, %g]: %.17g, want %.17g", k.name, k.v, k.lo, k.hi, got, k.want)
		}
	}
}
