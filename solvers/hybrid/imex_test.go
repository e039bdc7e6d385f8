package hybrid_test

import (
	"math"
	"os"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// burgers is Burgers' equation with periodic ends: diffusion is linear, and so implicit.
const burgers = `
model Burgers
time t from 0 to 0.5
const N = 16
const dx = 1/N
param nu = 0.03, a = 1, c = 0.5
state u[N] = [a*sin(2*pi*i*dx) + c for i in 1:N]
u[i]' = nu*(u[i+1] - 2*u[i] + u[i-1])/dx^2 - (u[i+1]^2 - u[i-1]^2)/(4*dx) for i in 2:N-1
u[1]' = nu*(u[2] - 2*u[1] + u[N])/dx^2 - (u[2]^2 - u[N]^2)/(4*dx)
u[N]' = nu*(u[1] - 2*u[N] + u[N-1])/dx^2 - (u[1]^2 - u[N-1]^2)/(4*dx)
event kick when u[1] - 0.5*a crosses 0 { u[2] += 0.1*a }
objective J = final(sum(u^2))/N
objective K = integral(u[3]^2)
solver { rtol = 1e-7  atol = 1e-9 }
`

var additive = []string{"ars222", "ars343", "kencarp3", "kencarp4", "kencarp5"}

// TestAdditiveModes compares adjoint, tangent and complex steps of Burgers' equation, Hessians included, and the
// gradients with those of rodas5p.
func TestAdditiveModes(t *testing.T) {
	m, err := odes.Parse("burgers", burgers, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	get := func(method, mode, keep string) []float64 {
		t.Helper()
		got, err := m.Sensitivities(t.Context(), odes.Options{Threads: 1, Settings: []odes.Setting{
			{Key: "sens.mode", Value: mode},
			{Key: "sens.trust", Value: "off"},
			{Key: "solver.method", Value: method},
			{Key: "solver.checkpoint", Value: keep},
			{Key: "solver.fixed_step", Value: "0.005"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		return append(got.Gradient, got.Values[0].Value, got.Values[1].Value)
	}
	near := func(a, b []float64, tol float64, what string) {
		t.Helper()
		for i := range a {
			if !(math.Abs(a[i]-b[i]) <= tol*largestOf(a)) {
				t.Errorf("%s: %.17g, not %.17g", what, b[i], a[i])
			}
		}
	}
	exact := get("rodas5p", "adjoint", "all")
	for _, method := range additive {
		adjoint := get(method, "adjoint", "all")
		near(adjoint, get(method, "adjoint", "states(5)"), 0, method+", kept in part")
		near(adjoint, get(method, "tangent", "all"), 1e-12, method+" by tangents")
		near(adjoint, get(method, "complex", "all"), 1e-12, method+" in complex arithmetic")
		tol := map[string]float64{"ars222": 1e-3, "ars343": 1e-4, "kencarp3": 1e-5}[method]
		near(exact, adjoint, max(tol, 1e-6), method+" against rodas5p")
	}
}

// TestAdditiveSecond compares Hessians with differences of gradients by complex steps.
func TestAdditiveSecond(t *testing.T) {
	m, err := odes.Parse("burgers", burgers, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range additive {
		if method == "ars222" || testing.Short() && method != "kencarp3" {
			continue // the independent run of ars222 is elsewhere
		}
		v, err := m.Verify(t.Context(), odes.Options{Of: []string{"J"}, Threads: 1, Settings: []odes.Setting{
			{Key: "sens.order", Value: "2"},
			{Key: "solver.method", Value: method},
			{Key: "solver.fixed_step", Value: "0.01"},
		}}, odes.VerifyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range v.Objectives {
			if o.Outcome != "ok" {
				t.Errorf("%s: %s: %+v", method, o.Name, o)
			}
		}
	}
}

// TestAdditiveOrder observes orders on an equation whose solution is known: y = sin t, with a linear and another term.
func TestAdditiveOrder(t *testing.T) {
	m, err := odes.Parse("order", `
model Order
time t from 0 to 2
param k = 3
state y = 0.5, z = 1
y' = -k*y + y^2*z + (cos(t) + k*(sin(t) + 0.5) - (sin(t) + 0.5)^2*exp(-t))
z' = -z*(y - sin(t) + 0.5)
objective Y = final(y)
objective Z = final(z)
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	exact := []float64{math.Sin(2) + 0.5, math.Exp(-2)}
	for i, method := range additive {
		order := []float64{2, 3, 3, 4, 5}[i]
		var off [2]float64
		for k, h := range []string{"0.05", "0.025"} {
			s, err := m.Solve(t.Context(), odes.Options{Settings: []odes.Setting{
				{Key: "solver.method", Value: method},
				{Key: "solver.fixed_step", Value: h},
				{Key: "sens.trust", Value: "off"},
			}})
			if err != nil {
				t.Fatal(err)
			}
			off[k] = max(math.Abs(s.Values[0].Value-exact[0]), math.Abs(s.Values[1].Value-exact[1]))
		}
		if got := math.Log2(off[0] / off[1]); !(got > order-0.4) {
			t.Errorf("%s: order %.2f, errors %.2g, %.2g", method, got, off[0], off[1])
		}
	}
}

// TestAdditiveMessages looks at what is said of models that additive methods do not take.
func TestAdditiveMessages(t *testing.T) {
	for text, says := range map[string]string{
		"state x = 1\nx' = -x^2":                     "linear in the states, and there are none",
		"state x = 1\nalg z = 1\nx' = -z\n0 = z - x": "does not solve algebraic equations",
	} {
		m, err := odes.Parse("m", "model M\ntime t from 0 to 1\n"+text+"\nobjective J = final(x)\n"+
			"solver { method = kencarp4 }\n", odes.ParseOptions{})
		if err == nil {
			_, err = m.Sensitivities(t.Context(), odes.Options{})
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestAdditiveHeat compares the plate of an example with its closed form: every mode of the grid decays by itself.
func TestAdditiveHeat(t *testing.T) {
	text, err := os.ReadFile(modeltest.Path("examples/heat_adjoint/heat10.ode"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := odes.Parse("heat10", strings.ReplaceAll(string(text), "fixed_step = 5e-5", ""), odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const h, span = 1.0 / 9, 0.01
	rate := -8 / (h * h) * math.Pow(math.Sin(math.Pi*h/2), 2)
	want := math.Pow(math.Sin(math.Pi*4*h), 2) * math.Exp(rate*span)
	for _, method := range additive[1:] {
		got, err := m.Sensitivities(t.Context(), odes.Options{Threads: 1, Of: []string{"mid"}, Settings: []odes.Setting{
			{Key: "solver.method", Value: method},
			{Key: "solver.rtol", Value: "1e-9"},
			{Key: "solver.atol", Value: "1e-12"},
			{Key: "sens.trust", Value: "off"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range []float64{want, want * rate * span} {
			have := append([]float64{got.Values[0].Value}, got.Gradient...)[i]
			if !(math.Abs(have-x) <= 1e-7*math.Abs(x)) {
				t.Errorf("%s: %.17g, want %.17g", method, have, x)
			}
		}
	}
}

// TestAdditiveStability requires derivatives of a state that rests at what decays fast and is not in the implicit part:
// steps that accuracy alone bounds would make them huge, while the state shows nothing.
func TestAdditiveStability(t *testing.T) {
	m, err := odes.Parse("rests", `
model Rests
time t from 0 to 5
param a = 1
state x = 1, z = 1
x' = -1000*(x^2 - a)
z' = -z
objective X = final(x)
sens { of = [X]  wrt = [a, initial(x)] }
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range additive {
		got, err := m.Sensitivities(t.Context(), odes.Options{Threads: 1, Settings: []odes.Setting{
			{Key: "solver.method", Value: method},
			{Key: "solver.rtol", Value: "1e-4"},
			{Key: "sens.trust", Value: "off"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if g := got.Gradient; !(math.Abs(g[0]-0.5) < 1e-6 && math.Abs(g[1]) < 1e-6) {
			t.Errorf("%s: derivatives %g, not 0.5 and 0", method, g)
		}
		stiff := false
		for _, w := range got.Warnings {
			stiff = stiff || w.Code == odes.CodeStiff
		}
		if !stiff {
			t.Errorf("%s does not say that stability holds its steps short", method)
		}
	}
}
