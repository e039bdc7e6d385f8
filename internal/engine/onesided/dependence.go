package onesided

import (
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// dependence follows names: what they depend on in the course of any run.
type dependence struct {
	model   *compiled.Model
	point   *compiled.Point
	atStart bool   // nothing but the start counts
	set     bool   // when a body sets a discrete counts only where what it sets it to has the time in it
	happens []bool // of each event whether it happens at all; nil: all may
	params  map[string]bool
	initial map[string]bool // states whose initial values count
	seen    map[tapec.Name]bool
	fired   map[int]bool // events of which the times have been followed
}

func newDependence(p *compiled.Task, happens []bool) dependence {
	return dependence{
		model: p.Model, point: p.Point, happens: happens, params: map[string]bool{}, initial: map[string]bool{},
		seen: map[tapec.Name]bool{}, fired: map[int]bool{},
	}
}

// moves reports whether anything that derivatives are taken by is among what has been followed.
func (x *dependence) moves(of *compiled.Task) bool {
	for p := range x.params {
		if _, active := of.Plan.Columns[p]; active {
			return true
		}
	}
	return slices.ContainsFunc(of.Free, func(at vec.Place) bool {
		for s := range x.initial {
			if x.model.State(s).Offset == at.Offset {
				return true
			}
		}
		return false
	})
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
		for _, d := range c.Defaults {
			if d.Param.Name == n.Of && x.point.FollowsOthers(d.Param) {
				x.followAll(compiled.InputsOf(d.Tape, n, -1))
			}
		}
	case tapec.State, tapec.Discrete:
		if n.Role == tapec.State {
			x.initial[n.Of] = true
			x.followAll(x.model.InstantInputs(int(solvers.InstantStart)))
		}
		x.followAll(append(compiled.InputsOf(c.Start, n, -1), c.LagInputs(n)...))
		if n.Role == tapec.State {
			for _, out := range x.model.EquationsOf(n.Of) {
				if !x.atStart || out.Role == tapec.Residual { // unknowns follow from their equations at the start, too
					x.followAll(compiled.InputsOf(c.Rates, out, -1))
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
				list := compiled.InputsOf(t, n, -1)
				x.followAll(list)
				timed := func(n tapec.Name) bool { return n.Role == tapec.Time }
				if !x.set || n.Role == tapec.State || slices.ContainsFunc(list, timed) {
					x.followEvent(e)
				}
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
	x.followAll(x.model.InstantInputs(int(solvers.InstantStart)))
	x.followAll(x.model.InstantInputs(int(solvers.InstantEnd)))
	for _, t := range []*tape.Tape{c.Initial, c.Final, c.Peaks} {
		x.followAll(compiled.InputsOf(t, n, -1))
	}
	for group, t := range c.AtTimes {
		if list := compiled.InputsOf(t, n, -1); len(list) > 0 {
			x.followAll(list)
			for i, in := range c.InstantList {
				if in.Kind == tapec.Site && in.Group == group {
					x.followAll(x.model.InstantInputs(i))
				}
			}
		}
	}
	for e, t := range c.AtEvents {
		if t == nil {
			continue
		}
		if _, ok := t.Output(n.String()); ok { // what it reads may be a constant, and its number changes
			x.followAll(compiled.InputsOf(t, n, -1))
			x.followEvent(e)
		}
	}
	x.followAll(compiled.InputsOf(c.Rates, tapec.Name{Role: tapec.Integrand, Of: n.Of}, -1))
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
			x.followAll(x.model.GuardInputs(i))
		}
	}
	for i, in := range c.InstantList {
		if in.Event == e {
			x.followAll(x.model.InstantInputs(i))
		}
	}
}

func (x *dependence) followMode(n tapec.Name, m tapec.Mode) {
	c := x.model.Compiled
	from, to := m.Offset, m.Offset+tape.Shape(m.Shape).Size()
	for i, g := range c.GuardList {
		if g.Event < 0 && g.Mode >= from && g.Mode < to {
			x.followAll(x.model.GuardInputs(i))
		}
	}
	for i, in := range c.InstantList {
		if slices.ContainsFunc(in.Modes, func(k int) bool { return k >= from && k < to }) {
			x.followAll(x.model.InstantInputs(i))
		}
	}
	if !m.Rooted {
		x.followAll(compiled.InputsOf(c.Choose, n, -1))
	}
}
