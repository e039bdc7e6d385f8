package tapec

import (
	"math"
	"slices"

	"odes.dev/odes/tape"
)

// VJP returns the tape of the transpose of t's derivative: that of the outputs of by the
// inputs wrt. It reads inputs of t and, in lanes, the cotangents "bar.<out>" of the
// outputs of. It makes the cotangents "bar.<in>" of the inputs wrt, in lanes and of
// their shapes. Lanes share the values of t. Cotangents that are zero whatever the
// inputs are do not come out, and inputs that nothing needs are left out.
//
// Suppose a value is used below one branch of a Select only, or as an operand of Min or
// Max only. Its cotangent is 0 where that branch or operand is not taken, and it
// contributes 0 to others there, even if a derivative is infinite or NaN. In products of
// matrices, the inputs of t count as finite.
//
// Errors are those of JVP.
func VJP(t *tape.Tape, of, wrt []string) (*tape.Tape, error) { return transpose(t, of, wrt, true, 0) }

// GuardedVJP is VJP, but every cotangent counts as below a Select: where it is 0, it
// contributes 0, even if a derivative is infinite or NaN. It is for tapes with several
// outputs, of which each is differentiated by itself. An output without a derivative
// must not spoil the gradients of the others.
func GuardedVJP(t *tape.Tape, of, wrt []string) (*tape.Tape, error) {
	return transpose(t, of, wrt, false, 0)
}

// BoundedVJP is VJP, or GuardedVJP if guarded is set, but bound, if it is not 0, stands for derivatives of Singular ops
// where they are not finite.
func BoundedVJP(t *tape.Tape, of, wrt []string, guarded bool, bound float64) (*tape.Tape, error) {
	return transpose(t, of, wrt, !guarded, bound)
}

// transpose is BoundedVJP, guarded unless open is set.
func transpose(t *tape.Tape, of, wrt []string, open bool, bound float64) (*tape.Tape, error) {
	d := newDerivation(t, t.Name+".vjp")
	active, err := d.active(wrt)
	if err != nil {
		return nil, err
	}
	values, err := d.outputs(of)
	if err != nil {
		return nil, err
	}
	r := &reverse{
		derivation: d, active: active,
		bars: make([]bars, t.Values()), open: make([]bool, t.Values()), finite: finite(t),
		bound: bound,
	}
	for i, name := range of {
		v := values[i]
		seed, err := d.seed(Cotangent.Of(name), t.Shape(v))
		if err != nil {
			return nil, err
		}
		if active[v] {
			r.bars[v].whole = append(r.bars[v].whole, seed)
			r.open[v] = open
		}
	}
	for i := len(t.Instrs) - 1; i >= 0; i-- {
		v := tape.Value(len(t.Inputs) + i)
		if !active[v] {
			continue
		}
		d.b.SetSpan(t.Instrs[i].Span)
		if bar := r.collect(v); bar != none {
			r.pull(&t.Instrs[i], v, bar)
		}
	}
	for _, name := range wrt {
		v := d.inputs[name]
		if bar := r.collect(v); bar != none {
			d.b.Output(Cotangent.Of(name), d.full(bar, t.Shape(v)))
		}
	}
	return d.b.Needed(), nil
}

// reverse is the state of a VJP. Its slices are indexed by the values of t.
type reverse struct {
	*derivation
	active []bool
	bars   []bars // the contributions to the cotangent so far
	open   []bool // whether some use is not below a branch of a Select
	finite []bool // whether the value counts as finite
	bound  float64
}

// finite tells which values count as finite: inputs, finite constants, and results of
// ops that only move elements of these.
func finite(t *tape.Tape) []bool {
	out := make([]bool, t.Values())
	for v := range out {
		in := t.Instr(tape.Value(v))
		switch {
		case in == nil:
			out[v] = true
		case in.Op == tape.Const:
			out[v] = !slices.ContainsFunc(in.Attr.Data, nonFinite)
		case in.Op.Row().Class == tape.Structure:
			out[v] = !slices.ContainsFunc(in.Args, func(a tape.Value) bool { return !out[a] })
		}
	}
	return out
}

func nonFinite(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

// add adds bar to the cotangent of operand k of in.
func (r *reverse) add(in *tape.Instr, k int, bar tape.Value) {
	a := in.Args[k]
	r.bars[a].whole = append(r.bars[a].whole, bar)
}

// pull adds the contributions of bar, the cotangent of in's result v, to the cotangents
// of in's operands.
func (r *reverse) pull(in *tape.Instr, v, bar tape.Value) {
	open := r.open[v]
	guard := !open || in.Op.Row().Singular
	branch := false // whether in chooses among its operands or their elements
	switch in.Op {
	case tape.Select, tape.Min, tape.Max, tape.MaxAxes, tape.MinAxes:
		branch = true
	}
	for k, a := range in.Args {
		if !r.active[a] || zeroDerivative(in, k) {
			continue
		}
		if open && !branch {
			r.open[a] = true
		}
		if in.Op.Row().Elementwise() {
			r.add(in, k, r.pullElementwise(in, k, v, bar, guard))
		} else {
			r.transpose(in, k, v, bar, guard)
		}
	}
}

// pullElementwise returns the contribution of bar, the cotangent of v, to that of
// operand k of in, an elementwise op.
func (r *reverse) pullElementwise(in *tape.Instr, k int, v, bar tape.Value, guard bool) tape.Value {
	b := r.b
	y := r.prim[v]
	arg := r.t.Shape(in.Args[k])
	rule := &rules()[in.Op][k]
	if rule.mask {
		s := r.scope(in, y)
		c := s.compile(rule.cond)
		return r.unstretch(b.Select(c, r.scaled(bar, rule.yes), r.scaled(bar, rule.no)), in.Shape, arg)
	}
	if in.Op == tape.ZeroMul {
		args := r.args(in)
		args[k] = bar
		return r.unstretch(b.Op2(tape.ZeroMul, args[0], args[1]), in.Shape, arg)
	}
	partial := r.partial(in, k, y)
	if in.Op.Row().Singular && r.bound != 0 {
		within := b.Op2(tape.Less, b.Op1(tape.Abs, partial), b.Scalar(math.Inf(1)))
		partial = b.Select(within, partial, b.Scalar(r.bound))
	}
	barShape, partialShape := b.Shape(bar), b.Shape(partial)
	switch {
	case fits(partialShape, arg): // it is the same along stretched axes, so bar is summed first
		return r.times(r.unstretch(bar, in.Shape, arg), partial, guard)
	case len(arg) == 0 && len(barShape) == 0: // one cotangent for all elements
		return r.times(bar, r.unstretch(partial, in.Shape, arg), guard)
	case len(arg) == 0 && !guard && barShape.Equal(in.Shape) && partialShape.Equal(in.Shape):
		flat := tape.Shape{in.Shape.Size()}
		return b.Dot(b.Reshape(bar, flat), b.Reshape(partial, flat))
	}
	return r.unstretch(r.times(bar, partial, guard), in.Shape, arg)
}

// scaled returns x·c.
func (r *reverse) scaled(x tape.Value, c float64) tape.Value {
	if c == 0 {
		return r.b.Scalar(0)
	}
	return r.b.Mul(x, r.b.Scalar(c))
}

// times returns bar·partial. If guard is set, it is 0 where bar is 0.
func (r *reverse) times(bar, partial tape.Value, guard bool) tape.Value {
	if data, ok := r.b.Constant(partial); guard && !(ok && !slices.ContainsFunc(data, nonFinite)) {
		return r.b.Op2(tape.ZeroMul, bar, partial)
	}
	return r.b.Mul(bar, partial)
}

// unstretch sums x over the axes along which an operand of shape arg was stretched to
// the shape from. The shape of x is from, or smaller.
func (r *reverse) unstretch(x tape.Value, from, arg tape.Shape) tape.Value {
	if from.Equal(arg) {
		return x
	}
	b := r.b
	shape := b.Shape(x)
	var axes []int
	count := 1 // how many equal elements of the sum one of x stands for
	for k, n := range from {
		if n == 1 || len(arg) > 0 && arg[k] == n {
			continue
		}
		if len(shape) == 0 || shape[k] == 1 {
			count *= n
		} else {
			axes = append(axes, k)
		}
	}
	if len(axes) > 0 {
		after := ones(shape, axes)
		x = b.SumAxes(x, axes...)
		if len(arg) > 0 {
			x = b.Reshape(x, after)
		}
	}
	if len(arg) == 0 {
		x = b.Reshape(x, nil)
	}
	if count > 1 {
		x = b.Mul(x, b.Scalar(float64(count)))
	}
	return x
}
