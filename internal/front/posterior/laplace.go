package posterior

import (
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
	Mean, Scale []float64 // Scale is L[n][n]
	Share       float64
	Freedom     int
}

// log returns the logarithm of the density at q, without the share and without powers of 2π.
func (d *normal) log(q []float64) float64 {
	n := len(q)
	y := make([]float64, n)
	for i := range q {
		y[i] = q[i] - d.Mean[i]
	}
	nuts.Whiten(d.Scale, y)
	s, square := 0.0, 0.0
	for i, v := range y {
		square += float64(v * v)
		s -= elem.Log(d.Scale[i*n+i])
	}
	if d.Freedom == 0 {
		return s - square/2
	}
	half, more := float64(d.Freedom)/2, float64(n)/2
	return s + elem.Lgamma(half+more) - elem.Lgamma(half) - float64(more*elem.Log(half)) -
		float64((half+more)*elem.Log1p(square/float64(d.Freedom)))
}

// draw returns a draw.
func (d *normal) draw(random *elem.Rand) []float64 {
	n := len(d.Mean)
	q, z := slices.Clone(d.Mean), make([]float64, n)
	for i := range z {
		z[i] = random.Norm()
	}
	if d.Freedom > 0 {
		square := 0.0
		for range d.Freedom {
			x := random.Norm()
			square += float64(x * x)
		}
		longer := math.Sqrt(float64(d.Freedom) / square)
		for i := range z {
			z[i] = float64(z[i] * longer)
		}
	}
	for i := range n {
		for j := range i + 1 {
			q[i] += float64(d.Scale[i*n+j] * z[j])
		}
	}
	return q
}

// laplace draws from normal distributions at the modes.
func (p *problem) laplace(ctx context.Context, r *Result) error {
	var parts []normal
	for _, m := range r.Modes {
		parts = append(parts, normal{Mean: m.q, Scale: m.scale, Share: m.Weight})
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
		parts = append(parts, normal{x.Mean, x.Scale, heavy * x.Share, freedom})
	}
	for i := range len(parts) / 2 {
		parts[i].Share *= 1 - heavy
	}
	n, s := len(p.coords), &r.Settings
	total := s.Chains * s.Draws
	points, heights, weights := make([][]float64, total), make([]float64, total), make([]float64, total)
	p.told.begin("runs", total)
	err := p.each(s.Chains, func(e *evaluator, chain int) error {
		random := elem.NewRand(s.Seed*0xbf58476d1ce4e5b9 + uint64(chain))
		for k := chain * s.Draws; k < (chain+1)*s.Draws; k++ {
			u, part := random.Float64(), 0
			for part < len(parts)-1 && u >= parts[part].Share {
				u -= parts[part].Share
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
				logs[i] = elem.Log(parts[i].Share) + parts[i].log(q)
				most = max(most, logs[i])
			}
			sum := 0.0
			for _, x := range logs {
				sum += elem.Exp(x - most)
			}
			points[k], heights[k], weights[k] = q, lp, lp-most-elem.Log(sum)
			p.told.step(1, 0)
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
	return p.moved(ctx, r, drawn)
}

// concludeApproximation says what draws of an approximation are worth.
func (p *problem) concludeApproximation(r *Result) {
	total := r.Draws()
	if good := draws.GoodK(total); r.Evidence != nil && (!(r.K <= good) || len(r.Moved) > 0) {
		r.Evidence.Error = nan // weights know nothing of what is missing
	}
	if good := draws.GoodK(total); !(r.K <= good) {
		r.partial("Pareto's k is %.2g (at most %.2g): the posterior is not near the approximation, and weights do not "+
			"mend that; draw by chains (--sample.method=nuts)", r.K, good)
		return
	}
	if len(r.Moved) > 0 {
		r.partial("chains that begin at some of the draws move away, in %s: the approximation does not fit the "+
			"posterior, which may be curved, and the evidence is wrong as well; "+
			"draw by chains (--sample.method=nuts)", several(r.Moved))
		return
	}
	w := p.worth(r)
	if len(w.apart) > 0 {
		r.partial("R-hat of %s is up to %s (at most 1.01): a few draws have most of the weight; draw more: "+
			"--sample.draws=%d", several(w.apart),
			above(w.worst), 4*r.Settings.Draws)
	}
	if p.concludeFew(r, &w); r.Status != "ok" {
		return
	}
	r.notef("Pareto's k is %.2g (at most %.2g), and weights leave %.0f effective draws of %d: they are right where "+
		"the approximation has mass. Modes that no search found, and very heavy tails, are missed; chains "+
		"(--sample.method=nuts) can find them", r.K, draws.GoodK(total), r.Effective, total)
}
