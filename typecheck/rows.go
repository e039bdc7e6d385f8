package typecheck

import (
	"slices"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
)

// What fits read of a model besides its objectives: likelihoods row by row, and which objectives are sums of these
// and of the priors.

// Rows are functionals, each a vector with one number for each row of the observation's table.
type Rows struct {
	Prediction Expr   // what is observed
	Args       []Expr // the numbers of the distribution, in the order of Noise.Args, without its centre
	Term       Expr   // the negative logarithm of the likelihood
}

// Terms are the parts of an objective that is a sum of likelihoods and of a prior, with positive weights.
type Terms struct {
	Likelihoods []Likelihood
	Prior       float64 // weight of the negative logarithm of the prior; 0 for none
}

// Likelihood is the part of an objective that nll() is, or nll(D).
type Likelihood struct {
	Table  string // "" for all tables
	Weight float64
}

// part is what the checker knows of the value of nll() or log_prior().
type part struct {
	prior bool
	table string // of nll; "" for all tables
}

// likelihood notes that e is the value of nll(table), or of nll() if table is nil.
func (c *checker) likelihood(e Expr, table *Table) Expr {
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
func (c *checker) terms(v Expr) *Terms {
	t := &Terms{}
	if c.steadyData || !c.addTerms(t, v, 1) || len(t.Likelihoods) == 0 { // data of the steady state are in no Rows
		return nil
	}
	return t
}

// addTerms adds weight times v to t. It reports whether all of v is of the kinds that Terms has.
func (c *checker) addTerms(t *Terms, v Expr, weight float64) bool {
	if p, ok := c.parts[v]; ok {
		switch {
		case !p.prior && weight > 0:
			t.Likelihoods = append(t.Likelihoods, Likelihood{p.table, weight})
		case p.prior && weight < 0:
			t.Prior -= weight
		default:
			return false
		}
		return true
	}
	call, ok := v.(*Call)
	if !ok {
		k, constant := v.(*Const)
		return constant && len(k.Data) == 1
	}
	factor := func(e Expr) (float64, bool) {
		k, ok := e.(*Const)
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

func first(k *Const) float64 {
	if k == nil || len(k.Data) == 0 {
		return 0
	}
	return k.Data[0]
}

// rowByRow makes the rows of an observation, whose item was found right.
func (c *checker) rowByRow(x context, it *ast.Observe, value Expr, from *dataTable, table *Table, k int) Rows {
	numbered := table.numbered()
	rows := &rowsOf{from: from, rows: numbered}
	x.rows = rows
	d := c.distribution(x.with(it.Name.Name, value, it.Name.Span), it.Noise, from.units[k], from.Span)
	if d == nil {
		return Rows{}
	}
	s := it.Name.Span
	times := numbered.Data[slices.Index(numbered.Columns, "time")]
	at := seal(&Const{
		Base: at(types.Type{
			Kind: types.Real, Shape: types.Shape{len(times)}, Unit: from.units[slices.Index(from.Columns, "time")],
		}, s),
		Data: times,
	})
	each := func(e Expr) Expr { return c.each(e, numbered, at, s) }
	out := Rows{Prediction: each(value)}
	for _, name := range d.row.Args {
		if name != d.row.Centre {
			out.Args = append(out.Args, each(d.args[name]))
		}
	}
	y := rows.row(k, it.From.Pos())
	out.Term = each(c.quietly(func() Expr { return d.logLikelihood(c, it.Noise.Pos(), value, y) }))
	return out
}

// numbered returns the table with one more column, the last: the numbers of the rows.
func (t *Table) numbered() *Table {
	n := make([]float64, len(t.Data[0]))
	for i := range n {
		n[i] = float64(i + 1)
	}
	out := *t
	out.Columns = append(slices.Clone(t.Columns), "row")
	out.Data = append(slices.Clone(t.Data), n)
	return &out
}

// each returns a functional whose elements are the values of e in the rows of a numbered table.
func (c *checker) each(e Expr, table *Table, times Expr, s source.Span) Expr {
	last := len(table.Columns) - 1
	n := types.Shape{len(table.Data[last])}
	one := types.Type{Kind: types.Real, Unit: units.One}
	many := one
	many.Shape = n
	here := seal(&Row{Base: at(one, s), Table: table, Column: last})
	all := seal(&Const{Base: at(many, s), Data: table.Data[last]})
	cond := c.elementwise(stdlib.Operator("=="), s, types.Bool, here, all)
	t := types.Type{Kind: types.Real, Shape: n, Unit: e.Type().Unit}
	body := seal(&If{Base: at(t, s), Cond: cond, Then: e, Else: number(0, e.Type().Unit, s)})
	return seal(&Functional{Base: at(t, s), Kind: SumAt, Body: body, Times: times, Table: table})
}
