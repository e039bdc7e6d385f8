package odes

import (
	"math"
	"path/filepath"
	"testing"
)

// TestVerify checks the gradients of the examples by the other methods.
func TestVerify(t *testing.T) {
	checked, linear := 0, 0
	for _, model := range []string{
		"bounce/bounce", "vdp/vdp", "swing/swing", "harvest/harvest", "switched/switched", "stairs/stairs",
		"projectile/projectile", "pk/pk", "glv/glv", "thermostat/thermostat", "izhikevich/izhikevich",
	} {
		m, err := ParseFile(filepath.Join("examples", filepath.FromSlash(model)+".ode"))
		if err != nil {
			t.Fatal(err)
		}
		v, err := m.Verify(t.Context(), Options{}, VerifyOptions{Seed: 1})
		if err != nil {
			t.Errorf("%s: %v", model, err)
			continue
		}
		for _, o := range v.Objectives {
			checked++
			if math.IsNaN(o.Order) {
				linear++
			} else if math.Abs(o.Order-2) > 0.1 {
				t.Errorf("%s: %s: remainders %v are of order %.2f, want 2", model, o.Name, o.Remainders, o.Order)
			}
			if o.Outcome != "ok" {
				t.Errorf("%s: %s is %s: off by %.2g from complex steps, by %.2g from %s", model, o.Name, o.Outcome,
					o.Complex, o.CrossCheck, v.CrossCheck)
			}
		}
	}
	if checked < 30 || linear > checked/4 {
		t.Fatalf("only %d objectives were checked, %d had remainders of no order", checked, linear)
	}
}

// TestVerifyChaos verifies a chaotic run over many times its horizon. The comparison is with the run's
// own steps, so chaos must not disturb it. Modes that differentiate the equations first, whose
// derivatives are not those of the computed numbers, must not be called wrong.
func TestVerifyChaos(t *testing.T) {
	for _, c := range []struct {
		model string
		opts  Options
	}{
		{"lorenz/lorenz", Options{Set: []Assignment{{Name: "T", Values: []float64{30}}}}},
		{"lorenz/lorenz", Options{Settings: []Setting{{"sens.mode", "continuous"}, {"solver.rtol", "1e-6"}}}},
		{"lorenz/lorenz", Options{Settings: []Setting{{"sens.mode", "forward"}}}},
		{"pk/pk_oral", Options{Settings: []Setting{{"sens.mode", "continuous"}}}}, // an amount as small as atol
	} {
		m, err := ParseFile(filepath.Join("examples", filepath.FromSlash(c.model)+".ode"))
		if err != nil {
			t.Fatal(err)
		}
		opts := c.opts
		v, err := m.Verify(t.Context(), opts, VerifyOptions{Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		if v.Wrong() {
			t.Errorf("%v: %+v", opts, v.Objectives)
		}
	}
}

// TestVerifyCatches hands Verify's comparison wrong gradients: one derivative
// off by a millionth must not pass.
func TestVerifyCatches(t *testing.T) {
	m, err := ParseFile(filepath.Join("examples", "bounce", "bounce.ode"))
	if err != nil {
		t.Fatal(err)
	}
	for k := range 4 {
		s, err := m.Sensitivities(t.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Gradient[s.Columns+k] *= 1 + 1e-6 // of path
		out := &Verification{}
		for _, v := range s.Values {
			out.Objectives = append(out.Objectives, Verdict{Name: v.Name, Value: v.Value})
		}
		if err := m.verifyAlong(t.Context(), Options{}, VerifyOptions{Directions: 3, Seed: 7}, s, out); err != nil {
			t.Fatal(err)
		}
		for i := range out.Objectives {
			judge(&out.Objectives[i], 1e-8, false)
		}
		if out.Objectives[0].Outcome != "ok" || out.Objectives[1].Outcome != "wrong" || !out.Wrong() {
			t.Errorf("column %d: %+v", k, out.Objectives)
		}
		other := &Verification{Objectives: make([]Verdict, len(s.Values))}
		if _, err := m.crossCheck(t.Context(), Options{}, s, other); err != nil {
			t.Fatal(err)
		}
		if other.Objectives[0].CrossCheck > 1e-10 || other.Objectives[1].CrossCheck < 1e-10 {
			t.Errorf("column %d: %+v", k, other.Objectives)
		}
	}
	s, err := m.Sensitivities(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Gradient[s.Columns] *= 1.01
	out := &Verification{Objectives: make([]Verdict, len(s.Values))}
	if err := m.verifyAlong(t.Context(), Options{}, VerifyOptions{Directions: 1, Seed: 7}, s, out); err != nil {
		t.Fatal(err)
	}
	if a, b := out.Objectives[0].Order, out.Objectives[1].Order; math.Abs(a-2) > 0.1 || math.Abs(b-1) > 0.1 {
		t.Errorf("remainders are of order %.3f where the gradient is right and %.3f where it is not, want 2 and 1", a,
			b)
	}
	// Numbers that are not finite cannot be compared: nothing passes, and nothing is wrong.
	for _, v := range []Verdict{
		{Value: 1, Complex: math.NaN()},
		{Value: 1, CrossCheck: math.NaN()},
		{Value: math.Inf(1)},
		{Value: math.Inf(-1), Complex: 2},
	} {
		if judge(&v, 1, false); v.Outcome != "undecided" {
			t.Errorf("%+v", v)
		}
	}
}

// TestVerifyLarge checks a gradient of two thousand columns by tangents along the directions, which
// must notice a wrong derivative too.
func TestVerifyLarge(t *testing.T) {
	m, err := ParseFile(filepath.Join("examples", "gray_scott", "gray_scott.ode"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := m.Verify(t.Context(), Options{}, VerifyOptions{Seed: 1, Directions: 1})
	if err != nil {
		t.Fatal(err)
	}
	if !v.Large || v.CrossCheck != "tangent" || v.Wrong() || v.Objectives[0].CrossCheck == 0 {
		t.Errorf("%+v", v)
	}
	s, err := m.Sensitivities(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Gradient[s.Columns+2] *= 1.001
	out := &Verification{Objectives: make([]Verdict, len(s.Values))}
	if err := m.verifyAlong(t.Context(), Options{}, VerifyOptions{Directions: 1, Seed: 1}, s, out); err != nil {
		t.Fatal(err)
	}
	if a, b := out.Objectives[0].CrossCheck, out.Objectives[1].CrossCheck; a > 1e-12 || b < 1e-9 {
		t.Errorf("off by %g where the gradient is right and by %g where it is not", a, b)
	}
}

// TestVerifyTightened checks that Verify looks at the gradient that sens_tol asked for, not at that of
// the tolerances in the settings.
func TestVerifyTightened(t *testing.T) {
	m, err := ParseFile(filepath.Join("examples", "vdp", "vdp_classic.ode"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := m.Verify(t.Context(), Options{Settings: []Setting{{"solver.rtol", "1e-3"}, {"solver.sens_tol", "1e-5"}}},
		VerifyOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range v.Objectives {
		if o.Outcome != "ok" || o.Complex > 1e-11 || math.Abs(o.Order-2) > 0.1 {
			t.Errorf("%+v", o)
		}
	}
}

// TestVerifyExperiments: moves along a direction are moves of all experiments, or remainders would be rounding.
func TestVerifyExperiments(t *testing.T) {
	m, err := Parse("m.ode", `
time t from 0 to 3
param k = 0.5, s = 0.2, dose = 1
state x = dose
x' = -k*x
data D {
  time = [1, 2, 1, 2]
  y    = [0.6, 0.4, 1.3, 0.7]
  who  = ["a", "a", "b", "b"]
}
observe y = x ~ normal(s) from D.y
experiment a { use D where who == "a" }
experiment b { dose = 2*dose  use D where who == "b" }
objective loss = nll()
objective square = nll()^2 + final(x)
`, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := m.Verify(t.Context(), Options{Threads: 1}, VerifyOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range v.Objectives {
		if o.Outcome != "ok" || !(math.Abs(o.Order-2) < 0.1) || o.Remainders[0] < 1e-6 {
			t.Errorf("%s: %s, remainders %.2g of order %.3g", o.Name, o.Outcome, o.Remainders, o.Order)
		}
	}
}

// TestVerifyApproximations verifies modes that differentiate the equations first. What converges
// slowly is inaccurate and not wrong, and what does not converge is wrong.
func TestVerifyApproximations(t *testing.T) {
	for _, c := range []struct {
		model, objective string
		settings         []Setting
		want             string
	}{
		{"thermostat/thermostat", "cost", []Setting{
			{"sens.mode", "forward"},
			{"solver.method", "euler"},
			{"solver.rtol", "1e-4"},
			{"solver.atol", "1e-4"},
		}, "inaccurate"},
		{"vdp/vdp_classic", "x_T", []Setting{{"sens.mode", "backsolve"}}, "inaccurate"},
		{"heat_adjoint/heat10", "mid", []Setting{
			{"sens.mode", "continuous"},
			{"solver.method", "rkc2"},
			{"solver.rtol", "1e-11"},
			{"solver.atol", "1e-11"},
		}, "ok"},
		{"vdp/vdp_classic", "x_T", []Setting{
			{"sens.mode", "continuous"},
			{"sens.rtol", "0.1"},
			{"sens.atol", "1"},
			{"solver.rtol", "1e-3"},
			{"solver.atol", "1e-3"},
		}, "inaccurate"},
	} {
		m, err := ParseFile(filepath.Join("examples", filepath.FromSlash(c.model)+".ode"))
		if err != nil {
			t.Fatal(err)
		}
		v, err := m.Verify(t.Context(), Options{Settings: c.settings, Of: []string{c.objective}},
			VerifyOptions{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if o := v.Objectives[0]; o.Outcome != c.want {
			t.Errorf("%s, %v: %+v, want %s", c.model, c.settings, o, c.want)
		}
	}
}

// TestVerifyNoise has gradients of which rounding leaves fewer and fewer digits. No comparison may
// call them wrong.
func TestVerifyNoise(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	m, err := ParseFile(filepath.Join("examples", "lorenz", "lorenz.ode"))
	if err != nil {
		t.Fatal(err)
	}
	for _, T := range []float64{30, 38, 60} {
		v, err := m.Verify(t.Context(), Options{
			Set:      []Assignment{{Name: "T", Values: []float64{T}}},
			Settings: []Setting{{"solver.rtol", "1e-8"}},
		}, VerifyOptions{Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range v.Objectives {
			if o.Outcome == "wrong" {
				t.Errorf("T = %v: %+v", T, o)
			}
		}
	}
}

// TestScales has params of all sizes, and zeros: a move of length one takes each by its own size, so that remainders of
// moves vanish like their squares whatever the unit of a param is.
func TestScales(t *testing.T) {
	m, err := Parse("m.ode", `model M
time t from 0 to 1
param d = 1e-14, r = 3e-7, k[3] = [0, 2e-9, 1e5], z = 0, p = 0 ~ normal(0, 1e-9), b = 0 in [0, 1e-6], w = 0 in [0, 8]
state x = 0, y[2] = [0, 1e-4]
x' = -(d/r^2)*x + k[2]*1e9*sqrt(1 + d/1e-14) + z + p + b + w
y' = -k[3]*1e-5*y + k[1]
objective J = final(x)*sum(final(y))
`, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	scales, err := m.scales(Options{})
	if err != nil {
		t.Fatal(err)
	}
	// A quarter of the standard normal distribution is above 0.67449.
	want := []float64{1e-14, 3e-7, 1e5, 2e-9, 1e5, 1e-3, 0.6744897501960817e-9, 5e-7, 1e-3, 1, 1e-4, 1e-4}
	if len(scales) != len(want) {
		t.Fatalf("%v", scales)
	}
	for i, x := range want {
		if !(math.Abs(scales[i]-x) <= 1e-13*x) {
			t.Errorf("scale %d is %v, not %v", i, scales[i], x)
		}
	}

	if m, err = ParseFile(filepath.Join("examples", "battery", "battery.ode")); err != nil {
		t.Fatal(err)
	}
	v, err := m.Verify(t.Context(), Options{}, VerifyOptions{Directions: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range v.Objectives {
		if o.Outcome != "ok" || !(math.Abs(o.Order-2) < 0.1) {
			t.Errorf("%s: %s, remainders %.2g of order %.3g", o.Name, o.Outcome, o.Remainders, o.Order)
		}
	}
}

// TestVerifyEdge: at the edge of where an objective has a value, rounding leads to where it has none. Then nothing can
// be compared well, which is no sign of a wrong gradient.
func TestVerifyEdge(t *testing.T) {
	m, err := Parse("m.ode", "time t from 0 to 1\nparam k = 1\nstate x = 1, y = 0\nx' = -k\ny' = x\n"+
		"objective S = sqrt(final(x) - k + 1)\n", ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := m.Verify(t.Context(), Options{}, VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := v.Objectives[0]
	if !math.IsNaN(o.Noise) {
		t.Errorf("this is no edge: value %g, noise %g", o.Value, o.Noise)
	}
	if o.Outcome != "discrete only" {
		t.Errorf("%s", o.Outcome)
	}
	for _, c := range []struct {
		off  float64
		want string
	}{{1e-12, "ok"}, {1, "undecided"}} {
		o := Verdict{Value: 1, Complex: c.off, CrossCheck: c.off, Noise: math.NaN()}
		if judge(&o, 1e-8, false); o.Outcome != c.want {
			t.Errorf("off by %g: %s", c.off, o.Outcome)
		}
	}
}
