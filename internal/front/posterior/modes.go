package posterior

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/nuts"
	"odes.dev/odes/internal/base/optim"
	"odes.dev/odes/internal/base/sample"
)

// errNowhere says that the density is zero wherever it was looked for.
var errNowhere = errors.New("there is no density wherever a search began")

// start returns where search k begins: the first at the values in the model, others at draws from the priors or within
// the bounds, spread evenly.
func (p *problem) start(k int, points sample.Points) []float64 {
	q, u := make([]float64, len(p.coords)), make([]float64, len(p.coords))
	if k > 0 {
		points.At(k-1, u)
	}
	for i := range q {
		c := &p.coords[i]
		q[i] = c.of(c.first)
		if k == 0 {
			continue
		}
		below, above := !math.IsInf(c.lo, -1), !math.IsInf(c.hi, 1)
		switch {
		case c.prior != nil:
			// Heavy tails are left to the chains: runs that begin there are long, and fail.
			if x := c.prior.Quantile(0.05 + float64(0.9*u[i])); x > c.lo && x < c.hi {
				q[i] = c.of(x)
			}
		case below && above:
			q[i] = elem.Log(u[i] / (1 - u[i]))
		default:
			q[i] += float64(c.size * sample.NormalQuantile(u[i], 1-u[i]))
		}
	}
	return q
}

// manyCurved is the most numbers of which searches ask for exact Hessians.
const manyCurved = 30

// search seeks a mode from q. It returns nil where it comes to none.
func (p *problem) search(ctx context.Context, e *evaluator, q []float64) (*Mode, error) {
	n := len(q)
	sizes := p.sizes()
	problem := optim.Problem{
		Variables: n, HasHessian: n <= manyCurved && e.curves(ctx),
		Evaluate: func(ctx context.Context, x []float64, want optim.Want, at *optim.Point) (err error) {
			var lp float64
			var h []float64
			g := make([]float64, n)
			if want == optim.Curving {
				if lp, h, err = e.curvature(ctx, x, g); err == nil {
					copy(at.Hessian, h)
				}
			} else {
				lp, err = e.density(ctx, x, g)
			}
			if err != nil {
				return err
			}
			at.Value, at.Noise = -lp, float64(e.p.rtol*math.Abs(e.value))
			if want >= optim.Slopes {
				for i := range g {
					at.Gradient[i] = -g[i]
				}
			}
			return nil
		},
	}
	found, err := optim.Minimize(ctx, problem, q, optim.Options{Scale: sizes, Iterations: 100, Evaluations: 200})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil && !errors.Is(err, optim.ErrStart) {
		return nil, err
	}
	if err != nil || found.Status == optim.Unbounded || found.Status == optim.Failed {
		return nil, nil
	}
	return p.mode(ctx, e, slices.Clone(found.X))
}

// mode returns the mode at q; nil where there is none.
func (p *problem) mode(ctx context.Context, e *evaluator, q []float64) (*Mode, error) {
	n, sizes := len(q), p.sizes()
	m := &Mode{q: q, Found: 1}
	g := make([]float64, n)
	lp, h, err := e.curvature(ctx, m.q, g)
	if isRejection(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	m.LogP = lp
	// What a step by the Hessian still promises tells whether this is a place of largest density, and not one on the
	// way.
	if m.scale = nuts.SoftAbs(h, sizes); m.scale == nil {
		return nil, nil
	}
	w := make([]float64, n)
	for i := range n {
		for j := range i + 1 {
			w[j] += float64(m.scale[i*n+j] * g[i])
		}
	}
	promised := 0.0
	for _, x := range w {
		promised += float64(x * x / 2)
	}
	if promised > 0.5 {
		return nil, nil
	}
	return m, nil
}

// curves reports whether the method has second derivatives.
func (e *evaluator) curves(ctx context.Context) bool {
	_, err := e.p.model.Prepare(e.p.runOptions().While(ctx).SecondOrder())
	return err == nil
}

// sizes are those of the coordinates.
func (p *problem) sizes() []float64 {
	out := make([]float64, len(p.coords))
	for i := range out {
		out[i] = p.coords[i].size
	}
	for range p.random.size() {
		out = append(out, 1)
	}
	return out
}

// mass is the logarithm of the mass that Laplace's method gives a mode.
func (m *Mode) mass() float64 {
	n := len(m.q)
	s := m.LogP
	for i := range n {
		s += elem.Log(m.scale[i*n+i])
	}
	return s
}

// far is how far q is from a mode, in its metric.
//
// Random effects that follow the params in the mode do not count: q may end before them.
func (m *Mode) far(q []float64) float64 {
	w := len(m.q)
	d := make([]float64, len(q))
	s := 0.0
	for i := range q {
		d[i] = q[i] - m.q[i]
		for j, l := range m.scale[i*w : i*w+i] {
			d[i] -= float64(l * d[j])
		}
		d[i] /= m.scale[i*w+i]
		s += float64(d[i] * d[i])
	}
	return math.Sqrt(s)
}

// modeOf returns the mode that q belongs to: of their normal distributions, that with the largest density there. What
// is nearest, in widths, would give a wide mode most of a narrow one beside it.
func modeOf(modes []Mode, q []float64) int {
	best, most := 0, math.Inf(-1)
	for m := range modes {
		if len(modes) == 1 {
			break
		}
		far := modes[m].far(q)
		if at := modes[m].LogP - float64(far*far/2); at > most {
			best, most = m, at
		}
	}
	return best
}

// round says where searches start: at points of a Latin hypercube of so many, or of a Sobol sequence where that is 0,
// from one of them on.
type round struct{ Latin, From int }

// start returns where search k starts.
func (of *round) start(p *problem, k int) ([]float64, error) {
	var points sample.Points
	var err error
	if of.Latin > 0 {
		points, err = sample.Latin(of.Latin, len(p.coords), p.settings.Seed)
	} else {
		points, err = sample.Sobol(min(len(p.coords), sample.MaxSobol), p.settings.Seed|1<<40)
	}
	if err != nil {
		return nil, err
	}
	return p.start(of.From+k, points), nil
}

// searches seek modes.
var searches = part[round, sought]{name: "searches", make: (*round).search}

// sought is what a search found, nil for nothing, by how many gradients.
type sought struct {
	Mode *place
	Cost int
}

// search makes a search.
func (of *round) search(p *problem, ctx context.Context, e *evaluator, k int) (x sought, err error) {
	q, err := of.start(p, k)
	if err != nil {
		return x, err
	}
	before := e.n
	m, err := p.search(ctx, e, q)
	return sought{placeOf(m), e.n - before}, err
}

// all makes n searches, and returns the mode that each found, and how many gradients all took.
func (of *round) all(ctx context.Context, p *problem, n int) (found []*Mode, cost int, err error) {
	list, err := searches.all(ctx, p, of, n)
	for _, x := range list {
		found, cost = append(found, x.Mode.mode()), cost+x.Cost
	}
	return found, cost, err
}

// findModes searches for modes from several starts.
func (p *problem) findModes(ctx context.Context, r *Result) error {
	n := p.settings.Starts
	p.told.begin("searches", n)
	found, spent, err := (&round{Latin: max(n-1, 1)}).all(ctx, p, n)
	if err != nil {
		return err
	}
	more, err := p.searchOn(ctx, r, found, spent)
	if err != nil {
		return err
	}
	r.Gradients += spent + more
	return p.besides(ctx, r)
}

// same reports whether two searches came to one mode.
func same(a, b *Mode) bool {
	const apart = 0.5 // in widths
	return a.far(b.q) < apart || b.far(a.q) < apart
}

// gather lists the modes that searches found, each once.
func (p *problem) gather(r *Result, found []*Mode) {
	p.list(r, joined(nil, found, 0))
}

// joined adds what searches found to modes. Of a known mode, the place that is found is taken where it is higher.
func joined(modes, found []*Mode, higher float64) []*Mode {
	for _, m := range found {
		if m == nil {
			continue
		}
		at := slices.IndexFunc(modes, func(o *Mode) bool { return same(o, m) })
		if at < 0 {
			modes = append(modes, m)
			continue
		}
		o := modes[at]
		times := o.Found + m.Found
		if m.LogP > o.LogP+higher {
			modes[at] = m
		}
		modes[at].Found = times
	}
	return modes
}

// list makes modes those of the result, by their mass.
func (p *problem) list(r *Result, modes []*Mode) {
	slices.SortStableFunc(modes, func(a, b *Mode) int {
		switch {
		case a.mass() > b.mass():
			return -1
		case a.mass() < b.mass():
			return 1
		}
		return 0
	})
	total := 0.0
	for _, m := range modes {
		m.Weight = elem.Exp(m.mass() - modes[0].mass())
		total += m.Weight
	}
	for _, m := range modes {
		const least = 1e-6
		if m.Weight /= total; m.Weight >= least {
			m.At = p.values(m.q)
			r.Modes = append(r.Modes, *m)
		}
	}
}

// heavy is how many modes have enough mass for a chain to begin there. They are the first.
func (r *Result) heavy() (n int) {
	const least = 0.01
	for i := range r.Modes {
		if r.Modes[i].Weight >= least {
			n++
		}
	}
	return n
}

// begin returns where a chain begins: near a mode, spread as wide as the posterior is there, or near the values in the
// model where there is no mode.
func (p *problem) begin(ctx context.Context, e *evaluator, chain int, r *Result) (q []float64, mode int, err error) {
	n := p.size()
	random := elem.NewRand(p.settings.Seed*0x9e3779b97f4a7c15 + uint64(chain) + 1)
	mode = -1
	centre, scale := append(p.start(0, nil), p.random.centre()...), []float64(nil)
	if heavy := r.heavy(); heavy > 0 {
		mode = chain % heavy
		centre, scale = r.Modes[mode].q, r.Modes[mode].scale
	} else if len(p.paths) > 0 {
		x := &p.paths[chain%len(p.paths)].Best
		centre, scale = x.Mean, x.Scale
	}
	q, g := make([]float64, n), make([]float64, n)
	spread := 1.0
	for range 30 {
		z := make([]float64, n)
		for i := range z {
			z[i] = random.Norm()
		}
		for i := range n {
			q[i] = centre[i]
			if scale == nil {
				q[i] += float64(spread * 0.5 * p.sizes()[i] * z[i])
				continue
			}
			for j := range i + 1 {
				q[i] += float64(spread * scale[i*n+j] * z[j])
			}
		}
		_, err := e.density(ctx, q, g)
		if err == nil {
			return q, mode, nil
		}
		if !isRejection(err) {
			return nil, 0, err
		}
		spread /= 2
	}
	copy(q, centre)
	if _, err := e.density(ctx, q, g); err != nil {
		var no *nuts.Rejection
		if errors.As(err, &no) && no.Err != nil {
			return nil, 0, fmt.Errorf("%w: %w", errNowhere, no.Err)
		}
		return nil, 0, fmt.Errorf("%w: %w", errNowhere, err)
	}
	return q, mode, nil
}

// rtolOf is the relative tolerance of the runs.
func rtolOf(r *odes.Runner) float64 { return r.Settings().RTol }
