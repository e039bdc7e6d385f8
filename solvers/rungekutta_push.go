package solvers

import "math"

// Push writes the tangent of the step in every lane. For given ẏ₀, ṫ₀ and ḣ,
//
//	Ẏ_i = ẏ₀ + h Σ a_ij k̇_j + ḣ Σ a_ij k_j,   k̇_i = f_y Ẏ_i + f_t (ṫ₀ + c_i ḣ) + f_p ṗ,
//	ẏ₁ = ẏ₀ + h Σ b_i k̇_i + ḣ Σ b_i k_i,      ṫ₁ = ṫ₀ + ḣ,
//
// and the increments of the quadratures are the last line without ẏ₀.
func (r *rungeKutta) Push(f TangentField, s *Step, d *StepTangent) {
	n, w, l := r.n, r.w, r.l
	r.readyPush()
	r.dense.fresh, r.pushedStages = false, false
	if whole, ok := f.(TangentStepper); ok && !moves(d.H) && whole.PushStep(&r.whole, s, d) {
		return
	}
	r.pushStages(f, s, d)
	r.combine(&r.b, d.Y1, d.Y0, s.H, r.kd, w*l)
	r.lengthen(d.Y1, &r.b, d.H, s.K, n)
	if r.q > 0 {
		r.combine(&r.b, d.DQ, r.zero, s.H, r.kd[n*l:], w*l)
		r.lengthen(d.DQ, &r.b, d.H, s.K[n:], r.q)
	}
	for j := range l {
		d.T1[j] = d.T0[j] + d.H[j]
	}
}

// pushStages makes kd the tangents of the stages that the last Push was asked for, unless it has made them.
func (r *rungeKutta) pushStages(f TangentField, s *Step, d *StepTangent) {
	if r.pushedStages {
		return
	}
	r.pushedStages = true
	for i, live := range r.live {
		if live {
			r.tangent(f, s, d, i, r.kd)
		}
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

// tangent writes row i of kd from the rows before it.
func (r *rungeKutta) tangent(f TangentField, s *Step, d *StepTangent, i int, kd []float64) {
	w, l := r.w, r.l
	yd := d.Y0
	if len(r.a[i].c) > 0 {
		r.combine(&r.a[i], r.yd, d.Y0, s.H, kd, w*l)
		r.lengthen(r.yd, &r.a[i], d.H, s.K, r.n)
		yd = r.yd
	}
	for j := range l {
		r.td[j] = math.FMA(r.c[i], d.H[j], d.T0[j])
	}
	f.Push(r.time(s, i), r.value(s, i), r.td, yd, kd[i*w*l:(i+1)*w*l])
}

// PushError implements TangentEstimator. The estimate is linear in the stages, and so is its tangent. The exception
// is the combination of two estimates that Tableau.E3 describes; it is made of the tangents of both.
func (r *rungeKutta) PushError(f TangentField, s *Step, d *StepTangent, e []float64) {
	r.pushStages(f, s, d)
	for i, live := range r.live {
		if !live {
			r.tangent(f, s, d, i, r.kd)
		}
	}
	r.combine(&r.e, e, r.zero, s.H, r.kd, r.w*r.l)
	if len(r.e3.c) == 0 {
		return
	}
	if len(r.pushed) == 0 {
		r.pushed = make([]float64, r.w*r.l)
	}
	r.combine(&r.e3, r.pushed, r.zero, s.H, r.kd, r.w*r.l)
	for i, e5 := range e {
		if e5 != 0 {
			ratio := math.Abs(r.pushed[i]) / math.Abs(e5)
			e[i] = math.Abs(e5) / math.Sqrt(math.FMA(float64(0.01*ratio), ratio, 1))
		}
	}
}
