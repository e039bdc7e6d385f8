package hybrid_test

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/methods"
)

// closedModels are stiff models whose objectives have closed forms, as functions of the params.
var closedModels = map[string]struct {
	text   string
	params []complex128
	values func(p []complex128) []complex128
}{
	// Prothero and Robinson's: what is fast is never seen but at the start.
	"forced": {
		text: `
time t from 0 to T
param k = 1e5, a = 1.5, w = 2, y0 = 0.5, T = 3
state y = y0
y' = -k*(y - a*sin(w*t)) + a*w*cos(w*t)
objective last = final(y)
objective mean = integral(y)
objective seen = sum_at(grid(0.5, 2.5, 20), y*t)
solver { observe = dense }
`,
		params: []complex128{1e5, 1.5, 2, 0.5, 3},
		values: func(p []complex128) []complex128 {
			k, a, w, y0, end := p[0], p[1], p[2], p[3], p[4]
			seen := complex128(0)
			for i := range 20 {
				t := complex(0.5+2*float64(i)/19, 0)
				seen += t * a * cmplx.Sin(w*t)
			}
			return []complex128{a * cmplx.Sin(w*end), a*(1-cmplx.Cos(w*end))/w + y0/k, seen}
		},
	},
	// A slow state that jumps, at a time and where it meets a level, and a fast one that follows.
	"events": {
		text: `
time t from 0 to T
param k = 1e4, m = 0.7, b = 2, c = 0.5, d = 0.8, q = 1.25, hit = 0.6, T = 3.5
state x = 1, s = b
x' = -k*(x - s)
s' = -m*s
event at hit { s = q*s }
event low when s < c { s = s + d }
objective fast = final(x)
objective slow = final(s)
objective mean = integral(x)
objective when1 = event_time(low, 1)
objective most = max_over(x*t*(2.4 - t))
sens { wrt = [k, m, b, c, d, q, hit, T] }
`,
		params: []complex128{1e4, 0.7, 2, 0.5, 0.8, 1.25, 0.6, 3.5},
		values: func(p []complex128) []complex128 {
			k, m, b, c, d, q, hit, end := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
			at := b * cmplx.Exp(-m*hit)
			when := cmplx.Log(q*b/c) / m
			slow := (c + d) * cmplx.Exp(-m*(end-when))
			fast := slow * k / (k - m)
			mean := ((b-at)+(q*at-c)+(c+d-slow))/m - (fast-1)/k
			top := (2.4*m + 2 - cmplx.Sqrt((2.4*m+2)*(2.4*m+2)-9.6*m)) / (2 * m)
			most := q * b * cmplx.Exp(-m*top) * k / (k - m) * top * (2.4 - top)
			return []complex128{fast, slow, mean, when, most}
		},
	},
}

// closedGradient returns the derivatives of values by the params, [objective][param], by the complex step.
func closedGradient(values func(p []complex128) []complex128, p []complex128) [][]float64 {
	var rows [][]float64
	for i := range p {
		moved := slices.Clone(p)
		moved[i] += 1e-40i
		for o, v := range values(moved) {
			if i == 0 {
				rows = append(rows, nil)
			}
			rows[o] = append(rows[o], imag(v)*1e40)
		}
	}
	return rows
}

// rowErrors returns the largest error of a derivative times its param, relative to the largest such product of the
// row, and where it is.
func rowErrors(got, want [][]float64, p []complex128) (worst float64, row, column int) {
	for o := range want {
		size := 0.0
		for c := range p {
			size = max(size, math.Abs(want[o][c]*real(p[c])))
		}
		for c := range p {
			if d := math.Abs(got[o][c]-want[o][c]) * math.Abs(real(p[c])) / size; !(d <= worst) {
				worst, row, column = d, o, c
			}
		}
	}
	return worst, row, column
}

// gradientRows splits the derivatives by the first so many variables.
func gradientRows(s *odes.Sensitivities, variables int) [][]float64 {
	var rows [][]float64
	for i := range s.Values {
		var row []float64
		for _, v := range s.Variables[:variables] {
			row = append(row, s.Derivative(i, v)...)
		}
		rows = append(rows, row)
	}
	return rows
}

// implicitMethods calls do for every method of runs that solves equations, but those of order 1: their errors add up
// to more than these tests allow of any tolerance.
func implicitMethods(do func(m *solvers.Spec)) {
	for _, m := range methods.All() {
		if m.Can.Has(solvers.SplitRates) { // imex_test.go
			continue
		}
		if m.Can.Has(solvers.NeedsJacobian) && m.Order > 1 {
			do(m)
		}
	}
}

// TestStiffClosedForms differentiates stiff models by every method for them, in every mode but those that are slow or
// integrate back, with observations within steps, events, times that depend on params and largest values.
func TestStiffClosedForms(t *testing.T) {
	for name, c := range closedModels {
		m, err := odes.Parse(name+".ode", c.text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := closedGradient(c.values, c.params)
		implicitMethods(func(method *solvers.Spec) {
			if name == "events" && method.Name == "ros3p" {
				return // the equations are linear between events, where its error estimate is zero
			}
			t.Run(name+"/"+method.Name, func(t *testing.T) {
				t.Parallel()
				for _, mode := range []string{"adjoint", "tangent", "forward", "continuous"} {
					for _, rtol := range []float64{1e-5, 1e-7} {
						s, err := m.Sensitivities(t.Context(), odes.Options{Settings: []odes.Setting{
							{Key: "solver.method", Value: method.Name},
							{Key: "sens.mode", Value: mode},
							{Key: "solver.rtol", Value: fmt.Sprint(rtol)},
							{Key: "solver.atol", Value: fmt.Sprint(rtol * 1e-3)},
							{Key: "sens.trust", Value: "off"},
						}})
						if err != nil {
							t.Fatal(err)
						}
						off, o, v := rowErrors(gradientRows(s, len(c.params)), want, c.params)
						t.Logf("%s, rtol %g: off by %.2g, objective %d by %s; %d steps", mode, rtol, off, o,
							s.Variables[v].Name, s.Stats.Steps)
						limit := 500 * rtol
						if (mode == "forward" || mode == "continuous") && s.Variables[v].Name == "T" {
							limit = 1e4 * rtol // the field at the end, with the rate times the error of the state
						}
						if !method.Can.Has(solvers.WholeSteps) {
							limit *= 2 // estimates of implicit Runge–Kutta methods leave out more of what is fast
						}
						if !(off <= limit) {
							t.Errorf("%s, rtol %g: d objective %d/d %s is off by %.2g", mode, rtol, o,
								s.Variables[v].Name, off)
						}
					}
				}
			})
		})
	}
}

// TestStiffConverges differentiates stiff models with the equations first, and with derivatives under error control:
// what comes out approaches the derivatives of an accurate run as tolerances fall.
func TestStiffConverges(t *testing.T) {
	models := map[string]struct {
		set  []complex128 // the params
		atol float64      // over rtol
	}{
		"robertson": {[]complex128{0.04, 3e7, 1e4, 1}, 1e-6},
		"vdp":       {[]complex128{1000, 2, -0.6665433433927755}, 1e-3},
		"forced":    {[]complex128{3, 2e3, 2, 0.4, 0.3, 1.2}, 1e-2},
	}
	for name, c := range models {
		m, err := odes.Parse(name+".ode", stiffModels[name], odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		rows := func(method, mode, control string, rtol float64) [][]float64 {
			s, err := m.Sensitivities(t.Context(), odes.Options{Settings: []odes.Setting{
				{Key: "solver.method", Value: method},
				{Key: "sens.mode", Value: mode},
				{Key: "solver.rtol", Value: fmt.Sprint(rtol)},
				{Key: "solver.atol", Value: fmt.Sprint(rtol * c.atol)},
				{Key: "sens.trust", Value: "off"},
				{Key: "sens.control", Value: control},
			}})
			if err != nil {
				t.Fatalf("%s, %s, %s: %v", name, method, mode, err)
			}
			return gradientRows(s, len(c.set))
		}
		truth := rows("rodas5p", "adjoint", "on", 1e-10)
		for _, method := range []string{"rosenbrock23", "rodas3", "rodas4", "rodas4p", "rodas5p"} {
			t.Run(name+"/"+method, func(t *testing.T) {
				t.Parallel()
				for _, how := range [][2]string{
					{"adjoint", "off"}, {"adjoint", "on"}, {"forward", "off"}, {"continuous", "off"},
				} {
					for _, rtol := range []float64{1e-5, 1e-7} {
						off, o, v := rowErrors(rows(method, how[0], how[1], rtol), truth, c.set)
						t.Logf("%v, rtol %g: off by %.2g, d objective %d/d variable %d", how, rtol, off, o, v)
						limit := 2000 * rtol // the steps are chosen for the state
						if how[1] == "on" {
							limit = 50 * rtol
						}
						if !(off <= limit) {
							t.Errorf("%v, rtol %g: d objective %d/d variable %d is off by %.2g", how, rtol, o, v, off)
						}
					}
				}
			})
		}
	}
}

// TestStiffBacksolve integrates stiff states back, which is unstable: what comes of it is an error, or is not trusted.
func TestStiffBacksolve(t *testing.T) {
	for name, text := range stiffModels {
		m, err := odes.Parse(name+".ode", text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range []string{"rosenbrock23", "ros3p", "rodas4", "rodas5p"} {
			s, err := m.Sensitivities(t.Context(), odes.Options{Settings: []odes.Setting{
				{Key: "solver.method", Value: method}, {Key: "sens.mode", Value: "backsolve"},
			}})
			if err != nil {
				if list := diag.Of(err); len(list) != 1 || list[0].Code != odes.CodeBackward {
					t.Error(err)
				}
				continue
			}
			if !slices.ContainsFunc(s.Warnings, func(d diag.Diagnostic) bool { return d.Code == odes.CodeTrust }) {
				t.Errorf("%s, %s: trusted: %v", name, method, s.Gradient)
			}
		}
	}
}

// TestStiffFixedSteps integrates back over steps of fixed length, in which what the adjoint begins with decays.
func TestStiffFixedSteps(t *testing.T) {
	c := closedModels["forced"]
	m, err := odes.Parse("forced.ode", c.text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := closedGradient(c.values, c.params)
	// They do not damp what decays within a step, or hardly.
	rings := []string{"gauss4", "gauss6", "implicit_midpoint", "sdirk4", "theta", "trapezoidal"}
	implicitMethods(func(method *solvers.Spec) {
		if slices.Contains(rings, method.Name) {
			return
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{Settings: []odes.Setting{
			{Key: "solver.method", Value: method.Name},
			{Key: "sens.mode", Value: "continuous"},
			{Key: "solver.fixed_step", Value: "0.01"},
			{Key: "sens.trust", Value: "off"},
			{Key: "sens.wrt", Value: "[k, a, w, y0]"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		off, o, v := rowErrors(gradientRows(s, 4), want, c.params[:4])
		if !(off <= 5e-3) { // of the start of the run, where a step leaves out what is fast
			t.Errorf("%s: d objective %d/d %s is off by %.2g", method.Name, o, s.Variables[v].Name, off)
		}
	})
}

// TestBacksolveImplicit integrates many states back by an implicit method: where second derivatives are of a band, and
// where they are full and have more columns than a word has bits.
func TestBacksolveImplicit(t *testing.T) {
	for name, rate := range map[string]string{
		"chain": "k*((if i > 1 then u[max(i-1, 1)]^2 else 0) - u[i]^2)",
		"full":  "-k*u[i]^2 - 0.01*sum(u)*u[i]",
	} {
		m, err := odes.Parse(name+".ode", `
time t from 0 to 1
param k = 2
state u[80] = 1
u[i]' = `+rate+` for i in 1:80
objective J = final(u[30]) + integral(u[2]*u[5])
sens { wrt = [k]  trust = off }
solver { method = rodas4  rtol = 1e-6  atol = 1e-8 }
`, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var got [2]float64
		for i, mode := range []string{"adjoint", "backsolve"} {
			s, err := m.Sensitivities(t.Context(), odes.Options{
				Settings: []odes.Setting{{Key: "sens.mode", Value: mode}},
			})
			if err != nil {
				t.Fatal(err)
			}
			got[i] = s.Gradient[0]
		}
		if !(math.Abs(got[1]-got[0]) <= 1e-5*math.Abs(got[0])) {
			t.Errorf("%s: dJ/dk is %v, by the transpose %v", name, got[1], got[0])
		}
	}
}
