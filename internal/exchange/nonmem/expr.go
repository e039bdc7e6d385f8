package nonmem

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// op is what a formula does with its arguments.
type op uint8

const (
	number op = iota
	theta     // THETA(n)
	eta       // ETA(n)
	eps       // EPS(n)
	sigma     // the standard deviation of EPS(n), or its covariance with another one, of number value
	column    // a data item, by its name
	state     // A(n)
	clock     // the time
	local     // what an assignment made
	call      // a function of odes, by its name
	add
	sub
	mul
	div
	neg
	pow
	compare // by the sign of odes in name
	and
	or
	not
	choice  // condition, then, else
	wrongOp // what has no translation, and why
	unset   // what a variable is before it gets a value
)

// expr is a formula. Equal formulas of one maker are the same pointer, after assignments are written out (whole).
type expr struct {
	op    op
	name  string
	value float64
	n     int
	args  []*expr
	def   *assignment
	size  int
	at    place
	has   uint32 // what stands in it, as bits of ops
}

// place is where something stands in the control stream.
type place struct{ start, end int }

// assignment is a variable, with the formula that it got.
type assignment struct {
	name string
	body *expr
	at   place
	in   string // the record: PK, DES, ERROR or PRED
}

// maxSize is how many operators a formula may have that is written out.
const maxSize = 20_000

// maker makes formulas, and simplifies what constants decide.
type maker struct {
	known  map[string]*expr
	ids    map[*expr]int
	wholes map[*expr]*expr
}

func newMaker() *maker {
	return &maker{known: map[string]*expr{}, ids: map[*expr]int{}, wholes: map[*expr]*expr{}}
}

// make returns the formula with these parts.
func (m *maker) make(e expr) *expr {
	var key strings.Builder
	fmt.Fprintf(&key, "%d %q %d %d", e.op, e.name, e.n, math.Float64bits(e.value))
	e.has |= 1 << e.op
	e.size = 1
	for _, a := range e.args {
		fmt.Fprintf(&key, " %d", m.ids[a])
		e.has |= a.has
		e.size = min(e.size+a.size, 1<<30)
	}
	if e.def != nil {
		fmt.Fprintf(&key, " %p", e.def)
		e.has |= e.def.body.has
	}
	if have := m.known[key.String()]; have != nil {
		return have
	}
	p := &e
	m.known[key.String()] = p
	m.ids[p] = len(m.ids)
	return p
}

// holds reports whether something of a kind stands in a formula, or in what its variables are.
func (e *expr) holds(kinds ...op) bool {
	for _, k := range kinds {
		if e.has&(1<<k) != 0 {
			return true
		}
	}
	return false
}

func (m *maker) num(x float64) *expr { return m.make(expr{op: number, value: x}) }

func (m *maker) wrong(at place, format string, args ...any) *expr {
	return m.make(expr{op: wrongOp, name: fmt.Sprintf(format, args...), at: at, n: at.start})
}

func (e *expr) is(x float64) bool { return e.op == number && e.value == x }

// apply makes a formula of an operator or function, and works out what has numbers only.
func (m *maker) apply(o op, name string, at place, args ...*expr) *expr {
	for _, a := range args {
		if (a.op == wrongOp || a.op == unset) && o != choice {
			return a
		}
	}
	if size := total(args); size > maxSize {
		return m.wrong(at, "this makes a formula of more than %d operators, written out: compute its parts in "+
			"variables "+
			"outside of IF", maxSize)
	}
	plain := expr{op: o, name: name, args: args, at: at}
	if short := m.shorter(plain); short != nil {
		return short
	}
	return m.make(plain)
}

func total(args []*expr) (n int) {
	for _, a := range args {
		n += a.size
	}
	return n
}

// shorter is what a formula comes to by rules of 0 and 1, and by arithmetic; nil where none applies.
func (m *maker) shorter(e expr) *expr {
	a := e.args
	var r *expr
	switch e.op {
	case add, sub, mul, div, pow, neg:
		r = m.plainer(e)
	case choice:
		return m.chosen(a)
	case and, or:
		absorbs := float64(0)
		if e.op == or {
			absorbs = 1
		}
		for i := range a {
			if a[i].op == number {
				if a[i].value == absorbs {
					return a[i]
				}
				return a[1-i]
			}
		}
	case not:
		if a[0].op == not {
			return a[0].args[0]
		}
	}
	if r != nil || slices.ContainsFunc(a, func(x *expr) bool { return x.op != number }) {
		return r
	}
	if x, ok := compute(e); ok {
		return m.num(x)
	}
	return nil
}

// chosen is the branch of a choice that is decided.
func (m *maker) chosen(a []*expr) *expr {
	switch {
	case a[0].op == wrongOp, a[0].op == unset:
		if m.same(a[1], a[2]) {
			return a[1]
		}
		return a[0]
	case a[0].op == number && a[0].value != 0, m.same(a[1], a[2]):
		return a[1]
	case a[0].is(0):
		return a[2]
	}
	return nil
}

// plainer is a sum, product or power without zeros and ones; nil where it has none.
func (m *maker) plainer(e expr) *expr {
	a := e.args
	switch e.op {
	case add:
		switch {
		case a[0].is(0):
			return a[1]
		case a[1].is(0):
			return a[0]
		}
	case sub:
		switch {
		case a[1].is(0):
			return a[0]
		case a[0].is(0):
			return m.apply(neg, "", e.at, a[1])
		}
	case mul:
		switch {
		case a[0].is(0), a[1].is(1):
			return a[0]
		case a[1].is(0), a[0].is(1):
			return a[1]
		}
	case div:
		if a[1].is(1) || a[0].is(0) && !a[1].is(0) {
			return a[0]
		}
	case pow:
		if a[1].is(1) {
			return a[0]
		}
	case neg:
		if a[0].op == neg {
			return a[0].args[0]
		}
	}
	return nil
}

// same reports whether two formulas are the same, after assignments are written out.
func (m *maker) same(a, b *expr) bool { return a == b || m.whole(a) == m.whole(b) }

// compute is the value of a formula of numbers; functions and powers stay as they are written.
func compute(e expr) (x float64, ok bool) {
	v := make([]float64, len(e.args))
	for i, a := range e.args {
		v[i] = a.value
	}
	switch e.op {
	case add, sub, mul, div, neg:
		x = operate(e.op, e.name, v)
		return x, !math.IsNaN(x) && !math.IsInf(x, 0) && (e.op != div && e.op != mul || readable(x))
	case not, compare:
		return operate(e.op, e.name, v), true
	case call:
		switch {
		case e.name == "exp" && v[0] == 0, e.name == "log" && v[0] == 1, e.name == "sqrt" && (v[0] == 0 || v[0] == 1):
			return operate(e.op, e.name, v), true
		}
	}
	return 0, false
}

// operate is what an operator or function makes of numbers. Conditions are 1 or 0.
func operate(o op, name string, v []float64) float64 {
	truth := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	switch o {
	case add:
		return v[0] + v[1]
	case sub:
		return v[0] - v[1]
	case mul:
		return v[0] * v[1]
	case div:
		return v[0] / v[1]
	case neg:
		return -v[0]
	case pow:
		return math.Pow(v[0], v[1])
	case not:
		return truth(v[0] == 0)
	case and:
		return truth(v[0] != 0 && v[1] != 0)
	case or:
		return truth(v[0] != 0 || v[1] != 0)
	case choice:
		if v[0] != 0 {
			return v[1]
		}
		return v[2]
	case compare:
		return truth(map[string]bool{
			"<": v[0] < v[1], "<=": v[0] <= v[1], ">": v[0] > v[1], ">=": v[0] >= v[1], "==": v[0] == v[1],
			"!=": v[0] != v[1],
		}[name])
	case call:
		switch f := values[name]; {
		case f != nil:
			return f(v[0])
		case name == "min":
			return min(v[0], v[1])
		case name == "max":
			return max(v[0], v[1])
		}
	}
	return math.NaN()
}

// evaluate is the value of a formula, of the values of what is no operator; false where one of them has none.
func (e *expr) evaluate(leaf func(*expr) (float64, bool)) (float64, bool) {
	switch {
	case e.op == number:
		return e.value, true
	case e.op == local:
		return e.def.body.evaluate(leaf)
	case len(e.args) == 0:
		return leaf(e)
	}
	v := make([]float64, len(e.args))
	for i, a := range e.args {
		x, ok := a.evaluate(leaf)
		if !ok {
			return 0, false
		}
		v[i] = x
	}
	return operate(e.op, e.name, v), true
}

// readable reports whether a number has few digits; 1/3 is better read as it is.
func readable(x float64) bool { return len(strconv.FormatFloat(x, 'g', -1, 64)) < 10 }

// whole is a formula with its variables written out.
func (m *maker) whole(e *expr) *expr {
	return m.walk(e, m.wholes, func(*expr) *expr { return nil })
}

// rewrite is a formula with its variables written out, and with what change returns in the place of others.
func (m *maker) rewrite(e *expr, change func(*expr) *expr) *expr {
	return m.walk(e, map[*expr]*expr{}, change)
}

func (m *maker) walk(e *expr, done map[*expr]*expr, change func(*expr) *expr) *expr {
	var walk func(e *expr) *expr
	walk = func(e *expr) *expr {
		if r := done[e]; r != nil {
			return r
		}
		r := change(e)
		switch {
		case r != nil:
		case e.op == local:
			r = walk(e.def.body)
		case len(e.args) > 0:
			args := make([]*expr, len(e.args))
			for i, a := range e.args {
				args[i] = walk(a)
			}
			r = m.apply(e.op, e.name, e.at, args...)
		default:
			r = e
		}
		done[e] = r
		return r
	}
	return walk(e)
}

// visit shows a formula, with what its variables are, to see, which says whether to go on into it.
func visit(e *expr, see func(*expr) bool) { visitOnce(e, map[*expr]bool{}, see) }

func visitOnce(e *expr, seen map[*expr]bool, see func(*expr) bool) {
	if seen[e] {
		return
	}
	if seen[e] = true; !see(e) {
		return
	}
	if e.op == local {
		visitOnce(e.def.body, seen, see)
	}
	for _, a := range e.args {
		visitOnce(a, seen, see)
	}
}

// linear is a formula at EPS = 0, and its derivatives there by each EPS. What holds no EPS stays as it is.
func (m *maker) linear(e *expr) (at *expr, by map[int]*expr) {
	if !e.holds(eps) {
		return e, nil
	}
	switch e.op {
	case eps:
		return m.num(0), map[int]*expr{e.n: m.num(1)}
	case local:
		return m.linear(e.def.body)
	}
	values, slopes := make([]*expr, len(e.args)), make([]map[int]*expr, len(e.args))
	all := map[int]bool{}
	for i, a := range e.args {
		values[i], slopes[i] = m.linear(a)
		for n := range slopes[i] {
			all[n] = true
		}
	}
	at = m.apply(e.op, e.name, e.at, values...)
	by = map[int]*expr{}
	for n := range all {
		by[n] = m.slope(e, values, func(i int) *expr {
			if s := slopes[i][n]; s != nil {
				return s
			}
			return m.num(0)
		})
	}
	return at, by
}

// slope is the derivative of an operator, of the values of its arguments and of their derivatives.
func (m *maker) slope(e *expr, v []*expr, d func(i int) *expr) *expr {
	do := func(o op, args ...*expr) *expr { return m.apply(o, "", e.at, args...) }
	switch e.op {
	case add, sub:
		return do(e.op, d(0), d(1))
	case neg:
		return do(neg, d(0))
	case mul:
		return do(add, do(mul, d(0), v[1]), do(mul, v[0], d(1)))
	case div:
		return do(sub, do(div, d(0), v[1]), do(mul, do(div, v[0], do(pow, v[1], m.num(2))), d(1)))
	case choice:
		if v[0].op != number && e.args[0].holds(eps) {
			break
		}
		return do(choice, v[0], d(1), d(2))
	case pow:
		if d(1).is(0) {
			return do(mul, do(mul, v[1], do(pow, v[0], do(sub, v[1], m.num(1)))), d(0))
		}
	case call:
		switch e.name {
		case "exp":
			return do(mul, m.apply(call, "exp", e.at, v[0]), d(0))
		case "log":
			return do(div, d(0), v[0])
		case "sqrt":
			return do(div, d(0), do(mul, m.num(2), m.apply(call, "sqrt", e.at, v[0])))
		}
	}
	return m.wrong(e.at, "Y depends on EPS in another way than by + - * / **, EXP, LOG and SQRT: NONMEM takes its "+
		"derivative at EPS = 0; write this")
}

// precedences of operators in the language of odes; what binds more has the larger number.
func (e *expr) binds() int {
	switch e.op {
	case choice:
		return 0
	case or:
		return 1
	case and:
		return 2
	case not:
		return 3
	case compare:
		return 4
	case add, sub:
		return 5
	case mul, div:
		return 6
	case neg:
		if e.args[0].op == mul || e.args[0].op == div {
			return 6 // -a*b
		}
		return 7
	case pow:
		return 8
	case call:
		if e.name == normal {
			return 6
		}
	case number:
		if e.value < 0 {
			return 7
		}
	}
	return 9
}

// printer writes formulas in the language of odes.
type printer struct {
	leaf  func(e *expr) string // of what is no operator
	whole func(e *expr) bool   // of each whole number that a column has: all of them are
}

func (p *printer) text(e *expr) string {
	var b strings.Builder
	p.write(&b, e, 0)
	return b.String()
}

func (p *printer) write(b *strings.Builder, e *expr, least int) {
	if e.binds() < least {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	side := func(sign string, left, right int) {
		p.write(b, e.args[0], left)
		b.WriteString(sign)
		p.write(b, e.args[1], right)
	}
	switch e.op {
	case number:
		b.WriteString(decimal(e.value))
	case add:
		side(" + ", 5, 6)
	case sub:
		side(" - ", 5, 6)
	case mul:
		side("*", 6, 8)
	case div:
		side("/", 6, 8)
	case pow:
		side("^", 9, 9)
	case neg:
		b.WriteByte('-')
		inner := 8
		if e.binds() == 6 {
			inner = 6
		}
		p.write(b, e.args[0], inner)
	case and:
		side(" and ", 2, 3)
	case or:
		side(" or ", 1, 2)
	case not:
		b.WriteString("not ")
		p.write(b, e.args[0], 9)
	case compare:
		p.compare(b, e)
	case choice:
		b.WriteString("if ")
		p.write(b, e.args[0], 1)
		b.WriteString(" then ")
		p.write(b, e.args[1], 1)
		b.WriteString(" else ")
		p.write(b, e.args[2], 0)
	case call:
		if e.name == normal {
			b.WriteString("erfc(-")
			p.write(b, e.args[0], 8)
			b.WriteString("/sqrt(2))/2")
			return
		}
		b.WriteString(e.name + "(")
		for i, a := range e.args {
			if i > 0 {
				b.WriteString(", ")
			}
			p.write(b, a, 0)
		}
		b.WriteByte(')')
	default:
		b.WriteString(p.leaf(e))
	}
}

// compare writes a comparison. Reals are not compared for equality in odes: a data item of whole numbers is less than a
// half off, and others are neither less nor greater.
func (p *printer) compare(b *strings.Builder, e *expr) {
	if e.name != "==" && e.name != "!=" {
		p.write(b, e.args[0], 5)
		b.WriteString(" " + e.name + " ")
		p.write(b, e.args[1], 5)
		return
	}
	if p.whole(e) {
		sign := " < 0.5"
		if e.name == "!=" {
			sign = " > 0.5"
		}
		b.WriteString("abs(")
		p.write(b, e.args[0], 5)
		if !e.args[1].is(0) {
			b.WriteString(" - ")
			p.write(b, e.args[1], 6)
		}
		b.WriteString(")" + sign)
		return
	}
	first, join := " >= ", " and "
	if e.name == "!=" {
		first, join = " > ", " or "
	}
	b.WriteByte('(')
	for i, sign := range []string{first, strings.ReplaceAll(first, ">", "<")} {
		if i > 0 {
			b.WriteString(join)
		}
		p.write(b, e.args[0], 5)
		b.WriteString(sign)
		p.write(b, e.args[1], 5)
	}
	b.WriteByte(')')
}

// decimal writes a number with as many digits as it has.
func decimal(x float64) string {
	return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(x, 'g', -1, 64), "+"))
}
