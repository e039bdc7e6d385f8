package posterior

import (
	"context"
	"errors"
	"math"

	"odes.dev/odes/internal/base/draws"
	"odes.dev/odes/internal/base/nuts"
	"odes.dev/odes/internal/base/sample"
)

// The posterior does not change under a chain. So chains that continue from draws of an approximation tell whether
// these are of the posterior, also where weights do not see what no draw came to, as the arms of a curved posterior.

// Numbers of that check.
const (
	movedChains = 48
	movedWarmup = 16
	movedShort  = 32     // iterations; twice as many while chains remember where they began, or are in doubt
	movedLong   = 256    // and at most
	movedDepth  = 7      // of trajectories
	movedWork   = 40_000 // gradients, about what chains would take, behind which these go no further
	movedLinked = 0.5    // the correlation of ends with beginnings that is not forgotten
	// movedDoubt and movedError are the probabilities that any coordinate of a right approximation is in doubt, or
	// seems to have moved.
	movedDoubt, movedError = 0.25, 0.01
)

// onward is a chain that continues from a draw.
type onward struct {
	e     *evaluator // of the goroutine that it is in
	chain *nuts.Chain
	begin []float64
	late  [][]float64 // where it was in the second half of its iterations
	made  int
	stuck bool // there are no slopes where it begins
}

// follow makes iterations until there are so many.
func (o *onward) follow(ctx context.Context, e *evaluator, until int) error {
	if o.stuck {
		return nil
	}
	o.e, o.late = e, o.late[:0]
	for ; o.made < until; o.made++ {
		d, err := o.chain.Next(ctx)
		if err != nil {
			return err
		}
		if o.made >= until/2 {
			o.late = append(o.late, d.Q)
		}
	}
	return nil
}

// moved notes coordinates whose distribution changes where chains continue from some of the draws.
func (p *problem) moved(ctx context.Context, r *Result, drawn [][]float64) error {
	if len(drawn) < movedChains {
		return nil // too few to tell, as others say
	}
	all, cost := make([]*onward, movedChains), make([]int, movedChains)
	for i := range all {
		all[i] = &onward{begin: drawn[i*len(drawn)/movedChains]}
	}
	tests, scale := p.changes(drawn), scaleOf(drawn, p.sizes())
	if r.heavy() > 1 { // chains stay at their modes, as they should, which are narrower than all draws
		scale = r.Modes[0].scale
	}
	limit := func(share float64) float64 { return student(movedChains-1, share/2/float64(2*len(tests))) }
	doubt, enough := limit(movedDoubt), limit(movedError)
	work, far, apart := movedWork, false, r.heavy() > 1
	for until := movedShort; until <= movedLong && work > 0; until *= 2 {
		err := p.each(movedChains, func(e *evaluator, i int) (err error) {
			before := e.n
			defer func() { cost[i] = e.n - before }()
			if err := p.beginOnward(ctx, r, e, all[i], i, scale); err != nil {
				return err
			}
			return all[i].follow(ctx, e, until)
		})
		if err != nil {
			return err
		}
		for _, n := range cost {
			r.Gradients += n
			work -= n
		}
		most, linked := 0.0, 0.0
		r.Moved = nil
		if work <= 0 && until < movedLong { // what stays in doubt is not believed
			enough = doubt
		}
		for k := range tests {
			z := tests[k].apart(all, r.Effective)
			most, linked = max(most, z), max(linked, tests[k].linked(all))
			if z > enough {
				r.Moved = append(r.Moved, p.coords[k].name)
			}
		}
		// Chains that adapt are not quite at rest: what is far is looked at again.
		if again := most > enough; again && far || most < doubt && (linked < movedLinked || apart) {
			break
		} else {
			far = again
		}
	}
	return nil
}

// beginOnward makes chain i, if it has none.
func (p *problem) beginOnward(ctx context.Context, r *Result, e *evaluator, o *onward, i int, scale []float64) error {
	if o.e = e; o.made > 0 || o.stuck {
		return nil
	}
	f := func(ctx context.Context, q, g []float64) (float64, error) { return o.e.density(ctx, q, g) }
	chain, err := nuts.New(ctx, f, o.begin, nuts.Options{
		Seed: r.Settings.Seed ^ 0xd6e8feb86659fd93, Chain: i, Warmup: movedWarmup,
		Depth:  min(movedDepth, r.Settings.Depth),
		Target: r.Settings.Target, Scale: scale,
	})
	if o.chain = chain; errors.Is(err, nuts.ErrStart) {
		o.stuck, err = true, nil
	}
	return err
}

// scaleOf is L of the covariance of draws; nil where they have none.
func scaleOf(drawn [][]float64, sizes []float64) []float64 {
	n := len(sizes)
	mean, m := make([]float64, n), make([]float64, n*n)
	for _, q := range drawn {
		for i := range n {
			mean[i] += q[i] / float64(len(drawn))
		}
	}
	for _, q := range drawn {
		for i := range n {
			for j := range i + 1 {
				m[i*n+j] += float64((q[i]-mean[i])*(q[j]-mean[j])) / float64(len(drawn)-1)
			}
		}
	}
	for i := range n {
		for j := range i {
			m[j*n+i] = m[i*n+j]
		}
	}
	return nuts.Cholesky(m, n)
}

// change compares a coordinate of draws with that of chains which continue from some of them.
type change struct {
	at       int
	mean, sd float64 // of all draws
	wide     float64 // the mean of squares of the deviations
	spread   float64 // their standard deviation
}

// changes are those of all coordinates.
func (p *problem) changes(drawn [][]float64) []change {
	out := make([]change, len(p.coords))
	for k := range out {
		x := make([]float64, len(drawn))
		for i, q := range drawn {
			x[i] = q[k]
		}
		c := change{at: k, mean: draws.Mean([][]float64{x}), sd: draws.Sd([][]float64{x})}
		for i, q := range drawn {
			x[i] = c.square(q)
		}
		c.wide, c.spread = draws.Mean([][]float64{x}), draws.Sd([][]float64{x})
		out[k] = c
	}
	return out
}

// deviation is how far a coordinate is from the mean, in standard deviations.
func (c *change) deviation(q []float64) float64 { return (q[c.at] - c.mean) / c.sd }

// square is that of the deviation.
func (c *change) square(q []float64) float64 {
	z := c.deviation(q)
	return z * z
}

// pairs lists, for each chain, a number of where it began and its mean of late draws.
func pairs(list []*onward, f func(q []float64) float64) (begin, end []float64) {
	for _, o := range list {
		b := f(o.begin)
		e := b
		if len(o.late) > 0 {
			e = 0
			for _, q := range o.late {
				e += f(q) / float64(len(o.late))
			}
		}
		begin, end = append(begin, b), append(end, e)
	}
	return begin, end
}

// slope returns the regression of the ends on the beginnings, and their correlation.
func slope(begin, end []float64) (slope, correlation float64) {
	a, b := draws.Mean([][]float64{begin}), draws.Mean([][]float64{end})
	aa, ab, bb := 0.0, 0.0, 0.0
	for i := range begin {
		x, y := begin[i]-a, end[i]-b
		aa, ab, bb = aa+float64(x*x), ab+float64(x*y), bb+float64(y*y)
	}
	if !(aa > 0 && bb > 0) {
		return 0, 0
	}
	return ab / aa, ab / math.Sqrt(aa*bb)
}

// linked is how far ends still follow beginnings.
func (c *change) linked(list []*onward) float64 {
	_, a := slope(pairs(list, c.deviation))
	_, b := slope(pairs(list, c.square))
	return max(a, b)
}

// apart is how far the mean, or the mean of squares, of chains is from that of all draws, in standard errors. Where
// chains began tells a part of it, which is taken off by regression.
func (c *change) apart(all []*onward, effective float64) (most float64) {
	for i, f := range []func([]float64) float64{c.deviation, c.square} {
		begin, end := pairs(all, f)
		should := []float64{0, c.wide}[i]
		by, _ := slope(begin, end)
		for k := range end {
			end[k] -= should + float64(by*(begin[k]-should))
		}
		x, n := [][]float64{end}, float64(len(end))
		sd, own := draws.Sd(x), []float64{1, c.spread}[i]
		z := math.Abs(draws.Mean(x)) / math.Sqrt(float64(sd*sd)/n+float64(own*own)/effective)
		most = max(most, z)
	}
	return most
}

// student is the deviation that Student's distribution exceeds on one side with a probability.
func student(freedom int, p float64) float64 {
	d, err := sample.NewDist("student", []float64{float64(freedom), 0, 1}, math.Inf(-1), math.Inf(1))
	if err != nil {
		return -sample.NormalQuantile(p, 1-p)
	}
	return -d.Quantile(p)
}
