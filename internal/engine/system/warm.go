package system

import (
	"slices"
	"sync"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/result"
	"odes.dev/odes/steady"
)

// What runs know of the steady states of other runs. There are two kinds of this knowledge:
//
//   - Answers. Where the rates, what they read, and the state that a search begins at are the same, so is what it
//     finds, to the last bit. Such searches are made once: experiments often begin in one equilibrium, and many params
//     do not reach it.
//   - Rests. A warm search begins at what was found for other values. What it finds need not be what the run leads to,
//     so it is for those who ask for it (Problem.Warm).
//
// Both belong to a search, a chain or a model with its experiments, never to a goroutine.

// Answers are steady states that the problems of one purpose share. Goroutines may share it, too: each state is sought
// by one of them.
type Answers struct {
	mu    sync.Mutex
	list  []*answer
	round int
	work  result.SteadyWork
}

// answer is a question with the state that answers it.
type answer struct {
	question
	round int        // when it was asked last
	mu    sync.Mutex // held while it is sought; guards:
	state *steady.State
}

// question is all that a steady state depends on.
type question struct {
	of   compiled.Digest // see Model.asks
	t    float64
	p    []float64 // the params that a search reads
	y, d []float64
	o    steady.Options // but for From
	from *steady.State  // of a warm search
}

// same reports whether two questions have the same answer.
func (q *question) same(o *question) bool {
	return q.of == o.of && q.t == o.t && q.from == o.from && slices.Equal(q.p, o.p) && slices.Equal(q.y, o.y) &&
		slices.Equal(q.d, o.d) && q.o.Way == o.o.Way && q.o.RTol == o.o.RTol && slices.Equal(q.o.ATol, o.o.ATol) &&
		q.o.Tol == o.o.Tol && q.o.MaxSteps == o.o.MaxSteps && q.o.Span == o.o.Span && q.o.After == o.o.After
}

// rest is the last steady state that a problem found at a moment, and what it was asked.
type rest struct {
	question
	state *steady.State
	steps int // of the last run to such a state
}

// Work returns the work of all problems that share a.
func (a *Answers) Work() result.SteadyWork {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.work
}

// count adds to the work.
func (a *Answers) count(w result.SteadyWork) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.work.Add(w)
}

// Next begins a round: the runs to come are made with other values. Answers that nobody asked for in the last round are
// forgotten.
func (a *Answers) Next() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = slices.DeleteFunc(a.list, func(x *answer) bool { return x.round < a.round })
	a.round++
}

// Forget forgets all answers.
func (a *Answers) Forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = nil
}

// about returns the entry for a question, a new one if it was not asked before.
func (a *Answers) about(q *question) *answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, x := range a.list {
		if x.same(q) {
			x.round = a.round
			return x
		}
	}
	x := &answer{question: *q, round: a.round}
	a.list = append(a.list, x)
	return x
}

// restOptions are those of searches at a moment.
func (p *Problem) restOptions(at compiled.Moment) steady.Options {
	o := p.Steady
	o.After = at == compiled.AfterEnd
	return o
}

// question returns what a search from (t, y, d) at a moment depends on.
func (p *Problem) question(at compiled.Moment, t float64, y, d []float64) question {
	asked := p.Model.Asked()
	q := question{of: asked.Digest, t: t, y: slices.Clone(y), d: slices.Clone(d), o: p.restOptions(at)}
	for _, part := range asked.Params {
		q.p = append(q.p, p.Point.P[part.Offset:part.Offset+part.Len]...)
	}
	return q
}

// Forget makes the next searches ordinary ones: nothing of what was found before is known.
func (p *Problem) Forget() {
	s := &p.settling
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rests, s.found, s.orbit, s.near = [compiled.AfterEnd + 1]rest{}, nil, nil, nil
	p.Answers.Forget()
}

// BeginAt lets the next warm searches begin at the steady states that another problem found last, of a model with the
// same states.
func (p *Problem) BeginAt(other *Problem) {
	s, from := &p.settling, &other.settling
	from.mu.Lock()
	rests, orbit := from.rests, from.orbit
	from.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rests = rests; orbit != nil {
		s.near = orbit.near()
	}
}

// Rested reports whether there is a steady state that a warm search could begin at.
func (p *Problem) Rested() bool {
	s := &p.settling
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.orbit != nil || s.near != nil ||
		slices.ContainsFunc(s.rests[:], func(r rest) bool { return r.state != nil })
}

// begin returns the rest that a search at a moment begins at; nil for an ordinary search.
func (s *settling) begin(p *Problem, at compiled.Moment, d []float64) *rest {
	r := &s.rests[at]
	if !p.Warm || p.Past != nil || r.state == nil || r.state.Fired || p.Steady.Way == steady.Run ||
		len(r.state.D) != len(d) {
		return nil
	}
	return r
}

// search answers a question, of a moment.
func (p *Problem) search(at compiled.Moment, t float64, y, d []float64) (*steady.State, error) {
	s := &p.settling
	q := p.question(at, t, y, d)
	from := s.begin(p, at, d)
	if from != nil && from.same(&q) { // nothing has moved
		p.Answers.count(result.SteadyWork{Searches: 1, Known: 1, Saved: from.steps})
		return from.state, nil
	}
	if from != nil {
		q.from = from.state
	}
	a := p.Answers.about(&q)
	a.mu.Lock()
	defer a.mu.Unlock()
	done := result.SteadyWork{Searches: 1, Known: 1}
	if a.state == nil {
		o := q.o
		if q.from != nil {
			o.From = q.from.Y
		}
		s.worker.refresh()
		find := func() (*steady.State, error) { return steady.Find(s.context(), s.worker, s.plan, t, y, d, o) }
		if p.Past != nil {
			find = func() (*steady.State, error) { return p.Past.Find(s.context(), s.plan, t, y, d, o) }
		}
		state, err := find()
		if err != nil {
			return nil, err
		}
		if a.state = state; state.Warm {
			state.Saved = from.steps
		}
		done = result.SteadyWork{Searches: 1, Steps: state.Steps, Newton: state.Newton}
	}
	found := rest{q, a.state, a.state.Steps}
	found.from = nil
	if a.state.Warm {
		found.steps = a.state.Saved
		done.Warm = 1 - done.Known
	}
	if done.Known+done.Warm > 0 {
		done.Saved = found.steps
	}
	s.rests[at] = found
	p.Answers.count(done)
	return a.state, nil
}
