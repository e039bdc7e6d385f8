package tapec

import (
	"slices"
	"testing"

	"odes.dev/odes/tape"
)

// TestHeldPieces: the pieces of a control that is constant are one mode with two guards. What reads it, or one that is
// linear, does not grow with the pieces.
func TestHeldPieces(t *testing.T) {
	c := try(t, check(t, "held.ode", `
time t from 0 to T
param T = 900, s[900] = [i for i in 1:900]
control u = 1 piecewise constant on grid(0, 900, 901)
control v = 1 piecewise constant on grid(0, T, 901)
control w[2] = 1 piecewise constant on s
control l[2] = 1 piecewise linear on grid(0, 900, 901)
state x[2] = 0
x[i]' = w[i]*u + v + l[i] - x[i] for i in 1:2
event high when x[1] > u { x[1] = 0 }
`))
	if n := len(c.Modes); n != 3 {
		t.Errorf("%d modes, want 3", n)
	}
	for _, m := range c.Modes {
		if len(m.Shape) > 0 {
			t.Errorf("mode %s has shape %v", m.Name, m.Shape)
		}
	}
	if n := len(c.GuardList); n != 7 {
		t.Errorf("%d guards, want 7", n)
	}
	for _, tp := range []*tape.Tape{c.Rates, c.Guards, c.Clocks} {
		for i, in := range tp.Instrs {
			v := tape.Value(len(tp.Inputs) + i)
			if n := tp.Shape(v).Size(); in.Op != tape.Const && in.Op != tape.Reshape && n > 10 {
				t.Errorf("%s: %v of %d elements", tp.Name, in.Op, n)
			}
		}
	}
}

// TestHeldRemainders: a remainder of what moves is read by its level, which is held. That of numbers that stay is the
// remainder itself: beyond 2⁵³ no level is exact.
func TestHeldRemainders(t *testing.T) {
	for x, whole := range map[string]bool{"p": true, "p*d": true, "t": false, "x": false} {
		c := try(t, check(t, "remainders.ode", "time t from 0 to 1\nparam p = 9\ndiscrete d = 1\nstate x = 1\n"+
			"x' = mod("+x+", 7) - x\nevent e when x > 2 { d = 2 }\n"))
		found := slices.ContainsFunc(c.Rates.Instrs, func(in tape.Instr) bool { return in.Op == tape.Mod })
		if found != whole || len(c.Modes) != 1 {
			t.Errorf("mod(%s, 7) is whole: %v, %d modes", x, found, len(c.Modes))
		}
	}
}
