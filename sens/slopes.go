package sens

import (
	"math"

	"odes.dev/odes/solvers"
)

// slopes are the rates D = g_t + g_y ∂Φ/∂h at which the guards that ended
// steps went through zero as the step grew: by step, zero for other steps.
type slopes []float64

// judge looks at a slope: a guard met tangentially has no derivative. gy and f
// are the guard's gradient and the field at the end of the step.
func (res *Result) judge(sys solvers.System, guard int, t, d float64, gy, f []float64, limit float64) {
	size := float64(norm(gy) * norm(f))
	if !(math.Abs(d) <= float64(limit*size)) {
		return
	}
	g := sys.Guards()[guard]
	name := g.Name
	if g.Event >= 0 {
		name = sys.Events()[g.Event].ElemName(g.Elem)
	}
	res.Warnings = append(res.Warnings, solvers.Warning{
		Kind: solvers.Grazing, T: t, Name: name, Instant: -1, Value: math.Abs(d) / size,
	})
}

func norm(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum = math.FMA(v, v, sum)
	}
	return math.Sqrt(sum)
}

// share returns -x/d, the part that a root takes of a change x; none where the
// guard does not move with the step.
func share(x, d float64) float64 {
	if d == 0 {
		return 0
	}
	return -x / d
}

// lastStage returns the last stage derivative of the states: the field at, or close to, the end of the step.
func lastStage(s *solvers.Step, z solvers.Size, info solvers.Info) []float64 {
	at := (info.Stages - 1) * (z.N + z.Q)
	return s.K[at : at+z.N]
}
