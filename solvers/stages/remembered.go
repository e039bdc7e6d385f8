package stages

import "odes.dev/odes/solvers"

// SecondSeeds are solvers.Seeds with their tangents, which PullPush takes in.
type SecondSeeds struct{ Duals }

// Sown reports whether there are any.
func (g *SecondSeeds) Sown() bool { return g.seeded }

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
	if g.m == nil {
		g.Duals = NewDuals(rows, of.N, of.L, of.DenseAt.of)
	}
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
