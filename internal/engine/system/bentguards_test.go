package system_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/solvers"
)

// workerOf returns a worker of a text, at its start.
func workerOf(t *testing.T, text string) (*system.Worker, []float64) {
	t.Helper()
	m := modelOf(t, text)
	p := system.NewProblem(m, pointOf(t, m), []int{0}, nil)
	k, err := p.Kit(1, compiled.Values, false)
	if err != nil {
		t.Fatal(err)
	}
	w := p.Worker(k)
	_, y := w.AtStart()
	return w, y
}

// TestBentGuards tells guards that are affine in time and states from others, and knows the states that these read.
func TestBentGuards(t *testing.T) {
	for _, c := range []struct {
		when           string
		guards, states int
	}{
		{"x > 1", 0, 0},
		{"k^2*x + t > exp(k)*v", 0, 0},
		{"x > 1 and v < 2", 0, 0}, // and its atoms
		{"t^2 > 3", 0, 0},
		{"sin(k*t) > 0.5", 0, 0},
		{"x > sin(t)", 1, 1},
		{"x*v > 1", 1, 2},
		{"max(0, x) > 0.5", 1, 1},
		{"x > 1 and exp(v) < 2", 1, 1}, // the second atom alone
	} {
		w, _ := workerOf(t, fmt.Sprintf("time t from 0 to 1\nparam k = 2\nstate u = 0, x = 0, v = 1\ndiscrete n = 0\n"+
			"u' = 1\nx' = v\nv' = -x\nevent e when %s { n += 1 }\nobjective J = final(x) + final(n)\n", c.when))
		if guards, states := w.Bent(); len(guards) != c.guards || len(states) != c.states {
			t.Errorf("%s: bent guards %v of states %v, want %d and %d", c.when, guards, states, c.guards, c.states)
		}
	}
}

// TestEnclose compares enclosures of guards, and of their slopes, with values at points of boxes.
func TestEnclose(t *testing.T) {
	w, y := workerOf(t, `time t from 0 to 10
param k = 2
state u = 0, x = 0, v = 1
discrete n = 0
u' = 1
x' = v
v' = -x
event a when exp(-((x - 0.3)/0.1)^2) > 0.5 { n += 1 }
event b when x*v/(1 + k*x^2) > sin(k*t) { n += 1 }
event c when max(0, 1 - abs(v - 0.2)) > 0.5 { n += 1 }
event d when x > 0.5 { n += 1 }
objective J = final(x) + final(n)
`)
	guards, states := w.Bent()
	if !slices.Equal(guards, []int{0, 1, 2}) || len(states) != 2 {
		t.Fatalf("bent guards %v of states %v", guards, states)
	}
	all := len(w.Guards())
	rho, later, truth := make([]float64, all), make([]float64, all), make([]bool, all)
	box, rates := make([]solvers.Range, len(states)), make([]solvers.Range, len(states))
	bounds, slopes := make([]solvers.Range, len(guards)), make([]solvers.Range, len(guards))
	r := rand.New(rand.NewPCG(seeds.Of(t, 1), 2))
	in := func(a solvers.Range) float64 { return a.Lo + r.Float64()*(a.Hi-a.Lo) }
	for range 300 {
		at := solvers.Range{Lo: 10 * r.Float64()}
		at.Hi = at.Lo + 0.2*r.Float64()
		for j := range states {
			box[j].Lo, rates[j].Lo = 4*r.Float64()-2, 4*r.Float64()-2
			box[j].Hi, rates[j].Hi = box[j].Lo+0.3*r.Float64(), rates[j].Lo+0.3*r.Float64()
		}
		w.Enclose(at, box, rates, bounds, slopes)
		for range 10 {
			const h = 1e-7
			now, rate := in(at), make([]float64, len(states))
			for j, i := range states {
				y[i], rate[j] = in(box[j]), in(rates[j])
			}
			w.GuardValues(now, y, rho, truth)
			for j, i := range states {
				y[i] += h * rate[j]
			}
			w.GuardValues(now+h, y, later, truth)
			for g, i := range guards {
				if b := bounds[g]; !(b.Lo <= rho[i] && rho[i] <= b.Hi) {
					t.Fatalf("guard %d is %v, not in %v", i, rho[i], b)
				}
				const off = 1e-3
				if d, s := (later[i]-rho[i])/h, slopes[g]; d < s.Lo-off || d > s.Hi+off {
					t.Fatalf("the slope of guard %d is %v, not in %v", i, d, s)
				}
			}
		}
	}
}
