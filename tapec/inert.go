package tapec

import (
	"slices"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/tape"
)

// Inert reports whether nothing that decides about a run reads discrete s but assignments to itself, as of one that
// counts.
func (c *Compiled) Inert(s *model.Symbol) bool {
	reads := func(name string) bool {
		n := MustName(name)
		return (n.Role == Discrete || n.Role == LeftDiscrete) && n.Of == s.Name
	}
	some := func(t *tape.Tape) bool {
		return t != nil && slices.ContainsFunc(t.Inputs, func(in tape.Input) bool { return reads(in.Name) })
	}
	if slices.ContainsFunc(c.Model.Lags, func(l *model.Lag) bool { return l.State == s }) {
		return false
	}
	parts := []*tape.Tape{c.Rates, c.Delays, c.Instants, c.Choose, c.Guards, c.Clocks, c.Priorities}
	if slices.ContainsFunc(parts, some) {
		return false
	}
	for _, t := range c.Affects {
		if !some(t) {
			continue
		}
		depends := tape.DependsOnFunc(t, reads)
		for _, out := range t.Outputs {
			if depends[out.Value] && !reads(out.Name) {
				return false
			}
		}
	}
	return true
}

// LagInputs lists what n is made of, where that is a state or a discrete at earlier times: that, and what the delay
// reads.
func (c *Compiled) LagInputs(n Name) (list []Name) {
	for _, l := range c.Model.Lags {
		if n.Role != State || n.Of != l.Value.Name {
			continue
		}
		of := State
		if l.State.Kind == model.DiscreteSymbol {
			of = Discrete
		}
		list = append(list, of.Called(l.State.Name), Discrete.Called(l.Delay.Name))
		if l.Moves {
			for _, in := range c.Delays.Inputs {
				list = append(list, MustName(in.Name))
			}
		}
	}
	return list
}
