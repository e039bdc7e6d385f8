package tapec

import (
	"fmt"
	"slices"

	"odes.dev/odes/tape"
)

// none stands for a tangent or cotangent that is zero whatever the inputs are.
const none tape.Value = -1

// JVP returns the tape of tangents of t: the derivatives of the outputs of in the
// direction in which the inputs wrt move. It reads inputs of t and, in lanes, the
// tangents "dot.<in>" of the inputs wrt. It makes the tangents "dot.<out>" of the
// outputs of, in lanes and of their shapes. Tangents that are zero whatever the inputs
// are do not come out, and inputs that nothing needs are left out.
//
// It is an error if t lacks one of the names, if a name is given twice, or if an op has
// a derivative that no ops make.
func JVP(t *tape.Tape, of, wrt []string) (*tape.Tape, error) { return tangent(t, of, wrt, false) }

// SecondVJP returns the tape of VJP, or of GuardedVJP if guarded is set, together with
// its tangents. Lanes share the inputs of t, the cotangents "bar.<out>" that it reads
// and the cotangents "bar.<in>" that it makes. In lanes are their tangents: it reads
// "dot.<in>" and "dot.bar.<out>" and makes "dot.bar.<in>". What is zero whatever the
// inputs are does not come out. Errors are those of JVP.
func SecondVJP(t *tape.Tape, of, wrt []string, guarded bool) (*tape.Tape, error) {
	v, err := transpose(t, of, wrt, !guarded, 0)
	if err != nil {
		return nil, err
	}
	var moving, bars []string
	for i := range v.Inputs {
		in := &v.Inputs[i]
		if in.PerLane || slices.Contains(wrt, in.Name) {
			moving = append(moving, in.Name)
		}
		in.PerLane = false
	}
	for _, o := range v.Outputs {
		bars = append(bars, o.Name)
	}
	return tangent(v, bars, moving, true)
}

// tangent is JVP. If keep is set, the outputs of come out as well.
func tangent(t *tape.Tape, of, wrt []string, keep bool) (*tape.Tape, error) {
	d := newDerivation(t, t.Name+".jvp")
	active, err := d.active(wrt)
	if err != nil {
		return nil, err
	}
	values, err := d.outputs(of)
	if err != nil {
		return nil, err
	}
	tan := make([]tape.Value, t.Values())
	for v := range tan {
		tan[v] = none
	}
	for _, name := range wrt {
		v := d.inputs[name]
		if tan[v], err = d.seed(Tangent.Of(name), t.Shape(v)); err != nil {
			return nil, err
		}
	}
	for i := range t.Instrs {
		v := tape.Value(len(t.Inputs) + i)
		if !active[v] {
			continue
		}
		d.b.SetSpan(t.Instrs[i].Span)
		tan[v] = d.push(&t.Instrs[i], d.prim[v], tan)
	}
	for i, v := range values {
		if keep {
			d.b.Output(of[i], d.prim[v])
		}
		if tan[v] != none {
			d.b.Output(Tangent.Of(of[i]), d.full(tan[v], t.Shape(v)))
		}
	}
	return d.b.Needed(), nil
}

// push returns the tangent of in, whose result is y, from those of its operands.
func (d *derivation) push(in *tape.Instr, y tape.Value, tan []tape.Value) tape.Value {
	b := d.b
	args := d.args(in)
	// dot returns the tangent of operand k, which is zeros if it has none.
	dot := func(k int) tape.Value {
		shape := d.t.Shape(in.Args[k])
		if v := tan[in.Args[k]]; v != none {
			return d.full(v, shape)
		}
		return b.Const(shape, 0)
	}
	has := func(k int) bool { return tan[in.Args[k]] != none }
	// sum adds the contributions of the operands that have a tangent.
	sum := func(term func(k int) tape.Value) tape.Value {
		out := none
		for k := range args {
			if has(k) && !zeroDerivative(in, k) {
				out = d.plus(out, term(k))
			}
		}
		return out
	}
	if in.Op.Row().Elementwise() {
		return d.pushElementwise(in, y, tan, sum)
	}
	same := func(x tape.Value) tape.Value {
		return b.Emit(tape.Instr{Op: in.Op, Args: []tape.Value{x}, Shape: in.Shape, Attr: in.Attr})
	}
	switch in.Op {
	case tape.Broadcast:
		return tan[in.Args[0]]
	case tape.Slice, tape.Pad, tape.Reshape, tape.Transpose, tape.Take, tape.Put, tape.SumAxes:
		return same(dot(0))
	case tape.Concat:
		parts := make([]tape.Value, len(args))
		for k := range args {
			parts[k] = dot(k)
		}
		return b.Concat(in.Attr.Axis, parts...)
	case tape.ProdAxes:
		return b.SumAxes(b.Mul(d.exclusive(args[0], in.Attr.Axes), dot(0)), in.Attr.Axes...)
	case tape.MaxAxes, tape.MinAxes:
		is, weight := d.chosen(args[0], y, in.Attr.Axes)
		return b.SumAxes(b.Select(is, b.Mul(dot(0), weight), b.Scalar(0)), in.Attr.Axes...)
	case tape.MatMul, tape.Dot, tape.Outer:
		return sum(func(k int) tape.Value {
			pair := []tape.Value{args[0], args[1]}
			pair[k] = dot(k)
			return b.Emit(tape.Instr{Op: in.Op, Args: pair, Attr: in.Attr})
		})
	case tape.Pick:
		return b.Pick(dot(0), args[1])
	case tape.Drop:
		return b.Drop(dot(0), args[1], in.Shape[0])
	}
	panic(fmt.Sprintf("tapec: no tangent for %v", in.Op))
}

// pushElementwise is push for elementwise ops.
func (d *derivation) pushElementwise(
	in *tape.Instr, y tape.Value, tan []tape.Value, sum func(term func(k int) tape.Value) tape.Value,
) tape.Value {
	b := d.b
	args := d.args(in)
	or0 := func(k int) tape.Value {
		if v := tan[in.Args[k]]; v != none {
			return v
		}
		return b.Scalar(0)
	}
	switch in.Op {
	case tape.Select:
		return b.Select(args[0], or0(1), or0(2))
	case tape.Min:
		return b.Select(b.Op2(tape.Less, args[1], args[0]), or0(1), or0(0))
	case tape.Max:
		return b.Select(b.Op2(tape.Less, args[0], args[1]), or0(1), or0(0))
	case tape.ZeroMul:
		return sum(func(k int) tape.Value {
			pair := []tape.Value{args[0], args[1]}
			pair[k] = tan[in.Args[k]]
			return b.Op2(tape.ZeroMul, pair[0], pair[1])
		})
	}
	times := tape.Mul
	if in.Op.Row().Singular {
		times = tape.ZeroMul
	}
	return sum(func(k int) tape.Value { return b.Op2(times, tan[in.Args[k]], d.partial(in, k, y)) })
}

// plus returns x + y, either of which may be none.
func (d *derivation) plus(x, y tape.Value) tape.Value {
	switch none {
	case x:
		return y
	case y:
		return x
	}
	return d.b.Add(x, y)
}
