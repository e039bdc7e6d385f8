package typecheck

import (
	"math"
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/typecheck/terms"
)

// resolve works out what a global name means. Names that it needs are resolved first.
func (c *checker) resolve(e *entity) {
	switch e.stage {
	case 2:
		return
	case 1:
		c.cycle(e)
		return
	}
	if len(c.resolving) > 10_000 {
		c.errorf(CodeSize, e.span, "definitions depend on each other more than 10000 deep")
		e.stage = 2
		return
	}
	e.stage = 1
	c.resolving = append(c.resolving, e)
	switch e.kind {
	case constName:
		c.resolveConst(e)
	case paramName, stateName, discreteName, algName, controlName:
		c.resolveVariable(e)
	case timeName:
		c.resolveTime(e)
	case letName:
		e.value = c.letValue(context{place: placeLet}, e.lets)
		if e.lets[0].Unit == nil && !bare(e.value) {
			c.letOf[e.value] = e
		}
	case dataName:
		c.resolveData(e)
	}
	c.resolving = c.resolving[:len(c.resolving)-1]
	e.stage = 2
}

// cycle reports a definition that needs itself, with the names along the cycle.
func (c *checker) cycle(e *entity) {
	i := slices.Index(c.resolving, e)
	var way []string
	for _, d := range c.resolving[i:] {
		way = append(way, d.name)
	}
	what := "definitions"
	switch e.kind {
	case letName:
		what = "lets"
	case constName:
		what = "consts"
	case paramName:
		what = "defaults"
	case stateName, discreteName:
		what = "initial values"
	}
	if len(way) == 1 {
		if e.kind == letName {
			c.errorf(CodeCycle, e.span, "%q is defined by itself; what changes with time is a state", e.name)
		} else {
			c.errorf(CodeCycle, e.span, "the value of %q depends on itself", e.name)
		}
		return
	}
	d := c.errorf(CodeCycle, e.span, "these %s depend on each other in a circle: %s", what,
		strings.Join(append(way, e.name), " → "))
	for _, o := range c.resolving[i+1:] {
		d.Relate(o.span, "%q", o.name)
	}
}

// shape evaluates the declared dimensions of a variable.
func (c *checker) shape(x context, dims []ast.Expr) (types.Shape, bool) {
	shape, ok := c.dims(x, dims)
	if ok && len(shape) > 0 && !c.fits(shape, dims[0].Pos().To(dims[len(dims)-1].Pos())) {
		return nil, false
	}
	return shape, ok
}

// dimension is what messages call an entry of a shape.
const dimension = "a dimension"

// dims is shape for arrays whose elements need not be stored.
func (c *checker) dims(x context, dims []ast.Expr) (types.Shape, bool) {
	var shape types.Shape
	ok := true
	for _, d := range dims {
		n, good := c.integer(x, d, dimension, 1, c.env.MaxElements)
		ok = ok && good
		shape = append(shape, n)
	}
	if !ok {
		return nil, false
	}
	if len(shape) > maxRank {
		c.errorf(CodeShape, dims[maxRank].Pos(), "arrays have at most %d dimensions", maxRank)
		return nil, false
	}
	return shape, true
}

// fill checks that a value has the shape of what it is assigned to, or is a scalar that fills it.
func (c *checker) fill(what string, value model.Expr, shape types.Shape, declared source.Span) bool {
	s := value.Type().Shape
	if len(s) == 0 || s.Equal(shape) {
		return true
	}
	c.errorf(CodeShape, value.Span(), "%s must be %s, but this has shape %s", what, wants(shape), s).
		Relate(declared, "declared here")
	return false
}

func wants(s types.Shape) string {
	if len(s) == 0 {
		return "a scalar"
	}
	return "of shape " + s.String() + " (or a scalar that fills it)"
}

func (c *checker) resolveConst(e *entity) {
	v := e.variable
	e.value = bad(v.Name.Span)
	x := context{place: placeConst, module: e.home}
	if v.Value == nil {
		c.shape(x, v.Dims)
		c.errorf(CodeMissing, v.Span, "const %q needs a value: const %s = …", e.name, e.name)
		return
	}
	y := x
	y.sparse = true
	value := c.expr(y, v.Value)
	matrix := c.sparse[value]
	measure := c.shape
	if c.largeSparse(value) {
		measure = c.dims
	}
	shape, ok := measure(x, v.Dims)
	if v.Prior != nil || v.Lo != nil {
		c.errorf(CodeKind, v.Span, "a const has neither bounds nor a prior; declare %q with param", e.name)
	}
	if !ok || isBad(value) || !c.numeric(value, "=", value.Span()) {
		return
	}
	if v.Dims == nil {
		shape = value.Type().Shape
	} else if !c.fill("const "+e.name, value, shape, v.Name.Span) {
		return
	}
	written := value
	value = c.stated(v.Unit, value, v.Value)
	d, ok := []float64{0}, true
	if !c.largeSparse(value) {
		d, ok = c.static(value, nil)
	}
	if !ok {
		return
	}
	t := types.Type{Kind: types.Real, Shape: shape}
	t.Unit = c.declaredUnit(v.Unit, value, v.Value, "the value of "+e.name)
	if !t.Unit.Known() {
		t.Unit = c.unitOf(e)
	}
	if o, is := c.env.Consts[e.name]; is && e.home == nil {
		if len(shape) > 0 {
			c.errorf(CodeArguments, v.Name.Span, "const %q has shape %s; only a scalar const can be overridden", e.name,
				shape)
			return
		}
		d = []float64{o}
	}
	if it := c.override(e); it != nil {
		e.before = model.Seal(&model.Const{Base: model.NewBase(t, v.Name.Span), Data: slices.Clone(d)})
		if o := c.overrideConst(it, e, t, d[0]); o != nil {
			d = o
		}
	}
	if matrix == nil && !slices.ContainsFunc(d, func(x float64) bool { return !whole(x) }) {
		t.Kind = types.Int
	}
	e.value = model.Seal(&model.Const{Base: model.NewBase(t, v.Name.Span), Data: slices.Clone(d)})
	c.course.Follows(e.value, written)
	if matrix != nil {
		c.markSparse(e.value, matrix)
	}
}

// resolveVariable makes the symbol of a param, state or discrete.
func (c *checker) resolveVariable(e *entity) {
	v := e.variable
	declared := v.Dims != nil
	var shape types.Shape
	var ok bool
	if e.kind == controlName {
		grid := c.controlGrid(e)
		defer func() { c.control(e, grid) }()
		declared = true
		shape, ok = c.controlShape(e, grid)
	} else {
		shape, ok = c.shape(context{place: placeShape}, v.Dims)
	}
	sym := &model.Symbol{Name: e.name, Span: v.Name.Span, Doc: e.doc, Lo: math.Inf(-1), Hi: math.Inf(1)}
	var where *place
	what := "the initial value of " + e.name
	switch e.kind {
	case paramName:
		sym.Kind, where, what = model.ParamSymbol, placeParam, "the default of "+e.name
	case stateName:
		sym.Kind, where = model.StateSymbol, placeInitial
	case controlName:
		sym.Kind, where, what = model.ParamSymbol, placeParam, "the values of "+e.name
		sym.Control = true
	case algName:
		sym.Kind, where, what = model.AlgSymbol, placeInitial, "the guess of "+e.name
	default:
		sym.Kind, where = model.DiscreteSymbol, placeInitial
	}
	if v.Value == nil {
		word := strings.TrimPrefix(kindWord(e.kind), "the ")
		c.errorf(CodeMissing, v.Span, "%s %q needs a value: %s %s = …", word, e.name, word, e.name)
		return
	}
	// What an experiment sets is also a name for its value without the experiment.
	value := c.expr(context{place: where, before: c.override(e) != nil}, v.Value)
	if v.Lo != nil && e.kind != paramName && e.kind != controlName {
		c.errorf(CodeKind, v.Lo.Pos().To(v.Hi.Pos()), "only params have bounds")
	}
	if v.Prior != nil && e.kind != paramName {
		c.errorf(CodeKind, v.Prior.Pos(), "only params have priors")
	}
	if !ok || isBad(value) || !c.numeric(value, "=", value.Span()) {
		if !ok {
			return
		}
		// The name remains usable, so that its uses are not errors as well.
		sym.Type = types.Type{Kind: types.Real, Shape: shape}
		sym.Value = bad(v.Span)
		if declared || v.Value == nil {
			e.sym = sym
		}
		return
	}
	if !declared {
		shape = value.Type().Shape
	} else if !c.fill(what, value, shape, v.Name.Span) {
		sym.Type = types.Type{Kind: types.Real, Shape: shape}
		sym.Value = bad(v.Span)
		e.sym = sym // its uses are then checked in any case
		return
	}
	value = c.stated(v.Unit, value, v.Value)
	sym.Type = types.Type{Kind: types.Real, Shape: shape, Unit: c.declaredUnit(v.Unit, value, v.Value, what)}
	if !sym.Type.Unit.Known() {
		sym.Type.Unit = c.unitOf(e)
		if !bare(value) {
			c.demand(value, sym.Type.Unit)
		}
	}
	sym.Value = value
	sym.Literal = model.Static(value)
	e.sym = sym
	if v.Lo != nil {
		c.bounds(e, sym, v)
	}
	if it := c.override(e); it != nil {
		if e.value = c.overrideParam(it, e, sym); !c.variant.alone && !isBad(e.value) {
			e.stand = c.stand(e, sym)
		}
	}
	if e.condition {
		c.holdParam(e)
	}
	if sym.Random = c.randoms[e] != nil; v.Prior != nil && e.kind == paramName && !sym.Random {
		c.priors = append(c.priors, prior{sym: sym, dist: v.Prior})
	}
	holdOccasions(c, e)
}

func (c *checker) bounds(e *entity, sym *model.Symbol, v *ast.Var) {
	one := func(b ast.Expr, open float64, made *model.Expr) (float64, bool) {
		value := c.expr(context{place: placeBound}, b)
		if isBad(value) || !c.numeric(value, "in", value.Span()) {
			return 0, false
		} else if len(value.Type().Shape) > 0 {
			c.errorf(CodeBounds, b.Pos(), "a bound is a single number, for all elements")
			return 0, false
		}
		value = c.written(sym.Type.Unit, value, b, v.Name.Span)
		if !bare(value) {
			c.expectUnit("a bound of "+e.name, value, sym.Type.Unit, v.Name.Span)
		}
		if !model.Static(value) { // it is known when a run begins
			*made = value
			return open, true
		}
		if d, ok := c.static(value, nil); ok {
			return d[0], true
		}
		return 0, false
	}
	lo, ok1 := one(v.Lo, math.Inf(-1), &sym.Least)
	hi, ok2 := one(v.Hi, math.Inf(1), &sym.Most)
	at := v.Lo.Pos().To(v.Hi.Pos())
	switch {
	case !ok1 || !ok2:
		return
	case v.Prior != nil && (sym.Least != nil || sym.Most != nil):
		c.errorf(CodeBounds, at, "bounds cut a prior off, and those of a param with one read no params")
		return
	case lo != lo || hi != hi:
		c.errorf(CodeBounds, at, "the bounds %g and %g are not both numbers", lo, hi)
		return
	case !(lo <= hi):
		c.errorf(CodeBounds, at, "the lower bound %g is above the upper bound %g; exchange them", lo, hi)
		return
	}
	sym.Lo, sym.Hi, sym.Bounded = lo, hi, true
	if !sym.Literal {
		return
	}
	d, _ := c.static(sym.Value, nil)
	for _, x := range d {
		if x < lo || x > hi {
			c.list.Warnf(CodeBounds, sym.Value.Span(), "the default %g of %q is outside its bounds [%g, %g]", x, e.name,
				lo, hi)
			return
		}
	}
}

func (c *checker) resolveTime(e *entity) {
	t := e.time
	x := context{place: placeTime}
	from, to := c.expr(x, t.From), c.expr(x, t.To)
	sym := &model.Symbol{
		Name: e.name, Kind: model.TimeSymbol, Span: e.span, Doc: e.doc, Lo: math.Inf(-1),
		Hi: math.Inf(1),
	}
	sym.Type = types.Type{Kind: types.Real}
	e.sym = sym
	for _, b := range []model.Expr{from, to} {
		if isBad(b) {
			continue
		}
		if !c.numeric(b, "time", b.Span()) {
			continue
		}
		if len(b.Type().Shape) > 0 {
			c.errorf(CodeShape, b.Span(), "a bound of the time is a single number, and this has shape %s",
				b.Type().Shape)
		}
	}
	if t.Unit != nil {
		sym.Type.Unit = c.unit(t.Unit)
		if !isBad(from) && !isBad(to) {
			from = c.written(sym.Type.Unit, from, t.From, t.Unit.Span)
			to = c.written(sym.Type.Unit, to, t.To, t.Unit.Span)
		}
		for _, b := range []model.Expr{from, to} {
			if !isBad(b) && !bare(b) {
				c.expectUnit("a bound of the time", b, sym.Type.Unit, t.Unit.Span)
			}
		}
	} else {
		for _, b := range []model.Expr{to, from} {
			if !isBad(b) && !bare(b) && b.Type().Unit.Known() {
				sym.Type.Unit = b.Type().Unit
			}
		}
	}
	if !sym.Type.Unit.Known() {
		sym.Type.Unit = c.unitOf(e)
	}
	c.model.Time, c.model.From, c.model.To = sym, from, to
	a, ok := from.(*model.Const)
	b, is := to.(*model.Const)
	ok, is = ok && !isBad(from), is && !isBad(to)
	switch at := t.From.Pos().To(t.To.Pos()); {
	case ok && math.IsInf(a.Data[0], 0), is && math.IsInf(b.Data[0], 0):
		c.errorf(CodeBounds, at, "a run begins and ends at finite times; what it leads to after its end is steady(x)")
	case ok && is && !(a.Data[0] < b.Data[0]):
		c.errorf(CodeBounds, at, "the time runs from %g to %g; the end must be later than the start", a.Data[0],
			b.Data[0])
	}
}

// letValue elaborates the pieces of one let.
func (c *checker) letValue(x context, pieces []*ast.Let) model.Expr {
	l := pieces[0]
	var v model.Expr
	if l.Target.Subs == nil {
		if len(l.For) > 0 {
			c.errorf(CodeSubscript, l.Target.Span, "%q has no index for the loop over %q; write %s[%s] = …",
				l.Target.Name.Name, l.For[0].Name.Name, l.Target.Name.Name, l.For[0].Name.Name)
			return bad(l.Span)
		}
		x.sparse = true
		v = c.expr(x, l.Value)
	} else {
		v = c.letPieces(x, pieces)
	}
	if isBad(v) {
		return v
	}
	if v.Type().Kind == types.String {
		c.errorf(CodeType, v.Span(), "a let is a number or a condition, and this is a text")
		return bad(l.Span)
	}
	for _, p := range pieces {
		if p.Unit == nil {
			continue
		}
		u := c.unit(p.Unit)
		for _, e := range terms.Values(v) {
			if !bare(e) {
				c.expectUnit("the value of "+l.Target.Name.Name, e, u, p.Unit.Span)
			}
		}
		t := v.Type()
		t.Unit = u
		w := retype(v, t)
		c.course.Follows(w, v)
		if m := c.sparse[v]; m != nil {
			return c.markSparse(w, m)
		}
		return w
	}
	return v
}

// letPieces makes an array of `w[i] = … for …`. Its shape is the smallest that holds all elements
// that are defined.
func (c *checker) letPieces(x context, pieces []*ast.Let) model.Expr {
	name := pieces[0].Target.Name.Name
	rank := len(pieces[0].Target.Subs)
	ok := true
	shape := make(types.Shape, rank)
	type half struct {
		let     *ast.Let
		x       context
		indices []*model.Index
	}
	var halves []half
	for _, p := range pieces {
		t := p.Target
		if len(t.Subs) != rank {
			c.errorf(CodeSubscript, t.Span, "this piece of %q has %s, the first has %d", name,
				plural(len(t.Subs), "index", "indices"), rank).Relate(pieces[0].Target.Span, "first piece")
			return bad(t.Span)
		}
		y, indices, good := c.binders(x, p.For)
		ok = ok && good
		halves = append(halves, half{p, y, indices})
		if !good {
			continue
		}
		for k, s := range t.Subs {
			ends := []ast.Expr{s.Lo}
			switch {
			case s.All:
				c.errorf(CodeSubscript, s.Span, "the length of `:` is not known here; write the range, as in %s[1:n]",
					name)
				ok = false
				continue
			case s.Hi != nil:
				ends = append(ends, s.Hi)
			}
			for _, e := range ends {
				y.looped = true
				at := c.subscript(y, e)
				if isBad(at) || len(at.Type().Shape) > 0 {
					ok = false
					continue
				}
				d, good := c.static(at, model.Free(at))
				ok = ok && good
				for _, v := range d {
					if v > float64(shape[k]) && v <= float64(c.env.MaxElements) {
						shape[k] = int(v)
					} else if v > float64(c.env.MaxElements) {
						c.errorf(CodeSize, s.Span, "index %g is beyond the limit of %d elements", v, c.env.MaxElements)
						return bad(s.Span)
					}
				}
			}
		}
	}
	if !ok {
		return bad(pieces[0].Span)
	}
	if rank > maxRank {
		c.errorf(CodeShape, pieces[0].Target.Span, "arrays have at most %d dimensions", maxRank)
		return bad(pieces[0].Span)
	}
	if slices.Contains(shape, 0) {
		c.errorf(CodeRange, pieces[0].Target.Span, "%q has no elements: its range is empty", name)
		return bad(pieces[0].Span)
	}
	if !c.fits(shape, pieces[0].Target.Span) {
		return bad(pieces[0].Span)
	}
	var list []model.Piece
	t := types.Type{Kind: types.Real, Shape: shape}
	first, head := true, model.Expr(nil)
	for _, h := range halves {
		subs, out, good := c.target(h.x, h.let.Target, shape)
		value := c.expr(h.x, h.let.Value)
		if !good || isBad(value) || !c.numeric(value, name, value.Span()) {
			ok = false
			continue
		}
		if !c.fill("this piece of "+name, value, out, h.let.Target.Span) {
			ok = false
			continue
		}
		if first {
			t.Unit = value.Type().Unit
		} else {
			t.Unit = c.mergeUnits(name, t.Unit, head, value)
		}
		if first {
			head = value
		}
		first = false
		if empty(h.indices) {
			continue
		}
		list = append(list, model.Piece{Indices: h.indices, Subs: subs, Value: value, Span: h.let.Target.Span})
	}
	if !ok {
		return bad(pieces[0].Span)
	}
	covers := newCover(c, shape)
	for _, p := range list {
		if !covers.Add(p) {
			return bad(pieces[0].Span)
		}
	}
	if at, is := covers.Missing(); is {
		c.errorf(CodeCoverage, pieces[0].Target.Span, "element %s of %q is not defined", at, name)
		ok = false
	}
	if at, spans, is := covers.Twice(); is {
		c.errorf(CodeCoverage, spans[1], "element %s of %q is defined twice%s", at, name, source.Lines(spans)).
			Relate(spans[0], "first here")
		ok = false
	}
	if !ok {
		return bad(pieces[0].Span)
	}
	return model.Seal(&model.Assemble{Base: model.NewBase(t, pieces[0].Target.Span), Pieces: list})
}

func empty(indices []*model.Index) bool {
	return slices.ContainsFunc(indices, func(ix *model.Index) bool { return ix.Count == 0 })
}

// listSymbols puts the symbols into the model in file order.
func (c *checker) listSymbols() {
	for _, e := range c.order {
		if e.sym == nil {
			continue
		}
		switch e.kind {
		case paramName, controlName:
			c.model.Params = append(c.model.Params, e.sym)
		case stateName:
			c.model.States = append(c.model.States, e.sym)
		case discreteName:
			c.model.Discretes = append(c.model.Discretes, e.sym)
		}
	}
	for _, e := range c.order {
		if e.sym != nil && e.kind == algName {
			c.model.States = append(c.model.States, e.sym)
		}
	}
	for _, e := range c.order { // after those that all experiments have
		if e.stand != nil {
			c.model.Params = append(c.model.Params, e.stand)
		}
		if e.held != nil {
			c.model.Discretes = append(c.model.Discretes, e.held)
		}
	}
	for _, e := range c.order {
		named := &model.Let{Name: e.name, Value: e.value, Doc: e.doc, Span: e.span}
		switch {
		case e.kind != letName && e.kind != constName || isBad(e.value) || e.value.Type().Kind == types.Bool,
			c.largeSparse(e.value):
		case e.kind == constName:
			c.model.Consts = append(c.model.Consts, named)
		case !model.Static(e.value):
			c.model.Lets = append(c.model.Lets, named)
		}
	}
	hasTime, hasState := false, len(c.reports) > 0
	for _, e := range c.order {
		hasTime = hasTime || e.kind == timeName
		hasState = hasState || e.kind == stateName || e.output
	}
	if len(c.file.Items) == 0 && !c.unparsed {
		c.errorf(CodeMissing, c.wholeFile(), "the model is empty; `odes new` writes one to start from")
		return
	}
	if !hasTime && !c.unparsed {
		c.errorf(CodeMissing, c.wholeFile(), "the model has no time; add: time t from 0 to 10")
	}
	if !hasState && !c.unparsed {
		c.errorf(CodeMissing, c.wholeFile(), "the model has no state; add: state x = 1 and x' = …, or output y = …")
	}
}
