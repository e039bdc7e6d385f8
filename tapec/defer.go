package tapec

import "odes.dev/odes/tape"

// Deferred is an outer product that a transpose adds to the cotangent Output at
// every call. Its factors are outputs of the tape instead, so that the products
// of many calls can be done at once, as one product of matrices per lane.
type Deferred struct {
	Output      string // "bar.p.A"
	Left, Right string // the outputs that hold the factors, vectors
	// LaneLeft tells which factor is per lane: the left one, else the right one. The other is shared.
	LaneLeft   bool
	Rows, Cols int // lengths of the factors
}

// Defer replaces the outputs of t that want picks, and that are sums of outer
// products of a per-lane and a shared vector, by these vectors. Outputs with
// fewer than least elements stay as they are, and so does everything else.
func Defer(t *tape.Tape, least int, want func(output string) bool) (*tape.Tape, []Deferred) {
	lane := tape.PerLane(t)
	out := *t
	out.Outputs = nil
	var list []Deferred
	factors := map[tape.Value]string{}
	name := func(v tape.Value) string {
		if n, ok := factors[v]; ok {
			return n
		}
		n := Factor.Number(len(factors)).String()
		factors[v] = n
		out.Outputs = append(out.Outputs, tape.Output{Name: n, Value: v})
		return n
	}
	for _, o := range t.Outputs {
		products, ok := outers(t, lane, o.Value, nil)
		if !want(o.Name) || t.Shape(o.Value).Size() < least || !ok {
			out.Outputs = append(out.Outputs, o)
			continue
		}
		for _, in := range products {
			a, b := in.Args[0], in.Args[1]
			list = append(list, Deferred{
				Output: o.Name, Left: name(a), Right: name(b), LaneLeft: lane[a],
				Rows: t.Shape(a).Size(), Cols: t.Shape(b).Size(),
			})
		}
	}
	if len(list) == 0 {
		return t, nil
	}
	return DeadCode(&out), list
}

// outers collects the outer products that v is the sum of; it reports false if it is anything else.
func outers(t *tape.Tape, lane []bool, v tape.Value, list []*tape.Instr) ([]*tape.Instr, bool) {
	in := t.Instr(v)
	switch {
	case in == nil:
		return nil, false
	case in.Op == tape.Outer && lane[in.Args[0]] != lane[in.Args[1]]:
		return append(list, in), true
	case in.Op == tape.Add:
		list, ok := outers(t, lane, in.Args[0], list)
		if !ok {
			return nil, false
		}
		return outers(t, lane, in.Args[1], list)
	}
	return nil, false
}
