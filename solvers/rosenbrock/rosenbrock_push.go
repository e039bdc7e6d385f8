package rosenbrock

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/stages"
)

// rosenbrockPush is the work space of tangents.
type rosenbrockPush struct {
	raw   []float64 // [E·l] J̇, the tangents of the entries
	jd    []float64 // [E·l] h J̇ + ḣ J
	kd    []float64 // [1 + stages][w·l] κ̇_i
	kept  []float64 // [w·l]
	yd    []float64 // [n·l]
	td    []float64 // [l]
	ready bool
}

func (r *rosenbrock) readyPush() {
	g := &r.push
	if g.ready {
		return
	}
	v := func(n int) []float64 { return make([]float64, n*r.L) }
	*g = rosenbrockPush{
		raw: v(r.plan.Entries), jd: v(r.plan.Entries), kd: v((1 + r.stages) * r.W), kept: v(r.W), yd: v(r.N), td: v(1),
		ready: true,
	}
}

// Push writes the tangent of the step in every lane. With J̇ the tangent of the Jacobian at the start,
//
//	M κ̇_i/γ - h J κ̇_i = Ḟ_i + Σ c_ij M κ̇_j + (h J̇ + ḣ J) κ_i + γ_i (h Ḟ_t + ḣ F_t),
//	Ẏ_i = ẏ₀ + h Σ a_ij κ̇_j + ḣ Σ a_ij κ_j,
//	ẏ₁ = ẏ₀ + h Σ m_i κ̇_i + ḣ Σ m_i κ_i,   ṫ₁ = ṫ₀ + ḣ.
func (r *rosenbrock) Push(f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent) {
	if r.rests(f, s) {
		r.ends.PushRest(f, s, d)
		return
	}
	if !r.refactor(f, s) {
		elem.Spoil(d.Y1, d.DQ, d.T1)
		return
	}
	r.readyPush()
	r.tangents(f, s, d, r.push.kd)
	r.EndTangent(s, d, &r.m, r.push.kd)
	if r.ends != nil {
		r.ends.Push(f.(matrices.TangentJacobianField), s.T1, s.Y1, d.T1, d.Y1)
	}
}

// tangents writes all κ̇_i. G must be factored. It leaves J̇ in push.raw and h J̇ + ḣ J in push.jd.
func (r *rosenbrock) tangents(f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent, kd []float64) {
	n, w, l := r.N, r.W, r.L
	g := &r.push
	f.(matrices.TangentJacobianField).PushJacobian(s.T, s.Y0, d.T0, d.Y0, g.raw)
	for e, v := range r.j {
		from, to := g.raw[e*l:(e+1)*l], g.jd[e*l:(e+1)*l]
		for a, h := range d.H {
			to[a] = float64(s.H * from[a])
			if h != 0 {
				to[a] = math.FMA(h, v, to[a])
			}
		}
	}
	for i := 1; i <= r.stages; i++ {
		row := kd[i*w*l : (i+1)*w*l]
		if r.same[i] < i && r.same[i] > 1 {
			copy(row, g.kept)
		} else {
			yd := r.StageTangent(s, d, &r.a[i], kd, g.yd)
			stages.NodeTangent(d, r.alpha[i], g.td)
			f.Push(r.time(s, i), r.value(s, i), g.td, yd, row)
			if r.keep[i] {
				copy(g.kept, row)
			}
		}
		r.couple(row, &r.c[i], kd, l)
		k := s.K[i*w : i*w+n]
		for _, x := range r.plan.All {
			v := r.gammas[i]
			if int(x.Col) < n {
				v = k[x.Col]
			}
			if l == 1 {
				row[x.Row] = math.FMA(g.jd[x.E], v, row[x.Row])
				continue
			}
			to, from := row[int(x.Row)*l:][:l], g.jd[int(x.E)*l:][:l]
			for a, jd := range from {
				to[a] = math.FMA(jd, v, to[a])
			}
		}
		r.lu.Solve(row[:n*l], l)
		r.outer(row, s.H)
	}
}

// outer completes the rows of quadratures of κ̇_i: γ (… + h ∂r/∂y κ̇_i).
func (r *rosenbrock) outer(row []float64, h float64) {
	if r.Q == 0 {
		return
	}
	l := r.L
	for _, x := range r.plan.Outer {
		v := float64(h * r.j[x.E])
		to, from := row[int(x.Row)*l:][:l], row[int(x.Col)*l:][:l]
		for a, k := range from {
			to[a] = math.FMA(v, k, to[a])
		}
	}
	stages.Scale(row[r.N*l:], r.gamma)
}

// PushError implements TangentEstimator.
func (r *rosenbrock) PushError(_ solvers.TangentField, s *solvers.Step, _ *solvers.StepTangent, e []float64) {
	r.e.Combine(e, r.Zero, s.H, r.push.kd, r.W*r.L)
}

// InterpolatePush writes the tangent of the dense output.
func (r *rosenbrock) InterpolatePush(
	_ solvers.TangentField, s *solvers.Step, d *solvers.StepTangent, theta float64, td, yd []float64,
) {
	r.RecallPush(s, d, theta, r.push.kd, td, yd)
}

// Remembers implements Remembering.
func (r *rosenbrock) Remembers() bool { return r.info.DenseOrder >= r.info.Order-1 }

// StageTangents implements Remembering.
func (r *rosenbrock) StageTangents(solvers.TangentField, *solvers.Step, *solvers.StepTangent) []float64 {
	return r.push.kd
}

// DenseSeeds implements Remembering.
func (r *rosenbrock) DenseSeeds() *solvers.Seeds { return &r.pull.seeds }
