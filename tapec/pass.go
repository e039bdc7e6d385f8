package tapec

import (
	"slices"

	"odes.dev/odes/tape"
)

// copyInto appends the inputs and instructions of t to b and returns their values in b.
func copyInto(b *tape.Builder, t *tape.Tape) []tape.Value {
	out := make([]tape.Value, t.Values())
	copy(out, b.Inputs(t.Inputs))
	operands := 0
	for i := range t.Instrs {
		operands += len(t.Instrs[i].Args)
	}
	args := make([]tape.Value, 0, operands) // of all
	for i := range t.Instrs {
		in := t.Instrs[i]
		from := len(args)
		for _, a := range in.Args {
			args = append(args, out[a])
		}
		in.Args = args[from:len(args):len(args)]
		out[len(t.Inputs)+i] = b.Emit(in)
	}
	return out
}

// deadCode returns t without the instructions that no output needs.
func deadCode(t *tape.Tape) *tape.Tape { return needed(t, true) }

// dropInputs returns t without the inputs and instructions that no output needs.
func dropInputs(t *tape.Tape) *tape.Tape { return needed(t, false) }

// needed returns t without the instructions that no output needs and, unless inputs is set, without such inputs.
func needed(t *tape.Tape, inputs bool) *tape.Tape {
	need := tape.Needed(t)
	at := make([]tape.Value, t.Values())
	out := &tape.Tape{Name: t.Name, Outputs: slices.Clone(t.Outputs)}
	for i := range t.Inputs {
		if inputs || need[i] {
			at[i] = tape.Value(len(out.Inputs))
			out.Inputs = append(out.Inputs, t.Inputs[i])
		}
	}
	count, operands := 0, 0
	for i := range t.Instrs {
		if need[len(t.Inputs)+i] {
			count++
			operands += len(t.Instrs[i].Args)
		}
	}
	if count == len(t.Instrs) && len(out.Inputs) == len(t.Inputs) {
		return t
	}
	out.Instrs = make([]tape.Instr, 0, count)
	args := make([]tape.Value, 0, operands)
	for i := range t.Instrs {
		v := len(t.Inputs) + i
		if !need[v] {
			continue
		}
		in := t.Instrs[i]
		from := len(args)
		for _, a := range in.Args {
			args = append(args, at[a])
		}
		in.Args = args[from:len(args):len(args)]
		at[v] = tape.Value(len(out.Inputs) + len(out.Instrs))
		out.Instrs = append(out.Instrs, in)
	}
	for k := range out.Outputs {
		out.Outputs[k].Value = at[out.Outputs[k].Value]
	}
	return out
}

// Only returns t with those of its outputs that want picks, and without what these do not need.
func Only(t *tape.Tape, want func(output string) bool) *tape.Tape {
	only := *t
	only.Outputs = nil
	for _, o := range t.Outputs {
		if want(o.Name) {
			only.Outputs = append(only.Outputs, o)
		}
	}
	return dropInputs(&only)
}

// Split takes the work out of t that depends on no late input. Early does that work.
// Its outputs are numbered in the role as: with RunWork they are "c.0", "c.1" and so on.
// It skips names of inputs of t, so that a tape can be split twice in one role. Rest does
// what t does, and reads the outputs of early as inputs. Neither has inputs that it does
// not need. Early has no outputs if there is nothing to take out.
//
// What is cheap stays in rest: constants, slices, reshapes and broadcasts.
func Split(t *tape.Tape, as Role, late func(input string) bool) (early, rest *tape.Tape) {
	hoisted, kept := hoistable(t, late)
	if !slices.Contains(hoisted, true) {
		return &tape.Tape{Name: t.Name + ".early"}, dropInputs(t)
	}
	lane := tape.PerLane(t)
	eb := tape.NewBuilderWith(t.Name+".early", 0)
	ev := copyInto(eb, t)
	rb := tape.NewBuilderWith(t.Name, 0)
	rv := make([]tape.Value, t.Values())
	copy(rv, rb.Inputs(t.Inputs))
	count := 0
	for v := tape.Value(0); int(v) < t.Values(); v++ {
		if hoisted[v] {
			for taken(t, as.Number(count)) {
				count++
			}
			name := as.Number(count).String()
			count++
			eb.Output(name, ev[v])
			rv[v] = rb.Input(name, t.Shape(v), lane[v])
		}
	}
	for i := range t.Instrs {
		v := len(t.Inputs) + i
		if kept[v] {
			rv[v] = rb.Emit(mapped(t.Instrs[i], rv))
		}
	}
	for _, o := range t.Outputs {
		rb.Output(o.Name, rv[o.Value])
	}
	return eb.Needed(), rb.Needed()
}

// hoistable tells which values of t come out of Split's first tape, and which
// instructions its second one has.
func hoistable(t *tape.Tape, late func(input string) bool) (hoisted, kept []bool) {
	isLate := tape.DependsOnFunc(t, late)
	costs := work(t)
	hoisted, kept = make([]bool, t.Values()), make([]bool, t.Values())
	seen := make([]bool, t.Values())
	var reads func(v tape.Value)
	reads = func(v tape.Value) {
		if isLate[v] || seen[v] {
			return
		}
		seen[v] = true
		if costs[v] {
			hoisted[v] = true
			return
		}
		if in := t.Instr(v); in != nil { // it stays, so what it reads is read
			kept[v] = true
			for _, a := range in.Args {
				reads(a)
			}
		}
	}
	for v, needed := range tape.Needed(t) {
		if in := t.Instr(tape.Value(v)); in != nil && needed && isLate[v] {
			kept[v] = true
			for _, a := range in.Args {
				reads(a)
			}
		}
	}
	for _, o := range t.Outputs {
		reads(o.Value)
	}
	return hoisted, kept
}

func taken(t *tape.Tape, input Name) bool {
	_, ok := t.Input(input.String())
	return ok
}

// work tells which values take work. Constants, slices, reshapes and broadcasts cost
// little or nothing where they are used.
func work(t *tape.Tape) []bool {
	out := make([]bool, t.Values())
	for i := range t.Instrs {
		switch t.Instrs[i].Op {
		case tape.Const, tape.Slice, tape.Reshape, tape.Broadcast:
		default:
			out[len(t.Inputs)+i] = true
		}
	}
	return out
}

// Inline appends the instructions of t to b and returns the values of t's outputs in b
// by name. The function of gives the values in b of t's inputs.
func Inline(b *tape.Builder, t *tape.Tape, of func(in *tape.Input) tape.Value) map[string]tape.Value {
	to := inline(b, t, of)
	out := make(map[string]tape.Value, len(t.Outputs))
	for _, o := range t.Outputs {
		out[o.Name] = to[o.Value]
	}
	return out
}

// inline is Inline, but returns all values of t in b.
func inline(b *tape.Builder, t *tape.Tape, of func(in *tape.Input) tape.Value) []tape.Value {
	to := make([]tape.Value, t.Values())
	for i := range t.Inputs {
		to[i] = of(&t.Inputs[i])
	}
	for i := range t.Instrs {
		to[len(t.Inputs)+i] = b.Emit(mapped(t.Instrs[i], to))
	}
	return to
}

// Beside returns a tape that makes the outputs of several; nil ones make none.
func Beside(first *tape.Tape, others ...*tape.Tape) *tape.Tape {
	b := tape.NewBuilder(first.Name)
	for _, t := range append([]*tape.Tape{first}, others...) {
		if t == nil {
			continue
		}
		values := Inline(b, t, func(in *tape.Input) tape.Value { return b.Input(in.Name, in.Shape, in.PerLane) })
		for _, o := range t.Outputs {
			b.Output(o.Name, values[o.Name])
		}
	}
	return b.Needed()
}
