package odes

import (
	"sync"

	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// stages holds one thing per part of a model: tapes, programs or calls.
type stages[T any] struct {
	once, segment, rates              T
	start, instants, choose, guards   T
	initial, final, objective, output T
	invariants                        T
	affects, atTimes, atEvents        []T
}

// transform applies f to every part.
func transform[A, B any](s *stages[A], f func(A) (B, error)) (*stages[B], error) {
	out := &stages[B]{}
	var first error
	one := func(a A) B {
		b, err := f(a)
		if err != nil && first == nil {
			first = err
		}
		return b
	}
	many := func(as []A) []B {
		bs := make([]B, len(as))
		for i, a := range as {
			bs[i] = one(a)
		}
		return bs
	}
	out.once, out.segment, out.rates = one(s.once), one(s.segment), one(s.rates)
	out.start, out.instants, out.choose, out.guards = one(s.start), one(s.instants), one(s.choose), one(s.guards)
	out.initial, out.final, out.objective, out.output = one(s.initial), one(s.final), one(s.objective), one(s.output)
	out.invariants = one(s.invariants)
	out.affects, out.atTimes, out.atEvents = many(s.affects), many(s.atTimes), many(s.atEvents)
	return out, first
}

// programs are the tapes of a model and what was compiled of them so far, by
// lane count and active parameters. Safe for concurrent use.
type programs struct {
	layout *layout
	tapes  *stages[*tape.Tape]

	mu   sync.Mutex
	kits map[kitKey]*kit
}

type kitKey struct {
	lanes  int
	active string // names of the active params; "" for values only
}

// kit is everything needed to run a model with a lane count: programs of the
// values, their transposes and their tangents.
type kit struct {
	lanes             int
	layout            *layout
	value, pull, push *stages[*program]
}

func newPrograms(c *tapec.Compiled, l *layout) *programs {
	h := hoist(c.Rates)
	if h.once != nil {
		l.nC = l.hoisted(h.once, vecC)
	}
	if h.segment != nil {
		l.nE = l.hoisted(h.segment, vecE)
	}
	return &programs{
		layout: l,
		kits:   map[kitKey]*kit{},
		tapes: &stages[*tape.Tape]{
			once: h.once, segment: h.segment, rates: h.rates,
			start: c.Start, instants: c.Instants, choose: c.Choose, guards: c.Guards,
			initial: c.Initial, final: c.Final, objective: c.Objective, output: c.Outputs,
			invariants: c.Invariants,
			affects:    c.Affects, atTimes: c.AtTimes, atEvents: c.AtEvents,
		},
	}
}

// direction says which derivatives a kit holds.
type direction uint8

const (
	valuesOnly direction = iota
	pulling
	pushing
)

// kit returns the programs for lanes lanes and the active params, making them once.
func (p *programs) kit(lanes int, active []string, dir direction) (*kit, error) {
	key := kitKey{lanes: lanes}
	if dir != valuesOnly {
		key.active = [...]string{"", "<", ">"}[dir]
		for _, name := range active {
			key.active += name + "\n"
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := p.kits[key]; k != nil {
		return k, nil
	}
	k := &kit{lanes: lanes, layout: p.layout}
	compile := func(tapes *stages[*tape.Tape], derive func(*tape.Tape) (*tape.Tape, error)) (*stages[*program], error) {
		return transform(tapes, func(t *tape.Tape) (*program, error) {
			d, err := derive(t)
			if err != nil || d == nil {
				return nil, err
			}
			return newProgram(d, p.layout, lanes, func(v vector) bool {
				switch v {
				case vecY, vecT: // a stage's transpose overwrites; all others add
					return t != p.tapes.rates
				case vecF:
					return false
				}
				return true
			})
		})
	}
	var err error
	if k.value, err = compile(p.tapes, func(t *tape.Tape) (*tape.Tape, error) { return t, nil }); err != nil {
		return nil, err
	}
	d := derivatives{active: map[string]bool{}}
	for _, name := range active {
		d.active["p."+name] = true
	}
	differentiable := *p.tapes
	differentiable.choose, differentiable.output, differentiable.invariants = nil, nil, nil
	switch dir {
	case pulling:
		k.pull, err = compile(&differentiable, d.pull)
	case pushing:
		k.push, err = compile(&differentiable, d.push)
	}
	if err != nil {
		return nil, err
	}
	p.kits[key] = k
	return k, nil
}
