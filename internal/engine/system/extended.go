package system

import (
	"math"

	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/diag"

	"odes.dev/odes/internal/engine/edges"
	"odes.dev/odes/solvers"
)

// extension is a model whose rates go on outside of the domains of their roots and powers; see package edges.
type extension struct {
	model *Model
	of    *edges.Extended
}

// extend makes the extension of m; nil where its rates need none.
func extend(m *Model) *extension {
	of := edges.Extend(m.Compiled.Rates)
	if of == nil {
		return nil
	}
	inner, compiled := *m, *m.Compiled
	compiled.Rates = of.Tape
	inner.Compiled, inner.layout = &compiled, vec.NewLayout(&compiled)
	var err error
	if inner.programs, err = newPrograms(&inner, new(diag.List)); err != nil {
		return nil
	}
	inner.reads = readInputs(&inner)
	// What is looked for beside a run, in tapes, is that of the model as it is written.
	outer := *m
	outer.layout, outer.programs, outer.reads = inner.layout, inner.programs, inner.reads
	outer.extended = func() *extension { return nil }
	return &extension{&outer, of}
}

// Extends reports whether Extend would do something.
func (p *Task) Extends() bool { return p.Model.extended() != nil }

// Extend has the workers to come run the extension of the model. Points stay what they are.
func (p *Task) Extend() {
	x := p.Model.extended()
	p.Model, p.edges = x.model, x.of
	p.CompileAfter = CompileAfter{Small: math.MaxInt, Large: math.MaxInt} // whole steps have no stages to watch
	p.plan = newPlan(p.Model.layout, p.active)
}

// edging watches how far outside of domains the rates of a Worker are asked for. It implements solvers.Extended.
type edging struct {
	of     *edges.Extended
	model  *Model
	domain *edges.Watch // nil where nothing is watched
	leeway *solvers.Leeway
}

// Within implements solvers.Extended.
func (e *edging) Within(l *solvers.Leeway) bool {
	if e.of == nil {
		return false
	}
	if e.leeway = l; e.domain == nil {
		e.domain = edges.NewWatch(e.of)
	}
	return true
}

// AtEdges implements solvers.Extended.
func (e *edging) AtEdges() int {
	if e.domain == nil {
		return 0
	}
	return e.domain.Count()
}

// beyond reports whether rates are asked for further outside than the state may be off: ten tolerances.
func (e *edging) beyond(at *vec.Values) bool {
	point := e.domain.Point()
	e.model.load(point.Tape(), point, at)
	return e.domain.Beyond(func(state string, element int, value float64) float64 {
		if !e.leeway.Open {
			return 0
		}
		i := e.model.State(state).Offset + element
		return 10 * math.FMA(e.leeway.RelOf(i), math.Abs(value), e.leeway.AbsOf(i))
	})
}
