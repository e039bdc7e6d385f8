package hybrid

import (
	"errors"
	"math"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/lanes"
)

// lane is a run in a lane.
type lane struct {
	s       *Solver
	filter  *filter // its controller, if it is one
	member  int     // that makes its steps
	rows    *lanes.Rows
	block   []float64 // the present one
	began   int       // bytes of blocks at its start
	aimed   bool      // its next step is decided about, but not made
	stop    float64   // the next explicit time
	clip    bool      // the trial step ends there
	moved   bool      // the solver has the present state and slope, and the lane does not
	empty   bool      // there are no more runs for it
	tells   bool      // see LaneUse.Tell
	strider bool      // see strides
	entered bool      // it has the parameters, discretes and modes of its run
	chosen  bool      // the present step may begin at a time that was chosen: the step before it is in no block
	own     bool      // the steps that go to the sink are not in blocks
	apart   bool      // the solver has made the trial step
	loaded  bool      // the solver has the trial step
	ok      bool      // the trial step is not rejected
	located bool      // the trial step was cut to end at a root
	guards  []float64 // what ReadGuards says of it; nil for nothing
	reader  LaneReader
	// The block has the rows of the dense output of the trial step.
	extended bool
	samples  []float64 // what ReadSamples says of it; nil for nothing
}

// errAside is the error of a run that is to be made alone.
var errAside = errors.New("not side by side")

// leave ends the run of a lane.
func (a *lane) leave() {
	if a.s != nil {
		a.s.lane, a.s.quiet, a.s = nil, false, nil
	}
}

// conclude ends the run of a lane, which has come to its end or has an error.
func (a *lane) conclude(err error) {
	if a.tells && err == nil {
		conclude(a.s, true)
	}
	a.leave()
}

// overall returns what Solver.overall does for a step of which the states' errors have this norm.
func (a *lane) overall(norm float64) float64 {
	s, r, tr := a.s, a.rows, a.s.trial
	lanes.Gather(tr.DQ, a.block[r.DQ*lanes.Count:])
	lanes.Gather(s.err[r.N:], a.block[(r.E+r.N)*lanes.Count:])
	if s.opts.Traces {
		lanes.Gather(s.err[:r.N], a.block[r.E*lanes.Count:])
		lanes.Gather(tr.Y0, a.block[r.Y0*lanes.Count:])
		lanes.Gather(tr.Y1, a.block[r.Y1*lanes.Count:])
		a.takeTolerances()
	}
	return s.overall(tr, norm)
}

// accepts decides about the trial step, whose error has the norm overall, and that of the states has norm. factor is
// what factors says.
func (a *lane) accepts(norm, overall, factor float64) (bool, error) {
	s := a.s
	switch {
	case !(norm <= math.MaxFloat64): // see to it as if the run were alone
		a.load()
		return s.judge(s.trial)
	case a.filter != nil && overall <= math.MaxFloat64:
		ok, next := a.filter.judged(s.trial.H, overall, factor)
		return s.decided(s.trial, overall, ok, next)
	}
	ok, next := s.ctl.Judge(s.trial.H, overall)
	return s.decided(s.trial, overall, ok, next)
}

// watch watches the guards over the trial step. It reports whether that is not rejected.
func (a *lane) watch() (bool, error) {
	s := a.s
	a.located = false
	if s.sight.narrow != nil && s.sight.passes(s) {
		return false, nil
	}
	if len(s.guards) == 0 || (!a.clip || s.plain) && s.watch.calm() {
		return true, nil
	}
	length := s.trial
	verdict, err := watched(s)
	if err != nil || verdict == retry {
		return false, err
	}
	if a.located = verdict == found; a.located {
		a.clip = a.clip && s.trial.T1 == length.T1
	}
	return true, nil
}

// accept hands over the trial step. It reports whether the step of the block is that of the run. Those that the solver
// made are not, nor are, with moves, those that end at times that were chosen.
func (a *lane) accept(r *lanes.Rows, moves bool) (made bool, err error) {
	s, located := a.s, a.located
	s.stats.Steps++
	if a.tells && s.bounds.stiff.method != nil {
		if s.bounds.stiff.reads(&s.bounds.spectrum) {
			a.load()
		}
		if s.bounds.stiff.look(s.trial, &s.bounds.spectrum) {
			s.warn(solvers.Warning{Kind: solvers.Stiff, T: s.t, Instant: -1, Value: s.bounds.stiff.rate})
		}
	}
	limited := moves && r.Timed && a.chosen
	if located || a.clip || limited || a.apart {
		if !located {
			a.load()
		}
		own := moves || a.apart
		a.moved, a.own = true, own
		if located || a.clip {
			s.within(true)
			err = s.meet(true)
		} else {
			s.within(false)
			err = s.accept(solvers.End{})
		}
		a.own, a.chosen = true, located || a.clip
		return !own, err
	}
	tr := s.trial
	s.again, a.chosen = false, false
	s.stats.Made[s.member]++
	read := a.reader != nil && a.reader.Until() <= tr.T1
	if read {
		a.load()
	}
	if sizes := s.tol.sizes; sizes != nil && len(sizes.Young) == 0 {
		sizes.Passed(tr.T1)
	} else if sizes != nil {
		a.load()
		s.tol.accepted(s, tr)
	}
	if r.Q > 0 || read || r.Peaks {
		a.own = false
		err = s.sink.Step(tr, solvers.End{})
		if a.own = true; err != nil {
			return false, err
		}
	}
	if s.within(false); len(s.inner) > 0 {
		if err := s.read(tr); err != nil {
			return false, err
		}
	}
	if r.Q > 0 {
		s.integrals.add(tr)
	}
	s.t, s.tiedTo = tr.T1, false
	if s.count++; s.cut > 0 {
		s.anchor, s.count, s.cut = s.t, 0, 0
	}
	s.fresh = r.FSAL
	return true, nil
}

// settle gives the solver the present state, and the slope where the lane has it.
func (a *lane) settle() {
	if a == nil || a.moved {
		return
	}
	r := a.rows
	lanes.Gather(a.s.y, a.block[r.Y0*lanes.Count:])
	a.takeTolerances()
	if a.s.fresh = r.FSAL; r.FSAL {
		lanes.Gather(a.s.trial.K[:r.W], a.block[r.K*lanes.Count:])
	}
}

// made reports whether the solver has made the trial step itself.
func (a *lane) made() bool { return a == nil || a.apart }

// load gives the solver the step, with the estimate of its error if kinks want it, as soon as either is wanted.
func (a *lane) load() {
	if a == nil || a.apart || a.loaded {
		return
	}
	s, r, tr := a.s, a.rows, a.s.trial
	a.loaded = true
	lanes.Gather(tr.Y0, a.block[r.Y0*lanes.Count:])
	a.takeTolerances()
	lanes.Gather(tr.K[:r.Stages*r.W], a.block[r.K*lanes.Count:])
	lanes.Gather(tr.Y1, a.block[r.Y1*lanes.Count:])
	lanes.Gather(tr.DQ, a.block[r.DQ*lanes.Count:])
	if tr.Dense, tr.Estimated = a.extended, false; a.extended {
		lanes.Gather(tr.K[r.Stages*r.W:(r.Stages+r.Extra)*r.W], a.block[r.Dense*lanes.Count:])
	}
	if s.anyKink {
		s.method.Error(tr, s.err)
	}
}

// readGuards writes what the lane knows of the guards at points of the trial step, and reports whether it does.
func (a *lane) readGuards(rho []float64, truth []bool) bool {
	if a == nil || a.apart || a.loaded || a.guards == nil {
		return false
	}
	lanes.Gather(rho, a.guards)
	for i, at := 0, len(rho)*lanes.Count; i < len(truth); i, at = i+1, at+lanes.Count {
		truth[i] = a.guards[at] != 0
	}
	return true
}

// takeTolerances gives the solver the absolute tolerances, unless it knows better.
func (a *lane) takeTolerances() {
	if sizes := a.s.tol.sizes; sizes != nil && a.rows.Abs > 0 && !sizes.Changed {
		lanes.Gather(sizes.Abs, a.block[a.rows.Abs*lanes.Count:])
	}
}

// giveTolerances gives the lane the absolute tolerances that only the solver knows.
func (a *lane) giveTolerances() {
	if sizes := a.s.tol.sizes; sizes != nil && sizes.Changed {
		sizes.Changed = false
		lanes.Scatter(a.block[a.rows.Abs*lanes.Count:], sizes.Abs)
	}
}

// LaneReader is a Sink that reads steps at given times.
type LaneReader interface {
	solvers.Sink
	// Until returns the next of these times, +Inf where there is none: steps that end before it are not wanted.
	Until() float64
}
