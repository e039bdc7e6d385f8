package tapec

import (
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/tape"
)

// Placed is an input or output of a tape with its place among others: the rows or columns of a Jacobian that it has,
// from At on.
type Placed struct {
	Name string
	At   int
}

// Jacobian is the derivative of outputs of a tape by inputs, as a tape that makes the entries which may differ from
// zero. Entries at the same place add up.
type Jacobian struct {
	// Tape reads inputs of the tape that was differentiated, all but those that it does not need. Its outputs are
	// Entries.Number(0), Entries.Number(1) and so on.
	Tape *tape.Tape
	// Rows and Cols are the places of the entries: of the elements of all outputs, one output after the other.
	Rows, Cols []int32
	// Direct tells that the coefficients of terms are the entries. Otherwise they are tangents, one for each colour: a
	// set of columns that have no row in common.
	Direct bool
	// Terms is the number of operations of the tape of terms, 0 where these were too many, and Tangent that of one
	// tangent: what the two ways cost.
	Terms, Tangent int
}

// NewJacobian returns the derivative of the outputs of by the inputs wrt. Inputs that t does not have are ignored.
// Entries keep together as they come from whole arrays: a stencil on a grid has an output for each neighbour. Work on
// places is done here, once; the tape holds arithmetic only. Errors are those of JVP.
func NewJacobian(t *tape.Tape, of, wrt []Placed) (*Jacobian, error) {
	return limits{always: 1 << 16, factor: 2, most: 1 << 27}.jacobian(t, of, wrt)
}

// limits say when the entries are the coefficients of terms.
type limits struct {
	// always is the number of operations that is not compared with that of tangents: where there are no large arrays,
	// instructions cost more than elements, and colours have more of them.
	always int
	// factor is how many operations terms may take for each of the rates and colour. A tangent has two or more for one
	// of the rates.
	factor int
	// most is the number of coefficients beyond which terms are given up.
	most int
}

func (l limits) jacobian(t *tape.Tape, of, wrt []Placed) (*Jacobian, error) {
	j, err := direct(t, of, wrt, l.most)
	if err != nil || j != nil && j.Terms <= l.always {
		return j, err
	}
	if j == nil {
		pattern, err := direct(t, of, wrt, 0)
		if err != nil {
			return nil, err
		}
		return coloured(t, of, wrt, pattern)
	}
	if colours := countOf(Colours(j.Rows, j.Cols)); j.Terms > l.factor*colours*j.Tangent {
		return coloured(t, of, wrt, j)
	}
	return j, nil
}

// operations counts the elements that the instructions of t compute, and the products that they add up.
func operations(t *tape.Tape, of func(tape.Value) bool) int {
	n := 0
	for i := range t.Instrs {
		in := &t.Instrs[i]
		if !of(tape.Value(len(t.Inputs) + i)) {
			continue
		}
		switch in.Op {
		case tape.Const, tape.Slice, tape.Reshape, tape.Broadcast: // places only
		case tape.MatMul:
			a, b := t.Shape(in.Args[0]).Size(), t.Shape(in.Args[1]).Size()
			inner := a * b / in.Shape.Size() // the square of the inner length
			n += in.Shape.Size() * int(math.Sqrt(float64(inner)))
		case tape.Dot, tape.SumAxes, tape.ProdAxes, tape.MaxAxes, tape.MinAxes, tape.Put:
			n += t.Shape(in.Args[0]).Size()
		default:
			n += in.Shape.Size()
		}
	}
	return n
}

// direct returns the Jacobian whose entries are the coefficients of terms, or nil if there are more than most of these.
// If most is 0, there are places only, each once.
func direct(t *tape.Tape, of, wrt []Placed, most int) (*Jacobian, error) {
	pattern := most == 0
	d := newDerivation(t, t.Name+".jacobian")
	wrt = slices.DeleteFunc(slices.Clone(wrt), func(p Placed) bool {
		_, ok := d.inputs[p.Name]
		return !ok
	})
	active, err := d.active(placedNames(wrt))
	if err != nil {
		return nil, err
	}
	outputs, err := d.outputs(placedNames(of))
	if err != nil {
		return nil, err
	}
	f := &forward{
		derivation: d, active: active, pattern: pattern, lists: make([]*termList, t.Values()),
		uses: make([]int, t.Values()),
	}
	for i := range t.Instrs {
		for _, a := range t.Instrs[i].Args {
			f.uses[a]++
		}
	}
	for _, v := range outputs {
		f.uses[v]++
	}
	for _, p := range wrt {
		v := d.inputs[p.Name]
		f.lists[v] = f.unit(t.Shape(v), p.At)
	}
	j := &Jacobian{Direct: true, Tangent: operations(t, func(v tape.Value) bool { return active[v] })}
	for i := range t.Instrs {
		v := tape.Value(len(t.Inputs) + i)
		if !active[v] {
			continue
		}
		if n := f.growth(&t.Instrs[i]); n > mostEntries {
			return nil, &TooManyEntriesError{n}
		}
		d.b.SetSpan(t.Instrs[i].Span)
		l := f.derive(&t.Instrs[i], v)
		if pattern {
			l = f.distinct(l, t.Shape(v))
		}
		f.lists[v] = l
		if !pattern && f.made > most {
			return nil, nil
		}
		for _, a := range t.Instrs[i].Args {
			if f.uses[a]--; f.uses[a] == 0 {
				f.lists[a] = nil
			}
		}
	}
	for i, v := range outputs {
		if f.lists[v] != nil {
			f.write(j, f.compacted(f.lists[v], t.Shape(v)), of[i].At)
		}
	}
	j.Tape = d.b.Needed()
	if !pattern {
		j.Terms = operations(j.Tape, func(tape.Value) bool { return true })
	}
	return j, nil
}

// mostEntries is how many entries the derivative of a value may have: their places take gigabytes.
const mostEntries = 1 << 25

// TooManyEntriesError tells that a Jacobian has too many entries to be made.
type TooManyEntriesError struct{ Entries int }

func (e *TooManyEntriesError) Error() string {
	return fmt.Sprintf("it would have about %.2g entries; at most %.2g can be kept", float64(e.Entries),
		float64(mostEntries))
}

// growth returns at least how many entries the derivative of the result of in has before entries at one place are
// added up: an operand's, as often as each of its elements is read.
func (f *forward) growth(in *tape.Instr) (n int) {
	for _, a := range in.Args {
		l := f.lists[a]
		if l == nil {
			continue
		}
		live := 0
		for i := range l.terms {
			live += l.terms[i].cols.live
		}
		if size := f.t.Shape(a).Size(); in.Shape.Size() > size && size > 0 {
			live *= in.Shape.Size() / size
		}
		n += live
	}
	return n
}

func placedNames(list []Placed) []string {
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = p.Name
	}
	return names
}

// forward is the state of NewJacobian. Its slices are indexed by the values of the tape.
type forward struct {
	*derivation
	active []bool
	lists  []*termList // the derivative of each value; nil for zero
	uses   []int       // how many operands and outputs a value is yet to be
	count  int         // of outputs so far
	made   int         // coefficients so far
	stamps stamps
	// pattern tells that only places are wanted. All coefficients are 1.
	pattern bool
}

// coefficient returns what of makes, unless only places are wanted.
func (f *forward) coefficient(of func() tape.Value) tape.Value {
	if f.pattern {
		return f.b.Scalar(1)
	}
	return of()
}

// unit returns the derivative of an input that has the columns from at on.
func (f *forward) unit(shape tape.Shape, at int) *termList {
	cols := make([]int32, shape.Size())
	for i := range cols {
		cols[i] = int32(at + i)
	}
	l := &termList{}
	f.add(l, term{coef: f.b.Scalar(1), shape: shape, rows: inOrder(shape), cols: newColumns(cols)})
	return l
}

// write makes outputs of terms, whose first row is at.
func (f *forward) write(j *Jacobian, list *termList, at int) {
	for _, t := range list.terms {
		t = f.living(t)
		if len(t.cols.at) == 0 {
			continue
		}
		if t.shape.Size() == 1 {
			t.coef, t.shape = f.b.Reshape(t.coef, nil), nil
		}
		f.b.Output(Entries.Number(f.count).String(), f.full(t.coef, t.shape))
		f.count++
		for _, r := range t.positions() {
			j.Rows = append(j.Rows, int32(at)+r)
		}
		j.Cols = append(j.Cols, t.cols.at...)
	}
}

// derive returns the derivative of v, the result of in.
func (f *forward) derive(in *tape.Instr, v tape.Value) *termList {
	b := f.b
	args := f.args(in)
	out := &termList{}
	arg := func(k int) tape.Shape { return f.t.Shape(in.Args[k]) }
	// each adds to out what of makes of each term of operand k.
	each := func(k int, of func(t term, add func(term))) {
		if a := in.Args[k]; f.lists[a] != nil {
			for _, t := range f.lists[a].terms {
				of(t, func(t term) { f.add(out, t) })
			}
		}
	}
	// summed adds the sum of a term over the axes that in removes.
	summed := func(t term, add func(term)) { add(f.sum(t, arg(0), in.Attr.Axes)) }
	switch {
	case in.Op.Row().Elementwise():
		return f.elementwise(in, v)
	case in.Op.Row().Class == tape.Structure && in.Op != tape.Concat:
		var places []int
		if in.Op != tape.Reshape {
			places = tape.Places(in, arg(0))
		}
		each(0, func(t term, add func(term)) { f.move(in, arg(0), places, t, add) })
		return out
	}
	switch in.Op {
	case tape.Concat:
		start := make([]int, len(in.Shape))
		for k := range args {
			each(k, func(t term, add func(term)) { add(f.place(t, arg(k), in.Shape, start, nil)) })
			start[in.Attr.Axis] += arg(k)[in.Attr.Axis]
		}
		return f.packed(out)
	case tape.SumAxes:
		each(0, summed)
	case tape.ProdAxes:
		others := f.exclusive(args[0], in.Attr.Axes)
		each(0, func(t term, add func(term)) {
			summed(f.times(t, f.at(others, arg(0), t), false), add)
		})
	case tape.MaxAxes, tape.MinAxes:
		is, weight := f.chosen(args[0], f.prim[v], in.Attr.Axes)
		each(0, func(t term, add func(term)) {
			t.coef = f.coefficient(func() tape.Value {
				return b.Select(f.at(is, arg(0), t), b.Mul(t.coef, f.at(weight, arg(0), t)), b.Scalar(0))
			})
			summed(t, add)
		})
	case tape.Dot:
		for k := range args {
			each(k, func(t term, add func(term)) {
				t = f.times(f.without(t, args[1-k], arg(k)), f.at(args[1-k], arg(k), t), false)
				add(f.sum(t, arg(k), []int{0}))
			})
		}
	case tape.Outer:
		for k := range args {
			shape, other := slices.Clone(in.Shape), slices.Clone(in.Shape) // of the operands, as matrices
			shape[1-k], other[k] = 1, 1
			factor := b.Reshape(args[1-k], other)
			each(k, func(t term, add func(term)) {
				t = f.stretch(t, shape, in.Shape)
				add(f.times(f.without(t, factor, in.Shape), f.at(factor, in.Shape, t), false))
			})
		}
	case tape.MatMul:
		for k, a := range in.Args {
			if f.lists[a] != nil {
				f.product(out, in, k)
			}
		}
	case tape.Pick, tape.Drop:
		each(0, func(t term, add func(term)) { add(f.lookup(in, t)) })
	default:
		panic(fmt.Sprintf("tapec: no derivative for %v", in.Op))
	}
	return out
}

// elementwise is derive for elementwise ops.
func (f *forward) elementwise(in *tape.Instr, v tape.Value) *termList {
	out := f.sumSoFar(in)
	var partials [3]tape.Value
	for k, a := range in.Args {
		l := f.lists[a]
		if l == nil || l == out || zeroDerivative(in, k) {
			continue
		}
		shape := f.t.Shape(a)
		if !additive(in.Op) && !l.compact && len(l.terms) >= manyTerms {
			l = f.compacted(l, shape)
			l.compact = true
			f.lists[a] = l
		}
		partials[k] = none
		for _, t := range l.terms {
			f.add(out, f.scaled(in, k, v, f.stretch(t, shape, in.Shape), &partials[k]))
		}
		out.compact = l.compact && len(in.Args) == 1
	}
	return out
}

// additive reports whether the derivatives of op are 1 or -1.
func additive(op tape.Op) bool { return op == tape.Add || op == tape.Sub || op == tape.Neg }

// manyTerms is the number of terms from which it is looked whether they overlap.
const manyTerms = 8

// sumSoFar returns what the sum of the terms of in begins with: the terms of an operand that in adds something to, if
// nothing else needs them. So a sum of many is not copied again and again.
func (f *forward) sumSoFar(in *tape.Instr) *termList {
	best := &termList{}
	for k, a := range in.Args {
		if in.Op != tape.Add && (in.Op != tape.Sub || k > 0) {
			break
		}
		l := f.lists[a]
		if l != nil && f.uses[a] == 1 && len(l.terms) > len(best.terms) && f.t.Shape(a).Equal(in.Shape) {
			best = l
		}
	}
	return best
}

// scaled returns t, a term of operand k of in in the shape of the result v, times the derivative of v by the operand.
// The derivative is made once, and kept in partial.
func (f *forward) scaled(in *tape.Instr, k int, v tape.Value, t term, partial *tape.Value) term {
	b := f.b
	make1 := func(x func() tape.Value) tape.Value {
		if *partial == none {
			*partial = x()
		}
		return *partial
	}
	// chosen keeps t where a condition is true, or where it is not.
	chosen := func(cond func() tape.Value, is bool) term {
		c := make1(cond)
		t = f.masked(t, c, in.Shape, is)
		if data, ok := b.Constant(c); f.pattern || ok && (len(data) > 1 || (data[0] != 0) == is) {
			return t
		}
		yes, no := t.coef, b.Scalar(0)
		if !is {
			yes, no = no, yes
		}
		t.coef = b.Select(f.at(c, in.Shape, t), yes, no)
		return t
	}
	args := f.args(in)
	switch in.Op {
	case tape.Add:
		return t
	case tape.Sub:
		if k == 1 && !f.pattern {
			t.coef = b.Neg(t.coef)
		}
		return t
	case tape.Neg:
		if !f.pattern {
			t.coef = b.Neg(t.coef)
		}
		return t
	case tape.Select:
		return chosen(func() tape.Value { return args[0] }, k == 1)
	case tape.Min:
		return chosen(func() tape.Value { return b.Op2(tape.Less, args[1], args[0]) }, k == 1)
	case tape.Max:
		return chosen(func() tape.Value { return b.Op2(tape.Less, args[0], args[1]) }, k == 1)
	case tape.ZeroMul:
		if k == 1 {
			t.coef = f.coefficient(func() tape.Value { return b.Op2(tape.ZeroMul, f.at(args[0], in.Shape, t), t.coef) })
			return t
		}
		return f.times(t, f.at(args[1], in.Shape, t), true)
	}
	p := make1(func() tape.Value { return f.partial(in, k, f.prim[v]) })
	return f.times(f.without(t, p, in.Shape), f.at(p, in.Shape, t), in.Op.Row().Singular)
}

// times returns t times x, which stretches to the shape of t. With guard, it is 0 where t is.
func (f *forward) times(t term, x tape.Value, guard bool) term {
	op := tape.Mul
	if guard {
		op = tape.ZeroMul
	}
	if !f.pattern {
		t.coef = f.b.Op2(op, t.coef, x)
	}
	return t
}

// without returns t without the entries that are multiplied by a zero, where x, a factor of shape, is constant.
func (f *forward) without(t term, x tape.Value, shape tape.Shape) term {
	return f.masked(t, x, shape, true)
}

// masked returns t without the entries where x, of shape or stretching to it, is a constant that is 0, or is not if is
// is false.
func (f *forward) masked(t term, x tape.Value, shape tape.Shape, is bool) term {
	data, ok := f.b.Constant(x)
	if !ok || !slices.ContainsFunc(data, func(c float64) bool { return (c != 0) != is }) {
		return t
	}
	if len(data) == 1 {
		t.cols = newColumns(slices.Repeat([]int32{gone}, len(t.cols.at)))
		return t
	}
	var from []int // of x, for each element of shape
	if own := f.b.Shape(x); !own.Equal(shape) {
		from = tape.Places(&tape.Instr{Op: tape.Broadcast, Shape: shape}, own)
	}
	cols := slices.Clone(t.cols.at)
	for e, r := range t.positions() {
		i := int(r)
		if from != nil {
			i = from[i]
		}
		if (data[i] != 0) != is {
			cols[e] = gone
		}
	}
	t.cols = newColumns(cols)
	return t
}
