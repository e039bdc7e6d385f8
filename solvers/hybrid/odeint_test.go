package hybrid_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// odeintSteps integrates Lotka and Volterra's equations as Boost.odeint's integrate_adaptive does with a
// controlled_runge_kutta of Cash and Karp's method: its error checker with a_x = a_dxdt = 1, and its step adjuster.
// Only the end is ours: two equal steps rather than a long and a tiny one.
// It returns the steps taken and the state at the end.
func odeintSteps(tol, h, end float64) (steps int, x [2]float64) {
	a := [6][5]float64{
		{},
		{1. / 5},
		{3. / 40, 9. / 40},
		{3. / 10, -9. / 10, 6. / 5},
		{-11. / 54, 5. / 2, -70. / 27, 35. / 27},
		{1631. / 55296, 175. / 512, 575. / 13824, 44275. / 110592, 253. / 4096},
	}
	b := [6]float64{37. / 378, 0, 250. / 621, 125. / 594, 0, 512. / 1771}
	bh := [6]float64{2825. / 27648, 0, 18575. / 48384, 13525. / 55296, 277. / 14336, 1. / 4}
	f := func(x [2]float64) [2]float64 {
		return [2]float64{1.1*x[0] - 0.4*x[0]*x[1], -0.4*x[1] + 0.1*x[0]*x[1]}
	}
	x = [2]float64{10, 5}
	for t := 0.0; t < end; {
		left := end - t
		last := h >= left || left < 1.01*h
		if last {
			h = left
		} else {
			h = min(h, left/2)
		}
		var k [6][2]float64
		for s := range 6 {
			y := x
			for j := range s {
				for i := range 2 {
					y[i] += h * a[s][j] * k[j][i]
				}
			}
			k[s] = f(y)
		}
		next, worst := x, 0.0
		for i := range 2 {
			e := 0.0
			for s := range 6 {
				next[i] += h * b[s] * k[s][i]
				e += h * (b[s] - bh[s]) * k[s][i]
			}
			worst = max(worst, math.Abs(e)/(tol+tol*(math.Abs(x[i])+h*math.Abs(k[0][i]))))
		}
		if worst > 1 {
			h *= max(0.9*math.Pow(worst, -1./(4-1)), 0.2)
			continue
		}
		x = next
		t += h
		if last {
			t = end
		}
		steps++
		if worst < 0.5 {
			h *= 0.9 * math.Pow(max(worst, math.Pow(5, -5)), -1./5)
		}
	}
	return steps, x
}

// TestOdeint takes the steps of Boost.odeint: its rule for lengths and its norm of errors.
func TestOdeint(t *testing.T) {
	m, err := odes.Parse("lv.ode", `time t from 0 to 20
param a = 1.1, b = 0.4, c = 0.4, d = 0.1
state x = 10, y = 5
x' = a*x - b*x*y
y' = -c*y + d*x*y
objective x_T = final(x)
objective y_T = final(y)
solver { method = ck45  controller = odeint  stability = off  h0 = 1e-3 }
sens   { trust = off }
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tol := range []float64{1e-4, 1e-6, 1e-8, 1e-10} {
		text := fmt.Sprint(tol)
		s, err := m.Sensitivities(t.Context(), odes.Options{Settings: modeltest.Settings(
			"solver.rtol", text, "solver.atol", text,
		)})
		if err != nil {
			t.Fatal(err)
		}
		steps, x := odeintSteps(tol, 1e-3, 20)
		if s.Stats.Steps != steps || !(math.Abs(s.Values[0].Value-x[0]) <= 1e-9*x[0]) {
			t.Errorf("at %g: %d steps to x = %.12g, want %d to %.12g", tol, s.Stats.Steps, s.Values[0].Value, steps,
				x[0])
		}
	}
}

// TestBump compares differences of a chosen bump with the closed form of such a difference: J = exp(-k).
func TestBump(t *testing.T) {
	m, err := odes.Parse("m.ode", "time t from 0 to 1\nparam k = 0.5\nstate x = 1\nx' = -k*x\nobjective J = final(x)\n"+
		"solver { method = vern9  rtol = 1e-14  atol = 1e-16 }\nsens { mode = differences  trust = off }\n",
		odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []float64{0.25, 1e-2, 1e-6} {
		s, err := m.Sensitivities(t.Context(), odes.Options{
			Wrt: []string{"k", "initial(x)"},
			Settings: modeltest.Settings(
				"sens.bump", fmt.Sprint(h),
			),
		})
		if err != nil {
			t.Fatal(err)
		}
		want := -math.Exp(-0.5) * math.Sinh(h) / h
		if got := s.Gradient[0]; !(math.Abs(got-want) <= 1e-14/h+1e-13) {
			t.Errorf("bump %g: dJ/dk = %.15g, want %.15g", h, got, want)
		}
		if got := s.Gradient[1]; !(math.Abs(got-math.Exp(-0.5)) <= 1e-14/h+1e-13) {
			t.Errorf("bump %g: dJ/dx0 = %.15g", h, got)
		}
	}
	for _, wrong := range []string{"0", "-1", "x"} {
		if _, err := m.Sensitivities(t.Context(), odes.Options{Settings: modeltest.Settings("sens.bump",
			wrong)}); err == nil ||
			!strings.Contains(err.Error(), "sens.bump") {
			t.Errorf("bump = %s: %v", wrong, err)
		}
	}
}
