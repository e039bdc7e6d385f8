package posterior

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"odes.dev/odes/internal/base/draws"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/nuts"
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
func evidenceOfAll(logs []float64) *Evidence {
	top := slices.Max(logs)
	x := make([]float64, len(logs))
	for i := range logs {
		x[i] = elem.Exp(logs[i] - top)
	}
	mean := draws.Mean([][]float64{x})
	e := &Evidence{Log: top + elem.Log(mean), Error: nan}
	if len(x) > 1 {
		e.Error = draws.Sd([][]float64{x}) / mean / math.Sqrt(float64(len(x)))
	}
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

// populations draws by populations of particles, as many as there are chains, none of which knows of the others: what
// they differ in is how far they are to be trusted.
func (p *problem) populations(ctx context.Context, r *Result) error {
	s := &r.Settings
	from, jumps := p.from(), nuts.Options{}
	p.between(r, &jumps)
	const parts = 20
	p.told.begin("runs", parts*s.Chains)
	all, counts := make([]*nuts.Population, s.Chains), make([]int, s.Chains)
	err := p.each(s.Chains, func(e *evaluator, k int) (err error) {
		before, told := e.n, 0
		defer func() { counts[k] = e.n - before }()
		f := func(ctx context.Context, q, g []float64) (float64, error) { return e.density(ctx, q, g) }
		all[k], err = nuts.Temper(ctx, len(p.coords), f, from, nuts.TemperOptions{
			Seed: s.Seed, Number: k, Size: s.Draws, Depth: s.Depth, Target: s.Target, Jump: jumps.Jump,
			Step: func(temperature float64) {
				for float64(told) < parts*math.Sqrt(math.Sqrt(temperature)) {
					told++
					p.told.step(0)
				}
			},
		})
		return err
	})
	if err != nil {
		return err
	}
	r.Chains = make([]Chain, s.Chains)
	counted := map[string]*Rejection{}
	for k, x := range all {
		r.Gradients += counts[k]
		c := &r.Chains[k]
		c.Mode, c.Values = -1, make([][]float64, len(p.coords))
		for i := range x.Particles {
			c.add(p.values(x.Particles[i].Q), &x.Particles[i].Draw)
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
	var logs []float64
	for _, x := range r.Populations {
		logs = append(logs, x.Evidence)
	}
	r.Evidence = evidenceOfAll(logs)
	return nil
}

// Tempered is how a population of particles fared.
type Tempered struct {
	Evidence float64   // the logarithm of the integral by it alone
	Steps    int       // of the temperature
	Accept   float64   // the least mean acceptance at a temperature
	Families float64   // particles of the beginning that have descendants at the end, by their shares
	Memory   []float64 // of each coordinate: what the last moves have not forgotten
}

// concludePopulations says what draws of populations are worth.
func (p *problem) concludePopulations(r *Result) {
	s := &r.Settings
	more := fmt.Sprintf("--sample.draws=%d", 4*s.Draws)
	w := p.worth(r)
	if len(w.apart) > 0 {
		r.partial("R-hat of %s is up to %.3g (at most 1.01): populations do not agree, as where parts of the "+
			"posterior have few particles on the way; take more of them: %s", several(w.apart), w.worst, more)
	}
	p.concludeFew(r, &w)
	if s.Chains < 2 {
		r.partial("one population says nothing of how far it is to be trusted: --sample.chains=4")
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
		r.partial("all %d particles of a population descend from about %.0f at its beginning: take more: %s", s.Draws,
			families, more)
	}
	for i := range r.Modes {
		if m := &r.Modes[i]; m.Draws == 0 && m.Weight >= 0.01 {
			r.partial("a search found a mode at %s, with about %.2g of the mass by Laplace's method, where no "+
				"particle came: take more: %s", p.point(m.At), m.Weight, more)
		}
	}
	if heavy := r.heavy(); heavy > 1 {
		r.notef("the posterior has %d modes: see modes for the share of particles", heavy)
	}
	r.concludeFailures()
	r.concludeWalls()
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
