package tapec

import "odes.dev/odes/tape"

// LinearPart splits rates into a sum for methods that solve equations with one part and evaluate the other: terms that
// are affine in the states, with coefficients that states have no part in, as diffusion and decay, are implicit, and
// all others explicit, integrands among them. Both tapes have all outputs. It returns nil where no term is implicit.
//
// What splits are sums, differences, products and quotients with what states have no part in, choices by conditions of
// that kind, and whatever moves elements or adds them up. A product of sums is not multiplied out.
func LinearPart(rates *tape.Tape) (implicit, explicit *tape.Tape) {
	s := &splitter{
		t: rates, degree: degrees(rates, func(n Name) bool { return n.Role == State }),
		b: tape.NewBuilder(rates.Name), parts: map[tape.Value][2]tape.Value{},
	}
	s.v = copyInto(s.b, rates)
	some := false
	out := make([][2]tape.Value, len(rates.Outputs))
	for i, o := range rates.Outputs {
		if out[i] = [2]tape.Value{none, s.v[o.Value]}; MustName(o.Name).Role == Rate {
			out[i] = s.split(o.Value)
		}
		some = some || out[i][0] != none
	}
	if !some {
		return nil, nil
	}
	for i, o := range rates.Outputs {
		for k, part := range [2]string{"implicit.", "explicit."} {
			v := out[i][k]
			if v == none {
				v = s.b.Const(rates.Shape(o.Value), 0)
			}
			s.b.Output(part+o.Name, v)
		}
	}
	both := s.b.Tape()
	pick := func(part string) *tape.Tape {
		one := *both
		one.Outputs = nil
		for _, o := range both.Outputs {
			if len(o.Name) > len(part) && o.Name[:len(part)] == part {
				one.Outputs = append(one.Outputs, tape.Output{Name: o.Name[len(part):], Value: o.Value})
			}
		}
		return dropInputs(deadCode(&one))
	}
	return pick("implicit."), pick("explicit.")
}

// splitter makes the parts of values of t in b.
type splitter struct {
	t      *tape.Tape
	b      *tape.Builder
	v      []tape.Value // the values of t in b
	degree []int        // of the values of t
	parts  map[tape.Value][2]tape.Value
}

// split returns the implicit and the explicit part of a value of t.
func (s *splitter) split(v tape.Value) (p [2]tape.Value) {
	if p, ok := s.parts[v]; ok {
		return p
	}
	defer func() { s.parts[v] = p }()
	switch {
	case s.degree[v] == 1:
		return [2]tape.Value{s.v[v], none}
	case s.degree[v] == 0 || int(v) < len(s.t.Inputs):
		return [2]tape.Value{none, s.v[v]}
	}
	in := &s.t.Instrs[int(v)-len(s.t.Inputs)]
	var all, spread []int // operands; those that are split
	for k := range in.Args {
		all = append(all, k)
	}
	switch in.Op {
	case tape.Add, tape.Sub:
		spread = all
	case tape.Neg, tape.SumAxes:
		spread = []int{0}
	case tape.Mul, tape.Div, tape.MatMul, tape.Dot, tape.Outer:
		switch {
		case s.degree[in.Args[1]] == 0:
			spread = []int{0}
		case s.degree[in.Args[0]] == 0 && in.Op != tape.Div:
			spread = []int{1}
		}
	case tape.Select:
		if s.degree[in.Args[0]] == 0 {
			spread = []int{1, 2}
		}
	default:
		if in.Op.Row().Class == tape.Structure {
			spread = all
		}
	}
	if spread == nil {
		return [2]tape.Value{none, s.v[v]}
	}
	var parts [][2]tape.Value
	for _, k := range spread {
		parts = append(parts, s.split(in.Args[k]))
	}
	for side := range p {
		p[side] = s.assemble(in, spread, parts, side)
	}
	return p
}

// assemble makes in of one side of its operands.
func (s *splitter) assemble(in *tape.Instr, spread []int, parts [][2]tape.Value, side int) tape.Value {
	some := false
	for _, p := range parts {
		some = some || p[side] != none
	}
	if !some {
		return none
	}
	out := mapped(*in, s.v)
	for i, k := range spread {
		if out.Args[k] = parts[i][side]; out.Args[k] == none {
			out.Args[k] = s.b.Const(s.t.Shape(in.Args[k]), 0)
		}
	}
	return s.b.Emit(out)
}
