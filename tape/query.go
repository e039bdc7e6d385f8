package tape

import (
	"slices"

	"odes.dev/odes/lang/source"
)

// Values returns the number of values: inputs and instructions.
func (t *Tape) Values() int { return len(t.Inputs) + len(t.Instrs) }

// Shape returns the shape of v. It must not be changed.
func (t *Tape) Shape(v Value) Shape {
	if int(v) < len(t.Inputs) {
		return t.Inputs[v].Shape
	}
	return t.Instrs[int(v)-len(t.Inputs)].Shape
}

// Instr returns the instruction that makes v, or nil for an input.
func (t *Tape) Instr(v Value) *Instr {
	if int(v) < len(t.Inputs) {
		return nil
	}
	return &t.Instrs[int(v)-len(t.Inputs)]
}

// Span returns the place in the source that v came from; it is zero for an input.
func (t *Tape) Span(v Value) source.Span {
	if in := t.Instr(v); in != nil {
		return in.Span
	}
	return source.Span{}
}

// Input returns the value of the input of that name. It reports false if there is none.
func (t *Tape) Input(name string) (Value, bool) {
	for i := range t.Inputs {
		if t.Inputs[i].Name == name {
			return Value(i), true
		}
	}
	return 0, false
}

// Output returns the value of the output of that name. It reports false if there is none.
func (t *Tape) Output(name string) (Value, bool) {
	for i := range t.Outputs {
		if t.Outputs[i].Name == name {
			return t.Outputs[i].Value, true
		}
	}
	return 0, false
}

// PerLane tells for each value whether every lane has its own: a per-lane input,
// or a result that depends on one.
func PerLane(t *Tape) []bool {
	return t.spread(func(in *Input) bool { return in.PerLane })
}

// DependsOn tells for each value whether it depends on one of the named inputs.
// Any dependence counts, also one through a condition or with a zero derivative.
func DependsOn(t *Tape, inputs ...string) []bool {
	names := map[string]bool{}
	for _, n := range inputs {
		names[n] = true
	}
	return t.spread(func(in *Input) bool { return names[in.Name] })
}

// DependsOnFunc is DependsOn for the inputs that the function picks.
func DependsOnFunc(t *Tape, pick func(name string) bool) []bool {
	return t.spread(func(in *Input) bool { return pick(in.Name) })
}

// spread tells for each value whether it is, or depends on, an input with a property.
func (t *Tape) spread(has func(*Input) bool) []bool {
	out := make([]bool, t.Values())
	for i := range t.Inputs {
		out[i] = has(&t.Inputs[i])
	}
	for i := range t.Instrs {
		for _, a := range t.Instrs[i].Args {
			if out[a] {
				out[len(t.Inputs)+i] = true
				break
			}
		}
	}
	return out
}

// Needed tells for each value whether one of the named outputs needs it. Without
// names all outputs count.
func Needed(t *Tape, outputs ...string) []bool {
	need := make([]bool, t.Values())
	for _, o := range t.Outputs {
		wanted := len(outputs) == 0
		for _, name := range outputs {
			wanted = wanted || name == o.Name
		}
		if wanted {
			need[o.Value] = true
		}
	}
	for i := len(t.Instrs) - 1; i >= 0; i-- {
		if need[len(t.Inputs)+i] {
			for _, a := range t.Instrs[i].Args {
				need[a] = true
			}
		}
	}
	return need
}

// EveryLane reports whether each output of t has a copy for each lane.
func EveryLane(t *Tape) bool {
	each := PerLane(t)
	return !slices.ContainsFunc(t.Outputs, func(o Output) bool { return !each[o.Value] })
}

// Reached visits the elements of the outputs that depend on v; those of an output that is put together of several are
// told apart.
func (t *Tape) Reached(v Value, visit func(out Output, i int)) {
	on := make([]bool, t.Values())
	on[v] = true
	for i, in := range t.Instrs {
		v := len(t.Inputs) + i
		on[v] = on[v] || slices.ContainsFunc(in.Args, func(a Value) bool { return on[a] })
	}
	for _, out := range t.Outputs {
		parts := []Value{out.Value}
		if in := t.Instr(out.Value); in != nil && in.Op == Concat && in.Attr.Axis == 0 {
			parts = in.Args
		}
		i := 0
		for _, p := range parts {
			for range t.Shape(p).Size() {
				if on[p] {
					visit(out, i)
				}
				i++
			}
		}
	}
}
