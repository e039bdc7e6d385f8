package export

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/stdlib"
)

// quantity is a number that has a name: an element of what the model declares, or of a definition.
type quantity struct {
	name   string // as the model writes it, "x[1,2]"
	base   string // "x"
	subs   []int  // 1, 2
	symbol *model.Symbol
	value  *node // the default, the initial value or the definition
	doc    string
	unit   string
	span   source.Span
	uses   uses
}

// flat is a model of single numbers.
type flat struct {
	time      *quantity
	from, to  *node
	params    []*quantity
	states    []*quantity // those with rates, then the algebraic unknowns
	discretes []*quantity
	lets      []*quantity // each after those that it uses
	rates     []*node
	residuals []*node
	unknown   map[*quantity]bool // the elements of states whose rows of the mass matrix are zero
	masses    []entry
	events    []*event
	outputs   []*quantity // of lets and states; of others, quantities of their own

	written  float64 // operations so far
	elements map[*model.Symbol][]*quantity
	letOf    map[model.Expr]*model.Let
	letElems map[*model.Let][]*quantity
	instead  map[*model.Symbol]model.Expr // what hidden discretes stand for
	lags     map[*model.Symbol]*model.Lag // by what they read
	delays   map[*model.Symbol]bool       // of lags
	memo     map[place]*node
	covers   map[place][]spot
}

// entry is a number of a mass matrix besides the diagonal.
type entry struct {
	row, col *quantity
	value    float64
}

// event is an element of an event.
type event struct {
	name        string
	of          *model.Event // with the body
	on          *model.Event // with what sets it off
	when        *node        // nil for none
	crossing    *node
	times       []*node
	every       *node
	from, to    *node // of every; nil for the bounds of the run
	count       *node
	rank        *node // the priority, where it is an expression
	delay       *node
	atTrigger   bool          // a value is that of the trigger
	atExecution bool          // a value is that of the execution
	mixed       *model.Assign // its value is of both; nil for none
	persistent  bool
	body        []assignment
}

type assignment struct {
	to    *quantity
	value *node
}

// place is an element of an expression under values of loop variables.
type place struct {
	e      model.Expr
	offset int
	loops  string
}

// loops are the values of loop variables.
type loops map[*model.Index]int

func (l loops) with(ix *model.Index, v int) loops {
	c := make(loops, len(l)+1)
	for k, x := range l {
		c[k] = x
	}
	c[ix] = v
	return c
}

// maxWritten is how many operations a model may have when it is written out.
const maxWritten = 400_000

// flatten writes the model out.
func (x *exporter) flatten() {
	m := x.source
	x.elements = map[*model.Symbol][]*quantity{}
	x.letOf = map[model.Expr]*model.Let{}
	x.letElems = map[*model.Let][]*quantity{}
	x.instead = map[*model.Symbol]model.Expr{}
	x.lags, x.delays = map[*model.Symbol]*model.Lag{}, map[*model.Symbol]bool{}
	for _, l := range m.Lags {
		x.lags[l.Value], x.delays[l.Delay] = l, true
	}
	x.memo = map[place]*node{}
	x.covers = map[place][]spot{}
	x.unknown = map[*quantity]bool{}
	for _, e := range m.Events {
		if e.Policy != written(e.Policy) {
			x.fail(e.Span, "%s has no option of events like one that %s has; leave that out", x.format.title, e.Name)
		}
		if e.Settles && !e.After {
			x.fail(e.Span, "the run begins at a steady state, which %s cannot say: leave `equilibrate` out, and give "+
				"the values of this state as initial values", x.format.title)
		}
	}
	for _, l := range m.Lets {
		if _, taken := x.letOf[l.Value]; !taken {
			x.letOf[l.Value] = l
		}
	}
	x.time = &quantity{
		name: m.Time.Name, base: m.Time.Name, symbol: m.Time, uses: ofTime, span: m.Time.Span,
		unit: unitText(m.Time.Type),
	}
	x.elements[m.Time] = []*quantity{x.time}
	for _, s := range m.Params {
		x.params = append(x.params, x.declare(s, ofParams)...)
	}
	for _, s := range m.States {
		x.states = append(x.states, x.declare(s, ofStates)...)
	}
	for _, s := range m.Discretes {
		if !s.Hidden {
			x.discretes = append(x.discretes, x.declare(s, ofDiscretes)...)
		}
	}
	x.from, x.to = x.scalar(m.From), x.scalar(m.To)
	for _, list := range [][]*quantity{x.params, x.states, x.discretes} {
		for _, q := range list {
			q.value = x.at(q.symbol.Value, nil, x.offsetOf(q))
		}
	}
	for _, l := range m.Lets {
		x.define(l)
	}
	for i, r := range m.Rates {
		for o := range x.elements[m.States[i]] {
			x.rates = append(x.rates, x.at(r, nil, o))
		}
	}
	for _, r := range m.Residuals {
		for o := range r.Value.Type().Shape.Size() {
			x.residuals = append(x.residuals, x.at(r.Value, nil, o))
		}
	}
	for _, mass := range m.Masses {
		list := x.elements[mass.State]
		for _, j := range mass.Unknowns {
			x.unknown[list[j]] = true
		}
		for k, j := range mass.Rows {
			x.masses = append(x.masses, entry{list[j], list[mass.Cols[k]], mass.Values[k]})
		}
	}
	x.flattenEvents()
	x.experimentParams()
	for _, o := range m.Outputs {
		for k := range o.Value.Type().Shape.Size() {
			n := x.at(o.Value, nil, k)
			q := n.of
			if n.op != name {
				q = element(o.Name, k, o.Value.Type())
				q.doc, q.span, q.value, q.uses = o.Doc, o.Span, n, n.uses
			}
			x.outputs = append(x.outputs, q)
		}
	}
}

// declare makes the elements of a symbol.
func (x *exporter) declare(s *model.Symbol, u uses) []*quantity {
	n := s.Type.Shape.Size()
	x.spend(s.Span, n)
	for k := range n {
		q := element(s.Name, k, s.Type)
		q.symbol, q.doc, q.span, q.uses = s, s.Doc, s.Span, u
		x.elements[s] = append(x.elements[s], q)
	}
	return x.elements[s]
}

// experimentParams gives the values of an experiment the names of their params. A param that nothing reads any more is
// left out; where its value has a part in that of the experiment, both stay.
func (x *exporter) experimentParams() {
	read := map[*quantity]bool{}
	for _, n := range x.all {
		if n.op == name {
			read[n.of] = true
		}
	}
	for _, s := range x.source.Params {
		plain := strings.TrimRight(s.Name, "'")
		i := slices.IndexFunc(x.whole.Params, func(p *model.Symbol) bool { return p.Name == plain })
		if x.experiment == "" || plain == s.Name || i < 0 {
			continue
		}
		k := slices.IndexFunc(x.source.Params, func(p *model.Symbol) bool { return p.Name == plain })
		old := x.elements[x.source.Params[k]]
		if slices.ContainsFunc(old, func(q *quantity) bool { return read[q] }) {
			plain += "_" + x.experiment
		} else {
			x.params = slices.DeleteFunc(x.params, func(q *quantity) bool { return slices.Contains(old, q) })
		}
		for o, q := range x.elements[s] {
			named := element(plain, o, s.Type)
			q.name, q.base, q.doc = named.name, named.base, x.source.Params[k].Doc
		}
	}
}

// offsetOf returns the place of an element in its symbol.
func (x *exporter) offsetOf(q *quantity) int { return slices.Index(x.elements[q.symbol], q) }

// element names an element of what is called base.
func element(base string, offset int, t types.Type) *quantity {
	q := &quantity{name: base, base: base, unit: unitText(t)}
	if len(t.Shape) == 0 {
		return q
	}
	q.subs = make([]int, len(t.Shape))
	for k := len(t.Shape) - 1; k >= 0; k-- {
		q.subs[k] = offset%t.Shape[k] + 1
		offset /= t.Shape[k]
	}
	var list []string
	for _, s := range q.subs {
		list = append(list, strconv.Itoa(s))
	}
	q.name += "[" + strings.Join(list, ",") + "]"
	return q
}

func unitText(t types.Type) string {
	if !t.Unit.Known() || t.Unit.Dimensionless() && t.Unit.Plain() {
		return ""
	}
	return t.Unit.String()
}

// define makes the quantities of a definition.
func (x *exporter) define(l *model.Let) []*quantity {
	if list := x.letElems[l]; list != nil {
		return list
	}
	t := l.Value.Type()
	var list []*quantity
	for k := range t.Shape.Size() {
		var n *node
		if x.letOf[l.Value] == l {
			n = x.compute(l.Value, nil, k)
		} else {
			n = x.at(l.Value, nil, k) // another name for the same
		}
		q := element(l.Name, k, t)
		q.value, q.doc, q.span, q.uses = n, l.Doc, l.Span, n.uses
		list = append(list, q)
	}
	x.letElems[l] = list
	x.lets = append(x.lets, list...)
	return list
}

// spend counts what is written out.
func (x *exporter) spend(at source.Span, n int) {
	if x.written += float64(n); x.written > maxWritten {
		x.fail(at, "written out into single numbers, the model has more than %d operations, which is more than odes "+
			"exports; make its arrays smaller, by the consts that give their lengths", maxWritten)
	}
}

// scalar is the value of an expression without an index.
func (x *exporter) scalar(e model.Expr) *node {
	if e == nil {
		return nil
	}
	return x.at(e, nil, 0)
}

// at is element number offset of e, or e itself where it is a single number.
func (x *exporter) at(e model.Expr, in loops, offset int) *node {
	if len(e.Type().Shape) == 0 {
		offset = 0
	}
	if l := x.letOf[e]; l != nil {
		return x.named(x.define(l)[offset])
	}
	return x.compute(e, in, offset)
}

func (x *exporter) compute(e model.Expr, in loops, offset int) *node {
	switch e := e.(type) {
	case *model.Const:
		v := e.Data[0]
		if len(e.Data) > 1 {
			v = e.Data[offset]
		}
		if e.T.Kind == types.Bool {
			return x.truth(v != 0)
		}
		return x.num(v)
	case *model.LoopVar:
		return x.num(float64(in[e.Index]))
	}
	key := place{e, offset, ""}
	for _, ix := range model.Free(e) {
		key.loops += strconv.Itoa(in[ix]) + " "
	}
	if n := x.memo[key]; n != nil {
		return n
	}
	x.spend(e.Span(), 1)
	n := x.element(e, in, offset)
	x.memo[key] = n
	return n
}

// element computes what compute remembers.
func (x *exporter) element(e model.Expr, in loops, offset int) *node {
	switch e := e.(type) {
	case *model.Ref:
		if stand := x.instead[e.Sym]; stand != nil {
			return x.at(stand, in, offset)
		}
		if l := x.lags[e.Sym]; l != nil { // those of all states for the first delay come first
			of := x.elements[l.State]
			return x.call(late, x.named(of[offset%len(of)]), x.at(l.Delay.Value, in, offset/len(of)))
		}
		if x.delays[e.Sym] {
			return x.at(e.Sym.Value, in, offset)
		}
		list := x.elements[e.Sym]
		if list == nil {
			x.fail(e.Span(), "%s of odes' own is read here, which no other program has", e.Sym.Name)
		}
		return x.named(list[offset])
	case *model.Call:
		return x.called(e, in, offset)
	case *model.Access:
		return x.access(e, in, offset)
	case *model.Assemble:
		return x.assembled(e, in, offset)
	case *model.Reduce:
		var list []*node
		each(e.Indices, in, func(inner loops) { list = append(list, x.at(e.Body, inner, 0)) })
		return x.fold(e.Fn.Name, list)
	case *model.If:
		cond := x.at(e.Cond, in, offset)
		if cond.op == "true" {
			return x.at(e.Then, in, offset)
		}
		if cond.op == "false" {
			return x.at(e.Else, in, offset)
		}
		return x.choose(cond, x.at(e.Then, in, offset), x.at(e.Else, in, offset))
	case *model.Stack:
		inner := e.T.Shape[1:].Size()
		return x.at(e.Elems[offset/inner], in, offset%inner)
	case *model.NoEvent:
		return x.at(e.X, in, offset)
	}
	x.fail(e.Span(), "this is no part of the equations, which are all that is exported")
	return nil
}

// each visits all values of indices, the last one fastest.
func each(indices []*model.Index, in loops, visit func(loops)) {
	if len(indices) == 0 {
		visit(in)
		return
	}
	ix := indices[0]
	for k := range ix.Count {
		each(indices[1:], in.with(ix, ix.Lo+k*ix.Step), visit)
	}
}

// fold reduces numbers.
func (x *exporter) fold(name string, list []*node) *node {
	op, empty := "+", 0.0
	switch name {
	case "prod":
		op, empty = "*", 1
	case "min":
		op, empty = "min", math.Inf(1)
	case "max":
		op, empty = "max", math.Inf(-1)
	}
	if len(list) == 0 {
		return x.num(empty)
	}
	total := list[0]
	for _, n := range list[1:] {
		total = x.call(op, total, n)
	}
	return total
}

// dot is the scalar product of n pairs. Pairs with a zero in a const have no part in it.
func (x *exporter) dot(n int, pair func(k int) (a, b *node)) *node {
	var list []*node
	for k := range n {
		a, b := pair(k)
		if isNumber(a, 0) || isNumber(b, 0) {
			continue
		}
		list = append(list, x.call("*", a, b))
	}
	return x.fold("sum", list)
}

func (x *exporter) called(e *model.Call, in loops, offset int) *node {
	arg := func(k, o int) *node { return x.at(e.Args[k], in, o) }
	shape := func(k int) types.Shape { return e.Args[k].Type().Shape }
	all := func(e model.Expr, n int) (list []*node) {
		for o := range n {
			list = append(list, x.at(e, in, o))
		}
		return list
	}
	if t := e.Table; t != nil {
		n := t.Knots.Type().Shape.Size()
		row := offset * n
		part := func(e model.Expr) (list []*node) {
			for o := range n {
				list = append(list, x.at(e, in, row+o))
			}
			return list
		}
		var slopes []*node
		if t.Slopes != nil {
			slopes = part(t.Slopes)
		}
		return x.table(lookup, x.at(t.Time, in, 0), all(t.Knots, n), part(t.Values), slopes)
	}
	switch e.Fn.Class {
	case stdlib.Elementwise, stdlib.Comparison, stdlib.Logic, stdlib.Index:
		args := make([]*node, len(e.Args))
		for k := range args {
			args[k] = arg(k, offset)
		}
		return x.apply(e, e.Fn.Name, args)
	case stdlib.Reduction:
		return x.fold(e.Fn.Name, all(e.Args[0], shape(0).Size()))
	}
	switch e.Fn.Name {
	case "interval":
		knots := all(e.Args[1], shape(1).Size())
		var counts []*node
		for k := range len(knots) + 1 {
			counts = append(counts, x.num(float64(k)))
		}
		return x.table(held, arg(0, 0), knots, counts, nil)
	case "pick":
		n := shape(0)[len(shape(0))-1]
		where := arg(1, 0)
		if where.op == number {
			return arg(0, offset*n+int(where.value))
		}
		var values []*node
		for k := range n {
			values = append(values, arg(0, offset*n+k))
		}
		if where.op != held || len(values) != where.count+1 {
			x.fail(e.Span(), "the place in this table is not between knots")
		}
		q, knots, _, _ := where.parts()
		return x.table(held, q, knots, values, nil)
	case "dot":
		return x.dot(shape(0).Size(), func(k int) (a, b *node) { return arg(0, k), arg(1, k) })
	case "outer":
		m := shape(1).Size()
		return x.call("*", arg(0, offset/m), arg(1, offset%m))
	case "transpose":
		r, c := shape(0)[0], shape(0)[1]
		return arg(0, offset%r*c+offset/r)
	case "diag":
		n := shape(0)[0]
		switch {
		case len(shape(0)) == 2:
			return arg(0, offset*n+offset)
		case offset/n != offset%n:
			return x.num(0)
		}
		return arg(0, offset/n)
	case "@":
		a, b := shape(0), shape(1)
		inner, cols := a[len(a)-1], 1
		if len(b) == 2 {
			cols = b[1]
		}
		i, j := offset/cols, offset%cols
		return x.dot(inner, func(k int) (*node, *node) { return arg(0, i*inner+k), arg(1, k*cols+j) })
	}
	x.fail(e.Span(), "%s cannot be exported", e.Fn.Name)
	return nil
}

// apply is an operation of e, written with others where the format does not have it.
func (x *exporter) apply(e model.Expr, op string, args []*node) *node {
	if _, ok := evaluate(op, args); ok {
		return x.call(op, args...)
	}
	f, is := x.format.operators[op]
	switch {
	case !is:
		return x.call(op, args...)
	case f == nil:
		x.fail(e.Span(), "%s has no function %s; write it with others, or export in another format", x.format.title, op)
	}
	return f(&x.builder, args)
}

// position is the value of a subscript.
func (x *exporter) position(e model.Expr, in loops) int {
	n := x.at(e, in, 0)
	if n.op != number {
		x.fail(e.Span(), "this index is not known before a run")
	}
	return int(n.value)
}

// offsets returns the elements that subscripts choose of an array, in order.
func (x *exporter) offsets(subs []model.Sub, shape types.Shape, in loops) []int {
	if subs == nil {
		all := make([]int, shape.Size())
		for i := range all {
			all[i] = i
		}
		return all
	}
	list := []int{0}
	stride := shape.Strides()
	for k, s := range subs {
		var next []int
		for _, base := range list {
			if s.At != nil {
				at := x.position(s.At, in)
				if at < 1 || at > shape[k] {
					x.fail(s.At.Span(), "this index is %d, and there are %d elements", at, shape[k])
				}
				next = append(next, base+(at-1)*stride[k])
				continue
			}
			for i := range s.Count {
				next = append(next, base+(s.Lo-1+i*s.Step)*stride[k])
			}
		}
		list = next
	}
	return list
}

func (x *exporter) access(e *model.Access, in loops, offset int) *node {
	if r, is := e.X.(*model.Ref); is && x.instead[r.Sym] != nil { // what a slot holds
		return x.at(x.instead[r.Sym], in, offset)
	}
	shape := e.X.Type().Shape
	stride := shape.Strides()
	at, inner := 0, e.T.Shape.Size()
	for k, s := range e.Subs {
		if s.At != nil {
			i := x.position(s.At, in)
			if i < 1 || i > shape[k] {
				x.fail(s.At.Span(), "this index is %d, and there are %d elements", i, shape[k])
			}
			at += (i - 1) * stride[k]
			continue
		}
		inner /= s.Count
		at += (s.Lo - 1 + offset/inner%s.Count*s.Step) * stride[k]
	}
	return x.at(e.X, in, at)
}

// spot is where an element of an assembled array comes from.
type spot struct {
	piece  *model.Piece
	in     loops
	offset int
}

func (x *exporter) assembled(e *model.Assemble, in loops, offset int) *node {
	key := place{e, 0, ""}
	for _, ix := range model.Free(e) {
		key.loops += strconv.Itoa(in[ix]) + " "
	}
	spots := x.covers[key]
	if spots == nil {
		n := e.T.Shape.Size()
		x.spend(e.Span(), n)
		spots = make([]spot, n)
		for k := range e.Pieces {
			p := &e.Pieces[k]
			each(p.Indices, in, func(inner loops) {
				for o, at := range x.offsets(p.Subs, e.T.Shape, inner) {
					spots[at] = spot{p, inner, o}
				}
			})
		}
		x.covers[key] = spots
	}
	s := spots[offset]
	return x.at(s.piece.Value, s.in, s.offset)
}

// leaveOut says in one note what no format has.
func (x *exporter) leaveOut() {
	m := x.whole
	var left []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			left = append(left, "the "+one)
		case n > 1:
			left = append(left, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(len(m.Objectives), "objective", "objectives and constraints")
	add(len(m.Observations), "observation", "observations with their data")
	add(len(m.Priors), "prior", "priors")
	if x.experiment == "" {
		add(len(m.Experiments), "experiment, which --in exports", "experiments, of which --in exports one")
	} else {
		add(len(m.Experiments)-1, "other experiment", "other experiments")
	}
	asserts := 0
	for _, a := range m.Asserts {
		if !a.Implied {
			asserts++
		}
	}
	add(asserts, "assertion", "assertions")
	add(len(m.Invariants), "invariant", "invariants")
	if len(left) > 0 {
		x.note(source.Span{File: m.Source}, "the equations are exported; left out %s %s",
			map[bool]string{true: "is", false: "are"}[len(left) == 1 && strings.HasPrefix(left[0], "the ")],
			enumerate(left))
	}
}

func enumerate(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
