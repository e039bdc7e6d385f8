package steady_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/cmplx"
	"os"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
)

// periodic has the models of the cases with doses or forcing, without their params, and objectives by the names of
// their values.
var periodic = map[string]string{
	"iv_bolus": `
state A = 0
A' = -CL/V*A
event bolus every tau { A += dose }
equilibrate { } every tau
objective peak = at_event(bolus, post(A)/V, nth = 1)
objective trough = initial(A/V)
objective at_s = sum_at([s], A/V)
objective auc_tau = integral(A/V, from = 0, to = tau)
objective average = integral(A/V, from = 0, to = tau)/tau
`,
	"infusion": `
state A = 0
A' = (if mod(t, tau) < D then dose/D else 0) - CL/V*A
equilibrate { } every tau
objective end_of_infusion = sum_at([D], A/V)
objective trough = initial(A/V)
objective at_s1 = sum_at([s1], A/V)
objective at_s2 = sum_at([s2], A/V)
`,
	"oral_lag": `
state depot = 0, A = 0
depot' = -ka*depot
A' = ka*depot - CL/V*A
event oral every tau from lag { depot += dose }
event top when ka*depot - CL/V*A crosses 0 down { }
equilibrate { } every tau
objective at_dose_time = initial(A/V)
objective at_s1 = sum_at([s1], A/V)
objective at_s2 = sum_at([s2], A/V)
objective at_s3 = sum_at([s3], A/V)
objective time_of_peak = event_time(top, 1)
objective peak = max_over(A/V)
`,
	"bolus_michaelis_menten": `
state A = 0
A' = -Vmax*A/(Km + A)
event bolus every tau { A += dose }
equilibrate { } every tau
objective peak = at_event(bolus, post(A), nth = 1)
objective trough = initial(A)
`,
	"forced_linear_oscillator": `
state x = 0, v = 0
x' = v
v' = -2*zeta*w0*v - w0^2*x + F*cos(W*t + phi)
equilibrate { } every 2*pi/W
objective x_at_s = sum_at([s], x)
objective v_at_s = sum_at([s], v)
objective x_at_0 = initial(x)
objective v_at_0 = initial(v)
objective amplitude = max_over(x)
objective mean_square = integral(x^2, from = 0, to = 2*pi/W)*W/(2*pi)
`,
	"forced_duffing": `
state x = 0, v = 0
x' = v
v' = -c*v - k*x - beta*x^3 + F*cos(W*t)
equilibrate { } every 2*pi/W
objective x_at_0 = initial(x)
objective v_at_0 = initial(v)
`,
}

// TestPeriodicReference compares periodic steady states with closed forms and reference solutions.
func TestPeriodicReference(t *testing.T) {
	text, err := os.ReadFile("testdata/equilibration.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Cases []struct {
			ID         string               `json:"id"`
			Parameters map[string]float64   `json:"parameters"`
			Values     map[string]valueWith `json:"values"`
		}
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, c := range all.Cases {
		model, ok := periodic[c.ID]
		if !ok {
			continue
		}
		found++
		t.Run(c.ID, func(t *testing.T) {
			var b strings.Builder
			b.WriteString("time t from 0 to 12.5\n")
			for _, p := range slices.Sorted(maps.Keys(c.Parameters)) {
				fmt.Fprintf(&b, "param %s = %v\n", p, c.Parameters[p])
			}
			b.WriteString(model + "solver { method = dop853  rtol = 1e-12  atol = 1e-13 }\nsens { trust = off }\n")
			m, err := odes.Parse(c.ID+".ode", b.String(), odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, mode := range []string{"adjoint", "tangent", "complex"} {
				s, err := m.Sensitivities(t.Context(), odes.Options{
					Threads: 1, Settings: []odes.Setting{{Key: "sens.mode", Value: mode}},
				})
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range s.Values {
					w, ok := c.Values[v.Name]
					if !ok || !(math.Abs(v.Value-w.Value) <= 1e-9*max(1, math.Abs(w.Value))) {
						t.Errorf("%s: %s is %v, want %v", mode, v.Name, v.Value, w.Value)
					}
					for _, p := range s.Variables {
						got, d := s.Gradient[i*s.Columns+p.Offset], w.D[p.Name]
						if !p.Initial && !(math.Abs(got-d) <= 1e-9*max(1, math.Abs(d))) {
							t.Errorf("%s: the derivative of %s by %s is %v, want %v", mode, v.Name, p.Name, got, d)
						}
					}
				}
			}
		})
	}
	if found != len(periodic) {
		t.Errorf("%d of %d cases were found", found, len(periodic))
	}
}

// TestPeriodicRefused: executions that wait at the end of a period belong to the state that repeats, and a period is
// positive.
func TestPeriodicRefused(t *testing.T) {
	m, err := odes.Parse("late.ode", `time t from 0 to 1
param P = 1, k = 0.8, lag = 0.2, off = 0.6
state x = 0
x' = -k*x
event dose every P from off, delay = lag { x += 1 }
equilibrate { } every P
objective J = initial(x)
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v, want := s.Values[0].Value, math.Exp(-0.8*0.2)/(1-math.Exp(-0.8)); math.Abs(v-want) > 1e-6 {
		t.Errorf("the value is %v, want %v", v, want)
	}
	s, err = m.Sensitivities(t.Context(), odes.Options{Set: []odes.Assignment{{Name: "lag", Values: []float64{2.5}}}})
	if err != nil { // two executions wait at the end of each period
		t.Fatal(err)
	}
	if v, want := s.Values[0].Value, math.Exp(-0.8*0.9)/(1-math.Exp(-0.8)); math.Abs(v-want) > 1e-6 {
		t.Errorf("the value with a lag of 2.5 is %v, want %v", v, want)
	}
	m, err = odes.Parse("never.ode", `time t from 0 to 1
param P = 0, k = 0.8
state x = 0
x' = cos(t) - k*x
equilibrate { } every P
objective J = initial(x)
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Sensitivities(t.Context(), odes.Options{})
	if err == nil || !strings.Contains(err.Error(), "the period is 0, and must be positive") {
		t.Errorf("the error is %v", err)
	}
}

// TestPeriodicNone: doses that accumulate without end have no periodic steady state, and neither has an oscillator with
// a period of its own. Its half period brings it to the opposite state.
func TestPeriodicNone(t *testing.T) {
	const oscillator = `time t from 0 to 20
param mu = 1
state x = 1, v = 0
x' = v
v' = mu*(1 - x^2)*v - x
objective J = final(x)
`
	const head = "time t from 0 to 24\nstate A = 0\nequilibrate { } every 12\nobjective J = initial(A)\n"
	for _, c := range []struct{ text, want string }{
		{`time t from 0 to 12
param Vmax = 12, Km = 40, tau = 12, dose = 160
state A = 0
A' = -Vmax*A/(Km + A)
event bolus every tau { A += dose }
equilibrate { } every tau
objective J = initial(A)
`, "A grows without end"},
		{
			oscillator + "equilibrate { } every 5", " keeps moving, likely in a limit cycle with a period of its own",
		},
		{
			head + "event give every 5 { A += 100 }\nA' = -0.3*A\n",
			"event give comes every 5, and does not come at the same times",
		},
		{
			head + "event give every 1 from 10 to 14 { A += 100 }\nA' = -0.3*A\n",
			"some times of event give are in the first period of 12",
		},
		{
			head + "discrete R = 0\nevent on at 0 { R += 10 }\nevent off at 16 { R -= 10 }\nA' = R - 0.3*A\n",
			"R changes by 10 in each period of 12",
		},
		{
			head + "event give every 12 from 2147483648 { A += 100 }\nA' = -0.3*A\n",
			"comes for the first time 178956970 periods of 12 after the start",
		},
		{head + "event give every 12 from 1e300 { A += 100 }\nA' = -0.3*A\n", "let it begin earlier"},
		{head + "event give when mod(t, 12) > 3 once { A += 100 }\nA' = -0.3*A\n", "happens once in a run"},
		{
			head + "event give when sin(2*pi*t/12) > 0 { A += 100 }\nA' = -0.3*A\n",
			"where a period begins and where it ends",
		},
		{
			head + "A' = 1 + sin(2*pi*t/24) - 0.3*A\n",
			"the state that was found does not repeat in the next period of 12: A is",
		},
		// The second period has a param of its own, whose effect is that of the first.
		{
			head + "param e1 = 0, e2 = 0\nevent give every 12 { A += 100 }\n" +
				"A' = -0.3*exp(if t < 12 then e1 else e2)*A\n",
			"does not repeat in the next period of 12 for other values of params: a derivative of A is",
		},
		{
			head + "discrete n = 0\nevent give every 12 { n += 1 }\nA' = n - 0.3*A\n",
			"n changes by 1 in each period of 12",
		},
		{oscillator + "equilibrate { } every 3.33164293", "after the period of 3.332, but after 2 of them: "},
	} {
		m, err := odes.Parse("none.ode", c.text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Sensitivities(t.Context(), odes.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("the error is %v, want %q", err, c.want)
		}
	}
}

// TestPeriodicBends compares second derivatives of a maintained dose with the closed form: one compartment, at the end
// of an interval D/V·e/(1 - e) with e = exp(-CL·tau/V), and tangents and adjoints alike. Products with a vector, too.
func TestPeriodicBends(t *testing.T) {
	const text = `model Maintenance
time t from 0 to 5
param CL = 3, V = 25, dose = 150, tau = 12, scale = 1.3
state A = 0
A' = -CL/V*A
event bolus every tau { A += dose }
equilibrate { } every tau
objective trough = scale*initial(A)/V
objective square = (initial(A)/V)^2*final(A)
solver { rtol = 1e-10  atol = 1e-12 }
`
	const sens = "sens { order = 2  trust = off  hvp = [1, 0.5, -2, 0.3, 0.7, 0]  mode = %s }\n"
	values := []float64{3, 25, 150, 12, 1.3}
	trough := func(p []complex128) complex128 {
		e := cmplx.Exp(-p[0] * p[3] / p[1])
		return p[4] * p[2] / p[1] * e / (1 - e)
	}
	square := func(p []complex128) complex128 { // the first dose of the run proper is at its start
		e := cmplx.Exp(-p[0] * p[3] / p[1])
		c := p[2] / p[1] * e / (1 - e)
		return c * c * p[2] / (1 - e) * cmplx.Exp(-p[0]*5/p[1])
	}
	for _, mode := range []string{"adjoint", "tangent"} {
		m, err := odes.Parse("maintenance.ode", text+fmt.Sprintf(sens, mode), odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := s.Columns
		for i, f := range []func([]complex128) complex128{trough, square} {
			slope := func(k int, j int, h float64) float64 { // ∂f/∂p_k where p_j is moved by h
				p := make([]complex128, len(values))
				for a, x := range values {
					p[a] = complex(x, 0)
				}
				p[j] += complex(h*values[j], 0)
				p[k] += 1e-100i
				return imag(f(p)) / 1e-100
			}
			for k := range values {
				product := 0.0
				for j, v := range []float64{1, 0.5, -2, 0.3, 0.7} {
					const h = 1e-3
					step := func(h float64) float64 {
						return (slope(k, j, h) - slope(k, j, -h)) / (2 * h * values[j])
					}
					want := (4*step(h/2) - step(h)) / 3
					product += want * v
					size := math.Abs(s.Values[i].Value) / values[k] / values[j]
					if got := s.Hessian[(i*n+k)*n+j]; math.Abs(got-want) > 1e-7*size {
						t.Errorf("%s: objective %d by %d and %d: %v, want %v", mode, i, k, j, got, want)
					}
				}
				if got := s.Products[i*n+k]; math.Abs(got-product) > 1e-6*max(1e-3, math.Abs(product)) {
					t.Errorf("%s: product of objective %d by %d: %v, want %v", mode, i, k, got, product)
				}
			}
		}
	}
}

// TestPeriodIsUsed: a param that only the period reads moves the periodic state, and no note says otherwise.
func TestPeriodIsUsed(t *testing.T) {
	m, err := odes.Parse("test.ode", `
time t from 0 to 1
param k = 0.5, P = 5
state x = 1
x' = -k*x + sin(2*pi*t/5)
equilibrate { } every P
objective a = initial(x)
solver { rtol = 1e-9  atol = 1e-12 }
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{Wrt: []string{"P"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := 0.37422353; math.Abs(s.Gradient[0]-want) > 1e-6 {
		t.Errorf("derivative %g, want %g", s.Gradient[0], want)
	}
	for _, d := range m.Warnings() {
		t.Errorf("%s", d.Message)
	}
}
