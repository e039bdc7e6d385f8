package hybrid_test

import (
	"fmt"
	"math"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestBellsOfStates draws events and conditions that hold where a state is within a narrow peak: of a bell, a
// Lorentzian and a hat, on a state that moves evenly, and on one that swings.
func TestBellsOfStates(t *testing.T) {
	draws := 400
	if testing.Short() {
		draws = 150
	}
	r := elem.NewRand(15)
	u := func(a, b float64) float64 { return a + r.Float64()*(b-a) }
	methods := []string{"dopri5", "tsit5", "dop853", "vern9", "bs3", "rk4"}
	for range draws {
		c, s := u(10, 90), math.Pow(10, u(-4, math.Log10(5)))
		swings := r.Uint64()%2 == 0
		x, x1 := "x' = 1", ""
		if swings {
			c, s, x, x1 = u(-0.9, 0.9), s/50, "x' = v\nv' = -x", "state v = 1\n"
		}
		var peak string
		half := s // where the peak is 1/2
		switch r.Uint64() % 3 {
		case 0:
			peak, half = fmt.Sprintf("exp(-((x - %.17g)/%.17g)^2)", c, s), s*math.Sqrt(math.Ln2)
		case 1:
			peak = fmt.Sprintf("1/(1 + ((x - %.17g)/%.17g)^2)", c, s)
		default:
			peak, half = fmt.Sprintf("max(0, 1 - abs(x - %.17g)/%.17g)", c, s), s/2
		}
		method := methods[r.Uint64()%uint64(len(methods))]
		settings := []string{"solver.method", method}
		if method == "rk4" {
			settings = append(settings, "solver.fixed_step", []string{"0.1", "0.07", "0.037"}[r.Uint64()%3])
		}
		text := fmt.Sprintf("time t from 0 to 100\nstate x = 0\n%sstate y = 0\ndiscrete n = 0\n%s\n"+
			"y' = if %s > 0.5 then 1 else 0\nevent e when %s > 0.5 { n += 1 }\n"+
			"objective N = final(n)\nobjective Y = final(y)", x1, x, peak, peak)
		count, inside, off := 1.0, 2*half, 1e-6
		if swings {
			// x = sin(t) is in the window twice a turn, unless that contains the start or a turning point.
			lo, hi := c-half, c+half
			if lo >= -1 && hi <= 1 && (lo < 0) == (hi < 0) {
				count, inside = swingsWithin(lo, hi, 100)
				off = 2e-3
			} else {
				continue
			}
		}
		res := modeltest.Run(t, text, settings...)
		n, y := res.Values[0].Value, res.Values[1].Value
		if n != count || math.Abs(y-inside) > off*math.Max(1, inside) {
			t.Errorf("%s, %s, %v: %v firings, want %v; %v inside, want %v", x, peak, settings, n, count, y, inside)
		}
	}
}

// swingsWithin returns how often sin(t) enters [lo, hi], which has neither 0 nor a turn within, until to, and how long
// it is there.
func swingsWithin(lo, hi, to float64) (count, inside float64) {
	a, b := math.Asin(lo), math.Asin(hi)
	for k := -1.0; k < to; k++ {
		for _, w := range [][2]float64{{a, b}, {math.Pi - b, math.Pi - a}} {
			from, until := w[0]+2*math.Pi*k, w[1]+2*math.Pi*k
			if from > 0 && from < to {
				count++
			}
			inside += math.Max(0, math.Min(until, to)-math.Max(from, 0))
		}
	}
	return count, inside
}

// TestHatsOfStates has hats, Lorentzians and bells on a state that moves evenly, as wide as a twentieth of the run and
// less, and modes beside events.
func TestHatsOfStates(t *testing.T) {
	for _, s := range []float64{5, 2, 1, 0.5, 0.2, 0.1, 0.03, 1e-3, 1e-4} {
		for _, c := range []struct {
			peak string
			half float64
		}{
			{"exp(-((x - 50)/%g)^2)", math.Sqrt(math.Ln2)},
			{"1/(1 + ((x - 50)/%g)^2)", 1},
			{"max(0, 1 - abs(x - 50)/%g)", 0.5},
			{"max(1 - abs(x - 50)/%g, 0)", 0.5},
		} {
			peak := fmt.Sprintf(c.peak, s)
			res := modeltest.Run(t, fmt.Sprintf("time t from 0 to 100\nstate x = 0\nstate y = 0\n"+
				"discrete n = 0\ndiscrete m = 0\n"+
				"x' = 1\ny' = if %[1]s > 0.5 then 1 else 0\nevent e when %[1]s > 0.5 { n += 1 }\n"+
				"event f when %[1]s > 0.5 and x < 60 { m += 1 }\n"+
				"objective N = final(n)\nobjective M = final(m)\nobjective Y = final(y)", peak))
			n, m, y := res.Values[0].Value, res.Values[1].Value, res.Values[2].Value
			if n != 1 || m != 1 || math.Abs(y-2*c.half*s) > 1e-9 {
				t.Errorf("%s: %v and %v firings, want 1; %v inside, want %v", peak, n, m, y, 2*c.half*s)
			}
		}
	}
}

// TestPeaksBelowTolerance has a peak so narrow that the dense output passes it at another time than real steps, which
// saw nothing there.
func TestPeaksBelowTolerance(t *testing.T) {
	const c, s = -0.037398707108313278, 2.1881650155987526e-07
	peak := fmt.Sprintf("exp(-((x - %.17g)/%.17g)^2)", c, s)
	res := modeltest.Run(t,
		fmt.Sprintf("time t from 0 to 100\nstate x = 0, v = 1, y = 0\ndiscrete n = 0\nx' = v\nv' = -x\n"+
			"y' = if %[1]s > 0.5 then 1 else 0\nevent e when %[1]s > 0.5 { n += 1 }\nobjective N = final(n)", peak),
		"solver.method", "dop853")
	want, _ := swingsWithin(c-s, c+s, 100)
	if n := res.Values[0].Value; n != want {
		t.Errorf("%v firings, want %v", n, want)
	}
}
