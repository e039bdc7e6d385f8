package compiled

import (
	"slices"

	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// CauseInputs lists what the time of a cause is made of.
func (m *Model) CauseInputs(c solvers.Cause) []tapec.Name {
	if c.Guard >= 0 {
		return m.GuardInputs(c.Guard)
	}
	return m.InstantInputs(c.Instant)
}

// GuardInputs lists what the margin of guard i is made of.
func (m *Model) GuardInputs(i int) []tapec.Name {
	return InputsOf(m.Compiled.Guards, tapec.Margins.Name(), i)
}

// InstantInputs lists what the time of instant i is made of.
func (m *Model) InstantInputs(i int) (list []tapec.Name) {
	c := m.Compiled
	if c.Instants == nil {
		return nil
	}
	in := c.InstantList[i]
	for _, k := range []int{i, in.Period, in.To, in.Count} {
		if k >= 0 {
			list = append(list, InputsOf(c.Instants, tapec.Times.Name(), k)...)
		}
	}
	return list
}

// InputsOf lists the inputs that element i of an output of t depends on; i is -1 for all elements.
func InputsOf(t *tape.Tape, output tapec.Name, i int) (list []tapec.Name) {
	if t == nil {
		return nil
	}
	if v, _ := elementOf(t, output, i); v >= 0 {
		return InputsOfValue(t, v)
	}
	return nil
}

// elementOf returns the value of t that has element i of an output, or all elements for -1, and which element of it
// that is. It returns -1 if there is no such output.
func elementOf(t *tape.Tape, output tapec.Name, i int) (v tape.Value, at int) {
	v, ok := t.Output(output.String())
	if !ok {
		return -1, 0
	}
	if in := t.Instr(v); i >= 0 && in != nil && in.Op == tape.Concat && in.Attr.Axis == 0 {
		for _, p := range in.Args {
			n := t.Shape(p).Size()
			if i < n {
				return p, i
			}
			i -= n
		}
	}
	return v, i
}

// SameMargin reports whether guards i and j have one margin, as those of events with the same condition have.
func SameMargin(m *Model, i, j int) bool { return m.margins[i] == m.margins[j] }

// margin is where a tape has the margin of a guard: an element of a value.
type margin struct {
	of tape.Value
	at int
}

// marginsOf lists where the margins of guards are.
func marginsOf(t *tape.Tape) (list []margin) {
	if t == nil {
		return nil
	}
	v, _ := t.Output(tapec.Margins.Name().String())
	parts := []tape.Value{v}
	if in := t.Instr(v); in != nil && in.Op == tape.Concat && in.Attr.Axis == 0 {
		parts = in.Args
	}
	for _, p := range parts {
		for k := range t.Shape(p).Size() {
			list = append(list, margin{p, k})
		}
	}
	return list
}

// InputsOfValue lists the inputs that a value of t depends on.
func InputsOfValue(t *tape.Tape, v tape.Value) (list []tapec.Name) {
	need := make([]bool, t.Values())
	need[v] = true
	for k := len(t.Instrs) - 1; k >= 0; k-- {
		if need[len(t.Inputs)+k] {
			for _, a := range t.Instrs[k].Args {
				need[a] = true
			}
		}
	}
	for k, in := range t.Inputs {
		if need[k] {
			list = append(list, tapec.MustName(in.Name))
		}
	}
	return list
}

// IsUnknown reports whether element i of the states is an algebraic unknown.
func (m *Model) IsUnknown(i int) bool {
	return m.Mass != nil && slices.Contains(m.Mass.Unknowns, int32(i))
}

// ReadsUnknowns reports whether the margin of guard i depends on algebraic unknowns.
func (m *Model) ReadsUnknowns(i int) bool {
	return m.Algebraic() && slices.ContainsFunc(m.GuardInputs(i),
		func(n tapec.Name) bool {
			at, ok := m.Layout.Find(n)
			return ok && at.Vec == vec.Y && m.IsUnknown(at.Offset)
		})
}

// ModeAt returns the name of the mode that element i of the flat vector of modes belongs to.
func (m *Model) ModeAt(i int) tapec.Name {
	for k, mode := range m.Compiled.Modes {
		if i >= mode.Offset && i < mode.Offset+tape.Shape(mode.Shape).Size() {
			return tapec.HeldMode.Number(k)
		}
	}
	return tapec.Name{}
}

// SettlesAt reports whether the event of a mark goes on to a steady state that is no cycle.
func (m *Model) SettlesAt(event int) bool {
	list := m.Checked.Events
	return event < len(list) && list[event].Settles && list[event].Period == nil
}

// Assigns reports whether a body sets a discrete.
func (m *Model) Assigns(discrete string) bool {
	return slices.ContainsFunc(m.Checked.Events, func(e *model.Event) bool {
		return slices.ContainsFunc(e.Body, func(a *model.Assign) bool { return a.Target.Name == discrete })
	})
}

// SetsGuards reports whether the body of event i sets anything that guards read.
func SetsGuards(m *Model, i int) bool {
	body, guards := m.Compiled.Affects[i], m.Compiled.Guards
	return body != nil && guards != nil && slices.ContainsFunc(body.Outputs, func(out tape.Output) bool {
		return slices.ContainsFunc(guards.Inputs, func(in tape.Input) bool { return in.Name == out.Name })
	})
}

// EventElems returns how many elements an event with these indices has.
func EventElems(indices []*model.Index) int {
	n := 1
	for _, ix := range indices {
		n *= ix.Count
	}
	return n
}

// peaksRead reports whether element i of the modes is read by what is to be largest.
func (p *Task) peaksRead(i int) bool {
	t := p.Model.Compiled.Peaks
	if t == nil || len(p.Peaks) == 0 {
		return false
	}
	_, reads := t.Input(p.Model.ModeAt(i).String())
	return reads
}

// PeaksSee reports whether guard i decides about a mode that is read by what is to be largest.
func (p *Task) PeaksSee(i int) bool {
	g := p.Model.Compiled.GuardList[i]
	return g.Event < 0 && p.peaksRead(g.Mode)
}
