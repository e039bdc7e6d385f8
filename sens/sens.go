package sens

import (
	"context"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/record"
)

// Method computes the derivatives of objectives of a recorded run. The discrete methods mean the same by them: the
// exact derivative of the computed solution, with its accepted steps held fixed. Ordinary steps keep their length.
// Steps that end at an event, or at a time that depends on parameters, move with it. Forward and Continuous
// approximate the derivative of the exact solution instead. Both agree as the tolerances go to zero.
type Method interface {
	Name() string
	// Gradient fills res, reusing its buffers if they are large enough. The derivatives of an objective without a
	// value (NaN) mean nothing.
	Gradient(ctx context.Context, run *record.Trajectory, opts Options, res *Result) error
}

// Teller is a Method that can tell how far a gradient is.
type Teller interface {
	// SetTell makes the gradients to come call tell from time to time, in the goroutine of the caller, with the time
	// that a sweep has come to, the fraction that is done, and the steps that the goroutine made. nil ends it.
	SetTell(tell func(t, done float64, steps int))
}

// Options say what is wanted besides dψ/dp. The zero value asks for nothing more.
type Options struct {
	Initial    bool // dψ/dy0: the initial values moved, parameters held
	EventTimes bool // the derivatives of the times of events and mode changes
	// Events is how many events and mode changes Result.Events lists at most, from the first on; 0 means all of them,
	// and a negative number none.
	Events int
	// Lists, if not nil, tells which events and mode changes Result.Events has.
	Lists func(e EventTime) bool
	// Time, if not nil, is called with the derivatives of the times of all events and mode changes, in place of those
	// of Result.Events: by parameters from first on, td[L], of one event after the other, and then by the next ones.
	Time func(e EventTime, first int, td []float64)
	// GrazingLimit is the slope of a guard along the trajectory, relative to its largest slope in the same step, below
	// which a warning says that the derivative of the event hardly exists. 0 means 1e-6.
	GrazingLimit float64
	// Functionals are those of the run, if they were observed while it was made. Without them the run is read for
	// them.
	Functionals []float64
	// Stride is the distance between the rows of Result.DP; 0 means P. What lies between rows is left alone.
	Stride int
	// Tie is the part of the largest value of an expression within which two maxima count as equal. 0 means 1e-12.
	Tie float64
	// LatePeak reads an expression that keeps its largest value, as one at rest does, at the last time that it has it,
	// and not at the first. Derivatives that depend on which are those of one side.
	LatePeak bool
}

func (o *Options) stride(z solvers.Size) int { return max(o.Stride, z.P) }

func (o *Options) grazingLimit() float64 {
	if o.GrazingLimit > 0 {
		return o.GrazingLimit
	}
	return 1e-6
}

func (o *Options) tie() float64 {
	if o.Tie > 0 {
		return o.Tie
	}
	return 1e-12
}

// Result holds values and derivatives of m objectives.
type Result struct {
	Functionals []float64
	Psi         []float64   // [m]
	DP          []float64   // [m][P]: dψ/dp, rows Options.Stride apart
	DY0         []float64   // [m][N]: dψ/dy0, with Options.Initial
	Events      []EventTime // of the run, in order: no more than Options.Events
	Peaks       []Peak      // of the functionals that are peaks, in their order
	Warnings    []solvers.Warning
	Stats       Stats

	// Suspect tells which objectives have cotangents that are not finite at the start of the run or at an event:
	// somewhere the model is not differentiable. Only backward sweeps fill it; otherwise it is empty.
	Suspect []bool // [m]
	// Sound tells which rows of DP are known to hold finite numbers only. Only sweeps with a Sounder fill it; otherwise
	// it is empty.
	Sound []bool // [m]

	observer Observer  // kept for its memory
	readings []reading // of the peaks, in order of time
}

// Stats count the work of a gradient.
type Stats struct {
	Sweeps int // walks along the trajectory
	Steps  int // transposed, pushed or replayed steps in all sweeps
}

// EventTime is an event or a mode change of the run.
type EventTime struct {
	Mark   int // of the trajectory
	Guard  int // that caused it, or -1
	Mode   bool
	Firing solvers.Firing
	T      float64
	DP     []float64 // [P] with Options.EventTimes
}

// need returns x with length n, in new memory only if x is too small. Its contents are overwritten later: the first
// touch of a large gradient costs more than its computation, so nothing is zeroed here.
func need(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	return x[:n]
}

// prepare sets the lengths of res and lists the events of the run.
func (res *Result) prepare(run *record.Trajectory, objectives int, opts Options) {
	z := run.Size()
	if n := objectives * opts.stride(z); cap(res.DP) < n {
		res.DP = make([]float64, n)
	} else {
		res.DP = res.DP[:n] // every method writes all of every row
	}
	res.Suspect, res.Sound = res.Suspect[:0], res.Sound[:0]
	res.DY0 = res.DY0[:0]
	if opts.Initial {
		res.DY0 = need(res.DY0, objectives*z.N)
	}
	res.Events, res.Warnings, res.Stats = res.Events[:0], res.Warnings[:0], Stats{}
	var m solvers.Mark
	for i := range run.Marks() {
		if opts.Events != 0 && len(res.Events) >= opts.Events {
			break
		}
		run.PeekMark(i, &m)
		if !m.Happens() {
			continue
		}
		if e := eventTime(i, &m); opts.Lists == nil || opts.Lists(e) {
			res.Events = append(res.Events, e)
		}
	}
	if opts.EventTimes {
		res.allot(z.P)
	}
}

// eventTime returns what is known of the event or mode change of mark k, m.
func eventTime(k int, m *solvers.Mark) EventTime {
	return EventTime{Mark: k, Guard: m.Guard, Mode: m.Kind == solvers.MarkMode, Firing: m.Firing, T: m.T}
}

// allot makes room for the derivatives of the times of events by p parameters.
func (res *Result) allot(p int) {
	all := make([]float64, len(res.Events)*p)
	for i := range res.Events {
		res.Events[i].DP, all = all[:p:p], all[p:]
	}
}

// Observer is a solvers.Sink that adds up the functionals of a run as it is made.
type Observer struct {
	obj      Objectives
	instants []solvers.Instant
	pt       Point
	F        []float64 // functionals

	peakFinder *peakFinder // nil where no functional is a peak
	run        record.Reader
	step       solvers.Step
	dense      solvers.Step // with stages of its own, to be interpolated
	mark       solvers.Mark
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

func (o *Observer) begin(sys solvers.System, m solvers.Method, opts *Options) (err error) {
	if o.instants == nil {
		o.instants = sys.Instants()
	}
	clear(o.F)
	o.peakFinder, err = newPeakFinder(o.obj, m, sys, opts, o.peakFinder)
	return err
}

// Step implements solvers.Sink.
func (o *Observer) Step(s *solvers.Step, e solvers.End) error {
	for i, dq := range s.DQ {
		o.F[i] += dq
	}
	if o.peakFinder != nil {
		o.peakFinder.over(s, e)
	}
	return nil
}

// Mark implements solvers.Sink.
func (o *Observer) Mark(m *solvers.Mark) error {
	if o.peakFinder != nil && m.Kind == solvers.MarkFire {
		o.peakFinder.fire(m)
	}
	if o.peakFinder != nil && m.Kind == solvers.MarkFinal {
		o.peakFinder.sys.Enter(m.Dp, m.Mp)
		o.peakFinder.final(m)
		for i := range o.peakFinder.tops {
			p := o.peakFinder.peak(i)
			o.F[p.Element] = p.Value
		}
	}
	if o.pt.at(m, o.instants, o.obj) {
		o.obj.Observe(&o.pt, o.F)
	}
	return nil
}

// replay observes a recorded run, like run.Replay but in the Observer's own memory.
func (o *Observer) replay(ctx context.Context, run *record.Trajectory) error {
	o.run.Open(ctx, run)
	mk, marks, jumped := 0, run.Marks(), true
	for i := -1; i < run.Steps(); i++ {
		if i >= 0 && (o.peakFinder != nil || run.Size().Q > 0) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if o.peakFinder != nil && jumped {
				jumped = false
				o.peakFinder.sys.Enter(run.Held(i))
			}
			load, st := o.run.Load, &o.step
			if o.peakFinder != nil {
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

// observe fills in the values of a recorded run.
func (res *Result) observe(
	ctx context.Context, run *record.Trajectory, sys solvers.System, method solvers.Method, obj Objectives,
	opts *Options,
) error {
	n, m := obj.Counts()
	res.Functionals, res.Psi = need(res.Functionals, n), need(res.Psi, m)
	res.Peaks, res.readings = res.Peaks[:0], nil
	if opts.Functionals != nil {
		copy(res.Functionals, opts.Functionals)
		obj.Values(res.Functionals, res.Psi)
		return nil
	}
	o := &res.observer
	o.obj, o.instants, o.F = obj, nil, res.Functionals
	if err := o.begin(sys, method, opts); err != nil { // zeroes F
		return err
	}
	if err := o.replay(ctx, run); err != nil {
		return err
	}
	res.place(o.peakFinder)
	obj.Values(o.F, res.Psi)
	return nil
}

// place notes the peaks that c has found, if there is one, and where they are read.
func (res *Result) place(c *peakFinder) {
	if c == nil {
		return
	}
	for i := range c.tops {
		res.Peaks = append(res.Peaks, c.peak(i))
	}
	res.readings = readings(res.Peaks)
}

// Recorder records a run and observes it meanwhile, unless a functional is a peak: peaks are found in the record.
type Recorder struct {
	*record.Trajectory
	observer *Observer // nil where there are peaks
}

// NewRecorder returns a recorder of runs in tr that observes obj.
func NewRecorder(tr *record.Trajectory, obj Objectives) *Recorder {
	r := &Recorder{Trajectory: tr}
	if peaks, ok := obj.(PeakObjectives); !ok || len(peaks.Peaks()) == 0 {
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
