package lag

import (
	"math"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/stages"
)

// curve is the dense output of a step as one polynomial for each state, y₀ + θ Σ c_k (2θ - 1)^k. Steps are read more
// often than they are made, and the numbers β_j(θ) of all stages cost more than the step itself. [degree][N], nil for a
// step without length and for methods whose dense output is no such sum.
type curve []float64

// fit returns the curve of a step all rows of which are known. It is overwritten by the next one.
func fit(x *Worker, s *solvers.Step) curve {
	of, ok := solvers.MakerOf(plain(x.method), s).(interface{ Output() *stages.Dense })
	if !ok || s.H == 0 {
		return nil
	}
	p, size := of.Output(), x.w.Size()
	n, w := size.N, size.N+size.Q
	if x.sumsOf != p {
		x.sumsOf, x.sums = p, sumsOf(p)
	}
	c := append(x.fitted[:0], make([]float64, len(x.sums)*n)...)
	x.fitted = c
	first := s.K[p.Rows[0]*w:][:n] // what slopes have in common is added apart, and nothing cancels
	for j, beta := range p.Beta {
		row := s.K[p.Rows[j]*w:][:n]
		for i, v := range row {
			d := v - first[i]
			for k, b := range beta {
				c[k*n+i] = math.FMA(float64(s.H*b), d, c[k*n+i])
			}
		}
	}
	for k, sum := range x.sums {
		if sum == 0 {
			continue
		}
		by, to := float64(s.H*sum), c[k*n:][:n]
		for i, v := range first {
			to[i] = math.FMA(by, v, to[i])
		}
	}
	return c
}

// sumsOf returns the coefficients of Σ β_j(θ).
func sumsOf(p *stages.Dense) []float64 {
	sums := make([]float64, p.Degree())
	for _, beta := range p.Beta {
		for k, b := range beta {
			sums[k] += b
		}
	}
	for k, sum := range sums { // where rows of K are slopes, Σ β_j is θ
		if round := math.Round(sum); math.Abs(sum-round) < 1e-9 {
			sums[k] = round
		}
	}
	return sums
}

// at writes the states from number from on at theta of a step.
func (c curve) at(s *solvers.Step, theta float64, from int, y []float64) {
	n, u := len(s.Y0), math.FMA(2, theta, -1)
	for i := range y {
		v := 0.0
		for k := len(c) - n + from + i; k >= 0; k -= n {
			v = math.FMA(v, u, c[k])
		}
		y[i] = math.FMA(theta, v, s.Y0[from+i])
	}
}

// fitted reports whether the state at theta of a step is that of its curve. Ends are those of the step.
func fitted(x *Worker, step int, theta float64) bool {
	return theta != 0 && theta != 1 && step < len(x.rec.curves) && x.rec.curves[step] != nil
}
