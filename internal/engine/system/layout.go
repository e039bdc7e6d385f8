package system

import (
	"maps"
	"slices"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// A vector is one of the flat vectors that tapes' named inputs and outputs are parts of.
type vector uint8

const (
	vecT          vector = iota // time, one element
	vecY                        // states; right limits where there are two
	vecYm                       // left limits of the states
	vecP                        // parameters
	vecD                        // discretes; right limits where there are two
	vecDm                       // left limits of the discretes
	vecM                        // modes
	vecKept                     // modes that stay while others are chosen
	vecC                        // work hoisted on the parameters
	vecE                        // work hoisted on parameters, discretes and modes
	vecK                        // right-hand side: states, then quadratures
	vecF                        // functionals
	vecFired                    // one-hot over the elements of an event
	vecRow                      // a data row
	vecTimes                    // instants
	vecRho                      // guards
	vecTruth                    // their truth
	vecClockRho                 // clocks
	vecClockTruth               // their truth
	vecPsi                      // objectives
	vecOut                      // outputs
	vecW                        // work of a transpose that is the same for all lanes
	vecFactors                  // factors of deferred products
	vecPriorities               // of events
	vecDelays                   // that move
	vecOther                    // asserts, gaps of invariants
	vecStep                     // of a whole step: its times, start and stages
	vecMade                     // and what it makes
	vecJ                        // entries of the Jacobian
	vecSides                    // unit vectors, in lanes, of matrices of parameters that move at one element
	numVectors
)

// part is a part of a vector: elements [offset, offset+len).
type part struct {
	vec         vector
	offset, len int
}

func (p part) place() Place { return Place{Offset: p.offset, Len: p.len} }

// layout says where everything that a model's tapes name lies in the flat vectors.
type layout struct {
	parts                  map[tapec.Name]part // by primal names
	states                 []part              // in order of declaration
	nY, nP, nD, nM, nQ, nF int
	nC, nE, nLags          int
	objectives             int
}

func newLayout(c *tapec.Compiled) *layout {
	l := &layout{parts: map[tapec.Name]part{
		tapec.Time.Name():    {vecT, 0, 1},
		tapec.Fired.Name():   {vecFired, 0, -1}, // as long as its event has elements
		tapec.DataRow.Name(): {vecRow, 0, -1},   // as long as its table has columns
	}}
	l.nP = l.declare(slices.Concat(c.Model.Params, c.Model.Totals), at{tapec.Param, vecP})
	l.nY = l.declare(c.Model.States, at{tapec.State, vecY}, at{tapec.LeftState, vecYm}, at{tapec.Rate, vecK})
	row := 0
	for _, s := range c.Model.Differential() {
		row += s.Type.Shape.Size()
	}
	for k, r := range c.Model.Residuals { // in the rows of the unknowns
		size := r.Value.Type().Shape.Size()
		l.parts[tapec.Residual.Number(k)] = part{vecK, row, size}
		row += size
	}
	l.nD = l.declare(c.Model.Discretes, at{tapec.Discrete, vecD}, at{tapec.LeftDiscrete, vecDm})
	for _, s := range c.Model.States {
		l.states = append(l.states, l.part(tapec.State.Called(s.Name)))
	}
	for _, x := range c.Model.Lags { // behind the states
		at, size := l.nY+l.nLags, x.Value.Type.Shape.Size()
		l.parts[tapec.State.Called(x.Value.Name)] = part{vecY, at, size}
		l.parts[tapec.LeftState.Called(x.Value.Name)] = part{vecYm, at, size}
		l.nLags += size
	}
	for i, m := range c.Modes {
		l.parts[tapec.HeldMode.Number(i)] = part{vecM, m.Offset, m.Shape.Size()}
		l.parts[tapec.KeptMode.Number(i)] = part{vecKept, m.Offset, m.Shape.Size()}
		l.nM = max(l.nM, m.Offset+m.Shape.Size())
	}
	for i, f := range c.Functionals {
		size := f.Shape.Size()
		l.parts[tapec.Functionals.Number(i)] = part{vecF, f.Offset, size}
		l.nF = max(l.nF, f.Offset+size)
		if f.Kind == model.Integral {
			l.parts[tapec.Integrand.Number(i)] = part{vecK, l.nY + f.Offset, size}
			l.nQ = max(l.nQ, f.Offset+size)
		}
	}
	l.whole(tapec.Times, vecTimes, c.Instants)
	l.whole(tapec.Margins, vecRho, c.Guards)
	l.whole(tapec.Truths, vecTruth, c.Guards)
	l.whole(tapec.ClockMargins, vecClockRho, c.Clocks)
	l.whole(tapec.ClockTruths, vecClockTruth, c.Clocks)
	l.whole(tapec.Priority, vecPriorities, c.Priorities)
	l.whole(tapec.Holds, vecOther, c.Asserts)
	l.whole(tapec.Gaps, vecOther, c.Invariants)
	l.outputs(c.Delays, vecDelays)
	l.objectives = l.whole(tapec.Objectives, vecPsi, c.Objective)
	l.outputs(c.Outputs, vecOut)
	return l
}

// at is a role, and the vector in which what has it lies.
type at struct {
	role tapec.Role
	vec  vector
}

// declare gives symbols their places one after the other, the same ones in each vector. It returns
// how many elements they have.
func (l *layout) declare(list []*model.Symbol, in ...at) int {
	n := 0
	for _, s := range list {
		size := s.Type.Shape.Size()
		for _, v := range in {
			l.parts[v.role.Called(s.Name)] = part{v.vec, n, size}
		}
		n += size
	}
	return n
}

// whole makes an output of t a vector of its own. It returns its number of elements, 0 where t does not write it.
func (l *layout) whole(role tapec.Role, vec vector, t *tape.Tape) int {
	if t == nil {
		return 0
	}
	v, ok := t.Output(role.Name().String())
	if !ok {
		return 0
	}
	size := t.Shape(v).Size()
	l.parts[role.Name()] = part{vec, 0, size}
	return size
}

// outputs gives the outputs of t places one after the other. It returns how many elements they have.
func (l *layout) outputs(t *tape.Tape, vec vector) int {
	n := 0
	if t != nil {
		for _, o := range t.Outputs {
			size := t.Shape(o.Value).Size()
			l.parts[tapec.MustName(o.Name)] = part{vec, n, size}
			n += size
		}
	}
	return n
}

// clone returns a copy of l to which names can be added.
func (l *layout) clone() *layout {
	c := *l
	c.parts = maps.Clone(l.parts)
	return &c
}

// part returns where something of the model lies. There must be such a thing: what a tape reads and writes is the
// compiler's business, so another name is a fault of the program.
func (l *layout) part(name tapec.Name) part {
	p, ok := l.parts[name.Primal()]
	if !ok {
		panic("system: the model has no part " + name.String())
	}
	return p
}

// find is the finder of the model's own names.
func (l *layout) find(name tapec.Name) (part, bool) {
	p, ok := l.parts[name.Primal()]
	return p, ok
}
