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
	list, _ := quasiFrom(0, n, m, 0, seed)
	return list
}

// quasiFrom returns those points from one on, with some even numbers between 0 and 1 for each.
func quasiFrom(from, n, m, more int, seed uint64) (normal, even [][]float64) {
	points, err := sample.Sobol(m+more, seed)
	if err != nil { // there are too many dimensions
		points = sample.Random(m+more, seed)
	}
	normal, even = make([][]float64, n), make([][]float64, n)
	for i := range n {
		all := make([]float64, m+more)
		points.At(from+i, all)
		normal[i], even[i] = all[:m:m], all[m:]
		for k, u := range normal[i] {
			normal[i][k] = sample.NormalQuantile(u, 1-u)
		}
	}
	return normal, even
}

// starts returns the points that are lower than those around them, the lowest first, but for those from which a search
// is known to lead to a mode.
func (s *scanned) starts(q *problem, known *found) [][]float64 {
	const close = 2 // posterior standard deviations
	m, around := q.m, min(2*q.m, len(s.z)-1)
	most := max(4, len(s.z)/8)
	distance := func(a, b []float64) (d float64) {
		for k := range a {
			d += float64((a[k] - b[k]) * (a[k] - b[k]))
		}
		return d
	}
	type neighbour struct {
		of       int
		distance float64
	}
	var near []neighbour
	var list []int
	for i, z := range s.z {
		if math.IsInf(s.values[i], 1) {
			continue
		}
		near = near[:0] // those around it, the nearest first
		for j := range s.z {
			if j == i {
				continue
			}
			d := distance(z, s.z[j])
			if k := len(near); k < around {
				near = append(near, neighbour{})
			} else if d >= near[k-1].distance {
				continue
			}
			k := len(near) - 1
			for ; k > 0 && near[k-1].distance > d; k-- {
				near[k] = near[k-1]
			}
			near[k] = neighbour{j, d}
		}
		if !slices.ContainsFunc(near, func(n neighbour) bool { return s.values[n.of] < s.values[i] }) {
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
		if !known.flat && far < close*close && s.values[i] >= known.at.Value {
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
	Error float64 // the standard error of Value, or of the draws that confirm it
	// Modes counts those about which more than a hundredth of the integral is. Better is one with a higher density than
	// that which the method found, about which the method has the value BetterValue; nil for none.
	Modes       int
	Better      []float64
	BetterValue float64
}

// Points is how many points of the distribution of m random effects a check looks at.
func Points(m int) int { return min(64*m, 128) }

// Inspect compares the integral of a subject, r, with one that is computed in another way. It looks for modes all over
// the distribution of the random effects. The other way is importance sampling from the distribution and about all
// modes that count, with an error that replicates tell. Where there is one mode, quadrature about it takes its place if
// that is not the method and draws confirm it.
func Inspect(ctx context.Context, s Subject, method Method, r *Result) (*Check, error) {
	q, err := newProblem(ctx, s, method)
	if err != nil {
		return nil, err
	}
	if method.Kind != "foce" && method.Kind != "fo" {
		return q.inspect(r, r.Value)
	}
	// Their modes, if they have any, are none of the likelihood.
	exact := *q
	exact.method = Method{Kind: "laplace", Step: q.method.Step}
	mode, err := exact.mode()
	if err != nil {
		return nil, err
	}
	out, err := exact.inspect(mode, r.Value)
	if err != nil {
		return nil, err
	}
	if out.Better = nil; method.Kind == "fo" {
		return out, nil
	}
	list, err := q.modes(r)
	if err != nil {
		return nil, err
	}
	return out, q.better(out, r, list)
}

// modes returns all modes that a scan leads to, that of r first.
func (q *problem) modes(r *Result) (list []*found, err error) {
	first, err := q.look(r.Mode)
	if err != nil {
		return nil, err
	}
	seen, err := q.scan(points(q.m))
	if err != nil {
		return nil, err
	}
	list = []*found{first}
	for _, start := range seen.starts(q, first) {
		other, err := q.search(start, first)
		if err != nil && !q.Failed(err) {
			return nil, err
		}
		if err != nil || other.decrement > accepted || slices.ContainsFunc(list, func(f *found) bool {
			return f == other || q.same(f, other)
		}) {
			continue
		}
		list = append(list, other)
	}
	return list, nil
}

// points is how many points of the distribution of m random effects a check looks at.
func points(m int) int { return min(64*m, 128) }

// about returns the value of a method about a mode.
func (q *problem) about(f *found, method Method) (float64, error) {
	by := *q
	by.method = method
	r := q.resultAt(f, 1)
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

func (q *problem) inspect(r *Result, value float64) (*Check, error) {
	list, err := q.modes(r)
	if err != nil {
		return nil, err
	}
	out := &Check{}
	if err := q.better(out, r, list); err != nil {
		return nil, err
	}
	count := q.several(list)
	out.Modes = len(count)
	if err := q.replicated(out, count, value); err != nil {
		return nil, err
	}
	if few := [...]int{0, 15, 9, 5, 4, 3}; out.Modes == 1 && q.method.Kind != "agq" && q.m < len(few) {
		by, err := q.about(count[0], Method{Kind: "agq", N: few[q.m], Step: q.method.Step})
		if err != nil {
			return nil, err
		}
		if math.Abs(by-out.Value) <= 4*out.Error { // draws confirm what has no noise
			out.By, out.Value = fmt.Sprintf("agq(n = %d)", few[q.m]), by
		}
	}
	return out, nil
}

// weighed is a point of a mixture: the logarithm of the joint density over that of the mixture.
type weighed struct {
	eta []float64
	log float64
}

// replicated computes the integral by importance sampling from mixtures, with points of Sobol sequences in a number of
// replicates, each scrambled by itself. These say how far off their mean is, and there are more points until that
// decides whether the part of the subject in OFV is off by more than 1, or there are too many. Where the first mixture
// does not decide, as where the likelihood is a curved ridge, others have distributions about points that were drawn.
func (q *problem) replicated(out *Check, modes []*found, value float64) error {
	const rounds = 3
	about := modes
	for round := range rounds {
		drawn, decided, err := q.round(out, about, value, uint64(1000*round+1))
		if decided || err != nil || round == rounds-1 {
			return err
		}
		more, err := q.along(drawn)
		if err != nil {
			return err
		}
		about = append(slices.Clone(modes), more...)
	}
	return nil
}

// round draws from the mixture of some distributions. It returns what it drew, and whether that decides.
func (q *problem) round(out *Check, about []*found, value float64, seed uint64) ([]weighed, bool, error) {
	const replicates, doublings = 8, 2
	const enough = 0.1 // an error with which a check may end
	unit := 10 * max(len(about), 1)
	list, draws := q.mixture(about, unit)
	logs := make([][]float64, replicates)
	var drawn []weighed
	made := 0
	for k := range doublings + 1 {
		times := 1 << k
		for r := range logs {
			for of, n := range draws {
				normal, even := quasiFrom(made*n, (times-made)*n, q.m, 2, seed+uint64(r*len(list)+of))
				for i := range normal {
					w, err := q.weigh(list, of, normal[i], even[i])
					if err != nil {
						return nil, false, err
					}
					logs[r], drawn = append(logs[r], w.log), append(drawn, w)
				}
			}
		}
		made = times
		out.Value, out.Error = together(logs)
		out.By = fmt.Sprintf("%d draws", len(drawn))
		if off := 2 * math.Abs(out.Value-value); 8*out.Error < math.Abs(off-1) && out.Error < enough {
			return drawn, true, nil
		}
	}
	return drawn, false, nil
}

// weigh draws a point of component of.
func (q *problem) weigh(list []component, of int, normal, even []float64) (weighed, error) {
	_, eta := list[of].place(normal, even[0], even[1])
	there, err := q.joint(eta, 0)
	switch {
	case err != nil && !q.Failed(err):
		return weighed{}, err
	case err != nil || there.Value-there.Value != 0:
		return weighed{eta, math.Inf(-1)}, nil
	}
	log, _, _ := mixed(list, eta)
	return weighed{eta, -there.Value - log}, nil
}

// along returns distributions about some of the points of a round: points of large weight, and not the same ones, with
// the Hessians there, but no wider than the distribution of the random effects.
func (q *problem) along(drawn []weighed) (list []*found, err error) {
	const most = 16
	top := math.Inf(-1)
	for _, w := range drawn {
		top = max(top, w.log)
	}
	root := func(w weighed) float64 { // of the weight: all of the ridge is to be seen
		if math.IsInf(w.log, -1) {
			return 0
		}
		return elem.Exp(0.5 * (w.log - top))
	}
	sum, so, next := 0.0, 0.0, 0
	for _, w := range drawn {
		sum += root(w)
	}
	for _, w := range drawn {
		so += root(w)
		if next >= most || so < sum*(float64(next)+0.5)/most {
			continue
		}
		for next < most && so >= sum*(float64(next)+0.5)/most {
			next++
		}
		f, err := q.look(w.eta)
		if err != nil && !q.Failed(err) {
			return nil, err
		}
		if err == nil && q.narrow(f.hessian) {
			list = append(list, f)
		}
	}
	return list, nil
}

// narrow adds to a Hessian so much of that of the distribution of the random effects that it is no less in any
// direction. It reports whether there is such a multiple.
func (q *problem) narrow(h []float64) bool {
	shift := 0.0
	for range 60 {
		a := slices.Clone(h)
		for i := range a {
			a[i] += float64((shift - 1) * q.prior.inverse[i])
		}
		if _, ok := cholesky(a, q.m); ok {
			for i := range h {
				h[i] += float64(shift * q.prior.inverse[i])
			}
			return true
		}
		shift = max(1, 2*shift)
	}
	return false
}

// together returns the negative logarithm of the mean of exp(logs), with its standard error by the means of replicates.
func together(logs [][]float64) (value, off float64) {
	means := make([]float64, len(logs))
	for r := range logs {
		v, _ := average(logs[r])
		means[r] = -v
	}
	return average(means)
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
