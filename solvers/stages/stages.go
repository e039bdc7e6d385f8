// Package stages has what methods share whose steps are sums of the rows of K: linear forms over these, the work space
// of steps with their tangents and transposes, dense output, the stability of explicit stages, and ends of steps that
// keep algebraic equations. Only methods use it.
package stages

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/team"
	"odes.dev/odes/solvers"
)

// Space is the work space that methods share whose steps are sums of the rows of K.
type Space struct {
	N, Q int // states, quadratures
	W    int // n + q, the width of a row of K
	L    int // lanes

	Y     []float64 // [n] a stage value
	Slope []float64 // [w] a sum of rows
	Zero  []float64 // [w·max(l, 1)]

	DenseAt // of the dense output

	Team   *team.Team // that shares combinations of long vectors; nil for this goroutine alone
	shared sharedCombination
}

// NewSpace returns work space for systems of a size, with tangents and cotangents in so many lanes.
func NewSpace(z solvers.Size, lanes int, dense *Dense) Space {
	w := z.N + z.Q
	return Space{
		N: z.N, Q: z.Q, W: w, L: lanes,
		Y: make([]float64, z.N), Slope: make([]float64, w), Zero: make([]float64, w*max(lanes, 1)),
		DenseAt: dense.anywhere(),
	}
}

// Stage returns y₀ + h Σ a_j k_j: Y0 itself, or a combination in work space. It has the same bits in Step, Push and
// Pull.
func (r *Space) Stage(s *solvers.Step, a *Form) []float64 {
	if len(a.C) == 0 {
		return s.Y0
	}
	r.Combine(a, r.Y, s.Y0, s.H, s.K, r.W)
	return r.Y
}

// End writes the end of s, y₁ = y₀ + h Σ b_j k_j and Δq = h Σ b_j k_j.
func (r *Space) End(s *solvers.Step, b *Form) {
	r.Combine(b, s.Y1, s.Y0, s.H, s.K, r.W)
	if r.Q > 0 {
		r.Combine(b, s.DQ, r.Zero, s.H, s.K[r.N:], r.W)
	}
}

// Fail makes s a step that could not be made.
func (r *Space) Fail(s *solvers.Step) { elem.Spoil(s.K[r.W:], s.Y1, s.DQ) }

// StageTangent returns ẏ₀ + h Σ a_j k̇_j + ḣ Σ a_j k_j, where kd are the tangents of the rows of K: that of Y0 itself,
// or a combination in yd[n·l].
func (r *Space) StageTangent(s *solvers.Step, d *solvers.StepTangent, a *Form, kd, yd []float64) []float64 {
	if len(a.C) == 0 {
		return d.Y0
	}
	r.Combine(a, yd, d.Y0, s.H, kd, r.W*r.L)
	r.Lengthen(yd, a, d.H, s.K, r.N)
	return yd
}

// EndTangent writes the tangent of end to the outputs of d, and ṫ₁ = ṫ₀ + ḣ.
func (r *Space) EndTangent(s *solvers.Step, d *solvers.StepTangent, b *Form, kd []float64) {
	r.Combine(b, d.Y1, d.Y0, s.H, kd, r.W*r.L)
	r.Lengthen(d.Y1, b, d.H, s.K, r.N)
	if r.Q > 0 {
		r.Combine(b, d.DQ, r.Zero, s.H, kd[r.N*r.L:], r.W*r.L)
		r.Lengthen(d.DQ, b, d.H, s.K[r.N:], r.Q)
	}
	for j, h := range d.H {
		d.T1[j] = d.T0[j] + h
	}
}

// NodeTangent writes td[L] = ṫ₀ + c ḣ, the tangent of the time of a node.
func NodeTangent(d *solvers.StepTangent, c float64, td []float64) {
	for j, h := range d.H {
		td[j] = math.FMA(c, h, d.T0[j])
	}
}

// Moves reports whether the length of a step moves in any lane, by its tangents.
func Moves(hd []float64) bool {
	for _, h := range hd {
		if h != 0 {
			return true
		}
	}
	return false
}

// Lengthen adds ḣ Σ c_j k_j to yd[n·l]. A lane whose ḣ is zero is left as it is, whatever the other lanes do.
func (r *Space) Lengthen(yd []float64, t *Form, hd, k []float64, n int) {
	if !Moves(hd) {
		return
	}
	slope := r.Slope[:n]
	t.Combine(slope, r.Zero, 1, k, r.W)
	for i, v := range slope {
		row := yd[i*r.L : (i+1)*r.L]
		for j, h := range hd {
			if h != 0 {
				row[j] = math.FMA(h, v, row[j])
			}
		}
	}
}

// Begin makes t̄₀ and h̄ of c what the end of the step alone makes of them, with seeds; nil for none.
func Begin(c *solvers.StepCotangent, seeds *solvers.Seeds) {
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

// AddNode adds the cotangents tau[L] of the time t₀ + c h of a node to t̄₀ and h̄.
func AddNode(c *solvers.StepCotangent, node float64, tau []float64) {
	for j, x := range tau {
		c.T0[j] += x
	}
	if c.WantH && node != 0 {
		for j, x := range tau {
			c.H[j] = math.FMA(node, x, c.H[j])
		}
	}
}

// AddRow adds to h̄ the inner product of a row k of K with its cotangents over h: u[n·l] for the states, and b q̄ for
// the quadratures.
func (r *Space) AddRow(c *solvers.StepCotangent, k, u []float64, b float64) {
	Inner(c.H, k[:r.N], u)
	if b == 0 {
		return
	}
	for j, x := range k[r.N:r.W] {
		x = float64(b * x)
		for m, q := range c.DQ[j*r.L : (j+1)*r.L] {
			c.H[m] = math.FMA(x, q, c.H[m])
		}
	}
}

// Inner adds Σ_n k[n] kb[n][lane] to out[lane].
func Inner(out, k, kb []float64) {
	l := len(out)
	for i, v := range k {
		row := kb[i*l : (i+1)*l]
		for j := range out {
			out[j] = math.FMA(v, row[j], out[j])
		}
	}
}

// Scale multiplies x by h.
func Scale(x []float64, h float64) {
	for i := range x {
		x[i] = float64(h * x[i])
	}
}

// BeginSecond is begin with tangents.
func BeginSecond(c *solvers.StepSecond, seeds *Duals) {
	c.T0.Copy(c.T1)
	c.H.Copy(c.T1)
	if seeds != nil {
		c.T0.Add(seeds.t0)
		c.H.Add(seeds.h)
	}
}

// AddNodeSecond is AddNode with tangents.
func AddNodeSecond(c *solvers.StepSecond, node float64, tau solvers.Dual) {
	c.T0.Add(tau)
	if c.WantH && node != 0 {
		c.H.X[0] = math.FMA(node, tau.X[0], c.H.X[0])
		for m, x := range tau.D {
			c.H.D[m] = math.FMA(node, x, c.H.D[m])
		}
	}
}

// AddRowSecond adds to h̄ the inner product of elements k of a row of K, and their tangents kd, with their cotangents u
// over h.
func AddRowSecond(c *solvers.StepSecond, k, kd []float64, u solvers.Dual) {
	for j, x := range k {
		c.H.X[0] = math.FMA(x, u.X[j], c.H.X[0])
	}
	Inner(c.H.D, k, u.D)
	Inner(c.H.D, u.X, kd)
}

// EndComplex is end in complex arithmetic.
func (r *Space) EndComplex(s *solvers.ComplexStep, b *Form) {
	b.CombineComplex(s.Y1, s.Y0, s.H, s.K, r.W)
	if r.Q > 0 {
		b.CombineComplex(s.DQ, nil, s.H, s.K[r.N:], r.W)
	}
}

// FailComplex makes s a step that could not be made.
func (r *Space) FailComplex(s *solvers.ComplexStep) { elem.SpoilComplex(s.K[r.W:], s.Y1, s.DQ) }
