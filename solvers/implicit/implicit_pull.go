package implicit

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/stages"
)

// implicitPull is the work space of cotangents.
type implicitPull struct {
	yb    []float64 // [1 + rows][n·l] ȳ₁ and the Z_i
	kb    []float64 // [w·l]
	outer []float64 // [sizes][n·l] ∂r/∂yᵀ h b_i q̄ at stage i
	tb    []float64 // [l]
	ready bool

	seeds solvers.Seeds
}

func readyPull(r *implicitRungeKutta) {
	g := &r.pull
	if g.ready {
		return
	}
	v := func(n int) []float64 { return make([]float64, n*r.L) }
	g.yb, g.kb, g.outer, g.tb = v((1+r.rows)*r.N), v(r.W), v(r.sizes*r.N), v(1)
	g.ready = true
}

// Pull writes the transpose of Push in every lane. With J_i the Jacobian at stage i, the multipliers of a block solve,
// for all its rows,
//
//	Mᵀ μ_j - h Σ_block a_ij J_iᵀ μ_i = h (b_j ȳ₁ + Σ_after a_ij Z_i),
//	Z_i = J_iᵀ μ_i,   τ_i = f_tᵀ μ_i,   p̄ += f_pᵀ μ_i,
//	ȳ₀ = ȳ₁ + Σ Z_i,
//	t̄₀ = t̄₁ + Σ τ_i,   h̄ = t̄₁ + Σ_i (k_i·(b_i ȳ₁ + Σ_j a_ji Z_j) + c_i τ_i).
//
// The matrix is the transpose of that of Push, so these are exact: nothing is iterated. The rows of quadratures enter
// with h b_i q̄ in the place of μ_i. Where M depends on parameters, p̄ has -Σ μ_iᵀ M_p k_i, too.
func (r *implicitRungeKutta) Pull(f solvers.CotangentField, s *solvers.Step, c *solvers.StepCotangent) {
	n, w, l := r.N, r.W, r.L
	g := &r.pull
	seeds, need := r.Reap(&g.seeds), r.live
	if seeds != nil {
		need = r.seen
	}
	if r.Prepare(f) != nil {
		elem.Spoil(c.Y0, c.T0, c.H)
		return
	}
	if r.rests(f, s) {
		r.ends.PullRest(s, r.ends.Pulled(f, s, c))
		return
	}
	defer r.whole(f)
	readyPull(r)
	if r.ends != nil {
		c = r.ends.Pulled(f, s, c)
	}
	copy(g.yb[:n*l], c.Y1)
	clear(g.yb[n*l:])
	stages.Begin(c, seeds)
	base := func(i int) []float64 {
		if seeds != nil {
			return seeds.K[i*n*l : (i+1)*n*l]
		}
		return r.Zero[:n*l]
	}
	for i := len(r.blocks) - 1; i >= -1; i-- {
		b := &implicitBlock{to: 1, explicit: true} // row 0
		if i >= 0 {
			b = &r.blocks[i]
		}
		if !need[b.from] {
			continue
		}
		var x []float64
		if !b.explicit {
			if x = r.multipliers(f, s, c, b, base); x == nil {
				elem.Spoil(c.Y0, c.T0, c.H)
				return
			}
		}
		for j := b.from; j < b.to; j++ {
			if states := g.kb[:n*l]; b.explicit {
				r.at[j].Combine(states, base(j), 1, g.yb, n*l)
				stages.Scale(states, s.H)
				still(r, states, l)
			} else {
				copy(states, x[(j-b.from)*n*l:])
			}
			pullQuadratures(r, s, c, j)
			t, y, yb := nodeTime(r, s, j), r.value(f, s, j), g.yb[(1+j)*n*l:(2+j)*n*l]
			r.take(f, j)
			f.Pull(t, y, g.kb, yb, g.tb)
			if settled(r, j) {
				r.ends.Pull(f.(matrices.CotangentJacobianField), t, y, yb, g.tb)
			}
			stages.AddNode(c, r.c[j], g.tb)
		}
		if !c.WantH {
			continue
		}
		for j := b.from; j < b.to; j++ {
			states := g.kb[:n*l]
			r.at[j].Combine(states, base(j), 1, g.yb, n*l)
			r.AddRow(c, s.K[j*w:(j+1)*w], states, r.bi[j])
		}
	}
	r.sum.Combine(c.Y0, c.Y1, 1, g.yb, n*l)
	if seeds != nil {
		for i, v := range seeds.Y0 {
			c.Y0[i] += v
		}
	}
}

// pullQuadratures writes the last rows of kb: h b_i q̄.
func pullQuadratures(r *implicitRungeKutta, s *solvers.Step, c *solvers.StepCotangent, i int) {
	kb, weight := r.pull.kb[r.N*r.L:], float64(s.H*r.bi[i])
	for j, q := range c.DQ {
		kb[j] = float64(weight * q)
	}
}

// multipliers returns the μ_i of a block, [rows][n·l]; nil if it could not.
func (r *implicitRungeKutta) multipliers(
	f solvers.CotangentField, s *solvers.Step, c *solvers.StepCotangent, b *implicitBlock, base func(i int) []float64,
) []float64 {
	n, l, size := r.N, r.L, b.to-b.from
	g := &r.pull
	if !r.relinearise(f, s, b) {
		return nil
	}
	lin := r.solver[size]
	for j := b.from; j < b.to; j++ {
		x := lin.x[(j-b.from)*n*l : (j-b.from+1)*n*l]
		r.after[j].Combine(x, base(j), 1, g.yb, n*l)
		stages.Scale(x, s.H)
	}
	if r.Q > 0 {
		for i := b.from; i < b.to; i++ {
			to, js := g.outer[(i-b.from)*n*l:(i-b.from+1)*n*l], r.js[(i-b.from)*r.plan.Entries:]
			clear(to)
			weight := float64(s.H * r.bi[i])
			for _, x := range r.plan.Outer {
				v := float64(weight * js[x.E])
				row, q := to[int(x.Col)*l:][:l], c.DQ[(int(x.Row)-n)*l:][:l]
				for m, u := range q {
					row[m] = math.FMA(v, u, row[m])
				}
			}
			for j := range size {
				v := float64(s.H * b.a[(i-b.from)*size+j])
				x := lin.x[j*n*l : (j+1)*n*l]
				for m, u := range to {
					x[m] = math.FMA(v, u, x[m])
				}
			}
		}
	}
	lin.lu.SolveT(lin.x[:size*n*l], l)
	r.work.Solves++
	return lin.x
}

// InterpolatePull keeps the cotangents of the dense output for Pull.
func (r *implicitRungeKutta) InterpolatePull(
	f solvers.CotangentField, s *solvers.Step, theta float64, w, tb []float64,
) {
	if r.Prepare(f) == nil && r.ends != nil {
		r.Interpolate(f, s, theta, r.Y)
		copy(r.ends.Y1, w)
		w = r.ends.Y1
		r.ends.Pull(f.(matrices.CotangentJacobianField), s.Node(theta), r.Y, w, tb)
	}
	r.Sow(&r.pull.seeds, r.rows, s, theta, w, tb)
}
