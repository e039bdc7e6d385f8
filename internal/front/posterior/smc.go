package posterior

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"odes.dev/odes/internal/base/draws"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/nuts"
	"odes.dev/odes/internal/base/sample"
	"odes.dev/odes/lang/diag"
)

// Evidence is the integral of exp(-of) over all that is drawn: the probability of the data where priors and likelihood
// are normalised.
type Evidence struct {
	Log   float64 // its logarithm
	Error float64 // the standard error of that; NaN where nothing tells
}

// evidenceOf is that of importance weights of n numbers, whose logarithms lack the powers of 2π of normal
// distributions. Of the total, those that are not here are zero.
func evidenceOf(logs []float64, total, n int, effective float64) *Evidence {
	top, sum := slices.Max(logs), 0.0
	for _, x := range logs {
		sum += elem.Exp(x - top)
	}
	return &Evidence{
		Log:   top + elem.Log(sum/float64(total)) + float64(float64(n)/2*elem.Log(2*math.Pi)),
		Error: math.Sqrt(max(1/effective-1/float64(total), 0)),
	}
}

// evidenceOfAll is that of several populations: their mean, and how far they differ.
//
// Few populations may differ by little by chance. So twice the error is what holds the truth with a probability of 95 %
// by Student's distribution, and no error is less than what descent tells: a part of a population that comes from so
// few of its beginning has a share that varies as that of so few (A. Lee, N. Whiteley, Biometrika 105:609, 2018).
func evidenceOfAll(all []Tempered, size int) *Evidence {
	top := math.Inf(-1)
	for i := range all {
		top = max(top, all[i].Evidence)
	}
	x, descent := make([]float64, len(all)), 0.0
	for i := range all {
		x[i] = elem.Exp(all[i].Evidence - top)
		descent += max(1/all[i].Families-float64(all[i].Steps+1)/float64(size), 0)
	}
	n := float64(len(x))
	mean := draws.Mean([][]float64{x})
	e := &Evidence{Log: top + elem.Log(mean), Error: nan}
	if len(x) < 2 {
		return e
	}
	student, err := sample.NewDist("student", []float64{n - 1, 0, 1}, math.Inf(-1), math.Inf(1))
	if err != nil {
		return e
	}
	wider := student.Quantile(0.975) / sample.NormalQuantile(0.975, 0.025)
	e.Error = max(wider*draws.Sd([][]float64{x})/mean, math.Sqrt(descent/n)) / math.Sqrt(n)
	return e
}

// around returns the middle and the width of the logistic distribution of the coordinate with which populations begin.
//
// It has the median of the prior, and the width of that between its quantiles of 16 and 84 %. Between two bounds it is
// uniform in the param. Its tails are no heavier, whatever those of the prior are: runs that begin in a Cauchy
// distribution's are long, and fail.
func (c *coordinate) around() (middle, width float64) {
	below, above := !math.IsInf(c.lo, -1), !math.IsInf(c.hi, 1)
	middle, width = c.of(c.first), 1
	if below && above {
		middle = 0
	}
	if !below && !above {
		width = c.size
	}
	if c.prior == nil {
		return middle, width
	}
	const quantile = 1.6582280766035324 // that of 84 % of the logistic distribution
	low, high := c.of(c.prior.Quantile(0.16)), c.of(c.prior.Quantile(0.84))
	if w := math.Abs(high-low) / (2 * quantile); w > 0 && w-w == 0 {
		middle, width = c.of(c.prior.Quantile(0.5)), w
	}
	return middle, width
}

// from is where populations begin.
func (p *problem) from() nuts.From {
	n := len(p.coords)
	middle, width := make([]float64, n), make([]float64, n)
	for i := range p.coords {
		middle[i], width[i] = p.coords[i].around()
	}
	return nuts.From{
		Draw: func(random *elem.Rand, q []float64) {
			for i := range q {
				u := random.Float64()
				for u == 0 {
					u = random.Float64()
				}
				q[i] = middle[i] + float64(width[i]*elem.Log(u/(1-u)))
			}
		},
		LogP: func(q, g []float64) float64 {
			lp := 0.0
			for i, x := range q {
				z := (x - middle[i]) / width[i]
				lp -= math.Abs(z) + 2*elem.Log1p(elem.Exp(-math.Abs(z))) + elem.Log(width[i])
				g[i] = (1 - 2*sigmoid(z)) / width[i]
			}
			return lp
		},
	}
}

// ErrIntegrals says that populations of particles would ask for too many integrals over random effects.
var ErrIntegrals = errors.New("method = smc asks for too many integrals over random effects")

// Numbers of that: runs for each particle, and integrals that take an hour or so.
const (
	particleRuns  = 60
	mostIntegrals = 5e6
)

// affordable refuses populations whose integrals over random effects would never end.
func affordable(p *problem) error {
	s := &p.settings
	if s.Method != "smc" || !integrates(p) {
		return nil
	}
	subjects := max(len(p.model.Experiments()), 1)
	each := float64(particleRuns * subjects * s.Chains)
	if each*float64(s.Draws) <= mostIntegrals {
		return nil
	}
	fewer := ""
	if n := int(mostIntegrals / each); n >= 20 {
		fewer = fmt.Sprintf(", or take fewer particles (--sample.draws=%d)", n)
	}
	return fmt.Errorf("%w: about %.2g, of %s for each of %d runs of %d particles, which would take hours; chains need "+
		"a tenth of them (--sample.method=nuts), or none (and --sample.random=draw)%s", ErrIntegrals,
		each*float64(s.Draws), diag.Count(subjects, "subject"), particleRuns, s.Chains*s.Draws, fewer)
}

// populations draws by populations of particles, as many as there are chains, none of which knows of the others: what
// they differ in is how far they are to be trusted.
//
// A mode that is narrow and has mass is higher than one that is wide: so where a trajectory saw a place that is higher
// than all modes, a search begins there. If that finds a mode of which the first searches did not know, populations
// begin anew, and jump there.
func (p *problem) populations(ctx context.Context, r *Result) error {
	all, tops, err := p.temper(ctx, r)
	if err != nil {
		return err
	}
	known, before := r.heavy(), slices.Clone(r.Modes)
	if err := p.fromTops(ctx, r, tops); err != nil {
		return err
	}
	if r.heavy() > known {
		first := all
		settleAnchor(p, r.Modes)
		if all, _, err = p.temper(ctx, r); err != nil {
			return err
		}
		for k, x := range all {
			x.Evidence = withLate(r.Modes, before, first[k], x)
		}
	}
	p.settle(r, all)
	return nil
}

// withLate is the logarithm of the evidence of a population that jumps to modes of which it did not know at first. On
// the way they have too few particles, in the end not: so it is that of the first population outside of these modes,
// over the share of the particles that are outside in the end.
func withLate(modes, before []Mode, first, last *nuts.Population) float64 {
	outside := func(x *nuts.Population) (n float64) {
		for i := range x.Particles {
			m := &modes[modeOf(modes, x.Particles[i].Q)]
			if slices.ContainsFunc(before, func(o Mode) bool { return same(&o, m) }) {
				n++
			}
		}
		return n
	}
	if a, b := outside(first), outside(last); a > 0 && b > 0 {
		return first.Evidence + elem.Log(a/b)
	}
	return last.Evidence
}

// temper makes the populations. It returns the highest place that each saw, too; nil for none above all modes.
func (p *problem) temper(ctx context.Context, r *Result) (all []*nuts.Population, tops [][]float64, err error) {
	const above = 0.1 // in logarithms: rounding and errors of solvers are less
	highest := math.Inf(-1)
	for i := range r.Modes {
		highest = max(highest, r.Modes[i].LogP+above)
	}
	s := &r.Settings
	p.told.begin("runs", crowdParts*s.Chains)
	list, err := crowds.all(ctx, p, &crowd{placesOf(r.Modes), highest}, s.Chains)
	for i := range list {
		r.Gradients += list[i].Cost
		all, tops = append(all, list[i].Population), append(tops, list[i].Top)
	}
	return all, tops, err
}

// crowds are populations on their way.
var crowds = part[crowd, tempered]{
	name: "populations", parts: crowdParts, ready: (*crowd).ready, make: (*crowd).temper,
}

// crowdParts is how many parts of its work a population tells of.
const crowdParts = 20

// crowd is what populations know: modes, and how high these are.
type crowd struct {
	Modes   []place
	Highest float64
}

// ready sets what a problem knows behind its searches.
func (of *crowd) ready(p *problem) error {
	settleAnchor(p, known(&p.settings, of.Modes).Modes)
	return nil
}

// tempered is what one came to, and the highest place that it saw; nil for none above all modes.
type tempered struct {
	Population *nuts.Population
	Top        []float64
	Cost       int
}

// temper makes a population.
func (of *crowd) temper(p *problem, ctx context.Context, e *evaluator, k int) (x tempered, err error) {
	s := &p.settings
	from, jumps := p.from(), nuts.Options{}
	p.between(known(&p.settings, of.Modes), &jumps)
	before, told, top := e.n, 0, of.Highest
	f := func(ctx context.Context, q, g []float64) (float64, error) {
		lp, err := e.density(ctx, q, g)
		if err == nil && lp > top {
			top, x.Top = lp, append(x.Top[:0], q...)
		}
		return lp, err
	}
	x.Population, err = nuts.Temper(ctx, len(p.coords), f, from, nuts.TemperOptions{
		Seed: s.Seed, Number: k, Size: s.Draws, Depth: s.Depth, Target: s.Target, Jump: jumps.Jump,
		Step: func(temperature float64) {
			for told < crowdParts-1 && float64(told) < crowdParts*math.Sqrt(math.Sqrt(temperature)) {
				told++
				p.told.step(1, 0)
			}
		},
	})
	x.Cost = e.n - before
	return x, err
}

// fromTops searches from the highest places, and lists all modes anew.
func (p *problem) fromTops(ctx context.Context, r *Result, tops [][]float64) error {
	found, counts := make([]*Mode, len(tops)), make([]int, len(tops))
	err := p.each(len(tops), func(e *evaluator, k int) (err error) {
		if tops[k] == nil {
			return nil
		}
		before := e.n
		found[k], err = p.search(ctx, e, tops[k])
		counts[k] = e.n - before
		return err
	})
	for _, n := range counts {
		r.Gradients += n
	}
	if err != nil || !slices.ContainsFunc(found, func(m *Mode) bool { return m != nil }) {
		return err
	}
	all := make([]*Mode, 0, len(r.Modes)+len(found))
	for i := range r.Modes {
		m := r.Modes[i]
		all = append(all, &m)
	}
	r.Modes = nil
	p.gather(r, append(all, found...))
	return nil
}

// settle keeps what populations are in the end.
func (p *problem) settle(r *Result, all []*nuts.Population) {
	s := &r.Settings
	r.Chains = make([]Chain, s.Chains)
	counted := map[string]*Rejection{}
	var starts, ends [][]float64
	for k, x := range all {
		c := &r.Chains[k]
		c.Mode, c.Values = -1, make([][]float64, len(p.coords))
		for i := range x.Particles {
			c.add(p.values(x.Particles[i].Q), &x.Particles[i].Draw)
			starts, ends = append(starts, x.Particles[i].Start), append(ends, x.Particles[i].Q)
		}
		r.Populations = append(r.Populations, Tempered{x.Evidence, len(x.Temperatures), x.Accept, x.Families, x.Memory})
		for cause, n := range x.Rejections {
			if counted[cause] == nil {
				counted[cause] = &Rejection{Cause: cause}
			}
			counted[cause].Count += n
			counted[cause].Late += x.Late[cause]
		}
	}
	for _, cause := range slices.Sorted(maps.Keys(counted)) {
		r.Rejections = append(r.Rejections, *counted[cause])
	}
	r.Evidence = evidenceOfAll(r.Populations, s.Draws)
	r.last = lastRound{nuts.Memory(starts, ends), nuts.Drift(starts, ends)}
}

// lastRound is what package nuts says of the last round of moves of all populations together, of each coordinate.
type lastRound struct{ memory, drift []float64 }

// Tempered is how a population of particles fared.
type Tempered struct {
	Evidence float64   // the logarithm of the integral by it alone
	Steps    int       // of the temperature
	Accept   float64   // the least mean acceptance at a temperature
	Families float64   // particles of the beginning that have descendants at the end, by their shares
	Memory   []float64 // of each coordinate: what the last round of moves has not forgotten
}

// concludePopulations says what draws of populations are worth.
func (p *problem) concludePopulations(r *Result) {
	s := &r.Settings
	more := fmt.Sprintf("--sample.draws=%d", 4*s.Draws)
	w := p.worth(r)
	if len(w.apart) > 0 {
		r.partial("R-hat of %s is up to %s (at most 1.01): populations do not agree, as where parts of the "+
			"posterior have few particles on the way; take more of them: %s", several(w.apart), above(w.worst), more)
	}
	p.concludeFew(r, &w)
	r.concludeSlow()
	if s.Chains < 2 {
		r.partial("one population alone has no estimate of its error: take several (--sample.chains=4)")
	} else if !(r.Evidence.Error <= mostError) {
		r.partial("the logarithm of the evidence differs between populations: its standard error is %.2g (at most %g)"+
			"; take more particles: %s", r.Evidence.Error, mostError, more)
	}
	least, families := 1.0, float64(s.Draws)
	for _, x := range r.Populations {
		least, families = min(least, x.Accept), min(families, x.Families)
	}
	if !(least >= 0.3) {
		r.partial("particles hardly move at a temperature (acceptance %.2g): they stay where they began", least)
	}
	if families < 20 {
		r.partial("all %d particles of a population descend from about %.0f of its first ones; take more: %s", s.Draws,
			families, more)
	}
	for i := range r.Modes {
		if m := &r.Modes[i]; m.Draws == 0 && m.Weight >= 0.01 {
			r.partial("a search found a mode at %s, with about %.2g of the mass by Laplace's method, but no particle "+
				"reached it; take more: %s", p.point(m.At), m.Weight, more)
		}
	}
	if heavy := r.heavy(); heavy > 1 {
		r.notef("the posterior has %d modes: see modes for the share of particles", heavy)
	}
	r.concludeMissed()
	r.concludeFailures()
	r.concludeWalls()
}

// mostDrift is the largest move of all particles together, in standard errors, that is chance: of a few coordinates and
// their squares, with a probability of about 0.1 %.
const mostDrift = 4

// concludeSlow says where the particles have not come to rest: a part that moves reach slowly has as many particles as
// weights have left there, which may be too few of them in all populations alike.
func (r *Result) concludeSlow() {
	var slow, moving []string
	worst, far := 0.0, 0.0
	for i, x := range r.last.memory {
		if x >= nuts.Forgotten(r.Settings.Draws) {
			slow, worst = append(slow, r.Params[i].Text()), max(worst, x)
		}
		if x := r.last.drift[i]; x >= mostDrift {
			moving, far = append(moving, r.Params[i].Text()), max(far, x)
		}
	}
	const instead = "; compare with chains (--sample.method=nuts)"
	if len(slow) > 0 {
		r.partial("particles move slowly through a part of the posterior, which may have too few of them: %s after "+
			"the last round of moves correlates by %.2g with what was before it (at most %.2g)"+instead,
			several(slow), worst, nuts.Forgotten(r.Settings.Draws))
	}
	if len(moving) > 0 {
		r.partial("the distribution of %s still changes as particles move: by %.2g standard errors in the last round "+
			"(at most %d)"+instead, several(moving), far, mostDrift)
	}
}

// concludeMissed says of what no error tells. Where a share of 3/n of the beginning lies, one of n particles begins
// with a probability of 95 %.
func (r *Result) concludeMissed() {
	const likely = 3
	n := len(r.Populations) * r.Settings.Draws
	r.notef("no error shows a mode that no particle and no search found: if less than %.2g %% of the first density is "+
		"near a mode, all %d particles may miss it. The error of the evidence is the difference between %s; if much "+
		"depends on it, compare with another --sample.seed",
		float64(100*likely)/float64(n), n, diag.Count(len(r.Populations), "population"))
}

// remember takes from the effective draws of coordinate i what its particles have in common by descent, and returns by
// which factor errors grow. Draws of a population do not tell it by themselves: particles of one family that moved look
// like independent ones, also where none of them could move far.
func (r *Result) remember(s *draws.Summary, i int) float64 {
	if len(r.Populations) == 0 {
		return 1
	}
	most, size := 0.0, float64(r.Settings.Draws)
	for _, x := range r.Populations {
		most += size / (1 + float64(x.Memory[i]*x.Memory[i]*(size/x.Families-1)))
	}
	if !(s.BulkESS > most) {
		return 1
	}
	lost := math.Sqrt(s.BulkESS / most)
	s.BulkESS, s.TailESS = most, min(s.TailESS, most)
	s.MCSEMean, s.MCSESd = float64(lost*s.MCSEMean), float64(lost*s.MCSESd)
	return lost
}

// mostError is the largest standard error of a logarithm of an evidence that tells anything.
const mostError = 0.3
