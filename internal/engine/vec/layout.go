// Package vec says where everything that a model's tapes name lies: in which of a few flat vectors, and where there.
package vec

import (
	"maps"
	"slices"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// A Vector is one of the flat vectors that tapes' named inputs and outputs are parts of.
type Vector uint8

// The vectors.
const (
	T          Vector = iota // time, one element
	Y                        // states; right limits where there are two
	Ym                       // left limits of the states
	P                        // parameters
	D                        // discretes; right limits where there are two
	Dm                       // left limits of the discretes
	M                        // modes
	Kept                     // modes that stay while others are chosen
	C                        // work hoisted on the parameters
	E                        // work hoisted on parameters, discretes and modes
	K                        // right-hand side: states, then quadratures
	F                        // functionals
	Fired                    // one-hot over the elements of an event
	Row                      // a data row
	Times                    // instants
	Rho                      // guards
	Truth                    // their truth
	ClockRho                 // clocks
	ClockTruth               // their truth
	Psi                      // objectives
	Out                      // outputs
	W                        // work of a transpose that is the same for all lanes
	Factors                  // factors of deferred products
	Priorities               // of events
	Delays                   // that move
	Other                    // asserts, gaps of invariants
	Step                     // of a whole step: its times, start and stages
	Made                     // and what it makes
	J                        // entries of the Jacobian
	Sides                    // unit vectors, in lanes, of matrices of parameters that move at one element
	Count                    // of the vectors
)

// Part is a part of a vector: elements [Offset, Offset+Len).
type Part struct {
	Vec         Vector
	Offset, Len int
}

// Place returns the place of p in its vector.
func (p Part) Place() Place { return Place{Offset: p.Offset, Len: p.Len} }

// Layout says where everything that a model's tapes name lies in the flat vectors.
type Layout struct {
	Parts                  map[tapec.Name]Part // by primal names
	States                 []Part              // in order of declaration
	Late                   []Part              // those of them that are read with a delay
	NY, NP, ND, NM, NQ, NF int
	NC, NE, NLags          int
	Objectives             int
}

// NewLayout lays out what a compiled model names.
func NewLayout(c *tapec.Compiled) *Layout {
	l := &Layout{Parts: map[tapec.Name]Part{
		tapec.Time.Name():    {T, 0, 1},
		tapec.Fired.Name():   {Fired, 0, -1}, // as long as its event has elements
		tapec.DataRow.Name(): {Row, 0, -1},   // as long as its table has columns
	}}
	l.NP = l.declare(slices.Concat(c.Model.Params, c.Model.Totals), at{tapec.Param, P})
	l.NY = l.declare(c.Model.States, at{tapec.State, Y}, at{tapec.LeftState, Ym}, at{tapec.Rate, K})
	row := 0
	for _, s := range c.Model.Differential() {
		row += s.Type.Shape.Size()
	}
	for k, r := range c.Model.Residuals { // in the rows of the unknowns
		size := r.Value.Type().Shape.Size()
		l.Parts[tapec.Residual.Number(k)] = Part{K, row, size}
		row += size
	}
	l.ND = l.declare(c.Model.Discretes, at{tapec.Discrete, D}, at{tapec.LeftDiscrete, Dm})
	for _, s := range c.Model.States {
		l.States = append(l.States, l.Part(tapec.State.Called(s.Name)))
	}
	for _, x := range c.Model.Lags { // behind the states
		at, size := l.NY+l.NLags, x.Value.Type.Shape.Size()
		l.Parts[tapec.State.Called(x.Value.Name)] = Part{Y, at, size}
		l.Parts[tapec.LeftState.Called(x.Value.Name)] = Part{Ym, at, size}
		l.NLags += size
	}
	for _, s := range model.ReadLate(c.Model.States, c.Model.Lags) {
		l.Late = append(l.Late, l.Part(tapec.State.Called(s.Name)))
	}
	for i, m := range c.Modes {
		l.Parts[tapec.HeldMode.Number(i)] = Part{M, m.Offset, m.Shape.Size()}
		l.Parts[tapec.KeptMode.Number(i)] = Part{Kept, m.Offset, m.Shape.Size()}
		l.NM = max(l.NM, m.Offset+m.Shape.Size())
	}
	for i, f := range c.Functionals {
		size := f.Shape.Size()
		l.Parts[tapec.Functionals.Number(i)] = Part{F, f.Offset, size}
		l.NF = max(l.NF, f.Offset+size)
		if f.Kind == model.Integral {
			l.Parts[tapec.Integrand.Number(i)] = Part{K, l.NY + f.Offset, size}
			l.NQ = max(l.NQ, f.Offset+size)
		}
	}
	l.whole(tapec.Times, Times, c.Instants)
	l.whole(tapec.Margins, Rho, c.Guards)
	l.whole(tapec.Truths, Truth, c.Guards)
	l.whole(tapec.ClockMargins, ClockRho, c.Clocks)
	l.whole(tapec.ClockTruths, ClockTruth, c.Clocks)
	l.whole(tapec.Priority, Priorities, c.Priorities)
	l.whole(tapec.Holds, Other, c.Asserts)
	l.whole(tapec.Gaps, Other, c.Invariants)
	l.Outputs(c.Delays, Delays)
	l.Objectives = l.whole(tapec.Objectives, Psi, c.Objective)
	l.Outputs(c.Outputs, Out)
	return l
}

// at is a role, and the vector in which what has it lies.
type at struct {
	role tapec.Role
	vec  Vector
}

// declare gives symbols their places one after the other, the same ones in each vector. It returns
// how many elements they have.
func (l *Layout) declare(list []*model.Symbol, in ...at) int {
	n := 0
	for _, s := range list {
		size := s.Type.Shape.Size()
		for _, v := range in {
			l.Parts[v.role.Called(s.Name)] = Part{v.vec, n, size}
		}
		n += size
	}
	return n
}

// whole makes an output of t a vector of its own. It returns its number of elements, 0 where t does not write it.
func (l *Layout) whole(role tapec.Role, of Vector, t *tape.Tape) int {
	if t == nil {
		return 0
	}
	v, ok := t.Output(role.Name().String())
	if !ok {
		return 0
	}
	size := t.Shape(v).Size()
	l.Parts[role.Name()] = Part{of, 0, size}
	return size
}

// Outputs gives the outputs of t places one after the other. It returns how many elements they have.
func (l *Layout) Outputs(t *tape.Tape, of Vector) int {
	n := 0
	if t != nil {
		for _, o := range t.Outputs {
			size := t.Shape(o.Value).Size()
			l.Parts[tapec.MustName(o.Name)] = Part{of, n, size}
			n += size
		}
	}
	return n
}

// Clone returns a copy of l to which names can be added.
func (l *Layout) Clone() *Layout {
	c := *l
	c.Parts = maps.Clone(l.Parts)
	return &c
}

// Part returns where something of the model lies. There must be such a thing: what a tape reads and writes is the
// compiler's business, so another name is a fault of the program.
func (l *Layout) Part(name tapec.Name) Part {
	p, ok := l.Parts[name.Primal()]
	if !ok {
		panic("vec: the model has no part " + name.String())
	}
	return p
}

// Find is the finder of the model's own names.
func (l *Layout) Find(name tapec.Name) (Part, bool) {
	p, ok := l.Parts[name.Primal()]
	return p, ok
}

// Bytes returns about how much memory the vectors of a worker and its method take: those of the state's length, in
// lanes, with the stages of a step, those of its transpose, and what the solver compares.
func (l *Layout) Bytes(lanes int) float64 { return 8 * 40 * float64(l.NY) * float64(lanes) }

// Place is where something lies in a flat vector: elements [Offset, Offset+Len).
type Place struct{ Offset, Len int }
