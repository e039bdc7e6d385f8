package solvers

import (
	"math"

	"odes.dev/odes/internal/team"
)

// stageWork is the work space that methods share whose steps are sums of the rows of K.
type stageWork struct {
	n, q int // states, quadratures
	w    int // n + q, the width of a row of K
	l    int // lanes

	y     []float64 // [n] a stage value
	slope []float64 // [w] a sum of rows
	zero  []float64 // [w·max(l, 1)]

	team   *team.Team // that shares combinations of long vectors; nil for this goroutine alone
	shared sharedCombination
}

func newStageWork(z Size, lanes int) stageWork {
	w := z.N + z.Q
	return stageWork{
		n: z.N, q: z.Q, w: w, l: lanes,
		y: make([]float64, z.N), slope: make([]float64, w), zero: make([]float64, w*max(lanes, 1)),
	}
}

// Node returns the time t + c h. Nodes at the end are at T1 itself, which may differ from the rounded sum when the step
// was clipped to a given time.
func (s *Step) Node(c float64) float64 {
	switch c {
	case 0:
		return s.T
	case 1:
		return s.T1
	default:
		return math.FMA(c, s.H, s.T)
	}
}

// stage returns y₀ + h Σ a_j k_j: Y0 itself, or a combination in work space. It has the same bits in Step, Push and
// Pull.
func (r *stageWork) stage(s *Step, a *terms) []float64 {
	if len(a.c) == 0 {
		return s.Y0
	}
	r.combine(a, r.y, s.Y0, s.H, s.K, r.w)
	return r.y
}

// end writes the end of s, y₁ = y₀ + h Σ b_j k_j and Δq = h Σ b_j k_j.
func (r *stageWork) end(s *Step, b *terms) {
	r.combine(b, s.Y1, s.Y0, s.H, s.K, r.w)
	if r.q > 0 {
		r.combine(b, s.DQ, r.zero, s.H, s.K[r.n:], r.w)
	}
}

// fail makes s a step that could not be made.
func (r *stageWork) fail(s *Step) { spoil(s.K[r.w:], s.Y1, s.DQ) }

// spoil makes what could not be computed NaN.
func spoil(all ...[]float64) {
	for _, v := range all {
		for i := range v {
			v[i] = math.NaN()
		}
	}
}

// stageTangent returns ẏ₀ + h Σ a_j k̇_j + ḣ Σ a_j k_j, where kd are the tangents of the rows of K: that of Y0 itself,
// or a combination in yd[n·l].
func (r *stageWork) stageTangent(s *Step, d *StepTangent, a *terms, kd, yd []float64) []float64 {
	if len(a.c) == 0 {
		return d.Y0
	}
	r.combine(a, yd, d.Y0, s.H, kd, r.w*r.l)
	r.lengthen(yd, a, d.H, s.K, r.n)
	return yd
}

// endTangent writes the tangent of end to the outputs of d, and ṫ₁ = ṫ₀ + ḣ.
func (r *stageWork) endTangent(s *Step, d *StepTangent, b *terms, kd []float64) {
	r.combine(b, d.Y1, d.Y0, s.H, kd, r.w*r.l)
	r.lengthen(d.Y1, b, d.H, s.K, r.n)
	if r.q > 0 {
		r.combine(b, d.DQ, r.zero, s.H, kd[r.n*r.l:], r.w*r.l)
		r.lengthen(d.DQ, b, d.H, s.K[r.n:], r.q)
	}
	for j, h := range d.H {
		d.T1[j] = d.T0[j] + h
	}
}

// node writes td[L] = ṫ₀ + c ḣ, the tangent of the time of a node.
func (d *StepTangent) node(c float64, td []float64) {
	for j, h := range d.H {
		td[j] = math.FMA(c, h, d.T0[j])
	}
}

// moves reports whether the length of a step moves in any lane, by its tangents.
func moves(hd []float64) bool {
	for _, h := range hd {
		if h != 0 {
			return true
		}
	}
	return false
}

// lengthen adds ḣ Σ c_j k_j to yd[n·l]. A lane whose ḣ is zero is left as it is, whatever the other lanes do.
func (r *stageWork) lengthen(yd []float64, t *terms, hd, k []float64, n int) {
	if !moves(hd) {
		return
	}
	slope := r.slope[:n]
	t.combine(slope, r.zero, 1, k, r.w)
	for i, v := range slope {
		row := yd[i*r.l : (i+1)*r.l]
		for j, h := range hd {
			if h != 0 {
				row[j] = math.FMA(h, v, row[j])
			}
		}
	}
}

// denseTangent writes the tangent of y₀ + h Σ β_j(θ) k_j at a time that moves by td; kd are the tangents of the rows
// of K.
func (r *stageWork) denseTangent(s *Step, d *StepTangent, at *interpolantAt, theta float64, kd, td, yd []float64) {
	at.theta.combine(yd, d.Y0, s.H, kd, r.w*r.l)
	r.lengthen(yd, &at.theta, d.H, s.K, r.n)
	rate := r.slope[:r.n]
	at.drift.combine(rate, r.zero, 1, s.K, r.w)
	for i, v := range rate {
		row := yd[i*r.l : (i+1)*r.l]
		for j := range row {
			row[j] = math.FMA(v, math.FMA(-theta, d.H[j], td[j]-d.T0[j]), row[j])
		}
	}
}

// sow adds the cotangent w of y₀ + h Σ β_j(θ) k_j to g, for so many rows of K, and that of its time to tb. The memory
// of g is allocated at its first use, since most runs observe at ends of steps.
func (r *stageWork) sow(g *Seeds, rows int, s *Step, at *interpolantAt, theta float64, w, tb []float64) {
	n, l := r.n, r.l
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
	for j, i := range at.theta.row {
		b := at.theta.c[j]
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
	at.drift.combine(rate, r.zero, 1, s.K, r.w)
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

// begin makes t̄₀ and h̄ what the end of the step alone makes of them, with seeds; nil for none.
func (c *StepCotangent) begin(seeds *Seeds) {
	copy(c.T0, c.T1)
	if c.WantH {
		copy(c.H, c.T1)
	}
	if seeds == nil {
		return
	}
	for j, t := range seeds.T {
		c.T0[j] += t
		if c.WantH {
			c.H[j] += seeds.H[j]
		}
	}
}

// addNode adds the cotangents tau[L] of the time t₀ + c h of a node to t̄₀ and h̄.
func (c *StepCotangent) addNode(node float64, tau []float64) {
	for j, x := range tau {
		c.T0[j] += x
	}
	if c.WantH && node != 0 {
		for j, x := range tau {
			c.H[j] = math.FMA(node, x, c.H[j])
		}
	}
}

// addRow adds to h̄ the inner product of a row k of K with its cotangents over h: u[n·l] for the states, and b q̄ for
// the quadratures.
func (r *stageWork) addRow(c *StepCotangent, k, u []float64, b float64) {
	inner(c.H, k[:r.n], u)
	if b == 0 {
		return
	}
	for j, x := range k[r.n:r.w] {
		x = float64(b * x)
		for m, q := range c.DQ[j*r.l : (j+1)*r.l] {
			c.H[m] = math.FMA(x, q, c.H[m])
		}
	}
}

// inner adds Σ_n k[n] kb[n][lane] to out[lane].
func inner(out, k, kb []float64) {
	l := len(out)
	for i, v := range k {
		row := kb[i*l : (i+1)*l]
		for j := range out {
			out[j] = math.FMA(v, row[j], out[j])
		}
	}
}

func scale(x []float64, h float64) {
	for i := range x {
		x[i] = float64(h * x[i])
	}
}

// begin is that of a StepCotangent, with tangents.
func (c *StepSecond) begin(seeds *denseDuals) {
	c.T0.Copy(c.T1)
	c.H.Copy(c.T1)
	if seeds != nil {
		c.T0.Add(seeds.t0)
		c.H.Add(seeds.h)
	}
}

// addNode is that of a StepCotangent, with tangents.
func (c *StepSecond) addNode(node float64, tau Dual) {
	c.T0.Add(tau)
	if c.WantH && node != 0 {
		c.H.X[0] = math.FMA(node, tau.X[0], c.H.X[0])
		for m, x := range tau.D {
			c.H.D[m] = math.FMA(node, x, c.H.D[m])
		}
	}
}

// addRow adds to h̄ the inner product of elements k of a row of K, and their tangents kd, with their cotangents u over
// h.
func (c *StepSecond) addRow(k, kd []float64, u Dual) {
	for j, x := range k {
		c.H.X[0] = math.FMA(x, u.X[j], c.H.X[0])
	}
	inner(c.H.D, k, u.D)
	inner(c.H.D, u.X, kd)
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
	g *denseDuals, s *Step, d *StepTangent, at *interpolantAt, theta float64, td, kd []float64, w, tb Dual,
) {
	n, l := r.n, r.l
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
	for j, i := range at.theta.row {
		b, slope := at.theta.c[j], at.drift.c[j]
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
	for j, p := range at.of.beta {
		g.bend.c[j] = secondDerivative(p, theta)
	}
	at.drift.combine(g.rate.X, r.zero, 1, s.K, r.w)
	at.drift.combine(g.rate.D, r.zero, 1, kd, r.w*l)
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
