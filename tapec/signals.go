package tapec

import (
	"fmt"
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
	if t.Plain != nil { // scales are narrow where what they scale is not
		t = t.Plain
	}
	f := newSignalFinder(t, even)
	f.find()
	if len(f.list) == 0 {
		return nil, nil
	}
	found, b := f.found, f.b
	of := make([][]Name, len(found))
	for _, o := range t.Outputs {
		need := tape.Needed(t, o.Name)
		for i, v := range found {
			if need[v] {
				of[i] = append(of[i], MustName(o.Name))
			}
		}
	}
	for i, x := range f.list {
		for range b.Shape(x).Size() {
			readers = append(readers, of[i])
		}
	}
	out := SignalValues.Name().String()
	b.Output(out, b.Concat(0, f.list...))
	plain := b.Needed()
	scaled := stable(plain, func(*tape.Instr) bool { return true })
	if scaled == plain {
		return plain, readers
	}
	// What overflows shows nothing beyond, and bounds of what has scales are wide: each tells what the other does not.
	both := tape.NewBuilder("signals")
	values := copyInto(both, plain)
	at := make([]tape.Value, scaled.Values())
	for i, in := range scaled.Inputs {
		at[i], _ = both.HasInput(in.Name)
	}
	for i, in := range scaled.Instrs {
		in.Args = slices.Clone(in.Args)
		for k, a := range in.Args {
			in.Args[k] = at[a]
		}
		at[len(scaled.Inputs)+i] = both.Emit(in)
	}
	both.Output(out, both.Concat(0, values[plain.Outputs[0].Value], at[scaled.Outputs[0].Value]))
	return both.Needed(), append(readers, readers...)
}

// signalFinder finds the signals of t: what depends on time and even states alone, and what that is multiplied by and
// divided by of it where something else stands between, as in x*f(t)/g(t).
type signalFinder struct {
	t       *tape.Tape
	driven  []bool // which values depend on states that are not even
	degrees []int
	factors [][]timely // of values that are driven, those that are not
	b       *tape.Builder
	values  []tape.Value // of t, in b
	found   []tape.Value // what depends on a signal as an output depends on it
	list    []tape.Value // the signals, in b
	size    int
	known   map[string]bool
}

// timely is a value, or what is divided by it.
type timely struct {
	of    tape.Value
	below bool
}

func newSignalFinder(t *tape.Tape, even []Name) *signalFinder {
	f := &signalFinder{t: t, b: tape.NewBuilder("signals"), known: map[string]bool{}}
	f.driven = tape.DependsOnFunc(t, ByName(func(n Name) bool { return n.Role == State && !slices.Contains(even, n) }))
	f.degrees = degrees(t, func(n Name) bool { return n == Time.Name() || slices.Contains(even, n) })
	f.factors = make([][]timely, t.Values())
	f.values = copyInto(f.b, t)
	return f
}

// find lists the signals: the factors of outputs, and of what is read otherwise than as a factor.
func (f *signalFinder) find() {
	for i := range f.t.Instrs {
		v := tape.Value(len(f.t.Inputs) + i)
		if !f.driven[v] {
			continue
		}
		in := &f.t.Instrs[i]
		switch in.Op {
		case tape.Neg:
			f.factors[v] = f.of(in.Args[0])
		case tape.Mul:
			f.factors[v] = append(slices.Clone(f.of(in.Args[0])), f.of(in.Args[1])...)
		case tape.Div:
			f.factors[v] = slices.Clone(f.of(in.Args[0]))
			for _, x := range f.of(in.Args[1]) {
				f.factors[v] = append(f.factors[v], timely{x.of, !x.below})
			}
		default:
			for _, a := range in.Args {
				f.add(a)
			}
		}
	}
	for _, o := range f.t.Outputs {
		f.add(o.Value)
	}
}

// of returns the factors of v that change with time and are not driven.
func (f *signalFinder) of(v tape.Value) []timely {
	switch {
	case f.driven[v]:
		return f.factors[v]
	case f.degrees[v] > 0:
		return []timely{{v, false}}
	}
	return nil
}

// add adds the product of the factors of v to the signals, unless it is affine.
func (f *signalFinder) add(v tape.Value) {
	list := f.of(v)
	if !slices.ContainsFunc(list, func(x timely) bool { return f.degrees[x.of] > 1 }) || f.known[fmt.Sprint(list)] {
		return
	}
	f.known[fmt.Sprint(list)] = true
	var product tape.Value
	for i, x := range list {
		y := f.values[x.of]
		switch {
		case i == 0 && x.below:
			product = f.b.Op1(tape.Recip, y)
		case i == 0:
			product = y
		case x.below:
			product = f.b.Op2(tape.Div, product, y)
		default:
			product = f.b.Op2(tape.Mul, product, y)
		}
	}
	n := f.b.Shape(product).Size()
	if f.size+n > SignalSize {
		return
	}
	f.found, f.size = append(f.found, v), f.size+n
	f.list = append(f.list, f.b.Reshape(product, tape.Shape{n}))
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
