package posterior

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"odes.dev/odes/internal/base/draws"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/nuts"
	"odes.dev/odes/internal/base/optim"
)

// Pathfinder (L. Zhang, B. Carpenter, A. Gelman, A. Vehtari, JMLR 23:306, 2022): a search by L-BFGS knows at each of
// its points a covariance, and so a normal distribution. Of all that a search passes, the one whose evidence lower
// bound is largest is kept. It may lie before the end: where a density has a pole, or a wide part beside a high narrow
// one, the end of a search is no place where draws are.

// spot is a point of a search.
type spot struct {
	q, g []float64 // g are the slopes of lp
	lp   float64
}

// path is what a search found.
type path struct {
	Best  normal
	Bound float64 // the lower bound of the evidence
	OK    bool
}

// Numbers of Pathfinder.
const (
	pathMemory = 6  // pairs of L-BFGS, as in the paper
	pathDraws  = 10 // that estimate a bound
	pathPoints = 50 // of a search, at most, whose bounds are estimated
)

// climb searches from q, and returns the points that it passes and where it came to.
func (p *problem) climb(ctx context.Context, e *evaluator, q []float64) (spots []spot, to []float64, err error) {
	n := len(q)
	var seen []spot
	problem := optim.Problem{
		Variables: n,
		Evaluate: func(ctx context.Context, x []float64, want optim.Want, at *optim.Point) error {
			g := make([]float64, n)
			lp, err := e.density(ctx, x, g)
			if err != nil {
				return err
			}
			seen = append(seen, spot{slices.Clone(x), g, lp})
			at.Value, at.Noise = -lp, float64(p.rtol*math.Abs(e.value))
			if want >= optim.Slopes {
				for i := range g {
					at.Gradient[i] = -g[i]
				}
			}
			return nil
		},
	}
	o := optim.Options{Scale: p.sizes(), Iterations: 100, Evaluations: 300, FirstOrder: true, Memory: pathMemory}
	o.Progress = func(at optim.Progress) {
		for i := len(seen) - 1; i >= 0; i-- {
			if slices.Equal(seen[i].q, at.X) {
				spots = append(spots, seen[i])
				break
			}
		}
		seen = seen[:0]
		if len(spots) > 0 { // a search that does not move is at the point before
			seen = append(seen, spots[len(spots)-1])
		}
	}
	found, err := optim.Minimize(ctx, problem, q, o)
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case errors.Is(err, optim.ErrStart):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	}
	spots = slices.CompactFunc(spots, func(a, b spot) bool { return slices.Equal(a.q, b.q) })
	if found.Status == optim.Unbounded || found.Status == optim.Failed {
		return spots, nil, nil
	}
	return spots, slices.Clone(found.X), nil
}

// inverse is the inverse Hessian that L-BFGS has at a point.
type inverse struct {
	diagonal []float64
	s, y     [][]float64
}

// learn takes in a step and the change of the slopes of minus the logarithm along it.
//
// A step along which the slopes do not grow says nothing of a covariance, and is left out. The diagonal follows J. Ch.
// Gilbert and C. Lemaréchal (Math. Program. 45:407, 1989), as in the paper.
func (h *inverse) learn(s, y []float64) {
	a, b, c, size := 0.0, 0.0, 0.0, 0.0
	for i := range s {
		a += float64(y[i] * y[i] * h.diagonal[i])
		b += float64(y[i] * s[i])
		c += float64(s[i] * s[i] / h.diagonal[i])
		size += float64(y[i] * y[i])
	}
	if !(b > 0) || !(size < float64(1e12*b)) {
		return
	}
	for i, d := range h.diagonal {
		x := a/float64(b*d) + float64(y[i]*y[i]/b) - float64(a*s[i]*s[i])/float64(b*c*d*d)
		if x > 0 && x-x == 0 {
			h.diagonal[i] = 1 / x
		}
	}
	h.s, h.y = append(h.s, s), append(h.y, y)
	if len(h.s) > pathMemory {
		h.s, h.y = h.s[1:], h.y[1:]
	}
}

// scale returns L of the covariance; nil where it is not positive.
func (h *inverse) scale() []float64 {
	n := len(h.diagonal)
	m := make([]float64, n*n)
	for i, d := range h.diagonal {
		m[i*n+i] = d
	}
	u := make([]float64, n)
	for k, s := range h.s {
		y := h.y[k]
		rho, whole := 0.0, 0.0
		for i := range n {
			u[i] = 0
			for j := range n {
				u[i] += float64(m[i*n+j] * y[j])
			}
			rho += float64(y[i] * s[i])
		}
		for i := range n {
			whole += float64(y[i] * u[i])
		}
		whole = (1 + whole/rho) / rho
		for i := range n {
			for j := range n {
				m[i*n+j] += float64(whole*s[i]*s[j]) - float64(float64(u[i]*s[j])+float64(s[i]*u[j]))/rho
			}
		}
	}
	return nuts.Cholesky(m, n)
}

// follow returns the best normal distribution along a path.
func (p *problem) follow(ctx context.Context, e *evaluator, spots []spot, random *elem.Rand) (path, error) {
	n := len(p.coords)
	h := &inverse{}
	for _, x := range p.sizes() {
		h.diagonal = append(h.diagonal, float64(x*x))
	}
	best, least := path{Bound: math.Inf(-1)}, pathDraws
	for k := 1; k < len(spots); k++ {
		a, b := &spots[k-1], &spots[k]
		s, y := make([]float64, n), make([]float64, n)
		for i := range n {
			s[i], y[i] = b.q[i]-a.q[i], a.g[i]-b.g[i]
		}
		h.learn(s, y)
		if len(spots)-k > pathPoints { // those far from the end of a long search
			continue
		}
		scale := h.scale()
		if scale == nil {
			continue
		}
		d := normal{Mean: slices.Clone(b.q), Scale: scale, Share: 1}
		w := make([]float64, n) // Lᵀ g
		for i := range n {
			for j := range i + 1 {
				w[j] += float64(scale[i*n+j] * b.g[i])
			}
		}
		for i := range n {
			for j := range i + 1 {
				d.Mean[i] += float64(scale[i*n+j] * w[j])
			}
		}
		terms, err := e.bound(ctx, &d, pathDraws, random)
		if err != nil {
			return best, err
		}
		failed := pathDraws - len(terms)
		if failed == pathDraws {
			continue
		}
		// A bound with places that have no density would be minus infinity: of these, the fewest.
		bound := draws.Mean([][]float64{terms})
		if failed < least || failed == least && bound > best.Bound {
			best, least = path{Best: d, Bound: bound, OK: true}, failed
		}
	}
	return best, nil
}

// bound returns the terms of which the evidence lower bound of a distribution is the mean, those that are finite.
func (e *evaluator) bound(ctx context.Context, d *normal, many int, random *elem.Rand) (terms []float64, err error) {
	for range many {
		q := d.draw(random)
		lp, err := e.height(ctx, q)
		if err != nil {
			return nil, err
		}
		if !math.IsInf(lp, -1) {
			terms = append(terms, lp-d.log(q))
		}
	}
	return terms, nil
}

// findPaths searches from several starts. Where the searches end may be modes.
func (p *problem) findPaths(ctx context.Context, r *Result) error {
	found, err := p.allPaths(ctx, r, p.settings.Starts)
	p.gather(r, found)
	return err
}

// besides looks whether searches for modes passed by most of the posterior: what they pass, as Pathfinder sees it, then
// has far more of the evidence than the modes by Laplace's method. So it is where a density has no bound, as that of a
// population has where its width goes to zero and all its params are equal: whatever a search comes to there has no
// mass. Such modes are none, and chains begin where Pathfinder comes to.
func (p *problem) besides(ctx context.Context, r *Result) error {
	if p.settings.Random == "draw" {
		return nil
	}
	if _, err := p.allPaths(ctx, r, min(p.settings.Starts, p.settings.Chains)); err != nil {
		return err
	}
	const far, many = 3, 100
	mass := math.Inf(-1)
	if len(r.Modes) > 0 {
		mass = r.Modes[0].mass()
	}
	var good []path
	err := p.each(1, func(e *evaluator, _ int) error {
		random := elem.NewRand(p.settings.Seed*0xd6e8feb86659fd93 - 1)
		for _, x := range p.paths {
			if x.Bound < mass+far || len(good) > 0 && x.Bound < good[0].Bound-far {
				break
			}
			// The best of many bounds is too good by chance.
			terms, err := e.bound(ctx, &x.Best, many, random)
			if err != nil {
				return err
			}
			list := [][]float64{terms}
			x.Bound = draws.Mean(list) - float64(2*draws.Sd(list)/math.Sqrt(float64(len(terms))))
			if 2*len(terms) >= many && x.Bound >= mass+far {
				good = append(good, x)
			}
		}
		return nil
	})
	if p.paths = good; err != nil || len(good) == 0 {
		return err
	}
	if len(r.Modes) > 0 {
		r.notef("searches ended at a high and narrow density, as where the width of a population goes to zero: at %s, "+
			"with about %.2g of the mass that they passed on the way; this does not count as a mode, and chains begin "+
			"on the way", p.point(r.Modes[0].At), elem.Exp(mass-good[0].Bound))
	}
	r.Modes = nil
	return nil
}

// allPaths searches from several starts, and returns the modes to which the searches came.
func (p *problem) allPaths(ctx context.Context, r *Result, n int) ([]*Mode, error) {
	p.told.begin("searches", n)
	list, err := paths.all(ctx, p, &round{Latin: max(n-1, 1)}, n)
	if err != nil {
		return nil, err
	}
	var found []*Mode
	for _, x := range list {
		r.Gradients += x.Cost
		if x.Path.OK {
			p.paths = append(p.paths, x.Path)
		}
		found = append(found, x.Mode.mode())
	}
	slices.SortStableFunc(p.paths, func(a, b path) int { return cmp.Compare(b.Bound, a.Bound) })
	return found, nil
}

// paths are searches of Pathfinder.
var paths = part[round, passed]{name: "paths", make: (*round).path}

// passed is what one found, and the mode to which it came.
type passed struct {
	Path path
	Mode *place
	Cost int
}

// path makes one.
func (of *round) path(p *problem, ctx context.Context, e *evaluator, k int) (x passed, err error) {
	q, err := of.start(p, k)
	if err != nil {
		return x, err
	}
	before := e.n
	spots, end, err := p.climb(ctx, e, q)
	if err != nil {
		return x, err
	}
	random := elem.NewRand(p.settings.Seed*0xd6e8feb86659fd93 + uint64(k))
	if x.Path, err = p.follow(ctx, e, spots, random); err != nil {
		return x, err
	}
	if end != nil {
		var m *Mode
		m, err = p.mode(ctx, e, end)
		x.Mode = placeOf(m)
	}
	x.Cost = e.n - before
	return x, err
}

// pathfinder draws from the distributions of all paths together.
func (p *problem) pathfinder(ctx context.Context, r *Result) error {
	var parts []normal
	for _, x := range p.paths {
		parts = append(parts, normal{Mean: x.Best.Mean, Scale: x.Best.Scale, Share: 1 / float64(len(p.paths))})
	}
	if len(parts) == 0 {
		return errors.New("no search found a normal distribution that approximates the posterior; " +
			"--sample.method=nuts needs none")
	}
	return p.approximate(ctx, r, parts)
}
