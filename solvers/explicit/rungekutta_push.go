package explicit

import (
	"math"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/stages"
)

// Push writes the tangent of the step in every lane. For given ẏ₀, ṫ₀ and ḣ,
//
//	Ẏ_i = ẏ₀ + h Σ a_ij k̇_j + ḣ Σ a_ij k_j,   k̇_i = f_y Ẏ_i + f_t (ṫ₀ + c_i ḣ) + f_p ṗ,
//	ẏ₁ = ẏ₀ + h Σ b_i k̇_i + ḣ Σ b_i k_i,      ṫ₁ = ṫ₀ + ḣ,
//
// and the increments of the quadratures are the last line without ẏ₀.
func (r *rungeKutta) Push(f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent) {
	r.readyPush()
	r.dense.fresh, r.pushedStages = false, false
	if whole, ok := f.(solvers.TangentStepper); ok && !stages.Moves(d.H) && whole.PushStep(&r.whole, s, d) {
		return
	}
	r.pushStages(f, s, d)
	r.EndTangent(s, d, &r.b, r.kd)
}

// pushStages makes kd the tangents of the stages that the last Push was asked for, unless it has made them.
func (r *rungeKutta) pushStages(f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent) {
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

// tangent writes row i of kd from the rows before it.
func (r *rungeKutta) tangent(f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent, i int, kd []float64) {
	width := r.W * r.L
	yd := r.StageTangent(s, d, &r.a[i], kd, r.yd)
	stages.NodeTangent(d, r.c[i], r.td)
	f.Push(r.time(s, i), r.value(s, i), r.td, yd, kd[i*width:(i+1)*width])
}

// PushError implements TangentEstimator. The estimate is linear in the stages, and so is its tangent. The exception
// is the combination of two estimates that Tableau.E3 describes; it is made of the tangents of both.
func (r *rungeKutta) PushError(f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent, e []float64) {
	r.pushStages(f, s, d)
	for i, live := range r.live {
		if !live {
			r.tangent(f, s, d, i, r.kd)
		}
	}
	r.Combine(&r.e, e, r.Zero, s.H, r.kd, r.W*r.L)
	if len(r.e3.C) == 0 {
		return
	}
	if len(r.pushed) == 0 {
		r.pushed = make([]float64, r.W*r.L)
	}
	r.Combine(&r.e3, r.pushed, r.Zero, s.H, r.kd, r.W*r.L)
	for i, e5 := range e {
		if e5 != 0 {
			ratio := math.Abs(r.pushed[i]) / math.Abs(e5)
			e[i] = math.Abs(e5) / math.Sqrt(math.FMA(float64(0.01*ratio), ratio, 1))
		}
	}
}
