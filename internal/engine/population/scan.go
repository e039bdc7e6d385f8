package population

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/sample"
)

// A search from zero may end in a mode beside a better one, where predictions have features that are narrow in the
// random effects. A scan looks at the density all over the distribution of these, at points that depend on their number
// alone, and searches from those that are lower than their neighbours.

// reach is how many times as wide as the distribution of the random effects a scan is: 128 points reach four standard
// deviations in each direction.
const reach = 1.5

// scanned is what a scan has seen.
type scanned struct {
	z      [][]float64 // in units of the distribution
	values []float64   // of the negative log density of data and random effects; +Inf where there is none
}

// scan evaluates the density at n points of a Sobol sequence.
func (q *problem) scan(n int) (*scanned, error) {
	s := &scanned{}
	for _, z := range quasiNormal(n, q.m, 1) {
		for k := range z {
			z[k] *= reach
		}
		there, err := q.joint(multiply(q.prior.root, z, q.m), 0)
		value := math.Inf(1)
		switch {
		case err != nil && !q.Failed(err):
			return nil, err
		case err == nil && there.Value-there.Value == 0:
			value = there.Value
		}
		s.z, s.values = append(s.z, z), append(s.values, value)
	}
	return s, nil
}

// quasiNormal returns n points of the standard normal distribution in m dimensions.
func quasiNormal(n, m int, seed uint64) [][]float64 {
	points, err := sample.Sobol(m, seed)
	if err != nil { // there are too many dimensions
		points = sample.Random(m, seed)
	}
	list := make([][]float64, n)
	for i := range list {
		list[i] = make([]float64, m)
		points.At(i, list[i])
		for k, u := range list[i] {
			list[i][k] = sample.NormalQuantile(u, 1-u)
		}
	}
	return list
}

// starts returns the points that are lower than those around them, the lowest first, but for those from which a search
// is known to lead to a mode.
func (s *scanned) starts(q *problem, known *found) [][]float64 {
	const near = 2 // posterior standard deviations
	m, around := q.m, min(2*q.m, len(s.z)-1)
	most := max(4, len(s.z)/8)
	distance := func(a, b []float64) (d float64) {
		for k := range a {
			d += float64((a[k] - b[k]) * (a[k] - b[k]))
		}
		return d
	}
	var list []int
	for i, z := range s.z {
		if math.IsInf(s.values[i], 1) {
			continue
		}
		others := make([]int, 0, len(s.z))
		for j := range s.z {
			if j != i {
				others = append(others, j)
			}
		}
		slices.SortStableFunc(others, func(a, b int) int {
			return cmp.Compare(distance(z, s.z[a]), distance(z, s.z[b]))
		})
		if !slices.ContainsFunc(others[:around], func(j int) bool { return s.values[j] < s.values[i] }) {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(s.values[a], s.values[b]) })
	var out [][]float64
	for _, i := range list {
		eta := multiply(q.prior.root, s.z[i], m)
		d := make([]float64, m)
		for k := range d {
			d[k] = eta[k] - known.eta[k]
		}
		far := dot(d, multiply(known.hessian, d, m))
		if !known.flat && far < near*near && s.values[i] >= known.at.Value {
			continue
		}
		if out = append(out, eta); len(out) == most {
			break
		}
	}
	return out
}

// Check is what an independent look at the integral of a subject says.
type Check struct {
	By    string  // the other way
	Value float64 // the integral by another way: its negative logarithm
	Error float64 // the standard error of Value where that is by draws; 0 for quadrature
	// Modes counts those about which more than a hundredth of the integral is. Better is one with a higher density than
	// that which the method found, about which the method has the value BetterValue; nil for none.
	Modes       int
	Better      []float64
	BetterValue float64
}

// Points is how many points of the distribution of m random effects a check looks at.
func Points(m int) int { return min(64*m, 128) }

// Inspect compares the integral of a subject, r, with one that is computed in another way. It looks for modes all over
// the distribution of the random effects. Where there is one mode that counts, the other way is quadrature about it,
// unless that is the method; otherwise, or where points of the distribution find more than that, it is importance
// sampling from the distribution and about all modes that count.
func Inspect(ctx context.Context, s Subject, method Method, r *Result) (*Check, error) {
	q, err := newProblem(ctx, s, method)
	if err != nil {
		return nil, err
	}
	if method.Kind != "foce" && method.Kind != "fo" {
		return q.inspect(r)
	}
	// Their modes, if they have any, are none of the likelihood.
	exact := *q
	exact.method = Method{Kind: "laplace", Step: q.method.Step}
	mode, err := exact.mode()
	if err != nil {
		return nil, err
	}
	out, err := exact.inspect(mode)
	if err != nil {
		return nil, err
	}
	if out.Better = nil; method.Kind == "fo" {
		return out, nil
	}
	list, _, err := q.modes(r)
	if err != nil {
		return nil, err
	}
	return out, q.better(out, r, list)
}

// modes returns all modes that a scan leads to, that of r first.
func (q *problem) modes(r *Result) (list []*found, seen *scanned, err error) {
	first, err := q.look(r.Mode)
	if err != nil {
		return nil, nil, err
	}
	if seen, err = q.scan(points(q.m)); err != nil {
		return nil, nil, err
	}
	list = []*found{first}
	for _, start := range seen.starts(q, first) {
		other, err := q.search(start, first)
		if err != nil && !q.Failed(err) {
			return nil, nil, err
		}
		if err != nil || other.decrement > accepted || slices.ContainsFunc(list, func(f *found) bool {
			return f == other || q.same(f, other)
		}) {
			continue
		}
		list = append(list, other)
	}
	return list, seen, nil
}

// points is how many points of the distribution of m random effects a check looks at.
func points(m int) int { return min(64*m, 128) }

// about returns the value of a method about a mode.
func (q *problem) about(f *found, method Method) (float64, error) {
	by := *q
	by.method = method
	r := &Result{Mode: f.eta, Hessian: f.hessian, Joint: f.at.Value, Omega: q.omega}
	err := by.integral(r, false)
	return r.Value, err
}

// better looks among modes for one that is better than that of r.
func (q *problem) better(out *Check, r *Result, list []*found) error {
	best := slices.MinFunc(list, func(a, b *found) int { return cmp.Compare(a.at.Value, b.at.Value) })
	if best == list[0] || best.at.Value >= r.Joint-1e-6*max(math.Abs(r.Joint), 1) {
		return nil
	}
	value, err := q.about(best, q.method)
	out.Better, out.BetterValue = best.eta, value
	return err
}

func (q *problem) inspect(r *Result) (*Check, error) {
	const part = 0.01 // of the integral
	list, seen, err := q.modes(r)
	if err != nil {
		return nil, err
	}
	out := &Check{}
	if err := q.better(out, r, list); err != nil {
		return nil, err
	}
	masses := make([]float64, len(list))
	for i, f := range list {
		masses[i] = math.Inf(1)
		if c, ok := cholesky(f.hessian, q.m); ok {
			masses[i] = f.at.Value + float64(0.5*logDet(c, q.m))
		}
	}
	var count []*found
	for i, f := range list {
		if masses[i] < slices.Min(masses)-elem.Log(part) {
			count = append(count, f)
		}
	}
	out.Modes = len(count)
	if few := [...]int{0, 15, 9, 5, 4, 3}; out.Modes == 1 && q.method.Kind != "agq" && q.m < len(few) {
		out.By = fmt.Sprintf("agq(n = %d)", few[q.m])
		out.Value, err = q.about(count[0], Method{Kind: "agq", N: few[q.m], Step: q.method.Step})
		if by, off := seen.mass(q); err != nil || !(by < out.Value-0.1-4*off) {
			return out, err
		}
	}
	return out, q.mixed(out, count)
}

// mass returns the negative logarithm of the integral by the points of a scan, with its standard error: importance
// sampling from the distribution of the random effects.
func (s *scanned) mass(q *problem) (value, off float64) {
	logs, m := make([]float64, len(s.z)), float64(q.m)
	for i, z := range s.z {
		logs[i] = float64(0.5*dot(z, z)/(reach*reach)) + float64(m*elem.Log(reach)) + float64(0.5*m*log2pi) +
			float64(0.5*q.prior.logDet) - s.values[i]
	}
	return average(logs)
}

// average returns the negative logarithm of the mean of exp(logs), with its standard error.
func average(logs []float64) (value, off float64) {
	most, n := slices.Max(logs), float64(len(logs))
	if math.IsInf(most, -1) {
		return math.Inf(1), math.Inf(1)
	}
	sum, squares := 0.0, 0.0
	for _, l := range logs {
		w := elem.Exp(l - most)
		sum += w
		squares += float64(w * w)
	}
	mean := sum / n
	return -most - elem.Log(mean), math.Sqrt(max(squares/n-float64(mean*mean), 0)/n) / mean
}

// mixed computes the integral by importance sampling: from the distribution of the random effects and from normal
// distributions about modes, all points weighed by the mixture of these (E. Veach, L. Guibas, SIGGRAPH 1995).
func (q *problem) mixed(out *Check, modes []*found) error {
	const draws = 256 // of each
	type component struct{ centre, root, inverse []float64 }
	m := q.m
	var list []component
	add := func(centre, h []float64) {
		if c, ok := cholesky(h, m); ok {
			list = append(list, component{centre, columns(c, m), h})
		}
	}
	for _, f := range modes {
		wider := slices.Clone(f.hessian)
		for i := range wider {
			wider[i] /= 1.5
		}
		add(f.eta, wider)
	}
	add(make([]float64, m), q.prior.inverse)
	logDensity := func(eta []float64) float64 { // of the mixture
		logs := make([]float64, len(list))
		for i, c := range list {
			d := make([]float64, m)
			for k := range d {
				d[k] = eta[k] - c.centre[k]
			}
			det := 0.0
			for k := range m {
				det += elem.Log(c.root[k*m+k])
			}
			logs[i] = -float64(0.5*dot(d, multiply(c.inverse, d, m))) - det - float64(0.5*float64(m)*log2pi)
		}
		value, _ := average(logs)
		return -value
	}
	var logs []float64
	for i, c := range list {
		for _, z := range quasiNormal(draws, m, uint64(i+2)) {
			eta := moved(c.centre, multiply(c.root, z, m))
			there, err := q.joint(eta, 0)
			switch {
			case err != nil && !q.Failed(err):
				return err
			case err != nil || there.Value-there.Value != 0:
				logs = append(logs, math.Inf(-1))
			default:
				logs = append(logs, -there.Value-logDensity(eta))
			}
		}
	}
	out.Value, out.Error = average(logs)
	out.By = fmt.Sprintf("%d draws", len(logs))
	return nil
}
