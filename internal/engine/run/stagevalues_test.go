package run

import (
	"context"
	"fmt"
	"math"
	"testing"
)

// layered is a neural network with an event, a discrete value and a mode. The rates of two thousand hidden values are
// functions of the state.
const layered = `model layered
const B = %d
const H = %d
time t from 0 to 3
param w[3,H] = 0.3
param u[H,3] = 0.1
param s = 0.5
discrete g = 1
state x[B,3] = 0.2
let first[i,j] = g*(0.01*i - 0.02*j*t) for i in 1:B, j in 1:H
let a = tanh(x @ w + first)
x' = s*(a @ u) - (if x[1,2] > 0.25 then 0.3 else 0.1)*x
event kick when x[B,1] > 0.3 { g = g + s  x = 0.5*x }
event late at 2 { g = 0.7*g }
objective F = final(sum(x^2))
objective M = integral(x[1,2]^2)
objective E = at_event(kick, pre(x[B,3]))
sens { of = [%s] wrt = [w, u, s] mode = adjoint error = off trust = off }
solver { method = %s %s }
`

// TestStageValues compares the first gradient of a Runner, whose transposes compute everything, with the next ones,
// which read what was kept of the stages, and with others after params have changed.
func TestStageValues(t *testing.T) {
	for _, c := range []struct {
		batch, hidden    int
		of, method, more string
	}{
		{40, 50, "F", "dopri5", "rtol = 1e-6"},
		{40, 50, "F, M, E", "dopri5", "rtol = 1e-4 checkpoint = states(3)"},
		{40, 50, "M, F", "vern7", "rtol = 1e-6 checkpoint = binomial(4)"},
		{40, 50, "F", "rk4", "fixed_step = 0.02"},
		{40, 50, "F, E", "tsit5", "rtol = 1e-5 h0 = 2"},
		{1, 2000, "F, E", "dopri5", "rtol = 1e-6"}, // few states, which are copied to where they stay bound
		{40, 50, "F", "rodas5p", "rtol = 1e-4"},
	} {
		m, err := Parse("layered.ode", fmt.Sprintf(layered, c.batch, c.hidden, c.of, c.method, c.more), ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		prepared := func(with ...Setting) *Runner {
			r, err := m.Prepare(Options{Threads: 2, Settings: with})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		gradient := func(r *Runner) []float64 {
			s, err := r.Sensitivities(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			g := append([]float64(nil), s.Gradient...)
			for i := range s.Values {
				g = append(g, s.Values[i].Value)
			}
			return g
		}
		r := prepared()
		for i, s := range []float64{0.5, 0.5, 0.6, 0.6, 0.5} {
			set := Assignment{Name: "s", Values: []float64{s}}
			other := prepared(Setting{"solver.checkpoint", "all"})
			for _, r := range []*Runner{r, other} {
				if err := r.Set(set); err != nil {
					t.Fatal(err)
				}
			}
			before := 0
			if r.kept != nil {
				before = r.kept.Read()
			}
			got, want := gradient(r), gradient(other)
			if r.kept == nil {
				t.Fatalf("%+v: nothing is kept", c)
			}
			if read := r.kept.Read() - before; read < 50 && i > 0 {
				t.Errorf("%+v: gradient %d reads %d stages", c, i, read)
			}
			if n := other.kept.Read(); n != 0 {
				t.Errorf("%+v: a first gradient reads %d stages", c, n)
			}
			for k, x := range got {
				if math.Float64bits(x) != math.Float64bits(want[k]) {
					t.Errorf("%+v: number %d of gradient %d is %v, want %v", c, k, i, x, want[k])
					break
				}
			}
		}
	}
}
