package rosenbrock

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/stages"
)

// rosenbrockPull is the work space of cotangents.
type rosenbrockPull struct {
	yb    []float64 // [1 + stages][n·l] ȳ₁ and the Ȳ_i
	v     []float64 // [1 + stages][w·l] v_i
	kb    []float64 // [w·l] sum of v_i with one right-hand side
	jb    []float64 // [E·l]
	outer []float64 // [n·l] (∂r/∂y)ᵀ q̄
	tb    []float64 // [l]
	ready bool

	seeds solvers.Seeds
}

func (r *rosenbrock) readyPull() {
	g := &r.pull
	if g.ready {
		return
	}
	v := func(n int) []float64 { return make([]float64, n*r.L) }
	g.yb, g.v, g.kb = v((1+r.stages)*r.N), v((1+r.stages)*r.W), v(r.W)
	g.jb, g.outer, g.tb, g.ready = v(r.plan.Entries), v(r.N), v(1), true
}

// Pull writes the transpose of Push in every lane. For stages i = s … 1, with w_i = m_i ȳ₁ + Σ_{j>i} a_ji Ȳ_j,
// and q̄ in the place of ȳ₁ for quadratures,
//
//	Mᵀ v_i/γ - h Jᵀ v_i = h w_i + Σ_{j>i} c_ji Mᵀ v_j,   Ȳ_i = (∂F/∂y)ᵀ v_i,
//	τ_i = F_tᵀ v_i,   p̄ += (∂F/∂p)ᵀ v_i,
//
// each of the last three at stage i. J and F_t add, once for all stages, the derivatives by y, t and p of
// h Σ_i v_iᵀ (J κ_i + γ_i F_t): those of the entries of the Jacobian with the cotangents h Σ_i v_i κ_iᵀ, where
// time counts as a state with κ_i = γ_i. Then
//
//	ȳ₀ = ȳ₁ + Σ Ȳ_i + …,
//	t̄₀ = t̄₁ + Σ τ_i + …,   h̄ = t̄₁ + Σ_i (κ_i·w_i + α_i τ_i + v_iᵀ (J κ_i + γ_i F_t)).
//
// Stages with the same right-hand side are pulled at once, with the sum of their v_i.
func (r *rosenbrock) Pull(f solvers.CotangentField, s *solvers.Step, c *solvers.StepCotangent) {
	n, w, l := r.N, r.W, r.L
	g := &r.pull
	seeds := r.Reap(&g.seeds)
	whole := seeds == nil && !c.WantH
	if whole && s.Kept != nil && r.pullWhole(f, s, c, s.Kept) {
		return
	}
	if r.rests(f, s) {
		r.ends.PullRest(s, r.ends.Pulled(f, s, c))
		return
	}
	if !r.refactor(f, s) {
		elem.Spoil(c.Y0, c.T0, c.H)
		return
	}
	if whole && s.Kept == nil && r.pullRefactored(f, s, c) {
		return
	}
	r.readyPull()
	if r.ends != nil {
		c = r.ends.Pulled(f, s, c)
	}
	copy(g.yb[:n*l], c.Y1)
	stages.Begin(c, seeds)
	if r.Q > 0 {
		clear(g.outer)
		for _, x := range r.plan.Outer {
			v := r.j[x.E]
			to, from := g.outer[int(x.Col)*l:][:l], c.DQ[(int(x.Row)-n)*l:][:l]
			for a, q := range from {
				to[a] = math.FMA(v, q, to[a])
			}
		}
	}
	for i := r.stages; i >= 1; i-- {
		v := g.v[i*w*l : (i+1)*w*l]
		states := v[:n*l]
		base := r.Zero[:n*l]
		if seeds != nil {
			base = seeds.K[i*n*l : (i+1)*n*l]
		}
		r.at[i].Combine(states, base, 1, g.yb, n*l)
		if c.WantH {
			r.AddRow(c, s.K[i*w:(i+1)*w], states, r.mi[i])
		}
		stages.Scale(states, s.H)
		r.coupleT(states, &r.ct[i], g.v, l)
		if r.Q > 0 {
			omega := float64(s.H * r.omega[i])
			for j, q := range c.DQ {
				v[n*l+j] = float64(omega * q)
			}
			omega = float64(s.H * omega)
			for j, x := range g.outer {
				states[j] = math.FMA(omega, x, states[j])
			}
		}
		r.lu.SolveT(states, l)
		r.work.Solves++
		if r.same[i] < i {
			continue
		}
		kb := v
		for j := i + 1; j <= r.stages; j++ {
			if r.same[j] != i {
				continue
			}
			if &kb[0] == &v[0] {
				kb = g.kb
				copy(kb, v)
			}
			for e, x := range g.v[j*w*l : (j+1)*w*l] {
				kb[e] += x
			}
		}
		f.Pull(r.time(s, i), r.value(s, i), kb, g.yb[i*n*l:(i+1)*n*l], g.tb)
		stages.AddNode(c, r.alpha[i], g.tb)
	}
	r.total.Combine(c.Y0, c.Y1, 1, g.yb, n*l)
	if seeds != nil {
		for i, v := range seeds.Y0 {
			c.Y0[i] += v
		}
	}
	if c.WantH {
		r.outerProduct(s, g.jb, g.v, l, 1)
		stages.Inner(c.H, r.j, g.jb)
		stages.Scale(g.jb, s.H)
	} else {
		r.outerProduct(s, g.jb, g.v, l, s.H)
	}
	f.(matrices.CotangentJacobianField).PullJacobian(s.T, s.Y0, g.jb, g.yb[:n*l], g.tb)
	for i, v := range g.yb[:n*l] {
		c.Y0[i] += v
	}
	stages.AddNode(c, 0, g.tb)
}

// outerProduct writes h Σ_i v_i κ_iᵀ at the entries of the Jacobian, jb[E·l], with κ_i = γ_i for time.
func (r *rosenbrock) outerProduct(s *solvers.Step, jb, v []float64, l int, h float64) {
	n, w, m := r.N, r.W, r.stages
	kt := r.byState
	if l > 1 || len(r.plan.Single) > 0 {
		r.byPlace(kt, s.K, n)
		copy(kt[n*m:], r.gammas[1:])
	}
	if l > 1 {
		for _, x := range r.plan.All {
			simd.Combine(jb[int(x.E)*l:][:l], r.Zero[:l], h, kt[int(x.Col)*m:][:m], r.rows, v[int(x.Row)*l:], w*l)
		}
		return
	}
	for i := range r.plan.Runs {
		r.outerRun(s, jb, v, h, &r.plan.Runs[i])
	}
	if len(r.plan.Single) == 0 {
		return
	}
	r.byPlace(r.byRow, v, w)
	simd.PairedDots(jb, r.plan.Single, kt, r.byRow, m, h)
}

// byPlace writes the first n elements of all stages, rows of w numbers, as to[n][stages]: some at a time, so that what
// is written stays at hand.
func (r *rosenbrock) byPlace(to, stages []float64, n int) {
	const some = 64
	w, m := r.W, r.stages
	for first := 0; first < n; first += some {
		for i := range m {
			to := to[first*m+i:]
			for j, x := range stages[(i+1)*w+first : (i+1)*w+min(first+some, n)] {
				to[j*m] = x
			}
		}
	}
}

// outerRun is outerProduct for a run of entries and one lane: the same sums, by vectors.
func (r *rosenbrock) outerRun(s *solvers.Step, jb, v []float64, h float64, x *matrices.EntryRun) {
	w, m, row, col := r.W, r.stages, int(x.Row), int(x.Col)
	to, fixed := jb[x.E:][:x.N], r.byRow[:m]
	switch {
	case x.Rows == 0:
		for i := range fixed {
			fixed[i] = v[(i+1)*w+row]
		}
		simd.Combine(to, r.Zero[:x.N], h, fixed, r.rows, s.K[col:], w)
	case x.Cols == 0:
		if copy(fixed, r.gammas[1:]); col < r.N {
			for i := range fixed {
				fixed[i] = s.K[(i+1)*w+col]
			}
		}
		simd.Combine(to, r.Zero[:x.N], h, fixed, r.rows, v[row:], w)
	default:
		simd.Binary(simd.Mul, to, s.K[w+col:], v[w+row:])
		for i := 2; i <= m; i++ {
			simd.Ternary(simd.FMA, to, s.K[i*w+col:], v[i*w+row:], to)
		}
		for i, sum := range to {
			to[i] = math.FMA(h, sum, 0)
		}
	}
}

// InterpolatePull keeps the cotangents of the dense output for Pull.
func (r *rosenbrock) InterpolatePull(_ solvers.CotangentField, s *solvers.Step, theta float64, w, tb []float64) {
	r.Sow(&r.pull.seeds, 1+r.stages, s, theta, w, tb)
}
