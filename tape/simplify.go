package tape

import (
	"math"
	"slices"
)

// maxFold bounds the number of elements that folding an instruction may read and
// write. Larger constants are computed when the tape runs.
const maxFold = 4096

// fold turns in into a Const if all its operands are constants.
func (b *Builder) fold(in *Instr) {
	if in.Op == Const {
		return
	}
	size := in.Shape.Size()
	alike := true // the elements of every operand are equal
	for _, a := range in.Args {
		if b.nodes.at(a).instr.Op != Const {
			return
		}
		size += b.Shape(a).Size()
		_, one := b.Uniform(a)
		alike = alike && one
	}
	arith := arithmetic[float64]()
	if alike && in.Op.Row().Elementwise() {
		args := make([][]float64, len(in.Args))
		for k, a := range in.Args {
			args[k] = b.nodes.at(a).instr.Attr.Data
		}
		one := *in
		one.Shape = nil
		out := make([]float64, 1)
		plan(arith, &one, make([]Shape, len(args)))(args, out)
		*in = Instr{Op: Const, Shape: in.Shape, Attr: Attr{Data: out}, Span: in.Span}
		return
	}
	if alike {
		switch in.Op {
		case Slice, Reshape, Transpose, Broadcast, Take:
			data := b.nodes.at(in.Args[0]).instr.Attr.Data
			*in = Instr{Op: Const, Shape: in.Shape, Attr: Attr{Data: data}, Span: in.Span}
			return
		}
	}
	if size > maxFold {
		return
	}
	args := make([][]float64, len(in.Args))
	shapes := make([]Shape, len(in.Args))
	for k, a := range in.Args {
		shapes[k] = b.Shape(a)
		args[k] = make([]float64, shapes[k].Size())
		fill(args[k], b.nodes.at(a).instr.Attr.Data)
	}
	out := make([]float64, in.Shape.Size())
	plan(arith, in, shapes)(args, out)
	*in = Instr{Op: Const, Shape: in.Shape, Attr: Attr{Data: out}, Span: in.Span}
}

// simplify applies identities that hold to the bit, also for signed zeros and NaNs. It
// may change in, or return an earlier value that is the same and report true.
func (b *Builder) simplify(in *Instr) (Value, bool) {
	for range 8 { // what one identity makes another may simplify; such chains are short
		op := in.Op
		var v Value
		var ok bool
		switch {
		case in.Op.Row().Elementwise():
			if v, ok = b.unstretch(in); !ok {
				v, ok = b.simplifyElementwise(in)
			}
		case in.Op.Row().Class == Structure:
			v, ok = b.simplifyStructure(in)
		default:
			v, ok = b.simplifyContraction(in)
		}
		if ok || in.Op == op {
			return v, ok
		}
	}
	return 0, false
}

// unstretch removes the stretching of operands, which elementwise ops do themselves:
// a Broadcast, or a constant array of equal elements in place of a scalar.
func (b *Builder) unstretch(in *Instr) (Value, bool) {
	if len(in.Args) == 1 {
		if x := &b.nodes.at(in.Args[0]).instr; x.Op == Broadcast {
			one := *in
			one.Args, one.Shape = []Value{x.Args[0]}, nil
			return b.Broadcast(b.Emit(one), in.Shape), true
		}
		return 0, false
	}
	for k, a := range in.Args {
		x := &b.nodes.at(a).instr
		var small Value
		switch {
		case x.Op == Broadcast:
			small = x.Args[0]
		case x.Op == Const && len(x.Attr.Data) == 1 && len(x.Shape) > 0:
			small = -1 // a scalar, made only if it fits
		default:
			continue
		}
		shapes := make([]Shape, len(in.Args))
		for i, o := range in.Args {
			shapes[i] = b.Shape(o)
		}
		shapes[k] = nil
		if small >= 0 {
			shapes[k] = b.Shape(small)
		}
		if s, err := Stretch(shapes...); err != nil || !s.Equal(in.Shape) {
			continue
		}
		if small < 0 {
			small = b.add(Instr{Op: Const, Attr: Attr{Data: x.Attr.Data}, Span: x.Span})
		}
		in.Args = slices.Clone(in.Args)
		in.Args[k] = small
	}
	return 0, false
}

// same returns x, and reports whether it has the shape of the result of in.
func (b *Builder) same(in *Instr, x Value) (Value, bool) {
	return x, b.Shape(x).Equal(in.Shape)
}

// of returns the first operand of the instruction that makes x, if that is an op.
func (b *Builder) of(op Op, x Value) (Value, bool) {
	if n := &b.nodes.at(x).instr; n.Op == op {
		return n.Args[0], true
	}
	return 0, false
}

// become makes in an instruction of another op, without attributes.
func become(in *Instr, op Op, args ...Value) (Value, bool) {
	in.Op, in.Args, in.Attr = op, args, Attr{}
	return 0, false
}

func (b *Builder) simplifyElementwise(in *Instr) (Value, bool) {
	x := in.Args[0]
	switch in.Op {
	case Neg:
		if y, ok := b.of(Neg, x); ok {
			return y, true
		}
	case Not:
		if y, ok := b.of(Not, x); ok && b.isCondition(y) {
			return y, true
		}
	case Abs:
		if _, ok := b.of(Abs, x); ok {
			return x, true
		}
		if y, ok := b.of(Neg, x); ok {
			in.Args = []Value{y}
		}
	case Sqr:
		if y, ok := b.of(Neg, x); ok {
			in.Args = []Value{y}
		}
	case Powi:
		switch in.Attr.Power {
		case 0:
			return b.add(Instr{Op: Const, Shape: in.Shape, Attr: Attr{Data: []float64{1}}, Span: in.Span}), true
		case 1:
			return x, true
		case 2:
			return become(in, Sqr, x)
		case -1:
			return become(in, Recip, x)
		}
	case Add, Sub, Mul, Div:
		return b.simplifyArithmetic(in)
	case Min, Max:
		if x == in.Args[1] {
			return x, true
		}
	case Select:
		return b.simplifySelect(in)
	case ZeroMul:
		if c, ok := b.Uniform(x); ok {
			if c == 0 {
				return b.add(Instr{Op: Const, Shape: in.Shape, Attr: Attr{Data: []float64{0}}, Span: in.Span}), true
			}
			return become(in, Mul, in.Args...)
		}
	}
	return 0, false
}

func (b *Builder) simplifyArithmetic(in *Instr) (Value, bool) {
	x, y := operandOf(b, in.Args[0]), operandOf(b, in.Args[1])
	switch in.Op {
	case Add:
		return simplifySum(b, in, x, y)
	case Sub:
		return simplifyDifference(b, in, x, y)
	case Mul:
		return simplifyProduct(b, in, x, y)
	case Div:
		return simplifyQuotient(b, in, x, y)
	}
	return 0, false
}

// operand is what is known of an argument.
type operand struct {
	v        Value
	minus    Value // of which v is the negative, if negative
	negative bool
	c        float64 // that all elements of v are, if constant
	constant bool
}

func operandOf(b *Builder, v Value) (o operand) {
	o.v = v
	o.minus, o.negative = b.of(Neg, v)
	o.c, o.constant = b.Uniform(v)
	return o
}

// is reports whether all elements are c; of zeros either counts.
func (o *operand) is(c float64) bool { return o.constant && o.c == c }

// isZero reports whether all elements are the zero of that sign.
func (o *operand) isZero(negative bool) bool { return o.is(0) && math.Signbit(o.c) == negative }

func simplifySum(b *Builder, in *Instr, x, y operand) (Value, bool) {
	switch {
	case y.isZero(true):
		return b.same(in, x.v)
	case x.isZero(true):
		return b.same(in, y.v)
	case y.negative:
		return become(in, Sub, x.v, y.minus)
	case x.negative:
		return become(in, Sub, y.v, x.minus)
	}
	return 0, false
}

func simplifyDifference(b *Builder, in *Instr, x, y operand) (Value, bool) {
	switch {
	case y.isZero(false):
		return b.same(in, x.v)
	case x.isZero(true) && b.fits(y.v, x.v):
		return become(in, Neg, y.v)
	case y.negative:
		return become(in, Add, x.v, y.minus)
	}
	return 0, false
}

func simplifyProduct(b *Builder, in *Instr, x, y operand) (Value, bool) {
	switch {
	case y.is(1):
		return b.same(in, x.v)
	case x.is(1):
		return b.same(in, y.v)
	case y.is(-1) && b.fits(x.v, y.v):
		return become(in, Neg, x.v)
	case x.is(-1) && b.fits(y.v, x.v):
		return become(in, Neg, y.v)
	case x.v == y.v:
		return become(in, Sqr, x.v)
	case x.negative && y.negative:
		in.Args = []Value{x.minus, y.minus}
	case x.negative && y.constant:
		return become(in, Mul, x.minus, b.negated(y.v))
	case y.negative && x.constant:
		return become(in, Mul, y.minus, b.negated(x.v))
	}
	return 0, false
}

func simplifyQuotient(b *Builder, in *Instr, x, y operand) (Value, bool) {
	switch {
	case y.is(1):
		return b.same(in, x.v)
	case y.is(-1) && b.fits(x.v, y.v):
		return become(in, Neg, x.v)
	case x.is(1) && b.fits(y.v, x.v):
		return become(in, Recip, y.v)
	case y.constant && powerOfTwo(y.c):
		inverse := Instr{Op: Const, Shape: b.Shape(y.v), Attr: Attr{Data: []float64{1 / y.c}}, Span: in.Span}
		return become(in, Mul, x.v, b.add(inverse))
	case x.negative && y.negative:
		in.Args = []Value{x.minus, y.minus}
	}
	return 0, false
}

// negated returns -c of a constant c whose elements are equal.
func (b *Builder) negated(c Value) Value {
	in := b.nodes.at(c).instr
	in.Attr.Data = []float64{-in.Attr.Data[0]}
	return b.add(in)
}

// powerOfTwo reports whether c is a power of two whose inverse is one too, so that
// dividing by c and multiplying by 1/c give the same bits.
func powerOfTwo(c float64) bool {
	const mantissa = 1<<52 - 1
	bits := math.Float64bits(c)
	exp := int(bits >> 52 & 0x7ff)
	return bits&mantissa == 0 && exp > 1 && exp < 0x7fd
}

func (b *Builder) isCondition(x Value) bool {
	n := &b.nodes.at(x).instr
	return n.Op != Invalid && n.Op != Not && n.Op.Row().Class == Condition
}

func (b *Builder) simplifySelect(in *Instr) (Value, bool) {
	c, x, y := in.Args[0], in.Args[1], in.Args[2]
	if k, ok := b.Uniform(c); ok {
		taken := x
		if k == 0 {
			taken = y
		}
		if s, err := Stretch(b.Shape(taken), in.Shape); err == nil && s.Equal(in.Shape) {
			return b.Broadcast(taken, in.Shape), true
		}
	}
	if x == y {
		if v, ok := b.same(in, x); ok {
			return v, true
		}
	}
	if d, ok := b.of(Not, c); ok && b.isCondition(d) {
		in.Args = []Value{d, y, x}
	}
	if n := &b.nodes.at(c).instr; n.Op == NotEqual { // a Select compares its condition with 0 anyway
		if k, ok := b.Uniform(n.Args[1]); ok && k == 0 && b.fits(n.Args[0], n.Args[1]) {
			in.Args = []Value{n.Args[0], in.Args[1], in.Args[2]}
		}
	}
	return 0, false
}

func (b *Builder) simplifyStructure(in *Instr) (Value, bool) {
	x := in.Args[0]
	arg := &b.nodes.at(x).instr
	a := &in.Attr
	switch in.Op {
	case Reshape:
		if arg.Op == Reshape {
			in.Args = []Value{arg.Args[0]}
		}
		return b.same(in, in.Args[0])
	case Broadcast:
		if arg.Op == Broadcast {
			in.Args = []Value{arg.Args[0]}
		}
		if v, ok := b.same(in, in.Args[0]); ok || b.Shape(v).Size() != in.Shape.Size() {
			return v, ok
		}
		in.Op = Reshape
	case Transpose:
		if arg.Op == Transpose {
			perm := make([]int, len(a.Perm))
			for i, p := range a.Perm {
				perm[i] = arg.Attr.Perm[p]
			}
			in.Args, a.Perm = []Value{arg.Args[0]}, perm
		}
		if slices.IsSorted(a.Perm) {
			return in.Args[0], true
		}
	case Slice:
		a.Step = unitStep(a.Step)
		if in.Shape.Equal(b.Shape(x)) {
			return x, true
		}
		return b.simplifySlice(in)
	case Pad:
		a.Step = unitStep(a.Step)
		return b.same(in, x)
	case Concat:
		if len(in.Args) == 1 {
			return x, true
		}
	case Take:
		if start, step, ok := run(a.Index); ok {
			n := len(b.Shape(x))
			attr := Attr{Start: make([]int, n)}
			attr.Start[a.Axis] = start
			if step != 1 {
				attr.Step = slices.Repeat([]int{1}, n)
				attr.Step[a.Axis] = step
			}
			in.Op, in.Attr = Slice, attr
		}
	}
	return 0, false
}

// simplifySlice makes one Slice of two. It takes a Slice of a Concat from the operand
// that holds all of it, if there is one.
func (b *Builder) simplifySlice(in *Instr) (Value, bool) {
	x := &b.nodes.at(in.Args[0]).instr
	a := &in.Attr
	step := func(s []int, k int) int {
		if s == nil {
			return 1
		}
		return s[k]
	}
	switch x.Op {
	case Slice:
		start, by := make([]int, len(a.Start)), make([]int, len(a.Start))
		for k := range start {
			start[k] = x.Attr.Start[k] + a.Start[k]*step(x.Attr.Step, k)
			by[k] = step(a.Step, k) * step(x.Attr.Step, k)
		}
		in.Args = []Value{x.Args[0]}
		in.Attr = Attr{Start: start, Step: unitStep(by)}
		return b.same(in, in.Args[0])
	case Concat:
		axis := x.Attr.Axis
		first := a.Start[axis]
		last := first + (in.Shape[axis]-1)*step(a.Step, axis)
		at := 0
		for _, part := range x.Args {
			n := b.Shape(part)[axis]
			if first >= at && last < at+n {
				start := slices.Clone(a.Start)
				start[axis] -= at
				attr := Attr{Start: start, Step: a.Step}
				return b.Emit(Instr{Op: Slice, Args: []Value{part}, Shape: in.Shape, Attr: attr, Span: in.Span}), true
			}
			at += n
			if at > first {
				break
			}
		}
	}
	return 0, false
}

// unitStep returns step, or nil if all steps are 1.
func unitStep(step []int) []int {
	for _, s := range step {
		if s != 1 {
			return step
		}
	}
	return nil
}

// run reports whether index is start, start+step, … with a positive step.
func run(index []int) (start, step int, ok bool) {
	step = 1
	if len(index) > 1 {
		step = index[1] - index[0]
	}
	for i := 1; i < len(index); i++ {
		if index[i]-index[i-1] != step {
			return 0, 0, false
		}
	}
	return index[0], step, step >= 1
}

func (b *Builder) simplifyContraction(in *Instr) (Value, bool) {
	switch in.Op {
	case ProdAxes, MaxAxes, MinAxes:
		if b.Shape(in.Args[0]).Size() == in.Shape.Size() { // the removed axes have length 1
			return b.Reshape(in.Args[0], in.Shape), true
		}
	case MatMul:
		x, y := in.Args[0], in.Args[1]
		if u, ok := b.of(Transpose, x); ok && len(b.Shape(u)) == 2 {
			x, in.Attr.TA = u, !in.Attr.TA
		}
		if u, ok := b.of(Transpose, y); ok && len(b.Shape(u)) == 2 {
			y, in.Attr.TB = u, !in.Attr.TB
		}
		in.Args = []Value{x, y}
	}
	return 0, false
}
