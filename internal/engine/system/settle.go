package system

import (
	"context"
	"slices"
	"sync"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/steady"
)

// Steady states are bodies of events: assignments, then the state that a run would lead to. Everything that repeats or
// differentiates the event finds the state that was found first for the same values.

// settling is what the workers of a problem know of its steady states.
type settling struct {
	mu      sync.Mutex
	ctx     context.Context // of the run that asks for them; nil where it does not end early
	plan    *steady.Plan
	worker  *Worker
	found   []settled // the last few
	flowed  int       // steps of integrations of derivatives at steady states, of this run
	orbit   *cycle    // the last periodic one
	near    []float64 // where a warm search for the first periodic one begins; nil for nowhere
	rests   [compiled.AfterEnd + 1]rest
	repeats bool  // the last periodic state repeats for other values as well
	err     error // why the last search failed
}

// settled is a steady state, and from where it was sought.
type settled struct {
	version int
	t       float64
	y, d    []float64
	state   *steady.State
	strays  *strays // nil until it was differentiated
}

// Past finds and differentiates steady states of a model that reads its past. A worker is one with tangents.
type Past interface {
	Plan(w *Worker, laws []steady.Law) *steady.Plan
	Find(ctx context.Context, plan *steady.Plan, t float64, y, d []float64, o steady.Options) (*steady.State, error)
	// Push and Pull are of the rates at a steady state, by params and discretes. Push moves that state by yd, and Pull
	// takes it to stand still.
	Push(w *Worker, at *steady.State, t float64, yd, dd, kd []float64)
	Pull(w *Worker, at *steady.State, t float64, kb, db []float64)
	// Resting returns a steady state with what is read of its past.
	Resting(at *steady.State) []float64
}

// mostSettled is how many steady states are kept: those of one run, and of one that is compared with it.
const mostSettled = 4

// Moment returns when event e happens beside the run.
func (w *Worker) Moment(e int) compiled.Moment { return w.model.Moment(e) }

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
func (p *Problem) settle(at compiled.Moment, t float64, y, d []float64) (*steady.State, error) {
	s := &p.settling
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.found {
		f := &s.found[i]
		if f.version == p.Point.Version && f.t == t && slices.Equal(f.y, y) && slices.Equal(f.d, d) {
			s.err = nil
			return f.state, nil
		}
	}
	if s.worker == nil {
		lanes, dir := 1, compiled.Values
		if p.Past != nil {
			lanes, dir = 8, compiled.Push
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
		if s.plan = steady.NewPlan(p.Model.Layout.NY, p.Places(), laws); p.Past != nil {
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
	s.found = append(s.found, settled{p.Point.Version, t, slices.Clone(y), slices.Clone(d), state, nil})
	return state, nil
}

// Resting returns the steady states of the last runs.
func (p *Problem) Resting() (list []*steady.State) {
	p.settling.mu.Lock()
	defer p.settling.mu.Unlock()
	for i := range p.settling.found {
		if f := &p.settling.found[i]; f.version == p.Point.Version {
			list = append(list, f.state)
		}
	}
	if o := p.settling.orbit; o != nil && o.version == p.Point.Version {
		list = append(list, o.state)
	}
	return list
}
