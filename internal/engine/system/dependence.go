package system

import (
	"slices"

	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// causeInputs lists what the time of a cause is made of.
func (m *Model) causeInputs(c solvers.Cause) []tapec.Name {
	if c.Guard >= 0 {
		return m.guardInputs(c.Guard)
	}
	return m.instantInputs(c.Instant)
}

// guardInputs lists what the margin of guard i is made of.
func (m *Model) guardInputs(i int) []tapec.Name {
	return inputsOf(m.Compiled.Guards, tapec.Margins.Name(), i)
}

// instantInputs lists what the time of instant i is made of.
func (m *Model) instantInputs(i int) (list []tapec.Name) {
	c := m.Compiled
	if c.Instants == nil {
		return nil
	}
	in := c.InstantList[i]
	for _, k := range []int{i, in.Period, in.To, in.Count} {
		if k >= 0 {
			list = append(list, inputsOf(c.Instants, tapec.Times.Name(), k)...)
		}
	}
	return list
}

// inputsOf lists the inputs that element i of an output of t depends on; i is -1 for all elements.
func inputsOf(t *tape.Tape, output tapec.Name, i int) (list []tapec.Name) {
	if t == nil {
		return nil
	}
	v, ok := t.Output(output.String())
	if !ok {
		return nil
	}
	if in := t.Instr(v); i >= 0 && in != nil && in.Op == tape.Concat && in.Attr.Axis == 0 {
		for _, p := range in.Args {
			n := t.Shape(p).Size()
			if i < n {
				v = p
				break
			}
			i -= n
		}
	}
	return inputsOfValue(t, v)
}

// inputsOfValue lists the inputs that a value of t depends on.
func inputsOfValue(t *tape.Tape, v tape.Value) (list []tapec.Name) {
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

// dependence follows names: what they depend on in the course of any run.
type dependence struct {
	model   *Model
	atStart bool   // nothing but the start counts
	happens []bool // of each event whether it happens at all; nil: all may
	params  map[string]bool
	initial map[string]bool // states whose initial values count
	seen    map[tapec.Name]bool
	fired   map[int]bool // events of which the times have been followed
}

func newDependence(m *Model, happens []bool) dependence {
	return dependence{
		model: m, happens: happens, params: map[string]bool{}, initial: map[string]bool{}, seen: map[tapec.Name]bool{},
		fired: map[int]bool{},
	}
}

func (x *dependence) followAll(list []tapec.Name) {
	for _, n := range list {
		x.follow(n)
	}
}

// follow notes what n depends on, in the course of the run.
func (x *dependence) follow(n tapec.Name) {
	switch n.Role {
	case tapec.LeftState:
		n.Role = tapec.State
	case tapec.LeftDiscrete:
		n.Role = tapec.Discrete
	}
	if x.seen[n] {
		return
	}
	x.seen[n] = true
	c := x.model.Compiled
	switch n.Role {
	case tapec.Param:
		x.params[n.Of] = true
	case tapec.State, tapec.Discrete:
		if n.Role == tapec.State {
			x.initial[n.Of] = true
			x.followAll(x.model.instantInputs(int(solvers.InstantStart)))
		}
		x.followAll(append(inputsOf(c.Start, n, -1), c.LagInputs(n)...))
		if n.Role == tapec.State {
			for _, out := range x.model.equationsOf(n.Of) {
				if !x.atStart || out.Role == tapec.Residual { // unknowns follow from their equations at the start, too
					x.followAll(inputsOf(c.Rates, out, -1))
				}
			}
		}
		if x.atStart {
			return
		}
		for e, t := range c.Affects {
			if t == nil || x.happens != nil && !x.happens[e] {
				continue
			}
			if _, ok := t.Output(n.String()); ok {
				x.followAll(inputsOf(t, n, -1))
				x.followEvent(e)
			}
		}
	case tapec.Functionals:
		x.followFunctional(n)
	case tapec.HeldMode: // it changes at times
		if x.atStart {
			return
		}
		for i, m := range c.Modes {
			if tapec.HeldMode.Number(i) == n {
				x.followMode(n, m)
			}
		}
	}
}

func (x *dependence) followFunctional(n tapec.Name) {
	c := x.model.Compiled
	x.followAll(x.model.instantInputs(int(solvers.InstantStart)))
	x.followAll(x.model.instantInputs(int(solvers.InstantEnd)))
	for _, t := range []*tape.Tape{c.Initial, c.Final, c.Peaks} {
		x.followAll(inputsOf(t, n, -1))
	}
	for group, t := range c.AtTimes {
		if list := inputsOf(t, n, -1); len(list) > 0 {
			x.followAll(list)
			for i, in := range c.InstantList {
				if in.Kind == tapec.Site && in.Group == group {
					x.followAll(x.model.instantInputs(i))
				}
			}
		}
	}
	for e, t := range c.AtEvents {
		if t == nil {
			continue
		}
		if _, ok := t.Output(n.String()); ok { // what it reads may be a constant, and its number changes
			x.followAll(inputsOf(t, n, -1))
			x.followEvent(e)
		}
	}
	x.followAll(inputsOf(c.Rates, tapec.Name{Role: tapec.Integrand, Of: n.Of}, -1))
	for e, event := range x.model.Checked.Events {
		if event.Stop { // the run may end there
			x.followEvent(e)
		}
	}
}

func (x *dependence) followEvent(e int) {
	if x.fired[e] {
		return
	}
	x.fired[e] = true
	c := x.model.Compiled
	for i, g := range c.GuardList {
		if g.Event == e {
			x.followAll(x.model.guardInputs(i))
		}
	}
	for i, in := range c.InstantList {
		if in.Event == e {
			x.followAll(x.model.instantInputs(i))
		}
	}
}

func (x *dependence) followMode(n tapec.Name, m tapec.Mode) {
	c := x.model.Compiled
	from, to := m.Offset, m.Offset+tape.Shape(m.Shape).Size()
	for i, g := range c.GuardList {
		if g.Event < 0 && g.Mode >= from && g.Mode < to {
			x.followAll(x.model.guardInputs(i))
		}
	}
	for i, in := range c.InstantList {
		if slices.ContainsFunc(in.Modes, func(k int) bool { return k >= from && k < to }) {
			x.followAll(x.model.instantInputs(i))
		}
	}
	if !m.Rooted {
		x.followAll(inputsOf(c.Choose, n, -1))
	}
}
