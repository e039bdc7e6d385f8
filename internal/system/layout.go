package system

import (
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
	"odes.dev/odes/typecheck"
)

// A vector is one of the flat vectors that tapes' named inputs and outputs are
// parts of.
type vector uint8

const (
	vecT       vector = iota // time, one element
	vecY                     // states; right limits where there are two
	vecYm                    // left limits of the states
	vecP                     // parameters
	vecD                     // discretes; right limits where there are two
	vecDm                    // left limits of the discretes
	vecM                     // modes
	vecC                     // work hoisted on the parameters
	vecE                     // work hoisted on parameters, discretes and modes
	vecK                     // right-hand side: states, then quadratures
	vecF                     // functionals
	vecFired                 // one-hot over the elements of an event
	vecRow                   // a data row
	vecTimes                 // instants
	vecRho                   // guards
	vecTruth                 // their truth
	vecPsi                   // objectives
	vecOut                   // outputs
	vecW                     // work of a transpose that is the same for all lanes
	vecFactors               // factors of deferred products
	vecOther                 // asserts, gaps of invariants
	vecStep                  // of a whole step: its times, start and stages
	vecMade                  // and what it makes
	vecSides                 // unit vectors, in lanes, of matrices of parameters that move at one element
	numVectors
)

// part is a named part of a vector.
type part struct {
	vec         vector
	offset, len int
}

func (p part) place() Place { return Place{Offset: p.offset, Len: p.len} }

// layout says where every name lies in the flat vectors of a model.
type layout struct {
	parts                     map[string]part
	params, states, discretes []part // in order of declaration
	nY, nP, nD, nM, nQ, nF    int
	nC, nE                    int
	objectives                int
}

func newLayout(c *tapec.Compiled) *layout {
	l := &layout{parts: map[string]part{"t": {vecT, 0, 1}}}
	place := func(prefix string, vec vector, syms []*typecheck.Symbol, also string, alsoVec vector) ([]part, int) {
		var list []part
		n := 0
		for _, s := range syms {
			p := part{vec, n, s.Type.Shape.Size()}
			l.parts[prefix+s.Name] = p
			if also != "" {
				l.parts[also+s.Name] = part{alsoVec, n, p.len}
			}
			list = append(list, p)
			n += p.len
		}
		return list, n
	}
	l.params, l.nP = place("p.", vecP, slices.Concat(c.Model.Params, c.Model.Totals), "", 0)
	l.states, l.nY = place("y.", vecY, c.Model.States, "ym.", vecYm)
	l.discretes, l.nD = place("d.", vecD, c.Model.Discretes, "dm.", vecDm)
	place("dy.", vecK, c.Model.States, "", 0)
	for i, m := range c.Modes {
		l.parts["m."+strconv.Itoa(i)] = part{vecM, m.Offset, m.Shape.Size()}
		l.nM = max(l.nM, m.Offset+m.Shape.Size())
	}
	for i, f := range c.Functionals {
		size := f.Shape.Size()
		l.parts["F."+strconv.Itoa(i)] = part{vecF, f.Offset, size}
		l.nF = max(l.nF, f.Offset+size)
		if f.Kind == typecheck.Integral {
			l.parts["dq."+strconv.Itoa(i)] = part{vecK, l.nY + f.Offset, size}
			l.nQ = max(l.nQ, f.Offset+size)
		}
	}
	whole := func(name string, vec vector, t *tape.Tape) int {
		if t == nil {
			return 0
		}
		for _, o := range t.Outputs {
			if o.Name == name {
				size := t.Shape(o.Value).Size()
				l.parts[name] = part{vec, 0, size}
				return size
			}
		}
		return 0
	}
	whole("T", vecTimes, c.Instants)
	whole("rho", vecRho, c.Guards)
	whole("truth", vecTruth, c.Guards)
	whole("ok", vecOther, c.Asserts)
	whole("gap", vecOther, c.Invariants)
	l.objectives = whole("psi", vecPsi, c.Objective)
	n := 0
	if c.Outputs != nil {
		for _, o := range c.Outputs.Outputs {
			size := c.Outputs.Shape(o.Value).Size()
			l.parts[o.Name] = part{vecOut, n, size}
			n += size
		}
	}
	return l
}

// hoisted adds the outputs of a prologue, which rest binds as inputs.
func (l *layout) hoisted(prologue *tape.Tape, vec vector) int {
	n := 0
	for _, o := range prologue.Outputs {
		size := prologue.Shape(o.Value).Size()
		l.parts[o.Name] = part{vec, n, size}
		n += size
	}
	return n
}

// variation tells a vector from its tangent, its cotangent and the tangent of its cotangent.
type variation uint8

const (
	primal variation = iota
	tangent
	cotangent
	bent
	numVariations
)

// varied splits a name into the variation that "bar.", "dot." or "dot.bar." stands for, and the name of what varies.
func varied(name string) (variation, string) {
	if rest, ok := strings.CutPrefix(name, "dot.bar."); ok {
		return bent, rest
	}
	if rest, ok := strings.CutPrefix(name, "bar."); ok {
		return cotangent, rest
	}
	if rest, ok := strings.CutPrefix(name, "dot."); ok {
		return tangent, rest
	}
	return primal, name
}

// part returns where a name of the model lies. There must be such a name: what a tape reads and writes is the compiler's
// business, so another one is a fault of the program.
func (l *layout) part(name string) part {
	p, ok := l.parts[name]
	if !ok {
		panic("system: the model has no part " + strconv.Quote(name))
	}
	return p
}

// find returns the part that name binds to, and in which variation.
func (l *layout) find(name string) (part, variation, bool) {
	v, name := varied(name)
	if p, ok := l.parts[name]; ok {
		return p, v, true
	}
	switch name {
	case "fired":
		return part{vecFired, 0, -1}, v, true
	case "row":
		return part{vecRow, 0, -1}, v, true
	}
	return part{}, v, false
}
