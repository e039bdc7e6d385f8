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
)

// normal is a normal distribution of coordinates, with its share of a mixture. With freedom it is Student's, of as many
// degrees, whose tails are heavier.
type normal struct {
	mean, scale []float64 // scale is L[n][n]
	share       float64
	freedom     int
}

// log returns the logarithm of the density at q, without the share and without powers of 2π.
func (d *normal) log(q []float64) float64 {
	n := len(q)
	y := make([]float64, n)
	for i := range q {
		y[i] = q[i] - d.mean[i]
	}
	nuts.Whiten(d.scale, y)
	s, square := 0.0, 0.0
	for i, v := range y {
		square += float64(v * v)
		s -= elem.Log(d.scale[i*n+i])
	}
	if d.freedom == 0 {
		return s - square/2
	}
	half, more := float64(d.freedom)/2, float64(n)/2
	return s + elem.Lgamma(half+more) - elem.Lgamma(half) - float64(more*elem.Log(half)) -
		float64((half+more)*elem.Log1p(square/float64(d.freedom)))
}

// draw returns a draw.
func (d *normal) draw(random *elem.Rand) []float64 {
	n := len(d.mean)
	q, z := slices.Clone(d.mean), make([]float64, n)
	for i := range z {
		z[i] = random.Norm()
	}
	if d.freedom > 0 {
		square := 0.0
		for range d.freedom {
			x := random.Norm()
			square += float64(x * x)
		}
		longer := math.Sqrt(float64(d.freedom) / square)
		for i := range z {
			z[i] = float64(z[i] * longer)
		}
	}
	for i := range n {
		for j := range i + 1 {
			q[i] += float64(d.scale[i*n+j] * z[j])
		}
	}
	return q
}

// laplace draws from normal distributions at the modes.
func (p *problem) laplace(ctx context.Context, r *Result) error {
	var parts []normal
	for _, m := range r.Modes {
		parts = append(parts, normal{mean: m.q, scale: m.scale, share: m.Weight})
	}
	if len(parts) == 0 {
		return errors.New("no mode of the posterior was found, around which it could be approximated; " +
			"--sample.method=nuts needs none")
	}
	return p.approximate(ctx, r, parts)
}

// approximate draws from a mixture of normal distributions, and reweights.
//
// A fifth of the draws are from distributions with heavier tails: where those of the posterior are heavier than normal
// ones, few draws of a normal distribution come there, with large weights.
func (p *problem) approximate(ctx context.Context, r *Result, parts []normal) error {
	const heavy, freedom = 0.2, 4
	for _, x := range slices.Clone(parts) {
		parts = append(parts, normal{x.mean, x.scale, heavy * x.share, freedom})
	}
	for i := range len(parts) / 2 {
		parts[i].share *= 1 - heavy
	}
	n, s := len(p.coords), &r.Settings
	total := s.Chains * s.Draws
	points, heights, weights := make([][]float64, total), make([]float64, total), make([]float64, total)
	p.told.begin("runs", total)
	err := p.each(s.Chains, func(e *evaluator, chain int) error {
		random := elem.NewRand(s.Seed*0xbf58476d1ce4e5b9 + uint64(chain))
		for k := chain * s.Draws; k < (chain+1)*s.Draws; k++ {
			u, part := random.Float64(), 0
			for part < len(parts)-1 && u >= parts[part].share {
				u -= parts[part].share
				part++
			}
			q := parts[part].draw(random)
			lp, err := e.height(ctx, q)
			if err != nil {
				return err
			}
			most := math.Inf(-1)
			logs := make([]float64, len(parts))
			for i := range parts {
				logs[i] = elem.Log(parts[i].share) + parts[i].log(q)
				most = max(most, logs[i])
			}
			sum := 0.0
			for _, x := range logs {
				sum += elem.Exp(x - most)
			}
			points[k], heights[k], weights[k] = q, lp, lp-most-elem.Log(sum)
			p.told.step(1)
		}
		return nil
	})
	if err != nil {
		return err
	}
	// Weights of nothing are not the tail whose shape k is.
	var some []int
	var logs []float64
	for k, w := range weights {
		if !math.IsInf(w, -1) {
			some, logs = append(some, k), append(logs, w)
		}
	}
	if len(some) == 0 {
		return errNowhere
	}
	smooth, k := draws.PSIS(logs, 1)
	if r.K = k; slices.Max(logs)-slices.Min(logs) < 0.2 { // of nearly equal weights, the tail says nothing
		r.K = 0
	}
	sums, sum, squares := make([]float64, len(smooth)), 0.0, 0.0
	for i, x := range smooth {
		w := elem.Exp(x)
		sum += w
		squares += float64(w * w)
		sums[i] = sum
	}
	r.Effective = min(float64(sum*sum)/squares, float64(len(logs)))
	r.Evidence = evidenceOf(logs, total, n, r.Effective)
	// One number draws all, and equal ones stand side by side, where autocorrelations see them.
	u, kept := elem.NewRand(s.Seed*0x94d049bb133111eb+1).Float64(), 0
	r.Chains = make([]Chain, s.Chains)
	var drawn [][]float64
	for c := range r.Chains {
		chain := &r.Chains[c]
		chain.Mode, chain.Values = -1, make([][]float64, n)
		for range s.Draws {
			at, _ := slices.BinarySearch(sums, (float64(kept)+u)/float64(total)*sums[len(sums)-1])
			kept++
			k := some[min(at, len(some)-1)]
			chain.add(p.values(points[k]), &nuts.Draw{LogP: heights[k]})
			drawn = append(drawn, points[k])
		}
	}
	if !(r.K <= draws.GoodK(total)) {
		return nil // that is enough
	}
	return p.moved(ctx, r, drawn, slices.MaxFunc(parts, func(a, b normal) int {
		return cmp.Compare(a.share, b.share)
	}).scale)
}

// moved notes coordinates whose distribution changes where chains continue from some of the draws: the posterior itself
// does not change under a chain. Weights do not see what no draw came to, as the arms of a curved posterior. scale is
// the metric of the chains.
func (p *problem) moved(ctx context.Context, r *Result, drawn [][]float64, scale []float64) error {
	const many, warmup, further = 48, 12, 6
	count := min(many, len(drawn))
	if count < many {
		return nil // too few to tell, as others say
	}
	ends, cost := make([][]float64, count), make([]int, count)
	err := p.each(count, func(e *evaluator, i int) error {
		before := e.n
		defer func() { cost[i] = e.n - before }()
		q := drawn[i*len(drawn)/count]
		f := func(ctx context.Context, q, g []float64) (float64, error) { return e.density(ctx, q, g) }
		chain, err := nuts.New(ctx, f, q, nuts.Options{
			Seed: r.Settings.Seed ^ 0xd6e8feb86659fd93, Chain: i, Warmup: warmup, Depth: r.Settings.Depth,
			Target: r.Settings.Target, Scale: scale,
		})
		if errors.Is(err, nuts.ErrStart) {
			ends[i] = q
			return nil
		}
		for range warmup + further {
			if err != nil {
				return err
			}
			var d nuts.Draw
			if d, err = chain.Next(ctx); err == nil {
				ends[i] = d.Q
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, n := range cost {
		r.Gradients += n
	}
	for k := range p.coords {
		begin, end := make([]float64, count), make([]float64, count)
		for i, q := range ends {
			begin[i], end[i] = drawn[i*len(drawn)/count][k], q[k]
		}
		if differ(begin, end) {
			r.Moved = append(r.Moved, p.coords[k].name)
		}
	}
	return nil
}

// differ reports whether two samples are not of one distribution, by their means and standard deviations: where these
// are at least four standard errors apart, of independent normal samples.
func differ(a, b []float64) bool {
	const most = 4
	x, y := [][]float64{a}, [][]float64{b}
	sa, sb, n := draws.Sd(x), draws.Sd(y), float64(len(a))
	if math.Abs(draws.Mean(x)-draws.Mean(y)) > float64(most*math.Sqrt((sa*sa+sb*sb)/n)) {
		return true
	}
	return math.Abs(elem.Log(sb/sa)) > float64(most/math.Sqrt(n-1))
}

// concludeApproximation says what draws of an approximation are worth.
func (p *problem) concludeApproximation(r *Result) {
	total := r.Draws()
	if good := draws.GoodK(total); !(r.K <= good) {
		r.partial("Pareto's k is %.2g (at most %.2g): the posterior is not near the approximation, and weights do not "+
			"mend that; draw by chains (--sample.method=nuts)", r.K, good)
		return
	}
	if len(r.Moved) > 0 {
		r.partial("chains that continue from some of the draws lead elsewhere, in %s: the posterior is wider than the "+
			"approximation, as curved ones are; draw by chains (--sample.method=nuts)", several(r.Moved))
		return
	}
	w := p.worth(r)
	if len(w.apart) > 0 {
		r.partial("R-hat of %s is up to %.3g (at most 1.01): a few large weights rule the draws; draw more: "+
			"--sample.draws=%d", several(w.apart), w.worst, 4*r.Settings.Draws)
	}
	if p.concludeFew(r, &w); r.Status != "ok" {
		return
	}
	r.notef("Pareto's k is %.2g (at most %.2g), and weights leave %.0f effective draws of %d: they are right as far "+
		"as the approximation reaches. A mode that no search found, and tails far heavier than normal ones, go "+
		"unseen; chains (--sample.method=nuts) see more", r.K, draws.GoodK(total), r.Effective, total)
}
