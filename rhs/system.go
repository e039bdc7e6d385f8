package rhs

import (
	"math"
	"sync/atomic"

	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
)

var (
	_ solvers.TangentSystem           = (*system)(nil)
	_ solvers.CotangentSystem         = (*system)(nil)
	_ matrices.TangentJacobianField   = (*system)(nil)
	_ matrices.CotangentJacobianField = (*system)(nil)
)

// System returns the problem at params p, from one time to another, as solvers and package sens see it: a
// TangentSystem and a CotangentSystem of one lane, with its Jacobian and the derivatives of that. Only what the
// problem has functions for may be called.
func (b *Problem) System(p []float64, from, to float64) solvers.System { return b.system(p, from, to) }

func (b *Problem) system(p []float64, from, to float64) *system {
	s := &system{
		b: b, p: append([]float64(nil), p...), from: from, to: to,
		pd: make([]float64, b.P), pb: make([]float64, b.P),
	}
	if b.Jacobian != nil {
		b.once.Do(func() { b.shared = &matrices.Jacobian{Rows: b.Places.Rows, Cols: b.Places.Cols} })
		s.jacobian = b.shared
	}
	return s
}

// system is a Problem at its params.
type system struct {
	b        *Problem
	p        []float64
	from, to float64
	jacobian *matrices.Jacobian
	pd, pb   []float64 // tangents and cotangents of the params
	rows     [][]float64
	missing  *atomic.Pointer[string] // a function that was called but is nil
}

func (s *system) Size() solvers.Size                           { return s.b.size() }
func (s *system) Lanes() int                                   { return 1 }
func (s *system) Eval(t float64, y, k []float64)               { s.b.Rates(t, y, s.p, k) }
func (s *system) Enter(_, _ []float64)                         {}
func (s *system) Choose(float64, []float64, []bool, []float64) {}
func (s *system) Guards() []solvers.Guard                      { return nil }
func (s *system) Events() []solvers.Event                      { return nil }
func (s *system) StateName(i int) string                       { return name("y", i) }

func (s *system) GuardValues(float64, []float64, []float64, []bool) {}

func (s *system) Instants() []solvers.Instant {
	at := func(k solvers.InstantKind) solvers.Instant {
		return solvers.Instant{Kind: k, Period: -1, To: -1, Count: -1, Fixed: true}
	}
	return []solvers.Instant{at(solvers.InstantStart), at(solvers.InstantEnd)}
}

func (s *system) InstantTimes(_, times []float64) { times[0], times[1] = s.from, s.to }

func (s *system) Affect(solvers.Firing, float64, []float64, []float64, []float64, []float64) bool {
	return false
}

func (s *system) Start(_ float64, y, _ []float64) {
	if s.b.Start == nil {
		copy(y, s.p)
		return
	}
	s.b.Start(s.p, y)
}

// Nothing happens on the way, so all that is left of tangents and transposes is that of rates and initial values.

func (s *system) SetTangent(pd []float64)                                               { copy(s.pd, pd) }
func (s *system) EnterPush([]float64)                                                   {}
func (s *system) GuardPush(_ int, _ float64, _, _, _, _ []float64)                      {}
func (s *system) GuardPull(_ int, _ float64, _, _, _, _ []float64)                      {}
func (s *system) AffectPush(_ solvers.Firing, _ float64, _, _, _, _, _, _, _ []float64) {}
func (s *system) AffectPull(_ solvers.Firing, _ float64, _, _, _, _, _, _, _ []float64) {}
func (s *system) InstantPush(_ int, td []float64)                                       { clear(td) }
func (s *system) InstantPull(int, []float64)                                            {}
func (s *system) Leave([]float64)                                                       {}

func (s *system) Push(t float64, y, td, yd, kd []float64) {
	s.b.RatesPush(t, y, s.p, td[0], yd, s.pd, kd)
}

func (s *system) StartPush(_ float64, _, yd, _ []float64) {
	if s.b.Start == nil {
		copy(yd, s.pd)
		return
	}
	s.b.StartPush(s.p, s.pd, yd)
}

func (s *system) Begin(rows [][]float64) {
	s.rows = rows
	clear(s.pb)
}

func (s *system) Pull(t float64, y, kb, yb, tb []float64) {
	clear(yb)
	tb[0] = s.b.RatesPull(t, y, s.p, kb, yb, s.pb)
}

func (s *system) StartPull(_ float64, yb, _, _ []float64) {
	if s.b.Start != nil {
		s.b.StartPull(s.p, yb, s.pb)
		return
	}
	for i, v := range yb {
		s.pb[i] += v
	}
}

func (s *system) Finish() { copy(s.rows[0], s.pb) }

func (s *system) Jacobian() *matrices.Jacobian { return s.jacobian }

func (s *system) EvalJacobian(t float64, y, j []float64) { s.b.Jacobian(t, y, s.p, j) }

func (s *system) PushJacobian(t float64, y, td, yd, jd []float64) {
	if s.b.JacobianPush == nil {
		s.miss("JacobianPush", jd)
		return
	}
	s.b.JacobianPush(t, y, s.p, td[0], yd, s.pd, jd)
}

func (s *system) PullJacobian(t float64, y, jb, yb, tb []float64) {
	if s.b.JacobianPull == nil {
		s.miss("JacobianPull", yb)
		tb[0] = math.NaN()
		return
	}
	clear(yb)
	tb[0] = s.b.JacobianPull(t, y, s.p, jb, yb, s.pb)
}

// miss notes that a function was called that the problem does not have. Only some methods ask for derivatives of the
// Jacobian, and only they know.
func (s *system) miss(name string, result []float64) {
	if s.missing != nil {
		s.missing.Store(&name)
	}
	for i := range result {
		result[i] = math.NaN()
	}
}

// objectives are those of a problem. Functionals are the integrals, and then the states at the end.
type objectives struct {
	b   *Problem
	sys *system
}

func (o *objectives) Counts() (functionals, objectives int) { return o.b.Q + o.b.N, o.b.objectives() }

func (o *objectives) Observes(k sens.SiteKind, _ int) bool { return k == sens.SiteFinal }

func (o *objectives) Observe(pt *sens.Point, f []float64) {
	if pt.Site.Kind == sens.SiteFinal {
		copy(f[o.b.Q:], pt.Yp)
	}
}

func (o *objectives) Values(f, psi []float64) {
	b := o.b
	if q, y := f[:b.Q], f[b.Q:]; b.Values != nil {
		b.Values(y, q, o.sys.p, psi)
	} else {
		copy(psi[copy(psi, y):], q)
	}
}

func (o *objectives) ObservePush(pt *sens.Point, _, _, _, ypd, _, fd []float64) {
	if pt.Site.Kind == sens.SiteFinal {
		copy(fd[o.b.Q:], ypd)
	}
}

func (o *objectives) ValuesPush(f, fd, psid []float64) {
	b := o.b
	if b.Values != nil {
		b.ValuesPush(f[b.Q:], f[:b.Q], o.sys.p, fd[b.Q:], fd[:b.Q], o.sys.pd, psid)
	} else {
		copy(psid[copy(psid, fd[b.Q:]):], fd[:b.Q])
	}
}

func (o *objectives) ObservePull(pt *sens.Point, fb, _, _, ypb, _, _ []float64) {
	if pt.Site.Kind == sens.SiteFinal {
		for i, v := range fb[o.b.Q:] {
			ypb[i] += v
		}
	}
}

func (o *objectives) ValuesPull(f []float64, first int, fb []float64) {
	b := o.b
	clear(fb)
	if q, y := fb[:b.Q], fb[b.Q:]; b.Values != nil {
		psib := make([]float64, b.M)
		psib[first] = 1
		b.ValuesPull(f[b.Q:], f[:b.Q], o.sys.p, psib, y, q, o.sys.pb)
	} else if first < b.N {
		y[first] = 1
	} else {
		q[first-b.N] = 1
	}
}
