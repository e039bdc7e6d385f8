package steady

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/methods"
)

// errSettled ends the run once the steady state is known.
var errSettled = errors.New("settled")

// still is the system of the run to a steady state: time stands still, and what happens at given times does not.
type still struct {
	System
	t, horizon float64
	begin      float64 // when the run begins: t, or later where it goes on
	y, d       []float64
}

func (s *still) Start(_ float64, y, d []float64) {
	copy(y, s.y)
	copy(d, s.d)
}

func (s *still) Eval(_ float64, y, k []float64)         { s.System.Eval(s.t, y, k) }
func (s *still) EvalJacobian(_ float64, y, j []float64) { s.System.EvalJacobian(s.t, y, j) }
func (s *still) Choose(_ float64, y []float64, kept []bool, m []float64) {
	s.System.Choose(s.t, y, kept, m)
}

func (s *still) GuardValues(_ float64, y, rho []float64, truth []bool) {
	s.System.GuardValues(s.t, y, rho, truth)
}

func (s *still) InstantTimes(d, times []float64) {
	s.System.InstantTimes(d, times)
	for i, in := range s.Instants() {
		switch {
		case in.Kind == solvers.InstantStart:
			times[i] = s.begin
		case in.Kind == solvers.InstantEnd:
			times[i] = s.t + s.horizon
		case in.Kind != solvers.InstantValue && !in.Pending:
			times[i] = math.Inf(1)
		}
	}
}

// Mass is that of the system.
func (s *still) Mass() *matrices.Mass { return s.System.Jacobian().Mass }

// Events tells of none after the end: the search does not search again.
func (s *still) Events() []solvers.Event {
	list := s.System.Events()
	for i := range list {
		list[i].After = false
	}
	return list
}

// Priorities implements solvers.Prioritized.
func (s *still) Priorities(_ float64, y, priorities []float64) {
	if p, ok := s.System.(solvers.Prioritized); ok {
		p.Priorities(s.t, y, priorities)
	}
}

// follower is the sink of that run.
type follower struct {
	*search
	far    []float64 // the largest size of each state so far
	wait   float64   // no attempt with steps shorter than this
	steps  int
	past   []float64 // the state a step ago
	swing  *swings
	result *State
	err    error
	blank  bool // Newton's equations had no solution
	end    float64
	floor  []float64 // how exactly each state is wanted where it is zero
}

// follow runs to the steady state.
func (s *search) follow(ctx context.Context) (*State, error) {
	const far, enough = 1e12, 1e-7
	f := &follower{search: s, far: s.largest, past: make([]float64, s.n), swing: newSwings(s.n)}
	f.floor = make([]float64, s.n)
	for i := range s.y {
		f.floor[i] = s.tolerance(i, 0)
	}
	sys := &still{System: s.sys, t: s.t, begin: s.t, horizon: float64(far * s.o.Span), y: s.y, d: s.d}
	spec, _ := methods.Lookup("rodas4p")
	method := spec.New(s.sys.Size(), 0)
	rule, _ := hybrid.LookupController("")
	opts := solvers.Options{
		RTol: s.o.RTol, ATol: s.o.ATol[0], QuadTol: -1, Quadratures: []int{},
	}
	if len(s.o.ATol) == s.n {
		opts.ATols = slices.Clone(s.o.ATol)
	}
	if looser := enough / opts.RTol; s.o.Way != Run && looser > 1 { // Newton's method brings the digits
		opts.RTol = enough
		opts.ATol *= looser
		for i := range opts.ATols {
			opts.ATols[i] *= looser
		}
	}
	var stats solvers.Stats
	run := func(steps int) (err error) {
		opts.MaxSteps = steps
		stats, err = hybrid.Solve(ctx, sys, method, rule.Controller(method.Info()), opts, f)
		return err
	}
	exact := min(s.exact(), s.o.MaxSteps)
	err := run(exact)
	var many *solvers.TooManyStepsError
	before := 0
	if exact < s.o.MaxSteps && errors.As(err, &many) {
		before = exact
		opts.RTol *= loosely
		sys.begin, sys.y, sys.d = f.end, slices.Clone(f.y), slices.Clone(f.d)
		err = run(s.o.MaxSteps - exact)
	}
	if f.result != nil {
		f.result.Steps, f.result.T = before+stats.Steps, stats.T-s.t
		return f.result, f.err
	}
	if f.err != nil {
		return nil, f.err
	}
	return nil, f.diagnose(err)
}

// exact returns how many steps of the run are as exact as Options.RTol says. What is left of a run so long, of many
// states, is followed loosely: Newton's method brings the digits, and no event is on the way that could be missed.
func (s *search) exact() int {
	const dear = 1 << 21 // steps times states
	if s.o.Way == Run || !followable(s.sys, s.d) {
		return s.o.MaxSteps
	}
	return cmp.Or(s.o.dear, dear) / max(s.n, 1)
}

// loosely is how many times the relative tolerance is larger then.
const loosely = 1000

// Begin implements solvers.Sink.
func (f *follower) Begin(solvers.System, solvers.Method) error { return nil }

// Mark implements solvers.Sink.
func (f *follower) Mark(m *solvers.Mark) error {
	copy(f.y, m.Yp)
	copy(f.d, m.Dp)
	copy(f.m, m.Mp)
	if m.Kind == solvers.MarkFire {
		f.jump(m)
	}
	if m.Happens() {
		f.swing.reset()
		f.wait = 0
	}
	if m.Kind == solvers.MarkStart {
		f.sys.Eval(f.t, f.y, f.f)
		if resting(f.f[:f.n]) {
			return f.attempt()
		}
	}
	return nil
}

// jump notes what the body of an event changed.
func (f *follower) jump(m *solvers.Mark) {
	const rounding, many = 0x1p-45, 100
	same := func(j Jump) bool { return j.Firing.Event == m.Firing.Event }
	if len(f.jumps) < many || !slices.ContainsFunc(f.jumps, same) {
		f.jumps = append(f.jumps, Jump{
			Firing: m.Firing, T: m.T, Y: slices.Clone(m.Ym), D: slices.Clone(m.Dm), M: slices.Clone(m.Mm),
		})
	}
	f.fired = f.fired || !slices.Equal(m.Dm, m.Dp)
	before, after := f.plan.Totals(m.Ym), f.plan.Totals(m.Yp)
	for k := range f.totals {
		size, law := 0.0, &f.plan.Laws[k]
		for i, state := range law.States {
			size = math.FMA(math.Abs(law.Coefs[i]), math.Abs(m.Yp[state])+math.Abs(m.Ym[state]), size)
		}
		if change := after[k] - before[k]; math.Abs(change) > float64(rounding*size) {
			f.totals[k] += change
			f.fired = true
		}
	}
}

func resting(f []float64) bool {
	for _, x := range f {
		if x != 0 {
			return false
		}
	}
	return true
}

// Step implements solvers.Sink.
func (f *follower) Step(st *solvers.Step, _ solvers.End) error {
	const small = 1e-2 // of the largest size of a state: the change of a step from which on Newton's method is tried
	f.steps++
	copy(f.past, st.Y0)
	copy(f.y, st.Y1)
	f.end = st.T1
	if st.H <= 0 {
		return nil
	}
	moves, most := false, 0.0
	floor, before := f.floor[:len(f.far)], st.Y0[:len(f.far)]
	for i, y := range st.Y1[:len(f.far)] {
		size := math.Abs(y)
		if size > most {
			most = size
		}
		if size > f.far[i] {
			f.far[i] = size
		}
		if !moves {
			moves = math.Abs(y-before[i]) > float64(small*(f.far[i]+floor[i]))
		}
	}
	if err := f.swing.step(st, f.far); err != nil {
		f.err = f.oscillates(err)
		return errSettled
	}
	if most > beyond && f.grown() {
		return errSettled // diagnosed there
	}
	if moves || st.H < f.wait {
		return nil
	}
	f.wait = float64(1.5 * st.H)
	return f.attempt()
}

// attempt tries whether Newton's method leads from here to a stable state close by.
func (f *follower) attempt() error {
	const near = 1e-3 // of the largest size of a state: how near
	if Waiting(f.sys, f.d) {
		return nil
	}
	copy(f.next, f.y)
	if f.o.Way == Run {
		size, err := f.step(f.next)
		if err != nil || !(size <= f.o.Tol) {
			f.blank = f.blank || err != nil
			return nil
		}
	} else {
		ok, err := f.polish(f.next)
		if f.blank = err != nil; !ok || err != nil {
			return nil
		}
	}
	for i, y := range f.next {
		if d := math.Abs(y - f.y[i]); d > float64(near*f.far[i])+f.tolerance(i, 0) {
			return nil
		}
		if y < -f.tolerance(i, 0) && f.y[i] >= 0 {
			return nil
		}
	}
	modes := append([]float64(nil), f.m...)
	f.sys.Choose(f.t, f.next, nil, modes)
	for k, m := range modes {
		if m != f.m[k] {
			return nil
		}
	}
	result, err := f.settle()
	var unstable *Error
	if errors.As(err, &unstable) && unstable.Fault == Unstable && f.steps > 0 {
		f.sys.Eval(f.t, f.y, f.f)
		if !resting(f.f[:f.n]) { // the run passes it
			return nil
		}
	}
	f.result, f.err = result, err
	if f.result == nil && f.err == nil {
		return nil
	}
	return errSettled
}
