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

// normal is a normal distribution of coordinates, with its share of a mixture.
type normal struct {
	mean, scale []float64 // scale is L[n][n]
	share       float64
}

// log returns the logarithm of the density at q, without the share and without powers of 2π.
func (d *normal) log(q []float64) float64 {
	n := len(q)
	y := make([]float64, n)
	for i := range q {
		y[i] = q[i] - d.mean[i]
	}
	nuts.Whiten(d.scale, y)
	s := 0.0
	for i, v := range y {
		s -= float64(v*v/2) + elem.Log(d.scale[i*n+i])
	}
	return s
}

// approximate draws from a mixture of normal distributions, and reweights.
func (p *problem) approximate(ctx context.Context, r *Result) error {
	var parts []normal
	for _, m := range r.Modes {
		parts = append(parts, normal{m.q, m.scale, m.Weight})
	}
	if len(parts) == 0 {
		return errors.New("no mode of the posterior was found, around which it could be approximated; " +
			"--sample.method=nuts needs none")
	}
	n, s := len(p.coords), &r.Settings
	total := s.Chains * s.Draws
	points, weights := make([][]float64, total), make([]float64, total)
	p.told.begin("runs", total)
	counts := make([]int, s.Chains)
	err := p.each(s.Chains, func(e *evaluator, chain int) error {
		before := e.n
		defer func() { counts[chain] = e.n - before }()
		random := elem.NewRand(s.Seed*0xbf58476d1ce4e5b9 + uint64(chain))
		g := make([]float64, n)
		for k := chain * s.Draws; k < (chain+1)*s.Draws; k++ {
			u, part := random.Float64(), 0
			for part < len(parts)-1 && u >= parts[part].share {
				u -= parts[part].share
				part++
			}
			q := slices.Clone(parts[part].mean)
			z := make([]float64, n)
			for i := range z {
				z[i] = random.Norm()
			}
			for i := range n {
				for j := range i + 1 {
					q[i] += float64(parts[part].scale[i*n+j] * z[j])
				}
			}
			lp, err := e.density(ctx, q, g)
			switch {
			case isRejection(err):
				lp = math.Inf(-1)
			case err != nil:
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
			points[k], weights[k] = q, lp-most-elem.Log(sum)
			p.told.step(1)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, c := range counts {
		r.Gradients += c
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
	sums, sum := make([]float64, len(smooth)), 0.0
	for i, x := range smooth {
		sum += elem.Exp(x)
		sums[i] = sum
	}
	random := elem.NewRand(s.Seed*0x94d049bb133111eb + 1)
	r.Chains = make([]Chain, s.Chains)
	for c := range r.Chains {
		chain := &r.Chains[c]
		chain.Mode, chain.Values = -1, make([][]float64, n)
		for range s.Draws {
			at, _ := slices.BinarySearch(sums, random.Float64()*sums[len(sums)-1])
			at = min(at, len(some)-1)
			chain.add(p.values(points[some[at]]), &nuts.Draw{LogP: logs[at]})
		}
	}
	return nil
}

// concludeApproximation says what draws of an approximation are worth.
func (p *problem) concludeApproximation(r *Result) {
	if good := draws.GoodK(r.Draws()); !(r.K <= good) {
		r.partial("Pareto's k is %.2g (at most %.2g): the posterior is not near the approximation, and weights do not "+
			"mend that; draw by chains (--sample.method=nuts)", r.K, good)
	}
}
