package typecheck

import (
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/typecheck/regimen"
)

// giver is the checker as package regimen knows it, for the doses of a table.
type giver struct {
	writer
	from *dataTable
	at   source.Span
}

func (g giver) Model() *model.Model { return g.model }

func (g giver) Equilibrated() bool { return g.equilibration != nil }

func (g giver) Resumed(e *model.Event) { g.resumed = e }

// CoursesAt implements regimen.Checker.
func (g giver) CoursesAt(t model.Expr) map[model.Expr]model.Expr { return g.course.At(t) }

func (g giver) Constant(v model.Expr) (float64, bool) { return g.staticNumber(v) }

func (g giver) DataErrorf(at source.Span, format string, args ...any) *diag.Diagnostic {
	return g.errorf(CodeData, at, format, args...)
}

func (g giver) SizeErrorf(at source.Span, format string, args ...any) *diag.Diagnostic {
	return g.errorf(CodeSize, at, format, args...)
}

func (g giver) UnitErrorf(at source.Span, format string, args ...any) *diag.Diagnostic {
	return g.unitErrorf(at, format, args...)
}

func (g giver) Literals(name string, t types.Type, values []float64, declared, at source.Span) model.Expr {
	return literals(g.checker, g.place(), name, t, values, declared, at)
}

// place is where the numbers of doses stand.
func (g giver) place() context {
	x := context{place: placeDose}
	if g.variant != nil {
		x.group = g.variant.group
	}
	return x
}

// Said elaborates what a line says of its doses.
func (g giver) Said(l *regimen.Line, rows *regimen.Rows, word, what string) (model.Expr, bool) {
	e := l.Says[word]
	d := &dose{Rows: rows, from: g.from, chosen: true}
	x := g.place()
	x.dose = d
	if len(g.occasions) > 0 {
		x.place = placeOccasion
	}
	if g.variant != nil {
		for _, name := range sortedKeys(g.variant.overrides) {
			it := g.variant.overrides[name]
			p := g.globals[name]
			if p == nil || p.kind != paramName || p.sym == nil || !ofRecords(g.checker, it, p) {
				continue
			}
			own := g.place()
			own.dose = d
			ref := model.Seal(&model.Ref{Base: model.NewBase(p.sym.Type, g.at), Sym: p.sym})
			v := g.expr(own.with(name, ref, it.Name.Span), it.Value)
			if !isBad(v) {
				v = retype(v, types.Type{Kind: types.Real, Shape: v.Type().Shape, Unit: p.sym.Type.Unit})
			}
			x = x.with(name, v, it.Name.Span)
		}
	}
	v := ofRecord(g.checker, g.from, d, g.expr(x, e))
	if isBad(v) || !g.numeric(v, word, v.Span()) {
		return nil, false
	}
	if s := v.Type().Shape; len(s) > 0 {
		g.errorf(CodeShape, e.Pos(), "%s is a single number, and this has shape %s", what, s)
		return nil, false
	}
	switch {
	case bare(v):
	case word == regimen.F:
		g.expectUnit(what, v, units.One, source.Span{})
	case word == regimen.Rate:
		g.expectUnit(what, v, l.Unit.Div(g.timeUnitKnown()), l.Sym.Span)
	default:
		g.timeUnit(what, v)
	}
	return v, true
}

// readEarly returns v as the rows of a table read it: those before a record of their time read what an event kept.
func readEarly(c *checker, rows *rowsOf, v model.Expr) model.Expr {
	if rows.fixed > 0 {
		return v
	}
	v = c.course.OfRows(writer{c}, rows.from.Table, rows.rows, v)
	for _, o := range c.occasions {
		v = o.OfRows(writer{c}, rows.from.Table, rows.rows, v)
	}
	return regimen.Read(c.early, rows.from.Table, rows.rows, v)
}
