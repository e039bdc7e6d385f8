package tape

import "odes.dev/odes/lang/source"

// Values returns the number of values: inputs and instructions.
func (t *Tape) Values() int { return len(t.Inputs) + len(t.Instrs) }

// Shape returns the shape of v; it must not be changed.
func (t *Tape) Shape(v Value) Shape {
	if int(v) < len(t.Inputs) {
		return t.Inputs[v].Shape
	}
	return t.Instrs[int(v)-len(t.Inputs)].Shape
}

// Instr returns the instruction that makes v, nil for an input.
func (t *Tape) Instr(v Value) *Instr {
	if int(v) < len(t.Inputs) {
		return nil
	}
	return &t.Instrs[int(v)-len(t.Inputs)]
}

// Span returns the source place of v, zero for an input.
func (t *Tape) Span(v Value) source.Span {
	if in := t.Instr(v); in != nil {
		return in.Span
	}
	return source.Span{}
}

// Input returns the input of that name.
func (t *Tape) Input(name string) (Value, bool) {
	for i := range t.Inputs {
		if t.Inputs[i].Name == name {
			return Value(i), true
		}
	}
	return 0, false
}

// Output returns the value of the output of that name.
func (t *Tape) Output(name string) (Value, bool) {
	for i := range t.Outputs {
		if t.Outputs[i].Name == name {
			return t.Outputs[i].Value, true
		}
	}
	return 0, false
}

// PerLane tells for each value whether it is per lane: a per-lane input, or
// anything that depends on one.
func PerLane(t *Tape) []bool {
	return t.spread(func(in *Input) bool { return in.PerLane })
}

// DependsOn tells for each value whether it depends on one of the named
// inputs, in any way: through a condition, or with a zero derivative, too.
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

// spread carries a property of inputs on to everything computed from them.
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

// Needed tells for each value whether an output needs it. Without names all
// outputs count.
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
