package implicit

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/stages"
)

// implicitPush is the work space of tangents.
type implicitPush struct {
	kd    []float64 // [rows][w·l] k̇_i
	yd    []float64 // [n·l]
	td    []float64 // [l]
	raw   []float64 // [E·l] J̇, of PushError
	ready bool
}

func readyPush(r *implicitRungeKutta) {
	g := &r.push
	if g.ready {
		return
	}
	v := func(n int) []float64 { return make([]float64, n*r.L) }
	*g = implicitPush{kd: v(r.rows * r.W), yd: v(r.N), td: v(1), ready: true}
}

// Push writes the tangent of the step in every lane. With J_i the Jacobian at stage i, and the tangents of f along
// (ṫ₀ + c_i ḣ, Ẏ_i, ṗ), those of a block solve
//
//	k̇_i - h J_i Σ_block a_ij k̇_j = ḟ_i with Ẏ_i = ẏ₀ + h Σ_before a_ij k̇_j + ḣ Σ a_ij k_j,
//	ẏ₁ = ẏ₀ + h Σ b_i k̇_i + ḣ Σ b_i k_i,   ṫ₁ = ṫ₀ + ḣ.
func (r *implicitRungeKutta) Push(f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent) {
	if r.Prepare(f) != nil {
		elem.Spoil(d.Y1, d.DQ, d.T1)
		return
	}
	if r.rests(f, s) {
		r.ends.PushRest(f, s, d)
		return
	}
	readyPush(r)
	if !r.tangents(f, s, d, r.push.kd, r.seen) {
		elem.Spoil(d.Y1, d.DQ, d.T1)
		return
	}
	r.EndTangent(s, d, &r.b, r.push.kd)
	if r.ends != nil {
		r.ends.Push(f.(matrices.TangentJacobianField), s.T1, s.Y1, d.T1, d.Y1)
	}
}

// tangents writes the k̇_i of the rows that are wanted. It reports whether it could.
func (r *implicitRungeKutta) tangents(
	f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent, kd []float64, want []bool,
) bool {
	defer r.whole(f)
	if want[0] {
		f.Push(s.T, s.Y0, d.T0, d.Y0, kd[:r.W*r.L])
		still(r, kd, r.L)
	}
	for i := range r.blocks {
		b := &r.blocks[i]
		switch {
		case !want[b.from]:
		case b.explicit:
			r.tangent(f, s, d, b.from, &r.a[b.from], kd)
		case !r.blockTangent(f, s, d, b, kd):
			return false
		}
	}
	return true
}

// tangent writes row i of kd where the tangent of the stage has the terms a.
func (r *implicitRungeKutta) tangent(
	f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent, i int, a *stages.Form, kd []float64,
) {
	w, l := r.W, r.L
	g := &r.push
	r.rowTangent(s, d, i, a, kd, g.yd)
	stages.NodeTangent(d, r.c[i], g.td)
	t, y, row := nodeTime(r, s, i), r.value(f, s, i), kd[i*w*l:(i+1)*w*l]
	if settled(r, i) {
		r.ends.Push(f.(matrices.TangentJacobianField), t, y, g.td, g.yd)
	}
	r.take(f, i)
	f.Push(t, y, g.td, g.yd, row)
	if r.plain[i] {
		still(r, row, l)
	}
}

// rowTangent writes yd[n·l] = ẏ₀ + h Σ a_j k̇_j + ḣ Σ a_ij k_j for row i, where a may leave out some of its terms.
func (r *implicitRungeKutta) rowTangent(
	s *solvers.Step, d *solvers.StepTangent, i int, a *stages.Form, kd, yd []float64,
) {
	a.Combine(yd, d.Y0, s.H, kd, r.W*r.L)
	r.Lengthen(yd, &r.a[i], d.H, s.K, r.N)
}

// blockTangent writes the rows of kd of a block. It reports whether it could.
func (r *implicitRungeKutta) blockTangent(
	f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent, b *implicitBlock, kd []float64,
) bool {
	n, w, l := r.N, r.W, r.L
	if !r.relinearise(f, s, b) {
		return false
	}
	lin := r.solver[b.to-b.from]
	for i := b.from; i < b.to; i++ {
		r.tangent(f, s, d, i, &r.before[i], kd)
		copy(lin.x[(i-b.from)*n*l:], kd[i*w*l:i*w*l+n*l])
	}
	lin.lu.Solve(lin.x[:(b.to-b.from)*n*l], l)
	r.work.Solves++
	for i := b.from; i < b.to; i++ {
		copy(kd[i*w*l:i*w*l+n*l], lin.x[(i-b.from)*n*l:])
	}
	if r.Q == 0 {
		return true
	}
	for i := b.from; i < b.to; i++ {
		r.within[i].Combine(r.push.yd, r.Zero, s.H, kd, w*l)
		row, js := kd[i*w*l:(i+1)*w*l], r.js[(i-b.from)*r.plan.Entries:]
		for _, x := range r.plan.Outer {
			v := js[x.E]
			to, from := row[int(x.Row)*l:][:l], r.push.yd[int(x.Col)*l:][:l]
			for m, y := range from {
				to[m] = math.FMA(v, y, to[m])
			}
		}
	}
	return true
}

// PushError implements TangentEstimator. A filter solves (M - h φ J) ė = M ė' + h φ J̇ e, with e' before it and e
// after it.
func (r *implicitRungeKutta) PushError(f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent, e []float64) {
	n, w, l := r.N, r.W, r.L
	g := &r.push
	all := r.dead
	for i := range all {
		all[i] = !r.seen[i]
	}
	if !r.tangents(f, s, d, g.kd, all) || !r.differentiate(f, s, false) || !estimate(r, s, r.e0) {
		elem.Spoil(e)
		return
	}
	r.e.Combine(e, r.Zero, s.H, g.kd, w*l)
	if r.phi == nil {
		return
	}
	if len(g.raw) == 0 {
		g.raw = make([]float64, r.plan.Entries*l)
	}
	f.(matrices.TangentJacobianField).PushJacobian(s.T, s.Y0, d.T0, d.Y0, g.raw)
	phi := float64(s.H * r.phi[0])
	for i := range r.passes {
		weighError(r, e, l)
		for _, x := range r.plan.States {
			at := &r.plan.All[x.E]
			v := float64(phi * r.filtered[i*n+int(at.Col)])
			to, from := e[int(at.Row)*l:][:l], g.raw[int(x.E)*l:][:l]
			for m, jd := range from {
				to[m] = math.FMA(v, jd, to[m])
			}
		}
		r.solver[1].lu.Solve(e[:n*l], l)
	}
}

// InterpolatePush writes the tangent of the dense output.
func (r *implicitRungeKutta) InterpolatePush(
	f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent, theta float64, td, yd []float64,
) {
	r.denseStates(f, s, d, theta, r.push.kd, td, yd)
}

// denseStates writes the tangent yd[n·l] of the dense output, for the tangents kd of the rows of K. It returns the
// output, where that is made consistent.
func (r *implicitRungeKutta) denseStates(
	f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent, theta float64, kd, td, yd []float64,
) []float64 {
	if r.ends != nil {
		r.Interpolate(f, s, theta, r.Y)
	}
	r.RecallPush(s, d, theta, kd, td, yd)
	if r.ends == nil {
		return nil
	}
	r.ends.Push(f.(matrices.TangentJacobianField), s.Node(theta), r.Y, td, yd)
	return r.Y
}

// Remembers implements Remembering.
func (r *implicitRungeKutta) Remembers() bool {
	return r.tab.parts == nil && slices.Max(r.c) <= 1 && 2*r.info.DenseOrder >= r.info.Order
}

// StageTangents implements Remembering.
func (r *implicitRungeKutta) StageTangents(solvers.TangentField, *solvers.Step, *solvers.StepTangent) []float64 {
	return r.push.kd
}

// DenseSeeds implements Remembering.
func (r *implicitRungeKutta) DenseSeeds() *solvers.Seeds { return &r.pull.seeds }
