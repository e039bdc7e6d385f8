package run

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/result"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/methods"
)

// wholeOrNot computes a gradient stage by stage and by whole steps. They must agree in every bit, and
// in their errors. It returns the error.
func wholeOrNot(t *testing.T, m *tested, o Options) error {
	t.Helper()
	run := func(from int) (*result.Sensitivities, error) {
		o.compileAfter = &compiled.CompileAfter{Small: from}
		r, err := m.Prepare(o)
		if err != nil {
			t.Fatal(err)
		}
		s, err := r.Sensitivities(context.Background())
		step, _ := r.worker.StepStats()
		if made := step != nil; simd.Backend() != simd.Generic && made != (from == 0) {
			t.Errorf("%v: compiled steps: %v", o.Settings, made)
		}
		return s, err
	}
	want, wantErr := run(math.MaxInt)
	got, gotErr := run(0)
	if wantErr != nil || gotErr != nil {
		if wantErr == nil || gotErr == nil || wantErr.Error() != gotErr.Error() {
			t.Errorf("%v: %v; when compiled: %v", o.Settings, wantErr, gotErr)
		}
		return gotErr
	}
	same := func(what string, want, got []float64) {
		t.Helper()
		if len(want) != len(got) {
			t.Errorf("%v: %d %s, %d when compiled", o.Settings, len(want), what, len(got))
			return
		}
		for i, x := range want {
			if math.Float64bits(x) != math.Float64bits(got[i]) {
				t.Errorf("%v: number %d of the %s is %v, %v when compiled", o.Settings, i, what, x, got[i])
				return
			}
		}
	}
	if a, b := want.Stats, got.Stats; a.Steps != b.Steps || a.Rejected != b.Rejected {
		t.Errorf("%v: %d steps and %d rejected, %d and %d when compiled", o.Settings, a.Steps, a.Rejected, b.Steps,
			b.Rejected)
	}
	for i := range want.Values {
		same("values", []float64{want.Values[i].Value}, []float64{got.Values[i].Value})
	}
	same("derivatives", want.Gradient, got.Gradient)
	same("errors", want.Errors, got.Errors)
	return nil
}

// TestWholeStepsOfAllMethods runs every method on a quadrature, on events and on two systems that take
// turns. It also estimates errors, which takes two more runs.
func TestWholeStepsOfAllMethods(t *testing.T) {
	for _, file := range []string{
		"../../../examples/pk/pk.ode", "../../../examples/thermostat/thermostat.ode",
		"../../../examples/switched/switched.ode",
	} {
		m, err := ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range methods.All() {
			if method.Can.Has(solvers.SplitRates) { // imex_test.go
				continue
			}
			if method.Can.Has(solvers.NeedsJacobian) { // its steps are not compiled
				continue
			}
			o := Options{Threads: 1, EventTimes: true, Settings: []Setting{
				{Key: "solver.method", Value: method.Name},
				{Key: "solver.rtol", Value: "1e-3"},
				{Key: "solver.atol", Value: "1e-5"},
				{Key: "sens.trust", Value: "off"},
			}}
			if err := wholeOrNot(t, m, o); err != nil {
				t.Errorf("%s, %s: %v", file, method.Name, err)
			}
		}
		o := Options{Threads: 1, Settings: []Setting{
			{Key: "sens.error", Value: "on"},
			{Key: "solver.rtol", Value: "1e-4"},
		}}
		if err := wholeOrNot(t, m, o); err != nil {
			t.Errorf("%s, with errors: %v", file, err)
		}
	}
}

// TestWholePeaks reads largest values at all samples of a step at once: of arrays and scalars, with what happens in a
// run, with what does not move, and where only some are asked for.
func TestWholePeaks(t *testing.T) {
	m, err := Parse("m.ode", `
time t from 0.2 to 6
param a = 1.5, b = 1, c = 3, d = 1, s = 2
state x = 1, y = 1
state u[3] = [1, 0, a]
discrete n = 1
x' = a*x - b*x*y
y' = -c*y + d*x*y + 0.1*sin(5*t)
u[1]' = u[2]
u[2]' = -s*u[1] - 0.1*u[2]
u[3]' = if x > 2 then -u[3] else 0.3*cos(t)
event cull when x > 5 { x = 0.8*x  n += 0.5 }
event dose at 2*b { y += 0.3*d }
objective A = max_over(x*n)
objective B = max_over(u)
objective C = max_over(if y > 1 then 2*y else y^2 + 1) - max_over(-x)
objective D = max_over(abs(u[1] - 0.2*x) + t*s)
objective E = max_over(n*s)
objective G = max_over(x - 3*abs(t - a) - abs(t - 2)*y) + max_over(mod(t, 1.3)*x)
objective F = max_over(noevent(if t > 3 then u[1] else x)) + final(x)
`, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	methods := []string{"dopri5", "tsit5", "bs3", "dop853", "vern7", "heun", "rk4", "auto", "rodas5p", "ros3p"}
	for i, method := range methods {
		for _, of := range [][]string{nil, {"C"}, {"E", "G"}, {"A", "D"}} {
			o := Options{Threads: 1, Of: of, Lanes: i % 3, Settings: []Setting{
				{Key: "solver.method", Value: method},
				{Key: "solver.rtol", Value: "1e-5"},
				{Key: "sens.trust", Value: "off"},
				{Key: "sens.mode", Value: []string{"adjoint", "tangent"}[i%2]},
			}}
			if err := wholeOrNot(t, m, o); err != nil {
				t.Errorf("%s, %v: %v", method, of, err)
			}
		}
	}
	if n := m.System.StepPrograms().Peaks; simd.Backend() != simd.Generic && n < 5 {
		t.Errorf("%d programs of readings", n)
	}
}

// TestWholePeaksOfUnknowns has algebraic unknowns, which are in no step as a whole.
func TestWholePeaksOfUnknowns(t *testing.T) {
	m, err := Parse("m.ode", `
time t from 0 to 6
param a = 1.5
state x = 1
alg z = 1
x' = a*cos(2*t) - x*z
0 = z - x^2 - 1
objective A = max_over(z)
objective B = max_over(x - z) + max_over(a*x)
`, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"rodas5p", "radau5", "auto"} {
		var got [2]*result.Sensitivities
		for i, after := range [2]int{0, math.MaxInt} {
			got[i], err = m.Sensitivities(t.Context(), Options{
				Threads: 1, compileAfter: &compiled.CompileAfter{Small: after, Large: after}, Settings: []Setting{
					{Key: "solver.method", Value: method}, {Key: "sens.trust", Value: "off"},
				},
			})
			if err != nil {
				t.Fatal(method, err)
			}
		}
		if !slices.Equal(got[0].Gradient, got[1].Gradient) {
			t.Errorf("%s: %v, and stage by stage %v", method, got[0].Gradient, got[1].Gradient)
		}
	}
}

// TestWholeStepsThatFail checks that a trial step which is NaN is rejected, with the same errors as
// stage by stage.
func TestWholeStepsThatFail(t *testing.T) {
	for _, c := range []struct {
		name, rate string
		settings   []Setting
		fails      any // a pointer to the error's type; nil: rejections, no failure
		rejections bool
	}{
		// Behind zero the root is no number, which long first steps meet.
		{"rejected", "-r*sqrt(x)*x", []Setting{{Key: "solver.h0", Value: "30"}}, nil, true},
		// It falls on behind zero, where the logarithm is no number and nothing extends it.
		{"underflow", "-r*(1 + x*log(x))", nil, new(*solvers.StepUnderflowError), true},
		{
			"fixed", "-r*(1 + x*log(x))",
			[]Setting{{Key: "solver.fixed_step", Value: "0.03"}},
			new(*solvers.NonFiniteError),
			false,
		},
		{
			"blows up", "r*x^2",
			[]Setting{{Key: "solver.fixed_step", Value: "0.25"}},
			new(*solvers.NonFiniteError),
			false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Parse("fail.ode", `
time t from 0 to 40
param r = 1
state x = 1
state y = 0
x' = `+c.rate+`
y' = x
objective y_T = final(y)
objective area = integral(x*y)
`, ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			o := Options{Threads: 1, Settings: append(c.settings, Setting{Key: "solver.method", Value: "dopri5"})}
			err = wholeOrNot(t, m, o)
			if c.fails == nil && err != nil || c.fails != nil && !errors.As(err, c.fails) {
				t.Errorf("%v, want %v", err, reflect.TypeOf(c.fails))
			}
			if err == nil && c.rejections {
				s, err := m.Sensitivities(context.Background(), o)
				if err != nil || s.Stats.Rejected == 0 {
					t.Errorf("no trial step was rejected: %v", err)
				}
			}
		})
	}
}

// stopAt is a context that is cancelled when it is asked for the n-th time, so
// that a run stops at the same step every time.
type stopAt struct {
	context.Context
	n int
}

func (c *stopAt) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

// TestWholeStepsStop checks that a run of whole steps can be cancelled between two of them, forwards
// and backwards, and that its Runner can be used afterwards.
func TestWholeStepsStop(t *testing.T) {
	m, err := ParseFile("../../../examples/pk/pk.ode")
	if err != nil {
		t.Fatal(err)
	}
	all, err := m.Sensitivities(context.Background(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	steps := all.Stats.Steps
	for _, n := range []int{0, 1, steps / 2, steps + steps/2} { // the last on the way back
		var want []float64
		var message string
		for _, after := range []int{math.MaxInt, 0} {
			r, err := m.Prepare(Options{Threads: 1, compileAfter: &compiled.CompileAfter{Small: after}})
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.Sensitivities(&stopAt{context.Background(), n})
			if !explain.Interrupted(err) {
				t.Fatalf("stopped after %d: %v", n, err)
			}
			text := err.Error()
			s, err := r.Sensitivities(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want, message = s.Gradient, text
			}
			if text != message {
				t.Errorf("stopped after %d: %q, %q when compiled", n, message, text)
			}
			for i, x := range s.Gradient {
				if math.Float64bits(x) != math.Float64bits(want[i]) {
					t.Fatalf("stopped after %d: derivative %d is then %v, %v when compiled", n, i, want[i], x)
				}
			}
		}
	}
}
