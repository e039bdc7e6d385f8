package typecheck

import (
	"slices"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/typecheck/regimen"
)

// placeOccasion is placeDose where random effects have occasions: they are discretes until the row of a dose is known.
var placeOccasion = &place{name: placeDose.name, knows: placeDose.knows, allow: placeDose.allow | model.UsesDiscrete}

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
	list, why := regimen.EntriesOf(t.Table, k)
	if why != "" {
		c.errorf(CodeData, name.Span, "%stable %q %s", inFile(c, t), t.Name, why).Relate(t.Span, "declared here")
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
	if k := slices.IndexFunc(c.occasions, func(o *regimen.Occasions) bool { return o.Param == e.sym }); k >= 0 {
		return c.occasions[k]
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
	if s := model.FindSymbol(v, func(s *model.Symbol) bool { return s.Kind == model.DiscreteSymbol }); s != nil {
		c.errorf(CodePlace, v.Span(), "a dose cannot use %q, which changes along the run; it knows %s", s.Name,
			placeDose.knows)
		return bad(v.Span())
	}
	return v
}

// switchOccasions makes the events of occasions in tables that have no records of doses.
func switchOccasions(c *checker) {
	for _, o := range c.occasions {
		if g := c.variant.group; !o.Switched && slices.Contains(g.rows, true) && !c.list.HasErrors() {
			o.Switch(giver{writer{c}, c.globals[g.from].table, o.At}, g.rows)
		}
	}
}
