package model

import (
	"slices"

	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
)

// Uses says what an expression depends on, besides loop variables.
type Uses uint16

// The bits of Uses.
const (
	UsesTime Uses = 1 << iota
	UsesParam
	UsesState
	UsesDiscrete
	UsesFunctional
	UsesRow
	UsesLimit
)

// facts is what is known of a node once it is made.
type facts struct {
	free []*Index
	uses Uses
	size int // nodes below, counted once for each use, up to a maximum: a guard against exponential growth
}

func (b *Base) base() *Base { return b }

// BaseOf returns what all kinds of expressions have.
func BaseOf(e Expr) *Base { return e.(interface{ base() *Base }).base() }

// Free returns the loop variables that e depends on and does not bind itself, in the order of their
// first occurrence. The slice must not be changed.
func Free(e Expr) []*Index { return factsOf(e, nil).free }

// Depends returns what e depends on, besides loop variables.
func Depends(e Expr) Uses { return factsOf(e, nil).uses }

// Static reports whether e is known at compile time for given loop variables.
func Static(e Expr) bool { return factsOf(e, nil).uses == 0 }

// factsOf returns the facts of e. Nodes made by the checker carry them. For other nodes they are
// computed, with memo for the nodes that were visited.
func factsOf(e Expr, memo map[Expr]*facts) *facts {
	if b := BaseOf(e); b.f != nil {
		return b.f
	}
	if f, ok := memo[e]; ok {
		return f
	}
	if memo == nil {
		memo = map[Expr]*facts{}
	}
	f := computeFacts(e, memo)
	memo[e] = f
	return f
}

// Seal computes the facts of a new node and stores them.
func Seal[E Expr](e E) E {
	b := BaseOf(e)
	b.f = computeFacts(e, nil)
	return e
}

// NewBase returns what a new node has, before Seal.
func NewBase(t types.Type, s source.Span) Base { return Base{T: t, S: s} }

// usesOf is what a reference to a symbol uses, by its kind.
var usesOf = [...]Uses{
	TimeSymbol: UsesTime, ParamSymbol: UsesParam, StateSymbol: UsesState, AlgSymbol: UsesState,
	DiscreteSymbol: UsesDiscrete,
}

// UsesOf is what a reference to a symbol uses.
func UsesOf(s *Symbol) Uses { return usesOf[s.Kind] }

func computeFacts(e Expr, memo map[Expr]*facts) *facts {
	f := &facts{size: 1}
	add := func(x Expr, bound ...*Index) {
		if x == nil {
			return
		}
		g := factsOf(x, memo)
		f.uses |= g.uses
		f.size = min(f.size+g.size, 1<<40)
		for _, ix := range g.free {
			if !slices.Contains(bound, ix) && !slices.Contains(f.free, ix) {
				f.free = append(f.free, ix)
			}
		}
	}
	switch e := e.(type) {
	case *Const:
	case *Ref:
		f.uses = usesOf[e.Sym.Kind]
	case *LoopVar:
		f.free = []*Index{e.Index}
	case *Call:
		for _, a := range e.Args {
			add(a)
		}
	case *Access:
		add(e.X)
		for _, s := range e.Subs {
			add(s.At)
		}
	case *Assemble:
		for _, p := range e.Pieces {
			for _, s := range p.Subs {
				add(s.At, p.Indices...)
			}
			add(p.Value, p.Indices...)
		}
	case *Reduce:
		add(e.Body, e.Indices...)
	case *If:
		add(e.Cond)
		add(e.Then)
		add(e.Else)
	case *Stack:
		for _, x := range e.Elems {
			add(x)
		}
	case *NoEvent:
		add(e.X)
	case *Limit:
		add(e.X)
		f.uses |= UsesLimit
	case *Row:
		f.uses |= UsesRow
	case *Functional:
		var bound []*Index
		if e.Event != nil {
			bound = e.Event.Indices
		}
		add(e.Body, bound...)
		// What the body reads belongs to the functional. Outside of it, only the functional counts.
		f.uses = UsesFunctional
		for _, x := range []Expr{e.From, e.To, e.Times} {
			if x != nil {
				add(x)
			}
		}
		for _, x := range e.Elem {
			add(x)
		}
	default:
		panic("typecheck: unknown node")
	}
	return f
}
