package solvers

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
)

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

// polyAt returns β(θ) for the centred coefficients q.
func polyAt(q []float64, theta float64) (beta float64) {
	x := math.FMA(2, theta, -1)
	for k := len(q) - 1; k >= 0; k-- {
		beta = math.FMA(beta, x, q[k])
	}
	return float64(beta * theta)
}

// poly returns β(θ), with the bits of polyAt, and β'(θ).
func poly(q []float64, theta float64) (beta, slope float64) {
	x := math.FMA(2, theta, -1)
	for k := len(q) - 1; k >= 0; k-- {
		slope = math.FMA(slope, x, beta)
		beta = math.FMA(beta, x, q[k])
	}
	return float64(beta * theta), math.FMA(float64(2*theta), slope, beta)
}

// secondDerivative returns β″(θ) for the centred coefficients q.
func secondDerivative(q []float64, theta float64) float64 {
	x := math.FMA(2, theta, -1)
	var v, d, half float64 // of the polynomial in x: value, derivative, half of the second
	for _, c := range slices.Backward(q) {
		half = math.FMA(half, x, d)
		d = math.FMA(d, x, v)
		v = math.FMA(v, x, c)
	}
	return float64(4 * math.FMA(float64(2*theta), half, d))
}

// interpolate writes y = y₀ + h Σ β_j(θ) k_j, over the rows of K of width w.
func (p *interpolant) interpolate(s *ComplexStep, theta complex128, y []complex128, w int) {
	x := elem.CFMA(2, theta, -1)
	for i := range y {
		var sum complex128
		for j, beta := range p.beta {
			var v complex128
			for k := len(beta) - 1; k >= 0; k-- {
				v = elem.CFMA(v, x, complex(beta[k], 0))
			}
			sum = elem.CFMA(elem.CMul(v, theta), s.K[p.dps[j]*w+i], sum)
		}
		y[i] = elem.CFMA(s.H, sum, s.Y0[i])
	}
}

// denseTangent writes the tangent of y₀ + h Σ β_j(θ) k_j at a time that moves by td; kd are the tangents of the rows
// of K.
func (r *stageWork) denseTangent(s *Step, d *StepTangent, theta float64, kd, td, yd []float64) {
	r.weigh(theta)
	r.theta.combine(yd, d.Y0, s.H, kd, r.w*r.l)
	r.lengthen(yd, &r.theta, d.H, s.K, r.n)
	// drifts is h times how θ moves in a lane. Lanes where it does not are left as they are, whatever the others do.
	drifts := func(j int) float64 { return math.FMA(-theta, d.H[j], td[j]-d.T0[j]) }
	still := true
	for j := range td {
		still = still && drifts(j) == 0
	}
	if still { // as for all observations at given times
		return
	}
	rate := r.slope[:r.n]
	r.drift.combine(rate, r.zero, 1, s.K, r.w)
	for i, v := range rate {
		row := yd[i*r.l : (i+1)*r.l]
		for j := range row {
			if x := drifts(j); x != 0 {
				row[j] = math.FMA(v, x, row[j])
			}
		}
	}
}

// sow adds the cotangent w of y₀ + h Σ β_j(θ) k_j to g, for so many rows of K, and that of its time to tb. The memory
// of g is allocated at its first use, since most runs observe at ends of steps.
func (r *stageWork) sow(g *Seeds, rows int, s *Step, theta float64, w, tb []float64) {
	n, l := r.n, r.l
	r.weigh(theta)
	if g.K == nil {
		v := func(n int) []float64 { return make([]float64, n*l) }
		g.K, g.Y0, g.H, g.T = v(rows*n), v(n), v(1), v(1)
	}
	if !g.Sown {
		g.Sown = true
		clear(g.K)
		clear(g.Y0)
		clear(g.H)
		clear(g.T)
	}
	for j, i := range r.theta.row {
		b := r.theta.c[j]
		seed := g.K[i*n*l : (i+1)*n*l]
		for m, v := range w {
			seed[m] = math.FMA(b, v, seed[m])
		}
	}
	for m, v := range w {
		g.Y0[m] += v
	}
	// The part Σ β_i k_i·w of h̄ is in the inner products of Pull.
	rate := r.slope[:n]
	r.drift.combine(rate, r.zero, 1, s.K, r.w)
	for i, v := range rate {
		for j := range l {
			move := float64(v * w[i*l+j])
			tb[j] += move
			g.T[j] -= move
			g.H[j] = math.FMA(-theta, move, g.H[j])
		}
	}
}

// reap returns g, or nil if nothing was sown. What is sown next begins anew.
func (g *Seeds) reap() *Seeds {
	if !g.Sown {
		return nil
	}
	g.Sown = false
	return g
}

// denseDuals are Seeds with their tangents, which PullPush takes in.
type denseDuals struct {
	seeded bool
	seed   Dual      // [rows of K][n] Σ β_i(θ) w
	y0     Dual      // [n] Σ w
	h, t0  Dual      // [1] what θ = (t* - t)/h adds to h̄ and t̄₀
	rate   Dual      // [n] Σ β'_i k_i
	bend   terms     // β″(θ)
	bends  []float64 // [n]
	m      []float64 // [l]
}

// newDenseDuals has room for so many rows.
func newDenseDuals(rows, n, l int, of *interpolant) denseDuals {
	return denseDuals{
		seed: NewDual(rows*n, l), y0: NewDual(n, l), h: NewDual(1, l), t0: NewDual(1, l), rate: NewDual(n, l),
		bend: of.room(), bends: make([]float64, n), m: make([]float64, l),
	}
}

// reap returns g, or nil if nothing was sown. What is sown next begins anew.
func (g *denseDuals) reap() *denseDuals {
	if !g.seeded {
		return nil
	}
	g.seeded = false
	return g
}

// sowDual is sow together with its tangent, where the step moves by d and the time by td; kd are the tangents of the
// rows of K. θ moves by θ̇ = (ṫ* - ṫ₀ - θ ḣ)/h. So the seeds Σ β_i(θ) w move by
// Σ (β_i ẇ + β'_i θ̇ w), and the rate Σ β'_i k_i of the dense output moves by Σ (β'_i k̇_i + β″_i θ̇ k_i).
func (r *stageWork) sowDual(
	g *denseDuals, s *Step, d *StepTangent, theta float64, td, kd []float64, w, tb Dual,
) {
	n, l := r.n, r.l
	r.weigh(theta)
	if !g.seeded {
		g.seeded = true
		for _, v := range []Dual{g.seed, g.y0, g.h, g.t0} {
			v.Clear()
		}
	}
	thetad := g.m
	for m := range thetad {
		thetad[m] = math.FMA(-theta, d.H[m], td[m]-d.T0[m]) / s.H
	}
	for j, i := range r.theta.row {
		b, slope := r.theta.c[j], r.drift.c[j]
		seed := g.seed.rows(i, n, l)
		for e, v := range w.X {
			seed.X[e] = math.FMA(b, v, seed.X[e])
			for m, dot := range thetad {
				i := e*l + m
				seed.D[i] = math.FMA(b, w.D[i], math.FMA(float64(slope*dot), v, seed.D[i]))
			}
		}
	}
	g.y0.Add(w)
	for j, p := range r.of.beta {
		g.bend.c[j] = secondDerivative(p, theta)
	}
	r.drift.combine(g.rate.X, r.zero, 1, s.K, r.w)
	r.drift.combine(g.rate.D, r.zero, 1, kd, r.w*l)
	g.bend.combine(g.bends, r.zero, 1, s.K, r.w)
	for e, v := range g.rate.X {
		move := float64(v * w.X[e])
		tb.X[0] += move
		g.t0.X[0] -= move
		g.h.X[0] = math.FMA(-theta, move, g.h.X[0])
		for m, dot := range thetad {
			rated := math.FMA(g.bends[e], dot, g.rate.D[e*l+m])
			moved := math.FMA(rated, w.X[e], float64(v*w.D[e*l+m]))
			tb.D[m] += moved
			g.t0.D[m] -= moved
			g.h.D[m] -= math.FMA(dot, move, float64(theta*moved))
		}
	}
}
