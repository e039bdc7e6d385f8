package nuts

import (
	"context"
	"errors"
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
)

// A population of particles goes from a known distribution to the density by steps of a temperature (P. Del Moral,
// A. Doucet, A. Jasra, J. R. Stat. Soc. B 68:411, 2006): at each step particles are weighted, drawn anew by their
// weights, and moved by trajectories of a chain. A part of the density that no chain would cross to has its share of
// the particles, if it had one at the beginning. The mean weights multiply to the integral of the density.

// From is the distribution where a population begins.
type From struct {
	Draw func(random *elem.Rand, q []float64)
	// LogP returns the logarithm of its density, normalised, and writes the slopes to g.
	LogP func(q, g []float64) float64
}

// TemperOptions of a population. The zero value of a field has the default.
type TemperOptions struct {
	Seed   uint64
	Number int     // of the population: those of one seed differ by it
	Size   int     // particles
	Depth  int     // of trees, 10
	Target float64 // of the acceptance, 0.8
	// Jump is that of Options.
	Jump func(q []float64, random *elem.Rand) (to []float64, grows float64, ok bool)
	// Step tells that temperature is so far from 0 to 1; nil: nobody is interested.
	Step func(temperature float64)
}

// Particle is one of a population that has come to its density.
type Particle struct {
	Draw
	First int       // the particle at the beginning that it descends from
	Start []float64 // where it was before the last round of moves
}

// Population is what Temper found.
type Population struct {
	Particles    []Particle
	Evidence     float64   // the logarithm of the integral of the density
	Temperatures []float64 // that it went through
	Accept       float64   // the least mean acceptance of the last trajectories at a temperature
	Families     float64   // particles at the beginning that have descendants, the effective number by their shares
	// Memory is that of the coordinates before and behind the last round of moves, without what chance alone gives.
	Memory     []float64
	Rejections map[string]int
	Late       map[string]int // of these, at the last temperature
}

// particle is one on its way: where it is, and both densities there.
type particle struct {
	place
	first int
	start []float64
	draw  Draw
}

// place is a point with the density and that of the beginning.
type place struct {
	q, g, from []float64
	logP, log0 float64
}

// at is the tempered density at a place, whose slopes are written to g.
func (x *place) at(temperature float64, g []float64) float64 {
	for i := range g {
		g[i] = float64((1-temperature)*x.from[i]) + float64(temperature*x.g[i])
	}
	return float64((1-temperature)*x.log0) + float64(temperature*x.logP)
}

// Numbers of a population.
const (
	keep       = 0.5 // the effective share of particles that weights of a step leave
	mostSteps  = 1000
	mostMove   = 20  // trajectories at a temperature below the last one, at most
	enough     = 0.7 // of the mean square distance of two particles: who came so far has forgotten where it was
	growth     = 0.1 // of the squares of distances: a trajectory that adds less adds nothing, as between modes
	firstRound = 2   // trajectories of the first round at the last temperature, and of the longest
	mostRound  = 64
	remembered = 0.2 // correlation with what was before a round: what is less is forgotten
	tail       = 0.05
)

// crowd is a population on its way.
type crowd struct {
	f           Density
	from        From
	o           TemperOptions
	n           int
	all         []particle
	temperature float64
	scale       []float64
	step        float64
	sweep       int
	out         Population
}

// Temper brings a population to a density. It is a pure function of what it is given. The error is that of the density,
// or ErrStart where the particles find no density at all at the beginning.
func Temper(ctx context.Context, n int, f Density, from From, o TemperOptions) (*Population, error) {
	if o.Target == 0 {
		o.Target = 0.8
	}
	c := &crowd{f: f, from: from, o: o, n: n, all: make([]particle, o.Size), scale: make([]float64, n*n)}
	c.step = elem.Pow(float64(n), -0.25)
	c.out.Accept, c.out.Rejections, c.out.Late = 1, map[string]int{}, map[string]int{}
	for i := range n {
		c.scale[i*n+i] = 1
	}
	if err := c.scatter(ctx); err != nil {
		return nil, err
	}
	for c.temperature < 1 {
		if len(c.out.Temperatures) == mostSteps {
			return nil, ErrTempered
		}
		if err := c.heat(); err != nil {
			return nil, err
		}
		move := c.move
		if c.temperature == 1 {
			move = c.settle
		}
		if err := move(ctx); err != nil {
			return nil, err
		}
		if o.Step != nil {
			o.Step(c.temperature)
		}
	}
	families, squares := map[int]float64{}, 0.0
	for i := range c.all {
		p := &c.all[i]
		p.draw.Q, p.draw.LogP = p.q, p.logP
		c.out.Particles = append(c.out.Particles, Particle{p.draw, p.first, p.start})
		families[p.first]++
	}
	for i := range c.all {
		squares += families[c.all[i].first] // a family of k counts k times
	}
	c.out.Families = float64(o.Size) * float64(o.Size) / squares
	return &c.out, nil
}

// ErrTempered says that a population does not come to its density.
var ErrTempered = errors.New("temperatures grow by ever smaller steps: particles do not come to the density")

// stream begins the random numbers of a particle in a sweep.
func (c *crowd) stream(particle, sweep int) *elem.Rand {
	chain := Chain{o: Options{Seed: c.o.Seed, Chain: c.name(particle)}}
	return chain.stream(sweep)
}

// name is the number of the chain that a particle is.
func (c *crowd) name(particle int) int { return (c.o.Number+1)<<32 + particle }

// scatter draws the particles of the beginning.
func (c *crowd) scatter(ctx context.Context) error {
	some := false
	for i := range c.all {
		p := &c.all[i]
		p.first = i
		p.q, p.g, p.from = make([]float64, c.n), make([]float64, c.n), make([]float64, c.n)
		c.from.Draw(c.stream(i, -1), p.q)
		p.log0 = c.from.LogP(p.q, p.from)
		lp, err := c.f(ctx, p.q, p.g)
		var no *Rejection
		switch {
		case errors.As(err, &no):
			c.out.Rejections[no.Cause]++
			lp = math.Inf(-1)
		case err != nil:
			return err
		case !(lp < math.Inf(1)) || !finite(p.g):
			c.out.Rejections["a density that is no number"]++
			lp = math.Inf(-1)
		}
		p.logP = lp
		some = some || !math.IsInf(lp, -1)
	}
	if !some {
		return ErrStart
	}
	return nil
}

// weights returns those of a rise of the temperature, relative to the largest, whose logarithm is top.
func (c *crowd) weights(rise float64, w []float64) (top, effective float64) {
	top = math.Inf(-1)
	for i := range c.all {
		p := &c.all[i]
		if w[i] = math.Inf(-1); !math.IsInf(p.logP, -1) {
			w[i] = float64(rise * (p.logP - p.log0))
		}
		top = max(top, w[i])
	}
	sum, squares := 0.0, 0.0
	for i := range w {
		w[i] = elem.Exp(w[i] - top)
		sum += w[i]
		squares += float64(w[i] * w[i])
	}
	return top, float64(sum*sum) / squares
}

// heat raises the temperature by as much as weights allow, and draws particles anew.
func (c *crowd) heat() error {
	w := make([]float64, len(c.all))
	_, some := c.weights(0, w) // those with a density at all
	rise := 1 - c.temperature
	if _, e := c.weights(rise, w); e < float64(keep*some) {
		low, high := 0.0, rise
		for range 60 {
			middle := low + (high-low)/2
			if _, e := c.weights(middle, w); e < float64(keep*some) {
				high = middle
			} else {
				low = middle
			}
		}
		if rise = low; !(c.temperature+rise > c.temperature) {
			return ErrTempered
		}
	}
	top, _ := c.weights(rise, w)
	sum := 0.0
	for _, x := range w {
		sum += x
	}
	c.out.Evidence += top + elem.Log(sum/float64(len(w)))
	if c.temperature += rise; rise == 1-(c.temperature-rise) {
		c.temperature = 1
	}
	c.out.Temperatures = append(c.out.Temperatures, c.temperature)
	// One number draws all: of a share s of the weight, s times the size come, or one more. What stands side by side
	// has the same parents, so that autocorrelations tell how many particles are effective.
	next := make([]particle, 0, len(c.all))
	u := c.stream(len(c.all), c.sweep).Float64()
	at, till := -1, 0.0
	for k := range c.all {
		x := (float64(k) + u) / float64(len(c.all)) * sum
		for at < 0 || till <= x && at+1 < len(w) {
			at++
			till += w[at]
		}
		for w[at] == 0 && at > 0 { // rounding at the end
			at--
		}
		next = append(next, c.all[at])
	}
	c.all = next
	return nil
}

// learn makes the metric that of the particles.
func (c *crowd) learn() {
	window := make([][]float64, 0, len(c.all))
	g := make([]float64, c.n)
	for i := range c.all {
		c.all[i].at(c.temperature, g)
		window = append(window, slices.Concat(c.all[i].q, g))
	}
	if l := covariance(window, Options{Metric: Dense}, c.scale); l != nil {
		c.scale = l
	}
}

// places are where the particles are.
func (c *crowd) places() [][]float64 {
	out := make([][]float64, len(c.all))
	for i := range out {
		out[i] = c.all[i].q
	}
	return out
}

// trajectories moves all particles by one each, and returns their mean acceptance.
func (c *crowd) trajectories(ctx context.Context) (accept float64, err error) {
	for i := range c.all {
		a, err := c.trajectory(ctx, i)
		if err != nil {
			return 0, err
		}
		accept += a / float64(len(c.all))
	}
	c.sweep++
	c.step = float64(c.step * elem.Exp(accept-c.o.Target))
	return accept, nil
}

// move moves all particles, until further trajectories lead no farther away.
func (c *crowd) move(ctx context.Context) (err error) {
	c.learn()
	starts, far, accept, apart := c.places(), 0.0, 0.0, c.spread()
	for k := range mostMove {
		if accept, err = c.trajectories(ctx); err != nil {
			return err
		}
		now := c.distance(starts)
		forgotten := now >= float64(enough*apart) || k > 0 && now <= float64((1+growth)*far)
		if forgotten && accept > c.o.Target/2 {
			break
		}
		far = now
	}
	c.out.Accept = min(c.out.Accept, accept)
	return nil
}

// settle moves all particles at the last temperature, until they have forgotten where they were. What weights made too
// rare on the way, as the ends of a curved density, comes back only so.
//
// Rounds become longer as long as a round is remembered. A round that is forgotten is made once more: whether it is
// depends on where the particles came to by chance, and those where it was not must count as well.
func (c *crowd) settle(ctx context.Context) (err error) {
	const wall, long = 0.97, 16 // what so long a round has not made less, longer ones do not either, as between modes
	limit := Forgotten(len(c.all))
	accept, before := 0.0, 1.0
	for length, again := firstRound, false; ; {
		c.learn()
		starts := c.places()
		for range length {
			if accept, err = c.trajectories(ctx); err != nil {
				return err
			}
		}
		for i := range c.all {
			c.all[i].start = starts[i]
		}
		c.out.Memory = Memory(starts, c.places())
		now := slices.Max(c.out.Memory)
		switch forgotten := now < limit; {
		case forgotten && again, !forgotten && (length == mostRound || length >= long && min(now, before) > wall):
			c.out.Accept = min(c.out.Accept, accept)
			for i, x := range c.out.Memory {
				c.out.Memory[i] = math.Sqrt(max(float64(x*x)-2.5/float64(len(c.all)), 0))
			}
			return nil
		case forgotten:
			again = true
		default:
			again = false
			length *= 2
		}
		before = now
	}
}

// Forgotten is the memory that so many particles have at most of what they have forgotten: by chance, correlations are
// not zero.
func Forgotten(particles int) float64 { return remembered + 2/math.Sqrt(float64(particles)) }

// distance is the mean square of how far particles are from where they started, in the metric.
func (c *crowd) distance(starts [][]float64) float64 {
	sum := 0.0
	y := make([]float64, c.n)
	for i := range c.all {
		for j := range y {
			y[j] = c.all[i].q[j] - starts[i][j]
		}
		Whiten(c.scale, y)
		sum += dot(y, y) / float64(len(c.all))
	}
	return sum
}

// Memory tells of each coordinate how much of where particles started is left where they end: the largest correlation
// of the coordinate, of the squares of its distances from the mean, and of who is in a tail. Tails may be slow where
// all else is fast.
func Memory(starts, ends [][]float64) []float64 {
	out := make([]float64, len(starts[0]))
	a, b := make([]float64, len(starts)), make([]float64, len(starts))
	fill := func(j int, f func(x float64) float64) {
		for i, q := range starts {
			a[i], b[i] = f(q[j]), f(ends[i][j])
		}
	}
	for j := range out {
		fill(j, func(x float64) float64 { return x })
		all := slices.Concat(a, b)
		slices.Sort(all)
		n := int(float64(tail * float64(len(all))))
		low, high := all[n], all[len(all)-1-n]
		out[j] = math.Abs(correlation(a, b))
		for i := range a { // which are distances from means now
			a[i], b[i] = float64(a[i]*a[i]), float64(b[i]*b[i])
		}
		out[j] = max(out[j], math.Abs(correlation(a, b)))
		fill(j, func(x float64) float64 { return elem.Less(x, low) })
		out[j] = max(out[j], math.Abs(correlation(a, b)))
		fill(j, func(x float64) float64 { return elem.Less(high, x) })
		out[j] = max(out[j], math.Abs(correlation(a, b)))
	}
	return out
}

// Drift tells of each coordinate how far particles, or their spread, moved together from their starts to their ends, in
// standard errors. Particles that have come to their density move to and fro alike.
func Drift(starts, ends [][]float64) []float64 {
	out := make([]float64, len(starts[0]))
	size := float64(len(starts))
	for j := range out {
		mean := 0.0
		for i, q := range starts {
			mean += (q[j] + ends[i][j]) / (2 * size)
		}
		for power := 1; power <= 2; power++ {
			sum, squares := 0.0, 0.0
			for i, q := range starts {
				from, to := q[j]-mean, ends[i][j]-mean
				d := to - from
				if power == 2 {
					d = float64(to*to) - float64(from*from)
				}
				sum += d
				squares += float64(d * d)
			}
			if squares > 0 {
				out[j] = max(out[j], math.Abs(sum)/math.Sqrt(squares))
			}
		}
	}
	return out
}

// correlation returns that of two lists, whose means it takes away.
func correlation(a, b []float64) float64 {
	for _, x := range [][]float64{a, b} {
		mean := 0.0
		for _, v := range x {
			mean += v / float64(len(x))
		}
		for i := range x {
			x[i] -= mean
		}
	}
	r := dot(a, b) / math.Sqrt(float64(dot(a, a)*dot(b, b)))
	if r-r != 0 {
		return 1
	}
	return r
}

// spread is the mean square distance of two particles, in the metric.
func (c *crowd) spread() float64 {
	mean, y, size := make([]float64, c.n), make([]float64, c.n), float64(len(c.all))
	for i := range c.all {
		for j, x := range c.all[i].q {
			mean[j] += x / size
		}
	}
	sum := 0.0
	for i := range c.all {
		for j := range y {
			y[j] = c.all[i].q[j] - mean[j]
		}
		Whiten(c.scale, y)
		sum += 2 * dot(y, y) / size
	}
	return sum
}

// trajectory moves a particle by one.
func (c *crowd) trajectory(ctx context.Context, i int) (accept float64, err error) {
	p := &c.all[i]
	seen := []place{p.place}
	begun := false
	f := func(ctx context.Context, q, g []float64) (float64, error) {
		if !begun { // at the particle, where all is known
			begun = true
			return p.at(c.temperature, g), nil
		}
		x := place{slices.Clone(q), make([]float64, c.n), make([]float64, c.n), 0, 0}
		x.log0 = c.from.LogP(x.q, x.from)
		var err error
		if x.logP, err = c.f(ctx, x.q, x.g); err != nil {
			return 0, err
		}
		seen = append(seen, x)
		return x.at(c.temperature, g), nil
	}
	o := Options{Seed: c.o.Seed, Chain: c.name(i), Target: c.o.Target, Depth: c.o.Depth, Vary: true, Jump: c.o.Jump}
	s := State{Iteration: c.sweep + 1, Q: p.q, Scale: c.scale, Step: c.step}
	chain, err := Resume(ctx, f, s, o)
	if err != nil {
		return 0, err
	}
	d, err := chain.Next(ctx)
	if err != nil {
		return 0, err
	}
	for cause, k := range chain.state.Rejections {
		if c.out.Rejections[cause] += k; c.temperature == 1 {
			c.out.Late[cause] += k
		}
	}
	at := slices.IndexFunc(seen, func(x place) bool { return slices.Equal(x.q, d.Q) })
	p.place, p.draw = seen[at], d
	return d.Accept, nil
}
