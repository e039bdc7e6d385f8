package tapec

import (
	"math"
	"slices"

	"odes.dev/odes/tape"
)

// VJP returns the tape of the transposed derivative of the outputs of with
// respect to the inputs wrt: its inputs are those of t that are needed, and
// "bar.<out>", per lane, for each of of; its outputs are "bar.<in>", of in's
// shape. Values of t stay shared, cotangents are per lane. Inputs on which no
// output of of depends with a derivative have no "bar.<in>", and cotangents
// that nothing needs are no inputs.
//
// A value that is used only below a branch of a Select (or an operand of Min
// or Max) has a cotangent of 0 where that branch is not taken. Whatever its
// derivative is there, infinite or NaN, it contributes 0. In products of
// matrices the inputs of t count as finite.
//
// An error tells of a name that t does not have, or of an op whose derivative
// does not exist.
func VJP(t *tape.Tape, of, wrt []string) (*tape.Tape, error) { return transpose(t, of, wrt, true) }

// GuardedVJP is VJP with every cotangent treated like one below a Select: where
// it is 0 it contributes 0, be the derivative infinite or NaN. It is for tapes
// whose outputs are pulled one at a time and must not spoil each other.
func GuardedVJP(t *tape.Tape, of, wrt []string) (*tape.Tape, error) {
	return transpose(t, of, wrt, false)
}

func transpose(t *tape.Tape, of, wrt []string, open bool) (*tape.Tape, error) {
	d := newDerivation(t, t.Name+".vjp")
	active, err := d.active(wrt)
	if err != nil {
		return nil, err
	}
	values, err := d.outputs(of)
	if err != nil {
		return nil, err
	}
	r := &reverse{derivation: d, active: active, bars: make([]bars, t.Values()), open: make([]bool, t.Values()), plain: plain(t)}
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
		v, _ := t.Input(name)
		if bar := r.collect(v); bar != none {
			d.b.Output(Cotangent.Of(name), d.full(bar, t.Shape(v)))
		}
	}
	return DropInputs(d.b.Tape()), nil
}

// reverse is the state of a VJP.
type reverse struct {
	*derivation
	active []bool
	bars   []bars // what flowed into the cotangent of each value so far
	open   []bool // values with a use that is not below a branch of a Select
	plain  []bool // values that count as finite
}

// plain tells which values count as finite: inputs, finite constants, and what
// only moves such elements.
func plain(t *tape.Tape) []bool {
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

// add lets bar flow into the cotangent of operand k of in.
func (r *reverse) add(in *tape.Instr, k int, bar tape.Value) {
	a := in.Args[k]
	r.bars[a].whole = append(r.bars[a].whole, bar)
}

// pull lets bar, the cotangent of in's result v, flow to in's operands.
func (r *reverse) pull(in *tape.Instr, v, bar tape.Value) {
	open := r.open[v]
	guard := !open || singular(in.Op)
	branch := in.Op == tape.Select || in.Op == tape.Min || in.Op == tape.Max || in.Op == tape.MaxAxes || in.Op == tape.MinAxes
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

// singular reports whether op has points where its value is finite and its
// derivative is not: sqrt at 0, asin at 1. There a derivative of 0 stays 0, so
// that sqrt(max(h, 0)) has the derivative 0 below 0.
func singular(op tape.Op) bool {
	switch op {
	case tape.Sqrt, tape.Cbrt, tape.Pow, tape.Asin, tape.Acos, tape.Acosh, tape.Hypot, tape.Atan2:
		return true
	}
	return false
}

// pullElementwise returns what bar contributes to the cotangent of operand k.
func (r *reverse) pullElementwise(in *tape.Instr, k int, v, bar tape.Value, guard bool) tape.Value {
	b := r.b
	y := r.prim[v]
	arg := r.t.Shape(in.Args[k])
	rule := &rules()[in.Op][k]
	if rule.mask {
		c := r.scope(in, y).compile(rule.cond)
		return r.unstretch(b.Select(c, r.scaled(bar, rule.yes), r.scaled(bar, rule.no)), in.Shape, arg)
	}
	if in.Op == tape.ZeroMul {
		args := r.args(in)
		args[k] = bar
		return r.unstretch(b.Op2(tape.ZeroMul, args[0], args[1]), in.Shape, arg)
	}
	partial := r.partial(in, k, y)
	barShape, partialShape := b.Shape(bar), b.Shape(partial)
	switch {
	case fits(partialShape, arg): // the same along the stretched axes: sum first
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

// times returns bar·partial; where guard is set, 0 where bar is 0.
func (r *reverse) times(bar, partial tape.Value, guard bool) tape.Value {
	if data, ok := r.b.Constant(partial); guard && !(ok && !slices.ContainsFunc(data, nonFinite)) {
		return r.b.Op2(tape.ZeroMul, bar, partial)
	}
	return r.b.Mul(bar, partial)
}

// unstretch sums x, which belongs to something of shape from and may be
// smaller, over the axes along which arg was stretched to from.
func (r *reverse) unstretch(x tape.Value, from, arg tape.Shape) tape.Value {
	if from.Equal(arg) {
		return x
	}
	b := r.b
	shape := b.Shape(x)
	var axes []int
	count := 1 // of equal elements that x stands for
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
