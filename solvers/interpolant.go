package solvers

import "slices"

// interpolant is the dense output of a table, y₀ + h Σ β_j(θ) k_j.
type interpolant struct {
	beta [][]float64 // centred
	dps  []int       // the rows of K that they belong to
}

// add gives a row of K its β, where that is not zero. It reports whether it is not.
func (p *interpolant) add(row int, beta []float64) bool {
	if !slices.ContainsFunc(beta, func(c float64) bool { return c != 0 }) {
		return false
	}
	p.beta, p.dps = append(p.beta, beta), append(p.dps, row)
	return true
}

// degree returns the degree of y in θ.
func (p *interpolant) degree() (most int) {
	for _, beta := range p.beta {
		most = max(most, len(beta))
	}
	return most
}

// room returns room for a number for each β.
func (p *interpolant) room() terms { return terms{row: p.dps, c: make([]float64, len(p.dps))} }

// interpolantAt is an interpolant with its numbers at one θ.
type interpolantAt struct {
	of    *interpolant
	theta terms // β(θ)
	drift terms // β'(θ)
}

func (p *interpolant) anywhere() interpolantAt { return interpolantAt{p, p.room(), p.room()} }

// weigh makes theta the β(θ) and drift the β'(θ).
func (p *interpolantAt) weigh(theta float64) {
	for j, beta := range p.of.beta {
		p.theta.c[j], p.drift.c[j] = poly(beta, theta)
	}
}
