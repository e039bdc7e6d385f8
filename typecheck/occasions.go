package typecheck

import (
	"math"
	"slices"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/typecheck/regimen"
)

// A random effect of occasions is a param with an element for each entry of a column. Expressions of the run read the
// discrete that package regimen sets where entries change.

// placeOccasion is placeDose where random effects have occasions: they are discretes until the row of a dose is known.
var placeOccasion = &place{
	name: placeDose.name, knows: placeDose.knows, allow: placeDose.allow | model.UsesDiscrete,
}

func ofDose(p *place) bool { return p == placeDose || p == placeOccasion }

// holdOccasions makes the discrete of a random effect of occasions.
func holdOccasions(c *checker, e *entity) {
	v := c.randoms[e]
	if v == nil || v.By == nil {
		return
	}
	of, name := memberOf(v.By)
	if of == nil || c.globals[of.Name] == nil || c.globals[of.Name].kind != dataName {
		c.errorf(CodeData, v.By.Pos(), "`by` names a column of the table of the experiments: random %s ~ … by D.OCC",
			e.name)
		return
	}
	c.resolve(c.globals[of.Name])
	t := c.globals[of.Name].table
	if t == nil {
		return
	}
	if t.text(name.Name) >= 0 {
		c.errorf(CodeData, name.Span, "column %q of %q has texts; occasions are numbers", name.Name, t.Name).
			Relate(t.Span, "declared here")
		return
	}
	k := c.column(t, name)
	if k < 0 {
		return
	}
	list, without := regimen.EntriesOf(t.Table, k)
	times := t.Data[slices.Index(t.Columns, "time")]
	switch {
	case without > 0:
		c.errorf(CodeData, name.Span, "%srow %d of %q has no %s", inFile(c, t), without, t.Name, name.Name).
			Relate(t.Span, "declared here")
		return
	case slices.ContainsFunc(times, func(x float64) bool { return math.IsInf(x, 1) }):
		c.errorf(CodeData, name.Span, "%q has rows at steady states (time inf), which have no occasion", t.Name).
			Relate(t.Span, "declared here")
		return
	case len(list) == 0:
		c.errorf(CodeData, name.Span, "table %q has no rows", t.Name).Relate(t.Span, "declared here")
		return
	}
	o := &regimen.Occasions{Table: t.Table, Column: k, At: v.By.Pos(), Param: e.sym, Entries: list}
	held := *e.sym
	held.Kind, held.Hidden, held.Random, held.Literal = model.DiscreteSymbol, true, false, false
	held.Name = e.name + " by " + of.Name + "." + name.Name
	o.Held, e.held = &held, &held
	e.sym.Type.Shape = append([]int{len(list)}, e.sym.Type.Shape...)
	var rows []bool
	if x := c.variant; x != nil {
		if x.group == nil || x.group.from != t.Name {
			c.errorf(CodeData, x.item.Name.Span, "the occasions of %q are in the rows of %q, so experiments are made "+
				"from these: experiment subject from %[2]s by %[2]s.%s { }", e.name, t.Name, t.anyColumn()).
				Relate(v.By.Pos(), "declared here")
			return
		}
		rows = x.group.rows
		o.Present = o.PresentIn(rows)
	}
	held.Value = o.First(rows)
	c.occasions = append(c.occasions, o)
}

// occasionsOf returns the occasions of a random effect; nil for none.
func occasionsOf(c *checker, e *entity) *regimen.Occasions {
	for _, o := range c.occasions {
		if o.Param == e.sym {
			return o
		}
	}
	return nil
}

// ofOccasion reports a random effect of occasions in a place that has one number for the whole run.
func ofOccasion(c *checker, x context, id ast.Ident, e *entity) bool {
	if v := c.randoms[e]; v == nil || v.By == nil || e.held == nil {
		return false
	}
	c.errorf(CodePlace, id.Span, "%q changes with occasions, and %s does not; it knows %s", e.name, x.place.name,
		x.place.knows).Relate(e.span, "declared here")
	return true
}

// ofRecord returns what is said of a dose as its record reads it.
func ofRecord(c *checker, from *dataTable, d *dose, v model.Expr) model.Expr {
	if len(c.occasions) == 0 || isBad(v) {
		return v
	}
	for _, o := range c.occasions {
		v = o.OfRecords(writer{c}, from.Table, d.Rows, v)
	}
	if s := findSymbol(v, func(s *model.Symbol) bool { return s.Kind == model.DiscreteSymbol }); s != nil {
		c.errorf(CodePlace, v.Span(), "a dose cannot use %q, which changes along the run; it knows %s", s.Name,
			placeDose.knows)
		return bad(v.Span())
	}
	return v
}

// switchOccasions makes the events of occasions in tables that have no records of doses.
func switchOccasions(c *checker) {
	for _, o := range c.occasions {
		g := c.variant.group
		dosed := slices.ContainsFunc(c.dosed, func(t *doseTable) bool { return slices.Contains(t.Occasions, o) })
		if !dosed && slices.Contains(g.rows, true) && !c.list.HasErrors() {
			t := c.globals[g.from].table
			o.Switch(giver{writer{c}, t, o.At}, g.rows)
		}
	}
}
