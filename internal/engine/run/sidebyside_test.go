package run_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
)

// sideBySide runs n members of a model in lanes, with values that value gives, and compares each with a run of its own,
// bit for bit. It returns how many were made in lanes.
func sideBySide(
	t *testing.T, m *odes.Model, opts odes.Options, n int, gradient bool, value func(i int) []odes.Assignment,
) (made int) {
	t.Helper()
	opts.Set = value(0)
	opts.Threads = 1
	opts.Settings = append(slices.Clone(opts.Settings), odes.Setting{Key: "sens.trust", Value: "off"})
	if !gradient {
		opts.Wrt = []string{}
	}
	lanes, err := m.Lanes(opts, gradient)
	if err != nil {
		t.Fatal(err)
	}
	if lanes == nil {
		return 0
	}
	alone, err := m.Prepare(opts)
	if err != nil {
		t.Fatal(err)
	}
	values, _, columns, err := m.Wanted(opts)
	if err != nil {
		t.Fatal(err)
	}
	width := len(values)
	if gradient {
		width *= 1 + columns
	}
	rows, steps := make([][]float64, n), make([]int, n)
	for i := range rows {
		rows[i] = make([]float64, width)
	}
	lanes.Run(t.Context(), n, value, func(i int) []float64 { return rows[i] }, steps)
	want := make([]float64, width)
	for i, got := range rows {
		if steps[i] < 0 {
			continue
		}
		made++
		if err := alone.Set(value(i)...); err != nil {
			t.Fatal(err)
		}
		taken := 0
		if gradient {
			s, err := alone.Sensitivities(t.Context())
			if err != nil {
				t.Fatalf("member %d: alone %v", i, err)
			}
			for k, v := range s.Values {
				want[k] = v.Value
			}
			copy(want[len(values):], s.Gradient)
			taken = s.Stats.Steps
		} else if taken, err = alone.Values(t.Context(), want); err != nil {
			t.Fatalf("member %d: alone %v", i, err)
		}
		if steps[i] != taken {
			t.Errorf("member %d of %d: %d steps, alone %d", i, n, steps[i], taken)
		}
		for k := range want {
			if math.Float64bits(got[k]) != math.Float64bits(want[k]) {
				t.Fatalf("member %d of %d: number %d is %v, alone %v", i, n, k, got[k], want[k])
			}
		}
	}
	return made
}

// Models for lanes: every kind of rate, objective and observation that they take.
var laneModels = map[string]string{
	"predators": `
time t from 0 to 6
param a = 1.5, b = 1, c = 3, d = 1
state x = 1
state y = a/2
x' = a*x - b*x*y
y' = -c*y + d*x*y
objective J = final(x) + final(y)^2
objective K = integral(x*y)
objective L = max(final(x), 2)/b
`,
	"functions": `
time t from 0 to 3
param a = 0.7, b = 1.2, c = 0.4, d = 2
param f = a*b
state x = 0.3
state y = 1
state z = d
x' = sin(a*t) - b*tanh(x) + exp(-c*y)
y' = f*x/(1 + y^2) - z
z' = -c*z^1.5 + log(1 + d + x^2)
objective J = final(x*y*z)
objective K = integral(exp(-t)*x^2)
`,
	"array": `
time t from 0 to 2
param a = 0.5, b = 1, c = 2, d = 0.1
param A[3,3] = [[-1, a, 0], [0.2, -1.5, 0.3], [d, 0.1, -2]]
state u[3] = [1, 0.5, c]
u' = A@u + b*u*(1 - u)
objective J = final(sum(u^2))
`,
	"constants": `
time t from 0 to 2
param a = 0.5, b = 1, c = 2, d = 0.1
state x = d, z = 0
state u[2] = [a, b]
x' = -a*x + z*u[2]
z' = 1
u' = [0.5, -2]
objective J = final(x*z)
objective K = integral(1) + integral(x^2) + final(u[1])*c
`,
	"chirp": `
time t from 0 to 4
param a = 1, b = 3, c = 0.5, d = 1
state x = d
x' = -a*x + c*sin(b*t)
observe measured = x ~ normal(0.1) from Seen.x
data Seen { time = [0, 0.5, 1.7, 3, 4]  x = [1, 0.7, 0.5, 0.1, 0.2] }
objective L = nll()
`,
}

// Models whose steps end at times that move, and what happens there. Nine objectives go back twice.
var movingModels = map[string]string{
	"end": `
time t from 0 to T
param T = 3, a = 1.5, b = 1, c = 3, d = 1
state x = 1
state y = a/2
x' = a*x - b*x*y
y' = -c*y + d*x*y
objective J = final(x) + final(y)^2
objective K = integral(x*y)
`,
	"nine": `
time t from 0 to 2*d + 1
param a = 1.5, b = 1, c = 3, d = 1
state x = d
state v = 0
x' = v
v' = -a*x
event turn when x < -0.5*b { x = -0.5*b  v = -0.9*v }
objective J = integral(x, from = b, to = 2*d + 1)
objective K = at_event(turn, pre(v)*post(v)) + event_time(turn, 1)
objective L = final(x)
objective O = final(v)
objective P = final(x)^2
objective Q = final(v)^2
objective R = final(x)*final(v)
objective S = integral(x*v)
objective U = integral(c*x^2)
`,
	"start": `
time t from b to 2*d + 3
param a = 1.5, b = 1, c = 3, d = 1
state x = 1
state y = a/2
x' = a*x - b*x*y*(1 + 0.1*sin(t))
y' = -c*y + d*x*y
objective J = final(x)
objective K = integral(x*y, from = b + 0.5, to = d + 2)
`,
	"doses": `
time t from 0 to 5
param a = 1, b = 3, c = 0.5, d = 1
state x = 0
state y = d
x' = -a*x
y' = a*x - c*y
event first at 0 { x += 2*b }
event later at 1 { x += b }
event again every 1.5 from 2 { x = x + d  y = y*0.9 }
objective J = final(y)
objective K = integral(y^2) + at_event(again, pre(y)*post(x))
`,
	"moving doses": `
time t from 0 to 4 + c
param a = 1, b = 3, c = 0.5, d = 1
state x = 0
state y = d
x' = -a*x + 0.1*cos(b*t)
y' = a*x - c*y
discrete n = 0
event first at d { x += 2*b  n += x }
event again every c + 0.3 from d { x = x + d + 0.01*n  y = y*0.9 }
objective J = final(y) + final(n)
objective K = integral(y^2) + event_time(again, 2)
`,
	"a rounding later": `
time t from 0 to 3
param a = 1.5, b = 1, c = 1.5, d = 1
state x = d
state y = b
x' = -a*x + 0.1*sin(7*c*t)
y' = x*cos(b*t) - y*t*c
event first at 1 { x += b }
event sooner at 1.0000000000000007 priority 5 { y = 0.5*y + x }
objective J = final(y)
objective K = integral(x*y*t)
`,
	"a moment later": `
time t from 0 to 3
param a = 1.5, b = 1, c = 1.5, d = 1
state x = d
state y = b
x' = -a*x + 0.1*sin(7*c*t)
y' = x*cos(b*t) - y*t*c
event first at 1 { x += b }
event sooner at 1.005 priority 5 { y = 0.5*y + x }
objective J = final(y)
objective K = integral(x*y*t)
solver { event_tol = 0.01 }
`,
	"guard": `
time t from 0 to 6
param a = 1.5, b = 1, c = 3, d = 1
state x = 1
state y = a/2
discrete hits = 0
x' = a*x - b*x*y
y' = -c*y + d*x*y
event low when x < 0.4*b { x = x + 0.1  hits += d }
event high when y > 2 { y = y - 0.5*d }
objective J = final(x) + final(y)^2 + final(hits)
objective K = integral(x*y)
objective L = at_event(low, post(x)*pre(y)) + at_event(high, pre(x)*t)
`,
	"modes": `
time t from 0 to 5
param a = 1.5, b = 1, c = 3, d = 1
state x = d
state v = 0
x' = v
v' = if x > 0.1*b then -a*x - 0.1*v + sin(c*t) else -5*x - d*v
objective J = final(x)
objective K = integral(max(x, 0.2)) + integral(abs(v))
`,
	"corners": `
time t from 0 to 3
param a = 1.5, b = 1, c = 3, d = 1
state x = 1
x' = -a*x + d*abs(t - b) + max(t^2, c) + interp([0, b, 2, 3], [0, 1, c, d], t)
event kick at b { x += d*t }
objective J = final(x)
objective K = integral(x*abs(t - 2*b), from = b)
`,
	"together": `
time t from 0 to 3
param a = 1.5, b = 1, c = 3, d = 1
state x = 1
discrete n = a, m = 0.5*b
x' = -c*x + d
event first at 0.5*a*b { n = 2*n  m = 0.5*m  x += 0.1 }
event second at n*m { x = x + 0.2*t }
objective J = final(x)
objective K = integral(x^2) + event_time(second, 1)
`,
	"window": `
time t from 0 to 5
param a = 1.5, b = 1, c = 3, d = 1
state x = d
x' = -a*x + (if t > b and t < b + c/2 then c else 0)
objective J = final(x)
objective K = integral(x*t, from = b)
`,
}

// laneModes are the modes whose derivatives are made in lanes.
var laneModes = []string{"adjoint", "tangent", "forward"}

// laneValues are values of the params of laneModels.
func laneValues(i int) []odes.Assignment {
	r := rand.New(rand.NewPCG(uint64(i), 7))
	set := func(name string, around float64) odes.Assignment {
		return odes.Assignment{Name: name, Values: []float64{around * (0.8 + 0.4*r.Float64())}}
	}
	return []odes.Assignment{set("a", 1.5), set("b", 1), set("c", 1.5), set("d", 1)}
}

func TestSideBySide(t *testing.T) {
	t.Parallel()
	for name, text := range laneModels {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for i, method := range []string{"dopri5", "", "dop853", "tsit5", "bs3", "rk6"} {
				opts := odes.Options{Settings: []odes.Setting{
					{Key: "sens.mode", Value: "adjoint"}, {Key: "solver.rtol", Value: "1e-7"},
				}}
				if method != "" {
					opts.Settings = append(opts.Settings, odes.Setting{Key: "solver.method", Value: method})
				}
				n := 1 + (7*i+len(text))%17
				for _, gradient := range []bool{true, false} {
					if got := sideBySide(t, m, opts, n, gradient, laneValues); got != n {
						t.Errorf("%s: %d of %d in lanes", method, got, n)
					}
				}
			}
		})
	}
}

// TestSideBySideMoving has models whose steps end at times that move.
func TestSideBySideMoving(t *testing.T) {
	t.Parallel()
	for name, text := range movingModels {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for i, method := range []string{"dopri5", "", "dop853", "tsit5", "bs3", "rk6"} {
				opts := odes.Options{Settings: []odes.Setting{
					{Key: "sens.mode", Value: "adjoint"}, {Key: "solver.rtol", Value: "1e-7"},
				}}
				if method != "" {
					opts.Settings = append(opts.Settings, odes.Setting{Key: "solver.method", Value: method})
				}
				n := 1 + (7*i+len(text))%37
				for _, gradient := range []bool{true, false} {
					if got := sideBySide(t, m, opts, n, gradient, laneValues); got != n {
						t.Errorf("%s: %d of %d in lanes", method, got, n)
					}
				}
			}
		})
	}
}

// TestSideBySideFailures lets some members leave the numbers, and others become stiff.
func TestSideBySideFailures(t *testing.T) {
	t.Parallel()
	m, err := odes.Parse("m.ode", `
time t from 0 to 2
param a = 1
param k = 1
state x = 1
state y = 1
x' = a*x^2
y' = -k*(y - cos(t)) + sqrt(3 - x)*0
objective J = final(y) + final(x)
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 17; n++ {
		value := func(i int) []odes.Assignment {
			a, k := 0.1+0.01*float64(i), 1+float64(i)
			if i%5 == 3 {
				a = 0.6 // the solution ends before the run
			}
			if i%7 == 4 {
				k = 1e6
			}
			return []odes.Assignment{{Name: "a", Values: []float64{a}}, {Name: "k", Values: []float64{k}}}
		}
		want := 0
		for i := range n {
			if i%5 != 3 {
				want++
			}
		}
		for _, mode := range laneModes {
			opts := odes.Options{Settings: []odes.Setting{{Key: "sens.mode", Value: mode}}}
			if got := sideBySide(t, m, opts, n, true, value); got != want {
				t.Errorf("%s: %d of %d in lanes, want %d", mode, got, n, want)
			}
		}
	}
}

// TestSideBySideInvariants has members whose invariant does not hold at the start. Alone they fail, so they are in no
// lane. That others lose it on the way is no more than a warning.
func TestSideBySideInvariants(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"dopri5", "rodas5p"} {
		m, err := odes.Parse("m.ode", `
time t from 0 to 1
param a = 1, k = 0
state x = a, y = 0
x' = -10*x + y
y' = 10*x - y + k
invariant x + y == 1
objective J = final(x)
sens { mode = adjoint }
solver { method = `+method+` }
`, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		value := func(i int) []odes.Assignment {
			a := 1.0
			if i%4 == 3 {
				a = 1.1
			}
			return []odes.Assignment{{Name: "a", Values: []float64{a}}, {Name: "k", Values: []float64{float64(i % 3)}}}
		}
		for _, gradient := range []bool{false, true} {
			if got := sideBySide(t, m, odes.Options{}, 20, gradient, value); got != 15 {
				t.Errorf("%s, gradient %t: %d of 20 in lanes, want 15", method, gradient, got)
			}
		}
	}
}

// TestSideBySideLong has a member of so many steps that their blocks would fill the memory. Values alone keep none.
func TestSideBySideLong(t *testing.T) {
	t.Parallel()
	m, err := odes.Parse("m.ode", `
time t from 0 to 1
param w = 1
state u[8] = 1, v[8] = 0
u' = w*v
v' = -w*u
objective J = final(u[1])
solver { method = dop853  rtol = 1e-9 }
sens { mode = adjoint }
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	value := func(i int) []odes.Assignment {
		w := 1 + float64(i)
		if i == 3 {
			w = 3e4
		}
		return []odes.Assignment{{Name: "w", Values: []float64{w}}}
	}
	for _, gradient := range []bool{false, true} {
		want := 10
		if gradient {
			want = 9
		}
		if got := sideBySide(t, m, odes.Options{}, 10, gradient, value); got != want {
			t.Errorf("gradient %t: %d of 10 in lanes, want %d", gradient, got, want)
		}
	}
}

// TestSideBySideKept has members whose events change so many discretes that what is kept of them would fill the memory.
// Values alone keep nothing.
func TestSideBySideKept(t *testing.T) {
	t.Parallel()
	m, err := odes.Parse("m.ode", `
time t from 0 to 1
param w = 0.1
state x = 1
discrete n[1000] = 0
x' = -w*x + sin(t)
event e every w from w { n = n + x }
objective J = final(sum(n))
solver { method = dopri5 }
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	value := func(i int) []odes.Assignment {
		w := 0.1 + 0.001*float64(i)
		if i%4 == 3 {
			w = 0.0021 // 16 MB
		}
		return []odes.Assignment{{Name: "w", Values: []float64{w}}}
	}
	for gradient, want := range map[bool]int{false: 12, true: 9} {
		for _, mode := range laneModes {
			opts := odes.Options{Settings: []odes.Setting{{Key: "sens.mode", Value: mode}}}
			if got := sideBySide(t, m, opts, 12, gradient, value); got != want {
				t.Errorf("%s, gradient %t: %d of 12 in lanes, want %d", mode, gradient, got, want)
			}
		}
	}
}

// scalars are that many states that are no array.
func scalars(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "state u%d = 1\nu%d' = -%d*k*u%d\n", i, i, 1+i%3, i)
	}
	return b.String()
}

// TestNotSideBySide has models that lanes do not take.
func TestNotSideBySide(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"steady":   "x' = 1 - k*x\nobjective J = steady(x)\n",
		"implicit": "x' = 1 - k*x\nobjective J = final(x)\nsolver { method = radau5 }\n",
		"pairs": "x' = sum(u) - k*x\nstate u[7] = 1\nu' = -1e3*u*sum(u)*x\n" +
			"objective J[i] = final(u[i]) for i in 1:5\nsolver { method = rodas5p }\n",
		"many objectives": "x' = sum(u) - k*x\nstate u[11] = 1\nu' = -1e3*u*sum(u)*x\n" +
			"objective J[i] = final(u[i]) for i in 1:5\nsolver { method = rodas5p }\n",
		"long arrays": "x' = 1 - k*x\nstate u[17] = 1\nu' = k*u*(1 - u)/(1 + x) - u*x\nobjective J = final(x)\n",
		"functions": "x' = 1 - k*x\nstate u[6] = 1\n" +
			"u[i]' = sum(sin(u[j] - u[i]) for j in 1:6) for i in 1:6\nobjective J = final(x)\n",
		"very many": "x' = 1 - k*x\n" + scalars(64) + "objective J = final(x)\n",
	} {
		m, err := odes.Parse("m.ode", "time t from 0 to 1\nparam k = 1\nstate x = 1\n"+text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(name, err)
		}
		opts := odes.Options{Settings: []odes.Setting{{Key: "sens.trust", Value: "off"}}}
		if l, err := m.Lanes(opts, true); err != nil || l != nil {
			t.Errorf("%s: lanes %v, error %v", name, l, err)
		}
	}
}

// drawnEvents writes a model with events, conditions and observations of all kinds that lanes take, and random numbers
// in it. Params are those of laneValues.
func drawnEvents(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	num := func(from, to float64) string { return fmt.Sprintf("%.3f", from+(to-from)*r.Float64()) }
	var b strings.Builder
	b.WriteString("time t from " + pick("0", "0.1*b", "0") + " to " + pick("3", "2 + c", "3*d") + "\n")
	b.WriteString("param a = 1.5, b = 1, c = 1.5, d = 1\n")
	b.WriteString("state x = " + num(0.2, 1) + "*d\nstate y = " + pick("a", "0.5", "b*c") + "\n")
	b.WriteString("discrete n = " + pick("0", "0.2*a") + "\n")
	drive := pick("", " + "+num(0.1, 1)+"*sin("+num(1, 5)+"*t)", " + c*cos(b*t)", " + 0.3*n", " + max(0.2, x)*0.1",
		" + d*abs(t - b)", " + interp([0, 0.7, b, 2, 9], [0, a, 1, c, d], t)")
	switch r.IntN(4) {
	case 0:
		b.WriteString("x' = y\ny' = -9*a" + drive + "\n")
	case 1:
		b.WriteString("x' = a*x - b*x*y" + drive + "\ny' = -c*y + d*x*y\n")
	case 2:
		b.WriteString("x' = y + 0*a\ny' = " + num(1, 9) + "*(c - x) - 0.2*b*y" + drive + "\n")
	default:
		b.WriteString("x' = (if y > 0.7*c then a else -b)" + drive + "\ny' = -d*y + x^2/(1 + x^2)\n")
	}
	if r.IntN(3) == 0 {
		b.WriteString("state z = 0\nz' = " + pick("1", "-0.5", "0") + "\n")
	}
	body := func() string {
		return pick("x += 0.1*d", "y = -0.7*y", "n += b  y = y*0.9", "x = 0.5*x + 0.2  n = n + t", "y = y + 0.2*c*x",
			"x = abs(x) + 0.1  y = -d*y")
	}
	var events []string
	for i := range 1 + r.IntN(3) {
		name := string(rune('e' + i))
		when := ""
		switch r.IntN(6) {
		case 0:
			when = "when x <= " + num(-0.2, 0.6)
		case 1:
			when = "when y > " + num(0.5, 2) + "*d"
		case 2:
			when = "when x*y > " + num(0.3, 1) + "*c" + pick("", " once")
		case 3:
			when = pick("at "+num(0.3, 2), "at b + 0.2", "at 0")
		case 4:
			when = "every " + pick("0.7", "0.5*c") + " from " + pick("0.4", "b")
		default:
			when = "when x crosses " + num(0.3, 1) + "*a"
		}
		b.WriteString("event " + name + " " + when + " { " + body() + " }\n")
		events = append(events, name)
	}
	e := pick(events...)
	objectives := 1 + r.IntN(3)
	if r.IntN(6) == 0 { // more than are swept together
		objectives = 5 + r.IntN(6)
	}
	for i := range objectives {
		b.WriteString("objective J" + strconv.Itoa(i) + " = " + pick(
			"final(x) + final(y)^2", "integral(x*y)", "integral(x^2, from = 0.5*b, to = 2)", "final(n) + final(x)*b",
			"at_event("+e+", pre(x)*post(y) + t)", "event_time("+e+", 1)", "sum_at([0.5, a, 1.9], x*y)",
			"integral(x, from = 0.7)",
		) + "\n")
	}
	return b.String()
}

// TestSideBySideDrawn has models with events that are drawn by the hundred.
func TestSideBySideDrawn(t *testing.T) {
	t.Parallel()
	drawn(t, seeds.Of(t, 0), 11, func(k int, r *rand.Rand) (text string, opts odes.Options, gradient bool) {
		text = drawnEvents(r)
		opts = odes.Options{Settings: []odes.Setting{
			{Key: "sens.mode", Value: laneModes[k/5%3]},
			{Key: "solver.rtol", Value: "1e-6"},
			{Key: "solver.method", Value: []string{"dopri5", "tsit5", "dop853", "bs3", "rodas5p"}[k%5]},
		}}
		return text, opts, k%7 != 3
	})
}

// howMany returns how many models are drawn: fewer in a short run.
func howMany(all, short int) int {
	if testing.Short() {
		return short
	}
	return all
}

// drawn compares members of models that are drawn, some hundred of them, in lanes and alone. draw returns the text of
// model k, its options, and whether derivatives are wanted. Of most models, some members must be made in lanes.
func drawn(t *testing.T, first, stream uint64, draw func(k int, r *rand.Rand) (string, odes.Options, bool)) {
	t.Helper()
	models := howMany(150, 40)
	made, refused := 0, 0
	for k := range models {
		r := rand.New(rand.NewPCG(first+uint64(k), stream))
		text, opts, gradient := draw(k, r)
		m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		n := 1 + r.IntN(19)
		t.Run(strconv.Itoa(k), func(t *testing.T) {
			got := sideBySide(t, m, opts, n, gradient, laneValues)
			if made += got; got == 0 {
				refused++
			}
			if t.Failed() {
				t.Log(text)
			}
		})
	}
	t.Logf("%d runs in lanes; of %d models of %d, none", made, refused, models)
	if refused > models/2 {
		t.Errorf("of %d models of %d, no run was made in lanes", refused, models)
	}
}

// TestSideBySideCanceled ends a context while runs are made. What counts as made nevertheless is what runs give that
// nothing stops, and the lanes go on with others as if nothing had been.
func TestSideBySideCanceled(t *testing.T) {
	t.Parallel()
	m, err := odes.Parse("m.ode", movingModels["guard"], odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	canceled(t, m, "dopri5", 40)
}

// canceled ends a context at each of n members of a model.
func canceled(t *testing.T, m *odes.Model, method string, n int) {
	t.Helper()
	for _, mode := range laneModes {
		canceledIn(t, m, method, mode, n)
	}
}

func canceledIn(t *testing.T, m *odes.Model, method, mode string, n int) {
	t.Helper()
	opts := odes.Options{Threads: 1, Set: laneValues(0), Settings: []odes.Setting{
		{Key: "sens.mode", Value: mode},
		{Key: "sens.trust", Value: "off"},
		{Key: "solver.method", Value: method},
	}}
	lanes, err := m.Lanes(opts, true)
	if err != nil || lanes == nil {
		t.Fatal(lanes, err)
	}
	values, _, columns, err := m.Wanted(opts)
	if err != nil {
		t.Fatal(err)
	}
	run := func(cancelAt int) (rows [][]float64, steps []int) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for range n {
			rows = append(rows, make([]float64, len(values)*(1+columns)))
		}
		steps = make([]int, n)
		lanes.Run(ctx, n, func(i int) []odes.Assignment {
			if i == cancelAt {
				cancel()
			}
			return laneValues(i)
		}, func(i int) []float64 { return rows[i] }, steps)
		return rows, steps
	}
	want, all := run(-1)
	for at := range n {
		rows, steps := run(at)
		for i, s := range steps {
			if s >= 0 && (s != all[i] || !slices.Equal(rows[i], want[i])) {
				t.Fatalf("canceled at member %d: member %d has %v, want %v", at, i, rows[i], want[i])
			}
		}
	}
	rows, steps := run(-1)
	if !slices.Equal(steps, all) || !slices.EqualFunc(rows, want, slices.Equal[[]float64]) {
		t.Error("lanes differ after they were canceled")
	}
}
