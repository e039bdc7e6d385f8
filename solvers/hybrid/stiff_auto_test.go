package hybrid_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// becomingStiff are models that become stiff, two of them again and again. steps is how many a run takes at most: a
// small part of what an explicit method alone would take.
var becomingStiff = []struct {
	name, text string
	steps      int
	changes    int // of method, at least
}{
	{"robertson", `
time t from 0 to 40
param k1 = 0.04, k2 = 3e7, k3 = 1e4
state a = 1, b = 0, c = 0
a' = -k1*a + k3*b*c
b' = k1*a - k3*b*c - k2*b^2
c' = k2*b^2
objective J = final(c)
objective K = integral(b, from = 1, to = 20)
objective M = max_over(b)
objective S = sum_at(grid(0.5, 40, 20), a^2)
sens { wrt = [k1, k2, k3] }`, 120, 1},
	{"oregonator", `
time t from 0 to 360
param s = 77.27, q = 8.375e-6, w = 0.161
state a = 1, b = 2, c = 3
a' = s*(b + a*(1 - q*a - b))
b' = (c - (1 + a)*b)/s
c' = w*(a - c)
objective J = final(log(b))
objective K = integral(log(a))
sens { wrt = [s, q, w] }`, 5000, 3},
	{"kicked", `
time t from 0 to 8
param fast = 5000, level = 0.5, dose = 0.3
state x = 1, z = 0
discrete n = 0
x' = -x
z' = -fast*(z - x^2)
event kick when x < level { x = x + dose  n = n + 1 }
objective J = final(z)
objective K = integral(z*n)
sens { wrt = [fast, level, dose] }`, 2000, 17},
}

// apart returns the largest difference of derivatives of the same objective by the same variable, times that variable,
// relative to the largest such product.
func apart(a, b *odes.Sensitivities, sizes []float64) float64 {
	worst := 0.0
	for i := range a.Values {
		most := 0.0
		row := func(s *odes.Sensitivities, j int) float64 { return s.Gradient[i*s.Columns+j] * sizes[j] }
		for j := range sizes {
			most = max(most, math.Abs(row(b, j)))
		}
		for j := range sizes {
			worst = max(worst, math.Abs(row(a, j)-row(b, j))/most)
		}
	}
	return worst
}

var stiffSizes = map[string][]float64{
	"robertson": {0.04, 3e7, 1e4}, "oregonator": {77.27, 8.375e-6, 0.161}, "kicked": {5000, 0.5, 0.3},
}

// TestStiffRuns runs stiff models as they are. The derivatives of the run are exact across changes of method, and near
// those of a run with tight tolerances by an implicit method alone; there are few steps; and an independent run, which
// changes its method as well, has no doubts.
//
//odes:goroutines
func TestStiffRuns(t *testing.T) {
	for _, c := range becomingStiff {
		sizes := stiffSizes[c.name]
		s := modeltest.RunTimes(t, c.text, "solver.rtol", "1e-7", "solver.atol", "1e-12")
		if s.Stats.Steps > c.steps || s.Stats.Changes < c.changes || s.Stats.Factorisations == 0 ||
			len(s.Stats.Methods) != 2 || s.Stats.Methods[0].Steps+s.Stats.Methods[1].Steps != s.Stats.Steps ||
			s.Settings.Method != "dopri5 and rodas5p" {
			t.Errorf("%s: %s, %+v", c.name, s.Settings.Method, s.Stats)
		}
		for i := range s.Values {
			for _, v := range s.Variables {
				if g := s.Trust(i, v); g != odes.Sound {
					t.Errorf("%s: the derivative of %s by %s is %v", c.name, s.Values[i].Name, v.Name, g)
				}
			}
		}
		tight := modeltest.RunTimes(t, c.text, "solver.rtol", "1e-9", "solver.atol", "1e-13", "solver.method",
			"rodas5p",
			"sens.trust", "off")
		if d := apart(s, tight, sizes); !(d < 1e-3) {
			t.Errorf("%s: %.1e from a run by rodas5p with tight tolerances", c.name, d)
		}
		for _, mode := range []string{"tangent", "complex"} {
			other := modeltest.RunTimes(t, c.text, "solver.rtol", "1e-7", "solver.atol", "1e-12", "sens.mode", mode,
				"sens.trust", "off", "sens.control", "off")
			one := modeltest.RunTimes(t, c.text, "solver.rtol", "1e-7", "solver.atol", "1e-12", "sens.trust", "off",
				"sens.control", "off")
			if d := apart(one, other, sizes); !(d < 1e-8) {
				t.Errorf("%s: adjoint and %s are %.1e apart", c.name, mode, d)
			}
		}
		// Columns of a Hessian are computed one by one: it is symmetric where all of them are right.
		twice := modeltest.RunTimes(t, c.text, "sens.order", "2", "sens.of", "[J, K]", "sens.trust", "off",
			"sens.control", "off")
		for i, x := range twice.Asymmetry {
			if most := slices.Max(twice.Hessian); !(x < 1e-6) || most == 0 || twice.Stats.Changes == 0 {
				t.Errorf("%s: the Hessian of %s is asymmetric by %.1e", c.name, twice.Values[i].Name, x)
			}
		}
		for _, keep := range []string{"states", "states(7)", "binomial(6)"} {
			one := modeltest.RunTimes(t, c.text, "sens.trust", "off")
			other := modeltest.RunTimes(t, c.text, "sens.trust", "off", "solver.checkpoint", keep)
			if other.Stats.RecomputedSteps == 0 || !slices.Equal(one.Gradient, other.Gradient) {
				t.Errorf("%s: other bits with checkpoint = %s", c.name, keep)
			}
		}
	}
}

// TestStiffAgain runs a model many times with one Runner, of which some runs become stiff: whatever came before, a run
// has the bits of its own.
func TestStiffAgain(t *testing.T) {
	m, err := odes.Parse("stiff.ode", `
time t from 0 to 20
param fast = 2
state x = 1, z = 0
x' = -x
z' = -fast*(z - x^2)
objective J = final(z)
sens { trust = off }`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	run := func(r *odes.Runner, fast float64) string {
		if err := r.Set(odes.Assignment{Name: "fast", Values: []float64{fast}}); err != nil {
			t.Fatal(err)
		}
		s, err := r.Sensitivities(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(s.Gradient, s.Stats.Steps, s.Stats.Changes)
	}
	prepare := func() *odes.Runner {
		r, err := m.Prepare(odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	one := prepare()
	for _, fast := range []float64{2, 3000, 2, 400, 50, 3000} {
		if got, want := run(one, fast), run(prepare(), fast); got != want {
			t.Errorf("fast %v: %s, alone %s", fast, got, want)
		}
	}
	if text := run(prepare(), 3000); !strings.HasSuffix(text, " 1") {
		t.Errorf("the stiff run did not change its method: %s", text)
	}
}

// TestNotStiff requires of runs that do not become stiff the bits of their explicit method.
func TestNotStiff(t *testing.T) {
	for _, file := range []string{"lotka_volterra/lotka_volterra", "bounce/bounce", "pk/pk", "glv/glv"} {
		m, err := odes.ParseFile(modeltest.Path("examples/" + file + ".ode"))
		if err != nil {
			t.Fatal(err)
		}
		run := func(settings ...odes.Setting) *odes.Sensitivities {
			s, err := m.Sensitivities(t.Context(), odes.Options{Settings: append(settings,
				odes.Setting{Key: "sens.trust", Value: "off"}, odes.Setting{Key: "sens.control", Value: "off"})})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		auto := run(odes.Setting{Key: "solver.method", Value: "auto"})
		chosen := run(odes.Setting{Key: "solver.method", Value: auto.Settings.Method})
		if !slices.Equal(auto.Gradient, chosen.Gradient) || auto.Stats.Changes != 0 || auto.Stats.Jacobians != 0 ||
			auto.Stats.F != chosen.Stats.F || auto.Stats.VJP != chosen.Stats.VJP {
			t.Errorf("%s: auto is not %s: %+v", file, auto.Settings.Method, auto.Stats)
		}
	}
}

// TestWithoutJacobian has a stiff run come to where a derivative of the right-hand side is infinite, while the
// right-hand side is not. It goes on with the explicit method.
func TestWithoutJacobian(t *testing.T) {
	s := modeltest.RunTimes(t, `
time t from 0 to 4
param fast = 3000
state x = 1, z = 0, w = 0
x' = -0.5
z' = -fast*(z - max(x, 0))
w' = sqrt(abs(max(x, 0)))
objective J = final(z + w)
sens { wrt = fast  trust = off }`)
	if v := s.Values[0].Value; s.Stats.Jacobians == 0 || !(math.Abs(v-4.0/3) < 1e-4) {
		t.Errorf("J = %v, %+v", v, s.Stats)
	}
}

// TestStagesFollow has rkc2 take fewer right-hand sides for diffusion than with any fixed number of stages that is near
// what it had, and one that may be longer where the tolerance is crude; fixed stages stay what they are.
func TestStagesFollow(t *testing.T) {
	const heat = `
const n = 32
time t from 0 to 0.3
param a = 1
state u[n,n] = 0
u[i,j]' = a*n^2*(u[clamp(i+1,1,n),j] + u[clamp(i-1,1,n),j] + u[i,clamp(j+1,1,n)] + u[i,clamp(j-1,1,n)] - 4*u[i,j])
  + exp(-((i - 9)^2 + (j - 20)^2)/20) - u[i,j] for i in 1:n, j in 1:n
objective J = final(mean(u^2))
solver { method = rkc2  rtol = 1e-3  atol = 1e-6 }
sens { trust = off }`
	follow, ten := modeltest.RunTimes(t, heat), modeltest.RunTimes(t, heat, "solver.stages", "10")
	if !(float64(follow.Stats.F) < 0.8*float64(ten.Stats.F)) || follow.Settings.Method != "rkc2" {
		t.Errorf("%s: %d right-hand sides, %d with ten stages", follow.Settings.Method, follow.Stats.F, ten.Stats.F)
	}
	if d := math.Abs(follow.Gradient[0]/ten.Gradient[0] - 1); !(d < 1e-2) {
		t.Errorf("derivatives are %.1e apart", d)
	}
}

// TestJacobianTooLarge runs a stiff model where every rate reads every state, so that its Jacobian does not fit: the
// run stays explicit, and an implicit method says what is too large.
func TestJacobianTooLarge(t *testing.T) {
	const text = `
const n = 6000
time t from 0 to 0.02
param s = 1e4
state x[n] = [0.1*i/n for i in 1:n]
x[i]' = -s*(x[i] - mean(x)) for i in 1:n
objective J = final(mean(x))
`
	s, err := modeltest.Sensitivities(t, text, "adjoint", odes.Setting{Key: "sens.trust", Value: "off"})
	if err != nil {
		t.Fatal(err)
	}
	implicit := slices.ContainsFunc(s.Stats.Methods, func(m odes.MethodSteps) bool { return m.Name == "rodas5p" })
	if want := 0.05 * 6001 / 6000; math.Abs(s.Values[0].Value/want-1) > 1e-6 || implicit || s.Stats.Jacobians > 0 {
		t.Errorf("J = %v, want %v, by %v", s.Values[0].Value, want, s.Stats.Methods)
	}
	_, err = modeltest.Sensitivities(t, text, "adjoint", odes.Setting{Key: "solver.method", Value: "rodas5p"})
	if err == nil || !strings.Contains(err.Error(), "3.6e+07 entries") {
		t.Errorf("rodas5p: %v", err)
	}
}

// TestStabilizedSteps demands that a grid in three dimensions, where implicit steps are dear, goes over to explicit
// methods with stages for stability; that derivatives cross that change; and that smaller models know nothing of it.
func TestStabilizedSteps(t *testing.T) {
	cube := func(n int) string {
		return fmt.Sprintf(`
const n = %d
const h = 1/(n + 1)
time t from 0 to T
param T = 0.2, alpha = 1
state u[n,n,n] = [[[sin(pi*i*h)*sin(pi*j*h)*sin(pi*k*h) for k in 1:n] for j in 1:n] for i in 1:n]
u[i,j,k]' = alpha/h^2*((if i > 1 then u[max(i-1,1),j,k] else 0) + (if i < n then u[min(i+1,n),j,k] else 0)
  + (if j > 1 then u[i,max(j-1,1),k] else 0) + (if j < n then u[i,min(j+1,n),k] else 0)
  + (if k > 1 then u[i,j,max(k-1,1)] else 0) + (if k < n then u[i,j,min(k+1,n)] else 0) - 6*u[i,j,k])
  for i in 1:n, j in 1:n, k in 1:n
objective J = final(u[5,5,5])
objective K = integral(mean(u^2), from = 0, to = T)
sens { wrt = [alpha, T] }`, n)
	}
	run := func(n int, settings ...string) *odes.Sensitivities {
		return modeltest.RunTimes(t, cube(n), append(settings, "sens.trust", "off", "solver.atol", "1e-9")...)
	}
	used := func(s *odes.Sensitivities) bool {
		return slices.ContainsFunc(s.Stats.Methods, func(m odes.MethodSteps) bool {
			return m.Name == "rkc2" && m.Steps > 50
		})
	}
	const n = 16
	s := run(n)
	if !used(s) || s.Settings.Method != "dopri5 and rkc2" || s.Stats.Changes != 1 {
		t.Errorf("%s made the steps: %+v, %d changes", s.Settings.Method, s.Stats.Methods, s.Stats.Changes)
	}
	if small := run(n - 1); used(small) {
		t.Errorf("%d states: %s", (n-1)*(n-1)*(n-1), small.Settings.Method)
	}
	// Where iterations are dear, one implicit step shows that they are.
	long := modeltest.RunTimes(t, strings.Replace(cube(n), "T = 0.2", "T = 3", 1), "solver.linear", "gmres",
		"sens.trust", "off")
	if dear := long.Stats.Factorisations; !used(long) || dear < 1 || dear > 4 {
		t.Errorf("steps of a longer run: %+v", long.Stats.Methods)
	}
	// The start is a mode of the grid, which decays like exp(-mu t).
	const h, end = 1.0 / (n + 1), 0.2
	mu := 12 * math.Pow(math.Sin(math.Pi*h/2)/h, 2)
	j := math.Pow(math.Sin(5*math.Pi*h), 3) * math.Exp(-mu*end)
	mean := math.Pow((n+1)/(2.0*n), 3) // of the squares
	late := math.Exp(-2 * mu * end)
	k := mean * (1 - late) / (2 * mu)
	for i, want := range [][]float64{{j, -mu * end * j, -mu * j}, {k, mean*end*late - k, mean * late}} {
		got := append([]float64{s.Values[i].Value}, s.Gradient[i*s.Columns:(i+1)*s.Columns]...)
		for c := range want {
			if math.Abs(got[c]-want[c]) > 2e-3*math.Abs(want[c]) {
				t.Errorf("%s %d: %g for %g", s.Values[i].Name, c, got[c], want[c])
			}
		}
	}
	for _, mode := range []string{"tangent", "complex"} {
		other := run(n, "sens.mode", mode)
		for i := range s.Values {
			for c := range 2 {
				a, b := s.Gradient[i*s.Columns+c], other.Gradient[i*s.Columns+c]
				if math.Abs(a-b) > 1e-11*math.Abs(a) {
					t.Errorf("%s by %d: %v, and %v with %s", s.Values[i].Name, c, a, b, mode)
				}
			}
		}
	}
}

// TestSingularForAWhile has Jacobians that are no use now and then: of a root at zero, where an event leaves the state,
// and of rates that are differences of what is many times as large, where a long step has a matrix that is singular in
// numbers (rates of y there have few digits). The run goes on with few steps: the implicit method is tried again.
//
//odes:goroutines
func TestSingularForAWhile(t *testing.T) {
	for _, c := range []struct {
		name, text string
		steps      int // at most; without a second trial they are 870048 and 1291028
		value      float64
	}{
		{"tank", `
time t from 0 to 10
param q = 1, k = 0.5, fast = 1e6
state h = 0, y = 0
h' = q - k*sqrt(h)
y' = -fast*(y - sqrt(h))
event empty at 5 { h = 0 }
objective J = final(y)
sens { wrt = [q, k] }`, 2000, 1.49235},
		{"far from the axes", `
time t from 0 to 0.3
param a = 3.113e6, w = 8.248e6, b = 0.9886
state x = 148.185, y = 7587582.72, z = 121405358.08
let p = 10001*x - 3.90625e-3*y - 1.1962890625e-2*z
let q = 3.90625e-3*y - 2.44140625e-4*z
let s = 29903*x - 1.171875e-2*y - 3.57666015625e-2*z
let dp = -a*p + w*q
let dq = -a*q - w*p
let ds = -b*s
x' = -299*dp + dq + 100*ds
y' = -15310336*dp + 51456*dq + 5120512*ds
z' = -244965376*dp + 819200*dq + 81928192*ds
objective J = final(y)
sens { wrt = b }`, 20000, 2 * 5120512 * math.Exp(-0.9886*0.3)},
	} {
		s := modeltest.RunTimes(t, "model Singular\n"+c.text, "solver.max_steps", "2000000", "sens.trust", "off")
		if x := s.Values[0].Value; s.Stats.Steps > c.steps || !(math.Abs(x/c.value-1) < 1e-3) {
			t.Errorf("%s: %v in %d steps, which should be %v in %d", c.name, x, s.Stats.Steps, c.value, c.steps)
		}
	}
}

// TestStiffWithoutJacobian has a Jacobian that is nowhere finite: the error says why the steps were explicit, and only
// of a method that has no implicit one beside it that there is auto.
//
//odes:goroutines
func TestStiffWithoutJacobian(t *testing.T) {
	m, err := odes.Parse("stiff.ode", `model Root
time t from 0 to 10
param k = 1e6
state x = 1, y = 0
x' = -k*(x - y^0.5)
y' = 0*x
objective J = final(x)`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for method, want := range map[string]string{
		"auto":   "since the derivative of x' by y is not a finite number",
		"dopri5": "for a stiff model take method = auto",
	} {
		_, err := m.Sensitivities(t.Context(), odes.Options{Settings: []odes.Setting{
			{Key: "solver.method", Value: method}, {Key: "solver.max_steps", Value: "5000"},
		}})
		if err == nil || !strings.Contains(err.Error(), want) ||
			method == "auto" && strings.Contains(err.Error(), "method = auto") {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// TestStiffStart differentiates by an initial value that decays fast, and is near its slow course: the state hardly
// shows what the derivative does. The first step resolves it, and later ones count less.
//
//odes:goroutines
func TestStiffStart(t *testing.T) {
	const k = 1000.0
	// x = c exp(-t) + (a - c) exp(-kt) with c = k/(k - 1), and J = ∫ x².
	c := k / (k - 1)
	want := 2 * (c/(1+k) + (1-c)/(2*k))
	for tol, limit := range map[string]float64{"1e-3": 1e-3, "1e-4": 1e-4, "1e-5": 2e-5, "1e-6": 2e-6} {
		s := modeltest.RunTimes(t, `
time t from 0 to 10
param k = 1000, a = 1
state x = a, y = 1, J = 0
x' = -k*(x - y)
y' = -y
J' = x^2
objective J_T = final(J)
sens { wrt = a  trust = off }`, "solver.rtol", tol, "solver.atol", tol+"*1e-3")
		if off := math.Abs(s.Gradient[0]/want - 1); off > limit {
			t.Errorf("rtol = %s: off by %.1e in %d steps", tol, off, s.Stats.Steps)
		}
	}
}
