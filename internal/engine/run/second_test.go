package run

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/methods"
)

// secondModels together have everything that a Hessian depends on.
var secondModels = []struct{ name, text string }{
	{"linear decay", `
time t from 0 to 2
param k = 0.7, a = 1.3
state x = a
x' = -k*x
objective J = final(x)
objective K = integral(x^2)
`},
	{"initial values", `
time t from 0 to 1.5
param mu = 1.2, a = 0.4
state x = 2, v = -a^2
x' = v
v' = mu*(1 - x^2)*v - x
objective J = final(x)*final(v) + initial(x)^3
sens { wrt = [mu, a, initial(x), initial(v)] }
`},
	{"bounces", `
time t from 0 to 2
param g = 9.81, e = 0.8, h0 = 1, drag = 0.1
state h = h0, v = 0
h' = v
v' = -g - drag*v
event bounce when h <= 0 { v = -e*v }
objective height = final(h)
objective first = event_time(bounce, 1)
objective second = event_time(bounce, 2)
objective speed = at_event(bounce, pre(v)^2)
objective mean = integral(h*v)
`},
	{"two events in sequence, discretes, times that move", `
time t from t0 to tf
param t0 = 0.1, tf = 6.2, a = 0.9, b = 0.4, level = 1.1, slope = 0.07, gain = 0.6, tau = 1.3
param period = 0.9, delay = 0.35, lower = 0.7, upper = 3.3
state x = 0.5, y = 0.5*a + t0, z = 0.3
discrete s = 0.2*b, later = 1e9
x' = y + 0.1*t
y' = -a*x - b*y*z + s
z' = 0.3*x - b*z + (if y > 0.2*level then 0.4*y^2 - a else 0)
event up when x >= level + slope*t { y = -gain*y + 0.01*t; x = x - 0.05*b; s = s + 0.1*z*t; later = t + delay }
event down when -x > 0.5*level - 0.02*t^2 { y = y + gain*a; s = 0.5*s }
event kick at tau*a { y = y + a*x*t }
event tick every period from 1 + slope count 4 { z = 0.9*z + 0.1*slope }
event after at later { s = s*x; later = 1e9 }
objective J = final(x*z + a*y + s*t)
objective K = integral(x^2*t)
objective W = integral(x*z + b*t, from = lower, to = upper)
objective S = sum_at([2.4*a, 5], y^2*t + s*b)
objective E = at_event(up, pre(x)*post(y) - pre(s)*post(s) + t*level)
objective Q = sqrt(1 + integral(x^2*t)^2)*final(y)
`},
	{"observations inside steps", `
time t from 0 to 5
param k = 0.8, w = 2.1, lag = 0.03
state x = 1, v = 0.2*w
x' = v
v' = -w^2*sin(x) - k*v
solver { observe = dense }
objective S = sum_at(grid(0.1, 4.9, 60), exp(-x)*v)
objective L = sum_at(grid(0.1, 4.9, 20) + lag*k, x^2*v)
`},
	{"observations inside steps, between events", `
time t from 0 to 2
param g = 9.81, e = 0.7, h0 = 1.2, k = 0.05
state h = h0, v = 0
h' = v
v' = -g - k*v^3
event bounce when h <= 0 { v = -e*v }
solver { observe = dense  method = dopri5 }
objective S = sum_at(grid(0.05, 1.3, 40)*(1 + 0.1*k), h^2 + v)
`},
	{"defaults that follow", `
time t from 0 to 1
param mu = 3
param v0 = -2/3 + 10/(81*mu)
param w[2] = [mu^2*v0, 0.3]
state x = 2, v = v0
x' = v
v' = mu*(1 - x^2)*v - x + w[1]*0.1 - w[2]*x
objective J = final(x*v)
sens { wrt = [mu, w, initial(x)] }
`},
	{"arrays", `
time t from 0 to 2
const n = 4
param A[n,n] = 0.3*randn(n, n, seed = 5) - eye(n)
param r[n] = [1, 0.8, 1.2, 0.9]
state x[n] = 0.5
x' = x*(r + A @ x)
objective y[i] = final(x[i]) for i in 1:2
objective s = integral(sum(x^2))
sens { wrt = [A, r] }
`},
	{"elementary functions", `
time t from 0 to 1
param a = 0.7, b = 1.4, c = 0.3
state x = 0.6, y = 1.2
x' = tanh(a*y) - x^b + atan(c*x*y)
y' = log1p(x^2) * cos(b*t) - hypot(x, c) + erf(a*x) - 0.1*lgamma(y + b)
objective J = final(x^a*y)
objective K = integral(sqrt(x^2 + c))
`},
	{"likelihood", `
time t from 0 to 8
param ka = 1.1, ke = 0.25, V = 8 , s = 0.15
state depot = 100, central = 0
depot' = -ka*depot
central' = ka*depot - ke*central
data D {
  time = [0.5, 1, 2, 3.5, 5, 7.5]
  dv = [4.1, 6.2, 7.6, 6.4, 4.9, 2.7]
}
observe conc = central/V ~ lognormal(s) from D.dv
objective J = nll()
sens { wrt = [ka, ke, V, s] }
`},
	{"experiments", `
time t from 0 to 6
param k = 0.4, dose = 3, s = 0.2, q = k^2
state x = dose
x' = -k*x - q*x^2
data D {
  time = [1, 2, 4, 1, 3, 5]
  y = [2.1, 1.2, 0.6, 4.4, 1.9, 0.9]
  arm = [1, 1, 1, 2, 2, 2]
}
observe obs = x ~ normal(s*(1 + obs)) from D.y
experiment low { use D where arm == 1 }
experiment high { dose = 7; use D where arm == 2 }
objective J = nll()
objective M = exp(0.1*nll()*k) * final(x)^2
sens { wrt = [k, s] }
`},
	{"times and stops", `
time t from 0 to 4
param c = 0.9, stopat = 0.35, T = 1.3
state x = 1
discrete on = 1
x' = -c*on*x
event off at T { on = 0.5*c }
event done when x <= stopat { stop }
objective stopped = event_time(done, 1)
objective area = integral(x)
objective last = final(t*x)
`},
	{"times of comparisons, knots and kinks", `
time t from 0 to 4
param a = 0.83, w = 0.31, P = 1.1, lag = 0.27, c = 0.4
const T = [0, 1, 1.3, 2, 9], R = [0, 0, 1, 0.2, 0.2]
state x = 1, y = 0
x' = -c*x + (if t > a and t - a < w*x^2 + w then 1 + t else 0) + (if mod(t, P) < w then 2*x else 0)
y' = abs(sin(P*t))*x + interp(T, R, P*t - lag) + max(x, 1.7*c)
event e when (if mod(t, P) < w then 1 else 0) > 0 and t > a { x = 0.5*x + 0.1*t }
objective last = final(t*x + y)
objective area = integral(x*y)
`},
	{"events with delays", `
time t from 0 to 7
param mu = 0.8, tau = 0.9, a = 0.35, c = 0.6, P = 1.1
state x = 1.2*a, v = 1.1, y = 0.5
discrete m = 0.4
x' = v
v' = mu*(1 - x^2)*v - x + 0.3*m
y' = -0.4*y + 0.1*x^2 + (if y > 1.1 then -0.2*x else 0)
event up when x > c + 0.05*m, delay = tau*(1 + 0.2*v^2) { v -= a*x  m = 0.3 + 0.1*v*t }
event down when v < -c, delay = 0.4*tau, values = execution, persistent = false { y += a*x^2*t/10 }
event tick every P from 0.3, delay = 1.7*tau + 0.1*y { y = 0.8*y + a*m*x^2 }
event coarse when v crosses 0.2*a up, tol = 1e-3 { y += 0.1*v*x }
objective J = final(x*y)
objective I = integral(x*v + y^2)
objective T = event_time(up, 1)
objective S = at_event(tick, pre(y)*t)
`},
}

// TestSecond compares Hessians with second derivatives along random directions, from differences of
// complex steps over repetitions of the run. They must also be symmetric to rounding, although columns
// are computed independently.
//
//odes:goroutines
func TestSecond(t *testing.T) {
	for _, c := range secondModels {
		t.Run(c.name, func(t *testing.T) {
			m, err := Parse("m.ode", c.text, ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for i, method := range []string{"dopri5", "rk4", "tsit5", "vern7"} {
				if i > 1 && !strings.Contains(c.text, "event") && !strings.Contains(c.text, "dense") {
					continue
				}
				checkSecond(t, m, Options{Settings: []Setting{
					{"solver.method", method},
					{"sens.order", "2"},
					{"solver.hmax", "0.05"},
					{"sens.trust", "off"},
				}})
			}
		})
	}
}

func checkSecond(t *testing.T, m *tested, opts Options) {
	t.Helper()
	ctx := context.Background()
	s, err := m.Sensitivities(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	plain := opts
	plain.Settings = append(plain.Settings[:len(plain.Settings):len(plain.Settings)], Setting{"sens.order", "1"})
	first, err := m.Sensitivities(ctx, plain)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range first.Gradient {
		if x != s.Gradient[i] {
			t.Errorf("asking for the Hessian changed derivative %d from %v to %v", i, x, s.Gradient[i])
		}
	}
	a, err := m.Along(ctx, opts, s.Variables)
	if err != nil {
		t.Fatal(err)
	}
	scales, err := m.Scales(opts)
	if err != nil {
		t.Fatal(err)
	}
	f, err := a.Analytic(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c := s.Columns
	random := elem.NewRand(7)
	for range 3 {
		v := make([]float64, c)
		for k, scale := range scales {
			v[k] = random.Norm() * scale
		}
		want, doubt, err := f.Curvatures(ctx, s.Variables, v)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Values {
			got, size := 0.0, 0.0
			h := s.Hessian[i*c*c : (i+1)*c*c]
			for j := range c {
				for k := range c {
					got += h[j*c+k] * v[j] * v[k]
					size += math.Abs(h[j*c+k] * v[j] * v[k])
				}
			}
			if tol := 1e-9*size + 20*doubt[i] + 1e-10*math.Abs(s.Values[i].Value); !(math.Abs(got-want[i]) <= tol) {
				t.Errorf("%s: %s along %.3v: %.15g, want %.15g ± %.1g (%.2g of the terms)", s.Settings.Method,
					s.Values[i].Name, v, got, want[i], doubt[i], math.Abs(got-want[i])/size)
			} else if size > 0 && doubt[i] > 1e-5*size+1e-10*math.Abs(s.Values[i].Value) {
				t.Errorf("%s: %s is compared with a number that is only known to %.2g of its terms", s.Settings.Method,
					s.Values[i].Name, doubt[i]/size)
			}
		}
	}
	for i, x := range s.Asymmetry {
		if !(x <= 1e-9) {
			t.Errorf("%s: the Hessian of %s is asymmetric by %.2g", s.Settings.Method, s.Values[i].Name, x)
		}
	}
}

// TestSecondOfEveryMethod checks every method, with events and observations: Hessians must be
// symmetric, and close to those of another method.
func TestSecondOfEveryMethod(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	for _, k := range []int{3, 5} {
		m, err := Parse("m.ode", secondModels[k].text, ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		hessian := func(method string) *result.Sensitivities {
			s, err := m.Sensitivities(t.Context(), Options{Settings: []Setting{
				{"solver.method", method},
				{"sens.order", "2"},
				{"solver.fixed_step", "0.02"},
			}})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		want := hessian("vern9")
		for _, method := range methods.All() {
			if method.Can.Has(solvers.SplitRates) { // imex_test.go
				continue
			}
			first, method := method.Order == 1, method.Name
			s := hessian(method)
			most, off := 0.0, 0.0
			for i, x := range s.Hessian {
				most, off = max(most, math.Abs(want.Hessian[i])), max(off, math.Abs(x-want.Hessian[i]))
			}
			if limit := map[bool]float64{true: 0.8, false: 3e-2}[first]; !(off <= limit*most) || most == 0 {
				t.Errorf("%s: off by %.2g of the largest", method, off/most)
			}
			for i, x := range s.Asymmetry {
				if !(x <= 1e-9) {
					t.Errorf("%s: the Hessian of %s is asymmetric by %.2g", method, s.Values[i].Name, x)
				}
			}
		}
	}
}

// TestSecondOfBounce compares the second derivatives of a bounce's time and of the height after it
// with closed forms. With t₁ = √(2h₀/g) and w = √(2h₀g), the height at T is (1 + e)Tw - (2e + 1)h₀ -
// gT²/2. A Runge–Kutta method solves this problem exactly, but for rounding.
func TestSecondOfBounce(t *testing.T) {
	m, err := Parse("ball.ode", `
time t from 0 to T
param g = 9.81, e = 0.8, h0 = 1, T = 0.9
state h = h0, v = 0
h' = v
v' = -g
event bounce when h <= 0 { v = -e*v }
objective t1 = event_time(bounce, 1)
objective height = final(h)
`, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(t.Context(), Options{
		Wrt:      []string{"g", "e", "h0", "T"},
		Settings: []Setting{{"sens.order", "2"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const g, e, h0, T = 9.81, 0.8, 1, 0.9
	t1, w := math.Sqrt(2*h0/g), math.Sqrt(2*h0*g)
	want := []float64{
		3 * t1 / (4 * g * g), 0, -t1 / (4 * g * h0), 0,
		0, 0, 0, 0,
		-t1 / (4 * g * h0), 0, -t1 / (4 * h0 * h0), 0,
		0, 0, 0, 0,

		-(1 + e) * T * w / (4 * g * g), T * w / (2 * g), (1 + e) * T * w / (4 * g * h0), (1+e)*w/(2*g) - T,
		T * w / (2 * g), 0, T*w/(2*h0) - 2, w,
		(1 + e) * T * w / (4 * g * h0), T*w/(2*h0) - 2, -(1 + e) * T * w / (4 * h0 * h0), (1 + e) * w / (2 * h0),
		(1+e)*w/(2*g) - T, w, (1 + e) * w / (2 * h0), -g,
	}
	if len(s.Hessian) != len(want) {
		t.Fatalf("%d second derivatives, want %d", len(s.Hessian), len(want))
	}
	for i, x := range s.Hessian {
		if !(math.Abs(x-want[i]) <= 1e-12) {
			t.Errorf("number %d is %.16g, want %.16g", i, x, want[i])
		}
	}
}

// TestSecondConverges checks that second derivatives of the computed solution converge to those of the
// exact one with the order of the method.
func TestSecondConverges(t *testing.T) {
	m, err := Parse("m.ode", secondModels[0].text, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const k, a, end = 0.7, 1.3, 2
	want := []float64{a * end * end * math.Exp(-k*end), -end * math.Exp(-k*end), -end * math.Exp(-k*end), 0}
	last := 0.0
	for i, h := range []string{"0.1", "0.05", "0.025"} {
		s, err := m.Sensitivities(t.Context(), Options{
			Of:       []string{"J"},
			Settings: []Setting{{"sens.order", "2"}, {"solver.method", "rk4"}, {"solver.fixed_step", h}},
		})
		if err != nil {
			t.Fatal(err)
		}
		off := 0.0
		for j, x := range s.Hessian {
			off = max(off, math.Abs(x-want[j]))
		}
		if i > 0 && !(last/off > 14 && last/off < 18) {
			t.Errorf("half the step makes the error %.3g times smaller, want 16", last/off)
		}
		last = off
	}
}

// TestProducts checks that a product is the Hessian times its vector, for every way to give the
// vector, and that Runners give the same with other values.
//
//odes:goroutines
func TestProducts(t *testing.T) {
	for _, c := range secondModels {
		m, err := Parse("m.ode", c.text, ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		plain, err := m.Sensitivities(t.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := plain.Columns
		v := make([]float64, n)
		text := make([]string, n)
		random := elem.NewRand(3)
		for i := range v {
			v[i] = random.Norm()
			text[i] = strconv.FormatFloat(v[i], 'g', -1, 64)
		}
		both := []Setting{{"sens.order", "2"}, {"sens.hvp", "[" + strings.Join(text, ", ") + "]"}}
		s, err := m.Sensitivities(t.Context(), Options{Settings: both})
		if err != nil {
			t.Fatal(err)
		}
		only, err := m.Sensitivities(t.Context(), Options{Direction: v})
		if err != nil {
			t.Fatal(err)
		}
		if only.Hessian != nil || plain.Hessian != nil || plain.Products != nil ||
			len(only.Products) != len(s.Values)*n {
			t.Fatalf("%s: not what was asked for", c.name)
		}
		for i := range s.Values {
			size := 0.0
			for _, x := range s.Second(i) {
				size = max(size, math.Abs(x))
			}
			for j := range n {
				sum := 0.0
				for k, x := range s.Second(i)[j*n : (j+1)*n] {
					sum += x * v[k]
				}
				if x := s.Products[i*n+j]; !(math.Abs(x-sum) <= 1e-11*float64(n)*size) {
					t.Errorf("%s: product %d of %s is %.17g, the Hessian gives %.17g", c.name, j, s.Values[i].Name, x,
						sum)
				}
				if x, y := s.Products[i*n+j], only.Products[i*n+j]; x != y {
					t.Errorf("%s: product %d of %s is %v with the Hessian and %v alone", c.name, j, s.Values[i].Name, x,
						y)
				}
			}
		}
	}
}

func TestSecondAtPoints(t *testing.T) {
	m, err := Parse("m.ode", secondModels[2].text, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	opts := Options{Settings: []Setting{{"sens.order", "2"}}}
	r, err := m.Prepare(opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []float64{0.7, 0.75, 0.8} {
		if err := r.Set(Assignment{Name: "e", Values: []float64{e}}); err != nil {
			t.Fatal(err)
		}
		got, err := r.Sensitivities(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		opts.Set = []Assignment{{Name: "e", Values: []float64{e}}}
		want, err := m.Sensitivities(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Hessian, want.Hessian) || !slices.Equal(got.Gradient, want.Gradient) {
			t.Errorf("e = %v: a Runner gives another Hessian than Sensitivities", e)
		}
	}
}

// TestSecondOfRefinedRuns checks that with estimated errors, or to a wanted accuracy, the Hessian is
// that of the last run.
func TestSecondOfRefinedRuns(t *testing.T) {
	m, err := Parse("m.ode", secondModels[1].text, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(t.Context(), Options{Settings: []Setting{
		{"sens.order", "2"},
		{"solver.rtol", "1e-3"},
		{"solver.sens_tol", "1e-8"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Sensitivities(t.Context(), Options{Settings: []Setting{
		{"sens.order", "2"},
		{"solver.rtol", "1e-13"},
		{"solver.atol", "1e-15"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Settings.RTol == 1e-3 {
		t.Fatal("the run was not repeated")
	}
	for i, x := range s.Hessian {
		if !(math.Abs(x-want.Hessian[i]) <= 1e-7*math.Abs(want.Hessian[i])) {
			t.Errorf("second derivative %d is %.12g, want %.12g", i, x, want.Hessian[i])
		}
	}
}

// TestDirectionOfConsts writes the direction of a Hessian's product as expressions of consts. J = Σ exp(-2k_i) has the
// second derivatives 4 exp(-2k_i).
func TestDirectionOfConsts(t *testing.T) {
	for _, v := range []struct {
		text string
		want [2]float64
	}{
		{"w", [2]float64{3, -1}},
		{"[2*i for i in 1:n]", [2]float64{2, 4}},
		{"2*w + [i for i in 1:n]", [2]float64{7, 0}},
		{"ones(n)", [2]float64{1, 1}},
		{"a", [2]float64{3, -1}},
		{"k", [2]float64{0.5, 0.25}},
	} {
		m, err := Parse("m.ode", "const n = 2, w[n] = [3, -1]\nconst a[1,n] = [[3, -1]]\ntime t from 0 to 1\n"+
			"param k[n] = [0.5, 0.25]\nstate x[n] = 1\nx' = -k*x\nobjective J = final(sum(x^2))\n"+
			"sens { wrt = [k]  order = 2  hvp = "+v.text+" }\n", ParseOptions{})
		if err != nil {
			t.Errorf("hvp = %s: %v", v.text, err)
			continue
		}
		s, err := m.Sensitivities(t.Context(), Options{})
		if err != nil {
			t.Errorf("hvp = %s: %v", v.text, err)
			continue
		}
		for i, k := range []float64{0.5, 0.25} {
			if want := 4 * math.Exp(-2*k) * v.want[i]; !(math.Abs(s.Products[i]-want) <= 1e-5) {
				t.Errorf("hvp = %s: product %d is %g, want %g", v.text, i, s.Products[i], want)
			}
		}
	}
}

func TestSecondRefused(t *testing.T) {
	m, err := Parse("m.ode", "time t from 0 to 1\nparam k = 1, v[2] = [1, 2]\nstate x = 1\nx' = -k*x\n"+
		"objective J = final(x)*(1 + v[1])\nsens { wrt = [k, initial(x)] }\n", ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ key, value, want string }{
		{"sens.order", "3", "sens.order is 1 or 2"},
		{"sens.hvp", "[1]", "sens.hvp has 1 number for 2 elements (k, initial(x)); it takes one for each, in " +
			"this order"},
		{"sens.hvp", "w", `sens.hvp names no param "w"`},
		{"sens.hvp", "k", "sens.hvp has 1 number for 2 elements"},
		{"sens.hvp", `"k"`, "sens.hvp takes a number for each element of wrt"},
		{"sens.hvp", "ones(3)", "sens.hvp has 3 numbers for 2 elements"},
		{"sens.hvp", "[1, k]", "sens.hvp takes a number for each element of wrt"},
		{"sens.hvp", "[1, inf]", "sens.hvp holds something that is not a finite number"},
	} {
		_, err := m.Sensitivities(t.Context(), Options{Settings: []Setting{{c.key, c.value}}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %s: %v, want %q", c.key, c.value, err, c.want)
		}
	}
	for _, mode := range settings.Words("sens", "mode") {
		s, err := m.Sensitivities(t.Context(), Options{Settings: []Setting{
			{"sens.hvp", "v"},
			{"sens.order", "2"},
			{"sens.mode", mode},
		}})
		if m, ok := sens.LookupMode(mode); ok && !m.Exact {
			if err == nil || !strings.Contains(err.Error(), "mode = "+mode+" differentiates the equations first") {
				t.Errorf("%s: %v", mode, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(s.Hessian[0]-2*math.Exp(-1)) < 1e-5) ||
			!(math.Abs(s.Products[0]-s.Hessian[0]-2*s.Hessian[1]) < 1e-14) {
			t.Errorf("%s: %v, %v", mode, s.Hessian, s.Products)
		}
	}
	big, err := Parse("m.ode", "time t from 0 to 1\nparam A[200,200] = 0.001\nstate x[200] = 1\nx' = A @ x\n"+
		"objective J = final(sum(x))\n", ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = big.Sensitivities(t.Context(), Options{Settings: []Setting{{"sens.order", "2"}}})
	if err == nil || !strings.Contains(err.Error(), "the Hessians of 1 objective by 40200 variables need") {
		t.Errorf("a Hessian of 13 GB: %v", err)
	}
	// Its products with a vector are no trouble.
	v := make([]float64, 40_200)
	for i := range 200 {
		v[201*i] = 1 // the diagonal of A
	}
	s, err := big.Sensitivities(t.Context(), Options{Direction: v})
	if err != nil {
		t.Fatal(err)
	}
	// x_i = Σ_j exp(A)_ij is exp(0.2) for all i; moving A by εI makes it exp(0.2 + ε), so vᵀHv = 200 exp(0.2).
	sum := 0.0
	for i, x := range v {
		sum += x * s.Products[i]
	}
	if want := 200 * math.Exp(0.2); !(math.Abs(sum-want) < 1e-4*want) {
		t.Errorf("vᵀHv = %v, want %v", sum, want)
	}
}
