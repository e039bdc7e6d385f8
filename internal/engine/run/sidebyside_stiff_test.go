package run_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/internal/testing/seeds"
)

// rosenbrocks are the Rosenbrock methods.
var rosenbrocks = []string{"rodas5p", "rodas4", "rodas4p", "ros3p", "rodas3", "rosenbrock23"}

// stiffLanes are stiff models: with rows that are exchanged now and then, integrals, and what else happens in a run.
var stiffLanes = map[string]string{
	"reactions": `
time t from 0 to 40
param a = 1.5, b = 1, c = 1.5, d = 1
state A = b, B = 0, C = 0
A' = -0.04*a*A + 1e4*B*C
B' = 0.04*a*A - 1e4*B*C - 3e7*c*B^2
C' = 3e7*c*B^2
invariant A + B + C == b
objective J = final(A) + d*final(B)*1e4
objective K = integral(C)
`,
	"relaxation": `
time t from 0 to 3
param a = 1.5, b = 1, c = 1.5, d = 1
state x = 2*b, y = 0
x' = y
y' = 1000*((1 - x^2)*y - a*x) + c*sin(3*t)
objective J = final(x) + d*final(y)
objective K = integral(x^2)
`,
	"oregonator": `
time t from 0 to 320
param a = 1.5, b = 1, c = 1.5, d = 1
state X = 1, Y = 2*b, Z = 3
X' = 51*a*(Y - X*Y + X - 8.375e-6*X^2)
Y' = (Z - Y - X*Y)/(51*c)
Z' = 0.161*d*(X - Z)
objective J = final(log(X))
`,
	"one": `
time t from 0 to 2
param a = 1.5, b = 1, c = 1.5, d = 1
state x = d
x' = -1e4*a*(x - cos(b*t)) + c
objective J = final(x)
objective K = integral(x*t)
`,
	"events": `
time t from 0 to 2
param a = 1.5, b = 1, c = 1.5, d = 1
state x = d, y = 0
discrete n = 0
x' = -1000*a*(x - y) - (if x > 0.4*b then 0.1 else 0.3*c)
y' = 500*(x - y) - 0.2*y*b
event low when x < 0.3*b { x = x + 0.2*d  n += y }
event dose every 0.3*c from 0.1 { y = y + 0.1*a  x = 0.9*x }
event late at d { x += 0.5 }
objective J = final(x) + final(n)
objective K = integral(x*y, from = 0.2*a, to = 1.1 + 0.1*b) + at_event(dose, pre(x)*post(y), nth = 1)
`,
	"chain": `
time t from 0 to 2
param a = 1.5, b = 1, c = 1.5, d = 1
state u[9] = [d, 0, 0, 0, b, 0, 0, 0, 1]
u[1]' = -3e3*a*u[1] + 100*b*u[2]^2
u[i]' = 1e3*c*(u[i - 1] - u[i])*u[1] - 50*d*u[i]*u[i + 1] for i in 2:8
u[9]' = u[8] - b*u[9] + sin(c*t)
objective J[i] = final(u[i]) for i in 1:9
`,
	"tridiagonal": `
time t from 0 to 2
param a = 1.5, b = 1, c = 1.5, d = 1
state u[4] = [d, 0, b, 0]
u[1]' = 2e3*a*(u[2] - u[1]) - u[1]^2
u[i]' = 2e3*a*(u[i - 1] - 2*u[i] + u[i + 1]) - c*u[i]^2 for i in 2:3
u[4]' = 2e3*a*(u[3] - u[4]) + sin(d*t)
objective J = final(u[1]) + final(u[4])^2
objective K = integral(u[2])
`,
	"line": `
time t from 0 to 2
param a = 1.5, b = 1, c = 1.5, d = 1
state x = d, y = 0, z = b
x' = -3e3*a*x + c
y' = 3e3*a*x - 40*b*y*y
z' = 40*b*y - d*z
objective J = final(y)*final(z)
`,
	"apart": `
time t from 0 to 2
param a = 1.5, b = 1, c = 1.5, d = 1
state x = d, y = 0, z = b
x' = -3e3*a*(x - cos(c*t))
y' = 1 - 200*b*y^2
z' = -d*z
objective J = final(x)*final(y)*final(z)
`,
	"observed": `
time t from 0.1*b to 1 + d
param a = 1.5, b = 1, c = 1.5, d = 1
state x = d, y = a
x' = -2000*a*(x - y^2) + c
y' = -y*b + 0.1*x
objective J = sum_at([0.3, 0.5*a, 1.3], x*y)
objective K = integral(exp(-t)*x)
`,
	"all on all": `
time t from 0 to 2
param a = 1.5, b = 1, c = 1.5, d = 1
state u[10] = [0.1*d + 0.05*i for i in 1:10]
u[i]' = u[i]*(a - 300*b*i*u[i] - c*sum(u)) + 1e-3*d for i in 1:10
objective J[i] = final(u[i]) for i in 1:4
`,
	"organs": organs(17),
}

// organs is a drug in that many organs around the blood, each a state of its own.
func organs(n int) string {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	var b, out strings.Builder
	b.WriteString("time t from 0 to 4\nparam a = 1.5, b = 1, c = 1.5, d = 1\nstate gut = d, blood = 0\ngut' = -a*gut\n")
	for i := range n - 2 {
		flow, volume := math.Pow(10, 2*r.Float64()-1), math.Pow(10, 2*r.Float64()-2)
		fmt.Fprintf(&b, "state o%d = 0\no%d' = %.3g*b*(blood/%.3g - o%d)", i, i, flow/volume, 0.5+r.Float64(), i)
		if i%7 == 0 {
			fmt.Fprintf(&b, " - 5*c*o%d/(0.01 + o%d)", i, i)
		}
		fmt.Fprintf(&out, " + %.3g*b*(o%d - blood)", flow, i)
		b.WriteString("\n")
	}
	b.WriteString("blood' = a*gut" + out.String() + "\nobjective J = final(blood) + final(o0)\n")
	b.WriteString("objective K = integral(o1)\n")
	return b.String()
}

func TestSideBySideRosenbrock(t *testing.T) {
	t.Parallel()
	for name, text := range stiffLanes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for i, method := range rosenbrocks {
				rtol := []string{"1e-6", "1e-4"}[i%2]
				opts := odes.Options{Settings: []odes.Setting{
					{Key: "sens.mode", Value: "adjoint"},
					{Key: "solver.rtol", Value: rtol},
					{Key: "solver.method", Value: method},
					{Key: "solver.atol", Value: "1e-9"},
				}}
				n := 11 + 7*i
				for _, gradient := range []bool{true, false} {
					if got := sideBySide(t, m, opts, n, gradient, laneValues); got != n {
						t.Errorf("%s, gradient %t: %d of %d in lanes", method, gradient, got, n)
					}
				}
			}
		})
	}
}

// TestSideBySideNorm has so many states that a mean over them is not all that bounds the error of a step.
func TestSideBySideNorm(t *testing.T) {
	t.Parallel()
	m, err := odes.Parse("m.ode", organs(40), odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, method := range []string{"rodas5p", "auto"} {
		for _, mode := range laneModes[:2] {
			opts := odes.Options{Wrt: []string{"a", "c"}, Settings: tangents(mode, method)}
			n := 5 + 4*i
			if got := sideBySide(t, m, opts, n, true, laneValues); got != n {
				t.Errorf("%s, %s: %d of %d in lanes", method, mode, got, n)
			}
		}
	}
}

// TestSideBySideTies has two rows that are equally good for a pivot, in nearly every step. No program serves there, so
// solvers make the steps, and from some number of them on whole runs.
func TestSideBySideTies(t *testing.T) {
	t.Parallel()
	m, err := odes.Parse("m.ode", `
time t from 0 to 20
param a = 1.5, b = 1, c = 1.5, d = 1
state x = d, y = 0, z = 0
x' = -(y + z) - 0.1*x + b*sin(t)
y' = 1000*a*x - 2000*y + c*z
z' = 1000*a*x - 3000*z + c*y
objective J = final(y)
objective K = integral(y)
solver { method = rodas5p  rtol = 1e-8 }
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n := 70
	for _, mode := range laneModes {
		opts := odes.Options{Settings: []odes.Setting{{Key: "sens.mode", Value: mode}}}
		if got := sideBySide(t, m, opts, n, true, laneValues); got == 0 || got == n {
			t.Errorf("%s: %d of %d in lanes", mode, got, n)
		}
	}
}

// skewSizes are numbers of states of models that skewModel draws.
var skewSizes = []int{1, 2, 3, 4, 5, 6, 7, 8, 17, 12}

// TestSideBySideRandom draws stiff models and makes many members of each. The linear part of the rates has large
// elements everywhere, so that the pivots of members differ.
func TestSideBySideRandom(t *testing.T) {
	t.Parallel()
	models, members := 40, 60
	if testing.Short() {
		models, members = 10, 20
	}
	first := seeds.Of(t, 0)
	for seed := range models {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(first+uint64(seed), 11))
			n, rtol := skewSizes[seed%len(skewSizes)], "1e-5"
			if n > 8 { // else methods of low order make more steps than a lane keeps
				rtol = "1e-3"
			}
			text := skewModel(r, n)
			m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
			if err != nil {
				t.Fatal(err, text)
			}
			opts := odes.Options{Settings: []odes.Setting{
				{Key: "sens.mode", Value: laneModes[seed/3%3]},
				{Key: "solver.rtol", Value: rtol},
				{Key: "solver.method", Value: rosenbrocks[seed%len(rosenbrocks)]},
			}}
			if got := sideBySide(t, m, opts, members, seed%3 > 0, laneValues); got != members {
				t.Errorf("%d of %d in lanes\n%s", got, members, text)
			}
		})
	}
}

// skewModel draws a model of n states x' = -(D + S)·x + …, with D > 0 diagonal and S skew.
func skewModel(r *rand.Rand, n int) string {
	var b strings.Builder
	b.WriteString("time t from 0 to 1\nparam a = 1.5, b = 1, c = 1.5, d = 1\n")
	size := func() float64 { return math.Round(math.Pow(10, 4*r.Float64())) }
	skew := make([][]float64, n)
	for i := range skew {
		skew[i] = make([]float64, n)
		for j := range i {
			if r.IntN(3) > 0 {
				skew[i][j] = size() * float64(1-2*r.IntN(2))
			}
			skew[j][i] = -skew[i][j]
		}
	}
	param := func() string { return []string{"a", "b", "c", "d"}[r.IntN(4)] }
	for i := range n {
		fmt.Fprintf(&b, "state x%d = %.2f*%s\n", i, 2*r.Float64()-1, param())
	}
	for i := range n {
		sum := 0.0 // what keeps oscillations damped
		for _, v := range skew[i] {
			sum += math.Abs(v)
		}
		fmt.Fprintf(&b, "x%d' = -%g*%s*x%d", i, math.Round(0.1*sum+size()), param(), i)
		for j := range n {
			if skew[i][j] != 0 {
				fmt.Fprintf(&b, " + %g*%s*x%d", skew[i][j], "a", j)
			}
		}
		fmt.Fprintf(&b, " - x%d^3 + %s*sin(%s*t)", i, param(), param())
		if n > 1 {
			fmt.Fprintf(&b, " + x%d/(1 + x%d^2)", r.IntN(n), r.IntN(n))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "objective J = final(x%d)*d + final(x0)^2\n", n-1)
	if r.IntN(2) == 0 {
		fmt.Fprintf(&b, "objective K = integral(x0*x%d*t + %s)\n", n-1, param())
	}
	return b.String()
}

// BenchmarkSideBySide is the time of the gradient of one objective, in lanes and alone: one operation is a member.
func BenchmarkSideBySide(b *testing.B) {
	of := map[string][]string{"robertson": {"A_T"}, "hires": {"dose"}, "oregonator": {"X_T"}, "pollution": {"ozone"}}
	for _, method := range []string{"rodas5p", "auto"} {
		stiffBeside(b, method, "adjoint", of)
	}
}

// stiffBeside measures derivatives of objectives of stiff examples by three params, in lanes and alone.
func stiffBeside(b *testing.B, method, mode string, of map[string][]string) {
	around := map[string]float64{
		"k1": 0.04, "k2": 3e7, "k3": 1e4, "p1": 1.71, "p5": 8.75, "p10": 280, "s": 77.27, "w": 0.161, "q": 8.375e-6,
		"k4": 8.6e-4, "k5": 8.2e-4, "k6": 1.5e4,
	}
	for _, model := range []struct {
		name   string
		params []string
	}{
		{"robertson", []string{"k1", "k2", "k3"}},
		{"hires", []string{"p1", "p5", "p10"}},
		{"oregonator", []string{"s", "w", "q"}},
		{"pollution", []string{"k4", "k5", "k6"}},
	} {
		m, err := odes.ParseFile(modeltest.Path("examples/" + model.name + "/" + model.name + ".ode"))
		if err != nil {
			b.Fatal(err)
		}
		value := func(i int) (list []odes.Assignment) {
			r := rand.New(rand.NewPCG(uint64(i), 5))
			for _, p := range model.params {
				list = append(list, odes.Assignment{Name: p, Values: []float64{around[p] * (0.75 + 0.5*r.Float64())}})
			}
			return list
		}
		opts := odes.Options{
			Threads: 1, Of: of[model.name], Wrt: model.params, Set: value(0),
			Settings: []odes.Setting{
				{Key: "solver.method", Value: method},
				{Key: "sens.mode", Value: mode},
				{Key: "sens.trust", Value: "off"},
			},
		}
		besideAlone(b, mode+"/"+model.name+"/"+method, m, opts, value)
	}
}

// besideAlone measures gradients of a model, in lanes and alone.
func besideAlone(b *testing.B, name string, m *odes.Model, opts odes.Options, value func(i int) []odes.Assignment) {
	values, _, columns, err := m.Wanted(opts)
	if err != nil {
		b.Fatal(err)
	}
	row := make([]float64, len(values)*(1+columns))
	b.Run(name+"/lanes", func(b *testing.B) {
		lanes, err := m.Lanes(opts, true)
		if lanes == nil || err != nil {
			b.Fatal(lanes, err)
		}
		steps := make([]int, b.N)
		b.ResetTimer()
		lanes.Run(b.Context(), b.N, value, func(int) []float64 { return row }, steps)
		if i := slices.Index(steps, -1); i >= 0 {
			b.Errorf("member %d of %d is to be made alone", i, b.N)
		}
	})
	b.Run(name+"/alone", func(b *testing.B) {
		alone, err := m.Prepare(opts)
		if err != nil {
			b.Fatal(err)
		}
		b.ResetTimer()
		for i := range b.N {
			if err := alone.Set(value(i)...); err != nil {
				b.Fatal(err)
			}
			if _, err := alone.Sensitivities(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
