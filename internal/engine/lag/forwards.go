package lag

import (
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

// forwards are what a Worker leaves to the model: all that reads no states. Nothing else of it may be promoted, since
// it would not know of lags.
type forwards struct{ w *system.Worker }

// Size implements solvers.Field.
func (f *forwards) Size() solvers.Size { return f.w.Size() }

// Lanes implements solvers.CotangentField.
func (f *forwards) Lanes() int { return f.w.Lanes() }

// Guards implements solvers.System. None is affine: what it reads of the past is not.
func (f *forwards) Guards() []solvers.Guard { return f.w.Guards() }

// Instants implements solvers.System.
func (f *forwards) Instants() []solvers.Instant { return f.w.Instants() }

// InstantTimes implements solvers.System.
func (f *forwards) InstantTimes(d, times []float64) { f.w.InstantTimes(d, times) }

// Events implements solvers.System.
func (f *forwards) Events() []solvers.Event { return f.w.Events() }

// StateName implements solvers.System.
func (f *forwards) StateName(i int) string { return f.w.StateName(i) }

// Groups implements solvers.Grouped.
func (f *forwards) Groups() []int32 { return f.w.Groups() }

// Clocks implements solvers.Clock.
func (f *forwards) Clocks() int { return f.w.Clocks() }

// NextSwitch implements solvers.Clock.
func (f *forwards) NextSwitch(t, limit float64) float64 { return f.w.NextSwitch(t, limit) }

// InstantPush implements solvers.TangentSystem.
func (f *forwards) InstantPush(i int, td []float64) { f.w.InstantPush(i, td) }

// InstantPull implements solvers.CotangentSystem.
func (f *forwards) InstantPull(i int, w []float64) { f.w.InstantPull(i, w) }

// StartPull implements solvers.CotangentSystem.
func (f *forwards) StartPull(t0 float64, yb, db, tb []float64) { f.w.StartPull(t0, yb, db, tb) }

// Finish implements solvers.CotangentSystem.
func (f *forwards) Finish() { f.w.Finish() }

// Sound implements sens.Sounder.
func (f *forwards) Sound() bool { return f.w.Sound() }

// Counts implements sens.Objectives.
func (f *forwards) Counts() (functionals, objectives int) { return f.w.Counts() }

// Observes implements sens.Objectives.
func (f *forwards) Observes(kind sens.SiteKind, event int) bool { return f.w.Observes(kind, event) }

// Values implements sens.Objectives.
func (f *forwards) Values(functionals, psi []float64) { f.w.Values(functionals, psi) }

// ValuesPull implements sens.CotangentObjectives.
func (f *forwards) ValuesPull(functionals []float64, first int, fb []float64) {
	f.w.ValuesPull(functionals, first, fb)
}

// Pulls implements sens.Selective.
func (f *forwards) Pulls(s *sens.Site) bool { return f.w.Pulls(s) }

// ValuesPush implements sens.TangentObjectives.
func (f *forwards) ValuesPush(functionals, fd, psid []float64) { f.w.ValuesPush(functionals, fd, psid) }

// Prices implements hybrid.Priced.
func (f *forwards) Prices() (rates, jacobian float64) { return f.w.Prices() }
