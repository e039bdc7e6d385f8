package tapec

import (
	"fmt"
	"slices"
	"sync"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/tape"
)

// The table of ops has the derivatives of elementwise ops, as expressions of the
// language. They are parsed once, and compiled wherever one is needed. The derivatives
// of structure and contraction ops are in transpose.go and jvp.go.

// rule is the derivative of an op by one operand.
type rule struct {
	expr ast.Expr // nil for zero

	// A mask is "if cond then yes else no", where yes and no are numbers. A transpose
	// chooses between multiples of the cotangent then, since multiplying it by a
	// derivative of 0 would make NaN of infinity.
	mask    bool
	cond    ast.Expr
	yes, no float64
}

func (r *rule) zero() bool { return r.expr == nil }

// rules returns the derivatives of every elementwise op by each operand.
var rules = sync.OnceValue(func() map[tape.Op][]rule {
	out := map[tape.Op][]rule{}
	for _, op := range tape.Ops() {
		row := op.Row()
		if !row.Elementwise() {
			continue
		}
		list := make([]rule, row.Arity)
		for k := range list {
			if row.Deriv[k] != "" {
				list[k] = parseRule(op, row.Deriv[k])
			}
		}
		out[op] = list
	}
	return out
})

func parseRule(op tape.Op, text string) rule {
	var list diag.List
	e := parser.ParseExpr(source.NewFile("derivative of "+op.String(), text), &list)
	if err := list.Err(); err != nil {
		panic("tapec: " + err.Error())
	}
	r := rule{expr: e}
	if x, ok := e.(*ast.If); ok && len(x.Conds) == 1 {
		yes, ok1 := x.Thens[0].(*ast.Number)
		no, ok2 := x.Else.(*ast.Number)
		if ok1 && ok2 {
			r.mask, r.cond, r.yes, r.no = true, x.Conds[0], yes.Value, no.Value
		}
	}
	return r
}

// derivation is the state that JVP and VJP share: the tape t, and the Builder of the
// result, which begins with a copy of t.
type derivation struct {
	t      *tape.Tape
	b      *tape.Builder
	prim   []tape.Value          // the copy, in b, of each value of t
	inputs map[string]tape.Value // of t, by name
}

// newDerivation copies t without its outputs into a new Builder.
func newDerivation(t *tape.Tape, name string) *derivation {
	d := &derivation{t: t, b: tape.NewBuilder(name), inputs: make(map[string]tape.Value, len(t.Inputs))}
	for i := range t.Inputs {
		d.inputs[t.Inputs[i].Name] = tape.Value(i)
	}
	d.prim = copyInto(d.b, t)
	return d
}

// mapped returns in with other operands.
func mapped(in tape.Instr, to []tape.Value) tape.Instr {
	args := make([]tape.Value, len(in.Args))
	for k, a := range in.Args {
		args[k] = to[a]
	}
	in.Args = args
	return in
}

// args returns the copies of the operands of in.
func (d *derivation) args(in *tape.Instr) []tape.Value {
	args := make([]tape.Value, len(in.Args))
	for k, a := range in.Args {
		args[k] = d.prim[a]
	}
	return args
}

// active tells for each value whether its derivative by one of the inputs wrt may
// differ from zero somewhere.
func (d *derivation) active(wrt []string) ([]bool, error) {
	t := d.t
	out := make([]bool, t.Values())
	for _, name := range wrt {
		v, ok := d.inputs[name]
		if !ok {
			return nil, fmt.Errorf("tape %s has no input %s", t.Name, name)
		}
		if out[v] {
			return nil, fmt.Errorf("input %s is named twice", name)
		}
		out[v] = true
	}
	for i := range t.Instrs {
		in := &t.Instrs[i]
		for k, a := range in.Args {
			if !out[a] {
				continue
			}
			if in.Op.Row().NoDeriv {
				return nil, fmt.Errorf("the derivative of %v is not available", in.Op)
			}
			if !zeroDerivative(in, k) {
				out[len(t.Inputs)+i] = true
			}
		}
	}
	return out, nil
}

// zeroDerivative reports whether the derivative of the result of in by operand k is zero
// almost everywhere.
func zeroDerivative(in *tape.Instr, k int) bool {
	switch {
	case in.Op.Row().Class == tape.Lookup:
		return in.Op == tape.Find || k == 1
	case in.Op.Row().Elementwise():
		return rules()[in.Op][k].zero()
	}
	return false
}

// outputs returns the values of the named outputs.
func (d *derivation) outputs(of []string) ([]tape.Value, error) {
	values := make(map[string]tape.Value, len(d.t.Outputs))
	for _, o := range d.t.Outputs {
		values[o.Name] = o.Value
	}
	out := make([]tape.Value, len(of))
	named := make(map[string]bool, len(of))
	for i, name := range of {
		v, ok := values[name]
		if !ok {
			return nil, fmt.Errorf("tape %s has no output %s", d.t.Name, name)
		}
		if named[name] {
			return nil, fmt.Errorf("output %s is named twice", name)
		}
		named[name] = true
		out[i] = v
	}
	return out, nil
}

// seed adds a per-lane input for a tangent or cotangent to start from.
func (d *derivation) seed(name string, shape tape.Shape) (tape.Value, error) {
	if _, ok := d.b.HasInput(name); ok {
		return 0, fmt.Errorf("tape %s has an input %s already", d.t.Name, name)
	}
	return d.b.Input(name, shape, true), nil
}

// partial compiles the derivative of in by operand k, where y is the result of in. Its
// shape may be smaller than that of y.
func (d *derivation) partial(in *tape.Instr, k int, y tape.Value) tape.Value {
	s := d.scope(in, y)
	return s.compile(rules()[in.Op][k].expr)
}

// scope binds the names in the expressions of derivatives of in.
func (d *derivation) scope(in *tape.Instr, y tape.Value) bindings {
	s := bindings{b: d.b, y: y, operands: in.Args, prim: d.prim, n: none}
	if in.Op == tape.Powi {
		s.n = d.b.Scalar(float64(in.Attr.Power))
	}
	return s
}

// bindings holds the values of names in an expression of the table of ops: a, b and c are the operands, y is the result
// and n the power.
type bindings struct {
	b        *tape.Builder
	operands []tape.Value // of the tape that is differentiated
	prim     []tape.Value // their copies
	y, n     tape.Value
}

// value returns what a name stands for, or none.
func (s *bindings) value(name string) tape.Value {
	switch name {
	case "y":
		return s.y
	case "n":
		return s.n
	}
	if k := int(name[0] - 'a'); len(name) == 1 && k < len(s.operands) {
		return s.prim[s.operands[k]]
	}
	return none
}

var binaryOps = map[ast.Op]tape.Op{
	ast.Add: tape.Add, ast.Sub_: tape.Sub, ast.Mul: tape.Mul, ast.Div: tape.Div,
	ast.Less: tape.Less, ast.LessEq: tape.LessEq, ast.Equal: tape.Equal, ast.NotEqual: tape.NotEqual,
	ast.And: tape.And, ast.Or: tape.Or,
}

func (s *bindings) compile(e ast.Expr) tape.Value {
	b := s.b
	switch e := e.(type) {
	case *ast.Number:
		return b.Scalar(e.Value)
	case *ast.Name:
		if v := s.value(e.Name); v != none {
			return v
		}
	case *ast.Paren:
		return s.compile(e.X)
	case *ast.Unary:
		switch e.Op {
		case ast.Neg:
			return b.Neg(s.compile(e.X))
		case ast.Not:
			return b.Op1(tape.Not, s.compile(e.X))
		}
	case *ast.Binary:
		x, y := s.compile(e.X), s.compile(e.Y)
		switch e.Op {
		case ast.Pow:
			return b.Pow(x, y)
		case ast.Greater:
			return b.Op2(tape.Less, y, x)
		case ast.GreaterEq:
			return b.Op2(tape.LessEq, y, x)
		}
		if op, ok := binaryOps[e.Op]; ok {
			return b.Op2(op, x, y)
		}
	case *ast.If:
		v := s.compile(e.Else)
		for i := len(e.Conds) - 1; i >= 0; i-- {
			v = b.Select(s.compile(e.Conds[i]), s.compile(e.Thens[i]), v)
		}
		return v
	case *ast.Call:
		if f, ok := e.Fun.(*ast.Name); ok {
			if op, ok := tape.OpByName(f.Name); ok && op.Row().Elementwise() && op.Row().Arity == len(e.Args) {
				args := make([]tape.Value, len(e.Args))
				for i := range e.Args {
					args[i] = s.compile(e.Args[i].Value)
				}
				return b.Emit(tape.Instr{Op: op, Args: args})
			}
		}
	}
	panic(fmt.Sprintf("tapec: the op table holds an expression %q that does not compile", e.Pos().Text()))
}

// A tangent or cotangent may be smaller than the value that it belongs to. It is the
// same along the axes that it lacks then, and elementwise ops stretch it.

// full returns x stretched to shape.
func (d *derivation) full(x tape.Value, shape tape.Shape) tape.Value {
	return d.b.Broadcast(x, shape)
}

// fits reports whether a value of shape s stretches to shape.
func fits(s, shape tape.Shape) bool {
	out, err := tape.Stretch(s, shape)
	return err == nil && out.Equal(shape)
}

// ones returns shape with the given axes of length 1.
func ones(shape tape.Shape, axes []int) tape.Shape {
	out := slices.Clone(shape)
	for _, k := range axes {
		out[k] = 1
	}
	return out
}

// exclusive returns, for each element of x, the product of all others over the axes of
// a ProdAxes. It does not divide: the products of the elements before and of those
// behind are multiplied. Both come from doubling the number of factors step by step.
func (d *derivation) exclusive(x tape.Value, axes []int) tape.Value {
	b := d.b
	shape := b.Shape(x)
	var perm []int
	rows := 1
	for k := range shape {
		if !slices.Contains(axes, k) {
			perm = append(perm, k)
			rows *= shape[k]
		}
	}
	perm = append(perm, axes...)
	moved := b.Transpose(x, perm...)
	n := shape.Size() / rows
	m := b.Reshape(moved, tape.Shape{rows, n})
	one := func(width int) tape.Value { return b.Const(tape.Shape{rows, width}, 1) }
	// shift moves the columns by k to the right or to the left and fills up with ones.
	shift := func(v tape.Value, k int, right bool) tape.Value {
		if k >= n {
			return one(n)
		}
		part := tape.Shape{rows, n - k}
		if right {
			return b.Concat(1, one(k), b.Slice(v, []int{0, 0}, part, nil))
		}
		return b.Concat(1, b.Slice(v, []int{0, k}, part, nil), one(k))
	}
	before, after := shift(m, 1, true), shift(m, 1, false)
	for k := 1; k < n; k *= 2 {
		before = b.Mul(before, shift(before, k, true))
		after = b.Mul(after, shift(after, k, false))
	}
	back := make([]int, len(perm))
	for i, p := range perm {
		back[p] = i
	}
	return b.Transpose(b.Reshape(b.Mul(before, after), b.Shape(moved)), back...)
}

// chosen returns, for a MaxAxes or MinAxes of x with result y, which elements are equal
// to the extremum, and their weights in the derivative. Elements that tie share a
// weight of one.
func (d *derivation) chosen(x, y tape.Value, axes []int) (is, weight tape.Value) {
	b := d.b
	shape := ones(b.Shape(x), axes)
	is = b.Op2(tape.Equal, x, b.Reshape(y, shape))
	return is, b.Op1(tape.Recip, b.Reshape(b.SumAxes(is, axes...), shape))
}
