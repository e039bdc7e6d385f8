package system

import (
	"testing"

	"odes.dev/odes/tape"
)

// TestRunBeside evaluates what one value is made of at values beside those of a run. What others are made of, such as
// the slopes of a table, is left alone.
func TestRunBeside(t *testing.T) {
	b := tape.NewBuilder("rates")
	x := b.Input("x", tape.Shape{1}, false)
	corner := b.Op2(tape.Max, b.Op1(tape.Neg, x), b.Scalar(1))
	other := b.Op1(tape.Exp, x)
	b.Output("f", b.Op2(tape.Add, corner, other))
	made := b.Tape()
	var kt kinkTape
	kt.beside(made)
	kt.near.Input("x")[0] = -2
	kt.runBeside(corner)
	if c, o := kt.near.Value(corner)[0], kt.near.Value(other)[0]; c != 2 || o != 1 {
		t.Errorf("the corner is %v, want 2, and the other %v, want 1 as at 0", c, o)
	}
}
