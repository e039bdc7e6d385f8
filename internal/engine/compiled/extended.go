package compiled

import (
	"math"

	"odes.dev/odes/internal/engine/edges"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/diag"
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
	inner.Compiled, inner.Layout = &compiled, vec.NewLayout(&compiled)
	var err error
	if inner.Programs, err = newPrograms(&inner, new(diag.List)); err != nil {
		return nil
	}
	inner.reads = readInputs(&inner)
	// What is looked for beside a run, in tapes, is that of the model as it is written.
	outer := *m
	outer.Layout, outer.Programs, outer.reads = inner.Layout, inner.Programs, inner.reads
	outer.extended = func() *extension { return nil }
	return &extension{&outer, of}
}

// Extends reports whether Extend would do something.
func (p *Task) Extends() bool { return p.Model.extended() != nil }

// Extend has the workers to come run the extension of the model. Points stay what they are.
func (p *Task) Extend() {
	x := p.Model.extended()
	p.Model, p.Edges = x.model, x.of
	p.CompileAfter = CompileAfter{Small: math.MaxInt, Large: math.MaxInt} // whole steps have no stages to watch
	p.Plan = newPlan(p.Model.Layout, p.Active)
}
