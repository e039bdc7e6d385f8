package implicit

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/stages"
)

// implicitSecond is the work space of PullPush.
type implicitSecond struct {
	kd   []float64     // [rows][w·l] k̇_i
	from *solvers.Step // that kd is of, nil for none

	yb    solvers.Dual // [(1 + rows)·n] ȳ₁ and the Z_i
	x     solvers.Dual // [sizes·n] the μ_i of a block
	u     solvers.Dual // [n]
	kb    solvers.Dual // [w]
	yd    []float64    // [n·l]
	outer solvers.Dual // [n] ∂r/∂yᵀ h b_i q̄ at a stage
	raw   []float64    // [sizes][E·l] J̇_i
	t, tb solvers.Dual // [1]

	stages.Duals
}

func (r *implicitRungeKutta) readySecond() *implicitSecond {
	if r.second == nil {
		n, l := r.N, r.L
		d := func(n int) solvers.Dual { return solvers.NewDual(n, l) }
		r.second = &implicitSecond{
			kd: make([]float64, r.rows*r.W*l), yb: d((1 + r.rows) * n), x: d(r.sizes * n), u: d(n), kb: d(r.W),
			yd: make([]float64, n*l), outer: d(n), t: d(1), tb: d(1),
			Duals: stages.NewDuals(r.rows, n, l, &r.Dense),
		}
	}
	return r.second
}

// stages fills kd with the tangents of the rows of s. It reports whether it could.
func (g *implicitSecond) stages(
	r *implicitRungeKutta, f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent,
) bool {
	if g.from == s {
		return true
	}
	if r.Prepare(f) != nil {
		return false
	}
	readyPush(r)
	if !r.tangents(f, s, d, g.kd, r.seen) {
		return false
	}
	if n := r.sizes * r.plan.Entries * r.L; len(g.raw) != n {
		g.raw = make([]float64, n)
	}
	g.from = s
	return true
}

// PullPush differentiates Pull. With w_i and μ_i as there, and J̇_i the tangent of the Jacobian at stage i,
//
//	Mᵀ μ̇_j - h Σ_block a_ij J_iᵀ μ̇_i = h ẇ_j + ḣ w_j + Σ_block a_ij (h J̇_i + ḣ J_i)ᵀ μ_i
//
// with w_j of rows after the block, and Z_i, τ_i and p̄ move as the field's transpose does along (ṫ₀ + c_i ḣ,
// Ẏ_i, μ̇_i, ṗ), and h̄ by t̄̇₁ + Σ_i (k̇_i·w_i + k_i·ẇ_i + c_i τ̇_i).
func (r *implicitRungeKutta) PullPush(
	f solvers.SecondField, s *solvers.Step, d *solvers.StepTangent, c *solvers.StepSecond,
) {
	g := r.readySecond()
	n, w, l := r.N, r.W, r.L
	seeds, need := g.Reap(), r.live
	if seeds != nil {
		need = r.seen
	}
	if r.rests(f, s) {
		g.from = nil
		r.ends.PullPushRest(f, s, d, r.ends.PullPushed(f, s, d, nil, c))
		return
	}
	ok := g.stages(r, f, s, d)
	g.from = nil
	fail := func() { elem.Spoil(c.Y0.X, c.Y0.D, c.T0.X, c.T0.D, c.H.X, c.H.D) }
	if !ok {
		fail()
		return
	}
	if r.ends != nil {
		c = r.ends.PullPushed(f, s, d, g.kd, c)
	}
	defer r.whole(f)
	g.yb.Clear()
	g.yb.Rows(0, n, l).Copy(c.Y1)
	stages.BeginSecond(c, seeds)
	for i := len(r.blocks) - 1; i >= -1; i-- {
		b := &implicitBlock{to: 1, explicit: true} // row 0
		if i >= 0 {
			b = &r.blocks[i]
		}
		if !need[b.from] {
			continue
		}
		if !b.explicit && !r.multiplierTangents(f, s, d, c, b, seeds) {
			fail()
			return
		}
		for j := b.from; j < b.to; j++ {
			states := solvers.Dual{X: g.kb.X[:n], D: g.kb.D[:n*l]}
			if b.explicit {
				gather(r, &r.at[j], j, seeds)
				timesForm(r, states, g.u, s.H, d.H)
				still(r, states.X, 1)
				still(r, states.D, l)
			} else {
				states.Copy(g.x.Rows(j-b.from, n, l))
			}
			for e, q := range c.DQ.X {
				g.kb.X[n+e] = float64(float64(s.H*r.bi[j]) * q)
				for m, h := range d.H {
					g.kb.D[(n+e)*l+m] = float64(r.bi[j] * math.FMA(s.H, c.DQ.D[e*l+m], float64(h*q)))
				}
			}
			y := solvers.Dual{X: r.moveStage(f, s, d, j), D: g.yd}
			yb := g.yb.Rows(1+j, n, l)
			r.take(f, j)
			f.PullPush(g.t, y, g.kb, yb, g.tb)
			if settled(r, j) {
				r.ends.PullPush(f.(matrices.SecondJacobianField), g.t, y, yb, g.tb)
			}
			stages.AddNodeSecond(c, r.c[j], g.tb)
		}
		if !c.WantH {
			continue
		}
		for j := b.from; j < b.to; j++ {
			gather(r, &r.at[j], j, seeds)
			k, kd := s.K[j*w:(j+1)*w], g.kd[j*w*l:(j+1)*w*l]
			stages.AddRowSecond(c, k[:n], kd[:n*l], g.u)
			for e, q := range c.DQ.X {
				weight := float64(r.bi[j] * q)
				c.H.X[0] = math.FMA(weight, k[n+e], c.H.X[0])
				for m := range l {
					moved := math.FMA(weight, kd[(n+e)*l+m], float64(float64(r.bi[j]*k[n+e])*c.DQ.D[e*l+m]))
					c.H.D[m] += moved
				}
			}
		}
	}
	r.sum.Combine(c.Y0.X, c.Y1.X, 1, g.yb.X, n)
	r.sum.Combine(c.Y0.D, c.Y1.D, 1, g.yb.D, n*l)
	if seeds != nil {
		c.Y0.Add(seeds.Y0)
	}
}

// gather writes u = Σ at_i (ȳ₁, Z_i), with the seed of row j if there are seeds.
func gather(r *implicitRungeKutta, at *stages.Form, j int, seeds *stages.Duals) {
	g := r.second
	n, l := r.N, r.L
	base := solvers.Dual{X: r.Zero[:n], D: r.Zero[:n*l]}
	if seeds != nil {
		base = seeds.Seed.Rows(j, n, l)
	}
	at.Combine(g.u.X, base.X, 1, g.yb.X, n)
	at.Combine(g.u.D, base.D, 1, g.yb.D, n*l)
}

// timesForm writes h u.
func timesForm(r *implicitRungeKutta, to, u solvers.Dual, h float64, hd []float64) {
	for e, v := range u.X {
		to.X[e] = float64(h * v)
		for m, dot := range hd {
			at := e*r.L + m
			to.D[at] = math.FMA(dot, v, float64(h*u.D[at]))
		}
	}
}

// moveStage makes t the time of row j and yd the tangent of its stage value, which it returns.
func (r *implicitRungeKutta) moveStage(
	f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent, j int,
) []float64 {
	g := r.second
	g.t.X[0] = nodeTime(r, s, j)
	stages.NodeTangent(d, r.c[j], g.t.D)
	r.rowTangent(s, d, j, &r.a[j], g.kd, g.yd)
	y := r.value(f, s, j)
	if settled(r, j) {
		r.ends.Push(f.(matrices.TangentJacobianField), g.t.X[0], y, g.t.D, g.yd)
	}
	return y
}

// multiplierTangents makes x the μ_i of a block and their tangents. It reports whether it could.
func (r *implicitRungeKutta) multiplierTangents(
	f solvers.SecondField, s *solvers.Step, d *solvers.StepTangent, c *solvers.StepSecond, b *implicitBlock,
	seeds *stages.Duals,
) bool {
	g := r.second
	n, l, size, entries := r.N, r.L, b.to-b.from, r.plan.Entries
	if !r.relinearise(f, s, b) {
		return false
	}
	lu, x := r.solver[size].lu, g.x.Rows(0, size*n, l)
	for j := b.from; j < b.to; j++ {
		gather(r, &r.after[j], j, seeds)
		timesForm(r, x.Rows(j-b.from, n, l), g.u, s.H, d.H)
		y := r.moveStage(f, s, d, j)
		raw := g.raw[(j-b.from)*entries*l:][:entries*l]
		f.(matrices.SecondJacobianField).PushJacobian(g.t.X[0], y, g.t.D, g.yd, raw)
	}
	// spread adds h Σ a_ij v of row i of the block to x_j.
	spread := func(i int, v solvers.Dual) {
		for j := range size {
			to, a := x.Rows(j, n, l), b.a[i*size+j]
			for e, u := range v.X {
				to.X[e] = math.FMA(float64(s.H*a), u, to.X[e])
				for m, h := range d.H {
					at := e*l + m
					to.D[at] = math.FMA(a, math.FMA(s.H, v.D[at], float64(h*u)), to.D[at])
				}
			}
		}
	}
	if r.Q > 0 {
		for i := range size {
			js, raw, bi := r.js[i*entries:], g.raw[i*entries*l:], r.bi[b.from+i]
			g.outer.Clear()
			for _, at := range r.plan.Outer {
				e, q := int(at.Row)-n, js[at.E]
				qb := c.DQ.X[e]
				g.outer.X[at.Col] = math.FMA(float64(float64(s.H*bi)*q), qb, g.outer.X[at.Col])
				for m, h := range d.H {
					moved := math.FMA(q, c.DQ.D[e*l+m], float64(raw[int(at.E)*l+m]*qb))
					moved = math.FMA(s.H, moved, float64(float64(h*q)*qb))
					to := &g.outer.D[int(at.Col)*l+m]
					*to = math.FMA(bi, moved, *to)
				}
			}
			spread(i, g.outer)
		}
	}
	lu.SolveT(x.X, 1)
	for i := range size {
		js, raw, mu := r.js[i*entries:], g.raw[i*entries*l:], x.X[i*n:(i+1)*n]
		g.outer.Clear()
		moved := g.outer.D
		for _, e := range r.plan.States {
			at := &r.plan.All[e.E]
			u := mu[at.Row]
			for m, h := range d.H {
				to := &moved[int(at.Col)*l+m]
				*to = math.FMA(math.FMA(s.H, raw[int(e.E)*l+m], float64(h*js[e.E])), u, *to)
			}
		}
		for j := range size {
			to, a := x.D[j*n*l:(j+1)*n*l], b.a[i*size+j]
			for at, v := range moved {
				to[at] = math.FMA(a, v, to[at])
			}
		}
	}
	lu.SolveT(x.D, l)
	return true
}

// InterpolatePullPush keeps the cotangents of the dense output, and their tangents, for PullPush.
func (r *implicitRungeKutta) InterpolatePullPush(
	f solvers.SecondField, s *solvers.Step, d *solvers.StepTangent, theta float64, td []float64, w, tb solvers.Dual,
) {
	g := r.readySecond()
	if !g.stages(r, f, s, d) {
		elem.Spoil(tb.X, tb.D)
		return
	}
	if r.ends != nil {
		y := solvers.Dual{X: r.denseStates(f, s, d, theta, g.kd, td, g.yd), D: g.yd}
		g.u.Copy(w)
		w = g.u
		r.ends.PullPush(f.(matrices.SecondJacobianField), solvers.Dual{X: []float64{s.Node(theta)}, D: td}, y, w, tb)
	}
	r.SowDual(&g.Duals, s, d, theta, td, g.kd, w, tb)
}

// SecondSpace returns what the method has for second derivatives, and the number of rows of K.
func (r *implicitRungeKutta) SecondSpace() (of *stages.Space, g *stages.Duals, rows int) {
	return &r.Space, &r.readySecond().Duals, r.rows
}
