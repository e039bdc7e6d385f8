package lag_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestGapsComeBack checks models with so many delays that what comes back of breaks of high order is not looked for. No
// step may continue what it reads beyond such a break: error control would not see that, at any tolerance.
func TestGapsComeBack(t *testing.T) {
	// What objectives read changes no state.
	moving := &system{
		names:  []string{"tau1", "tau2", "s", "i", "q", "a", "c", "T", "d", "u0"},
		p:      []float64{0.5, 1.5, 0.0346, -0.06, 0.16, 0.61, -0.93, 2, 0.95, 0.8},
		delays: []delayed{{0, 1, -1}, {1, 1, 2}}, initial: []int{3}, pasts: []pastOf{{p: 3, q: 4}}, setting: 9,
		rates: [][]term{{{reading{formState, 0, -1}, 5, 0, -1}, {reading{formState, 0, 0}, 6, 0, -1}}},
		kicks: []kick{{7, 8, 0, 0}}, end: 4.5, reads: []float64{2.75},
		read: [3]reading{{formState, 0, 1}, {formPlus, 0, 1}, {formTimes, 0, 1}},
	}
	many := &system{
		names: []string{"i", "q", "u0"}, p: []float64{0.7, 0.4, 0.3}, initial: []int{0}, pasts: []pastOf{{p: 0, q: 1}},
		setting: 2, rates: [][]term{nil}, end: 3, reads: []float64{1},
		read: [3]reading{{formState, 0, -1}, {formState, 0, -1}, {formState, 0, -1}},
	}
	for i := range 16 {
		at := len(many.p)
		many.names = append(many.names, fmt.Sprintf("tau%d", i), fmt.Sprintf("c%d", i))
		many.p = append(many.p, 0.3+0.117*float64(i), 0.5*math.Cos(float64(i)))
		many.delays = append(many.delays, delayed{at, 1, -1})
		many.rates[0] = append(many.rates[0], term{reading{formState, 0, i}, at + 1, 0, -1})
	}
	for name, m := range map[string]*system{"moving": moving, "many": many} {
		want, ok := m.solve(m.p)
		if !ok {
			t.Fatal(name)
		}
		for _, method := range []string{"dop853", "tsit5"} {
			model, err := odes.Parse("gaps.ode", m.text(), odes.ParseOptions{})
			if err != nil {
				t.Fatalf("%v\n%s", err, m.text())
			}
			r, err := model.Sensitivities(context.Background(), odes.Options{
				Wrt:      m.names[:1],
				Settings: modeltest.Settings("solver.rtol", "1e-12", "solver.method", method),
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range want {
				if got := r.Values[i].Value; !(math.Abs(got-v) <= 1e-10*max(1, math.Abs(v))) {
					t.Errorf("%s, %s: %s = %.14g, want %.14g", name, method, r.Values[i].Name, got, v)
				}
			}
		}
	}
}

// TestReadByObjectivesAlone: a delay that moves reads one state with a past and one without. What is read with a past
// is no part of the rates, so no condition of the model meets the time at which the delay leaves the start. A step ends
// there all the same, since the other state has a kink: an integral of that would be wrong.
func TestReadByObjectivesAlone(t *testing.T) {
	const text = `
time t from 0 to 4
param tau = 0.358, s = 0.1472
state x = 0.7, z = 0.1
past z = 0.5 + t
x' = 0.3 - 0.1*x
z' = -z
objective area = integral(delay(x, tau + s*t))
objective sum = sum_at([1], delay(z, tau + s*t))
`
	// x is 0.7 up to the time from on, and 3 - 2.3 exp(-0.1 u) after that.
	const tau, s, end = 0.358, 0.1472, 4.0
	from, k := tau/(1-s), 0.1*(1-s)
	decay := 1 - math.Exp(-k*(end-from))
	area := 0.7*from + 3*(end-from) - 2.3*decay/k
	byTau := -2.3 * decay / (1 - s) // x' at u is 0.23 exp(-0.1 u)
	for _, method := range []string{"tsit5", "dop853", "radau9"} {
		r := modeltest.Run(t, text, "solver.rtol", "1e-10", "sens.wrt", "[tau]", "solver.method", method)
		if got := r.Values[0].Value; !(math.Abs(got-area) <= 1e-9) {
			t.Errorf("%s: %.14g, want %.14g", method, got, area)
		}
		if got := r.Gradient[0]; !(math.Abs(got-byTau) <= 1e-8) {
			t.Errorf("%s: derivative %.14g, want %.14g", method, got, byTau)
		}
		if got, want := r.Values[1].Value, math.Exp(-(1-tau-s))*0.1; !(math.Abs(got-want) <= 1e-9) {
			t.Errorf("%s: sum %.14g, want %.14g", method, got, want)
		}
	}
}

// TestEarlyJump: a jump soon after the start comes back at a time that rounds by more than the time of the jump does.
// The derivative has its term all the same.
func TestEarlyJump(t *testing.T) {
	const text = `
time t from 0 to 1
param tau = 0.3788, T = %v, j = -0.24
state x = 0.5, z = 0
past x = -0.8
x' = -0.5*x
z' = 1
event kick when z > T { x += j }
objective area = integral(delay(x, tau))
`
	const tau, j = 0.3788, -0.24
	for _, at := range []float64{3e-9, 1.3e-5, 0.0003, 0.0006, 0.00065, 0.0007} {
		for _, mode := range []string{"adjoint", "tangent"} {
			s := modeltest.Run(t, fmt.Sprintf(text, at), "solver.rtol", "1e-10", "sens.mode", mode, "sens.wrt", "[T]")
			if got, want := s.Gradient[0], -j*math.Exp(-0.5*(1-tau-at)); !(math.Abs(got-want) <= 1e-8) {
				t.Errorf("jump at %v, %s: derivative %.12g, want %.12g", at, mode, got, want)
			}
		}
	}
}
