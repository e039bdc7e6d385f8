package sens

import (
	"context"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/record"
)

// observer finds what some functionals are of a run, which is more than what is read at its marks: it is told of each
// step and mark in turn. At the end it says where they are read, as readings (readings.go): every way of derivatives
// passes these in the order of the run, and pushes tangents or pulls cotangents through the Objectives at each, with
// one reading after the other also in lanes and for second derivatives. So a kind of functional that needs an observer
// is one file, with a row of observers.
type observer interface {
	// serves reports whether it can observe runs of sys by method for obj, which then begin with begin.
	serves(obj Objectives, method solvers.Method, sys solvers.System) bool
	begin(opts *Options)
	// step is told of the next step, with its dense output; the system has entered its discretes and modes.
	step(s *solvers.Step, e solvers.End)
	// mark is told of a mark. At the end of the run it writes the values of its functionals.
	mark(m *solvers.Mark, functionals []float64)
	// end tells res what was found and returns where it is read, in the order of the run.
	end(res *Result) []reading
	// beside tells in which lane the run is made; see laneReading.
	beside(runs *hybrid.Lanes, lane int)
}

// observers lists the kinds of functionals that need one.
var observers = []struct {
	// has reports whether obj has such functionals.
	has func(obj Objectives) bool
	// make makes their observer.
	make func(obj Objectives, method solvers.Method, sys solvers.System) (observer, error)
}{
	{hasPeaks, newPeakFinder},
}

// observed reports whether objectives have functionals that need an observer.
func observed(obj Objectives) bool {
	for i := range observers {
		if observers[i].has(obj) {
			return true
		}
	}
	return false
}

// Observer is a solvers.Sink that adds up the functionals of a run as it is made: the quadratures from step to step,
// what others read at the marks, and what observers find.
type Observer struct {
	obj      Objectives
	instants []solvers.Instant
	pt       Point
	F        []float64 // functionals

	observers []observer
	run       record.Reader
	step      solvers.Step
	dense     solvers.Step // with stages of its own, to be interpolated
	mark      solvers.Mark
}

// NewObserver returns an observer of obj.
func NewObserver(obj Objectives) *Observer {
	n, _ := obj.Counts()
	return &Observer{obj: obj, F: make([]float64, n)}
}

// Begin implements solvers.Sink.
func (o *Observer) Begin(sys solvers.System, m solvers.Method) error {
	return o.begin(sys, m, &Options{})
}

func (o *Observer) begin(sys solvers.System, m solvers.Method, opts *Options) error {
	if o.instants == nil {
		o.instants = sys.Instants()
	}
	clear(o.F)
	last := o.observers
	o.observers = last[:0]
	for i := range observers {
		if !observers[i].has(o.obj) {
			continue
		}
		n := len(o.observers)
		if n < len(last) && last[n].serves(o.obj, m, sys) { // its memory serves again
			o.observers = last[:n+1]
		} else {
			x, err := observers[i].make(o.obj, m, sys)
			if err != nil {
				return err
			}
			o.observers = append(o.observers[:n:n], x)
		}
		o.observers[n].begin(opts)
	}
	return nil
}

// Step implements solvers.Sink.
func (o *Observer) Step(s *solvers.Step, e solvers.End) error {
	for i, dq := range s.DQ {
		o.F[i] += dq
	}
	for _, x := range o.observers {
		x.step(s, e)
	}
	return nil
}

// Mark implements solvers.Sink.
func (o *Observer) Mark(m *solvers.Mark) error {
	for _, x := range o.observers {
		x.mark(m, o.F)
	}
	if o.pt.at(m, o.instants, o.obj) {
		o.obj.Observe(&o.pt, o.F)
	}
	return nil
}

// replay observes a recorded run, like run.Replay but in the Observer's own memory.
func (o *Observer) replay(ctx context.Context, run *record.Trajectory, sys solvers.System) error {
	o.run.Open(ctx, run)
	mk, marks, jumped, dense := 0, run.Marks(), true, len(o.observers) > 0
	for i := -1; i < run.Steps(); i++ {
		if i >= 0 && (dense || run.Size().Q > 0) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if dense && jumped {
				jumped = false
				sys.Enter(run.Held(i))
			}
			load, st := o.run.Load, &o.step
			if dense {
				load, st = o.run.LoadDense, &o.dense
			}
			e, err := load(i, st)
			if err != nil {
				return err
			}
			if err := o.Step(st, e); err != nil {
				return err
			}
		}
		for ; mk < marks && run.After(mk) == i; mk++ {
			if _, _, err := o.run.LoadMark(mk, &o.mark); err != nil {
				return err
			}
			jumped = jumped || !o.mark.Inside
			if err := o.Mark(&o.mark); err != nil {
				return err
			}
		}
	}
	return nil
}

// Values writes the objectives psi[m] of the run that was observed.
func (o *Observer) Values(psi []float64) { o.obj.Values(o.F, psi) }

// at makes pt mark m, if anything is read there, and reports whether it is.
func (pt *Point) at(m *solvers.Mark, instants []solvers.Instant, obj Objectives) bool {
	pt.Site = Site{}
	s, event := &pt.Site, -1
	switch m.Kind {
	case solvers.MarkStart:
		s.Kind = SiteInitial
	case solvers.MarkFinal:
		s.Kind = SiteFinal
	case solvers.MarkSite:
		s.Kind, s.Index = SiteTime, instants[m.Instant].Site
	case solvers.MarkFire:
		s.Kind, s.Firing, event = SiteEvent, m.Firing, m.Firing.Event
	default:
		return false
	}
	if !obj.Observes(s.Kind, event) {
		return false
	}
	pt.moveTo(m)
	return true
}

// moveTo gives pt the time and the limits of m.
func (pt *Point) moveTo(m *solvers.Mark) {
	pt.T, pt.Ym, pt.Dm, pt.Yp, pt.Dp = m.T, m.Ym, m.Dm, m.Yp, m.Dp
}

// Recorder records a run and observes it meanwhile, unless that takes observers: these read the record.
type Recorder struct {
	*record.Trajectory
	observer *Observer // nil where there are observers
}

// NewRecorder returns a recorder of runs in tr that observes obj.
func NewRecorder(tr *record.Trajectory, obj Objectives) *Recorder {
	r := &Recorder{Trajectory: tr}
	if !observed(obj) {
		r.observer = NewObserver(obj)
	}
	return r
}

// Functionals returns the functionals of the run, for Options.Functionals; nil if they were not observed.
func (r *Recorder) Functionals() []float64 {
	if r.observer == nil {
		return nil
	}
	return r.observer.F
}

// Begin implements solvers.Sink.
func (r *Recorder) Begin(sys solvers.System, m solvers.Method) error {
	if err := r.Trajectory.Begin(sys, m); err != nil {
		return err
	}
	if r.observer == nil {
		return nil
	}
	return r.observer.Begin(sys, m)
}

// Step implements solvers.Sink.
func (r *Recorder) Step(s *solvers.Step, e solvers.End) error {
	if err := r.Trajectory.Step(s, e); err != nil {
		return err
	}
	if r.observer == nil {
		return nil
	}
	return r.observer.Step(s, e)
}

// Mark implements solvers.Sink.
func (r *Recorder) Mark(m *solvers.Mark) error {
	if err := r.Trajectory.Mark(m); err != nil {
		return err
	}
	if r.observer == nil {
		return nil
	}
	return r.observer.Mark(m)
}
