package stages

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
)

// Dense is the dense output of a table, y₀ + h Σ β_j(θ) k_j.
type Dense struct {
	Beta [][]float64 // centred
	Rows []int       // the rows of K that they belong to
}

// Add gives a row of K its β, where that is not zero. It reports whether it is not.
func (p *Dense) Add(row int, beta []float64) bool {
	if !slices.ContainsFunc(beta, func(c float64) bool { return c != 0 }) {
		return false
	}
	p.Beta, p.Rows = append(p.Beta, beta), append(p.Rows, row)
	return true
}

// Degree returns the degree of y in θ.
func (p *Dense) Degree() (most int) {
	for _, beta := range p.Beta {
		most = max(most, len(beta))
	}
	return most
}

// Curve returns p as one polynomial for each state.
func (p *Dense) Curve() *solvers.Curve {
	c := &solvers.Curve{Rows: p.Rows, Beta: p.Beta, Of: make([]solvers.Terms, p.Degree())}
	for k := range c.Of {
		of, sum := &c.Of[k], 0.0
		for j, beta := range p.Beta {
			if k >= len(beta) {
				continue
			}
			if sum += beta[k]; j > 0 && beta[k] != 0 {
				of.Row, of.C = append(of.Row, j-1), append(of.C, beta[k])
			}
		}
		if round := elem.Round(sum); math.Abs(sum-round) < 1e-9 { // where rows of K are slopes, Σ β_j is θ
			sum = round
		}
		if sum != 0 {
			of.Row, of.C = append(of.Row, len(p.Rows)-1), append(of.C, sum)
		}
	}
	return c
}

// Room returns room for a number for each β.
func (p *Dense) Room() Form { return Form{Row: p.Rows, C: make([]float64, len(p.Rows))} }

// DenseAt is an interpolant with its numbers at one θ.
type DenseAt struct {
	of    *Dense
	Theta Form // β(θ)
	Drift Form // β'(θ)
	at    float64
}

func (p *Dense) anywhere() DenseAt { return DenseAt{p, p.Room(), p.Room(), math.NaN()} }

// Spoil has the next Weigh compute its numbers, since they have been overwritten.
func (p *DenseAt) Spoil() { p.at = math.NaN() }

// Weigh makes theta the β(θ) and drift the β'(θ). Many steps in a row are read at one θ.
func (p *DenseAt) Weigh(theta float64) {
	if theta == p.at {
		return
	}
	p.at = theta
	for j, beta := range p.of.Beta {
		p.Theta.C[j], p.Drift.C[j] = Poly(beta, theta)
	}
}

// PolyAt returns β(θ) for the centred coefficients q.
func PolyAt(q []float64, theta float64) (beta float64) {
	x := math.FMA(2, theta, -1)
	for k := len(q) - 1; k >= 0; k-- {
		beta = math.FMA(beta, x, q[k])
	}
	return float64(beta * theta)
}

// Poly returns β(θ), with the bits of PolyAt, and β'(θ).
func Poly(q []float64, theta float64) (beta, slope float64) {
	x := math.FMA(2, theta, -1)
	for k := len(q) - 1; k >= 0; k-- {
		slope = math.FMA(slope, x, beta)
		beta = math.FMA(beta, x, q[k])
	}
	return float64(beta * theta), math.FMA(float64(2*theta), slope, beta)
}

// SecondDerivative returns β″(θ) for the centred coefficients q.
func SecondDerivative(q []float64, theta float64) float64 {
	second, _ := derivatives(q, theta)
	return second
}

// derivatives returns β″(θ) and β‴(θ).
func derivatives(q []float64, theta float64) (second, third float64) {
	x := math.FMA(2, theta, -1)
	var v, d, half, sixth float64 // of the polynomial in x: value, derivative, parts of higher ones
	for _, c := range slices.Backward(q) {
		sixth = math.FMA(sixth, x, half)
		half = math.FMA(half, x, d)
		d = math.FMA(d, x, v)
		v = math.FMA(v, x, c)
	}
	return float64(4 * math.FMA(float64(2*theta), half, d)), float64(24 * math.FMA(float64(2*theta), sixth, half))
}

// Complex writes y = y₀ + h Σ β_j(θ) k_j, over the rows of K of width w.
func (p *Dense) Complex(s *solvers.ComplexStep, theta complex128, y []complex128, w int) {
	x := elem.CFMA(2, theta, -1)
	for i := range y {
		var sum complex128
		for j, beta := range p.Beta {
			var v complex128
			for k := len(beta) - 1; k >= 0; k-- {
				v = elem.CFMA(v, x, complex(beta[k], 0))
			}
			sum = elem.CFMA(elem.CMul(v, theta), s.K[p.Rows[j]*w+i], sum)
		}
		y[i] = elem.CFMA(s.H, sum, s.Y0[i])
	}
}

// ComplexSlope writes the slope of Complex by time, Σ β'_j(θ) k_j.
func (p *Dense) ComplexSlope(s *solvers.ComplexStep, theta complex128, yd []complex128, w int) {
	x := elem.CFMA(2, theta, -1)
	clear(yd)
	for j, beta := range p.Beta {
		var v, d complex128
		for _, c := range slices.Backward(beta) {
			d = elem.CFMA(d, x, v)
			v = elem.CFMA(v, x, complex(c, 0))
		}
		v = elem.CFMA(elem.CMul(2, theta), d, v)
		for i := range yd {
			yd[i] = elem.CFMA(v, s.K[p.Rows[j]*w+i], yd[i])
		}
	}
}

// RecallPush implements Remembering: it writes the tangent of y₀ + h Σ β_j(θ) k_j at a time that moves by td; kd are
// the tangents of the rows of K.
func (r *Space) RecallPush(s *solvers.Step, d *solvers.StepTangent, theta float64, kd, td, yd []float64) {
	r.Weigh(theta)
	r.Theta.Combine(yd, d.Y0, s.H, kd, r.W*r.L)
	r.Lengthen(yd, &r.Theta, d.H, s.K, r.N)
	// drifts is h times how θ moves in a lane. Lanes where it does not are left as they are, whatever the others do.
	drifts := func(j int) float64 { return math.FMA(-theta, d.H[j], td[j]-d.T0[j]) }
	still := true
	for j := range td {
		still = still && drifts(j) == 0
	}
	if still { // as for all observations at given times
		return
	}
	rate := r.Slope[:r.N]
	r.Drift.Combine(rate, r.Zero, 1, s.K, r.W)
	for i, v := range rate {
		row := yd[i*r.L : (i+1)*r.L]
		for j := range row {
			if x := drifts(j); x != 0 {
				row[j] = math.FMA(v, x, row[j])
			}
		}
	}
}

// Sow adds the cotangent w of y₀ + h Σ β_j(θ) k_j to g, for so many rows of K, and that of its time to tb. The memory
// of g is allocated at its first use, since most runs observe at ends of steps.
func (r *Space) Sow(g *solvers.Seeds, rows int, s *solvers.Step, theta float64, w, tb []float64) {
	n, l := r.N, r.L
	r.Weigh(theta)
	begin(g, rows, n, l)
	for j, i := range r.Theta.Row {
		b := r.Theta.C[j]
		seed := g.K[i*n*l : (i+1)*n*l]
		for m, v := range w {
			seed[m] = math.FMA(b, v, seed[m])
		}
	}
	for m, v := range w {
		g.Y0[m] += v
	}
	// The part Σ β_i k_i·w of h̄ is in the inner products of Pull.
	rate := r.Slope[:n]
	r.Drift.Combine(rate, r.Zero, 1, s.K, r.W)
	for i, v := range rate {
		for j := range l {
			move := float64(v * w[i*l+j])
			tb[j] += move
			g.T[j] -= move
			g.H[j] = math.FMA(-theta, move, g.H[j])
		}
	}
}

// begin makes room in g for so many rows of K, and makes it zero unless something was sown.
func begin(g *solvers.Seeds, rows, n, l int) {
	if g.K == nil {
		v := func(n int) []float64 { return make([]float64, n*l) }
		g.K, g.Y0, g.H, g.T = v(rows*n), v(n), v(1), v(1)
	}
	if g.Sown {
		return
	}
	g.Sown, g.C = true, nil
	clear(g.K)
	clear(g.Y0)
	clear(g.H)
	clear(g.T)
}

// Reap returns g, or nil if nothing was sown. What is sown next begins anew.
func (r *Space) Reap(g *solvers.Seeds) *solvers.Seeds {
	if !g.Sown {
		return nil
	}
	g.Sown = false
	r.Unfold(g)
	return g
}

// Unfold adds what was sown of the coefficients of a curve to the rows of K.
func (r *Space) Unfold(g *solvers.Seeds) {
	if g.C == nil {
		return
	}
	n, l := r.N*r.L, r.L
	for j, i := range r.of.Rows {
		seed := g.K[i*n:][:n]
		for k, b := range r.of.Beta[j] {
			c := g.C[k*len(g.Of)*l:][:len(g.Of)*l]
			for m, state := range g.Of {
				to := seed[state*l:][:l]
				for lane, v := range c[m*l:][:l] {
					to[lane] = math.FMA(b, v, to[lane])
				}
			}
		}
	}
	g.C = nil
}

// Duals are Seeds with their tangents, which PullPush takes in.
type Duals struct {
	seeded bool
	Seed   solvers.Dual // [rows of K][n] Σ β_i(θ) w
	Y0     solvers.Dual // [n] Σ w
	h, t0  solvers.Dual // [1] what θ = (t* - t)/h adds to h̄ and t̄₀
	rate   solvers.Dual // [n] Σ β'_i k_i
	bend   Form         // β″(θ)
	bends  []float64    // [n]
	m      []float64    // [l]
}

// NewDuals has room for so many rows.
func NewDuals(rows, n, l int, of *Dense) Duals {
	return Duals{
		Seed: solvers.NewDual(rows*n, l), Y0: solvers.NewDual(n, l), h: solvers.NewDual(1, l), t0: solvers.NewDual(1,
			l), rate: solvers.NewDual(n, l),
		bend: of.Room(), bends: make([]float64, n), m: make([]float64, l),
	}
}

// Reap returns g, or nil if nothing was sown. What is sown next begins anew.
func (g *Duals) Reap() *Duals {
	if !g.seeded {
		return nil
	}
	g.seeded = false
	return g
}

func (g *Duals) begin() {
	if g.seeded {
		return
	}
	g.seeded = true
	for _, v := range []solvers.Dual{g.Seed, g.Y0, g.h, g.t0} {
		v.Clear()
	}
}

// turn returns how θ moves, where the step moves by d and the time by td.
func (g *Duals) turn(s *solvers.Step, d *solvers.StepTangent, theta float64, td []float64) []float64 {
	for m := range g.m {
		g.m[m] = math.FMA(-theta, d.H[m], td[m]-d.T0[m]) / s.H
	}
	return g.m
}

// SowDual is sow together with its tangent, where the step moves by d and the time by td; kd are the tangents of the
// rows of K. θ moves by θ̇ = (ṫ* - ṫ₀ - θ ḣ)/h. So the seeds Σ β_i(θ) w move by
// Σ (β_i ẇ + β'_i θ̇ w), and the rate Σ β'_i k_i of the dense output moves by Σ (β'_i k̇_i + β″_i θ̇ k_i).
func (r *Space) SowDual(
	g *Duals, s *solvers.Step, d *solvers.StepTangent, theta float64, td, kd []float64, w, tb solvers.Dual,
) {
	n, l := r.N, r.L
	r.Weigh(theta)
	g.begin()
	thetad := g.turn(s, d, theta, td)
	for j, i := range r.Theta.Row {
		b, slope := r.Theta.C[j], r.Drift.C[j]
		seed := g.Seed.Rows(i, n, l)
		for e, v := range w.X {
			seed.X[e] = math.FMA(b, v, seed.X[e])
			for m, dot := range thetad {
				i := e*l + m
				seed.D[i] = math.FMA(b, w.D[i], math.FMA(float64(slope*dot), v, seed.D[i]))
			}
		}
	}
	g.Y0.Add(w)
	for j, p := range r.of.Beta {
		g.bend.C[j] = SecondDerivative(p, theta)
	}
	r.Drift.Combine(g.rate.X, r.Zero, 1, s.K, r.W)
	r.Drift.Combine(g.rate.D, r.Zero, 1, kd, r.W*l)
	g.bend.Combine(g.bends, r.Zero, 1, s.K, r.W)
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

// FillSamples fills in the Samples of a, for a dense output with the centred coefficients beta of these rows of K, of
// that many orders.
func FillSamples(a *solvers.Arithmetic, beta [][]float64, rows []int, orders int) {
	parts := max(2, orders)
	for i := range parts + 1 {
		theta := float64(i) / float64(parts)
		weights, drift := make([]float64, len(beta)), make([]float64, len(beta))
		for j, p := range beta {
			weights[j], drift[j] = Poly(p, theta)
		}
		a.Samples = append(a.Samples, solvers.Sample{Point: solvers.Point{
			Theta:   theta,
			Weights: solvers.Terms{Row: rows, C: weights},
		}, Drift: solvers.Terms{Row: rows, C: drift}})
	}
	for _, row := range rows {
		a.Sampled = max(a.Sampled, row+1)
	}
}

// Output returns the dense output that p is.
func (p *Dense) Output() *Dense { return p }
