package solvers

import "math"

// secondWork is the work space of PullPush.
type secondWork struct {
	kd    []float64 // [all stages][w·l] tangents of the stages
	from  *Step     // that kd is of, nil for none
	dense bool      // rows of further stages are filled, too

	yb, ybd []float64 // [1 + all stages][n], [n·l]: ȳ₁ and the Ȳ_i
	u, k    Dual      // [w] k̄/h and k̄
	yd      []float64 // [n·l] tangent of a stage value
	t, tb   Dual      // [1]

	denseDuals
}

func (r *rungeKutta) readySecond() *secondWork {
	if r.secondOrder != nil {
		return r.secondOrder
	}
	r.readyPush()
	n, w, l, total := r.n, r.w, r.l, len(r.a)
	v := func(n int) []float64 { return make([]float64, n) }
	r.secondOrder = &secondWork{
		kd: v(total * w * l), yb: v((1 + total) * n), ybd: v((1 + total) * n * l),
		u: NewDual(w, l), k: NewDual(w, l), yd: v(n * l), t: NewDual(1, l), tb: NewDual(1, l),
		denseDuals: newDenseDuals(total, n, l, &r.interpolant),
	}
	return r.secondOrder
}

// stages fills kd with the tangents of the stages of s and, if dense, of the stages of its dense output.
func (g *secondWork) stages(r *rungeKutta, f TangentField, s *Step, d *StepTangent, dense bool) {
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
func (r *rungeKutta) PullPush(f SecondField, s *Step, d *StepTangent, c *StepSecond) {
	g := r.readySecond()
	n, w, l := r.n, r.w, r.l
	at, sum, seeds, moves := r.at, &r.sum, g.reap(), moves(d.H)
	if seeds != nil {
		at, sum = r.seededAt, &r.seededSum
	} else if whole, ok := f.(SecondStepPuller); ok && !c.WantH && !moves && whole.PullPushStep(&r.whole, s, d, c) {
		g.from = nil
		c.H.Copy(c.T1)
		return
	}
	g.stages(r, f, s, d, seeds != nil)
	g.from = nil
	copy(g.yb[:n], c.Y1.X)
	copy(g.ybd[:n*l], c.Y1.D)
	c.begin(seeds)
	for i := len(at) - 1; i >= 0; i-- {
		if seeds == nil && !r.live[i] {
			continue
		}
		base := Dual{r.zero[:n], r.zero[:n*l]}
		if seeds != nil {
			base = seeds.seed.rows(i, n, l)
		}
		at[i].combine(g.u.X[:n], base.X, 1, g.yb, n)
		at[i].combine(g.u.D[:n*l], base.D, 1, g.ybd, n*l)
		b := 0.0
		if t := &at[i]; len(t.row) > 0 && t.row[0] == 0 {
			b = t.c[0]
		}
		for j, v := range c.DQ.X {
			g.u.X[n+j] = float64(b * v)
		}
		for j, v := range c.DQ.D {
			g.u.D[n*l+j] = float64(b * v)
		}
		k, kd := s.K[i*w:(i+1)*w], g.kd[i*w*l:(i+1)*w*l]
		if c.WantH {
			c.addRow(k, kd, g.u)
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
		d.node(r.c[i], g.t.D)
		y := Dual{r.value(s, i), r.stageTangent(s, d, &r.a[i], g.kd, g.yd)}
		f.PullPush(
			g.t, y, g.k,
			Dual{g.yb[(1+i)*n : (2+i)*n], g.ybd[(1+i)*n*l : (2+i)*n*l]}, g.tb,
		)
		c.addNode(r.c[i], g.tb)
	}
	sum.combine(c.Y0.X, c.Y1.X, 1, g.yb, n)
	sum.combine(c.Y0.D, c.Y1.D, 1, g.ybd, n*l)
	if seeds != nil {
		c.Y0.Add(seeds.y0)
	}
}

// InterpolatePullPush keeps the cotangents of the dense output, and their tangents, for PullPush.
func (r *rungeKutta) InterpolatePullPush(
	f SecondField, s *Step, d *StepTangent, theta float64, td []float64, w, tb Dual,
) {
	g := r.readySecond()
	r.extend(f, s)
	g.stages(r, f, s, d, true)
	r.sowDual(&g.denseDuals, s, d, theta, td, g.kd, w, tb)
}
