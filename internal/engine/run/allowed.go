package run

import (
	"math"
	"slices"

	"odes.dev/odes/lang/model"
)

// allowed returns, for each objective, the error that absolute tolerances allow it where these follow the sizes of
// states: of final values of states, and their sums and differences. A state that has decayed to less has no digits of
// its own, in whatever unit it is. Elsewhere it is 0; it is nil if tolerances are given.
func (r *Run) allowed() []float64 {
	n := r.model.System.States()
	if !r.settings.Solver.Sized() || len(r.tolerances) != n {
		return nil
	}
	of := map[*model.Objective]float64{}
	out := make([]float64, len(r.objectives))
	for i, o := range r.objectives {
		if _, known := of[o.of]; !known {
			of[o.of] = r.allows(o.of.Value, false)
		}
		if out[i] = of[o.of]; !(out[i] <= math.MaxFloat64) {
			out[i] = 0
		}
	}
	return out
}

// allows returns the error of e, or NaN where nothing is known; end tells that e is read at the end of the run.
func (r *Run) allows(e model.Expr, end bool) float64 {
	switch e := e.(type) {
	case *model.Functional:
		if e.Kind == model.Final {
			return r.allows(e.Body, true)
		}
	case *model.Const:
		return 0
	case *model.Access:
		return r.allows(e.X, end)
	case *model.Ref:
		switch {
		case e.Sym.Kind == model.ParamSymbol:
			return 0
		case e.Sym.Kind == model.StateSymbol && end && !e.Sym.Hidden:
			at, each := r.model.System.State(e.Sym.Name), r.settings.Solver.ATols
			if each != nil && slices.Min(each[at.Offset:][:at.Len]) >= 0 {
				return 0 // given
			}
			return slices.Max(r.tolerances[at.Offset:][:at.Len])
		}
	case *model.Call:
		if name := e.Fn.Name; name == "+" || name == "-" || name == "neg" {
			sum := 0.0
			for _, x := range e.Args {
				sum += r.allows(x, end)
			}
			return sum
		}
	}
	return math.NaN()
}
