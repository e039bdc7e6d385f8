package explicit

import (
	"slices"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/stages"
)

// Pull writes the transpose of Push in every lane. For stages i = s … 1,
//
//	k̄_i = h (b_i ȳ₁ + Σ_{j>i} a_ji Ȳ_j),   Ȳ_i = f_yᵀ k̄_i,   τ_i = f_tᵀ k̄_i,   p̄ += f_pᵀ k̄_i,
//	ȳ₀ = ȳ₁ + Σ Ȳ_i,   t̄₀ = t̄₁ + Σ τ_i,
//	h̄ = t̄₁ + Σ_i (k_i·k̄_i/h + c_i τ_i)   (with k̄_i/h from before it is multiplied by h: nothing is divided).
//
// The rows of quadratures enter with k̄ = h b_i q̄, since nothing depends on them. This is the transpose of the step
// as taken, at its h. How the controller chose h is not differentiated; a caller for whom h is a function of time or
// parameters (a clipped step, an event) asks for h̄. Stages on which y₁ does not depend are skipped.
func (r *rungeKutta) Pull(f solvers.CotangentField, s *solvers.Step, c *solvers.StepCotangent) {
	r.readyPull()
	if r.dense.seeds.Sown {
		r.pullSeeded(f, s, c)
		return
	}
	if whole, ok := f.(solvers.StepPuller); ok && !c.WantH && whole.PullStep(&r.whole, s, c) {
		return
	}
	n, w, l := r.N, r.W, r.L
	copy(r.yb[:n*l], c.Y1)
	stages.Begin(c, nil)
	r.chooseRows(c)
	h := s.H
	if c.WantH {
		h = 1
	}
	for i := r.info.Stages - 1; i >= 0; i-- {
		if !r.live[i] {
			continue
		}
		r.Combine(&r.at[i], r.kb[:n*l], r.Zero, h, r.yb, n*l)
		r.quadratures(&r.at[i], h, c.DQ)
		if c.WantH {
			r.addStage(c.H, s.K[i*w:(i+1)*w])
			r.lengthenStage(s.H)
		}
		f.Pull(r.time(s, i), r.value(s, i), r.kb, r.yb[(1+i)*n*l:(2+i)*n*l], r.tb)
		stages.AddNode(c, r.c[i], r.tb)
	}
	r.Combine(&r.sum, c.Y0, c.Y1, 1, r.yb, n*l)
}

// chooseRows makes the rows of quadratures that the cotangents of stages have those of c. All others are zero.
func (r *rungeKutta) chooseRows(c *solvers.StepCotangent) {
	if r.Q == 0 {
		return
	}
	rows := c.Rows
	if rows == nil {
		if r.all == nil {
			for j := range r.Q {
				r.all = append(r.all, j)
			}
		}
		rows = r.all
	}
	if !slices.Equal(rows, r.rows) {
		r.rows = append(r.rows[:0], rows...)
		clear(r.kb[r.N*r.L:])
	}
}

// chosen returns which rows of kb have cotangents: the first ones, and some of the quadratures behind them.
func (r *rungeKutta) chosen() (first int, rows []int) {
	if len(r.rows) == r.Q {
		return r.W, nil
	}
	return r.N, r.rows
}

// quadratures writes the last rows of kb: h b_i q̄, with b_i in the terms t of the stage's cotangent.
func (r *rungeKutta) quadratures(t *stages.Form, h float64, qb []float64) {
	if len(r.rows) == 0 {
		return
	}
	b := 0.0
	if len(t.Row) > 0 && t.Row[0] == 0 {
		b = t.C[0]
	}
	kb, l := r.kb[r.N*r.L:], r.L
	if len(r.rows) == r.Q {
		for j, v := range qb {
			kb[j] = float64(h * float64(b*v))
		}
		return
	}
	for _, i := range r.rows {
		to := kb[i*l : (i+1)*l]
		for j, v := range qb[i*l : (i+1)*l] {
			to[j] = float64(h * float64(b*v))
		}
	}
}

// addStage adds the inner product of a row of K with the cotangents of its stage to out[l].
func (r *rungeKutta) addStage(out, k []float64) {
	first, rows := r.chosen()
	stages.Inner(out, k[:first], r.kb)
	for _, i := range rows {
		i += r.N
		stages.Inner(out, k[i:i+1], r.kb[i*r.L:])
	}
}

// lengthenStage multiplies the cotangents of a stage by h.
func (r *rungeKutta) lengthenStage(h float64) {
	first, rows := r.chosen()
	stages.Scale(r.kb[:first*r.L], h)
	for _, i := range rows {
		i += r.N
		stages.Scale(r.kb[i*r.L:(i+1)*r.L], h)
	}
}
