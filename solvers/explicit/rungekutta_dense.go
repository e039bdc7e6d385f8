package explicit

import (
	"math"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/stages"
)

// dense is the work space of the tangent and transpose of the interpolant. It is allocated at their first use, since
// most runs observe at ends of steps.
type dense struct {
	kd    []float64 // [dense stages][w·l]
	fresh bool      // kd is that of the last Push

	yb    []float64 // [1 + stages + dense stages][n·l]
	seeds solvers.Seeds
}

// InterpolatePush writes the tangent of the dense output.
func (r *rungeKutta) InterpolatePush(
	f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent, theta float64, td, yd []float64,
) {
	r.readyKept(f, s, d)
	r.RecallPush(s, d, theta, r.dense.kd, td, yd)
}

// readyKept makes dense.kd the tangents of all rows of K of the last Push.
func (r *rungeKutta) readyKept(f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent) {
	w, l := r.W, r.L
	g := &r.dense
	r.extend(f, s)
	stages, total := r.info.Stages, len(r.a)
	if !g.fresh {
		g.fresh = true
		if len(g.kd) == 0 {
			g.kd = make([]float64, total*w*l)
		}
		r.pushStages(f, s, d)
		copy(g.kd, r.kd)
		for i := range total {
			if i >= stages || !r.live[i] {
				r.tangent(f, s, d, i, g.kd)
			}
		}
	}
}

// InterpolatePull keeps the cotangents of the dense output for Pull.
func (r *rungeKutta) InterpolatePull(f solvers.CotangentField, s *solvers.Step, theta float64, w, tb []float64) {
	g := &r.dense
	r.extend(f, s)
	r.Sow(&g.seeds, len(r.a), s, theta, w, tb)
}

// pullSeeded is Pull with the cotangents of the dense output: k̄_i has the further term h Σ β_i(θ) w, and the stages
// of the dense output come first.
func (r *rungeKutta) pullSeeded(f solvers.CotangentField, s *solvers.Step, c *solvers.StepCotangent) {
	n, w, l := r.N, r.W, r.L
	g := &r.dense
	g.seeds.Sown = false
	if whole, ok := f.(solvers.SeededStepPuller); ok && !c.WantH && whole.PullSeededStep(&r.whole, s, c, &g.seeds) {
		return
	}
	r.Unfold(&g.seeds)
	if g.yb == nil {
		g.yb = make([]float64, (1+len(r.a))*n*l)
	}
	copy(g.yb[:n*l], c.Y1)
	stages.Begin(c, &g.seeds)
	r.chooseRows(c)
	for i := len(r.a) - 1; i >= 0; i-- {
		at := &r.seededAt[i]
		at.Combine(r.kb[:n*l], g.seeds.K[i*n*l:(i+1)*n*l], 1, g.yb, n*l)
		r.quadratures(at, 1, c.DQ)
		if c.WantH {
			r.addStage(c.H, s.K[i*w:(i+1)*w])
		}
		r.lengthenStage(s.H)
		f.Pull(r.time(s, i), r.value(s, i), r.kb, g.yb[(1+i)*n*l:(2+i)*n*l], r.tb)
		for j, tau := range r.tb {
			c.T0[j] += tau
			if c.WantH {
				c.H[j] = math.FMA(r.c[i], tau, c.H[j])
			}
		}
	}
	r.seededSum.Combine(c.Y0, c.Y1, 1, g.yb, n*l)
	for i, v := range g.seeds.Y0 {
		c.Y0[i] += v
	}
}

// InterpolateSlope writes the dense output y[N] at T + theta·H, with the bits of Interpolate, and its derivative by
// time, yd[N] = Σ β'_i(θ) k_i. At the ends this is the slope of this step, which may differ from that of its
// neighbour.
func (r *rungeKutta) InterpolateSlope(f solvers.Field, s *solvers.Step, theta float64, y, yd []float64) {
	r.extend(f, s)
	r.Weigh(theta)
	if theta == 0 || theta == 1 {
		r.Interpolate(f, s, theta, y)
	} else {
		r.Theta.Combine(y, s.Y0, s.H, s.K, r.W)
	}
	r.Drift.Combine(yd, r.Zero, 1, s.K, r.W)
}

// Remembers implements Remembering.
func (r *rungeKutta) Remembers() bool { return r.info.DenseOrder >= r.info.Order-1 }

// StageTangents implements Remembering.
func (r *rungeKutta) StageTangents(f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent) []float64 {
	r.readyKept(f, s, d)
	return r.dense.kd
}

// DenseSeeds implements Remembering.
func (r *rungeKutta) DenseSeeds() *solvers.Seeds { return &r.dense.seeds }
