package tape

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Check returns an error if t is not well formed. It looks at names, at the order
// of the instructions, at numbers of operands, at shapes and at attributes. An
// instruction must have the attributes of its op and no others.
func Check(t *Tape) error {
	c := checker{t: t}
	if err := c.check(); err != nil {
		return fmt.Errorf("tape %s: %w", t.Name, err)
	}
	return nil
}

type checker struct{ t *Tape }

func (c checker) check() error {
	t := c.t
	if err := checkName(t.Name); err != nil {
		return err
	}
	seen := make(map[string]bool, max(len(t.Inputs), len(t.Outputs)))
	for i := range t.Inputs {
		in := &t.Inputs[i]
		if err := checkName(in.Name); err != nil {
			return err
		}
		if seen[in.Name] {
			return fmt.Errorf("input %s is there twice", in.Name)
		}
		seen[in.Name] = true
		if err := in.Shape.check(); err != nil {
			return fmt.Errorf("input %s: %w", in.Name, err)
		}
	}
	for i := range t.Instrs {
		if err := c.instr(i); err != nil {
			return fmt.Errorf("%%%d: %w", len(t.Inputs)+i, err)
		}
	}
	clear(seen)
	for _, o := range t.Outputs {
		if err := checkName(o.Name); err != nil {
			return err
		}
		if seen[o.Name] {
			return fmt.Errorf("output %s is there twice", o.Name)
		}
		seen[o.Name] = true
		if o.Value < 0 || int(o.Value) >= t.Values() {
			return fmt.Errorf("output %s is value %d, which does not exist", o.Name, o.Value)
		}
	}
	return nil
}

func (c checker) instr(i int) error {
	t := c.t
	in := &t.Instrs[i]
	if !in.Op.Valid() {
		return fmt.Errorf("op %d does not exist", in.Op)
	}
	n := in.Op.Row().Arity
	if n >= 0 && len(in.Args) != n || n < 0 && len(in.Args) == 0 {
		return fmt.Errorf("%v has %d operands", in.Op, len(in.Args))
	}
	shapes := make([]Shape, len(in.Args))
	for k, a := range in.Args {
		if a < 0 || int(a) >= len(t.Inputs)+i {
			return fmt.Errorf("operand %d is value %d, which does not come before", k, a)
		}
		shapes[k] = t.Shape(a)
	}
	if err := checkAttr(in); err != nil {
		return fmt.Errorf("%v: %w", in.Op, err)
	}
	shape, err := infer(in, shapes)
	if err != nil {
		return fmt.Errorf("%v: %w", in.Op, err)
	}
	if !shape.Equal(in.Shape) {
		return fmt.Errorf("%v has shape %v, but its operands give %v", in.Op, in.Shape, shape)
	}
	return nil
}

// uses tells which attributes an op has.
func (o Op) uses() (u struct{ data, power, perm, window, axis, index, axes, flags bool }) {
	switch o {
	case Const:
		u.data = true
	case Powi:
		u.power = true
	case Transpose:
		u.perm = true
	case Slice, Pad:
		u.window = true
	case Concat:
		u.axis = true
	case Take, Put:
		u.axis, u.index = true, true
	case SumAxes, ProdAxes, MaxAxes, MinAxes:
		u.axes = true
	case MatMul:
		u.flags = true
	}
	return u
}

// checkAttr reports attributes that the op does not have. If they were allowed, two
// instructions that compute the same could differ.
func checkAttr(in *Instr) error {
	u, a := in.Op.uses(), &in.Attr
	for _, x := range []struct {
		name      string
		used, set bool
	}{
		{"data", u.data, len(a.Data) > 0},
		{"power", u.power, a.Power != 0},
		{"perm", u.perm, len(a.Perm) > 0},
		{"start", u.window, len(a.Start) > 0},
		{"step", u.window, len(a.Step) > 0},
		{"axis", u.axis, a.Axis != 0},
		{"index", u.index, len(a.Index) > 0},
		{"axes", u.axes, len(a.Axes) > 0},
		{"ta", u.flags, a.TA},
		{"tb", u.flags, a.TB},
	} {
		if x.set && !x.used {
			return fmt.Errorf("has no attribute %s", x.name)
		}
	}
	if p := in.Attr.Power; p > maxPower || p < -maxPower {
		return fmt.Errorf("power %d is not in -%d … %d", p, maxPower, maxPower)
	}
	return nil
}

// maxPower bounds |Attr.Power|: a double holds such integers exactly.
const maxPower = 1 << 31

func checkName(name string) error {
	if name == "" {
		return fmt.Errorf("a name is empty")
	}
	if !utf8.ValidString(name) {
		return fmt.Errorf("name %q is not UTF-8", name)
	}
	for _, r := range name {
		if unicode.IsControl(r) {
			return fmt.Errorf("name %q holds a control character", name)
		}
	}
	return nil
}
