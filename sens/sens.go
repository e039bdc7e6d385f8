package sens

import (
	"context"
	"slices"

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
	readings []reading // where functionals are read that no mark says, in the order of the run
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
	if err := o.replay(ctx, run, sys); err != nil {
		return err
	}
	res.found(o.observers)
	obj.Values(o.F, res.Psi)
	return nil
}

// found notes what observers have found.
func (res *Result) found(by []observer) {
	res.readings = nil
	for _, x := range by {
		res.readings = append(res.readings, x.end(res)...)
	}
	if len(by) > 1 {
		slices.SortStableFunc(res.readings, func(a, b reading) int { return a.compare(b.place) })
	}
}
