package tapec

import "odes.dev/odes/tape"

// Keep lets a transpose read values of t that t computes as well and that are expensive: elementary functions, and
// products with many terms an element. Keeping does what t does, and also puts these values out, numbered in the role
// as. Reading does what transpose does, and reads them as inputs. saved is how many multiplications and additions that
// is worth, about; what storing takes is subtracted. Both tapes are nil if nothing is saved.
func Keep(t, transpose *tape.Tape, as Role) (keeping, reading *tape.Tape, saved int) {
	both := tape.NewBuilder(t.Name) // it makes equal values one
	input := func(in *tape.Input) tape.Value { return both.Input(in.Name, in.Shape, in.PerLane) }
	tv, pv := inline(both, t, input), inline(both, transpose, input)
	of := map[tape.Value]tape.Value{} // values of t, by those of both
	for i := range t.Instrs {
		v := tape.Value(len(t.Inputs) + i)
		if _, ok := of[tv[v]]; !ok {
			of[tv[v]] = v
		}
	}
	effort := func(v tape.Value) int { return transpose.Shape(v).Size() * termsOf(transpose, v) }
	read, needed := map[tape.Value]tape.Value{}, make([]bool, transpose.Values()) // read: values of t
	lane := tape.PerLane(transpose)
	for _, o := range transpose.Outputs {
		needed[o.Value] = true
	}
	for i := len(transpose.Instrs) - 1; i >= 0; i-- {
		v := tape.Value(len(transpose.Inputs) + i)
		if !needed[v] {
			continue
		}
		if from, ok := of[pv[v]]; ok && !lane[v] && termsOf(transpose, v) >= leastTerms {
			read[v] = from
			saved -= storing * transpose.Shape(v).Size()
			continue
		}
		saved -= effort(v)
		for _, a := range transpose.Instrs[i].Args {
			needed[a] = true
		}
	}
	for v, needed := range tape.Needed(transpose) {
		if needed {
			saved += effort(tape.Value(v))
		}
	}
	if len(read) == 0 || saved <= 0 {
		return nil, nil, 0
	}
	kb := tape.NewBuilderWith(t.Name+".keeping", 0)
	kv := copyInto(kb, t)
	for _, o := range t.Outputs {
		kb.Output(o.Name, kv[o.Value])
	}
	rb := tape.NewBuilderWith(transpose.Name, 0)
	rv := make([]tape.Value, transpose.Values())
	copy(rv, rb.Inputs(transpose.Inputs))
	names := map[tape.Value]string{} // by values of t
	for i := range transpose.Instrs {
		v := tape.Value(len(transpose.Inputs) + i)
		from, ok := read[v]
		if !ok {
			if needed[v] {
				rv[v] = rb.Emit(mapped(transpose.Instrs[i], rv))
			}
			continue
		}
		if names[from] == "" {
			names[from] = as.Number(len(names)).String()
			kb.Output(names[from], kv[from])
		}
		rv[v] = rb.Input(names[from], transpose.Shape(v), false)
	}
	for _, o := range transpose.Outputs {
		rb.Output(o.Name, rv[o.Value])
	}
	return kb.Tape(), rb.Needed(), saved
}

const (
	leastTerms = 16 // of an element that is worth keeping
	storing    = 8  // multiplications and additions that storing an element and reading it again are worth
	ofFunction = 24 // those that an elementary function is worth
)

// termsOf returns how many multiplications and additions an element of a value takes, if these are many.
func termsOf(t *tape.Tape, v tape.Value) int {
	in := t.Instr(v)
	if in == nil {
		return 0
	}
	switch in.Op {
	case tape.MatMul:
		shape, inner := t.Shape(in.Args[0]), 0
		if len(shape) == 2 && !in.Attr.TA {
			inner = 1
		}
		return shape[inner]
	case tape.Neg, tape.Abs, tape.Sign, tape.Not, tape.Recip, tape.Sqrt, tape.Sqr, tape.Powi, tape.Floor, tape.Ceil,
		tape.Round, tape.Trunc, tape.Add, tape.Sub, tape.Mul, tape.Div, tape.Min, tape.Max, tape.Select, tape.FMA,
		tape.ZeroMul, tape.And, tape.Or:
		return 1
	}
	if row := in.Op.Row(); row.Class == tape.Elementwise {
		return ofFunction
	}
	return 0
}
