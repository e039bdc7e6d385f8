package certify_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"testing"

	"odes.dev/odes/internal/base/certify"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/optim"
	"odes.dev/odes/internal/testing/seeds"
)

var problems = flag.Int("problems", 60, "how many random constrained problems TestRandomProblems solves")

// convex is a convex problem whose minimum is known: it is made around the point, so that the gradients of what holds
// it there add up to zero.
//
//	½(x − m)ᵀQ(x − m) + Σ exp(aᵀ(x − m)) + linear·x + Σ w|u·(x − m) − v| + the largest of several planes
//
// Constraints are quadratic functions q(x − m), at most a limit, and planes, equal to one. Some hold the point with the
// multiplier 0, some follow from others, and some are there twice. Those of the kind "bent" are not convex, but the
// Lagrangian is.
type convex struct {
	kind     string
	n        int
	m        []float64 // the minimum
	q        []float64
	exps     [][]float64
	linear   []float64
	kinks    [][]float64 // u, v behind it, w behind that
	planes   [][]float64 // slopes, all of the same value at m
	rows     [][]float64 // slopes of constraints at m
	bends    []float64   // their curvature in all directions
	limits   []float64   // of the constraint less its value at m
	equal    []bool
	lo, hi   []float64
	units    []float64 // of the variables
	exact    bool      // the search may ask for second derivatives
	peaks    int       // how many of the constraints are the largest of several planes
	peakRows [][][]float64
}

// at computes all at x.
func (c *convex) at(x []float64, to *optim.Point, k *optim.Kinks, cs *optim.Constraints) {
	n := c.n
	d := make([]float64, n)
	for i := range d {
		d[i] = x[i]/c.units[i] - c.m[i]
	}
	g := make([]float64, n)
	v := 0.0
	for i := range n {
		for j := range n {
			g[i] += c.q[i*n+j] * d[j]
		}
		v += g[i]*d[i]/2 + c.linear[i]*d[i]
		g[i] += c.linear[i]
	}
	for _, a := range c.exps {
		e := math.Exp(inner(a, d))
		v += e
		axpy(g, e, a)
	}
	if len(c.planes) > 0 {
		most := math.Inf(-1)
		var which []float64
		for _, a := range c.planes {
			if p := inner(a, d); p > most {
				most, which = p, a
			}
		}
		v += most
		axpy(g, 1, which)
	}
	for i, u := range c.kinks {
		k.U[i], k.W[i] = inner(u[:n], d)-u[n], u[n+1]
		v += k.W[i] * math.Abs(k.U[i])
		for j := range n {
			k.J[i*n+j] = u[j] / c.units[j]
		}
	}
	to.Value = v
	for i := range n {
		to.Gradient[i] = g[i] / c.units[i]
	}
	for i, a := range c.rows {
		cs.C[i] = inner(a, d) + c.bends[i]*inner(d, d)/2
		for j := range n {
			cs.J[i*n+j] = (a[j] + c.bends[i]*d[j]) / c.units[j]
		}
	}
	for i, planes := range c.peakRows {
		most, row := math.Inf(-1), len(c.rows)+i
		for _, a := range planes {
			if p := inner(a[:n], d) - a[n]; p > most {
				most = p
				for j := range n {
					cs.J[row*n+j] = a[j] / c.units[j]
				}
			}
		}
		cs.C[row] = most
	}
}

func inner(a, b []float64) float64 {
	s := 0.0
	for i, v := range b {
		s += a[i] * v
	}
	return s
}

func axpy(to []float64, f float64, a []float64) {
	for i := range to {
		to[i] += f * a[i]
	}
}

// hessian is that of the smooth part with multiples of the constraints.
func (c *convex) hessian(x, y, h []float64) {
	n := c.n
	d := make([]float64, n)
	for i := range d {
		d[i] = x[i]/c.units[i] - c.m[i]
	}
	copy(h, c.q)
	for _, a := range c.exps {
		e := math.Exp(inner(a, d))
		for i := range n {
			axpy(h[i*n:(i+1)*n], e*a[i], a)
		}
	}
	for i := range c.rows {
		for j := range n {
			h[j*n+j] += y[i] * c.bends[i]
		}
	}
	for i := range n {
		for j := range n {
			h[i*n+j] /= c.units[i] * c.units[j]
		}
	}
}

// kinds are those of problems that have one minimum. Problems of kind "bent" may have others.
var kinds = []string{"quadratic", "convex", "degenerate", "absolute", "largest", "peaks"}

// drawConvex draws a problem.
func drawConvex(seed uint64, kinds []string) *convex {
	r := elem.NewRand(seed)
	pick := func(n int) int { return int(r.Uint64() % uint64(n)) }
	vector := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = r.Norm()
		}
		return v
	}
	n := 1 + pick(8)
	c := &convex{
		kind: kinds[pick(len(kinds))],
		n:    n, m: vector(n),
		q: make([]float64, n*n), linear: make([]float64, n), units: make([]float64, n), exact: pick(2) == 0,
	}
	for i := range n {
		c.units[i] = math.Pow(10, float64(pick(7)-3))
		c.lo, c.hi = append(c.lo, math.Inf(-1)), append(c.hi, math.Inf(1))
	}
	for range pick(n + 2) { // of any rank
		v := vector(n)
		for i := range n {
			axpy(c.q[i*n:(i+1)*n], v[i], v)
		}
	}
	slope := make([]float64, n) // of what there is at m
	if c.kind == "convex" || c.kind == "degenerate" {
		for range 1 + pick(3) {
			a := vector(n)
			c.exps = append(c.exps, a)
			axpy(slope, 1, a)
		}
	}
	if c.kind == "absolute" {
		for i := range n + pick(10) {
			u := append(vector(n), 0, 0.1+r.Float64())
			if i < 1+n/2 {
				axpy(slope, u[n+1]*(2*r.Float64()-1), u) // it rests
			} else {
				u[n] = r.Norm()
				axpy(slope, -u[n+1]*math.Copysign(1, u[n]), u)
			}
			c.kinks = append(c.kinks, u)
		}
	}
	if c.kind == "largest" {
		weight, left := 0.0, 1.0
		for i := range 2 + pick(n) {
			if weight = left * r.Float64(); i == 0 {
				weight = 0.3
			}
			left -= weight
			a := vector(n)
			c.planes = append(c.planes, a)
			axpy(slope, weight, a)
		}
		a := vector(n)
		c.planes = append(c.planes, a)
		axpy(slope, left, a)
	}
	for i := range 1 + pick(n+2) {
		a, y := vector(n), r.Float64()
		equal := pick(4) == 0 && i < n/2
		switch {
		case c.kind == "degenerate" && pick(3) == 0:
			y = 0
		case c.kind == "degenerate" && i > 0 && pick(2) == 0: // again
			copy(a, c.rows[i-1])
			equal = c.equal[i-1]
		}
		limit, bend := 0.0, math.Abs(r.Norm())
		if equal {
			bend, y = 0, r.Norm()
		} else if c.kind == "bent" {
			// The objective bends up by what the constraint bends down where it holds the point: together they are
			// convex, with much less curvature than the objective has.
			bend *= -math.Pow(10, float64(pick(3)))
			for j := range n {
				c.q[j*n+j] -= bend * y
			}
		} else if pick(3) == 0 {
			limit, y = r.Float64(), 0 // it holds nothing
		}
		c.rows, c.equal = append(c.rows, a), append(c.equal, equal)
		c.limits, c.bends = append(c.limits, limit), append(c.bends, bend)
		axpy(slope, y, a)
	}
	if c.kind == "peaks" {
		var planes [][]float64
		for i := range 2 + pick(4) {
			a := append(vector(n), 0)
			if i > 1 {
				a[n] = r.Float64()
			} else {
				axpy(slope, 0.1+r.Float64(), a)
			}
			planes = append(planes, a)
		}
		c.peakRows, c.peaks = append(c.peakRows, planes), 1
	}
	for i := range n { // bounds hold some of the rest, and the objective's slope what is left
		switch pick(4) {
		case 0:
			z := r.Float64()
			c.lo[i] = c.m[i] * c.units[i]
			c.hi[i] = c.lo[i] + c.units[i]*(1+r.Float64())
			slope[i] -= z
		case 1:
			c.lo[i], c.hi[i] = (c.m[i]-1-r.Float64())*c.units[i], (c.m[i]+1+r.Float64())*c.units[i]
		}
	}
	for i := range n {
		c.linear[i] = -slope[i]
	}
	return c
}

// problem returns c for a search.
func (c *convex) problem() optim.KinkedProblem {
	p := optim.KinkedProblem{
		Variables: c.n, Kinks: len(c.kinks), Constraints: len(c.rows) + c.peaks,
		Bounds: optim.Bounds{Lo: c.lo, Hi: c.hi}, Peaked: len(c.planes) > 0,
		Evaluate: func(
			_ context.Context, x []float64, _ optim.Want, at *optim.Point, k *optim.Kinks, cs *optim.Constraints,
		) error {
			c.at(x, at, k, cs)
			return nil
		},
	}
	for i, limit := range c.limits {
		lo := math.Inf(-1)
		if c.equal[i] {
			lo = limit
		}
		p.Lo, p.Hi, p.Largest = append(p.Lo, lo), append(p.Hi, limit), append(p.Largest, false)
	}
	for range c.peaks {
		p.Lo, p.Hi, p.Largest = append(p.Lo, math.Inf(-1)), append(p.Hi, 0), append(p.Largest, true)
	}
	if c.exact && len(c.planes)+c.peaks+len(c.kinks) == 0 {
		p.Cheap = true
		p.Curve = func(_ context.Context, x, y, h []float64) error {
			c.hessian(x, y, h)
			return nil
		}
	}
	return p
}

// near returns what evaluates c for a certificate.
func (c *convex) near() func(x []float64) (*certify.Point, error) {
	kinks, constraints := len(c.kinks), len(c.rows)+c.peaks
	return func(x []float64) (*certify.Point, error) {
		to := &certify.Point{Gradient: make([]float64, c.n)}
		to.Kinks = optim.Kinks{
			U: make([]float64, kinks), J: make([]float64, kinks*c.n), W: make([]float64, kinks),
		}
		to.Constraints = optim.Constraints{
			C: make([]float64, constraints), J: make([]float64, constraints*c.n),
		}
		at := optim.Point{Gradient: to.Gradient}
		c.at(x, &at, &to.Kinks, &to.Constraints)
		to.Value = at.Value
		return to, nil
	}
}

// TestRandomProblems searches minima that are known, under constraints, with what is degenerate and what has kinks, and
// certifies where searches end. None that is certified is beyond the minimum, and few are not certified.
// The flag -problems takes more.
func TestRandomProblems(t *testing.T) {
	first := seeds.Of(t, 5)
	reached, wrong, evaluations := 0, 0, 0
	byKind := map[string][2]int{}
	for i := range *problems {
		seed := first + uint64(i)
		c := drawConvex(seed, kinds)
		r := elem.NewRand(seed + 1e9)
		p, start, scale := c.problem(), make([]float64, c.n), make([]float64, c.n)
		for j := range start {
			start[j] = (c.m[j] + r.Norm()) * c.units[j]
			start[j] = math.Max(c.lo[j], math.Min(start[j], c.hi[j]))
			scale[j] = math.Max(math.Abs(start[j]), 0.1*c.units[j])
		}
		res, err := optim.Folded(t.Context(), p, start, optim.Options{Scale: scale, Iterations: 300})
		if err != nil {
			t.Fatal(err)
		}
		evaluations += res.Evaluations
		near := c.near()
		at, _ := near(res.X)
		from, _ := near(start)
		best, _ := near(scaledBy(c.m, c.units))
		size := math.Max(math.Abs(from.Value-at.Value), 1e-3)
		h := make([]float64, c.n*c.n)
		c.hessian(res.X, make([]float64, p.Constraints), h)
		sizes := make([]float64, c.n)
		for j := range sizes {
			sizes[j] = math.Max(math.Abs(res.X[j]), scale[j])
		}
		cert := (&certify.Problem{
			X: res.X, Sizes: sizes, Lo: c.lo, Hi: c.hi, Min: p.Lo, Max: p.Hi, At: at, Hessian: h, Size: size,
			Enough: 1e-6, Near: near,
		}).Minimum()
		ok := cert.Stationarity <= 1e-6 && cert.Feasibility <= 1e-6
		off := (at.Value - best.Value) / size
		count := byKind[c.kind]
		count[0]++
		switch {
		case ok && math.Abs(off) > 1e-4:
			wrong++
			t.Errorf("problem %d (%s, %d numbers): certified, and off by %g", seed, c.kind, c.n, off)
		case ok:
			reached++
			count[1]++
		default:
			t.Logf("problem %d (%s, %d numbers): off by %.2g, %v after %d evaluations, stationarity %.2g, "+
				"feasibility %.2g", seed, c.kind, c.n, off, res.Status, res.Evaluations, cert.Stationarity,
				cert.Feasibility)
		}
		byKind[c.kind] = count
	}
	t.Logf("%d of %d reached, %d evaluations each; %s", reached, *problems, evaluations / *problems, fmt.Sprint(byKind))
	if float64(reached) < 0.98*float64(*problems) {
		t.Errorf("only %d of %d are certified", reached, *problems)
	}
}

// scaledBy returns a times b, element by element.
func scaledBy(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i, v := range a {
		out[i] = v * b[i]
	}
	return out
}
