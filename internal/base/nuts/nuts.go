// Package nuts draws from densities by Hamiltonian Monte Carlo without U-turns: multinomial trajectories (M.
// Betancourt, arXiv:1701.02434) that end by the generalised criterion, with the checks across subtrees that Stan makes,
// steps by dual averaging (M. D. Hoffman, A. Gelman, JMLR 15:1593, 2014), and a metric that warm-up learns in windows.
//
// A chain is a pure function of its density, its start, its seed and its number. The numbers of an iteration come from
// a stream of their own, which the number of the iteration begins; so a chain that goes on from a State makes the draws
// that it would have made. A point without a density is a rejection, never an error of the chain.
//
// Momenta are those of coordinates that the metric whitens: with the covariance Σ = L Lᵀ, a step moves q by L r, and r
// by Lᵀ times the gradient. Nothing is solved for along a trajectory.
package nuts

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
)

// Density returns the logarithm of a density at q[n], up to a constant, and writes its derivatives to g[n]. An error
// that is a *Rejection says that there is none at q. Any other one ends the chain.
type Density func(ctx context.Context, q, g []float64) (float64, error)

// Rejection says why a point has no density.
type Rejection struct {
	Cause string // of the same kind, the same words
	Err   error
}

func (r *Rejection) Error() string { return r.Cause }
func (r *Rejection) Unwrap() error { return r.Err }

// Options of a chain. The zero value of a field has the default.
type Options struct {
	Seed   uint64
	Chain  int     // its number: chains of one seed differ by it
	Warmup int     // iterations before the first draw
	Target float64 // of the acceptance, 0.8
	Depth  int     // of trees at most, 10
	Metric Metric
	// Vary makes half of the trajectories behind warm-up with steps of a third: particles, which make few trajectories
	// with one metric for all, so come to where the density is narrower than most of it.
	Vary bool
	// Scale is L of the first metric, [n][n], lower triangular; nil: that of ones.
	Scale []float64
	// Jump, if set, proposes another place behind each trajectory, as between modes; ok is false where it does not. It
	// is a map whose inverse it proposes as often from there, and grows is the logarithm of its determinant.
	Jump func(q []float64, random *elem.Rand) (to []float64, grows float64, ok bool)
	// Centre, if set, returns the centre of the part of the density around q: metrics are learned from distances to it.
	Centre func(q []float64) []float64
}

// Metric says what warm-up learns of the covariance.
type Metric uint8

// The metrics.
const (
	// Shrunk learns a covariance in the coordinates that Scale whitens, which count as some of the draws.
	Shrunk Metric = iota
	// Dense does so in coordinates whose variances are learned.
	Dense
	// Diagonal learns variances.
	Diagonal
)

// State is a chain between two iterations: all that what follows depends on, beside the density and the Options.
type State struct {
	Iteration  int
	Q          []float64
	Scale      []float64 // L[n][n]
	Step       float64
	Averaging  Averaging
	Window     [][]float64    // the draws of the present window of warm-up
	Rejections map[string]int // by their causes
	Gradients  int            // that were asked for
}

// Averaging is the state of dual averaging.
type Averaging struct{ Mu, Error, Mean, Count float64 }

// Draw is what an iteration gives.
type Draw struct {
	Q         []float64 // n; belongs to the caller
	LogP      float64   // the logarithm of the density there
	Accept    float64   // the mean acceptance along the trajectory
	Step      float64
	Energy    float64
	Depth     int
	Leapfrogs int
	Divergent bool // the energy left what steps can follow
	Full      bool // the tree reached the depth that it may have
	Warmup    bool
}

// Chain is a chain. It belongs to one goroutine.
type Chain struct {
	f       Density
	o       Options
	n       int
	state   State
	now     *point
	windows []int
	random  *elem.Rand
	free    []*point
	spare   [][]float64
}

// point is a place in phase space.
type point struct {
	q, g []float64 // place, and slopes of the density
	w    []float64 // Lᵀ g
	r    []float64 // whitened momentum
	logP float64
	uses int
}

// ErrStart says that a chain was to begin where there is no density.
var ErrStart = errors.New("there is no density where the chain begins")

// New returns a chain that begins at q.
func New(ctx context.Context, f Density, q []float64, o Options) (*Chain, error) {
	n := len(q)
	s := State{Q: slices.Clone(q), Scale: o.Scale, Step: 1, Rejections: map[string]int{}}
	if s.Scale == nil {
		s.Scale = make([]float64, n*n)
		for i := range n {
			s.Scale[i*n+i] = 1
		}
	}
	s.Scale = slices.Clone(s.Scale)
	c, err := Resume(ctx, f, s, o)
	if err != nil {
		return nil, err
	}
	c.random = c.stream(-1)
	return c, c.firstStep(ctx)
}

// Resume returns a chain that goes on from a state.
func Resume(ctx context.Context, f Density, s State, o Options) (*Chain, error) {
	if o.Target == 0 {
		o.Target = 0.8
	}
	if o.Depth == 0 {
		o.Depth = 10
	}
	c := &Chain{f: f, o: o, n: len(s.Q), state: s}
	if c.state.Rejections == nil {
		c.state.Rejections = map[string]int{}
	}
	c.windows = windows(o.Warmup, o.Metric)
	c.now = c.take()
	copy(c.now.q, s.Q)
	before := c.state.Gradients
	lp, err := f(ctx, c.now.q, c.now.g)
	c.state.Gradients = before + 1
	if err == nil && lp-lp != 0 {
		err = &Rejection{Cause: "a density that is no number"}
	}
	if err != nil {
		var no *Rejection
		if errors.As(err, &no) {
			return nil, fmt.Errorf("%w: %w", ErrStart, err)
		}
		return nil, err
	}
	c.now.logP = lp
	if s.Gradients > 0 { // the chain has paid for it
		c.state.Gradients = before
	}
	return c, nil
}

// State returns a copy of the state.
func (c *Chain) State() State {
	s := c.state
	s.Q, s.Scale = slices.Clone(c.now.q), slices.Clone(s.Scale)
	s.Window = slices.Clone(s.Window)
	s.Rejections = map[string]int{}
	for k, v := range c.state.Rejections {
		s.Rejections[k] = v
	}
	return s
}

// stream begins the random numbers of an iteration.
func (c *Chain) stream(iteration int) *elem.Rand {
	mix := func(h, x uint64) uint64 {
		h += x + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		return h ^ h>>31
	}
	return elem.NewRand(mix(mix(mix(0, c.o.Seed), uint64(c.o.Chain)), uint64(iteration+1)))
}

func (c *Chain) take() *point {
	if k := len(c.free); k > 0 {
		p := c.free[k-1]
		c.free = c.free[:k-1]
		p.uses = 1
		return p
	}
	n := c.n
	all := make([]float64, 4*n)
	return &point{q: all[:n:n], g: all[n : 2*n : 2*n], w: all[2*n : 3*n : 3*n], r: all[3*n:], uses: 1}
}

func (p *point) keep() *point { p.uses++; return p }

func (c *Chain) drop(p *point) {
	if p == nil {
		return
	}
	if p.uses--; p.uses == 0 {
		c.free = append(c.free, p)
	}
}

func (c *Chain) vector() []float64 {
	if k := len(c.spare); k > 0 {
		v := c.spare[k-1]
		c.spare = c.spare[:k-1]
		return v
	}
	return make([]float64, c.n)
}

func (c *Chain) giveBack(v ...[]float64) { c.spare = append(c.spare, v...) }

// whiten sets p.w to Lᵀ g.
func (c *Chain) whiten(p *point) {
	n, l := c.n, c.state.Scale
	clear(p.w)
	for i := range n {
		gi := p.g[i]
		if c.o.Metric == Diagonal {
			p.w[i] = float64(l[i*n+i] * gi)
			continue
		}
		for j, v := range l[i*n : i*n+i+1] {
			p.w[j] += float64(v * gi)
		}
	}
}

// leap makes a step from p. The error ends the chain; without a density the new point is nil.
func (c *Chain) leap(ctx context.Context, p *point, step float64) (*point, error) {
	n, l := c.n, c.state.Scale
	to := c.take()
	for i := range n {
		to.r[i] = p.r[i] + float64(step/2*p.w[i])
	}
	for i := range n {
		sum := 0.0
		if c.o.Metric == Diagonal {
			sum = float64(l[i*n+i] * to.r[i])
		} else {
			for j, v := range l[i*n : i*n+i+1] {
				sum += float64(v * to.r[j])
			}
		}
		to.q[i] = p.q[i] + float64(step*sum)
	}
	lp, err := c.f(ctx, to.q, to.g)
	c.state.Gradients++
	if err == nil && !(lp < math.Inf(1)) {
		err = &Rejection{Cause: "a density that is no number"}
	} else if err == nil && !finite(to.g) {
		err = &Rejection{Cause: "derivatives that are no numbers"}
	}
	if err != nil {
		c.drop(to)
		var no *Rejection
		if errors.As(err, &no) {
			c.state.Rejections[no.Cause]++
			return nil, nil
		}
		return nil, err
	}
	to.logP = lp
	c.whiten(to)
	for i := range n {
		to.r[i] += float64(step / 2 * to.w[i])
	}
	return to, nil
}

func finite(v []float64) bool {
	for _, x := range v {
		if x-x != 0 {
			return false
		}
	}
	return true
}

// energy is the logarithm of the density in phase space.
func energy(p *point) float64 { return p.logP - dot(p.r, p.r)/2 }

func dot(a, b []float64) float64 {
	s := 0.0
	for i, x := range a {
		s += float64(x * b[i])
	}
	return s
}

// tree is a part of a trajectory.
type tree struct {
	first, last *point // its ends, in the direction in which it was built
	sample      *point
	rho         []float64 // the sum of momenta
	weight      float64   // the logarithm of the sum of densities in phase space, over that of the start
	ok          bool      // it goes on
}

// work adds up what happens along a trajectory.
type work struct {
	start     float64 // the energy there
	accept    float64
	leaps     int
	divergent bool
	step      float64
	losses    [2][]float64 // in warm-up: of energy, by each step backwards and forwards
	spared    [2]float64   // what is lost less by strides that are divided
}

func (c *Chain) release(t *tree) {
	c.drop(t.first)
	c.drop(t.last)
	c.drop(t.sample)
	if t.rho != nil {
		c.giveBack(t.rho)
	}
	*t = tree{}
}

// turns reports whether a part that moves by rho from a to b begins to turn back.
func turns(a, b *point, rho []float64) bool { return !(dot(a.r, rho) > 0 && dot(b.r, rho) > 0) }

// turnsAcross reports whether two parts that follow each other turn back, each with the first point of the other.
func (c *Chain) turnsAcross(a, b *tree) bool {
	rho := c.vector()
	defer c.giveBack(rho)
	for i := range rho {
		rho[i] = a.rho[i] + b.first.r[i]
	}
	if turns(a.first, b.first, rho) {
		return true
	}
	for i := range rho {
		rho[i] = b.rho[i] + a.last.r[i]
	}
	return turns(a.last, b.last, rho)
}

// build makes a part of 2^depth steps behind p.
func (c *Chain) build(ctx context.Context, p *point, depth int, w *work) (tree, error) {
	if depth == 0 {
		to, loss, err := c.stride(ctx, p, w)
		w.leaps++
		if err != nil || to == nil {
			return tree{}, err
		}
		h := energy(to) - w.start
		if h-h != 0 {
			h = math.Inf(-1)
		}
		way := 0
		if w.step > 0 {
			way = 1
		}
		if now := energy(to) - energy(p); now != loss { // steps become as long as if all were whole
			w.spared[way] += loss - now
		}
		w.accept += elem.Exp(min(h+w.spared[way], 0))
		if w.losses[0] != nil {
			w.losses[way] = append(w.losses[way], loss)
		}
		if h < -lost {
			w.divergent = true
			c.drop(to)
			return tree{}, nil
		}
		rho := c.vector()
		copy(rho, to.r)
		return tree{first: to, last: to.keep(), sample: to.keep(), rho: rho, weight: h, ok: true}, nil
	}
	a, err := c.build(ctx, p, depth-1, w)
	if err != nil || !a.ok {
		return a, err
	}
	b, err := c.build(ctx, a.last, depth-1, w)
	if err != nil || !b.ok {
		c.release(&a)
		return b, err
	}
	sum := addLogs(a.weight, b.weight)
	if elem.Log(c.uniform()) < b.weight-sum {
		a.sample, b.sample = b.sample, a.sample
	}
	across := c.turnsAcross(&a, &b)
	out := tree{
		first: a.first.keep(), last: b.last.keep(), sample: a.sample.keep(), rho: c.vector(), weight: sum,
	}
	for i := range out.rho {
		out.rho[i] = a.rho[i] + b.rho[i]
	}
	out.ok = !across && !turns(out.first, out.last, out.rho)
	c.release(&a)
	c.release(&b)
	return out, nil
}

// uniform is a number in (0, 1].
func (c *Chain) uniform() float64 { return 1 - c.random.Float64() }

func addLogs(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + elem.Log1p(elem.Exp(b-a))
}

// push draws a momentum at the present point.
func (c *Chain) push() {
	c.whiten(c.now)
	for i := range c.now.r {
		c.now.r[i] = c.random.Norm()
	}
}

// Next makes an iteration. After an error the chain is where it was.
func (c *Chain) Next(ctx context.Context) (Draw, error) {
	it := c.state.Iteration
	gradients := c.state.Gradients
	c.random = c.stream(it)
	warming := it < c.o.Warmup
	length := c.state.Step
	if c.o.Vary && !warming && c.random.Float64() < 0.5 {
		length /= 3
	}
	c.push()
	start := c.now
	w := work{start: energy(start)}
	d := Draw{Step: length, Warmup: warming}
	if warming {
		w.losses = [2][]float64{make([]float64, 0, 16), make([]float64, 0, 16)}
	}

	// whole is the trajectory, from its end backwards in time to that forwards.
	rho := c.vector()
	copy(rho, start.r)
	whole := tree{first: start.keep(), last: start.keep(), sample: start.keep(), rho: rho, ok: true}
	defer c.release(&whole)
	most := c.deepest(it)
	for d.Depth < most {
		back := c.random.Float64() < 0.5
		from, step := whole.last, length
		if back {
			from, step = whole.first, -step
		}
		w.step = step
		t, err := c.build(ctx, from, d.Depth, &w)
		if err != nil {
			c.state.Gradients = gradients
			return d, err
		}
		if !t.ok {
			c.release(&t)
			break
		}
		d.Depth++
		if elem.Log(c.uniform()) < t.weight-whole.weight {
			c.drop(whole.sample)
			whole.sample = t.sample.keep()
		}
		whole.weight = addLogs(whole.weight, t.weight)
		a, b := &whole, &t
		if back {
			t.first, t.last = t.last, t.first
			a, b = b, a
		}
		across := c.turnsAcross(a, b)
		first, last := a.first.keep(), b.last.keep()
		for i := range whole.rho {
			whole.rho[i] += t.rho[i]
		}
		c.drop(whole.first)
		c.drop(whole.last)
		whole.first, whole.last = first, last
		c.release(&t)
		if across || turns(whole.first, whole.last, whole.rho) {
			break
		}
	}
	d.Full, d.Divergent, d.Leapfrogs = d.Depth == most, w.divergent, c.state.Gradients-gradients
	d.Accept = w.accept / float64(max(w.leaps, 1))
	d.Energy = -energy(whole.sample)
	before := c.now
	c.now = whole.sample.keep()
	if err := c.jump(ctx); err != nil {
		c.drop(c.now)
		c.now, c.state.Gradients = before, gradients
		return d, err
	}
	c.drop(before)
	d.Q, d.LogP = slices.Clone(c.now.q), c.now.logP
	c.state.Iteration++
	if warming {
		return d, c.learn(ctx, it, w.smooth()/float64(max(w.leaps, 1)))
	}
	return d, nil
}

// jump goes to the place that Jump proposes, or does not, by Metropolis, Hastings and Green.
func (c *Chain) jump(ctx context.Context) error {
	if c.o.Jump == nil {
		return nil
	}
	q, grows, ok := c.o.Jump(c.now.q, c.random)
	if !ok {
		return nil
	}
	to := c.take()
	copy(to.q, q)
	lp, err := c.f(ctx, to.q, to.g)
	c.state.Gradients++
	u := elem.Log(c.uniform())
	var no *Rejection
	switch {
	case errors.As(err, &no), err == nil && (!(lp < math.Inf(1)) || !finite(to.g)):
		c.drop(to) // a place without a density is no better than one where it is small
		return nil
	case err != nil:
		c.drop(to)
		return err
	case u < lp+grows-c.now.logP:
		to.logP = lp
		c.drop(c.now)
		c.now = to
	default:
		c.drop(to)
	}
	return nil
}
