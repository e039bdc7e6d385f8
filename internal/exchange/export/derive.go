package export

import (
	"slices"
	"sync"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/tape"
)

// derivation differentiates nodes by quantities. The rules are those of the table of ops. As they do, it takes the
// branches of a choice and the intervals of a table as they are: their places have no part in a derivative.
type derivation struct {
	*builder
	seeds    map[*quantity]*node     // of what is differentiated by: its tangent
	behind   func(q *quantity) *node // the definition of another name; nil for none
	cannot   func(op string)         // reports an op without a derivative
	tangents map[*node]*node         // those known; nil is 0
	pieced   map[*node]*node         // tables written with conditions
	bars     map[*node]*node         // cotangents
	guarded  map[*node]bool          // nodes whose cotangents may be 0 for a branch that is not taken
	inputs   map[*quantity]*node     // cotangents of what is differentiated by
}

func newDerivation(b *builder, behind func(q *quantity) *node, cannot func(op string)) *derivation {
	return &derivation{
		builder: b, behind: behind, cannot: cannot, seeds: map[*quantity]*node{}, tangents: map[*node]*node{},
		pieced: map[*node]*node{}, bars: map[*node]*node{}, guarded: map[*node]bool{}, inputs: map[*quantity]*node{},
	}
}

// rules are the derivatives of the ops by each operand, as the table of ops has them; nil for 0.
var rules = sync.OnceValue(func() map[tape.Op][]ast.Expr {
	all := map[tape.Op][]ast.Expr{}
	for _, op := range tape.Ops() {
		r := op.Row()
		for k := range max(0, min(r.Arity, len(r.Deriv))) {
			all[op] = append(all[op], nil)
			if r.Deriv[k] == "" {
				continue
			}
			var list diag.List
			all[op][k] = parser.ParseExpr(source.NewFile("derivative of "+r.Name, r.Deriv[k]), &list)
		}
	}
	return all
})

// partial is the derivative of an operation by operand k; nil for 0.
func (d *derivation) partial(n *node, k int) *node {
	f := row(n.op)
	if f == nil || !f.Op.Valid() || f.Op.Row().NoDeriv || k >= len(rules()[f.Op]) {
		d.cannot(n.op)
		return nil
	}
	rule := rules()[f.Op][k]
	if rule == nil {
		return nil
	}
	r := d.rule(n, rule)
	if isNumber(r, 0) {
		return nil
	}
	return r
}

var ruleOps = map[ast.Op]string{
	ast.Add: "+", ast.Sub_: "-", ast.Mul: "*", ast.Div: "/", ast.Pow: "^", ast.Less: "<", ast.LessEq: "<=",
	ast.Equal: "==", ast.NotEqual: "!=", ast.And: "and", ast.Or: "or",
}

// rule writes a derivative of n with nodes: a and b are its operands, and y is its value.
func (d *derivation) rule(n *node, e ast.Expr) *node {
	switch e := e.(type) {
	case *ast.Number:
		return d.num(e.Value)
	case *ast.Name:
		if e.Name == "y" {
			return n
		}
		return n.args[e.Name[0]-'a']
	case *ast.Paren:
		return d.rule(n, e.X)
	case *ast.Unary:
		if e.Op == ast.Neg {
			return d.call("neg", d.rule(n, e.X))
		}
		return d.call("not", d.rule(n, e.X))
	case *ast.Binary:
		x, y := d.rule(n, e.X), d.rule(n, e.Y)
		switch e.Op {
		case ast.Greater:
			return d.call("<", y, x)
		case ast.GreaterEq:
			return d.call("<=", y, x)
		}
		return d.call(ruleOps[e.Op], x, y)
	case *ast.If:
		v := d.rule(n, e.Else)
		for i := len(e.Conds) - 1; i >= 0; i-- {
			v = d.choose(d.rule(n, e.Conds[i]), d.rule(n, e.Thens[i]), v)
		}
		return v
	case *ast.Call:
		var args []*node
		for _, a := range e.Args {
			args = append(args, d.rule(n, a.Value))
		}
		return d.call(e.Fun.(*ast.Name).Name, args...)
	}
	panic("export: the op table holds an expression that is no formula")
}

// times is a product with a derivative. A derivative that a condition chooses from numbers chooses among multiples: 0
// times infinity is none. Where guarded, x may be 0 for a branch that is not taken.
func (d *derivation) times(x, by *node, guarded bool) *node {
	switch {
	case by.op == number && by.value == 0:
		return nil
	case by.op == number && by.value == -1:
		return d.call("neg", x)
	case by.op == choice && by.args[1].op == number && by.args[2].op == number:
		return d.either(by.args[0], d.times(x, by.args[1], guarded), d.times(x, by.args[2], guarded))
	}
	product := d.call("*", x, by)
	if guarded && by.op != number {
		return d.choose(d.call("==", x, d.num(0)), d.num(0), product)
	}
	return product
}

// either is a choice between two numbers, of which nil is 0.
func (d *derivation) either(cond, x, y *node) *node {
	if x == nil && y == nil {
		return nil
	}
	if x == nil {
		x = d.num(0)
	}
	if y == nil {
		y = d.num(0)
	}
	return d.choose(cond, x, y)
}

// sum is a sum, of which nil is 0.
func (d *derivation) sum(x, y *node) *node {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	return d.call("+", x, y)
}

// tangent is the derivative along the seeds; nil for 0.
func (d *derivation) tangent(n *node) *node {
	if t, known := d.tangents[n]; known {
		return t
	}
	t := d.forward(n)
	d.tangents[n] = t
	return t
}

func (d *derivation) forward(n *node) (t *node) {
	switch {
	case n.op == number || n.isBool && n.op != name && n.op != choice:
		return nil
	case n.op == name:
		if seed := d.seeds[n.of]; seed != nil {
			return seed
		}
		if v := d.behind(n.of); v != nil {
			return d.tangent(v)
		}
		return nil
	case n.isBool:
		return nil
	case n.op == choice:
		return d.either(n.args[0], d.tangent(n.args[1]), d.tangent(n.args[2]))
	case n.op == held:
		return d.heldTangent(n)
	case n.op == lookup:
		if as := d.moved(n); as != nil {
			return d.tangent(as)
		}
		if q := d.tangent(n.args[0]); q != nil {
			return d.call("*", q, d.slope(n))
		}
		return nil
	}
	for k, a := range n.args {
		if x := d.tangent(a); x != nil {
			if by := d.partial(n, k); by != nil {
				t = d.sum(t, d.times(x, by, false))
			}
		}
	}
	return t
}

// heldTangent is the tangent of the value that a table holds.
func (d *derivation) heldTangent(n *node) *node {
	q, knots, values, _ := n.parts()
	list := make([]*node, len(values))
	some := false
	for i, v := range values {
		if list[i] = d.tangent(v); list[i] == nil {
			list[i] = d.num(0)
			continue
		}
		some = true
	}
	if !some {
		return nil
	}
	return d.table(held, q, knots, list, nil)
}

// moved returns a table written with conditions, if it has more than numbers; else nil.
func (d *derivation) moved(n *node) *node {
	if !slices.ContainsFunc(n.args[1:], func(a *node) bool { return a.op != number }) {
		return nil
	}
	if d.pieced[n] == nil {
		d.pieced[n] = d.pieces(n)
	}
	return d.pieced[n]
}

// slope is the derivative of a table of numbers by its place: 0 outside, and between knots that of the line or of
// Hermite's cubic, whose coefficients are tables again.
func (d *derivation) slope(n *node) *node {
	q, knots, values, slopes := n.parts()
	last := len(knots) - 1
	coefficient := func(of func(i int, h, s float64) float64) *node {
		list := []*node{d.num(0)}
		for i := range last {
			h := knots[i+1].value - knots[i].value
			list = append(list, d.num(of(i, h, (values[i+1].value-values[i].value)/h)))
		}
		return d.table(held, q, knots, append(list, d.num(0)), nil)
	}
	if slopes == nil {
		return coefficient(func(_ int, _, s float64) float64 { return s })
	}
	at := func(i int) float64 { return slopes[i].value }
	w := d.call("-", q, coefficient(func(i int, _, _ float64) float64 { return knots[i].value }))
	first := coefficient(func(i int, _, _ float64) float64 { return at(i) })
	second := coefficient(func(i int, h, s float64) float64 { return 2 * (3*s - 2*at(i) - at(i+1)) / h })
	third := coefficient(func(i int, h, s float64) float64 { return 3 * (at(i) + at(i+1) - 2*s) / (h * h) })
	return d.call("+", first, d.call("*", w, d.call("+", second, d.call("*", w, third))))
}

// adjoint propagates cotangents from nodes to what is differentiated by, into inputs.
func (d *derivation) adjoint(of, seeds []*node) {
	order := d.order(of)
	for i, n := range of {
		d.add(n, seeds[i], false)
	}
	for i := len(order) - 1; i >= 0; i-- {
		if n := order[i]; d.bars[n] != nil {
			d.backward(n, d.bars[n])
		}
	}
}

// order returns what nodes depend on by way of derivatives, each behind what it reads.
func (d *derivation) order(of []*node) (list []*node) {
	seen := map[*node]bool{}
	var visit func(n *node)
	visit = func(n *node) {
		if seen[n] || n.isBool {
			return
		}
		seen[n] = true
		switch {
		case n.op == name:
			if v := d.behind(n.of); v != nil && d.seeds[n.of] == nil {
				visit(v)
			}
		case n.op == lookup && d.moved(n) != nil:
			visit(d.moved(n))
		default:
			for _, a := range n.args {
				visit(a)
			}
		}
		list = append(list, n)
	}
	for _, n := range of {
		visit(n)
	}
	return list
}

// add adds to the cotangent of a node.
func (d *derivation) add(n, bar *node, guarded bool) {
	if bar == nil || n.uses == 0 || n.isBool {
		return
	}
	d.bars[n] = d.sum(d.bars[n], bar)
	d.guarded[n] = d.guarded[n] || guarded
}

// backward hands the cotangent of a node on to what it reads.
func (d *derivation) backward(n, bar *node) {
	guarded := d.guarded[n]
	switch {
	case n.op == name:
		if d.seeds[n.of] != nil {
			d.inputs[n.of] = d.sum(d.inputs[n.of], bar)
		} else if v := d.behind(n.of); v != nil {
			d.add(v, bar, guarded)
		}
	case n.op == choice:
		d.add(n.args[1], d.either(n.args[0], bar, nil), true)
		d.add(n.args[2], d.either(n.args[0], nil, bar), true)
	case n.op == held:
		q, knots, values, _ := n.parts()
		for i, v := range values {
			if v.op == number {
				continue
			}
			list := make([]*node, len(values))
			for k := range list {
				list[k] = d.num(0)
			}
			list[i] = bar
			d.add(v, d.table(held, q, knots, list, nil), true)
		}
	case n.op == lookup:
		if as := d.moved(n); as != nil {
			d.add(as, bar, guarded)
		} else {
			d.add(n.args[0], d.times(bar, d.slope(n), guarded), guarded)
		}
	default:
		for k, a := range n.args {
			if a.uses == 0 || a.isBool {
				continue
			}
			if by := d.partial(n, k); by != nil {
				d.add(a, d.times(bar, by, guarded), guarded || by.op == choice)
			}
		}
	}
}
