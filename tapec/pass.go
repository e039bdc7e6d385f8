package tapec

import "odes.dev/odes/tape"

// Pass is a transformation that keeps what a tape computes, to the bit.
type Pass struct {
	Name string
	Run  func(*tape.Tape) *tape.Tape
}

// Passes is what every tape goes through before it becomes a program.
var Passes = []Pass{
	{"fold", Fold},
	{"simplify", Simplify},
	{"share", Share},
	{"dead-code", DeadCode},
}

// Optimize runs passes on t; see, if it is not nil, is shown the tape after each.
func Optimize(t *tape.Tape, passes []Pass, see func(pass string, t *tape.Tape)) *tape.Tape {
	for _, p := range passes {
		t = p.Run(t)
		if see != nil {
			see(p.Name, t)
		}
	}
	return t
}

// Fold evaluates instructions whose operands are constants.
func Fold(t *tape.Tape) *tape.Tape { return rebuild(t, tape.Fold) }

// Simplify applies algebraic identities that hold to the bit.
func Simplify(t *tape.Tape) *tape.Tape { return rebuild(t, tape.Simplify) }

// Share makes one instruction of those that compute the same value.
func Share(t *tape.Tape) *tape.Tape { return rebuild(t, tape.Share) }

// DeadCode drops instructions that no output needs.
func DeadCode(t *tape.Tape) *tape.Tape { return rebuild(t, 0) }

// rebuild passes t through a Builder.
func rebuild(t *tape.Tape, rewrite tape.Rewrites) *tape.Tape {
	b := tape.NewBuilderWith(t.Name, rewrite)
	v := copyInto(b, t)
	for _, o := range t.Outputs {
		b.Output(o.Name, v[o.Value])
	}
	return b.Tape()
}

// copyInto appends the inputs and instructions of t and returns their values in b.
func copyInto(b *tape.Builder, t *tape.Tape) []tape.Value {
	out := make([]tape.Value, t.Values())
	for i := range t.Inputs {
		in := &t.Inputs[i]
		out[i] = b.Input(in.Name, in.Shape, in.PerLane)
	}
	for i := range t.Instrs {
		out[len(t.Inputs)+i] = b.Emit(mapped(t.Instrs[i], out))
	}
	return out
}

// DropInputs returns t without the inputs, and the instructions, that no output needs.
func DropInputs(t *tape.Tape) *tape.Tape {
	need := tape.Needed(t)
	b := tape.NewBuilderWith(t.Name, 0)
	v := make([]tape.Value, t.Values())
	for i := range t.Inputs {
		if in := &t.Inputs[i]; need[i] {
			v[i] = b.Input(in.Name, in.Shape, in.PerLane)
		}
	}
	for i := range t.Instrs {
		if k := len(t.Inputs) + i; need[k] {
			v[k] = b.Emit(mapped(t.Instrs[i], v))
		}
	}
	for _, o := range t.Outputs {
		b.Output(o.Name, v[o.Value])
	}
	return b.Tape()
}

// Split takes the work out of t that depends on no late input. Early computes
// it, as outputs that are numbered in the role as: with RunWork these are "c.0",
// "c.1", …. Numbers that t's own inputs have are left out, so that a tape can be
// split twice in one role. Rest computes what t does, from the late inputs, from
// the others that it reads for other work, and from the outputs of early. Neither
// has inputs that it does not need. Early has no outputs if there is nothing to
// take out.
//
// Only what rest reads becomes an output of early, and only real work:
// constants, and slices, reshapes and broadcasts, are left where they are used.
func Split(t *tape.Tape, as Role, late func(input string) bool) (early, rest *tape.Tape) {
	isLate := tape.DependsOnFunc(t, late)
	need := tape.Needed(t)
	costs := work(t)
	// hoisted returns whether v is a value of early that rest reads as an input.
	hoisted := make([]bool, t.Values())
	var reads func(v tape.Value)
	seen := make([]bool, t.Values())
	reads = func(v tape.Value) {
		if isLate[v] || seen[v] {
			return
		}
		seen[v] = true
		if costs[v] {
			hoisted[v] = true
			return
		}
		if in := t.Instr(v); in != nil { // left in rest, which reads its operands
			for _, a := range in.Args {
				reads(a)
			}
		}
	}
	for i := range t.Instrs {
		if v := len(t.Inputs) + i; isLate[v] && need[v] {
			for _, a := range t.Instrs[i].Args {
				reads(a)
			}
		}
	}
	for _, o := range t.Outputs {
		reads(o.Value)
	}

	lane := tape.PerLane(t)
	eb := tape.NewBuilderWith(t.Name+".early", 0)
	ev := copyInto(eb, t)
	rb := tape.NewBuilderWith(t.Name, 0)
	rv := make([]tape.Value, t.Values())
	for i := range t.Inputs {
		in := &t.Inputs[i]
		rv[i] = rb.Input(in.Name, in.Shape, in.PerLane)
	}
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
		if need[v] && !hoisted[v] && (isLate[v] || seen[v]) {
			rv[v] = rb.Emit(mapped(t.Instrs[i], rv))
		}
	}
	for _, o := range t.Outputs {
		rb.Output(o.Name, rv[o.Value])
	}
	return DropInputs(eb.Tape()), DropInputs(rb.Tape())
}

func taken(t *tape.Tape, input Name) bool {
	_, ok := t.Input(input.String())
	return ok
}

// work tells which values take real work: not inputs, constants, nor slices,
// reshapes and broadcasts, which cost little or nothing where they are used.
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

// Inline appends the instructions of t to b, with the inputs that of gives for
// their names, and returns the values of t's outputs in b, by name.
func Inline(b *tape.Builder, t *tape.Tape, of func(in *tape.Input) tape.Value) map[string]tape.Value {
	to := make([]tape.Value, t.Values())
	for i := range t.Inputs {
		to[i] = of(&t.Inputs[i])
	}
	for i := range t.Instrs {
		to[len(t.Inputs)+i] = b.Emit(mapped(t.Instrs[i], to))
	}
	out := make(map[string]tape.Value, len(t.Outputs))
	for _, o := range t.Outputs {
		out[o.Name] = to[o.Value]
	}
	return out
}
