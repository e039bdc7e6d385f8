package tapec

import (
	"slices"

	"odes.dev/odes/tape"
)

// SignalSize is the largest number of elements that the signals of a tape have in all. Larger ones are left out.
const SignalSize = 256

// Even returns the states that change evenly between two events: their rates depend on params, discretes and modes
// only. The tape makes these rates; it is nil if there are none.
func Even(rates *tape.Tape) (states []Name, makes *tape.Tape) {
	if rates == nil {
		return nil, nil
	}
	moving := tape.DependsOnFunc(rates, ByName(func(n Name) bool { return n == Time.Name() || n.Role == State }))
	only := *rates
	only.Name, only.Outputs = "even", nil
	for _, o := range rates.Outputs {
		if n := MustName(o.Name); n.Role == Rate && !moving[o.Value] {
			states, only.Outputs = append(states, State.Called(n.Of)), append(only.Outputs, o)
		}
	}
	if len(states) == 0 {
		return nil, nil
	}
	return states, dropInputs(&only)
}

// Signals returns a tape that makes the signals of t: what depends on time and even states, but on no other state, and
// is not affine in them, as large as such parts of t's outputs can be. Between two events they are functions of time
// that are known beforehand. They are the elements of its one output; it is nil if there are none. readers[k] lists the
// outputs of t that depend on element k.
func Signals(t *tape.Tape, even []Name) (signals *tape.Tape, readers [][]Name) {
	if t == nil {
		return nil, nil
	}
	driven := tape.DependsOnFunc(t, ByName(func(n Name) bool { return n.Role == State && !slices.Contains(even, n) }))
	degree := degrees(t, func(n Name) bool { return n == Time.Name() || slices.Contains(even, n) })
	last := make([]bool, t.Values()) // whether an output, or something that depends on states, reads it
	for _, o := range t.Outputs {
		last[o.Value] = true
	}
	for i := range t.Instrs {
		for _, a := range t.Instrs[i].Args {
			last[a] = last[a] || driven[len(t.Inputs)+i]
		}
	}
	b := tape.NewBuilder("signals")
	values := copyInto(b, t)
	var found []int
	var list []tape.Value
	size := 0
	for v := range values {
		if n := t.Shape(tape.Value(v)).Size(); last[v] && !driven[v] && degree[v] > 1 && size+n <= SignalSize {
			found, list, size = append(found, v), append(list, b.Reshape(values[v], tape.Shape{n})), size+n
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	of := make([][]Name, len(found))
	for _, o := range t.Outputs {
		need := tape.Needed(t, o.Name)
		for i, v := range found {
			if need[v] {
				of[i] = append(of[i], MustName(o.Name))
			}
		}
	}
	for i, v := range found {
		for range t.Shape(tape.Value(v)).Size() {
			readers = append(readers, of[i])
		}
	}
	b.Output(SignalValues.Name().String(), b.Concat(0, list...))
	return b.Needed(), readers
}

// degrees returns, for each value of t, 0 if it depends on no input that is among those in question, 1 if it is affine
// in them, and else 2.
func degrees(t *tape.Tape, among func(Name) bool) []int {
	degree := make([]int, t.Values())
	for i := range t.Inputs {
		if among(MustName(t.Inputs[i].Name)) {
			degree[i] = 1
		}
	}
	for i := range t.Instrs {
		in := &t.Instrs[i]
		of := func(k int) int { return degree[in.Args[k]] }
		most := 0
		for k := range in.Args {
			most = max(most, of(k))
		}
		d := min(2*most, 2)
		switch in.Op {
		case tape.Neg, tape.Add, tape.Sub, tape.SumAxes:
			d = most
		case tape.Mul, tape.MatMul, tape.Dot, tape.Outer:
			d = min(of(0)+of(1), 2)
		case tape.FMA:
			d = min(max(of(0)+of(1), of(2)), 2)
		case tape.Div:
			if of(1) == 0 {
				d = of(0)
			}
		case tape.Select:
			if of(0) == 0 {
				d = max(of(1), of(2))
			}
		default:
			if in.Op.Row().Class == tape.Structure {
				d = most
			}
		}
		degree[len(t.Inputs)+i] = d
	}
	return degree
}
