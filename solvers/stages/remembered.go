package stages

import (
	"math"

	"odes.dev/odes/solvers"
)

// SecondSeeds are solvers.Seeds with their tangents, which PullPush takes in.
type SecondSeeds struct{ Duals }

// Sown reports whether there are any.
func (g *SecondSeeds) Sown() bool { return g.seeded }

func (g *SecondSeeds) ready(of *Space, rows int) {
	if g.m == nil {
		g.Duals = NewDuals(rows, of.N, of.L, of.DenseAt.of)
	}
}

// Drop forgets them.
func (g *SecondSeeds) Drop() { g.seeded = false }

// recalls is a method that PullPush of another step may have followed.
type recalls interface {
	// SecondSpace returns what the method has for second derivatives, and the number of rows of K.
	SecondSpace() (of *Space, g *Duals, rows int)
}

// RecallPullPush is InterpolatePullPush of a step of m of which solvers.Tangents returned kd, when others have been
// made meanwhile. What it sows is in g.
func RecallPullPush(
	m solvers.Method, s *solvers.Step, d *solvers.StepTangent, theta float64, kd, td []float64, w, tb solvers.Dual,
	g *SecondSeeds,
) {
	of, _, rows := solvers.MakerOf(m, s).(recalls).SecondSpace()
	g.ready(of, rows)
	of.SowDual(&g.Duals, s, d, theta, td, kd, w, tb)
}

// SowSecond adds g to what the next PullPush of m, that of s, takes in. What is sown in g next begins anew.
func SowSecond(m solvers.Method, s *solvers.Step, g *SecondSeeds) {
	_, to, _ := solvers.MakerOf(m, s).(recalls).SecondSpace()
	g.seeded = false
	for _, v := range []struct{ to, from solvers.Dual }{
		{to.Seed, g.Seed}, {to.Y0, g.Y0}, {to.h, g.h}, {to.t0, g.t0},
	} {
		if to.seeded {
			v.to.Add(v.from)
		} else {
			v.to.Copy(v.from)
		}
	}
	to.seeded = true
}

// curves is a method with a Space, whose dense output is its sum over rows of K.
type curves interface {
	recallSlope(s *solvers.Step, d *solvers.StepTangent, theta float64, kd, td, sd []float64)
	sowSlope(g *solvers.Seeds, s *solvers.Step, theta float64, w, tb []float64)
	sowCurve(g *solvers.Seeds, s *solvers.Step, of []int, c, y0, t, h []float64)
	Unfold(g *solvers.Seeds)
}

// RecallSlope is solvers.RecallPush for the slope of the dense output, Σ β'_j(θ) k_j.
func RecallSlope(
	m solvers.Method, s *solvers.Step, d *solvers.StepTangent, theta float64, kd, td, sd []float64,
) {
	solvers.MakerOf(m, s).(curves).recallSlope(s, d, theta, kd, td, sd)
}

// SowSlope is InterpolatePull of m for the slope of the dense output.
func SowSlope(m solvers.Method, s *solvers.Step, theta float64, w, tb []float64) {
	solvers.MakerOf(m, s).(curves).sowSlope(solvers.SeedsOf(m, s), s, theta, w, tb)
}

func (r *Space) recallSlope(s *solvers.Step, d *solvers.StepTangent, theta float64, kd, td, sd []float64) {
	r.Weigh(theta)
	r.Drift.Combine(sd, r.Zero, 1, kd, r.W*r.L)
	for i, v := range r.bendAt(s, theta) {
		for j, t := range td {
			sd[i*r.L+j] = math.FMA(v, math.FMA(-theta, d.H[j], t-d.T0[j])/s.H, sd[i*r.L+j])
		}
	}
}

// bendAt returns Σ β″_j(θ) k_j of the states.
func (r *Space) bendAt(s *solvers.Step, theta float64) []float64 {
	r.Spoil()
	for j, p := range r.of.Beta {
		r.Drift.C[j] = SecondDerivative(p, theta)
	}
	bend := r.Slope[:r.N]
	r.Drift.Combine(bend, r.Zero, 1, s.K, r.W)
	return bend
}

// sowSlope adds the cotangent w of the slope to g. The inner products of Pull count h Σ (β'_j/h) k_j as if it had the
// length of the step for a factor; that is taken off again.
func (r *Space) sowSlope(g *solvers.Seeds, s *solvers.Step, theta float64, w, tb []float64) {
	n, l := r.N, r.L
	begin(g, len(s.K)/r.W, n, l)
	r.Weigh(theta)
	for j, i := range r.Drift.Row {
		b := r.Drift.C[j] / s.H
		seed := g.K[i*n*l : (i+1)*n*l]
		for m, v := range w {
			seed[m] = math.FMA(b, v, seed[m])
		}
	}
	slope := r.Slope[:n]
	r.Drift.Combine(slope, r.Zero, 1, s.K, r.W)
	for i, v := range slope {
		for j := range l {
			g.H[j] = math.FMA(-v/s.H, w[i*l+j], g.H[j])
		}
	}
	for i, v := range r.bendAt(s, theta) {
		for j := range l {
			move := float64(v*w[i*l+j]) / s.H
			tb[j] += move
			g.T[j] -= move
			g.H[j] = math.FMA(-theta, move, g.H[j])
		}
	}
}

// SowCurve adds to what the next Pull of m, that of s, takes in: cotangents c[degree][of·L] of the coefficients of the
// dense output over h, of some of the states, y0[of·L] of its start that reading made, and those of the time and the
// length of the step. c must stay as it is until then.
func SowCurve(m solvers.Method, s *solvers.Step, of []int, c, y0, t, h []float64) {
	solvers.MakerOf(m, s).(curves).sowCurve(solvers.SeedsOf(m, s), s, of, c, y0, t, h)
}

// Unfold adds what SowCurve keeps in g, of a step s of m, to the rows of K.
func Unfold(m solvers.Method, s *solvers.Step, g *solvers.Seeds) {
	solvers.MakerOf(m, s).(curves).Unfold(g)
}

func (r *Space) sowCurve(g *solvers.Seeds, s *solvers.Step, of []int, c, y0, t, h []float64) {
	begin(g, len(s.K)/r.W, r.N, r.L)
	r.Unfold(g)
	g.C, g.Of = c, of
	for m, state := range of {
		for lane, v := range y0[m*r.L:][:r.L] {
			g.Y0[state*r.L+lane] += v
		}
	}
	for lane, v := range t {
		g.T[lane] += v
		g.H[lane] += h[lane]
	}
}

// RecallSlopeDual is RecallPullPush for the slope of the dense output.
func RecallSlopeDual(
	m solvers.Method, s *solvers.Step, d *solvers.StepTangent, theta float64, kd, td []float64, w, tb solvers.Dual,
	g *SecondSeeds,
) {
	of, _, rows := solvers.MakerOf(m, s).(recalls).SecondSpace()
	g.ready(of, rows)
	of.sowSlopeDual(&g.Duals, s, d, theta, td, kd, w, tb)
}

// sowSlopeDual is sowSlope together with its tangent; see SowDual.
func (r *Space) sowSlopeDual(
	g *Duals, s *solvers.Step, d *solvers.StepTangent, theta float64, td, kd []float64, w, tb solvers.Dual,
) {
	n, l := r.N, r.L
	r.Weigh(theta)
	g.begin()
	thetad := g.turn(s, d, theta, td)
	bend := r.of.Room()
	for j, p := range r.of.Beta {
		g.bend.C[j], bend.C[j] = derivatives(p, theta)
	}
	for j, i := range r.Theta.Row {
		b, slope := r.Drift.C[j]/s.H, g.bend.C[j]/s.H
		seed := g.Seed.Rows(i, n, l)
		for e, v := range w.X {
			seed.X[e] = math.FMA(b, v, seed.X[e])
			for m, dot := range thetad {
				by := math.FMA(slope, dot, float64(-b*d.H[m])/s.H)
				seed.D[e*l+m] = math.FMA(b, w.D[e*l+m], math.FMA(by, v, seed.D[e*l+m]))
			}
		}
	}
	slope, rate, rated := make([]float64, n), make([]float64, n), make([]float64, n*l)
	r.Drift.Combine(slope, r.Zero, 1, s.K, r.W)
	r.Drift.Combine(g.rate.D, r.Zero, 1, kd, r.W*l)
	g.bend.Combine(rate, r.Zero, 1, s.K, r.W)
	g.bend.Combine(rated, r.Zero, 1, kd, r.W*l)
	bend.Combine(g.bends, r.Zero, 1, s.K, r.W)
	for e, v := range rate {
		long, move := float64(slope[e]*w.X[e])/s.H, float64(v*w.X[e])/s.H
		tb.X[0] += move
		g.t0.X[0] -= move
		g.h.X[0] -= math.FMA(theta, move, long)
		for m, dot := range thetad {
			i := e*l + m
			longer := math.FMA(math.FMA(v, dot, g.rate.D[i]), w.X[e], float64(slope[e]*w.D[i]))/s.H -
				float64(long*d.H[m])/s.H
			moved := math.FMA(math.FMA(g.bends[e], dot, rated[i]), w.X[e], float64(v*w.D[i]))/s.H -
				float64(move*d.H[m])/s.H
			tb.D[m] += moved
			g.t0.D[m] -= moved
			g.h.D[m] -= math.FMA(dot, move, math.FMA(theta, moved, longer))
		}
	}
}

// Largest returns the largest of all.
func (g *SecondSeeds) Largest() (most float64) {
	for _, a := range []solvers.Dual{g.Seed, g.Y0, g.h, g.t0} {
		for _, v := range [][]float64{a.X, a.D} {
			for _, x := range v {
				most = max(most, math.Abs(x))
			}
		}
	}
	return most
}
