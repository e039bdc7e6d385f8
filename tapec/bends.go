package tapec

import "odes.dev/odes/tape"

// Bends returns a tape that makes the margins of those guards that are not affine in time and states, as its output
// "rho", and their derivatives along a direction, "dot.rho", in which time moves by "dot.t" and states by "dot.y.*". It
// also returns the numbers of these guards, and the values that each may jump with, as those of ByTime. Guards that
// depend on no state are left out, and so are those of conditions made of several atoms: they are zero where one of
// their atoms changes. The tape is nil if no guard remains.
func Bends(t *tape.Tape, list []Guard) (bends *tape.Tape, guards []int, jumps [][]tape.Value) {
	if t == nil {
		return nil, nil, nil
	}
	margins, _ := t.Output(Margins.Name().String())
	parts := []tape.Value{margins}
	if in := t.Instr(margins); in != nil && in.Op == tape.Concat {
		parts = in.Args
	}
	b := tape.NewBuilder("bends")
	values := copyInto(b, t)
	var bent []tape.Value
	at := 0
	for _, p := range parts {
		n := t.Shape(p).Size()
		if g := list[at]; !g.Affine && !g.Clock && !g.Compound {
			bent = append(bent, b.Reshape(values[p], tape.Shape{n}))
			for k := range n {
				guards = append(guards, at+k)
			}
		}
		at += n
	}
	if len(bent) == 0 {
		return nil, nil, nil
	}
	b.Output(Margins.Name().String(), b.Concat(0, bent...))
	bends = b.Needed()
	var wrt []string
	for i := range bends.Inputs {
		if n := MustName(bends.Inputs[i].Name); n == Time.Name() || n.Role == State {
			wrt = append(wrt, bends.Inputs[i].Name)
		}
	}
	bends, jumps = along(bends, Margins.Name().String(), wrt)
	return bends, guards, jumps
}
