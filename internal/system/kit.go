package system

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// stages holds one thing per part of a model: tapes, programs or calls.
type stages[T any] struct {
	once, segment, rates              T
	start, instants, choose, guards   T
	initial, final, objective, output T
	peaks, invariants                 T
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
	out.peaks, out.invariants = one(s.peaks), one(s.invariants)
	out.affects, out.atTimes, out.atEvents = many(s.affects), many(s.atTimes), many(s.atEvents)
	return out, first
}

// programs are the tapes of a model and what was compiled of them so far, by
// lane count and active parameters. Safe for concurrent use.
type programs struct {
	model  *Model
	layout *layout
	tapes  *stages[*tape.Tape]
	rates  *tape.Tape // from which nothing is hoisted
	slopes *tape.Tape // of the peaks, as time passes and the state moves; nil for none

	mu   sync.Mutex
	kits map[kitKey]*Kit
}

type kitKey struct {
	lanes  int
	dir    Direction
	many   bool
	active string // names of the active params; "" for values only
}

// kit is everything needed to run a model with a lane count: programs of the
// values, their transposes and their tangents.
type Kit struct {
	lanes             int
	layout            *layout
	value, pull, push *stages[*program]
	second            *stages[*program] // the transposes with their tangents, of tapes from which nothing is hoisted
	slopes            *program          // of one lane; nil for none

	plan   *plan    // of the parameters' cotangents, or their order as tangents
	shared *program // the part of the rates' transpose that all sweeps share; nil for none
	nW     int
	sides  []sides // of the parameters whose tangents move one element at a time
	nSides int

	mu     sync.Mutex
	wholes map[wholeKey]*wholeProgram
}

func newPrograms(m *Model) (*programs, error) {
	c, l := m.Compiled, m.layout
	h := hoist(c.Rates)
	if h.once != nil {
		l.nC = l.hoisted(h.once, vecC)
	}
	if h.segment != nil {
		l.nE = l.hoisted(h.segment, vecE)
	}
	// By the time and the state alone: nothing else moves between events.
	slopes, err := (&derivatives{clock: true}).push(c.Peaks)
	if err != nil {
		return nil, err
	}
	return &programs{
		model: m, layout: l, rates: c.Rates, slopes: slopes,
		kits: map[kitKey]*Kit{},
		tapes: &stages[*tape.Tape]{
			once: h.once, segment: h.segment, rates: h.rates,
			start: c.Start, instants: c.Instants, choose: c.Choose, guards: c.Guards,
			initial: c.Initial, final: c.Final, objective: c.Objective, output: c.Outputs,
			peaks: c.Peaks, invariants: c.Invariants,
			affects: c.Affects, atTimes: c.AtTimes, atEvents: c.AtEvents,
		},
	}, nil
}

// Direction says which derivatives a Kit holds.
type Direction uint8

// The directions.
const (
	Values       Direction = iota // no derivatives
	Pull                          // transposes
	PullStates                    // transposes with no active params
	Push                          // tangents
	PushElements                  // tangents along one element of the params in each lane at most
	PushPull                      // tangents, and tangents of transposes
)

// sides tell where the unit vectors lie of which the tangent of a matrix that moves at one element is the outer product.
type sides struct {
	column     part // of the matrix among the tangents of parameters
	rows, cols int
	at         int // rows, then cols
}

// Kit returns the programs of the problem for lanes lanes. many tells that several sweeps over one run will follow each
// other.
func (p *Problem) Kit(lanes int, dir Direction, many bool) (*Kit, error) {
	active := p.active
	switch dir {
	case Values:
		active = nil
	case PullStates:
		active, dir = nil, Pull
	}
	return p.Model.programs.kit(lanes, active, dir, many)
}

// kit returns the programs for lanes lanes and the active params, making them once.
func (p *programs) kit(lanes int, active []string, dir Direction, many bool) (*Kit, error) {
	key := kitKey{lanes: lanes, dir: dir, many: many, active: strings.Join(active, "\n")}
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := p.kits[key]; k != nil {
		return k, nil
	}
	k := &Kit{lanes: lanes, layout: p.layout, plan: newPlan(p.layout, active)}
	var err error
	if k.value, err = compile(p.tapes, p.layout.find, lanes, nil); err != nil {
		return nil, err
	}
	if k.slopes, err = newProgram(p.slopes, p.layout.find, 1, nil); err != nil {
		return nil, err
	}
	switch dir {
	case Pull:
		err = k.transposed(p, active, many)
	case Push, PushElements:
		err = k.tangents(p.tapes, active, dir == PushElements)
	case PushPull:
		if err = k.tangents(p.tapes, active, false); err == nil {
			err = k.bends(p.tapes, p.rates, active)
		}
	}
	if err != nil {
		return nil, err
	}
	p.kits[key] = k
	return k, nil
}

// compile makes programs of tapes.
func compile(tapes *stages[*tape.Tape], find finder, lanes int, add func(vector) bool) (*stages[*program], error) {
	return transform(tapes, func(t *tape.Tape) (*program, error) { return newProgram(t, find, lanes, add) })
}

// derived returns the derivatives of the tapes that have any.
func derived(tapes *stages[*tape.Tape], active []string, derive func(*derivatives, *tape.Tape) (*tape.Tape, error)) (*stages[*tape.Tape], error) {
	d := &derivatives{active: map[string]bool{}}
	for _, name := range active {
		d.active["p."+name] = true
	}
	differentiable := *tapes
	differentiable.choose, differentiable.output, differentiable.invariants = nil, nil, nil
	return transform(&differentiable, func(t *tape.Tape) (*tape.Tape, error) { return derive(d, t) })
}

// tangents makes k.push. Where each lane moves one element only, that shortens products with matrices of parameters.
func (k *Kit) tangents(tapes *stages[*tape.Tape], active []string, elements bool) error {
	push, err := derived(tapes, active, (*derivatives).push)
	if err != nil {
		return err
	}
	places := maps.Clone(k.plan.columns)
	if elements {
		push, _ = transform(push, func(t *tape.Tape) (*tape.Tape, error) {
			if t == nil {
				return nil, nil
			}
			t, names := tapec.Elements(t, func(input string) bool { return strings.HasPrefix(input, "dot.p.") })
			for _, name := range names {
				k.sidesOf(t, name, places)
			}
			return t, nil
		})
	}
	k.push, err = compile(push, k.find(places), k.lanes, nil)
	return err
}

// sidesOf gives the sides of the tangent name, which t reads, a place.
func (k *Kit) sidesOf(t *tape.Tape, name string, places map[string]part) {
	if _, ok := places["row."+name]; ok {
		return
	}
	row, _ := t.Input("row." + name)
	column, _ := t.Input("column." + name)
	s := sides{k.plan.columns[name[len("dot."):]], t.Shape(row).Size(), t.Shape(column).Size(), k.nSides}
	places["row."+name] = part{vecSides, s.at, s.rows}
	places["column."+name] = part{vecSides, s.at + s.rows, s.cols}
	k.sides = append(k.sides, s)
	k.nSides += s.rows + s.cols
}

// bends makes k.second. Nothing is hoisted: what the rates do with parameters alone is done at every stage.
func (k *Kit) bends(tapes *stages[*tape.Tape], rates *tape.Tape, active []string) error {
	whole := *tapes
	whole.once, whole.segment, whole.rates = nil, nil, rates
	several := severally(tapes)
	second, err := derived(&whole, active, func(d *derivatives, t *tape.Tape) (*tape.Tape, error) {
		return d.second(t, slices.Contains(several, t))
	})
	if err != nil {
		return err
	}
	find := k.find(k.plan.columns)
	its := second.rates
	second.rates = nil
	if k.second, err = compile(second, find, k.lanes, func(v vector) bool { return v != vecF }); err != nil {
		return err
	}
	k.second.rates, err = newProgram(its, find, k.lanes, func(v vector) bool { return v != vecY && v != vecT })
	return err
}

// severally lists the tapes whose outputs must not spoil each other where one has no derivative: those of objectives.
func severally(tapes *stages[*tape.Tape]) []*tape.Tape {
	list := append([]*tape.Tape{tapes.objective, tapes.initial, tapes.final, tapes.peaks}, tapes.atTimes...)
	return append(list, tapes.atEvents...)
}

// transposed makes k.pull: from the transpose of the rates it takes out what
// all sweeps share, and the products that are better done for many stages at once.
func (k *Kit) transposed(p *programs, active []string, many bool) error {
	several := severally(p.tapes)
	pull, err := derived(p.tapes, active, func(d *derivatives, t *tape.Tape) (*tape.Tape, error) {
		return d.pull(t, slices.Contains(several, t))
	})
	if err != nil {
		return err
	}
	places := map[string]part{}
	if pull.rates != nil {
		var shared *tape.Tape
		if many {
			shared, pull.rates = split(pull.rates, tapec.SharedWork, func(n tapec.Name) bool { return n.Variation == tapec.Cotangent })
		}
		var list []tapec.Deferred
		pull.rates, list = tapec.Defer(pull.rates, leastDeferred, func(output string) bool { return strings.HasPrefix(output, "bar.p.") })
		places = k.plan.defers(list, k.lanes)
		if shared != nil {
			for _, o := range shared.Outputs {
				n := shared.Shape(o.Value).Size()
				places[o.Name] = part{vecW, k.nW, n}
				k.nW += n
			}
		}
		find := k.find(places)
		if shared != nil {
			if k.shared, err = newProgram(shared, find, 1, nil); err != nil {
				return err
			}
		}
	}
	for name, at := range k.plan.gather(k.layout, pull, active) {
		places[name] = at
	}
	if p.model.Mutant != nil {
		pull, _ = transform(pull, func(t *tape.Tape) (*tape.Tape, error) {
			if t == nil {
				return nil, nil
			}
			return p.model.Mutant(t), nil
		})
	}
	rates := pull.rates
	pull.rates = nil
	find := k.find(places)
	if k.pull, err = compile(pull, find, k.lanes, func(v vector) bool { return v != vecF }); err != nil {
		return err
	}
	// a stage's transpose overwrites the cotangents of state and time; all others add
	k.pull.rates, err = newProgram(rates, find, k.lanes, func(v vector) bool { return v != vecY && v != vecT })
	return err
}

// find is the layout's, but for derivatives by parameters and names that only this kit has.
func (k *Kit) find(places map[string]part) finder {
	return func(name string) (part, variation, bool) {
		if at, ok := places[name]; ok && at.vec != vecP {
			return at, primal, true
		}
		at, vary, ok := k.layout.find(name)
		if ok && vary != primal && at.vec == vecP {
			_, name := varied(name)
			at, ok = places[name]
		}
		return at, vary, ok
	}
}
