package tapec

import "odes.dev/odes/tape"

// ByTime returns the tape that makes an output of t, a vector, and its derivative by time along with it, as
// "dot.<output>". It reads the inputs of t, "dot.t", which is to be 1, and the rates of even states, "dot.y.*". Where
// an op has no derivative, or nothing depends on time, the tape makes the output alone.
//
// The second result lists, for each element of the output, the values of the tape that an element may jump with as
// time passes: levels and conditions. While these are constant, the element is continuous, but for poles, where the
// derivative is infinite as well. The derivative knows nothing of jumps.
func ByTime(t *tape.Tape, output string, even []Name) (*tape.Tape, [][]tape.Value) {
	var moving []string
	for _, n := range append([]Name{Time.Name()}, even...) {
		if name := n.String(); hasInput(t, name) {
			moving = append(moving, name)
		}
	}
	return along(t, output, moving)
}

func hasInput(t *tape.Tape, name string) bool {
	_, ok := t.Input(name)
	return ok
}

// along is ByTime for derivatives along a direction, in which the inputs named by wrt move.
func along(t *tape.Tape, output string, wrt []string) (*tape.Tape, [][]tape.Value) {
	only := *t
	only.Outputs = nil
	for _, o := range t.Outputs {
		if o.Name == output {
			only.Outputs = append(only.Outputs, o)
		}
	}
	out := &only
	if len(wrt) > 0 {
		if with, err := tangent(&only, []string{output}, wrt, true); err == nil {
			out = with
		}
	}
	out = dropInputs(out)
	v, _ := out.Output(output)
	moves := tape.DependsOn(out, wrt...)
	parts := []tape.Value{v}
	if in := out.Instr(v); in != nil && in.Op == tape.Concat {
		parts = in.Args
	}
	var list [][]tape.Value
	for _, p := range parts {
		jumps := jumps(out, p, moves)
		for range out.Shape(p).Size() {
			list = append(list, jumps)
		}
	}
	return out, list
}

// jumps lists the values that v may jump with as what moves does.
func jumps(t *tape.Tape, v tape.Value, moves []bool) (list []tape.Value) {
	need := make([]bool, t.Values())
	need[v] = true
	for w := v; int(w) >= len(t.Inputs); w-- {
		if !need[w] || !moves[w] {
			continue
		}
		in := t.Instr(w)
		switch in.Op {
		case tape.Floor, tape.Ceil, tape.Round, tape.Trunc, tape.Sign, tape.Mod, tape.Atan2:
			list = append(list, w)
		default:
			if in.Op.Row().Class == tape.Condition {
				list = append(list, w)
				continue // what it is made of changes nothing while it is constant
			}
		}
		for _, a := range in.Args {
			need[a] = true
		}
	}
	return list
}
