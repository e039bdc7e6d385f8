package sens

import (
	"math"
	"slices"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/record"
)

// slopes are the rates D = g_t + g_y ∂Φ/∂h at which the guards that ended steps went through zero as the step grew.
type slopes struct {
	steps []int32 // ascending
	rates []float64
}

// add notes the rate of the guard that ended step i, which is later than those before.
func (s *slopes) add(i int, rate float64) {
	s.steps, s.rates = append(s.steps, int32(i)), append(s.rates, rate)
}

// at returns the rate of the guard that ended step i; 0 for a step that ended otherwise.
func (s *slopes) at(i int) float64 {
	if k, ok := slices.BinarySearch(s.steps, int32(i)); ok {
		return s.rates[k]
	}
	return 0
}

// roots calls f with each step of a run that ended at a guard, and the guard. It makes room for that many rates in to.
func roots(sys any, run *record.Trajectory, to *slopes, f func(i, guard int) error) error {
	left := run.Roots()
	if past, ok := sys.(PastPullPusher); ok {
		left += past.Roots()
	}
	if *to = (slopes{}); left > 0 {
		*to = slopes{make([]int32, 0, left), make([]float64, 0, left)}
	}
	for i := 0; left > 0; i++ {
		if e := endOf(sys, run, i); e.Kind == solvers.EndRoot {
			left--
			if err := f(i, e.Index); err != nil {
				return err
			}
		}
	}
	return nil
}

// judge looks at the slope d with which a guard ended step st: an event that is met tangentially has no derivative. The
// slope is compared with the largest one that the guard has among the stages of the step, so that neither units nor
// states that the guard does not read matter: a guard that is met tangentially was steeper before. gy is its gradient.
func (res *Result) judge(sys solvers.System, guard int, st *solvers.Step, d float64, gy []float64, limit float64) {
	n, w := len(st.Y0), len(st.Y0)+len(st.DQ)
	last := 0.0 // of what the states do to the guard, in the last stage
	for at := 0; at+w <= len(st.K); at += w {
		last = inner(gy, st.K[at:at+n])
	}
	size := 0.0
	for at := 0; at+w <= len(st.K); at += w {
		size = max(size, math.Abs(inner(gy, st.K[at:at+n])+(d-last)))
	}
	if guard >= len(sys.Guards()) || !(math.Abs(d) <= float64(limit*size)) {
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

func inner(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum = math.FMA(v, y[i], sum)
	}
	return sum
}

// share returns -x/d, the part that a root takes of a change x. It is zero where the guard does not move with the
// step.
func share(x, d float64) float64 {
	if d == 0 {
		return 0
	}
	return -x / d
}
