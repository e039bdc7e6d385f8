package fit

import (
	"math"
	"math/rand/v2"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/optim"
	"odes.dev/odes/internal/testing/seeds"
)

// legsCases are problems of control in parts that have everything that parts may have.
var legsCases = []struct{ name, text string }{
	{"a free end, a logarithmic scale and a largest value that each part has", `
param T = 2 in [1, 5], k = 0.7 in [0.1, 10]
time t from 0 to T
control u = [0.3, -0.2, 0.5, 0.1, 0.4] in [-1, 1] piecewise linear on grid(0, T, 5)
state x = 1, y[2] = [0.2, 0.3]
x' = -k*x + u
y[1]' = x*y[2]
y[2]' = -y[1] + k*u
objective J = T + integral(u^2 + x^2)*final(y[1]) + 0.1*initial(x)^2
constraint a: final(x)*integral(y[2]) == 0.1
constraint b: final(y[i]) <= i for i in 1:2
constraint c: 0.5 - max_over(-x*y[1]) >= k/100
fit { minimize = J  over = [T, u, k, initial(x)]  log = k  shooting = 4 }
`},
	{"events, discretes with and without derivatives, sums at times and at events", `
time t from 0 to 4
param q = 0.4 in [0, 2]
control u = 0.1 in [-1, 1] piecewise constant on grid(0, 4, 9)
state x = 0.1, v = 0
discrete n = 0, sum = 0.1
x' = v
v' = -x + u + 0.1*sum + 0.01*n
event push every 1.5 from 0.7 { v += q  sum += v*q  n = n + 1 }
event turn when x > 0.4 { v = -0.9*v }
objective J = integral(u^2, from = 0.5, to = 3.1) + sum_at([0.5, 1.5, 2.9], x^2) + at_event(push, pre(v)*x)
constraint a: final(x) == 0.1
constraint b: max_over(v) <= 2*final(sum)
fit { minimize = J  over = [u, q]  shooting = 3 }
`},
	{"an algebraic unknown", `
time t from 0 to 3
control u = 0.2 in [-3, 3] piecewise linear on grid(0, 3, 7)
state th = 2, w = 0.1
alg F = 0
0 = F - u*cos(th) - 0.1*F^3*sin(th)
th' = w
w' = -sin(th)*4 - F
objective J = integral(u^2 + 0.1*w^2)
constraint a: final(th) == 3
fit { minimize = J  over = u  shooting = 4 }
`},
	{"experiments", `
time t from 0 to 3
param k = 0.7 in [0.1, 10], x0 = 1
control u = 0.2 in [-3, 3] piecewise constant on grid(0, 3, 4)
state x = x0
x' = -k*x + u
data D { time = [0.5, 1, 2.5, 0.4, 1.4]  y = [0.8, 0.6, 0.2, 0.9, 0.7]  id = [0, 0, 0, 1, 1] }
observe o = x ~ normal(0.1) from D.y
experiment a { use D where id == 0  u = 2*u }
experiment b { use D where id == 1  x0 = 1.3 }
objective J = nll() + integral(u^2)
constraint low: final(x) <= 1
fit { minimize = J  over = [u, k]  log = k  shooting = 3 }
`},
}

// TestLegsDerivatives: first derivatives of what a search by parts has as its objective and constraints are those that
// differences tell, wherever the nodes are, and so are second ones of all but largest values.
func TestLegsDerivatives(t *testing.T) {
	for _, c := range legsCases {
		t.Run(c.name, func(t *testing.T) {
			m, err := odes.Parse("m.ode", c.text+"solver { rtol = 1e-11  atol = 1e-13 }\n", odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			p, err := newProblem(t.Context(), m, Options{Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			e, err := p.borrow()
			if err != nil {
				t.Fatal(err)
			}
			made, err := afar{p}.shooter(e, false)
			if err != nil {
				t.Fatal(err)
			}
			s := made.(*legs)
			z, err := s.begin(t.Context(), p.start, true)
			if err != nil {
				t.Fatal(err)
			}
			differentiated(t, s, z, seeds.Of(t, 55))
			if s, err = (afar{p}).legs(e, false, 4); err != nil {
				t.Fatal(err)
			}
			differentiated(t, s, append([]float64{}, p.start...), seeds.Of(t, 55))
		})
	}
}

// differentiated compares derivatives of a search by parts near z with differences.
func differentiated(t *testing.T, s *legs, z []float64, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 3))
	for i := range z {
		z[i] += 0.02 * r.NormFloat64()
	}
	q := s.constrained()
	y := make([]float64, q.Constraints)
	for i := range y {
		if y[i] = r.NormFloat64(); q.Largest[i] {
			y[i] = 0
		}
	}
	n := s.n
	at := func(z []float64) (optim.Point, optim.Constraints, []float64) {
		a := optim.Point{Gradient: make([]float64, n)}
		c := optim.Constraints{C: make([]float64, q.Constraints), J: make([]float64, q.Constraints*n)}
		if err := q.Evaluate(t.Context(), z, optim.Slopes, &a, &c); err != nil {
			t.Fatal(err)
		}
		l := append([]float64{}, a.Gradient...)
		for i, w := range y {
			for j := range n {
				l[j] += w * c.J[i*n+j]
			}
		}
		return a, c, l
	}
	a, con, _ := at(z)
	h := make([]float64, n*n)
	if err := q.Curve(t.Context(), z, y, h); err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want, size float64) {
		if math.Abs(got-want) > 2e-6*(1+math.Abs(want)+size) {
			t.Errorf("%s: %.9g, by differences %.9g", what, got, want)
		}
	}
	for j := range n {
		const step = 1e-5
		up, down := append([]float64{}, z...), append([]float64{}, z...)
		up[j] += step
		down[j] -= step
		au, cu, lu := at(up)
		ad, cd, ld := at(down)
		near("objective", a.Gradient[j], (au.Value-ad.Value)/(2*step), 0)
		for i := range con.C {
			near("constraint", con.J[i*n+j], (cu.C[i]-cd.C[i])/(2*step), 0)
		}
		for k := range n {
			near("curvature", h[j*n+k], (lu[k]-ld[k])/(2*step), 0)
		}
	}
}

// TestLinked: a search by linked parts of the run comes to the minimum of whole runs, where a limit holds over a
// stretch of time, and certificates by either say so.
func TestLinked(t *testing.T) {
	m, err := odes.Parse("m.ode", `time t from 0 to 2
control u = 0 in [-6, 6] piecewise constant on grid(0, 2, 25)
state x = 0, v = 0
x' = v
v' = u - v^2
objective J = integral(u^2)
constraint arrive: final(x) == 1
constraint halt: final(v) == 0
constraint slow: max_over(v) <= 0.6
fit { minimize = J  over = u  intervals = none }
solver { rtol = 1e-9  atol = 1e-11 }
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := newProblem(t.Context(), m, Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	var values []float64
	for _, linking := range []bool{false, true} {
		e, err := p.newEvaluator(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if (afar{p}).linked(e) == nil {
			t.Fatal("there are no linked parts")
		}
		q := e.constrained()
		if e.linking = linking; linking {
			q = e.links.constrained()
		}
		q.Bounds = p.bounds()
		r, err := optim.Constrained(t.Context(), q, p.start, p.searchOptions(p.start))
		if err != nil {
			t.Fatal(err)
		}
		if values = append(values, r.Value); !linking {
			continue
		}
		at := &minimum{x: r.X, factor: 1}
		p.atBounds(at)
		c, err := judge{p}.certify(t.Context(), e, at)
		if err != nil || !c.Certified {
			t.Errorf("%+v, %v", c, err)
		}
		if r.Evaluations > 150 {
			t.Errorf("%d evaluations", r.Evaluations)
		}
	}
	if math.Abs(values[0]-values[1]) > 1e-6 {
		t.Errorf("%.10g by whole runs, %.10g by linked parts", values[0], values[1])
	}
}
