// Package field computes the rates of a model at any values of its states: the vector field of a phase plane.
package field

import (
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Of returns the names of the states and their rates at any values of these, in that order; value gives the values of
// params, nil for none of that name. It returns nil for a model with arrays of states or algebraic unknowns, or whose
// rates depend on more than states and params: on time, discretes, modes, or what was before.
func Of(c *tapec.Compiled, value func(param string) []float64) (states []string, rates func(y []float64) []float64) {
	if c.Rates == nil || len(c.Model.Differential()) != len(c.Model.States) {
		return nil, nil
	}
	at := map[string]int{}
	for i, s := range c.Model.States {
		if s.Type.Shape.Size() != 1 {
			return nil, nil
		}
		at[s.Name] = i
		states = append(states, s.Name)
	}
	e := tape.NewEvaluator[float64](c.Rates)
	var from []int // the states that inputs read
	for _, in := range c.Rates.Inputs {
		name, to := tapec.MustName(in.Name), e.Input(in.Name)
		i, isState := at[name.Of]
		switch {
		case name.Variation != tapec.Primal:
			return nil, nil
		case name.Role == tapec.State && isState:
			from = append(from, i)
		case name.Role == tapec.Param && len(value(name.Of)) == len(to):
			copy(to, value(name.Of))
			from = append(from, -1)
		default:
			return nil, nil
		}
	}
	return states, func(y []float64) []float64 {
		for k, i := range from {
			if i >= 0 {
				e.Input(c.Rates.Inputs[k].Name)[0] = y[i]
			}
		}
		e.Run()
		out := make([]float64, len(states))
		for _, o := range c.Rates.Outputs {
			name := tapec.MustName(o.Name)
			if i, ok := at[name.Of]; ok && name.Role == tapec.Rate {
				out[i] = e.Output(o.Name)[0]
			}
		}
		return out
	}
}
