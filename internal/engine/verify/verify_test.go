package verify

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/internal/engine/run"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"

	"odes.dev/odes/solvers/methods"
	"odes.dev/odes/typecheck"
)

// load compiles the model of a file.
func load(t *testing.T, path string) *run.Model {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(text))
}

// parse compiles a text.
func parse(t *testing.T, text string) *run.Model {
	t.Helper()
	var l diag.List
	checked, _ := compile.Text("m.ode", text, typecheck.Env{}, &l)
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
	m := run.NewModel(checked, &l)
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
	return m
}

// setup is what a model says of its runs.
func setup(m *run.Model) (s run.Setup) {
	s.Settings = settings.Resolve(m.Checked, settings.Choice{}, &s.Wrong)
	return s
}

// TestVerifyCatches hands Verify's comparison wrong gradients: one derivative
// off by a millionth must not pass.
func TestVerifyCatches(t *testing.T) {
	m := load(t, filepath.Join("..", "..", "..", "examples", "bounce", "bounce.ode"))
	for k := range 4 {
		s, err := Sensitivities(t.Context(), m, setup(m))
		if err != nil {
			t.Fatal(err)
		}
		s.Gradient[s.Columns+k] *= 1 + 1e-6 // of path
		out := &result.Verification{}
		for _, v := range s.Values {
			out.Objectives = append(out.Objectives, result.Verdict{Name: v.Name, Value: v.Value})
		}
		if err := verifyAlong(t.Context(), m, setup(m), Options{Directions: 3, Seed: 7}, s, out); err != nil {
			t.Fatal(err)
		}
		for i := range out.Objectives {
			judge(&out.Objectives[i], 1e-8, false)
		}
		if out.Objectives[0].Outcome != "ok" || out.Objectives[1].Outcome != "wrong" || !out.Wrong() {
			t.Errorf("column %d: %+v", k, out.Objectives)
		}
		other := &result.Verification{Objectives: make([]result.Verdict, len(s.Values))}
		if _, err := crossCheck(t.Context(), m, setup(m), s, other); err != nil {
			t.Fatal(err)
		}
		if other.Objectives[0].CrossCheck > 1e-10 || other.Objectives[1].CrossCheck < 1e-10 {
			t.Errorf("column %d: %+v", k, other.Objectives)
		}
	}
	s, err := Sensitivities(t.Context(), m, setup(m))
	if err != nil {
		t.Fatal(err)
	}
	s.Gradient[s.Columns] *= 1.01
	out := &result.Verification{Objectives: make([]result.Verdict, len(s.Values))}
	if err := verifyAlong(t.Context(), m, setup(m), Options{Directions: 1, Seed: 7}, s, out); err != nil {
		t.Fatal(err)
	}
	if a, b := out.Objectives[0].Order, out.Objectives[1].Order; math.Abs(a-2) > 0.1 || math.Abs(b-1) > 0.1 {
		t.Errorf("remainders are of order %.3f where the gradient is right and %.3f where it is not, want 2 and 1", a,
			b)
	}
	// Numbers that are not finite cannot be compared: nothing passes, and nothing is wrong.
	for _, v := range []result.Verdict{
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

// TestLargeCatches hands the comparison along directions, which a gradient of two thousand columns is left to, a wrong
// derivative.
func TestLargeCatches(t *testing.T) {
	m := load(t, filepath.Join("..", "..", "..", "examples", "gray_scott", "gray_scott.ode"))
	s, err := Sensitivities(t.Context(), m, setup(m))
	if err != nil {
		t.Fatal(err)
	}
	s.Gradient[s.Columns+2] *= 1.001
	out := &result.Verification{Objectives: make([]result.Verdict, len(s.Values))}
	if err := verifyAlong(t.Context(), m, setup(m), Options{Directions: 1, Seed: 1}, s, out); err != nil {
		t.Fatal(err)
	}
	if a, b := out.Objectives[0].CrossCheck, out.Objectives[1].CrossCheck; a > 1e-12 || b < 1e-9 {
		t.Errorf("off by %g where the gradient is right and by %g where it is not", a, b)
	}
}

// TestScales has params of all sizes, and zeros: a move of length one takes each by its own size, so that remainders of
// moves vanish like their squares whatever the unit of a param is.
func TestScales(t *testing.T) {
	m := parse(t, `model M
time t from 0 to 1
param d = 1e-14, r = 3e-7, k[3] = [0, 2e-9, 1e5], z = 0, p = 0 ~ normal(0, 1e-9), b = 0 in [0, 1e-6], w = 0 in [0, 8]
state x = 0, y[2] = [0, 1e-4]
x' = -(d/r^2)*x + k[2]*1e9*sqrt(1 + d/1e-14) + z + p + b + w
y' = -k[3]*1e-5*y + k[1]
objective J = final(x)*sum(final(y))
`)
	scales, err := m.Scales(setup(m))
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
}

// TestNoiseIsNotWrong: where rounding leads to where there is no value, nothing can be compared well.
func TestNoiseIsNotWrong(t *testing.T) {
	for _, c := range []struct {
		off  float64
		want string
	}{{1e-12, "ok"}, {1, "undecided"}} {
		o := result.Verdict{Value: 1, Complex: c.off, CrossCheck: c.off, Noise: math.NaN()}
		if judge(&o, 1e-8, false); o.Outcome != c.want {
			t.Errorf("off by %g: %s", c.off, o.Outcome)
		}
	}
}

// TestIncapable: a method without steps in complex arithmetic is refused before the run.
func TestIncapable(t *testing.T) {
	rk4, _ := methods.Lookup("rk4")
	spec := *rk4
	spec.Can = 0
	m := parse(t, "time t from 0 to 1\nparam k = 1\nstate x = 1\nx' = -k*x\nobjective J = final(x)\n")
	s := setup(m)
	s.Method = &spec
	_, err := Gradient(t.Context(), m, s, Options{})
	list := diag.Of(err)
	if len(list) != 1 || list[0].Code != settings.CodeSetting ||
		!strings.HasPrefix(list[0].Message, "verify: method rk4 has no steps in complex arithmetic") {
		t.Errorf("%v", err)
	}
}
