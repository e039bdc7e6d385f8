package tapec

import (
	"slices"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/tape"
)

// reduce lowers `sum(e for i in …)` and the like.
func (l *lowerer) reduce(e *model.Reduce, s scope) array {
	if empty(e.Indices) {
		switch e.Fn.Name {
		case "prod":
			return l.number(1)
		case "sum", "norm":
			return l.number(0)
		}
		const text = " over an empty range has no value; let the range hold at least one index"
		panic(misplaced{e.Span(), e.Fn.Name + text})
	}
	points := 1
	for _, ix := range e.Indices {
		points *= ix.Count
	}
	l.bends(e, e.Fn.Name, points, s)
	s = s.with(l.frames, e.Indices)
	over := s.axesOf(e.Indices)
	if len(over) < 2 {
		return l.reduceOver(e, s, over)
	}
	x, ok := l.trying(func() array { return l.reduceOver(e, s, over) })
	if !ok { // one axis in place of several
		points := count(lengths(over).Size())
		list := l.frames.part(over, points)
		x = l.reduceOver(e, s.within(l.frames, over, list, points), []*axis{list})
	}
	return x
}

// bends notes the kinks of a reduction of n elements.
func (l *lowerer) bends(e model.Expr, name string, n int, s scope) {
	if l.held && l.rates && (name == "min" || name == "max") && n > 1 {
		l.c.kink(e, s)
	}
}

// reduceOver reduces the body of e over the axes of its indices.
func (l *lowerer) reduceOver(e *model.Reduce, s scope, over []*axis) array {
	total := float64(lengths(over).Size())
	switch e.Fn.Name {
	case "sum":
		return l.sum(e.Body, s, over)
	case "mean":
		return l.elementwise(tape.Div, l.sum(e.Body, s, over), l.number(total))
	}
	x := l.lower(e.Body, s)
	gone := intersect(over, x.ax)
	missing := lengths(without(over, x.ax...)).Size() // how many equal terms there are of each
	switch e.Fn.Name {
	case "prod":
		x = l.fold(tape.ProdAxes, x, gone)
		if missing > 1 {
			x.v = l.emit().Powi(x.v, missing)
		}
		return x
	case "min":
		return l.fold(tape.MinAxes, x, gone)
	case "max":
		return l.fold(tape.MaxAxes, x, gone)
	case "norm":
		x.v = l.emit().Op1(tape.Sqr, x.v)
		x = l.elementwise(tape.Mul, l.fold(tape.SumAxes, x, gone), l.number(float64(missing)))
		return l.elementwise(tape.Sqrt, x)
	}
	panic(misplaced{e.Span(), "reduction " + e.Fn.Name + " cannot be compiled"})
}

func intersect(a, b []*axis) []*axis {
	var out []*axis
	for _, x := range a {
		if slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}

// factors is an expression as a quotient of products, with a sign.
type factors struct {
	num, den []array
	negative bool
}

// sum adds body up over the axes. A product is summed axis by axis: factors that do not
// depend on the axis stay outside, and two factors that have only this axis in common
// make a product of matrices.
func (l *lowerer) sum(body model.Expr, s scope, over []*axis) array {
	var f factors
	l.factorise(body, s, over, false, &f)
	// A divisor that varies along these axes is one factor more: its inverse.
	var den []array
	for _, d := range f.den {
		if len(intersect(d.ax, over)) > 0 {
			f.num = append(f.num, l.elementwise(tape.Recip, d))
		} else {
			den = append(den, d)
		}
	}
	parts := make([]labelled, len(f.num))
	for i, x := range f.num {
		parts[i] = labelled{x.v, x.ax}
	}
	for i := len(over) - 1; i >= 0; i-- {
		parts = l.contract(parts, over[i])
	}
	out := l.loops(l.products(parts))
	if f.negative {
		out = l.elementwise(tape.Neg, out)
	}
	for _, d := range den {
		out = l.elementwise(tape.Div, out, d)
	}
	return out
}

// factorise splits the scalar e into factors. It splits off divisors only if they do not
// vary along the axes of the sum, since x/y is rounded once and x·(1/y) twice.
func (l *lowerer) factorise(e model.Expr, s scope, over []*axis, inverse bool, f *factors) {
	if c, ok := e.(*model.Call); ok && len(c.Type().Shape) == 0 {
		switch c.Fn.Op {
		case tape.Mul:
			l.factorise(c.Args[0], s, over, inverse, f)
			l.factorise(c.Args[1], s, over, inverse, f)
			return
		case tape.Neg:
			f.negative = !f.negative
			l.factorise(c.Args[0], s, over, inverse, f)
			return
		case tape.Div:
			if d := c.Args[1]; len(intersect(s.axesOf(model.Free(d)), over)) == 0 {
				l.factorise(c.Args[0], s, over, inverse, f)
				l.factorise(d, s, over, !inverse, f)
				return
			}
		}
	}
	x := l.lower(e, s)
	if inverse {
		f.den = append(f.den, x)
	} else {
		f.num = append(f.num, x)
	}
}
