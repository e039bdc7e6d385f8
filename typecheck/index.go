package typecheck

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/tabulate"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck/terms"
)

// binders opens loop variables. Later ranges may not use earlier variables, because an iteration
// space is a box.
func (c *checker) binders(x context, list []ast.Binder) (context, []*model.Index, bool) {
	var indices []*model.Index
	ok := true
	y := x
	total := 1.0
	for i := range list {
		b := &list[i]
		if j := c.dependent(x, b, list[:i]); j != "" {
			c.errorf(CodeRange, b.Span, "the range of %q depends on %q, but loops are rectangular; let it run over "+
				"all, and choose with: if %s <= %s then … else …", b.Name.Name, j, j, b.Name.Name)
			y = y.with(b.Name.Name, bad(b.Name.Span), b.Name.Span)
			ok = false
			continue
		}
		lo, step, count, good := c.rangeOf(x, b.Lo, b.Step, b.Hi, "the range of "+strconv.Quote(b.Name.Name))
		if !good {
			ok = false
			count = 0
		}
		ix := &model.Index{Name: b.Name.Name, Lo: lo, Step: step, Count: count, Span: b.Name.Span}
		for _, o := range indices {
			if o.Name == ix.Name {
				c.errorf(CodeDuplicate, b.Name.Span, "loop variable %q stands twice; rename one", ix.Name).
					Relate(o.Span, "first here")
				ok = false
			}
		}
		if predefined(ix.Name) {
			c.errorf(CodePredefined, b.Name.Span, "%q is predefined; choose another name", ix.Name)
			ok = false
		}
		indices = append(indices, ix)
		total *= float64(max(count, 1))
		if total > float64(c.env.MaxElements) {
			c.errorf(CodeSize, b.Span, "the loops have %.3g iterations; the limit is %.3g", total,
				float64(c.env.MaxElements))
			return y, indices, false
		}
		y = y.with(ix.Name, terms.LoopVar(ix, ix.Span), ix.Span)
	}
	return y, indices, ok
}

// dependent returns the earlier loop variable that a binder's range uses, or "".
func (c *checker) dependent(x context, b *ast.Binder, before []ast.Binder) string {
	found := ""
	for _, e := range []ast.Expr{b.Lo, b.Step, b.Hi} {
		if e == nil {
			continue
		}
		ast.Inspect(e, func(n ast.Node) bool {
			if name, ok := n.(*ast.Name); ok {
				for k := range before {
					if before[k].Name.Name == name.Name && x.scope.find(name.Name) == nil &&
						c.namesOf(x)[name.Name] == nil {
						found = name.Name
					}
				}
			}
			return true
		})
	}
	return found
}

// rangeOf evaluates lo:step:hi.
func (c *checker) rangeOf(x context, lo, step, hi ast.Expr, what string) (first, by, count int, ok bool) {
	const limit = 1 << 40
	a, ok1 := c.integer(x, lo, what, -limit, limit)
	b, ok2 := c.integer(x, hi, what, -limit, limit)
	by = 1
	ok3 := true
	if step != nil {
		by, ok3 = c.integer(x, step, "the step of "+what, -limit, limit)
		if ok3 && by == 0 {
			c.errorf(CodeRange, step.Pos(), "the step of a range cannot be 0")
			ok3 = false
		}
	}
	if !ok1 || !ok2 || !ok3 {
		return 1, 1, 0, false
	}
	n := (b-a)/by + 1
	if (b-a)*sign(by) < 0 {
		n = 0
	}
	if n > c.env.MaxElements {
		c.errorf(CodeSize, lo.Pos().To(hi.Pos()), "%s has %d values; the limit is %d", what, n, c.env.MaxElements)
		return 1, 1, 0, false
	}
	return a, by, n, true
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// index elaborates X[subs].
func (c *checker) index(x context, e *ast.Index) model.Expr {
	v := c.expr(x, e.X)
	if isBad(v) {
		return bad(e.Span)
	}
	if !c.numeric(v, "[…]", e.X.Pos()) {
		return bad(e.Span)
	}
	shape := v.Type().Shape
	name := e.X.Pos().Text()
	if len(shape) == 0 {
		d := c.errorf(CodeSubscript, e.Span, "%q is a scalar and has no index", name)
		if len(name) > 40 {
			d.Message = "this is a scalar and has no index"
		}
		if text := strings.TrimSpace(strings.TrimPrefix(e.Span.Text(), e.X.Pos().Text())); c.looksLikeUnit(e.Subs) {
			d.Message += fmt.Sprintf("; a unit stands behind a number, or behind the name that is declared: name : "+
				"%s = …", text)
		}
		return bad(e.Span)
	}
	if len(e.Subs) != len(shape) {
		c.errorf(CodeSubscript, e.Span, "%q has shape %s and takes %s, but %d %s", name, shape,
			plural(len(shape), "index", "indices"), len(e.Subs), was(len(e.Subs)))
		return bad(e.Span)
	}
	return c.access(x, e.Span, v, e.Subs)
}

func was(n int) string {
	if n == 1 {
		return "is given"
	}
	return "are given"
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// looksLikeUnit reports subscripts that a user may have meant as a unit.
func (c *checker) looksLikeUnit(subs []*ast.Sub) bool {
	if len(subs) != 1 || subs[0].All || subs[0].Hi != nil {
		return false
	}
	found := false
	var look func(e ast.Expr)
	look = func(e ast.Expr) {
		switch e := strip(e).(type) {
		case *ast.Name:
			if _, ok := units.Lookup(e.Name); ok && c.globals[e.Name] == nil {
				found = true
			}
		case *ast.Binary:
			look(e.X)
			look(e.Y)
		}
	}
	look(subs[0].Lo)
	return found
}

// access builds v[subs]; there is one subscript per axis.
func (c *checker) access(x context, s source.Span, v model.Expr, list []*ast.Sub) model.Expr {
	shape := v.Type().Shape
	subs := make([]model.Sub, len(list))
	var out types.Shape
	var extra []*model.Index // axes of gathers: vectors of indices, and ranges that move with a loop
	ok, whole := true, true
	for k, a := range list {
		y := x
		y.end = shape[k]
		if a.All {
			subs[k] = model.Sub{Lo: 1, Step: 1, Count: shape[k]}
			out = append(out, shape[k])
			continue
		}
		if a.Hi != nil {
			sub, ix, good := c.slice(y, a, shape[k], k, len(shape))
			ok = ok && good
			subs[k] = sub
			if ix != nil {
				extra = append(extra, ix)
				whole = false
				out = append(out, ix.Count)
			} else {
				whole = whole && sub.Lo == 1 && sub.Step == 1 && sub.Count == shape[k]
				out = append(out, sub.Count)
			}
			continue
		}
		whole = false
		at := c.subscript(y, a.Lo)
		if isBad(at) {
			ok = false
			continue
		}
		if t := at.Type().Shape; len(t) == 1 {
			// A vector of indices selects elements, which is one more loop.
			ix := &model.Index{Name: "#" + strconv.Itoa(k+1), Lo: 1, Step: 1, Count: t[0], Span: a.Span}
			at = c.pick(at, ix, a.Span)
			extra = append(extra, ix)
			out = append(out, ix.Count)
		} else if len(t) > 1 {
			c.errorf(CodeSubscript, a.Span, "an index is a whole number or a vector of them, and this has shape %s", t)
			ok = false
			continue
		}
		ok = c.inBounds(x, at, shape[k], k, len(shape)) && ok
		subs[k] = model.Sub{At: at}
	}
	if !ok {
		return bad(s)
	}
	if whole {
		return v
	}
	t := v.Type()
	if t.Kind != types.Bool && !model.Static(v) {
		t.Kind = types.Real
	}
	if len(extra) == 0 {
		t.Shape = out
		return c.foldAccess(&model.Access{Base: model.NewBase(t, s), X: v, Subs: subs})
	}
	// Gathers become an array over their loops. Slices keep their axes in place.
	t.Shape = nil
	inner := &model.Access{Base: model.NewBase(t, s), X: v, Subs: subs}
	place := make([]model.Sub, 0, len(out))
	for k := range subs {
		switch {
		case subs[k].At == nil:
			t.Shape = append(t.Shape, subs[k].Count)
			place = append(place, model.Sub{Lo: 1, Step: 1, Count: subs[k].Count})
		default:
			for _, ix := range extra {
				if slices.Contains(model.Free(subs[k].At), ix) {
					place = append(place, model.Sub{At: c.position(ix)})
				}
			}
		}
	}
	inner.T = t
	value := model.Seal(inner)
	t.Shape = out
	if !c.fits(out, s) {
		return bad(s)
	}
	return model.Seal(&model.Assemble{
		Base:   model.NewBase(t, s),
		Pieces: []model.Piece{{Indices: extra, Subs: place, Value: value, Span: s}},
	})
}

// pick returns element ix of a vector.
func (c *checker) pick(v model.Expr, ix *model.Index, s source.Span) model.Expr {
	t := v.Type()
	t.Shape = nil
	return model.Seal(&model.Access{Base: model.NewBase(t, s), X: v, Subs: []model.Sub{{At: terms.LoopVar(ix, s)}}})
}

// foldAccess evaluates constant elements of a constant array.
func (c *checker) foldAccess(e *model.Access) model.Expr {
	node := model.Seal(e)
	if k, ok := e.X.(*model.Const); ok && len(model.Free(node)) == 0 &&
		k.T.Shape.Size() <= max(foldable, len(k.Data)) &&
		e.T.Shape.Size() <= foldable {
		t := e.T
		v := tabulate.Tabulate(node, nil)
		if len(t.Shape) == 0 && t.Kind == types.Real && whole(v[0]) && plain(t.Unit) {
			t.Kind = types.Int
		}
		return model.Seal(&model.Const{Base: model.NewBase(t, e.S), Data: v})
	}
	return node
}

// subscript elaborates one index expression, which must be a compile-time number.
func (c *checker) subscript(x context, e ast.Expr) model.Expr {
	x.place = placeShape
	v := c.expr(x, e)
	if isBad(v) || !c.numeric(v, "an index", v.Span()) {
		return bad(e.Pos())
	}
	return v
}

// slice elaborates lo:step:hi. A range whose ends move with a loop, or that runs backwards, becomes
// a loop of its own (ix).
func (c *checker) slice(x context, a *ast.Sub, n, axis, rank int) (sub model.Sub, ix *model.Index, ok bool) {
	lo, hi := c.subscript(x, a.Lo), c.subscript(x, a.Hi)
	var step model.Expr
	by := 1
	if a.Step != nil {
		if by, ok = c.integer(x, a.Step, "the step of a range", -c.env.MaxElements, c.env.MaxElements); !ok {
			return model.Sub{}, nil, false
		}
		if by == 0 {
			c.errorf(CodeRange, a.Step.Pos(), "the step of a range cannot be 0")
			return model.Sub{}, nil, false
		}
		step = number(float64(by), units.Unit{}, a.Step.Pos())
	}
	if isBad(lo) || isBad(hi) {
		return model.Sub{}, nil, false
	}
	axes := slices.Clone(model.Free(lo))
	for _, f := range model.Free(hi) {
		if !slices.Contains(axes, f) {
			axes = append(axes, f)
		}
	}
	if len(lo.Type().Shape)+len(hi.Type().Shape) > 0 {
		c.errorf(CodeSubscript, a.Span, "the ends of a range are single numbers")
		return model.Sub{}, nil, false
	}
	ls, ok1 := c.static(lo, axes)
	hs, ok2 := c.static(hi, axes)
	if !ok1 || !ok2 {
		return model.Sub{}, nil, false
	}
	count := -1
	for i := range ls {
		if !whole(ls[i]) || !whole(hs[i]) {
			c.errorf(CodeSubscript, a.Span, "the ends of a range are whole numbers, and this is %g:%g", ls[i], hs[i])
			return model.Sub{}, nil, false
		}
		k := 0
		if d := (hs[i] - ls[i]) / float64(by); d >= 0 {
			k = int(min(math.Floor(d), 1<<40)) + 1
		}
		if count >= 0 && k != count {
			c.errorf(CodeRange, a.Span, "the length of this range changes with the loop (%d and %d); it must be fixed",
				count, k)
			return model.Sub{}, nil, false
		}
		count = k
	}
	if count <= 0 {
		if len(ls) == 0 { // a loop around it is empty
			return model.Sub{Lo: 1, Step: 1, Count: n}, nil, true
		}
		c.errorf(CodeRange, a.Span, "the range %g:%g is empty", ls[0], hs[0])
		return model.Sub{}, nil, false
	}
	ok = c.inBounds(x, lo, n, axis, rank) && c.lastInBounds(x, lo, by, count, n, axis, rank, a.Span)
	if !ok {
		return model.Sub{}, nil, false
	}
	if len(axes) == 0 && by > 0 {
		return model.Sub{Lo: int(ls[0]), Step: by, Count: count}, nil, true
	}
	ix = &model.Index{Name: "#" + strconv.Itoa(axis+1), Lo: 0, Step: 1, Count: count, Span: a.Span}
	v := terms.LoopVar(ix, a.Span)
	if step != nil {
		v = c.apply(stdlib.Operator("*"), a.Span, v, step)
	}
	return model.Sub{At: c.apply(stdlib.Operator("+"), a.Span, lo, v)}, ix, true
}

func (c *checker) lastInBounds(x context, lo model.Expr, by, count, n, axis, rank int, s source.Span) bool {
	last := c.apply(stdlib.Operator("+"), s, lo, number(float64((count-1)*by), units.Unit{}, s))
	return c.inBounds(x, last, n, axis, rank)
}

// inBounds checks an index over the whole iteration space, except where conditions on indices
// exclude it.
func (c *checker) inBounds(x context, at model.Expr, n, axis, rank int) bool {
	axes := model.Free(at)
	v, ok := c.static(at, axes)
	if !ok {
		return false
	}
	wrong := func(p float64) bool { return !(p >= 1 && p <= float64(n)) || p != math.Floor(p) }
	first := slices.IndexFunc(v, wrong)
	if first < 0 {
		return true
	}
	worst := v[first]
	if len(x.guards) > 0 {
		found := false
		if worst, found, ok = c.guarded(x.guards, at, wrong); !ok || !found {
			return ok
		}
	}
	if worst != math.Floor(worst) {
		c.errorf(CodeSubscript, at.Span(), "an index is a whole number, and this is %g", worst)
		return false
	}
	dim := ""
	if rank > 1 {
		dim = fmt.Sprintf(" (dimension %d)", axis+1)
	}
	d := c.errorf(CodeIndex, at.Span(), "index %g is outside 1:%d%s", worst, n, dim)
	if worst == 0 && len(axes) == 0 {
		d.Message += "; indices start at 1"
	}
	return false
}

// guarded looks for a wrong index where all guards hold.
func (c *checker) guarded(guards []guard, at model.Expr, wrong func(float64) bool) (worst float64, found, ok bool) {
	axes := slices.Clone(model.Free(at))
	size := 1.0
	for _, g := range guards {
		for _, f := range model.Free(g.cond) {
			if !slices.Contains(axes, f) {
				axes = append(axes, f)
			}
		}
	}
	for _, a := range axes {
		size *= float64(a.Count)
	}
	if size > float64(c.env.MaxElements) {
		c.errorf(CodeSize, at.Span(), "the condition around this index has %.3g cases; the limit is %.3g", size,
			float64(c.env.MaxElements))
		return 0, false, false
	}
	v, ok := c.static(at, axes)
	if !ok {
		return 0, false, false
	}
	masks := make([][]float64, len(guards))
	for i, g := range guards {
		if masks[i], ok = c.static(g.cond, axes); !ok {
			return 0, false, false
		}
	}
	for i, p := range v {
		if !wrong(p) {
			continue
		}
		reached := true
		for k, g := range guards {
			if (masks[k][i] != 0) == g.negate {
				reached = false
				break
			}
		}
		if reached {
			return p, true, true
		}
	}
	return 0, false, true
}

// target elaborates the subscripts on the left of an assignment to an array of
// the given shape. It returns the subscripts (nil for the whole) and the shape
// of what they select.
func (c *checker) target(x context, t *ast.LValue, shape types.Shape) (subs []model.Sub, out types.Shape, ok bool) {
	if t.Subs == nil {
		return nil, shape, true
	}
	name := t.Name.Name
	if len(shape) == 0 {
		c.errorf(CodeSubscript, t.Span, "%q is a scalar and has no index", name)
		return nil, nil, false
	}
	if len(t.Subs) != len(shape) {
		c.errorf(CodeSubscript, t.Span, "%q has shape %s and takes %s, but %d %s", name, shape,
			plural(len(shape), "index", "indices"), len(t.Subs), was(len(t.Subs)))
		return nil, nil, false
	}
	ok = true
	subs = make([]model.Sub, len(t.Subs))
	for k, a := range t.Subs {
		y := x
		y.end = shape[k]
		switch {
		case a.All:
			subs[k] = model.Sub{Lo: 1, Step: 1, Count: shape[k]}
			out = append(out, shape[k])
		case a.Hi != nil:
			sub, ix, good := c.slice(y, a, shape[k], k, len(shape))
			if ix != nil {
				c.errorf(CodeSubscript, a.Span, "a range on the left of an assignment is fixed and ascending; write "+
					"a loop: %s[i] … for i in lo:hi", name)
				good = false
			}
			subs[k] = sub
			out = append(out, sub.Count)
			ok = ok && good
		default:
			at := c.subscript(y, a.Lo)
			if isBad(at) {
				ok = false
				continue
			}
			if len(at.Type().Shape) > 0 {
				c.errorf(CodeSubscript, a.Span, "an index on the left of an assignment is a single number; write a "+
					"loop: %s[v[i]] … for i in 1:n", name)
				ok = false
				continue
			}
			ok = c.inBounds(x, at, shape[k], k, len(shape)) && ok
			subs[k] = model.Sub{At: at}
		}
	}
	return subs, out, ok
}
