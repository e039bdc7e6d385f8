package terms

import (
	"math"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/tabulate"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
)

// Tabulated returns e as a constant where it is known at compile time.
func Tabulated(e model.Expr) model.Expr {
	if _, is := e.(*model.Const); is || IsBad(e) || !model.Static(e) || len(model.Free(e)) > 0 {
		return e
	}
	return model.Seal(&model.Const{Base: model.NewBase(e.Type(), e.Span()), Data: tabulate.Tabulate(e, nil)})
}

// Among returns the elements of a vector at some places, from 0.
func Among(c Checker, v model.Expr, at []int) model.Expr {
	t := v.Type()
	n := t.Shape[0]
	if len(at) == n && at[0] == 0 && at[n-1] == n-1 {
		return v
	}
	if k, is := v.(*model.Const); is {
		data := make([]float64, len(at))
		for i, j := range at {
			data[i] = k.Data[min(j, len(k.Data)-1)]
		}
		t.Shape = types.Shape{len(at)}
		return model.Seal(&model.Const{Base: model.NewBase(t, v.Span()), Data: data})
	}
	b := &Table{C: c, At: v.Span()}
	t.Shape = types.Shape{len(at)}
	some := &model.Stack{Base: model.NewBase(t, v.Span())}
	for _, j := range at {
		some.Elems = append(some.Elems, b.elem(v, j+1))
	}
	return model.Seal(some)
}

// Table writes the interpolation of one table.
type Table struct {
	C             Checker
	At            source.Span
	Knots, Values model.Expr // [N]
	N             int
}

func (b *Table) op(name string, x, y model.Expr) model.Expr {
	return b.C.Apply(stdlib.Operator(name), b.At, x, y)
}

func (b *Table) of(name string, args ...model.Expr) model.Expr {
	return b.C.Apply(stdlib.Find(name, stdlib.Elementwise), b.At, args...)
}

func (b *Table) num(x float64) model.Expr { return Number(x, units.Unit{}, b.At) }

// Part is v[lo : lo+n-1].
func (b *Table) Part(v model.Expr, lo, n int) model.Expr {
	u := v.Type()
	u.Shape = types.Shape{n}
	return b.C.Fold(&model.Access{
		Base: model.NewBase(u, b.At), X: v,
		Subs: []model.Sub{{Lo: lo, Step: 1, Count: n}},
	})
}

// elem is v[i].
func (b *Table) elem(v model.Expr, i int) model.Expr {
	u := v.Type()
	u.Shape = nil
	return b.C.Fold(&model.Access{Base: model.NewBase(u, b.At), X: v, Subs: []model.Sub{{At: b.num(float64(i))}}})
}

// choose returns `if x < y then a else b`, without events.
func (b *Table) choose(x, y, then, els model.Expr) model.Expr {
	cond := b.C.Elementwise(stdlib.Operator("<"), b.At, types.Bool, x, y)
	shape, _ := b.C.Broadcast("if", b.At, cond, then, els)
	e := model.Seal(&model.If{
		Base: model.NewBase(types.Type{Kind: types.Real, Shape: shape}, b.At), Cond: cond, Then: then, Else: els,
		Static: model.Static(cond),
	})
	if model.Static(e) {
		return model.Seal(&model.Const{Base: model.NewBase(e.T, b.At), Data: tabulate.Tabulate(e, nil)})
	}
	return model.Seal(&model.NoEvent{Base: model.NewBase(e.T, b.At), X: e})
}

// Value is the interpolation at q. Knots that are constants may be equal: there it jumps. It comes from the first of
// their values and goes on from the last.
func (b *Table) Value(q model.Expr, kind string) model.Expr {
	parts := b.parts(kind)
	values := &model.Stack{}
	var ends []float64
	for i, at := range parts {
		p := &Table{C: b.C, At: b.At, Knots: Among(b.C, b.Knots, at), Values: Among(b.C, b.Values, at), N: len(at)}
		if i > 0 {
			ends = append(ends, b.Knots.(*model.Const).Data[at[0]])
		}
		values.Elems = append(values.Elems, p.between(q, kind))
	}
	if len(parts) == 1 {
		return values.Elems[0]
	}
	t, u := b.Knots.Type(), b.Values.Type()
	t.Shape, u.Shape, u.Kind = types.Shape{len(ends)}, types.Shape{len(parts)}, types.Real
	values.Base = model.NewBase(u, b.At)
	all := &Table{C: b.C, At: b.At, Values: model.Seal(values), N: len(parts)}
	return all.Held(q, model.Seal(&model.Const{Base: model.NewBase(t, b.At), Data: ends}), "")
}

// parts lists the rows between jumps. What is constant between knots is one part that jumps at all of them.
func (b *Table) parts(kind string) [][]int {
	all := make([]int, b.N)
	for i := range all {
		all[i] = i
	}
	k, fixed := b.Knots.(*model.Const)
	if !fixed {
		return [][]int{all}
	}
	equal := func(i, j int) bool {
		return j >= 0 && j < b.N && k.Data[i] == k.Data[j]
	}
	var list [][]int
	var part []int
	for i := range all {
		switch first, last := !equal(i, i-1), !equal(i, i+1); {
		case kind == "previous" && (last || first && i == 0), kind == "next" && (first || last && i == b.N-1),
			first && last:
			part = append(part, i)
		case kind == "previous" || kind == "next":
		case first:
			list, part = append(list, append(part, i)), nil
		case last:
			part = []int{i}
		}
	}
	return append(list, part)
}

// between is Value for knots that are different.
func (b *Table) between(q model.Expr, kind string) model.Expr {
	switch {
	case b.N == 1:
		return b.elem(b.Values, 1)
	case kind == "previous":
		return b.Held(q, b.Part(b.Knots, 2, b.N-1), "")
	case kind == "next":
		return b.Next(q)
	}
	return b.Through(q, kind)
}

func (b *Table) Through(q model.Expr, kind string) model.Expr {
	m := b.N - 1
	t0, t1 := b.Part(b.Knots, 1, m), b.Part(b.Knots, 2, m)
	h := b.op("-", t1, t0)
	slope := b.op("/", b.op("-", b.Part(b.Values, 2, m), b.Part(b.Values, 1, m)), h)
	// At a knot min and max are both the knot, so only the interval behind it has a slope there:
	// the one on the right.
	w := b.op("-", b.of("max", b.of("min", t1, q), t0), t0)
	var rise, d model.Expr
	if kind == "linear" {
		rise = b.op("*", slope, w)
	} else {
		d = b.slopes(kind, h, slope)
		d0, d1 := b.Part(d, 1, m), b.Part(d, 2, m)
		// Hermite's cubic: w*(d0 + w*(c2 + w*c3)).
		c2 := b.op("/", b.op("-", b.op("*", b.num(3), slope), b.op("+", b.op("*", b.num(2), d0), d1)), h)
		c3 := b.op("/", b.op("-", b.op("+", d0, d1), b.op("*", b.num(2), slope)), b.op("*", h, h))
		rise = b.op("*", w, b.op("+", d0, b.op("*", w, b.op("+", c2, b.op("*", w, c3)))))
	}
	v := b.op("+", b.elem(b.Values, 1), b.C.Reduction(b.At, stdlib.Find("sum", stdlib.Reduction), rise))
	return b.searched(v, q, d)
}

// searched returns v, a sum over all rows, with its table, and a search if that is long and can be searched. d is nil
// for a table that is linear.
func (b *Table) searched(v, q, d model.Expr) model.Expr {
	if call, is := v.(*model.Call); is {
		call.Table = &model.Search{Knots: b.Knots, Values: b.Values, Slopes: d, Time: q}
		if b.N > mostSummed && rises(q) && held(b.Knots) && held(b.Values) {
			call.Search = call.Table
		}
	}
	return v
}

// mostSummed is up to how many rows a table is always read by a sum over all of them. Gradients by as many params take
// as long by a search there.
const mostSummed = 64

// Held reports whether e is the same for all loop variables, and does not change between two events.
func held(e model.Expr) bool {
	return model.Depends(e)&^(model.UsesParam|model.UsesDiscrete) == 0 && len(model.Free(e)) == 0
}

// rises reports whether e is an affine function of time that rises at a constant rate.
func rises(e model.Expr) bool {
	switch e := e.(type) {
	case *model.Ref:
		return e.Sym.Kind == model.TimeSymbol
	case *model.Call:
		shifts := func(k int) bool { return model.Depends(e.Args[k])&^(model.UsesParam|model.UsesDiscrete) == 0 }
		scales := func(k int) bool {
			f, is := e.Args[k].(*model.Const)
			return is && len(f.Data) == 1 && f.Data[0] > 0
		}
		switch e.Fn.Name {
		case "+":
			return rises(e.Args[0]) && shifts(1) || shifts(0) && rises(e.Args[1])
		case "-":
			return len(e.Args) == 2 && rises(e.Args[0]) && shifts(1)
		case "*":
			return rises(e.Args[0]) && scales(1) || scales(0) && rises(e.Args[1])
		case "/":
			return rises(e.Args[0]) && scales(1)
		}
	}
	return false
}

// slopes returns the derivatives at the knots, [n].
func (b *Table) slopes(kind string, h, slope model.Expr) model.Expr {
	switch {
	case b.N == 2:
		return b.join(b.elem(slope, 1), nil, b.elem(slope, 1))
	case kind == "spline":
		return b.splineSlopes()
	}
	return b.monotoneSlopes(h, slope)
}

// join returns [first, middle…, last].
func (b *Table) join(first, middle, last model.Expr) model.Expr {
	one := func(i int) []model.Sub { return []model.Sub{{Lo: i, Step: 1, Count: 1}} }
	pieces := []model.Piece{{Subs: one(1), Value: first, Span: b.At}}
	if middle != nil {
		pieces = append(pieces, model.Piece{
			Subs: []model.Sub{{Lo: 2, Step: 1, Count: b.N - 2}}, Value: middle,
			Span: b.At,
		})
	}
	pieces = append(pieces, model.Piece{Subs: one(b.N), Value: last, Span: b.At})
	e := model.Seal(&model.Assemble{
		Base:   model.NewBase(types.Type{Kind: types.Real, Shape: types.Shape{b.N}}, b.At),
		Pieces: pieces,
	})
	if model.Static(e) {
		return model.Seal(&model.Const{Base: model.NewBase(e.T, b.At), Data: tabulate.Tabulate(e, nil)})
	}
	return e
}

// monotoneSlopes returns the slopes of Fritsch and Butland (doi:10.1137/0905021). At inner knots
// they are the weighted harmonic mean of the neighbouring slopes, and 0 at an extremum. At the ends
// they are those of a parabola, limited so that the curve stays monotone.
func (b *Table) monotoneSlopes(h, slope model.Expr) model.Expr {
	m := b.N - 1
	ha, hb := b.Part(h, 1, m-1), b.Part(h, 2, m-1)
	sa, sb := b.Part(slope, 1, m-1), b.Part(slope, 2, m-1)
	wa := b.op("+", b.op("*", b.num(2), hb), ha)
	wb := b.op("+", hb, b.op("*", b.num(2), ha))
	same := b.op("*", sa, sb)
	// Where the slopes have different signs the mean is 0. There, nothing may be divided by what
	// could be 0.
	under := b.choose(b.num(0), same, b.op("+", b.op("*", wa, sb), b.op("*", wb, sa)), b.num(1))
	mean := b.op("/", b.op("*", b.op("+", wa, wb), b.of("max", same, b.num(0))), under)
	end := func(h0, h1, s0, s1 model.Expr) model.Expr {
		d := b.op("/", b.op("-", b.op("*", b.op("+", b.op("*", b.num(2), h0), h1), s0), b.op("*", h0, s1)),
			b.op("+", h0, h1))
		three := b.op("*", b.num(3), s0)
		// d, but at most 3 s0 where the slopes differ in sign, and 0 where d has not the sign of
		// s0.
		limited := b.choose(b.of("abs", three), b.of("abs", d), three, d)
		limited = b.choose(b.op("*", s0, s1), b.num(0), limited, d)
		return b.choose(b.num(0), b.op("*", d, s0), limited, b.num(0))
	}
	first := end(b.elem(h, 1), b.elem(h, 2), b.elem(slope, 1), b.elem(slope, 2))
	last := end(b.elem(h, m), b.elem(h, m-1), b.elem(slope, m), b.elem(slope, m-1))
	return b.join(first, mean, last)
}

// times is the product of a matrix and a vector.
func (b *Table) times(a, v model.Expr) model.Expr {
	return model.Seal(&model.Call{
		Base: model.NewBase(types.Type{Kind: types.Real, Shape: a.Type().Shape[:1:1]}, b.At), Fn: stdlib.Operator("@"),
		Args: []model.Expr{a, v},
	})
}

// splineSlopes returns the slopes of the natural cubic spline. They are linear in the values, with
// a matrix that depends on the knots.
func (b *Table) splineSlopes() model.Expr {
	t := b.Knots.(*model.Const).Data
	if k, ok := b.Values.(*model.Const); ok {
		y := tabulate.ConstTable(k).Data
		return model.Seal(&model.Const{
			Base: model.NewBase(types.Type{Kind: types.Real, Shape: types.Shape{b.N}}, b.At),
			Data: naturalSlopes(t, y),
		})
	}
	n := b.N
	if !b.C.Fits(types.Shape{n, n}, b.At) {
		return Bad(b.At)
	}
	d := make([]float64, n*n)
	unit := make([]float64, n)
	for j := range n {
		unit[j] = 1
		for i, x := range naturalSlopes(t, unit) {
			d[i*n+j] = x
		}
		unit[j] = 0
	}
	return b.times(model.Seal(&model.Const{Base: model.NewBase(types.Type{Kind: types.Real, Shape: types.Shape{n, n}},
		b.At), Data: d}), b.Values)
}

// naturalSlopes solves the tridiagonal system of the spline through (t, y) whose second derivative
// is 0 at both ends. Its diagonal dominates, so no pivots are needed.
func naturalSlopes(t, y []float64) []float64 {
	n := len(t)
	upper, d := make([]float64, n), make([]float64, n)
	for i := range n {
		// low*d[i-1] + mid*d[i] + up*d[i+1] = right
		var low, up, mid, right float64
		if i > 0 {
			low = 1 / (t[i] - t[i-1])
			right = float64(3*low*low) * (y[i] - y[i-1])
		}
		if i < n-1 {
			up = 1 / (t[i+1] - t[i])
			right = math.FMA(float64(3*up*up), y[i+1]-y[i], right)
		}
		mid = float64(2 * (low + up))
		if i > 0 {
			mid = math.FMA(-low, upper[i-1], mid)
			right = math.FMA(-low, d[i-1], right)
		}
		upper[i], d[i] = up/mid, right/mid
	}
	for i := n - 2; i >= 0; i-- {
		d[i] = math.FMA(-upper[i], d[i+1], d[i])
	}
	return d
}

// Piecewise is the value at q of a function that is constant between the knots, or linear. The last axis of the values
// is that of the knots.
//
// A constant piece begins with its knot. The number of the piece ends steps and has derivatives by the knots, as any
// function that jumps.
func (b *Table) Piecewise(q model.Expr, control string, linear bool) model.Expr {
	m := b.N - 1
	if linear && len(b.Values.Type().Shape) == 1 {
		return b.Through(q, "linear")
	}
	if linear {
		t0, t1 := b.Part(b.Knots, 1, m), b.Part(b.Knots, 2, m)
		w := b.op("/", b.op("-", b.of("max", b.of("min", t1, q), t0), t0), b.op("-", t1, t0))
		return b.searched(b.op("+", b.last(1, 0), b.times(b.op("-", b.last(2, m), b.last(1, m)), w)), q, nil)
	}
	if m == 1 {
		return b.last(1, 0)
	}
	return b.Held(q, b.Part(b.Knots, 2, m-1), control)
}

// Held is the value at q of what is constant between ends, with one value more than ends. It belongs to a control if
// that has a name.
func (b *Table) Held(q, ends model.Expr, control string) model.Expr {
	fold := func(e model.Expr) model.Expr {
		if !model.Static(e) || len(model.Free(e)) > 0 {
			return e
		}
		return model.Seal(&model.Const{Base: model.NewBase(e.Type(), b.At), Data: tabulate.Tabulate(e, nil)})
	}
	piece := fold(model.Seal(&model.Call{
		Base: model.NewBase(types.Type{Kind: types.Real, Unit: units.One}, b.At), Fn: stdlib.Interval,
		Args:    []model.Expr{q, ends},
		Control: control,
	}))
	t := b.Values.Type()
	if t.Shape = t.Shape[: len(t.Shape)-1 : len(t.Shape)-1]; len(t.Shape) == 0 {
		t.Shape = nil
	}
	return fold(model.Seal(&model.Call{
		Base: model.NewBase(t, b.At), Fn: stdlib.Pick, Args: []model.Expr{b.Values, piece},
	}))
}

// last is the part of the values that begins at lo along their last axis: n of them, or for 0 one without the axis.
func (b *Table) last(lo, n int) model.Expr {
	t := b.Values.Type()
	var subs []model.Sub
	for _, k := range t.Shape[:len(t.Shape)-1] {
		subs = append(subs, model.Sub{Lo: 1, Step: 1, Count: k})
	}
	t.Shape = t.Shape[: len(t.Shape)-1 : len(t.Shape)-1]
	if n > 0 {
		t.Shape = append(t.Shape, n)
		subs = append(subs, model.Sub{Lo: lo, Step: 1, Count: n})
	} else {
		subs = append(subs, model.Sub{At: b.num(float64(lo))})
	}
	if len(t.Shape) == 0 {
		t.Shape = nil
	}
	return b.C.Fold(&model.Access{Base: model.NewBase(t, b.At), X: b.Values, Subs: subs})
}

// Next is the value of the first knot that is not before q: that of the last one before -q of the knots turned round.
func (b *Table) Next(q model.Expr) model.Expr {
	ix := &model.Index{Name: "knot", Lo: 1, Step: 1, Count: b.N, Span: b.At}
	turned := func(v model.Expr, sign string) model.Expr {
		u := v.Type()
		u.Shape = nil
		at := b.C.Apply(stdlib.Operator("-"), b.At, Number(float64(b.N+1), units.Unit{}, b.At), b.C.Position(ix))
		var e model.Expr = model.Seal(&model.Access{
			Base: model.NewBase(u, b.At), X: v, Subs: []model.Sub{{At: at}},
		})
		if sign != "" {
			e = b.C.Apply(stdlib.Operator("neg"), b.At, e)
		}
		u.Shape = types.Shape{b.N}
		all := model.Seal(&model.Assemble{Base: model.NewBase(u, b.At), Pieces: []model.Piece{{
			Indices: []*model.Index{ix}, Subs: []model.Sub{{At: b.C.Position(ix)}}, Value: e, Span: b.At,
		}}})
		return Tabulated(all)
	}
	back := &Table{C: b.C, At: b.At, Knots: turned(b.Knots, "neg"), Values: turned(b.Values, ""), N: b.N}
	return back.Held(b.C.Apply(stdlib.Operator("neg"), b.At, q), back.Part(back.Knots, 2, b.N-1), "")
}

// Grid is grid(a, b, n) in unit u, with ends that are not constants: a·(1 − w) + b·w at n points w from 0 to 1, which
// is a and b exactly at the ends.
func Grid(c Checker, a, b model.Expr, u units.Unit, n int, s source.Span) model.Expr {
	w, v := make([]float64, n), make([]float64, n)
	for i := range w {
		w[i] = float64(i) / float64(n-1)
		v[i] = float64(n-1-i) / float64(n-1)
	}
	t := types.Type{Kind: types.Real, Shape: types.Shape{n}, Unit: units.One}
	op := func(name string, x, y model.Expr) model.Expr { return c.Apply(stdlib.Operator(name), s, x, y) }
	e := c.Quietly(func() model.Expr {
		upper := op("*", b, model.Seal(&model.Const{Base: model.NewBase(t, s), Data: w}))
		if k, ok := a.(*model.Const); ok && k.Data[0] == 0 {
			return upper
		}
		return op("+", op("*", a, model.Seal(&model.Const{Base: model.NewBase(t, s), Data: v})), upper)
	})
	t.Unit = u
	return Retype(e, t)
}
