package explicit

import (
	"math"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/stages"
)

// secondWork is the work space of PullPush.
type secondWork struct {
	kd    []float64     // [all stages][w·l] tangents of the stages
	from  *solvers.Step // that kd is of, nil for none
	dense bool          // rows of further stages are filled, too

	yb, ybd []float64    // [1 + all stages][n], [n·l]: ȳ₁ and the Ȳ_i
	u, k    solvers.Dual // [w] k̄/h and k̄
	yd      []float64    // [n·l] tangent of a stage value
	t, tb   solvers.Dual // [1]

	stages.Duals
}

func (r *rungeKutta) readySecond() *secondWork {
	if r.secondOrder != nil {
		return r.secondOrder
	}
	r.readyPush()
	n, w, l, total := r.N, r.W, r.L, len(r.a)
	v := func(n int) []float64 { return make([]float64, n) }
	r.secondOrder = &secondWork{
		kd: v(total * w * l), yb: v((1 + total) * n), ybd: v((1 + total) * n * l),
		u: solvers.NewDual(w, l), k: solvers.NewDual(w, l), yd: v(n * l), t: solvers.NewDual(1, l),
		tb:    solvers.NewDual(1, l),
		Duals: stages.NewDuals(total, n, l, &r.Dense),
	}
	return r.secondOrder
}

// stages fills kd with the tangents of the stages of s and, if dense, of the stages of its dense output.
func (g *secondWork) stages(
	r *rungeKutta, f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent, dense bool,
) {
	if g.from != s {
		g.from, g.dense = s, false
		for i, live := range r.live {
			if live {
				r.tangent(f, s, d, i, g.kd)
			}
		}
	}
	if dense && !g.dense {
		g.dense = true
		for i := range r.a {
			if i >= r.info.Stages || !r.live[i] {
				r.tangent(f, s, d, i, g.kd)
			}
		}
	}
}

// PullPush differentiates Pull. With u_i = b_i ȳ₁ + Σ_{j>i} a_ji Ȳ_j, so that k̄_i = h u_i,
//
//	k̄̇_i = h u̇_i + ḣ u_i,   u̇_i = b_i ȳ̇₁ + Σ_{j>i} a_ji Ȳ̇_j,
//	(Ȳ̇_i, τ̇_i, p̄̇) += the tangent of the field's transpose along (ṫ₀ + c_i ḣ, Ẏ_i, k̄̇_i, ṗ),
//	h̄̇ = t̄̇₁ + Σ_i (k̇_i·u_i + k_i·u̇_i + c_i τ̇_i),
//
// and everything linear is the same for the tangents as for the cotangents. Only a step whose end was chosen has an
// ḣ.
func (r *rungeKutta) PullPush(f solvers.SecondField, s *solvers.Step, d *solvers.StepTangent, c *solvers.StepSecond) {
	g := r.readySecond()
	n, w, l := r.N, r.W, r.L
	at, sum, seeds, moves := r.at, &r.sum, g.Reap(), stages.Moves(d.H)
	if seeds != nil {
		at, sum = r.seededAt, &r.seededSum
	} else if whole, ok := f.(solvers.SecondStepPuller); ok && !c.WantH && !moves && whole.PullPushStep(&r.whole, s, d,
		c) {
		g.from = nil
		c.H.Copy(c.T1)
		return
	}
	g.stages(r, f, s, d, seeds != nil)
	g.from = nil
	copy(g.yb[:n], c.Y1.X)
	copy(g.ybd[:n*l], c.Y1.D)
	stages.BeginSecond(c, seeds)
	for i := len(at) - 1; i >= 0; i-- {
		if seeds == nil && !r.live[i] {
			continue
		}
		base := solvers.Dual{X: r.Zero[:n], D: r.Zero[:n*l]}
		if seeds != nil {
			base = seeds.Seed.Rows(i, n, l)
		}
		at[i].Combine(g.u.X[:n], base.X, 1, g.yb, n)
		at[i].Combine(g.u.D[:n*l], base.D, 1, g.ybd, n*l)
		b := 0.0
		if t := &at[i]; len(t.Row) > 0 && t.Row[0] == 0 {
			b = t.C[0]
		}
		for j, v := range c.DQ.X {
			g.u.X[n+j] = float64(b * v)
		}
		for j, v := range c.DQ.D {
			g.u.D[n*l+j] = float64(b * v)
		}
		k, kd := s.K[i*w:(i+1)*w], g.kd[i*w*l:(i+1)*w*l]
		if c.WantH {
			stages.AddRowSecond(c, k, kd, g.u)
		}
		for j, v := range g.u.X {
			g.k.X[j] = float64(s.H * v)
		}
		for j, v := range g.u.D {
			g.k.D[j] = float64(s.H * v)
		}
		if moves {
			for j, v := range g.u.X {
				row := g.k.D[j*l : (j+1)*l]
				for m, h := range d.H {
					row[m] = math.FMA(h, v, row[m])
				}
			}
		}
		g.t.X[0] = r.time(s, i)
		stages.NodeTangent(d, r.c[i], g.t.D)
		y := solvers.Dual{X: r.value(s, i), D: r.StageTangent(s, d, &r.a[i], g.kd, g.yd)}
		f.PullPush(
			g.t, y, g.k,
			solvers.Dual{X: g.yb[(1+i)*n : (2+i)*n], D: g.ybd[(1+i)*n*l : (2+i)*n*l]}, g.tb,
		)
		stages.AddNodeSecond(c, r.c[i], g.tb)
	}
	sum.Combine(c.Y0.X, c.Y1.X, 1, g.yb, n)
	sum.Combine(c.Y0.D, c.Y1.D, 1, g.ybd, n*l)
	if seeds != nil {
		c.Y0.Add(seeds.Y0)
	}
}

// InterpolatePullPush keeps the cotangents of the dense output, and their tangents, for PullPush.
func (r *rungeKutta) InterpolatePullPush(
	f solvers.SecondField, s *solvers.Step, d *solvers.StepTangent, theta float64, td []float64, w, tb solvers.Dual,
) {
	g := r.readySecond()
	r.extend(f, s)
	g.stages(r, f, s, d, true)
	r.SowDual(&g.Duals, s, d, theta, td, g.kd, w, tb)
}

// SecondSpace returns what the method has for second derivatives, and the number of rows of K.
func (r *rungeKutta) SecondSpace() (of *stages.Space, g *stages.Duals, rows int) {
	return &r.Space, &r.readySecond().Duals, len(r.a)
}
