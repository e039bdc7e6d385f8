package typecheck

import (
	"errors"
	"io/fs"
	"math"
	"slices"

	"odes.dev/odes/data"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck/terms"
)

// grid elaborates the functions that make arrays at compile time.
func (c *checker) grid(x context, e *ast.Call, row *stdlib.Func) model.Expr {
	switch row.Name {
	case "load":
		return c.load(e)
	case "csv":
		c.errorf(CodeKind, e.Span, "csv makes the table of a data item: data D = csv(…); for an array write "+
			"load(\"file.csv\")")
		return bad(e.Span)
	case "rows", "cols":
		args, ok := c.arguments(x, e, row)
		if !ok || anyBad(args...) {
			return bad(e.Span)
		}
		s := args[0].Type().Shape
		axis := 0
		if row.Name == "cols" {
			axis = 1
		}
		if len(s) <= axis {
			c.errorf(CodeShape, e.Span, "%s takes %s, and got %s", row.Name,
				[...]string{"a vector or a matrix", "a matrix"}[axis], shapeOf(args[0]))
			return bad(e.Span)
		}
		return number(float64(s[axis]), units.Unit{}, e.Span)
	case "grid", "logspace", "steps":
		return c.points(x, e, row)
	}
	var seed uint64
	var dims []ast.Expr
	random := row.Name == "rand" || row.Name == "randn"
	for i := range e.Args {
		a := &e.Args[i]
		switch {
		case a.Key == nil:
			dims = append(dims, a.Value)
		case random && a.Key.Name == "seed":
			n, ok := c.integer(context{place: placeConst}, a.Value, "the seed", 0, 1<<53-1)
			if !ok {
				return bad(e.Span)
			}
			seed = uint64(n)
		default:
			c.errorf(CodeArguments, a.Span, "%s takes no named argument %q", row.Name, a.Key.Name)
			return bad(e.Span)
		}
	}
	if random && len(dims) == 0 {
		c.errorf(CodeArguments, e.Span, "%s wants sizes, as in %s(n): its numbers are drawn when the model is "+
			"compiled; noise in an equation is not part of the language", row.Name, row.Name)
		return bad(e.Span)
	}
	if len(e.For) > 0 || !c.arity(e.Span, row, len(dims)) {
		return bad(e.Span)
	}
	if random && seed == 0 && !hasKey(e, "seed") {
		seed = 1 // the documented default, so that a model is the same model every time
	}
	shape := types.Shape{}
	for _, d := range dims {
		n, ok := c.integer(x, d, "a dimension", 1, c.env.MaxElements)
		if !ok {
			return bad(e.Span)
		}
		shape = append(shape, n)
	}
	if row.Name == "eye" {
		shape = append(shape, shape[0])
	}
	if !c.fits(shape, e.Span) {
		return bad(e.Span)
	}
	t := types.Type{Kind: types.Int, Shape: shape, Unit: units.One}
	var d []float64
	switch row.Name {
	case "ones":
		d = []float64{1}
	case "zeros":
		d = []float64{0}
		t.Unit = units.Unit{}
	case "eye":
		n := shape[0]
		d = make([]float64, n*n)
		for i := range n {
			d[i*n+i] = 1
		}
	default:
		t.Kind = types.Real
		r := elem.NewRand(seed)
		d = make([]float64, shape.Size())
		for i := range d {
			if row.Name == "rand" {
				d[i] = r.Float64()
			} else {
				d[i] = r.Norm()
			}
		}
	}
	return model.Seal(&model.Const{Base: model.NewBase(t, e.Span), Data: d})
}

func hasKey(e *ast.Call, key string) bool {
	for i := range e.Args {
		if e.Args[i].Key != nil && e.Args[i].Key.Name == key {
			return true
		}
	}
	return false
}

// points elaborates grid, logspace and steps.
func (c *checker) points(x context, e *ast.Call, row *stdlib.Func) model.Expr {
	if len(e.For) > 0 || len(e.Args) != 3 {
		c.arity(e.Span, row, len(e.Args))
		return bad(e.Span)
	}
	var v [3]float64
	var nodes [3]model.Expr
	for i := range e.Args {
		if k := e.Args[i].Key; k != nil {
			c.errorf(CodeArguments, k.Span, "%s takes no named argument %q; write %s", row.Name, k.Name, signature(row))
			return bad(e.Span)
		}
		if row.Name == "grid" && i < 2 {
			n := c.expr(x, e.Args[i].Value)
			if isBad(n) {
				return bad(e.Span)
			}
			if !model.Static(n) && len(n.Type().Shape) == 0 && len(model.Free(n)) == 0 &&
				c.numeric(n, "grid", n.Span()) {
				nodes[i] = n
				continue
			}
		}
		var ok bool
		if v[i], nodes[i], ok = c.constant(x, e.Args[i].Value, "argument "+row.Args[i]+" of "+row.Name); !ok {
			return bad(e.Span)
		}
		if math.IsInf(v[i], 0) || math.IsNaN(v[i]) {
			c.errorf(CodeArguments, e.Args[i].Span, "argument %s of %s is a finite number", row.Args[i], row.Name)
			return bad(e.Span)
		}
	}
	a, b := v[0], v[1]
	u := units.One
	var d []float64
	if row.Name == "steps" {
		u = c.joinUnits(row.Name, e.Span, nodes[0], nodes[1], nodes[2])
		h := v[2]
		n := math.Floor((b-a)/h + 1e-9) // b counts as reached when only rounding keeps it away
		if h == 0 || n < 0 {
			c.errorf(CodeArguments, e.Span, "steps of %g never lead from %g to %g", h, a, b)
			return bad(e.Span)
		}
		if n >= float64(c.env.MaxElements) {
			c.errorf(CodeSize, e.Span, "this has %.3g elements; the limit is %d", n+1, c.env.MaxElements)
			return bad(e.Span)
		}
		d = make([]float64, int(n)+1)
		for i := range d {
			d[i] = math.FMA(float64(i), h, a)
		}
		if last := len(d) - 1; math.Abs(d[last]-b) < 1e-9*math.Abs(h) {
			d[last] = b
		}
	} else {
		n := v[2]
		if !whole(n) || n < 2 {
			c.errorf(CodeArguments, nodes[2].Span(), "%s needs a whole number of points, at least 2", row.Name)
			return bad(e.Span)
		}
		if n > float64(c.env.MaxElements) {
			c.errorf(CodeSize, e.Span, "this has %.3g elements; the limit is %d", n, c.env.MaxElements)
			return bad(e.Span)
		}
		if row.Name == "grid" && !(model.Static(nodes[0]) && model.Static(nodes[1])) {
			u := c.joinUnits("grid", e.Span, nodes[0], nodes[1])
			return terms.Grid(writer{c}, nodes[0], nodes[1], u, int(n), e.Span)
		}
		d = make([]float64, int(n))
		for i := range d {
			d[i] = math.FMA((b-a)/(n-1), float64(i), a)
		}
		d[len(d)-1] = b
		if row.Name == "grid" {
			u = c.joinUnits(row.Name, e.Span, nodes[0], nodes[1])
		} else {
			for i := range d {
				d[i] = elem.Pow(10, d[i])
			}
		}
	}
	if u.Plain() {
		u = units.Unit{} // points that are plain numbers take the unit that their use asks for
	}
	return model.Seal(&model.Const{Base: model.NewBase(types.Type{
		Kind: types.Real, Shape: types.Shape{len(d)},
		Unit: u,
	}, e.Span), Data: d})
}

// load reads an array from a file in the model's folder.
func (c *checker) load(e *ast.Call) model.Expr {
	if len(e.Args) != 1 || e.Args[0].Key != nil || len(e.For) > 0 {
		c.errorf(CodeArguments, e.Span, "load takes the name of a file: load(\"A.csv\")")
		return bad(e.Span)
	}
	name, ok := strip(e.Args[0].Value).(*ast.String)
	if !ok {
		c.errorf(CodeArguments, e.Args[0].Span, "load takes the name of a file in double quotes: load(\"A.csv\")")
		return bad(e.Span)
	}
	a, err := data.Load(c.env.Files, name.Value, c.env.MaxElements)
	if err != nil {
		c.fileError(name.Span, name.Value, err)
		return bad(e.Span)
	}
	t := types.Type{Kind: types.Real, Shape: types.Shape(a.Shape)}
	if a.Entries != nil {
		return c.sparseMatrix(a, t, e.Span)
	}
	return model.Seal(&model.Const{Base: model.NewBase(t, e.Span), Data: a.Data})
}

// fileError says why a file cannot be read. Too little memory is no fault of the model.
func (c *checker) fileError(at source.Span, name string, err error) {
	var refused *memory.RefusedError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.errorf(CodeFile, at, "there is no file %q in the model's folder", name)
	case errors.As(err, &refused):
		c.errorf(memory.Code, at, "%v", err)
	default:
		c.errorf(CodeFile, at, "%v", err)
	}
}

// special elaborates noevent, pre, post, at_trigger and functions that are not available.
func (c *checker) special(x context, e *ast.Call, row *stdlib.Func) model.Expr {
	switch row.Name {
	case "interp":
		return c.interp(x, e, row)
	case "delay":
		return lagged(c, x, e, row)
	case "mass_action":
		c.errorf(CodeKind, e.Span, "mass_action stands only after `rate` in a reaction")
		return bad(e.Span)
	}
	if row.Name == "pre" || row.Name == "post" {
		if !x.limits {
			if x.place == placeEvent || x.place == placeLet {
				c.errorf(CodePlace, e.Span, "%s is not needed here: the right-hand sides of an event read the values "+
					"before it; %s stands in at_event and sum_at", row.Name, row.Name)
			} else {
				c.errorf(CodePlace, e.Span, "%s stands only inside at_event(…) and sum_at(…)", row.Name)
			}
			return bad(e.Span)
		}
		if x.limit {
			c.errorf(CodePlace, e.Span, "pre and post cannot be nested")
			return bad(e.Span)
		}
		x.limit = true
	}
	args, ok := c.arguments(x, e, row)
	if !ok || anyBad(args...) || !c.numeric(args[0], row.Name, args[0].Span()) {
		return bad(e.Span)
	}
	v := args[0]
	if row.Name == "at_trigger" {
		return atTrigger(c, x, v, e.Span)
	}
	if row.Name == "noevent" {
		if model.Static(v) {
			return v
		}
		return model.Seal(&model.NoEvent{Base: model.NewBase(v.Type(), e.Span), X: v})
	}
	return model.Seal(&model.Limit{Base: model.NewBase(v.Type(), e.Span), X: v, Post: row.Name == "post"})
}

// member elaborates D.column.
func (c *checker) member(x context, e *ast.Member) model.Expr {
	if m, known := c.moduleOf(x, e.X); known {
		if m != nil {
			if g := c.inModule(m, e.Name, constName); g != nil {
				c.resolve(g)
				if g.value != nil {
					return g.value
				}
			}
		}
		return bad(e.Span)
	}
	if n, ok := strip(e.X).(*ast.Name); ok && x.scope.find(n.Name) == nil {
		g := c.namesOf(x)[n.Name]
		switch {
		case g == nil:
			c.errorf(CodeUndefined, n.Span, "there is no data table %q", n.Name)
			return bad(e.Span)
		case g.kind == laterName:
			return bad(e.Span)
		case g.kind == dataName:
			c.resolve(g)
			if g.table == nil {
				return bad(e.Span)
			}
			return inTable(c, x, e, g)
		}
	}
	d := c.errorf(CodeKind, e.Span, "a dot selects the column of a data table, as in D.time")
	if name, is := strip(e.X).(*ast.Name); is && e.Name.Name == "T" {
		d.Message += "; the transpose is transpose(" + name.Name + ")"
		d.Fix(e.Span, "transpose("+name.Name+")", "write transpose")
	}
	return bad(e.Span)
}

// inTable elaborates a column of a table: whole, or what it has in the rows of an experiment or in a row.
func inTable(c *checker, x context, e *ast.Member, g *entity) model.Expr {
	if x.course {
		x.group, x.rows, x.dose = nil, nil, nil
	}
	if x.group.of(g) && x.table != g.table && (x.dose == nil || x.dose.from != g.table) {
		return c.covariate(x, g.table, e.Name)
	}
	if k := g.table.text(e.Name.Name); k >= 0 && x.place == placeWhere {
		return c.text(g.table.texts[k].cells, types.Shape{g.table.rows()}, e.Span)
	}
	k := c.column(g.table, e.Name)
	if k < 0 {
		return bad(e.Span)
	}
	if x.rows != nil && x.rows.from == g.table {
		return x.rows.row(k, e.Span)
	}
	if x.dose != nil && x.dose.from == g.table {
		return c.inRow(x, k, e.Name.Span)
	}
	d, u := g.table.Data[k], g.table.units[k]
	if x.place == placeWhere {
		d, u = g.table.written(k)
	} else if g.table.own != nil && !x.course {
		d = g.table.own[k]
	}
	if r := slices.IndexFunc(d, math.IsNaN); r >= 0 && x.place != placeWhere && !x.course {
		c.list.Warnf(CodeData, e.Span, "row %d of %q has no %s; what reads it there is not a number", r+1,
			g.name, e.Name.Name).Relate(g.span, "declared here")
	}
	v := model.Seal(&model.Const{Base: model.NewBase(types.Type{
		Kind: types.Real, Shape: types.Shape{len(d)},
		Unit: u,
	}, e.Span), Data: d})
	if x.place != placeWhere {
		c.course.Column(v, g.table.Table)
	}
	return v
}
