package population

import (
	"math"
	"slices"
)

// The mode of a subject is sought by Newton's method with exact Hessians, in units of the prior: eta = root·z. From
// zero first; where the density is not like a parabola, from further starts, which depend on params and data alone.

const (
	mostSteps   = 60
	longestStep = 3    // in units of the prior
	converged   = 1e-9 // Newton's decrement: the distance from the mode in units of the posterior
	roughly     = 1e-4 // where values need not be exact
	inNoise     = 1e-5 // below it, errors of the integration may decide
	accepted    = 1e-4
	nearby      = 0.3
)

// found is a mode, or where a search ended.
type found struct {
	eta       []float64
	at        *Conditional
	hessian   []float64
	decrement float64
	troubled  bool // a Hessian was not positive definite, or a step had to be shortened
	flat      bool
}

// mode finds the lowest mode.
func (q *problem) mode() (*Result, error) {
	if q.method.Near != nil {
		at, err := q.search(q.method.Near, nil)
		if err == nil && !at.troubled && at.decrement <= q.enough(inNoise) {
			q.found = []*found{at}
			return q.resultAt(at, 1), nil
		}
		if err != nil && !q.Failed(err) {
			return nil, err
		}
	}
	best, err := q.search(make([]float64, q.m), nil)
	if err != nil {
		return nil, err
	}
	modes, astray := []*found{best}, best
	starts, err := q.starts(best)
	if err != nil {
		return nil, err
	}
	if q.method.Starts > 0 {
		seen, err := q.scan(q.method.Starts)
		if err != nil {
			return nil, err
		}
		starts = append(starts, seen.starts(q, best)...)
	}
	for _, start := range starts {
		other, err := q.search(start, best)
		switch {
		case err != nil && !q.Failed(err):
			return nil, err
		case err == nil && other.decrement > accepted && other.at.Value < astray.at.Value:
			astray = other
			continue
		case err != nil || other.decrement > accepted || slices.ContainsFunc(modes, func(f *found) bool {
			return f == other || q.same(f, other)
		}):
			continue
		}
		modes = append(modes, other)
		if other.at.Value < best.at.Value || best.decrement > accepted {
			best = other
		}
	}
	q.found = modes
	out := q.resultAt(best, len(modes))
	switch {
	case best.flat:
		out.Doubt = "the mode of the random effects is flat: its Hessian is not positive definite"
	case best.decrement > accepted:
		out.Doubt = "the search for the mode of the random effects did not converge"
	case astray.decrement > accepted && astray.at.Value < best.at.Value-1e-6*max(math.Abs(best.at.Value), 1):
		out.Doubt = "a search for the mode of the random effects did not converge, where the density is higher than " +
			"about the mode that another one found"
	case q.nearlyFlat(best.hessian):
		out.Doubt = "the mode of the random effects is nearly flat: about it, a normal distribution would be a " +
			"hundred times as wide as that of the random effects, or more"
	}
	return out, nil
}

// enough is at which decrement a search may end: at that which is asked for, or earlier where values may be rough.
func (q *problem) enough(decrement float64) float64 {
	if q.method.Rough {
		return max(decrement, roughly)
	}
	return decrement
}

// resultAt returns what is known of a mode, where so many were met.
func (q *problem) resultAt(f *found, modes int) *Result {
	return &Result{
		Mode: f.eta, Hessian: f.hessian, Joint: f.at.Value, at: f.at, Modes: modes, Omega: q.omega,
	}
}

// nearlyFlat reports whether a normal distribution with this Hessian is a hundred times as wide in some direction as
// that of the random effects. What methods make of the determinant of such a Hessian tells nothing.
func (q *problem) nearlyFlat(h []float64) bool {
	const wide = 100
	a := slices.Clone(h)
	for i := range a {
		a[i] -= float64(q.prior.inverse[i] / (wide * wide))
	}
	_, ok := cholesky(a, q.m)
	return !ok
}

// same reports whether two searches led to the same mode: within a tenth of a posterior deviation.
func (q *problem) same(a, b *found) bool {
	d := make([]float64, q.m)
	for i := range d {
		d[i] = a.eta[i] - b.eta[i]
	}
	return dot(d, multiply(a.hessian, d, q.m)) < 0.01
}

// starts returns where else to look for modes: the points two posterior deviations off in which the density is much
// higher than that of a normal distribution and, if the first search had trouble, points about zero.
func (q *problem) starts(b *found) ([][]float64, error) {
	m := q.m
	var list [][]float64
	c, ok := cholesky(b.hessian, m)
	if ok {
		v := columns(c, m)
		for k := range m {
			for _, side := range [...]float64{-2, 2} {
				at := slices.Clone(b.eta)
				for i := range at {
					at[i] += float64(side * v[i*m+k])
				}
				there, err := q.joint(at, 0)
				switch {
				case err != nil && !q.Failed(err):
					return nil, err
				case err == nil && there.Value < b.at.Value+0.7: // 2 by a parabola
					list = append(list, at)
				}
			}
		}
	}
	if b.troubled || !ok || b.decrement > accepted {
		for k := range m {
			for _, side := range [...]float64{-1.5, 1.5} {
				at := make([]float64, m)
				for i := range at {
					at[i] = float64(side * q.prior.root[i*m+k])
				}
				apart, err := q.apart(at, b)
				if err != nil {
					return nil, err
				}
				if apart {
					list = append(list, at)
				}
			}
		}
	}
	return list, nil
}

// apart reports whether the density rises anywhere on the straight way from eta to a mode: where it only falls, the
// mode is that of eta, and a search would say no more. Three points of the way, whose values are cheap, tell.
func (q *problem) apart(eta []float64, mode *found) (bool, error) {
	if mode.flat || mode.decrement > accepted {
		return true, nil
	}
	last := math.Inf(1)
	at := slices.Clone(eta)
	for k := range 4 {
		for i, x := range mode.eta {
			at[i] = eta[i] + float64(float64(k)/4*(x-eta[i]))
		}
		there, err := q.joint(at, 0)
		switch {
		case err != nil && !q.Failed(err):
			return false, err
		case err != nil || !(there.Value < last):
			return true, nil
		}
		last = there.Value
	}
	return !(mode.at.Value < last), nil
}

// search goes down from eta. It ends where it comes to a mode that is known: within a tenth of a posterior deviation.
func (q *problem) search(eta []float64, known *found) (*found, error) {
	now, err := q.look(slices.Clone(eta))
	if err != nil {
		return nil, err
	}
	radius := float64(longestStep)
	troubled := false
	best := now
	for range mostSteps {
		if now.decrement < best.decrement {
			best = now
		}
		if now.decrement <= q.enough(converged) {
			break
		}
		if known != nil && known.decrement <= accepted && now.decrement < nearby && q.same(known, now) {
			return known, nil
		}
		step := q.step(now, radius)
		troubled = troubled || now.flat
		next, err := q.look(moved(now.eta, step.eta))
		if err != nil && !q.Failed(err) {
			return nil, err
		}
		if now.decrement < inNoise && !step.cut { // the gradient decides
			if err != nil || !(next.decrement < now.decrement/2) {
				if err == nil && next.decrement < best.decrement {
					best = next
				}
				best.troubled = troubled
				return best, nil
			}
			now = next
			continue
		}
		if err != nil || !(next.at.Value <= now.at.Value+1e-11*math.Abs(now.at.Value)) {
			if radius = step.length / 4; radius < 1e-12 {
				best.troubled = true
				return best, nil
			}
			continue
		}
		switch part := (now.at.Value - next.at.Value) / step.promise; {
		case part < 0.25:
			radius = step.length / 2
		case part > 0.75 && step.cut:
			radius = min(2*radius, longestStep)
		}
		now = next
	}
	if now.decrement < best.decrement {
		best = now
	}
	best.troubled = troubled
	return best, nil
}

func moved(x, step []float64) []float64 {
	out := slices.Clone(x)
	for i := range out {
		out[i] += step[i]
	}
	return out
}

// look evaluates the density at eta, with Newton's decrement.
func (q *problem) look(eta []float64) (*found, error) {
	m := q.m
	c, err := q.joint(eta, 2)
	if err != nil {
		return nil, err
	}
	if c.Value-c.Value != 0 {
		return nil, errNoNumber
	}
	f := &found{eta: eta, at: c, hessian: make([]float64, m*m), decrement: math.Inf(1)}
	for i := range m {
		copy(f.hessian[i*m:(i+1)*m], c.Products[i*(m+q.p):])
	}
	symmetrise(f.hessian, m)
	l, ok := cholesky(f.hessian, m)
	if f.flat = !ok; ok {
		d := slices.Clone(c.Gradient[:m])
		solve(l, d, m)
		f.decrement = math.Sqrt(max(dot(d, c.Gradient[:m]), 0))
	}
	return f, nil
}

// stride is a step of a search.
type stride struct {
	eta     []float64
	length  float64 // in units of the prior
	promise float64 // how much less the density is by a parabola
	cut     bool    // it is no Newton step
}

// step returns the best step from a point that is no longer than a radius, in units of the prior: Newton's where the
// Hessian is positive definite and that is short enough. Reference: Moré and Sorensen, SIAM J Sci Stat Comput 4:553
// (1983).
func (q *problem) step(at *found, radius float64) stride {
	m, r := q.m, q.prior.root
	h := make([]float64, m*m) // rootᵀ H root
	for i := range m {
		for j := range m {
			for a := range m {
				for b := range m {
					h[i*m+j] += float64(r[a*m+i] * at.hessian[a*m+b] * r[b*m+j])
				}
			}
		}
	}
	g, z := make([]float64, m), make([]float64, m)
	for i := range m {
		for a := range m {
			g[i] -= float64(r[a*m+i] * at.at.Gradient[a])
		}
	}
	// shifted solves with lambda added to the Hessian. It reports whether that is positive definite.
	shifted := func(lambda float64) bool {
		a := slices.Clone(h)
		for i := range m {
			a[i*m+i] += lambda
		}
		l, ok := cholesky(a, m)
		copy(z, g)
		if ok {
			solve(l, z, m)
		}
		return ok
	}
	length := func() float64 { return math.Sqrt(dot(z, z)) }
	out := stride{}
	if !shifted(0) || length() > radius {
		out.cut = true
		lower, upper := 0.0, length()/radius
		if at.flat {
			upper = math.Sqrt(dot(g, g)) / radius
		}
		for i := range h {
			upper = max(upper, math.Abs(h[i]))
		}
		for i := 0; i < 60 && (!shifted(upper) || length() > radius); i++ {
			lower, upper = upper, 4*upper
		}
		for range 40 {
			middle := float64(0.5 * (lower + upper))
			switch ok := shifted(middle); {
			case !ok || length() > radius:
				lower = middle
			case length() >= 0.9*radius:
				lower, upper = middle, middle
			default:
				upper = middle
			}
			if upper-lower <= 1e-3*upper {
				break
			}
		}
		shifted(upper)
		if n := length(); at.flat && n < 0.9*radius && shifted(upper) {
			q.saddle(h, upper, z, radius)
		} else if n > radius { // there is no such shift: numbers are huge
			for i := range z {
				z[i] *= radius / n
			}
		}
	}
	out.length = length()
	out.promise = dot(g, z) - float64(0.5*dot(z, multiply(h, z, m)))
	out.eta = multiply(r, z, m)
	return out
}

// saddle lengthens a step z to the radius, along the direction in which the shifted Hessian is least. It is for points
// where the gradient tells nothing of that direction, as at zero where predictions are even in a random effect: no
// shift makes a step long there (the hard case of Moré and Sorensen). Either sign leads down; it is that which z has,
// and otherwise the same each time.
func (q *problem) saddle(h []float64, shift float64, z []float64, radius float64) {
	m := q.m
	a := slices.Clone(h)
	for i := range m {
		a[i*m+i] += shift
	}
	l, ok := cholesky(a, m)
	if !ok {
		return
	}
	v := make([]float64, m)
	for i := range v { // no direction that a symmetry of the model would have
		v[i] = 1 + float64(0.37*float64(i%5))
	}
	for range 8 { // inverse iteration: the shift is within a thousandth of the eigenvalue
		solve(l, v, m)
		size := math.Sqrt(dot(v, v))
		for i := range v {
			v[i] /= size
		}
	}
	if dot(v, multiply(h, v, m)) >= 0 {
		return
	}
	along := dot(v, z)
	if along < 0 {
		along = -along
		for i := range v {
			v[i] = -v[i]
		}
	}
	t := math.Sqrt(float64(along*along)+float64(radius*radius)-dot(z, z)) - along
	for i := range z {
		z[i] += float64(t * v[i])
	}
}
