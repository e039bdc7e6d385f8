package orbit

import (
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

// Ends are objectives: the state at the end of a period, as the next one sees it. Times that discretes hold count from
// the end.
type Ends struct {
	Quadratures, Lanes int
	Border             *Border // at the end
}

// Counts implements sens.Objectives.
func (f Ends) Counts() (functionals, objectives int) {
	n := f.Border.Len()
	return f.Quadratures + n, n
}

// Observes implements sens.Objectives.
func (f Ends) Observes(kind sens.SiteKind, _ int) bool { return kind == sens.SiteFinal }

// each calls do for each active discrete: k counts the functionals, at is its place, and timed tells that it is a time.
func (f Ends) each(do func(k, at int, timed bool)) {
	for j, i := range f.Border.Active {
		do(f.Quadratures+len(f.Border.Y)+j, f.Border.From[i], f.Border.Timed[i])
	}
}

// Observe implements sens.Objectives.
func (f Ends) Observe(pt *sens.Point, functionals []float64) {
	copy(functionals[f.Quadratures:], pt.Yp)
	f.each(func(k, at int, timed bool) {
		if functionals[k] = pt.Dp[at]; timed {
			functionals[k] -= pt.T
		}
	})
}

// Values implements sens.Objectives.
func (f Ends) Values(functionals, psi []float64) { copy(psi, functionals[f.Quadratures:]) }

// ValuesPull implements sens.CotangentObjectives.
func (f Ends) ValuesPull(_ []float64, first int, fb []float64) {
	clear(fb)
	for l := 0; l < f.Lanes && first+l < f.Border.Len(); l++ {
		fb[(f.Quadratures+first+l)*f.Lanes+l] = 1
	}
}

// ObservePull implements sens.CotangentObjectives.
func (f Ends) ObservePull(_ *sens.Point, fb, _, _, ypb, dpb, tb []float64) {
	f.pull(f.Lanes, fb, ypb, dpb, tb)
}

// pull adds the transpose of Observe, in lanes.
func (f Ends) pull(lanes int, fb, ypb, dpb, tb []float64) {
	for i := range ypb {
		ypb[i] += fb[f.Quadratures*lanes+i]
	}
	f.each(func(k, at int, timed bool) {
		for l, x := range fb[k*lanes : (k+1)*lanes] {
			if dpb[at*lanes+l] += x; timed {
				tb[l] -= x
			}
		}
	})
}

// ObservePush implements sens.TangentObjectives.
func (f Ends) ObservePush(_ *sens.Point, td, _, _, ypd, dpd, fd []float64) {
	for i, x := range ypd {
		fd[f.Quadratures*f.Lanes+i] += x
	}
	f.each(func(k, at int, timed bool) {
		for l, x := range dpd[at*f.Lanes : (at+1)*f.Lanes] {
			if fd[k*f.Lanes+l] += x; timed {
				fd[k*f.Lanes+l] -= td[l]
			}
		}
	})
}

// ValuesPush implements sens.TangentObjectives.
func (f Ends) ValuesPush(_, fd, psid []float64) { copy(psid, fd[f.Quadratures*f.Lanes:]) }

// ValuesPullPush implements sens.SecondObjectives.
func (f Ends) ValuesPullPush(_ solvers.Dual, weights []float64, fb solvers.Dual) {
	fb.Clear()
	copy(fb.X[f.Quadratures:], weights)
}

// ObservePullPush implements sens.SecondObjectives.
func (f Ends) ObservePullPush(_ *sens.Point, _ *sens.PointTangent, fb, _, _, ypb, dpb, tb solvers.Dual) {
	f.pull(1, fb.X, ypb.X, dpb.X, tb.X)
	f.pull(f.Lanes, fb.D, ypb.D, dpb.D, tb.D)
}

// ComplexEnds are Ends in complex arithmetic.
type ComplexEnds struct{ Ends }

// Observe implements sens.ComplexObjectives.
func (f ComplexEnds) Observe(_ sens.Site, t complex128, _, _, yp, dp, functionals []complex128) {
	copy(functionals[f.Quadratures:], yp)
	f.each(func(k, at int, timed bool) {
		if functionals[k] = dp[at]; timed {
			functionals[k] -= t
		}
	})
}

// Values implements sens.ComplexObjectives.
func (f ComplexEnds) Values(functionals, psi []complex128) { copy(psi, functionals[f.Quadratures:]) }
