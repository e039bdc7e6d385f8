package lag_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/internal/testing/seeds"
)

// switched reads earlier values of discretes, which events set at times and where a condition comes true.
const switched = `
time t from 0 to 6
param a = %v, b = %v, tau = %v, rho = %v, t1 = %v, t2 = %v, d0 = %v, c = %v, level = %v
discrete d = [d0, d0*c]
discrete u = c
state x = 0, y = 1
x' = delay(d[1]*u, tau) + b*delay(d[2], rho) - a*x + delay(u*x, rho)/4
y' = -a*y*(1 + delay(u, rho)^2/8)
event first at t1 { d[1] = d[1] + c*x; u = u/2 }
event again every rho from t2 { d = [d[2], d[1] + 0.1]; u += b/4 }
event low when y < level { d[2] = c + y; x += 0.1 }
objective final = final(x) + final(delay(u, tau))
objective points = sum_at([2.345, 4.321], x*y)
objective area = integral(delay(d[2]*x, tau) - y*u)
`

// TestDiscretes: earlier values of discretes are those of states without rates that events set alike, in values and in
// derivatives.
func TestDiscretes(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 2), 59))
	u := func(lo, hi float64) float64 { return math.Round((lo+(hi-lo)*r.Float64())*1e4) / 1e4 }
	for range max(*models/4, 1) {
		text := fmt.Sprintf(switched, u(0.4, 1), u(-1, 1), u(0.3, 1.7), u(0.6, 1.7), u(0.2, 2), u(0.3, 3), u(-1, 1),
			u(0.5, 1.5), u(0.1, 0.5))
		states := strings.NewReplacer("discrete d", "state d", "discrete u = c", "state u = c\nd' = [0, 0]\nu' = 0").
			Replace(text)
		method := drawn[r.IntN(len(drawn))]
		var want map[string]expected
		var by []string
		for k, text := range []string{states, text, text} {
			m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := m.Sensitivities(context.Background(), odes.Options{Settings: []odes.Setting{
				{Key: "solver.rtol", Value: "1e-11"},
				{Key: "sens.mode", Value: []string{"adjoint", "tangent"}[k%2]},
				{Key: "sens.trust", Value: "off"},
				{Key: "solver.method", Value: method},
			}})
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if k > 0 {
				check(t, s, want, by, 1e-8, 1e-6)
			} else {
				want = map[string]expected{}
			}
			for i := range s.Values {
				e := expected{s.Values[i].Value, map[string]float64{}}
				for _, v := range s.Variables {
					if name := v.String(); name != "initial(d)" && name != "initial(u)" {
						e.by[name] = s.Derivative(i, v)[0]
						by = append(by, name)
					}
				}
				if k == 0 {
					want[s.Values[i].Name] = e
				}
			}
			if t.Failed() {
				t.Fatalf("%s %d\n%s", method, k, text)
			}
		}
	}
}

// TestDiscreteClosed compares with a closed form: x' = delay(d, tau), where d is d0 up to t1 and d0 + c behind it.
func TestDiscreteClosed(t *testing.T) {
	m, err := odes.Parse("m.ode", `
time t from 0 to 5
param t1 = 1.25, tau = 2.5, d0 = 0.5, c = 3
discrete d = d0
state x = 0
x' = delay(d*t, tau)
event e at t1 { d += c }
objective J = final(x)
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"adjoint", "tangent"} {
		s, err := m.Sensitivities(context.Background(), odes.Options{Settings: []odes.Setting{
			{Key: "solver.rtol", Value: "1e-12"}, {Key: "sens.mode", Value: mode},
		}})
		if err != nil {
			t.Fatal(err)
		}
		// x(5) = ∫ d0 (s - tau) + c ∫ (s - tau) from t1 + tau = d0 (12.5 - 12.5) + c (2.5² - t1²)/2.
		check(t, s, map[string]expected{"J": {3 * (6.25 - 1.5625) / 2, map[string]float64{
			"t1": -3 * 1.25, "tau": -0.5*5 - 3*2.5, "d0": 0, "c": (6.25 - 1.5625) / 2,
		}}}, []string{"t1", "tau", "d0", "c"}, 1e-11, 1e-9)
	}
}

// TestValues: values alone of what objectives read of the past are those that come with derivatives.
func TestValues(t *testing.T) {
	m, err := odes.Parse("m.ode", `
time t from 0 to 4
param k = 0.7, tau = 0.9
state x = 1
x' = -k*delay(x, tau)
objective J = final(delay(x, tau)) + sum_at([1, 2.5], delay(x^2, 2*tau))
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Prepare(odes.Options{Settings: modeltest.Settings("sens.trust", "off")})
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Sensitivities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want, got := s.Values[0].Value, make([]float64, 1)
	for range 2 {
		if _, err := r.Values(t.Context(), got); err != nil || got[0] != want {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
}

// TestWithKnot: an event at the time at which a knot of the past comes back sets discretes whose derivatives are read
// later. They were lost, without a mark.
func TestWithKnot(t *testing.T) {
	const text = `
time t from 0 to 3
param u1 = 0.4, T = 0.25
discrete u = u1
state x = 0.3, y = 0
past x = interp([-9, -0.25, 0], [0.9, -0.5, -0.2], t)
x' = delay(x, 0.5)
y' = delay(u, 1.75)
event k at T { x += 0.2 }
objective J = final(y)
`
	for _, mode := range []string{"adjoint", "tangent", "forward", "complex"} {
		s := sensitivities(t, text, []string{"u1"}, map[string]string{"sens.mode": mode})
		modeltest.WantNear(t, mode, s.Gradient[0], 3, 1e-9)
	}
	s := sensitivities(t, text, []string{"u1"}, map[string]string{"sens.order": "2"})
	modeltest.WantNear(t, "second", s.Gradient[0], 3, 1e-9)
}

// TestKnotsForward: forward derivatives of a table that is read a long while ago are those of the adjoint. The stage at
// the end of the step before a knot had the slope behind it, whatever rounding the lag had.
func TestKnotsForward(t *testing.T) {
	const text = `
time t from 0 to 3
param tau = 1.6264
state x = 0.2
past x = interp([-9, -1.5993, -0.1441, 0], [0.4183, 0.5826, 0.1199, 0.0766], t)
x' = delay(x, tau)
objective J = final(x)
`
	var list []float64
	for _, mode := range []string{"adjoint", "forward"} {
		s := sensitivities(t, text, nil, map[string]string{"solver.rtol": "1e-9", "sens.mode": mode})
		list = append(list, s.Gradient[0])
	}
	modeltest.WantNear(t, "forward", list[1], list[0], 1e-9)
}

// TestCausedEventMoves: an event that a jump fires, as it comes back or at once, is not at its threshold, and there is
// nothing to warn of.
func TestCausedEventMoves(t *testing.T) {
	for _, of := range []string{"delay(x, 1.4)", "x"} {
		s := modeltest.Run(t, `
time t from 0 to 4
param d = 3
state x = 1, y = 0
x' = -0.6*x
y' = x
event kick at 0.75 { x += d }
event e when `+of+` > 2 { y = y/2 }
objective J = final(y)
`)
		for _, w := range s.Warnings {
			t.Errorf("%s: %v", of, w)
		}
	}
}

// TestReadAcrossShortSteps: where a step reads the past across a break of high order, the short step behind that break
// is not continued over what it does not hold: its tangents are lost to rounding there, although the value is not.
func TestReadAcrossShortSteps(t *testing.T) {
	text := strings.Replace(
		fmt.Sprintf(switched, 0.9974, 0.4583, 0.4311, 1.5369, 1.3877, 0.8721, -0.103, 1.2659, 0.4782),
		"*(1 + delay(u, rho)^2/8)", "", 1)
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var first []float64
	for _, method := range []string{"vern9", "dop853"} {
		s, err := m.Sensitivities(context.Background(), odes.Options{Settings: []odes.Setting{
			{Key: "solver.rtol", Value: "1e-12"},
			{Key: "sens.trust", Value: "off"},
			{Key: "solver.method", Value: method},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = s.Gradient
		}
		for k, x := range s.Gradient {
			if want := first[k]; math.Abs(x-want) > 1e-9*max(1, math.Abs(want)) {
				t.Errorf("derivative %d by %s is %.10g, and %.10g by vern9", k, method, x, want)
			}
		}
	}
}
