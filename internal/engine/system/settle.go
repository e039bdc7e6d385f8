package system

import (
	"context"
	"math"
	"slices"
	"sync"

	"odes.dev/odes/internal/engine/laws"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/steady"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Steady states are bodies of events: assignments, then the state that a run would lead to. Everything that repeats or
// differentiates the event finds the state that was found first for the same values.

// settling is what the workers of a problem know of its steady states.
type settling struct {
	mu     sync.Mutex
	ctx    context.Context // of the run that asks for them; nil where it does not end early
	plan   *steady.Plan
	worker *Worker
	found  []settled // the last few
	flowed int       // steps of integrations of derivatives at steady states, of this run
	orbit  *cycle    // the last periodic one
	near   []float64 // where a warm search for the first periodic one begins; nil for nowhere
	rests  [AfterEnd + 1]rest
	err    error // why the last search failed
}

// settled is a steady state, and from where it was sought.
type settled struct {
	version int
	t       float64
	y, d    []float64
	state   *steady.State
}

// Past finds and differentiates steady states of a model that reads its past. A worker is one with tangents.
type Past interface {
	Plan(w *Worker, laws []steady.Law) *steady.Plan
	Find(ctx context.Context, plan *steady.Plan, t float64, y, d []float64, o steady.Options) (*steady.State, error)
	// Push and Pull are of the rates at a steady state that stands still, by params and discretes.
	Push(w *Worker, at *steady.State, t float64, dd, kd []float64)
	Pull(w *Worker, at *steady.State, t float64, kb, db []float64)
}

// mostSettled is how many steady states are kept: those of one run, and of one that is compared with it.
const mostSettled = 4

// Settles reports whether runs of the model find steady states.
func (m *Model) Settles() bool {
	for _, e := range m.Checked.Events {
		if e.Settles {
			return true
		}
	}
	return false
}

// Moment says when an event happens beside the run.
type Moment uint8

// The moments.
const (
	Within      Moment = iota // not beside it
	BeforeStart               // what it leaves is where the run begins
	AfterEnd                  // only some functionals see it
)

// Moment returns when event e happens beside the run.
func (w *Worker) Moment(e int) Moment { return w.model.moment(e) }

func (m *Model) moment(e int) Moment {
	switch ev := m.Checked.Events[e]; {
	case ev.After:
		return AfterEnd
	case ev.Settles || ev.Resumes:
		return BeforeStart
	}
	return Within
}

// Span returns the length of the run's time, for params at pt; 1 where it is not known.
func (m *Model) Span(pt *Point) float64 {
	t := m.Compiled.Instants
	e := tape.NewEvaluator[float64](t)
	if !m.load(t, e, &vec.Values{vec.P: pt.p, vec.D: make([]float64, m.layout.ND)}) {
		return 1
	}
	e.Run()
	times := e.Output(tapec.Times.Name().String())
	if span := times[1] - times[0]; span > 0 && !math.IsInf(span, 1) {
		return span
	}
	return 1
}

// Initial returns the initial state at pt; nil where it depends on what only a run knows.
func (m *Model) Initial(pt *Point) []float64 {
	known := vec.Values{vec.P: pt.p, vec.D: make([]float64, m.layout.ND), vec.T: []float64{0}}
	at := tape.NewEvaluator[float64](m.Compiled.Instants)
	if !m.load(m.Compiled.Instants, at, &known) {
		return nil
	}
	at.Run()
	known[vec.T][0] = at.Output(tapec.Times.Name().String())[0]
	t := m.Compiled.Start
	e := tape.NewEvaluator[float64](t)
	if !m.load(t, e, &known) {
		return nil
	}
	e.Run()
	y := make([]float64, m.layout.NY)
	for _, out := range t.Outputs {
		if to := m.layout.Part(tapec.MustName(out.Name)); to.Vec == vec.Y {
			copy(y[to.Offset:], e.Output(out.Name))
		}
	}
	return y
}

// StateUnit returns the unit of element i of the state vector.
func (m *Model) StateUnit(i int) units.Unit {
	for k, p := range m.layout.States {
		if i >= p.Offset && i < p.Offset+p.Len {
			return m.Checked.States[k].Type.Unit
		}
	}
	return units.Unit{}
}

// Conserved returns the conserved quantities of the model: combinations of the states with whole numbers as
// coefficients that stay what they are whatever the params are, between two events. The error is that of ctx.
func (m *Model) Conserved(ctx context.Context) ([]steady.Law, error) {
	m.laws.mu.Lock()
	defer m.laws.mu.Unlock()
	if m.laws.found {
		return m.laws.list, nil
	}
	list, err := m.laws.of.rates(func(tapec.Name) bool { return false }).Laws(ctx)
	if err != nil {
		return nil, err
	}
	if m.mass != nil {
		for k := range list {
			list[k] = list[k].Of(m.mass)
		}
	}
	m.laws.list, m.laws.found = list, true
	return list, nil
}

// conserved are the conserved quantities of a model, once they are found. Copies of the model share them.
type conserved struct {
	of    *Model
	mu    sync.Mutex
	found bool
	list  []steady.Law
}

// unknowns lists the elements of the state vector that have no rates.
func (m *Model) unknowns() []int32 {
	if m.mass == nil {
		return nil
	}
	return m.mass.Unknowns
}

// rates evaluates the rates at random residues, other ones for each sample but for inputs that stay.
func (m *Model) rates(stays func(tapec.Name) bool) *steady.Rates {
	r := &steady.Rates{N: m.layout.NY, Unknowns: m.unknowns()}
	laws.Sample(r, m.Compiled.Rates, func(out tapec.Name) int { return m.layout.Part(out).Offset }, stays)
	if r.N < laws.Many {
		return r
	}
	if j, err := m.programs.withJacobian(false); err == nil { // it may have too many entries
		laws.Derive(r, j.made.Tape, j.made.Rows, j.made.Cols, stays)
	}
	return r
}

// Coefficients lists the params that are coefficients of conserved quantities, as volumes of compartments are.
// Conserved does not find such quantities. The error is that of ctx.
func (m *Model) Coefficients(ctx context.Context) (params []string, err error) {
	const large = 400 // states times params for which it takes no time
	if m.layout.NY*len(m.Compiled.Rates.Inputs) > large*large {
		return nil, nil
	}
	laws, err := m.Conserved(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, in := range m.Compiled.Rates.Inputs {
		if x := tapec.MustName(in.Name); x.Role == tapec.Param {
			names = append(names, x.Of)
		}
	}
	return steady.Coefficients(len(laws), names, func(moves string) (int, error) {
		return m.rates(func(x tapec.Name) bool { return x.Role == tapec.Param && x.Of != moves }).Sums(ctx)
	})
}

// SteadyError returns why the last search for a steady state failed; nil if it did not.
func (p *Problem) SteadyError() error {
	p.settling.mu.Lock()
	defer p.settling.mu.Unlock()
	return p.settling.err
}

// Search forgets why the last search for a steady state failed: another run begins, and its searches end with ctx.
func (p *Problem) Search(ctx context.Context) {
	p.settling.mu.Lock()
	defer p.settling.mu.Unlock()
	p.settling.err, p.settling.flowed, p.settling.ctx = nil, 0, ctx
}

// context returns that of the run under way.
func (s *settling) context() context.Context {
	if s.ctx == nil {
		return context.Background()
	}
	return s.ctx
}

// Flowed returns how many steps integrations of derivatives at steady states took in the last run.
func (p *Problem) Flowed() int {
	p.settling.mu.Lock()
	defer p.settling.mu.Unlock()
	return p.settling.flowed
}

// settle finds the steady state that a run from (t, y, d) leads to, at a moment.
func (p *Problem) settle(at Moment, t float64, y, d []float64) (*steady.State, error) {
	s := &p.settling
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.found {
		f := &s.found[i]
		if f.version == p.Point.version && f.t == t && slices.Equal(f.y, y) && slices.Equal(f.d, d) {
			s.err = nil
			return f.state, nil
		}
	}
	if s.worker == nil {
		lanes, dir := 1, Values
		if p.Past != nil {
			lanes, dir = 8, Push
		}
		k, err := p.Kit(lanes, dir, false)
		var laws []steady.Law
		if err == nil {
			laws, err = p.Model.Conserved(s.context())
		}
		if s.err = err; err != nil {
			return nil, err
		}
		s.worker = p.Worker(k)
		if s.plan = steady.NewPlan(p.Model.layout.NY, p.places(), laws); p.Past != nil {
			s.plan = p.Past.Plan(s.worker, laws)
		}
	}
	state, err := p.search(at, t, y, d)
	if s.err = err; err != nil {
		return nil, err
	}
	if len(s.found) == mostSettled {
		s.found = slices.Delete(s.found, 0, 1)
	}
	s.found = append(s.found, settled{p.Point.version, t, slices.Clone(y), slices.Clone(d), state})
	return state, nil
}

// Resting returns the steady states of the last runs.
func (p *Problem) Resting() (list []*steady.State) {
	p.settling.mu.Lock()
	defer p.settling.mu.Unlock()
	for i := range p.settling.found {
		if f := &p.settling.found[i]; f.version == p.Point.version {
			list = append(list, f.state)
		}
	}
	if o := p.settling.orbit; o != nil && o.version == p.Point.version {
		list = append(list, o.state)
	}
	return list
}
