package compiled

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// programs are the tapes of a model and what has been compiled of them, by lane count and active
// parameters. Goroutines may share them.
type programs struct {
	Hoisted
	WithJacobian func(split bool) (*jacobian, error)
	slopes       *tape.Tape // of the peaks, as time passes and the state moves; nil for none
	Bent         *BentGuards
	Clocks       *ByTime // the margins of conditions of time alone; nil where all are affine

	Signals     *ByTime // of the rates; nil for none
	PeakSignals *ByTime // of the peaks; nil for none
	// SignalReaders are, for each signal of the rates, the rates that depend on it.
	SignalReaders       [][]tapec.Name
	Narrow, NarrowPeaks *NarrowParts // of the rates and of the peaks; nil for none

	mu     sync.Mutex
	kits   map[kitKey]*Kit
	values map[valueKey]valuePrograms            // that kits share
	mutant func(transpose *tape.Tape) *tape.Tape // see Mutate; nil for none
}

// Mutate makes mutant replace every transpose that is compiled from now on; those that there are, are compiled again.
// Tests make transposes wrong with it.
func (m *Model) Mutate(mutant func(transpose *tape.Tape) *tape.Tape) {
	p := m.Programs
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mutant = mutant
	maps.DeleteFunc(p.kits, func(k kitKey, _ *Kit) bool { return k.dir == Pull })
}

// valueKey says what programs of values are for. Kits with one key share them, whatever derivatives they hold.
type valueKey struct {
	lanes           int
	jacobian, split bool
}

// valuePrograms are those programs of a kit that a run without derivatives needs.
type valuePrograms struct {
	of     *tapec.Parts[*Program]
	slopes *Program // of the peaks, of one lane; nil for none
}

type kitKey struct {
	lanes    int
	dir      Direction
	many     bool
	jacobian bool
	split    bool
	active   string // names of the active params; "" for values only
	bound    float64
}

// Hoisted are the tapes of a model.
type Hoisted struct {
	Layout *vec.Layout
	family *family
	Tapes  *tapec.Parts[*tape.Tape]
	// From these nothing is hoisted. There is a jacobian if tapes have one.
	Rates, Jacobian *tape.Tape
}

// Kit is everything needed to run a model with a lane count: programs of the
// values, their transposes and their tangents.
type Kit struct {
	Lanes             int
	Layout            *vec.Layout
	Family            *family
	Value, Pull, Push *tapec.Parts[*Program]
	// the transposes with their tangents, of tapes from which nothing is hoisted
	Second *tapec.Parts[*Program]
	Moved  Finder   // of push and second
	Slopes *Program // of one lane; nil for none
	peaks  peakGroups

	Kept   *KeptStages // nil where no values of stages are kept for transposes
	Plan   *plan       // of the parameters' cotangents, or their order as tangents
	Shared *Program    // the part of the rates' transpose that all sweeps share; nil for none
	NW     int
	Sides  []sides // of the parameters whose tangents move one element at a time
	NSides int

	done <-chan struct{} // while it is made: see Task
}

func newPrograms(m *Model, list *diag.List) (*programs, error) {
	c := m.Compiled
	list.Look()
	// By the time and the state alone: nothing else moves between events.
	slopes, err := (&derivatives{clock: true, family: m.family}).push(c.Peaks)
	if err != nil {
		return nil, err
	}
	p := &programs{
		Hoisted: hoistedFrom(m.family, c, m.Layout, nil), slopes: slopes,
		kits: map[kitKey]*Kit{}, values: map[valueKey]valuePrograms{},
	}
	list.Look()
	whole := sync.OnceValues(func() (*jacobian, error) { return newJacobian(m, false) })
	parts := sync.OnceValues(func() (*jacobian, error) { return newJacobian(m, true) })
	p.WithJacobian = func(split bool) (*jacobian, error) {
		if split {
			return parts()
		}
		return whole()
	}
	if slices.ContainsFunc(c.ClockList, func(k tapec.Clock) bool { return !k.Affine }) {
		p.Clocks = NewByTime(c.Clocks, tapec.ClockMargins.Name(), nil, nil)
	}
	p.Bent = newBentGuards(c, m.Layout)
	list.Look()
	even, rates := tapec.Even(c.Rates)
	list.Look()
	if t, readers := tapec.Signals(c.Rates, even); t != nil {
		p.Signals, p.SignalReaders = NewByTime(t, tapec.SignalValues.Name(), even, rates), readers
	}
	if t, _ := tapec.Signals(c.Peaks, nil); t != nil {
		p.PeakSignals = NewByTime(t, tapec.SignalValues.Name(), nil, nil)
	}
	list.Look()
	p.Narrow, p.NarrowPeaks = newNarrowParts(c.Rates, even), newNarrowParts(c.Peaks, nil)
	return p, nil
}

// hoistedFrom returns the tapes of a model, with that of the jacobian unless it is nil. It gives places in l to what is
// hoisted from them.
func hoistedFrom(f *family, c *tapec.Compiled, l *vec.Layout, jacobian *tape.Tape) Hoisted {
	hoist := func() (tapec.Hoisting, error) { return tapec.Hoist(c.Rates, jacobian), nil }
	h, _ := shared(f, "hoist", hoist, c.Rates, jacobian)
	l.NC = l.Outputs(h.Once, vec.C)
	l.NE = l.Outputs(h.Segment, vec.E)
	tapes := c.Parts().Without(tapec.PartDefaults, tapec.PartAsserts) // points evaluate these
	tapes.Set(tapec.PartRunWork, h.Once)
	tapes.Set(tapec.PartSegmentWork, h.Segment)
	tapes.Set(tapec.PartRates, h.Rates)
	tapes.Set(tapec.PartJacobian, h.Jacobian)
	return Hoisted{Layout: l, family: f, Tapes: tapes, Rates: c.Rates, Jacobian: jacobian}
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

// sides say where two unit vectors lie. Their outer product is the tangent of a matrix that moves at
// one element.
type sides struct {
	Column     vec.Part // of the matrix among the tangents of parameters
	Rows, Cols int
	At         int // rows, then cols
}

// Kit returns the programs of the problem for that many lanes. many tells that several sweeps over one
// run will follow each other.
func (p *Task) Kit(lanes int, dir Direction, many bool) (*Kit, error) {
	return p.Model.Programs.kit(p.kitWith(lanes, dir, many))
}

// Begin makes what Kit will be asked for in a goroutine, if that takes long. Whoever asks waits for it, and is told
// what is against it. The problem may change meanwhile.
func (p *Task) Begin(lanes int, dir Direction, many bool) {
	programs, with := p.Model.Programs, p.kitWith(lanes, dir, many)
	if len(programs.Rates.Instrs) <= longRates {
		return
	}
	go func() {
		defer func() { _ = recover() }() // it comes again where the kit is asked for
		_, _ = programs.kit(with)
	}()
}

func (p *Task) kitWith(lanes int, dir Direction, many bool) kitWith {
	active := p.Active
	switch dir {
	case Values:
		active = nil
	case PullStates:
		active, dir = nil, Pull
	}
	return kitWith{lanes, active, dir, many, p.Jacobian, p.Split, 0, p.Done}
}

// Bounded returns the kit of transposes in which bound stands for derivatives that are not finite where values are.
func (p *Task) Bounded(lanes int, many bool, bound float64) (*Kit, error) {
	return p.Model.Programs.kit(kitWith{lanes, p.Active, Pull, many, p.Jacobian, p.Split, bound, p.Done})
}

// kitWith says what a kit is for: see Kit and Bounded.
type kitWith struct {
	lanes    int
	active   []string
	dir      Direction
	many     bool
	jacobian bool
	split    bool // see Problem
	bound    float64
	done     <-chan struct{} // see Task
}

// kit returns the programs for what is asked. It makes them once.
func (p *programs) kit(w kitWith) (*Kit, error) {
	key := kitKey{
		lanes: w.lanes, dir: w.dir, many: w.many, jacobian: w.jacobian, active: strings.Join(w.active, "\n"),
		split: w.split, bound: w.bound,
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := p.kits[key]; k != nil {
		return k, memory.Ask(k.bytes())
	}
	if err := memory.Ask(p.Layout.Bytes(w.lanes)); err != nil {
		return nil, err
	}
	h := &p.Hoisted
	if w.jacobian {
		j, err := p.WithJacobian(w.split)
		if err != nil {
			return nil, err
		}
		h = &j.Hoisted
	}
	k := &Kit{Lanes: w.lanes, Layout: h.Layout, Family: h.family, Plan: newPlan(h.Layout, w.active), done: w.done}
	of := valueKey{w.lanes, w.jacobian, w.split}
	made, found := p.values[of] // with one objective, the run and its transpose both have one lane
	values := alongside(!found && len(h.Rates.Instrs) > longRates, func() (err error) {
		if !found {
			made, err = p.valuesOf(h, w.lanes, w.done)
		}
		return err
	})
	var err error
	switch w.dir {
	case Pull:
		err = k.transposed(h, p.mutant, w)
	case Push, PushElements:
		err = k.tangents(h.Tapes, w.active, w.dir == PushElements)
	case PushPull:
		if err = k.tangents(h.Tapes, w.active, false); err == nil {
			err = k.secondOrder(h, w.active)
		}
	}
	if err := values(); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	k.Value, k.Slopes, k.done = made.of, made.slopes, nil
	p.values[of], p.kits[key] = made, k
	return k, memory.Ask(k.bytes())
}

// valuesOf makes the programs of values of the tapes of h.
func (p *programs) valuesOf(h *Hoisted, lanes int, done <-chan struct{}) (made valuePrograms, err error) {
	if made.of, err = h.family.compile(h.Tapes, h.Layout.Find, lanes, done); err != nil {
		return made, err
	}
	made.slopes, err = h.family.Program(p.slopes, h.Layout.Find, 1, nil)
	return made, err
}

// longRates is from how many instructions on the programs of the values are made while their derivatives are.
const longRates = 500

// alongside runs f, in a goroutine if apart is set. wait returns its error; a panic of f goes on there.
func alongside(apart bool, f func() error) (wait func() error) {
	if !apart {
		err := f()
		return func() error { return err }
	}
	var err error
	var fault any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { fault = recover() }()
		err = f()
	}()
	return func() error {
		<-done
		if fault != nil {
			panic(fault)
		}
		return err
	}
}

// bytes returns about how much memory a worker and its method take.
func (k *Kit) bytes() float64 {
	n := k.Layout.Bytes(k.Lanes)
	for _, parts := range []*tapec.Parts[*Program]{k.Value, k.Pull, k.Push, k.Second} {
		if parts == nil {
			continue
		}
		for _, p := range parts.All() {
			if p != nil {
				n += float64(p.Code.Stats().Bytes)
			}
		}
	}
	return n
}

// over reports whether done is closed.
func over(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// compile makes programs of tapes.
func (f *family) compile(
	tapes *tapec.Parts[*tape.Tape], find Finder, lanes int, done <-chan struct{},
) (*tapec.Parts[*Program], error) {
	return tapec.Transform(tapes, func(_ tapec.PartIndex, t *tape.Tape) (*Program, error) {
		return f.programWhile(done, t, find, lanes, nil)
	})
}

// derived returns the derivatives of the tapes that have any.
func (k *Kit) derived(tapes *tapec.Parts[*tape.Tape], active []string,
	derive func(*derivatives, tapec.Part, *tape.Tape) (*tape.Tape, error),
) (*tapec.Parts[*tape.Tape], error) {
	d := &derivatives{active: map[string]bool{}, family: k.Family}
	for _, name := range active {
		d.active[name] = true
	}
	differentiable := tapes.Without(tapec.PartChoose, tapec.PartClocks, tapec.PartPriorities, tapec.PartOutputs,
		tapec.PartInvariants)
	return tapec.Transform(differentiable, func(at tapec.PartIndex, t *tape.Tape) (*tape.Tape, error) {
		if over(k.done) {
			return nil, context.Canceled
		}
		return derive(d, at.Part, t)
	})
}

// guarded reports whether an output of a part that has no derivative must not spoil the others. This
// holds for objectives.
func guarded(p tapec.Part) bool {
	switch p {
	case tapec.PartObjective, tapec.PartInitial, tapec.PartFinal, tapec.PartPeaks, tapec.PartAtTimes,
		tapec.PartAtEvents:
		return true
	}
	return false
}

// tangents makes k.push. If each lane moves one element only, products with matrices of parameters
// become shorter.
func (k *Kit) tangents(tapes *tapec.Parts[*tape.Tape], active []string, elements bool) error {
	places := map[tapec.Name]vec.Part{}
	push, err := k.derived(tapes, active, func(d *derivatives, _ tapec.Part, t *tape.Tape) (*tape.Tape, error) {
		t, err := d.push(t)
		if t == nil || err != nil || !elements {
			return t, err
		}
		t, names := tapec.Elements(t, tapec.ByName(func(n tapec.Name) bool {
			return n.Variation == tapec.Tangent && n.Role == tapec.Param
		}))
		for _, name := range names {
			k.sidesOf(t, name, places)
		}
		return t, nil
	})
	if err != nil {
		return err
	}
	k.Moved = k.find(places, k.Plan.moved())
	k.Push, err = k.Family.compile(push, k.Moved, k.Lanes, k.done)
	return err
}

// sidesOf gives a place to the sides of the tangent of a param that t reads.
func (k *Kit) sidesOf(t *tape.Tape, tangent string, places map[tapec.Name]vec.Part) {
	row, column := tapec.RowSide.Called(tangent), tapec.ColumnSide.Called(tangent)
	if _, ok := places[row]; ok {
		return
	}
	length := func(name tapec.Name) int {
		v, _ := t.Input(name.String())
		return t.Shape(v).Size()
	}
	s := sides{k.Plan.column(tapec.MustName(tangent).Of), length(row), length(column), k.NSides}
	places[row] = vec.Part{Vec: vec.Sides, Offset: s.At, Len: s.Rows}
	places[column] = vec.Part{Vec: vec.Sides, Offset: s.At + s.Rows, Len: s.Cols}
	k.Sides = append(k.Sides, s)
	k.NSides += s.Rows + s.Cols
}

// secondOrder makes k.second. Nothing is hoisted: the work that depends on parameters alone is done at
// every stage.
func (k *Kit) secondOrder(h *Hoisted, active []string) error {
	all := h.Tapes.Without(tapec.PartRunWork, tapec.PartSegmentWork)
	all.Set(tapec.PartRates, h.Rates)
	all.Set(tapec.PartJacobian, h.Jacobian)
	second, err := k.derived(all, active, func(d *derivatives, p tapec.Part, t *tape.Tape) (*tape.Tape, error) {
		return d.second(t, guarded(p))
	})
	if err != nil {
		return err
	}
	k.Second, err = k.transposes(second, k.Moved)
	return err
}

// atStages are the parts that steps evaluate at their stages.
var atStages = []tapec.Part{
	tapec.PartRates, tapec.PartDelays, tapec.PartJacobian, tapec.PartImplicit, tapec.PartExplicit,
}

// transposes compiles transposes. They add to the cotangents that they write, with two exceptions:
// each functional has one reader, and a stage overwrites the cotangents of state and time.
func (k *Kit) transposes(tapes *tapec.Parts[*tape.Tape], find Finder) (*tapec.Parts[*Program], error) {
	return tapec.Transform(tapes, func(at tapec.PartIndex, t *tape.Tape) (*Program, error) {
		add := func(v vec.Vector) bool { return v != vec.F }
		if slices.Contains(atStages, at.Part) {
			add = addsAtStage
		}
		return k.Family.programWhile(k.done, t, find, k.Lanes, add)
	})
}

func addsAtStage(v vec.Vector) bool { return v != vec.Y && v != vec.T }

// transposed makes k.pull. It takes out of the transpose of the rates what all sweeps share, and the
// products that are cheaper for many stages at once.
func (k *Kit) transposed(h *Hoisted, mutant func(*tape.Tape) *tape.Tape, with kitWith) error {
	derive := func(d *derivatives, p tapec.Part, t *tape.Tape) (*tape.Tape, error) {
		d.bound = with.bound
		return d.pull(t, guarded(p))
	}
	pull, err := k.derived(h.Tapes, with.active, derive)
	if err != nil {
		return err
	}
	places := map[tapec.Name]vec.Part{}
	if rates := pull.Get(tapec.PartRates); rates != nil {
		var shared *tape.Tape
		if with.many {
			shared, rates = tapec.Early(rates, tapec.SharedWork, func(n tapec.Name) bool {
				return n.Variation == tapec.Cotangent
			})
		}
		var list []tapec.Deferred
		rates, list = tapec.Defer(rates, leastDeferred, tapec.ByName(func(n tapec.Name) bool {
			return n.Variation == tapec.Cotangent && n.Role == tapec.Param
		}))
		pull.Set(tapec.PartRates, rates)
		places = k.Plan.defers(list, k.Lanes)
		if shared != nil {
			for _, o := range shared.Outputs {
				n := shared.Shape(o.Value).Size()
				places[tapec.MustName(o.Name)] = vec.Part{Vec: vec.W, Offset: k.NW, Len: n}
				k.NW += n
			}
			if k.Shared, err = k.Family.Program(shared, k.find(places, nil), 1, nil); err != nil {
				return err
			}
		}
	}
	if mutant != nil {
		for at, t := range pull.All() {
			if t == nil {
				continue
			}
			if t = mutant(t); at.Part < tapec.PartDefaults {
				pull.Set(at.Part, t)
			} else {
				pull.List(at.Part)[at.Index] = t
			}
		}
	}
	find := k.find(places, k.Plan.gather(pull, with.active))
	rates := pull.Get(tapec.PartRates)
	if k.Pull, err = k.transposes(pull, find); err != nil || with.many || rates == nil {
		return err // many sweeps share their work already, and run beside each other
	}
	return k.keepStages(h.Tapes.Get(tapec.PartRates), rates, places, find)
}

// find is the layout's finder, but for names that only this kit has, in places, and for derivatives
// by params, which lie where moved says.
func (k *Kit) find(places, moved map[tapec.Name]vec.Part) Finder {
	return func(name tapec.Name) (vec.Part, bool) {
		if at, ok := places[name]; ok {
			return at, true
		}
		if name.Role == tapec.Param && name.Variation != tapec.Primal {
			at, ok := moved[name.Primal()]
			return at, ok
		}
		return k.Layout.Find(name)
	}
}
