package sens

import (
	"context"
	"math"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/record"
)

// Where a Hill function with an exponent below 1 stands at 0, or a root does, the derivative by its argument is
// infinite, and yet that of an objective by a parameter is finite if the parameter does not move the argument there.
// Tangents see that: a tangent of 0 stays 0. A cotangent meets the infinite derivative first and the 0 later, so that
// it ends as 0·∞.
//
// Adjoint then sweeps twice more, with each of the bounds in place of derivatives that are not finite. A number that is
// the same with both is one that they were multiplied by 0 in, and so it is what a tangent gives. The others stay as
// they were: the objective has no derivative there.

// bounds stand for derivatives that are not finite. Larger ones would overflow where a state at rest meets one in every
// step, as in h' = -sqrt(h).
var bounds = [2]float64{1, 2}

// bounded holds what the additional sweeps need.
type bounded struct {
	adjoint Adjoint
	res     Result
}

// resolve mends the derivatives in res that are not finite, where they exist.
func (a *Adjoint) resolve(ctx context.Context, run *record.Trajectory, opts Options, res *Result) error {
	if a.Bounded == nil || !res.suspicious(run.Size(), opts) {
		return nil
	}
	stride := opts.stride(run.Size())
	opts.Stride, opts.Functionals, opts.Time = 0, nil, nil
	for i, bound := range bounds {
		b := a.bounded[i]
		if b == nil {
			newWorker, err := a.Bounded(bound)
			if err != nil {
				return err
			}
			b = &bounded{adjoint: Adjoint{New: newWorker, Threads: a.Threads}}
			a.bounded[i] = b
		}
		if err := b.adjoint.Gradient(ctx, run, opts, &b.res); err != nil {
			return err
		}
		res.Stats.Sweeps += b.res.Stats.Sweeps
		res.Stats.Steps += b.res.Stats.Steps
	}
	one, two := &a.bounded[0].res, &a.bounded[1].res
	z := run.Size()
	for o := range res.Psi {
		at, n := o*z.P, o*z.N
		res.Suspect[o] = !mend(res.DP[o*stride:o*stride+z.P], one.DP[at:], two.DP[at:])
		if len(res.DY0) > 0 && !mend(res.DY0[n:n+z.N], one.DY0[n:], two.DY0[n:]) {
			res.Suspect[o] = true
		}
	}
	for e := range res.Events {
		mend(res.Events[e].DP, one.Events[e].DP, two.Events[e].DP)
	}
	return nil
}

// suspicious reports whether derivatives are not finite of something that has a value.
func (res *Result) suspicious(z solvers.Size, opts Options) bool {
	stride := opts.stride(z)
	for o, psi := range res.Psi {
		if notFinite(psi) {
			continue
		}
		if res.Suspect[o] || !res.Sound[o] && anyNotFinite(res.DP[o*stride:o*stride+z.P]) {
			return true
		}
	}
	for _, e := range res.Events {
		if anyNotFinite(e.DP) {
			return true
		}
	}
	return false
}

// mend replaces the numbers of x that are not finite by those on which one and two agree. It reports whether all are
// finite then.
func mend(x, one, two []float64) bool {
	all := true
	for i, v := range x {
		switch {
		case !notFinite(v):
		case one[i] == two[i] && !notFinite(one[i]):
			x[i] = one[i]
		default:
			all = false
		}
	}
	return all
}

func notFinite(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

func anyNotFinite(x []float64) bool {
	for _, v := range x {
		if v-v != 0 {
			return true
		}
	}
	return false
}
