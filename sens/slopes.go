package sens

import (
	"math"

	"odes.dev/odes/solvers"
)

// slopes are, by step, the rates D = g_t + g_y ∂Φ/∂h at which the guards that ended steps went through zero as the
// step grew; zero for other steps.
type slopes []float64

// judge looks at the slope d with which a guard ended step st: an event that is met tangentially has no derivative.
// The slope is compared with |g_y| times the largest field among the stages, which tells a touch from a crossing in
// one dimension, too.
func (res *Result) judge(sys solvers.System, guard int, st *solvers.Step, d float64, gy []float64, limit float64) {
	n, w := len(st.Y0), len(st.Y0)+len(st.DQ)
	size := 0.0
	for at := 0; at+w <= len(st.K); at += w {
		size = max(size, norm(st.K[at:at+n]))
	}
	size = float64(size * norm(gy))
	if !(math.Abs(d) <= float64(limit*size)) {
		return
	}
	g := sys.Guards()[guard]
	name := g.Name
	if g.Event >= 0 {
		name = sys.Events()[g.Event].ElemName(g.Elem)
	}
	res.Warnings = append(res.Warnings, solvers.Warning{
		Kind: solvers.Grazing, T: st.T1, Name: name, Instant: -1, Value: math.Abs(d) / size,
	})
}

func norm(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum = math.FMA(v, v, sum)
	}
	return math.Sqrt(sum)
}

// share returns -x/d, the part that a root takes of a change x. It is zero where the guard does not move with the
// step.
func share(x, d float64) float64 {
	if d == 0 {
		return 0
	}
	return -x / d
}
