package solvers

import "math"

// implicitPull is the work space of cotangents.
type implicitPull struct {
	yb    []float64 // [1 + rows][n·l] ȳ₁ and the Z_i
	kb    []float64 // [w·l]
	outer []float64 // [sizes][n·l] ∂r/∂yᵀ h b_i q̄ at stage i
	tb    []float64 // [l]
	ready bool

	seeds Seeds
}

func (r *implicitRungeKutta) readyPull() {
	g := &r.pull
	if g.ready {
		return
	}
	v := func(n int) []float64 { return make([]float64, n*r.l) }
	g.yb, g.kb, g.outer, g.tb = v((1+r.rows)*r.n), v(r.w), v(r.sizes*r.n), v(1)
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
func (r *implicitRungeKutta) Pull(f CotangentField, s *Step, c *StepCotangent) {
	n, w, l := r.n, r.w, r.l
	g := &r.pull
	seeds, need := g.seeds.reap(), r.live
	if seeds != nil {
		need = r.seen
	}
	if r.Prepare(f) != nil {
		spoil(c.Y0, c.T0, c.H)
		return
	}
	if r.rests(f, s) {
		r.ends.pullRest(s, r.ends.pulled(f, s, c))
		return
	}
	defer r.whole(f)
	r.readyPull()
	if r.ends != nil {
		c = r.ends.pulled(f, s, c)
	}
	copy(g.yb[:n*l], c.Y1)
	clear(g.yb[n*l:])
	c.begin(seeds)
	base := func(i int) []float64 {
		if seeds != nil {
			return seeds.K[i*n*l : (i+1)*n*l]
		}
		return r.zero[:n*l]
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
				spoil(c.Y0, c.T0, c.H)
				return
			}
		}
		for j := b.from; j < b.to; j++ {
			if states := g.kb[:n*l]; b.explicit {
				r.at[j].combine(states, base(j), 1, g.yb, n*l)
				scale(states, s.H)
				r.still(states, l)
			} else {
				copy(states, x[(j-b.from)*n*l:])
			}
			r.pullQuadratures(s, c, j)
			t, y, yb := r.time(s, j), r.value(f, s, j), g.yb[(1+j)*n*l:(2+j)*n*l]
			r.take(f, j)
			f.Pull(t, y, g.kb, yb, g.tb)
			if r.settled(j) {
				r.ends.Pull(f.(CotangentJacobianField), t, y, yb, g.tb)
			}
			c.addNode(r.c[j], g.tb)
		}
		if !c.WantH {
			continue
		}
		for j := b.from; j < b.to; j++ {
			states := g.kb[:n*l]
			r.at[j].combine(states, base(j), 1, g.yb, n*l)
			r.addRow(c, s.K[j*w:(j+1)*w], states, r.bi[j])
		}
	}
	r.sum.combine(c.Y0, c.Y1, 1, g.yb, n*l)
	if seeds != nil {
		for i, v := range seeds.Y0 {
			c.Y0[i] += v
		}
	}
}

// pullQuadratures writes the last rows of kb: h b_i q̄.
func (r *implicitRungeKutta) pullQuadratures(s *Step, c *StepCotangent, i int) {
	kb, weight := r.pull.kb[r.n*r.l:], float64(s.H*r.bi[i])
	for j, q := range c.DQ {
		kb[j] = float64(weight * q)
	}
}

// multipliers returns the μ_i of a block, [rows][n·l]; nil if it could not.
func (r *implicitRungeKutta) multipliers(
	f CotangentField, s *Step, c *StepCotangent, b *implicitBlock, base func(i int) []float64,
) []float64 {
	n, l, size := r.n, r.l, b.to-b.from
	g := &r.pull
	if !r.relinearise(f, s, b) {
		return nil
	}
	lin := r.solver[size]
	for j := b.from; j < b.to; j++ {
		x := lin.x[(j-b.from)*n*l : (j-b.from+1)*n*l]
		r.after[j].combine(x, base(j), 1, g.yb, n*l)
		scale(x, s.H)
	}
	if r.q > 0 {
		for i := b.from; i < b.to; i++ {
			to, js := g.outer[(i-b.from)*n*l:(i-b.from+1)*n*l], r.js[(i-b.from)*r.plan.entries:]
			clear(to)
			weight := float64(s.H * r.bi[i])
			for _, x := range r.plan.outer {
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
func (r *implicitRungeKutta) InterpolatePull(f CotangentField, s *Step, theta float64, w, tb []float64) {
	if r.Prepare(f) == nil && r.ends != nil {
		r.Interpolate(f, s, theta, r.y)
		copy(r.ends.y1, w)
		w = r.ends.y1
		r.ends.Pull(f.(CotangentJacobianField), s.Node(theta), r.y, w, tb)
	}
	r.sow(&r.pull.seeds, r.rows, s, theta, w, tb)
}
