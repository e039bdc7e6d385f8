package solvers

import (
	"math"

	"odes.dev/odes/internal/base/team"
)

// stageWork is the work space that methods share whose steps are sums of the rows of K.
type stageWork struct {
	n, q int // states, quadratures
	w    int // n + q, the width of a row of K
	l    int // lanes

	y     []float64 // [n] a stage value
	slope []float64 // [w] a sum of rows
	zero  []float64 // [w·max(l, 1)]

	interpolantAt // of the dense output

	team   *team.Team // that shares combinations of long vectors; nil for this goroutine alone
	shared sharedCombination
}

func newStageWork(z Size, lanes int, dense *interpolant) stageWork {
	w := z.N + z.Q
	return stageWork{
		n: z.N, q: z.Q, w: w, l: lanes,
		y: make([]float64, z.N), slope: make([]float64, w), zero: make([]float64, w*max(lanes, 1)),
		interpolantAt: dense.anywhere(),
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
