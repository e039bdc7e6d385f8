package hybrid_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// converter is a DC-DC converter whose diode conducts or blocks: equations of unknowns with modes that read them.
const converter = `
model Converter
time t from 0 to 3e-4
param Vin = 12, L = 1e-4, C = 2e-5, R = 50, D = 0.4, Ts = 2e-5, Rs = 0.05, Vf = 0.6, G = 1e-2
discrete on = 1
state iL = 0.0, vc = 0
alg vx = 0
iL' = (vx - vc)/L
vc' = (iL - vc/R)/C
0 = (if on > 0.5 then (Vin - vx)/Rs else G*(Vin - vx)) + (if -vx > Vf then (-vx - Vf)/Rs else G*(-vx - Vf)) - iL
event close every Ts { on = 1 }
event open every Ts from D*Ts { on = 0 }
objective v = final(vc)
objective x = final(vx)
objective i2 = integral(iL^2)
solver { rtol = 1e-8  atol = 1e-10 }
`

// together has two events at times that move apart, and unknowns between them and in their conditions.
const together = `
model Together
time t from 0 to 2
param a = 1, b = 1, k = 0.7
discrete d = 1
state x = 1, n = 0
alg z = 1, w = 0
x' = -k*x*z
n' = w
0 = z^3 + z - d*x
0 = w - z*x
event first at a { d += 0.5*z }
event second at b { x += 0.2*w }
event third when z crosses 0.5 { d *= 1.1 }
objective J = final(x) + final(z)^2
objective K = integral(z*w) + final(n)
objective at3 = event_time(third, 1)
solver { rtol = 1e-10  atol = 1e-12 }
`

// matrix has a singular mass matrix with entries in the columns of unknowns.
const matrix = `
model Matrix
time t from 0 to 2
param k = 1, a = 0.5
const M[3,3] = [[-1, 1, 0], [1, -1, 0], [0, 0, 2]]
state x[3] = [1, 0.5, 2]
mass(x) = M
x' = [k*x[1] - x[3], x[2]*a + x[2]^3, -k*x[3] + x[1]]
event e at a + 0.5 { x[3] += 0.5*k }
objective J = final(x[1])
objective K = integral(x[2]^2)
objective I = initial(x[2])
solver { rtol = 1e-9  atol = 1e-12 }
`

// TestAlgebraicModes compares the derivatives of the steps that were taken: adjoint, tangent and complex steps agree to
// rounding, also where bodies, modes and steps of length zero move unknowns.
func TestAlgebraicModes(t *testing.T) {
	algebraicModels(t, func(t *testing.T, name, method string, m *odes.Model) {
		var want *odes.Sensitivities
		for _, mode := range []string{"adjoint", "tangent", "complex"} {
			got, err := m.Sensitivities(t.Context(), odes.Options{Threads: 1, Settings: []odes.Setting{
				{Key: "sens.mode", Value: mode},
				{Key: "sens.trust", Value: "off"},
				{Key: "solver.method", Value: method},
			}})
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			}
			for i, v := range got.Values {
				a, b := want.Gradient[i*got.Columns:][:got.Columns], got.Gradient[i*got.Columns:][:got.Columns]
				for _, x := range got.Variables {
					j := x.Offset
					if !(math.Abs(a[j]-b[j]) <= 1e-12*max(math.Abs(a[j]), largestOf(a)*1e-6)) {
						t.Errorf("%s: d %s/d %s = %.17g by %s, not %.17g", name, v.Name, x.Name, b[j], mode, a[j])
					}
				}
			}
		}
	})
}

// algebraicMethods are of all families and kinds: with one matrix and with all stages at once, stiffly accurate and
// not.
var algebraicMethods = []string{"auto", "radau5", "esdirk4", "sdirk4", "lobatto_iiic4", "gauss4", "trapezoidal"}

// algebraicModels calls test for models with algebraic unknowns by methods of all kinds.
func algebraicModels(t *testing.T, test func(t *testing.T, name, method string, m *odes.Model)) {
	for name, text := range map[string]string{"converter": converter, "together": together, "matrix": matrix} {
		for i, method := range algebraicMethods {
			if i > 2 && (testing.Short() || name == "converter") {
				continue
			}
			t.Run(name+"/"+method, func(t *testing.T) {
				t.Parallel()
				text := text
				if i > 2 { // of low order: what is compared are the same steps
					text = strings.NewReplacer("1e-10", "1e-7", "1e-12", "1e-9", "1e-9", "1e-7").Replace(text)
				}
				m, err := odes.Parse(name, text, odes.ParseOptions{})
				if err != nil {
					t.Fatal(err)
				}
				test(t, name, method, m)
			})
		}
	}
}

// TestAlgebraicContinuous compares the ways that differentiate the equations with the discrete adjoint: with events
// whose times depend on unknowns, modes that read them, and readings inside steps.
func TestAlgebraicContinuous(t *testing.T) {
	inside := strings.Replace(together, "objective at3", "objective S = sum_at([0.3, 0.9, 1.7], z*w)\nobjective P = "+
		"max_over(w)\nobjective at3", 1)
	for name, text := range map[string]string{"together": inside, "converter": converter, "matrix": matrix} {
		m, err := odes.Parse(name, text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range []string{"auto", "radau5", "trapezoidal"} {
			if method != "auto" && (testing.Short() || name == "converter") {
				continue
			}
			get := func(mode string) *odes.Sensitivities {
				got, err := m.Sensitivities(t.Context(), odes.Options{
					Threads: 1, EventTimes: true, Settings: []odes.Setting{
						{Key: "sens.mode", Value: mode},
						{Key: "sens.trust", Value: "off"},
						{Key: "solver.method", Value: method},
					},
				})
				if err != nil {
					t.Fatalf("%s by %s, %s: %v", name, method, mode, err)
				}
				return got
			}
			want := get("adjoint")
			for _, mode := range []string{"forward", "continuous"} {
				if name == "matrix" && mode == "continuous" {
					continue
				}
				got := get(mode)
				for i, v := range got.Values {
					a, b := want.Gradient[i*got.Columns:][:got.Columns], got.Gradient[i*got.Columns:][:got.Columns]
					for j := range a {
						if !(math.Abs(a[j]-b[j]) <= 2e-6*largestOf(a)) {
							t.Errorf("%s by %s: derivative %d of %s = %.12g by %s, not %.12g", name, method, j, v.Name,
								b[j], mode, a[j])
						}
					}
				}
				for i, e := range got.Events {
					for j, x := range e.Params {
						if y := want.Events[i].Params[j]; !(math.Abs(x-y) <= 2e-6*max(largestOf(e.Params), 1e-6)) {
							t.Errorf("%s by %s: derivative %d of the time of %s = %.12g by %s, not %.12g", name, method,
								j, e.Name, x, mode, y)
						}
					}
				}
			}
		}
	}
}

func largestOf(x []float64) (most float64) {
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	return most
}

// TestAlgebraicKept compares gradients of runs that are kept in part, bit by bit.
func TestAlgebraicKept(t *testing.T) {
	algebraicModels(t, func(t *testing.T, name, method string, m *odes.Model) {
		var want []float64
		for _, keep := range []string{"all", "states", "states(7)", "binomial(4)"} {
			got, err := m.Sensitivities(t.Context(), odes.Options{Threads: 1, Settings: []odes.Setting{
				{Key: "solver.checkpoint", Value: keep},
				{Key: "sens.trust", Value: "off"},
				{Key: "solver.method", Value: method},
			}})
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got.Gradient
			}
			if !slices.Equal(got.Gradient, want) {
				t.Errorf("%s: another gradient with %s", name, keep)
			}
		}
	})
}

// TestAlgebraicSecond compares Hessians with differences of gradients by complex steps: what odes verify does.
func TestAlgebraicSecond(t *testing.T) {
	apart := strings.Replace(together, "at b {", "at 1.1*b {", 1) // see the manual on steps of length zero
	for name, text := range map[string]string{"apart": apart, "matrix": matrix} {
		for i, method := range algebraicMethods {
			if i > 2 && testing.Short() {
				continue
			}
			text := text
			if i > 0 {
				text = strings.NewReplacer("1e-10", "1e-7", "1e-12", "1e-9", "1e-9", "1e-7").Replace(text)
			}
			m, err := odes.Parse(name, text, odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			v, err := m.Verify(t.Context(), odes.Options{Of: []string{"J", "K"}, Threads: 1, Settings: []odes.Setting{
				{Key: "sens.order", Value: "2"}, {Key: "solver.method", Value: method},
			}}, odes.VerifyOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range v.Objectives {
				// The independent run of a method of low order is elsewhere.
				if o.Outcome != "ok" && !(method == "trapezoidal" && o.Outcome == "discrete only") {
					t.Errorf("%s by %s: %s: %+v", name, method, o.Name, o)
				}
			}
		}
	}
}

// TestAlgebraicMessages looks at what is said of models whose unknowns are not determined or not found.
func TestAlgebraicMessages(t *testing.T) {
	for _, c := range []struct{ name, text, settings, code, says string }{
		{"index 3", `
state x = 1, y = 0, u = 0, v = 0
alg lam = 0
x' = u
y' = v
u' = -lam*x
v' = -lam*y - 9.81
0 = x^2 + y^2 - 1`, "", "index", "index of the model is about 3"},
		{
			"index 2", "state x = 1\nalg z = 0\nx' = z\n0 = x - cos(t)", "", "index",
			"differentiate this equation by time, once",
		},
		{
			"too many for one", "state x = 1\nalg z = 0, w = 1\nx' = -z\n0 = z - x\n0 = z^2 - x^2", "", "index",
			"do not determine w",
		},
		{
			"fewer equations", "state x = 1\nalg z = 0, w = 1\nx' = -x*z\n0 = z + w - x", "", "missing-equation",
			"1 algebraic equation",
		},
		{
			"no solution", "state x = 1\nalg z = 0.3\nx' = -x\n0 = z^2 + x + 1", "", "inconsistent",
			"Newton's method from the guesses",
		},
		{
			"a singular guess", "state x = 1\nalg z = 0\nx' = -x\n0 = z^2 - x", "", "inconsistent",
			"do not determine z at the start",
		},
		{
			"one equation", "state x = 1\nalg z = 0\nx' = -x\n0 = z^2 - x", "", "inconsistent",
			"the derivative of `0 = …` in line 6 by it is zero there; either another guess",
		},
		{
			"no solution after an event", "state x = 1\nalg z = 1\nx' = -x\n0 = z^2 - x\nevent e at 1 { x = -1 }", "",
			"inconsistent", "in line 6, 1; the nearest solution may be far from there, or there is none",
		},
		{
			"dependent equations", "state x = 1\nalg z = 0, w = 0\nx' = -z\n0 = z + w - x\n0 = 2*(z + w) - 2*x", "",
			"inconsistent", "do not determine z, w",
		},
		{"a fold", "state x = 1\nalg z = 1\nx' = -1\n0 = z^2 - x", "", "inconsistent", "from t = 1"},
		{
			"an explicit method", "state x = 1\nalg z = 1\nx' = -z\n0 = z - x", "solver.method=dopri5", "setting",
			"such as radau5",
		},
		{
			"a Rosenbrock method that is not stiffly accurate", "state x = 1\nalg z = 1\nx' = -z\n0 = z - x",
			"solver.method=ros3p", "setting", "method ros3p does not solve algebraic equations",
		},
		{
			"another mode", "state x = 1\nalg z = 1\nx' = -z\n0 = z - x", "sens.mode=backsolve", "setting",
			"mode = backsolve integrates the states back",
		},
		{
			"the adjoint equation of a mass matrix that combines unknowns",
			"const M[2,2] = [[1, -1], [-1, 1]]\nstate x = 1, y[2] = 1\nx' = -x\ny' = [-y[1], y[2] - x]\nmass(y) = M",
			"sens.mode=continuous", "setting", "mode = continuous does not take a mass matrix",
		},
		{"an initial value", "state x = z\nalg z = 1\nx' = -z\n0 = z - x", "", "not-known-here", "reads the alg"},
		{
			"a body", "state x = 1\nalg z = 1\nx' = -z\n0 = z - x\nevent e at 1 { z = 2 }", "", "bad-target",
			"is an alg",
		},
		{
			"a zero mass", "const Z[2,2] = [[0, 0], [0, 0]]\nstate x = 1, y[2] = 0\nx' = -x\ny' = y\nmass(y) = Z", "",
			"bad-bounds", "is zero",
		},
		{
			"a mass of another shape", "state x = 1, y[2] = 0\nx' = -x\ny' = -y\nmass(y) = [1, 2]", "",
			"shape-mismatch", "shape [2 2]",
		},
		{
			"a singular mass without unknowns to find",
			"const S[2,2] = [[1, 0], [0, 0]]\nstate x = 1, y[2] = 0\nx' = -x\ny' = [x, y[1]]\nmass(y) = S", "", "index",
			"do not determine y[2]",
		},
	} {
		text := "model M\ntime t from 0 to 2\n" + c.text + "\nobjective J = final(x)\n"
		m, err := odes.Parse(c.name, text, odes.ParseOptions{})
		if err == nil {
			opts := odes.Options{Threads: 1}
			if key, value, ok := strings.Cut(c.settings, "="); ok {
				opts.Settings = []odes.Setting{{Key: key, Value: value}}
			}
			_, err = m.Sensitivities(t.Context(), opts)
		}
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		list := diag.Of(err)
		if len(list) == 0 || string(list[0].Code) != c.code || !strings.Contains(list[0].Message, c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	m, err := odes.Parse("m", "model M\ntime t from 0 to 2\nstate x = 1\nalg z = 1\nx' = -z\n0 = z - x\n"+
		"objective J = final(z)\n", odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = m.Sensitivities(t.Context(), odes.Options{Wrt: []string{"initial(z)"}}); err == nil ||
		!strings.Contains(err.Error(), "guess has no influence") {
		t.Errorf("by a guess: %v", err)
	}
}

// TestAlgebraicDrift: unknowns that were far off before a step was made consistent are told. Newton's method goes far
// astray at the zeros of x, and no stage may be accepted there. What the weights of a method that is not stiffly
// accurate make of unknowns is no sign of that: it is off by more tolerances, the tighter these are.
func TestAlgebraicDrift(t *testing.T) {
	m, err := odes.Parse("m", `
model M
time t from 0 to 10
state x = 1, y = 0
alg z = 1
x' = -y
y' = x
0 = z^9 + z - 1e5*x^3
objective J = integral(y^2)
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, rtol string
		told         bool
	}{
		{"rodas5p", "5e-3", true},
		{"rodas5p", "1e-6", false},
		{"backward_euler", "1e-3", false},
		{"kvaerno5", "1e-5", false},
		{"radau5", "1e-2", false},
		{"radau9", "1e-5", false},
		{"lobatto_iiic4", "1e-3", false},
		{"gauss6", "1e-9", false},
		{"gauss4", "1e-9", false},
		{"implicit_midpoint", "1e-4", false},
	} {
		sol, err := m.Solve(t.Context(), odes.Options{Threads: 1, Settings: []odes.Setting{
			{Key: "solver.method", Value: c.method},
			{Key: "solver.rtol", Value: c.rtol},
			{Key: "solver.atol", Value: c.rtol},
		}})
		if err != nil {
			t.Fatalf("%s, %s: %v", c.method, c.rtol, err)
		}
		told := slices.ContainsFunc(sol.Warnings, func(w diag.Diagnostic) bool { return w.Code == "drift" })
		if off := sol.Stats.Drift; c.method != "rodas5p" && off > 1e-9 || told != c.told {
			t.Errorf("%s, rtol %s: drift is told: %t; off by %g tolerances", c.method, c.rtol, told, sol.Stats.Drift)
		}
	}
}

// TestAlgebraicBranch: unknowns stay on the branch of solutions that they are on, past places where branches come near
// each other, and behind bodies. Values are those of closed forms.
func TestAlgebraicBranch(t *testing.T) {
	const titration = `
time t from 0 to 100
param Kw = 1e-14, flow = 2e-3, acid = 0.1
state na = 0
alg h = 0.1
na' = flow
0 = h^2 + (na - acid)*h - Kw
objective J = final(h)
`
	const binding = `
time t from 0 to 10
param k = 0.1, K = 0.01, left = 0.02
state A = 5
alg C = 0.9
A' = -k*A
0 = (A - C)*(1 - C) - K*C
objective J = final(C)
`
	lossy := func(u, p float64) float64 { // of p·sin(z) = u - w, w³ + w = 0.1·cos(z), between -π/2 and π/2
		lo, hi := -math.Pi/2, math.Pi/2
		for range 60 {
			z, w := (lo+hi)/2, 0.0
			for range 60 {
				w -= (float64(w*w*w) + w - float64(0.1*math.Cos(z))) / (float64(3*w*w) + 1)
			}
			if float64(p*math.Sin(z))-u+w < 0 {
				lo = z
			} else {
				hi = z
			}
		}
		return lo
	}
	bound := func(a, k float64) float64 {
		s := a + 1 + k
		return 2 * a / (s + math.Sqrt(float64(s*s)-float64(4*a)))
	}
	for _, c := range []struct {
		text, by      string
		value, deriv  float64
		warning, fail string
	}{
		{titration, "flow", 1e-13, -1e-10, "", ""},
		{strings.ReplaceAll(binding, "K = 0.01", "K = 1e-10"), "k", bound(5*math.Exp(-1), 1e-10), 0, "", ""},
		{binding + "event wash at 5 { A = left*A }", "", bound(0.1*math.Exp(-1), 0.01), 0, "", ""},
		{
			strings.ReplaceAll(binding, "(A - C)", "(d*A - C)") + "discrete d = 1\nevent wash at 5 { d = left }", "",
			bound(0.1*math.Exp(-1), 0.01), 0, "", "",
		},
		// A mode reads the unknown.
		{
			strings.ReplaceAll(binding, "final(C)", "final(w)") +
				"state w = 0\nw' = if C > 1 then 1 else 0.5\nevent wash at 5 { A = left*A }", "", 5, 0, "", "",
		},
		// Other branches have the same sign.
		{
			"time t from 0 to 2\nstate x = 0.996\nalg z = 1.48\nx' = 0\n0 = sin(z) - x\nevent e at 1 { x = 0.351 }\n" +
				"objective J = final(z)", "", math.Asin(0.351), 0, "", "",
		},
		{
			"time t from 0 to 2\nparam P = 0.999\nstate x = 1.2\nalg z = 1.2, w = 0\nx' = 0\n0 = P*sin(z) - u + w\n" +
				"0 = w^3 + w - 0.1*cos(z)\ndiscrete u = 0.99\nevent e at 1 { u = -0.9 }\nobjective J = final(z)", "",
			lossy(-0.9, 0.999), 0, "", "",
		},
		// Where x is between -1 and 1 there is no solution.
		{
			"time t from 0 to 1\nstate x = 2\nalg z = 0.2\nx' = 0\n0 = (z - x)^2 - x^2 + 1\n" +
				"event e at 0.5 { x = -2 }\nobjective J = final(z)", "", math.Sqrt(3) - 2, 0, "drift", "",
		},
		{
			"time t from 0 to 2\nstate x = 1\nalg z = 1\nx' = -1\n0 = z^2 - x^2\nobjective J = final(z)", "", 0, 0, "",
			"do not determine z",
		},
	} {
		m, err := odes.Parse("m", c.text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{Threads: 1})
		if c.fail != "" {
			if err == nil || !strings.Contains(err.Error(), c.fail) {
				t.Errorf("%s: error %v", c.text, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := s.Values[0].Value; math.Abs(got-c.value) > float64(1e-5*math.Abs(c.value)) {
			t.Errorf("%s: J = %g, not %g", c.text, got, c.value)
		}
		told := slices.ContainsFunc(s.Warnings, func(w diag.Diagnostic) bool { return string(w.Code) == c.warning })
		if told != (c.warning != "") {
			t.Errorf("%s: warnings %v", c.text, s.Warnings)
		}
		for _, v := range s.Variables {
			if c.deriv != 0 && v.String() == c.by && math.Abs(s.Derivative(0, v)[0]-c.deriv) > -1e-3*c.deriv {
				t.Errorf("%s: dJ/d%s = %g, not %g", c.text, c.by, s.Derivative(0, v)[0], c.deriv)
			}
		}
	}
}

// TestAlgebraicOrders: methods for algebraic unknowns have their orders there, in states and unknowns.
func TestAlgebraicOrders(t *testing.T) {
	m, err := odes.Parse("m", `
model Order
time t from 0 to 2
state x = 0, y = 1
alg z = 1, w = 0
x' = z + (y*w - 1)
y' = -y*z
0 = z + z*x^2 - cos(t)*(1 + sin(t)^2)
0 = w + 0.1*w^3 - exp(sin(t)) - 0.1*exp(3*sin(t)) + z - cos(t)
objective X = final(x)
objective Y = final(y)
objective Z = final(z)
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	exact := []float64{math.Sin(2), math.Exp(-math.Sin(2)), math.Cos(2)}
	for _, c := range []struct {
		method string
		order  float64
	}{
		{"rodas3", 3},
		{"rodas4", 4},
		{"rodas4p", 4},
		{"rodas5p", 5},
		{"backward_euler", 1},
		{"trapezoidal", 2},
		{"theta", 2},
		{"implicit_midpoint", 2},
		{"sdirk2", 2},
		{"trbdf2", 2},
		{"sdirk4", 4},
		{"kvaerno3", 3},
		{"esdirk32", 3},
		{"esdirk4", 4},
		{"kvaerno5", 5},
		{"esdirk54", 5},
		{"gauss4", 4},
		{"gauss6", 6},
		{"radau3", 3},
		{"radau5", 5},
		{"radau9", 9},
		{"lobatto_iiic4", 4},
	} {
		var off [2][]float64
		steps := []string{"0.04", "0.02"}
		if c.order > 4 {
			steps = []string{"0.1", "0.05"}
		}
		if c.order > 6 {
			steps = []string{"1", "0.5"}
		}
		for k, h := range steps {
			s, err := m.Solve(t.Context(), odes.Options{Settings: []odes.Setting{
				{Key: "solver.method", Value: c.method},
				{Key: "solver.fixed_step", Value: h},
				{Key: "sens.trust", Value: "off"},
			}})
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range s.Values {
				off[k] = append(off[k], math.Abs(v.Value-exact[i]))
			}
		}
		for i := range exact {
			if order := math.Log2(off[0][i] / off[1][i]); !(order > c.order-0.4) {
				t.Errorf("%s: order %.2f of objective %d, errors %.2g, %.2g", c.method, order, i, off[0][i], off[1][i])
			}
		}
	}
}
