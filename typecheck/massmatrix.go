package typecheck

import (
	"slices"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck/terms"
)

// massMatrix is an item `mass(x) = M`.
type massMatrix struct {
	value model.Expr
	data  []float64 // [n][n]
	span  source.Span
}

// massLimit is the largest number of elements of a state with a mass matrix, which takes their cube of work.
const massLimit = 2000

// readMasses checks the mass matrices: numbers, one for each pair of elements of a state.
func (c *checker) readMasses() {
	c.massOf = map[*model.Symbol]*massMatrix{}
	for _, it := range c.masses {
		e, ok := c.globals[it.Name.Name]
		switch {
		case it.Past && readyLags(c):
			continue
		case !ok:
			c.undefined(context{place: placeConst}, it.Name)
			continue
		case e.kind == laterName || e.kind == stateName && e.sym == nil:
			continue
		case e.kind != stateName:
			c.errorf(CodeTarget, it.Name.Span, "%q is %s; a mass matrix is that of a state", it.Name.Name, e.kind).
				Relate(e.span, "declared here")
			continue
		case len(e.sym.Type.Shape) > 1:
			c.errorf(CodeShape, it.Name.Span, "%q has shape %s; a mass matrix is that of a vector", it.Name.Name,
				e.sym.Type.Shape)
			continue
		}
		sym, n := e.sym, e.sym.Type.Shape.Size()
		if old := c.massOf[sym]; old != nil {
			c.errorf(CodeDuplicate, it.Span, "%q has two mass matrices", sym.Name).Relate(old.span, "first here")
			continue
		}
		if n > massLimit {
			c.errorf(CodeSize, it.Span, "a mass matrix is for at most %d elements, and %q has "+
				"%d", massLimit, sym.Name, n)
			continue
		}
		v := c.expr(context{place: placeMass}, it.Value)
		if isBad(v) || !c.numeric(v, "mass", v.Span()) {
			continue
		}
		want := types.Shape{n, n}
		if len(sym.Type.Shape) == 0 {
			want = nil
		}
		if !v.Type().Shape.Equal(want) {
			c.errorf(CodeShape, v.Span(), "the mass matrix of %q must have shape %s, and this has shape "+
				"%s", sym.Name, want,
				v.Type().Shape).Relate(sym.Span, "declared here")
			continue
		}
		data, ok := c.static(v, nil)
		if !ok {
			continue
		}
		if len(data) == 1 && n > 1 { // one number that fills it
			data = slices.Repeat(data, n*n)
		}
		if slices.ContainsFunc(data, func(x float64) bool { return x-x != 0 }) {
			c.errorf(CodeBounds, v.Span(), "a mass matrix has finite numbers only")
			continue
		}
		c.massOf[sym] = &massMatrix{value: v, data: data, span: it.Span}
	}
}

// applyMasses combines the equations of states with mass matrices so that these are in the form of Mass.
func (c *checker) applyMasses() {
	for i, sym := range c.model.States {
		m := c.massOf[sym]
		if m == nil || i >= len(c.model.Rates) || isBad(c.model.Rates[i]) {
			continue
		}
		n := sym.Type.Shape.Size()
		by, left := terms.ReduceMass(m.data, n)
		mass := &model.Mass{State: sym, Span: m.span}
		for j := range n {
			if left[j*n+j] == 0 {
				mass.Unknowns = append(mass.Unknowns, j)
			}
			for k := range n {
				if v := left[j*n+k]; k != j && v != 0 {
					mass.Rows, mass.Cols = append(mass.Rows, j), append(mass.Cols, k)
					mass.Values = append(mass.Values, v)
				}
			}
		}
		if len(mass.Unknowns) == n {
			c.errorf(CodeBounds, m.span, "the mass matrix of %q is zero; declare it with alg, and write 0 = "+
				"…", sym.Name)
			continue
		}
		if len(mass.Unknowns) > 0 {
			c.model.Masses = append(c.model.Masses, mass)
		}
		c.model.Rates[i] = c.combined(by, n, sym, c.model.Rates[i], m)
	}
}

// combined returns the product of by[n][n] and the right-hand sides of a state.
func (c *checker) combined(by []float64, n int, sym *model.Symbol, rate model.Expr, m *massMatrix) model.Expr {
	unit := units.Unit{}
	if u := m.value.Type().Unit; u.Known() {
		unit = units.One.Div(u)
	}
	constant := func(shape types.Shape, data []float64) model.Expr {
		return model.Seal(&model.Const{Base: model.NewBase(types.Type{Kind: types.Real, Shape: shape, Unit: unit},
			m.span), Data: data})
	}
	same, diagonal := true, true
	var list []float64
	for j := range n {
		list = append(list, by[j*n+j])
		for k := range n {
			v := by[j*n+k]
			diagonal = diagonal && (j == k || v == 0)
			same = same && (j == k && v == 1 || j != k && v == 0)
		}
	}
	switch {
	case same:
		return rate
	case len(sym.Type.Shape) == 0:
		return c.apply(stdlib.Operator("*"), m.span, constant(nil, by), rate)
	case diagonal:
		return c.apply(stdlib.Operator("*"), m.span, constant(types.Shape{n}, list), rate)
	}
	if len(rate.Type().Shape) == 0 { // a number that fills the state
		t := rate.Type()
		t.Shape = types.Shape{n}
		rate = c.assemble(t, rate.Span(), []model.Piece{{Value: rate, Span: rate.Span()}})
	}
	t := rate.Type()
	t.Unit = t.Unit.Mul(unit)
	matrix := constant(types.Shape{n, n}, by)
	return model.Seal(&model.Call{
		Base: model.NewBase(t, m.span), Fn: stdlib.Operator("@"),
		Args: []model.Expr{matrix, rate},
	})
}
