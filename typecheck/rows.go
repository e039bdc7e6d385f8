package typecheck

import (
	"slices"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck/terms"
)

// What fits read of a model besides its objectives: likelihoods row by row, and which objectives are sums of these
// and of the priors.

// part is what the checker knows of the value of nll() or log_prior().
type part struct {
	prior bool
	table string // of nll; "" for all tables
	joint bool   // it has the density of random effects: see jointly
}

// likelihood notes that e is the value of nll(table), or of nll() if table is nil.
func (c *checker) likelihood(e model.Expr, table *model.Table) model.Expr {
	p := part{}
	if table != nil {
		p.table = table.Name
	}
	if known, ok := c.parts[e]; ok && known != p { // of several tables one alone is observed
		p.table = ""
	}
	c.parts[e] = p
	return e
}

// terms returns what the value of an objective is a sum of; nil if it is anything else.
func (c *checker) terms(v model.Expr) *model.Terms { return c.weighted(v, 1) }

// weighted is terms of weight times v.
func (c *checker) weighted(v model.Expr, weight float64) *model.Terms {
	t := &model.Terms{}
	if !c.addTerms(t, v, weight) || len(t.Likelihoods) == 0 {
		return nil
	}
	return t
}

// addTerms adds weight times v to t. It reports whether all of v is of the kinds that Terms has.
func (c *checker) addTerms(t *model.Terms, v model.Expr, weight float64) bool {
	if p, ok := c.parts[v]; ok {
		// Priors whose numbers are functions of params are not terms of one param each.
		hierarchical := slices.ContainsFunc(c.model.Priors, func(d model.Draw) bool { return len(d.Of) > 0 })
		switch {
		case p.joint:
			return false
		case !p.prior && weight > 0:
			t.Likelihoods = append(t.Likelihoods, model.Likelihood{Table: p.table, Weight: weight})
		case p.prior && weight < 0 && !hierarchical:
			t.Prior -= weight
		default:
			return false
		}
		return true
	}
	call, ok := v.(*model.Call)
	if !ok {
		k, constant := v.(*model.Const)
		return constant && len(k.Data) == 1
	}
	factor := func(e model.Expr) (float64, bool) {
		k, ok := e.(*model.Const)
		return first(k), ok && len(k.Data) == 1
	}
	switch call.Fn.Name {
	case "+":
		return c.addTerms(t, call.Args[0], weight) && c.addTerms(t, call.Args[1], weight)
	case "-":
		return c.addTerms(t, call.Args[0], weight) && c.addTerms(t, call.Args[1], -weight)
	case "neg":
		return c.addTerms(t, call.Args[0], -weight)
	case "*":
		if k, ok := factor(call.Args[0]); ok {
			return c.addTerms(t, call.Args[1], weight*k)
		}
		if k, ok := factor(call.Args[1]); ok {
			return c.addTerms(t, call.Args[0], weight*k)
		}
	case "/":
		if k, ok := factor(call.Args[1]); ok {
			return c.addTerms(t, call.Args[0], weight/k)
		}
	}
	return false
}

func first(k *model.Const) float64 {
	if k == nil || len(k.Data) == 0 {
		return 0
	}
	return k.Data[0]
}

// rowByRow makes the rows of an observation, whose item was found right, and which counts the rows of table.
func (c *checker) rowByRow(x context, it *ast.Observe, value model.Expr, from *dataTable, table *model.Table,
	k int,
) model.Rows {
	// of returns the numbers of a row: what is observed, those of the distribution, and the term of the likelihood.
	of := func(rows *rowsOf) []model.Expr {
		y := x.with(it.Name.Name, value, it.Name.Span)
		y.rows = rows
		d := c.distribution(y, it.Noise, from.units[k], from.Span)
		if d == nil {
			return nil
		}
		list := []model.Expr{value}
		for _, name := range d.row.Args {
			if name != d.row.Centre {
				list = append(list, d.args[name])
			}
		}
		at := rows.row(k, it.From.Pos())
		return append(list, c.quietly(func() model.Expr { return d.logLikelihood(c, it.Noise.Pos(), value, at) }))
	}
	s := it.Name.Span
	numbered := c.numbered[table]
	if numbered == nil {
		numbered = table.Numbered()
		c.numbered[table] = numbered
	}
	times := numbered.Data[slices.Index(numbered.Columns, "time")]
	timed := make([]bool, len(times))
	var list []model.Expr
	for i, t := range times {
		if timed[i] = !isInf(t); !timed[i] {
			list = terms.Gather(list, of(&rowsOf{from: from, rows: table, fixed: i + 1}), i, len(times), s)
		}
	}
	for i, e := range list {
		list[i] = model.Seal(&model.Functional{
			Base: model.NewBase(e.Type(), s), Kind: model.Steady, Body: e,
			Event: c.afterwards(s),
		})
	}
	if slices.Contains(timed, true) {
		some := numbered.Keep(timed)
		at := model.Seal(&model.Const{
			Base: model.NewBase(types.Type{
				Kind: types.Real, Shape: types.Shape{len(some.Data[0])},
				Unit: from.units[slices.Index(from.Columns, "time")],
			}, s),
			Data: some.Data[slices.Index(some.Columns, "time")],
		})
		read := &rowsOf{from: from, rows: some}
		for i, e := range of(read) {
			e = readEarly(c, read, e)
			e = terms.Each(e, some, at, len(times), s)
			if i < len(list) {
				list[i] = c.apply(stdlib.Operator("+"), s, e, list[i])
			} else {
				list = append(list, e)
			}
		}
	}
	if len(list) < 2 || slices.ContainsFunc(list, isBad) {
		return model.Rows{}
	}
	last := len(list) - 1
	return model.Rows{Table: table, Prediction: list[0], Args: list[1:last], Term: list[last]}
}
