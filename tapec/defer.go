package tapec

import "odes.dev/odes/tape"

// Deferred is an outer product of vectors that belongs to a cotangent. The factors are
// outputs of the tape in its place. So one product of matrices for each lane can add up
// the outer products of many calls.
type Deferred struct {
	Output      string // the cotangent, such as "bar.p.A"
	Left, Right string // the outputs that are the factors
	// LaneLeft tells that lanes have their own left factors and share the right one. Else
	// it is the other way round.
	LaneLeft   bool
	Rows, Cols int // lengths of the factors
}

// Defer replaces outputs of t that are sums of outer products by the factors of these
// products. It does so for outputs that want picks and that have at least least
// elements, if in each product one factor is per lane and the other shared.
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
	return deadCode(&out), list
}

// outers appends the outer products that v is the sum of to list. It reports false if v
// is anything else.
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
