package rosenbrock

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/stages"
)

// rosenbrockSecond is the work space of PullPush.
type rosenbrockSecond struct {
	kd   []float64     // [1 + stages][w·l] κ̇_i
	from *solvers.Step // that kd is of, nil for none

	yb    solvers.Dual // [(1 + stages)·n] ȳ₁ and the Ȳ_i
	v     solvers.Dual // [(1 + stages)·w] v_i
	kb    solvers.Dual // [w]
	yd    []float64    // [n·l] tangent of a stage value
	t, tb solvers.Dual // [1]
	jb    solvers.Dual // [E]

	stages.Duals
}

func (r *rosenbrock) readySecond() *rosenbrockSecond {
	if r.second != nil {
		return r.second
	}
	n, w, l, rows := r.N, r.W, r.L, 1+r.stages
	d := func(n int) solvers.Dual { return solvers.NewDual(n, l) }
	v := func(n int) []float64 { return make([]float64, n) }
	r.second = &rosenbrockSecond{
		kd: v(rows * w * l), yb: d(rows * n), v: d(rows * w), kb: d(w), yd: v(n * l), t: d(1), tb: d(1),
		Duals: stages.NewDuals(rows, n, l, &r.Dense),
	}
	return r.second
}

// stages fills kd with the tangents of the stages of s. It reports whether it could.
func (g *rosenbrockSecond) stages(r *rosenbrock, f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent) bool {
	if g.from == s {
		return true
	}
	if !r.refactor(f, s) {
		return false
	}
	r.readyPush()
	r.tangents(f, s, d, g.kd)
	g.from = s
	if len(g.jb.X) != r.plan.Entries {
		g.jb = solvers.NewDual(r.plan.Entries, r.L)
	}
	return true
}

// PullPush differentiates Pull. With w_i and v_i as there, and J̇ the tangent of the Jacobian at the start,
//
//	Mᵀ v̇_i/γ - h Jᵀ v̇_i = h ẇ_i + ḣ w_i + Σ_{j>i} c_ji Mᵀ v̇_j + (h J̇ + ḣ J)ᵀ v_i,
//
// Ȳ_i, τ_i and p̄ move as the field's transpose does along (ṫ₀ + α_i ḣ, Ẏ_i, v̇_i, ṗ), the cotangents of
// the entries of the Jacobian by Σ_i (ḣ v_i κ_iᵀ + h v̇_i κ_iᵀ + h v_i κ̇_iᵀ), and h̄ by
//
//	t̄̇₁ + Σ_i (κ̇_i·w_i + κ_i·ẇ_i + α_i τ̇_i + v̇_iᵀ (J κ_i
//	   + γ_i F_t) + v_iᵀ (J̇ κ_i + γ_i Ḟ_t + J κ̇_i)).
func (r *rosenbrock) PullPush(f solvers.SecondField, s *solvers.Step, d *solvers.StepTangent, c *solvers.StepSecond) {
	g := r.readySecond()
	n, q, w, l := r.N, r.Q, r.W, r.L
	seeds := g.Reap()
	if r.rests(f, s) {
		r.ends.PullPushRest(f, s, d, r.ends.PullPushed(f, s, d, nil, c))
		return
	}
	ok := g.stages(r, f, s, d)
	g.from = nil
	if !ok {
		elem.Spoil(c.Y0.X, c.Y0.D, c.T0.X, c.T0.D, c.H.X, c.H.D)
		return
	}
	if r.ends != nil {
		c = r.ends.PullPushed(f, s, d, g.kd, c)
	}
	g.yb.Rows(0, n, l).Copy(c.Y1)
	stages.BeginSecond(c, seeds)
	moved := r.push.jd // h J̇ + ḣ J
	for i := r.stages; i >= 1; i-- {
		v := g.v.Rows(i, w, l)
		x, xd := v.X[:n], v.D[:n*l]
		base := solvers.Dual{X: r.Zero[:n], D: r.Zero[:n*l]}
		if seeds != nil {
			base = seeds.Seed.Rows(i, n, l)
		}
		r.at[i].Combine(x, base.X, 1, g.yb.X, n)
		r.at[i].Combine(xd, base.D, 1, g.yb.D, n*l)
		k, kd := s.K[i*w:(i+1)*w], g.kd[i*w*l:(i+1)*w*l]
		m := r.mi[i]
		for j, u := range c.DQ.X { // w_i of quadratures
			v.X[n+j] = float64(m * u)
		}
		for j, u := range c.DQ.D {
			v.D[n*l+j] = float64(m * u)
		}
		if c.WantH {
			stages.AddRowSecond(c, k, kd, v)
		}
		for j := range n {
			row := xd[j*l : (j+1)*l]
			for a, h := range d.H {
				row[a] = math.FMA(h, x[j], float64(s.H*row[a]))
			}
		}
		stages.Scale(x, s.H)
		r.coupleT(x, &r.ct[i], g.v.X, 1)
		r.coupleT(xd, &r.ct[i], g.v.D, l)
		omega := r.omega[i]
		for j := range q {
			u, ud := c.DQ.X[j], c.DQ.D[j*l:(j+1)*l]
			v.X[n+j] = float64(float64(s.H*omega) * u)
			for a, h := range d.H {
				v.D[(n+j)*l+a] = float64(omega * math.FMA(s.H, ud[a], float64(h*u)))
			}
		}
		for _, e := range r.plan.Outer {
			jv := float64(s.H * r.j[e.E])
			x[e.Col] = math.FMA(jv, v.X[e.Row], x[e.Col])
			to, from := xd[int(e.Col)*l:][:l], v.D[int(e.Row)*l:][:l]
			for a, u := range from {
				to[a] = math.FMA(jv, u, to[a])
			}
		}
		r.lu.SolveT(x, 1)
		for _, e := range r.plan.All {
			if int(e.Col) == n {
				continue
			}
			u := v.X[e.Row]
			to, from := xd[int(e.Col)*l:][:l], moved[int(e.E)*l:][:l]
			for a, jd := range from {
				to[a] = math.FMA(jd, u, to[a])
			}
		}
		r.lu.SolveT(xd, l)
		if r.same[i] < i {
			continue
		}
		kb := v
		for j := i + 1; j <= r.stages; j++ {
			if r.same[j] != i {
				continue
			}
			if &kb.X[0] == &v.X[0] {
				kb = g.kb
				kb.Copy(v)
			}
			kb.Add(g.v.Rows(j, w, l))
		}
		g.t.X[0] = r.time(s, i)
		stages.NodeTangent(d, r.alpha[i], g.t.D)
		y := solvers.Dual{X: r.value(s, i), D: r.StageTangent(s, d, &r.a[i], g.kd, g.yd)}
		f.PullPush(g.t, y, kb, g.yb.Rows(i, n, l), g.tb)
		stages.AddNodeSecond(c, r.alpha[i], g.tb)
	}
	r.total.Combine(c.Y0.X, c.Y1.X, 1, g.yb.X, n)
	r.total.Combine(c.Y0.D, c.Y1.D, 1, g.yb.D, n*l)
	if seeds != nil {
		c.Y0.Add(seeds.Y0)
	}
	r.jacobianCotangents(s, d, c)
	g.t.X[0] = s.T
	copy(g.t.D, d.T0)
	first := g.yb.Rows(0, n, l)
	f.(matrices.SecondJacobianField).PullPushJacobian(g.t, solvers.Dual{X: s.Y0, D: d.Y0}, g.jb, first, g.tb)
	c.Y0.Add(first)
	c.T0.Add(g.tb)
}

// jacobianCotangents writes the cotangents of the entries of the Jacobian to jb, with their tangents, and adds what
// they make of h̄.
func (r *rosenbrock) jacobianCotangents(s *solvers.Step, d *solvers.StepTangent, c *solvers.StepSecond) {
	g := r.second
	n, w, l := r.N, r.W, r.L
	r.outerProduct(s, g.jb.X, g.v.X, 1, 1)
	r.outerProduct(s, g.jb.D, g.v.D, l, 1)
	for _, x := range r.plan.All {
		if int(x.Col) == n {
			continue
		}
		to := g.jb.D[int(x.E)*l:][:l]
		for i := 1; i <= r.stages; i++ {
			u := g.v.X[i*w+int(x.Row)]
			for a, kd := range g.kd[(i*w+int(x.Col))*l:][:l] {
				to[a] = math.FMA(u, kd, to[a])
			}
		}
	}
	for e, j := range r.j {
		x, xd := g.jb.X[e], g.jb.D[e*l:(e+1)*l]
		if c.WantH {
			c.H.X[0] = math.FMA(j, x, c.H.X[0])
		}
		for a, h := range d.H {
			if c.WantH {
				c.H.D[a] = math.FMA(r.push.raw[e*l+a], x, math.FMA(j, xd[a], c.H.D[a]))
			}
			xd[a] = math.FMA(h, x, float64(s.H*xd[a]))
		}
		g.jb.X[e] = float64(s.H * x)
	}
}

// InterpolatePullPush keeps the cotangents of the dense output, and their tangents, for PullPush.
func (r *rosenbrock) InterpolatePullPush(
	f solvers.SecondField, s *solvers.Step, d *solvers.StepTangent, theta float64, td []float64, w, tb solvers.Dual,
) {
	g := r.readySecond()
	if !g.stages(r, f, s, d) {
		elem.Spoil(tb.X, tb.D)
		return
	}
	r.SowDual(&g.Duals, s, d, theta, td, g.kd, w, tb)
}

// SecondSpace returns what the method has for second derivatives, and the number of rows of K.
func (r *rosenbrock) SecondSpace() (of *stages.Space, g *stages.Duals, rows int) {
	return &r.Space, &r.readySecond().Duals, 1 + r.stages
}
