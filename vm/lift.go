package vm

import (
	"slices"

	"odes.dev/odes/tape"
)

// lift returns t with neighbours taken before a few cheap instructions on long arrays instead of
// after them, where that saves the array in between: the transpose of a stencil multiplies by its
// weights first. Every element is computed as before, some of them several times. The sums of a
// stencil with a repeated border become sums of padded parts.
func lift(t *tape.Tape) *tape.Tape {
	l := newLifter(t)
	if !l.some() {
		return t
	}
	b := tape.NewBuilderWith(t.Name, tape.Share) // what is per lane stays per lane
	l.b, l.to = b, make([]tape.Value, t.Values())
	for i, in := range t.Inputs {
		l.to[i] = b.Input(in.Name, in.Shape, in.PerLane)
	}
	for i := range t.Instrs {
		v := len(t.Inputs) + i
		in := t.Instrs[i]
		if l.lifted(v) {
			l.to[v] = l.behind(&in, in.Args[0], liftDepth)
			continue
		}
		if runs := putRuns(&in); runs != nil {
			l.to[v] = l.pads(&in, runs)
			continue
		}
		in.Args = slices.Clone(in.Args)
		for k, a := range in.Args {
			in.Args[k] = l.to[a]
		}
		l.to[v] = b.Emit(in)
	}
	for _, o := range t.Outputs {
		b.Output(o.Name, l.to[o.Value])
	}
	return b.Tape()
}

// liftDepth bounds the number of instructions that neighbours are taken before.
const liftDepth = 4

type lifter struct {
	t     *tape.Tape
	array []bool // by value: it is stored as an array in any case
	b     *tape.Builder
	to    []tape.Value
}

func newLifter(t *tape.Tape) *lifter {
	l := &lifter{t: t, array: make([]bool, t.Values())}
	for i := range t.Inputs {
		l.array[i] = true
	}
	for _, o := range t.Outputs {
		l.array[o.Value] = true
	}
	for i := range t.Instrs {
		in := &t.Instrs[i]
		v := len(t.Inputs) + i
		l.array[v] = l.array[v] || !in.Op.Row().Elementwise() && in.Op != tape.Const
		if in.Op.Row().Elementwise() || in.Op == tape.Take || in.Op == tape.Slice || putRuns(in) != nil {
			continue
		}
		for _, a := range in.Args {
			l.array[a] = true
		}
	}
	return l
}

// some reports whether there is anything to lift.
func (l *lifter) some() bool {
	for i := range l.t.Instrs {
		if l.lifted(len(l.t.Inputs)+i) || putRuns(&l.t.Instrs[i]) != nil {
			return true
		}
	}
	return false
}

// putRuns returns the runs of positions of a Put into a long array that is a sum of a few padded
// parts. For any other instruction it returns nil.
func putRuns(in *tape.Instr) []indexRun {
	if in.Op != tape.Put || in.Shape.Size() <= stripElements {
		return nil
	}
	runs := indexRuns(in.Attr.Index)
	if len(runs) > 3 {
		return nil
	}
	return runs
}

// pads emits a Put as the sum of its padded parts, added in their order, beginning from zero.
func (l *lifter) pads(in *tape.Instr, runs []indexRun) tape.Value {
	x, axis := l.to[in.Args[0]], in.Attr.Axis
	sum, first := l.b.Scalar(0), 0
	for _, r := range runs {
		from, shape := make([]int, len(in.Shape)), slices.Clone(l.b.Shape(x))
		to := make([]int, len(in.Shape))
		from[axis], shape[axis], to[axis] = first, r.n, r.start
		first += r.n
		sum = l.b.Add(sum, l.b.Pad(l.b.Slice(x, from, shape, nil), in.Shape, to, nil))
	}
	return sum
}

// lifted reports whether v is a part of an array that then need not be stored.
func (l *lifter) lifted(v int) bool {
	in := l.t.Instr(tape.Value(v))
	if in == nil || in.Op != tape.Take && in.Op != tape.Slice || in.Shape.Size() <= stripElements {
		return false
	}
	_, ok := l.operand(in.Args[0])
	return ok
}

// operand returns the operand of a, if a is a cheap instruction of one array and single numbers.
func (l *lifter) operand(a tape.Value) (x tape.Value, ok bool) {
	in := l.t.Instr(a)
	if in == nil || l.array[a] {
		return 0, false
	}
	switch in.Op {
	case tape.Neg, tape.Sqr, tape.Add, tape.Sub, tape.Mul, tape.FMA:
	default:
		return 0, false
	}
	n := 0
	for _, y := range in.Args {
		if l.t.Shape(y).Size() > 1 {
			n++
			x = y
		} else if len(l.t.Shape(y)) > 0 {
			return 0, false
		}
	}
	return x, n == 1 && l.t.Shape(x).Equal(in.Shape)
}

// behind emits the part of a that the instruction in takes, computed from the parts of a's
// operands. It goes at most depth instructions back.
func (l *lifter) behind(in *tape.Instr, a tape.Value, depth int) tape.Value {
	x, ok := l.operand(a)
	if !ok || depth == 0 {
		part := *in
		part.Args = []tape.Value{l.to[a]}
		return l.b.Emit(part)
	}
	y := l.behind(in, x, depth-1)
	op := *l.t.Instr(a)
	op.Args = slices.Clone(op.Args)
	for k, z := range op.Args {
		op.Args[k] = l.to[z]
		if z == x {
			op.Args[k] = y
		}
	}
	op.Shape = in.Shape
	return l.b.Emit(op)
}
