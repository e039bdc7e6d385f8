package export

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/stdlib"
)

// node is an operation on single numbers and conditions, or what it begins with. Equal nodes are the same pointer.
type node struct {
	op     string // the name of a row of stdlib, or one of those below
	args   []*node
	value  float64   // of a number
	of     *quantity // of a name
	count  int       // of a table: its knots
	cubic  bool      // of a table: with slopes
	id     int
	size   float64 // operations, written out
	uses   uses
	isBool bool
}

// Operations that stdlib does not have by these names.
const (
	number = "number"
	name   = "name"
	choice = "if"   // condition, value, other value
	held   = "held" // place, knots, values (one more): constant from each knot on
	lookup = "interp"
	late   = "delay" // state, by how much it is late
)

// uses says what a value depends on.
type uses uint8

const (
	ofParams uses = 1 << iota
	ofTime
	ofStates
	ofDiscretes
)

// moving is what changes along a run.
const moving = ofTime | ofStates | ofDiscretes

// builder makes nodes.
type builder struct {
	nodes map[string]*node
	all   []*node
}

func (b *builder) intern(n *node) *node {
	var key strings.Builder
	key.WriteString(n.op)
	switch {
	case n.op == number:
		fmt.Fprintf(&key, " %x", math.Float64bits(n.value))
	case n.of != nil:
		fmt.Fprintf(&key, " %p", n.of)
	}
	for _, a := range n.args {
		key.WriteByte(' ')
		key.WriteString(strconv.Itoa(a.id))
	}
	if n.count > 0 {
		fmt.Fprintf(&key, " %d %v", n.count, n.cubic)
	}
	if old := b.nodes[key.String()]; old != nil {
		return old
	}
	if b.nodes == nil {
		b.nodes = map[string]*node{}
	}
	n.id = len(b.all)
	n.size = 1
	for _, a := range n.args {
		n.size += a.size
		n.uses |= a.uses
	}
	b.all = append(b.all, n)
	b.nodes[key.String()] = n
	return n
}

func (b *builder) num(v float64) *node { return b.intern(&node{op: number, value: v}) }

func (b *builder) truth(v bool) *node {
	n := b.intern(&node{op: map[bool]string{true: "true", false: "false"}[v]})
	n.isBool = true
	return n
}

func (b *builder) named(q *quantity) *node {
	n := b.intern(&node{op: name, of: q})
	n.uses = q.uses
	return n
}

func isNumber(n *node, v float64) bool { return n.op == number && n.value == v }

// call is an operation of stdlib. Those of numbers are computed, and those that change nothing are left out.
func (b *builder) call(op string, args ...*node) *node {
	switch {
	case op == "+" && isNumber(args[0], 0), op == "*" && isNumber(args[0], 1):
		return args[1]
	case op == "+" && isNumber(args[1], 0), op == "-" && isNumber(args[1], 0),
		op == "*" && isNumber(args[1], 1), op == "/" && isNumber(args[1], 1), op == "^" && isNumber(args[1], 1):
		return args[0]
	case op == "-" && isNumber(args[0], 0):
		return b.call("neg", args[1])
	case op == "neg" && args[0].op == "neg", op == "not" && args[0].op == "not":
		return args[0].args[0]
	case op == "and" && args[0].op == "true", op == "or" && args[0].op == "false":
		return args[1]
	case op == "and" && args[1].op == "true", op == "or" && args[1].op == "false":
		return args[0]
	}
	if v, ok := evaluate(op, args); ok {
		if logical(op) {
			return b.truth(v != 0)
		}
		return b.num(v)
	}
	n := b.intern(&node{op: op, args: args})
	n.isBool = logical(op)
	return n
}

// evaluate computes an operation of numbers.
func evaluate(op string, args []*node) (float64, bool) {
	var v []float64
	for _, a := range args {
		switch a.op {
		case number:
			v = append(v, a.value)
		case "true":
			v = append(v, 1)
		case "false":
			v = append(v, 0)
		default:
			return 0, false
		}
	}
	f := row(op)
	if f == nil || !f.Op.Valid() {
		return 0, false
	}
	switch r := f.Op.Row(); {
	case len(v) == 1 && r.Real1 != nil:
		return r.Real1(v[0]), true
	case len(v) == 2 && r.Real2 != nil:
		return r.Real2(v[0], v[1]), true
	}
	return 0, false
}

// row returns the row of stdlib of an operation on single numbers, or nil.
func row(op string) *stdlib.Func {
	if i := slices.IndexFunc(stdlib.Operators, func(f *stdlib.Func) bool { return f.Name == op }); i >= 0 {
		return stdlib.Operators[i]
	}
	return stdlib.Find(op, stdlib.Elementwise)
}

// logical reports whether an operation is a condition.
func logical(op string) bool {
	return slices.Contains([]string{"<", "<=", "==", "!=", "and", "or", "not", "true", "false"}, op)
}

// choose is `if`.
func (b *builder) choose(cond, then, other *node) *node {
	switch {
	case cond.op == "true" || then == other:
		return then
	case cond.op == "false":
		return other
	}
	n := b.intern(&node{op: choice, args: []*node{cond, then, other}})
	n.isBool = then.isBool
	return n
}

// table is the value at q of a table, by knots, values and, where it is made of cubics, slopes.
func (b *builder) table(op string, q *node, knots, values, slopes []*node) *node {
	args := slices.Concat([]*node{q}, knots, values, slopes)
	return b.intern(&node{op: op, args: args, count: len(knots), cubic: slopes != nil})
}

// parts returns the place, the knots, the values and the slopes of a table.
func (n *node) parts() (q *node, knots, values, slopes []*node) {
	c := n.count
	switch rest := n.args[1+c:]; {
	case n.op == held:
		return n.args[0], n.args[1 : 1+c], rest, nil
	case n.cubic:
		return n.args[0], n.args[1 : 1+c], rest[:c], rest[c:]
	default:
		return n.args[0], n.args[1 : 1+c], rest, nil
	}
}

// pieces writes a table with conditions.
func (b *builder) pieces(n *node) *node {
	q, knots, values, slopes := n.parts()
	last := values[len(values)-1]
	for i := len(knots) - 1; i >= 0; i-- {
		v := values[i]
		if n.op == lookup && i > 0 {
			v = b.between(q, knots[i-1:i+1], values[i-1:i+1], slopes, i)
		}
		last = b.choose(b.call("<", q, knots[i]), v, last)
	}
	return last
}

// between is the value of a table between two knots, i-1 and i: linear, or Hermite's cubic.
func (b *builder) between(q *node, t, y, slopes []*node, i int) *node {
	h := b.call("-", t[1], t[0])
	slope := b.call("/", b.call("-", y[1], y[0]), h)
	w := b.call("-", q, t[0])
	rise := slope
	if slopes != nil {
		d0, d1 := slopes[i-1], slopes[i]
		c2 := b.call("/", b.call("-", b.call("*", b.num(3), slope), b.call("+", b.call("*", b.num(2), d0), d1)), h)
		c3 := b.call("/", b.call("-", b.call("+", d0, d1), b.call("*", b.num(2), slope)), b.call("*", h, h))
		rise = b.call("+", d0, b.call("*", w, b.call("+", c2, b.call("*", w, c3))))
	}
	return b.call("+", y[0], b.call("*", w, rise))
}

// rewrite writes an operation with others.
type rewrite func(b *builder, a []*node) *node
