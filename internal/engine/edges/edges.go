// Package edges extends right-hand sides to a little outside of the domains of their roots and powers.
//
// A stage of a step may leave the domain of x^1.5 by less than what its state may be off, where x rests at 0: there is
// no value then, however short the step. What the function is at the edge of its domain continues it. A solution that
// stays in the domain is one of the extended equations, and those have values on both sides of it.
package edges

import (
	"math"
	"slices"

	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// edge says up to where an op is defined.
type edge struct{ low, high float64 }

// edges are those of functions that are finite there.
var edges = map[tape.Op]edge{
	tape.Sqrt:  {0, math.Inf(1)},
	tape.Pow:   {0, math.Inf(1)}, // to a power that is not whole
	tape.Asin:  {-1, 1},
	tape.Acos:  {-1, 1},
	tape.Acosh: {1, math.Inf(1)},
}

// depth is the output of the tape of depths.
const depth = "depth"

// Extended is a tape whose functions go on as they are at the edges of their domains.
type Extended struct {
	Tape *tape.Tape
	// Depths makes one vector of how far inside of their domains the arguments are: negative is outside. Its inputs
	// are some of those of the tape.
	Depths *tape.Tape
}

// Extend extends what depends on time and states; nil where there is nothing to extend.
func Extend(t *tape.Tape) *Extended {
	if t == nil || !slices.ContainsFunc(t.Instrs, func(in tape.Instr) bool { _, has := edges[in.Op]; return has }) {
		return nil
	}
	moves := tape.DependsOnFunc(t, func(input string) bool {
		role := tapec.MustName(input).Role
		return role == tapec.Time || role == tapec.State
	})
	b, d := tape.NewBuilder(t.Name), tape.NewBuilder(t.Name+".depths")
	x := extender{from: t, moves: moves}
	to := x.copy(b, nil)
	for _, o := range t.Outputs {
		b.Output(o.Name, to[o.Value])
	}
	var parts []tape.Value
	x.copy(d, func(v tape.Value) { parts = append(parts, d.Reshape(v, tape.Shape{d.Shape(v).Size()})) })
	if len(parts) == 0 {
		return nil
	}
	d.Output(depth, d.Concat(0, parts...))
	extended := b.Tape()
	extended.Plain = t.Plain
	return &Extended{Tape: extended, Depths: d.Needed()}
}

type extender struct {
	from  *tape.Tape
	moves []bool
}

// copy writes the extended tape. If told, it hands over the depths.
func (x *extender) copy(b *tape.Builder, told func(depth tape.Value)) []tape.Value {
	t := x.from
	to := make([]tape.Value, t.Values())
	copy(to, b.Inputs(t.Inputs))
	for i := range t.Instrs {
		in := t.Instrs[i]
		args := make([]tape.Value, len(in.Args))
		for k, a := range in.Args {
			args[k] = to[a]
		}
		b.SetSpan(t.Span(tape.Value(len(t.Inputs) + i)))
		if e, has := edges[in.Op]; has && x.moves[in.Args[0]] {
			args[0] = within(b, e, in.Op, args, told)
		}
		in.Args = args
		to[len(t.Inputs)+i] = b.Emit(in)
	}
	return to
}

// within returns the first operand, moved to the edge where it is outside.
func within(b *tape.Builder, e edge, op tape.Op, args []tape.Value, told func(tape.Value)) tape.Value {
	x, inside := args[0], args[0]
	var free tape.Value // where there is no edge
	some := false
	if op == tape.Pow {
		n := args[1]
		if c, known := b.Uniform(n); !known {
			free, some = b.Op2(tape.Equal, b.Op1(tape.Floor, n), n), true
		} else if c == math.Trunc(c) {
			return x
		}
	}
	if e.low != 0 {
		inside = b.Sub(x, b.Scalar(e.low))
	}
	moved := b.Op2(tape.Max, x, b.Scalar(e.low))
	if !math.IsInf(e.high, 1) {
		moved = b.Op2(tape.Min, moved, b.Scalar(e.high))
		inside = b.Op2(tape.Min, inside, b.Sub(b.Scalar(e.high), x))
	}
	if some {
		moved, inside = b.Select(free, x, moved), b.Select(free, b.Scalar(1), inside)
	}
	if told != nil {
		told(inside)
	}
	return moved
}

// Watch tells where arguments are outside of their domains by more than states may be off. It belongs to one goroutine.
type Watch struct {
	point  *tape.Evaluator[float64]
	box    *tape.Evaluator[tape.Interval]
	inputs []input
	depths []float64
	bounds []tape.Interval
	at     int
}

type input struct {
	name  tapec.Name
	point []float64
	box   []tape.Interval
}

// NewWatch returns what watches an extended tape.
func NewWatch(x *Extended) *Watch {
	w := &Watch{point: tape.NewEvaluator[float64](x.Depths), box: tape.NewEvaluator[tape.Interval](x.Depths)}
	for _, in := range x.Depths.Inputs {
		w.inputs = append(w.inputs, input{tapec.MustName(in.Name), w.point.Input(in.Name), w.box.Input(in.Name)})
	}
	w.depths, w.bounds = w.point.Output(depth), w.box.Output(depth)
	return w
}

// Point returns what evaluates depths. Its inputs are to be filled in before Beyond.
func (w *Watch) Point() *tape.Evaluator[float64] { return w.point }

// Beyond reports whether some argument is outside of its domain although states may be off by what off gives for the
// elements of each.
func (w *Watch) Beyond(off func(state string, element int, value float64) float64) bool {
	w.point.Run()
	if !slices.ContainsFunc(w.depths, func(x float64) bool { return x < 0 }) {
		return false
	}
	w.at++
	for i := range w.inputs {
		in := &w.inputs[i]
		for k, v := range in.point {
			in.box[k] = tape.Point(v)
			if in.name.Role == tapec.State {
				e := off(in.name.Of, k, v)
				in.box[k] = tape.Interval{Lo: v - e, Hi: v + e}
			}
		}
	}
	w.box.Run()
	return slices.ContainsFunc(w.bounds, func(x tape.Interval) bool { return x.Hi < 0 })
}

// Count returns how often arguments were outside of their domains since the last call.
func (w *Watch) Count() int {
	n := w.at
	w.at = 0
	return n
}
