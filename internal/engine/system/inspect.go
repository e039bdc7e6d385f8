package system

import (
	"math"
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/origin"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/internal/engine/work"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// outputs are what is asked of a model beside a run: outputs and invariants, and where numbers come from that are not
// finite.
type outputs struct {
	*work.Space
	*serving
	model *compiled.Model
}

// OutputWidth returns the number of elements of all outputs.
func (w *outputs) OutputWidth() int {
	n := 0
	for _, b := range w.Primals.Get(tapec.PartOutputs).Outs {
		n = max(n, b.Hi)
	}
	return n
}

// Outputs writes the outputs[OutputWidth()] at (t, y, d), with the modes that were entered last.
func (w *outputs) Outputs(t float64, y, d, outputs []float64) {
	w.RunAt(w.Primals.Get(tapec.PartOutputs), vec.Out, t, y, d, outputs)
}

// Invariants writes gaps[2·invariants] at (t, y, d): first how far the two sides of each invariant
// differ, then how large they are.
func (w *outputs) Invariants(t float64, y, d, gaps []float64) {
	w.RunAt(w.Primals.Get(tapec.PartInvariants), vec.Other, t, y, d, gaps)
}

// NonFinite returns where the first number that is not finite comes from in the rates at (t, y) with discretes d and
// modes m. It returns false if no number is, or if no expression of the text makes it.
func (w *outputs) NonFinite(t float64, y, d, m []float64) (origin.Origin, bool) {
	return w.nonFinite(w.model.Compiled.Rates, t, y, d, m)
}

// NonFiniteJacobian does the same for the Jacobian of the rates.
func (w *outputs) NonFiniteJacobian(t float64, y, d, m []float64) (origin.Origin, bool) {
	j, err := w.model.Programs.WithJacobian(w.problem.Split)
	if err != nil {
		return origin.Origin{}, false
	}
	return w.nonFinite(j.Made.Tape, t, y, d, m)
}

// NonFiniteGuards does the same for the guards.
func (w *outputs) NonFiniteGuards(t float64, y, d, m []float64) (origin.Origin, bool) {
	if w.model.Compiled.Guards == nil {
		return origin.Origin{}, false
	}
	return w.nonFinite(w.model.Compiled.Guards, t, y, d, m)
}

// NonFiniteBody finds the assignment that makes a number not finite in the body of f at (t, y, d), left limits, and
// where that number comes from. It returns nil if none does.
func (w *outputs) NonFiniteBody(f solvers.Firing, t float64, y, d []float64) (*model.Assign, origin.Origin) {
	of, e := w.model.Compiled.Affects[f.Event], w.model.Checked.Events[f.Event]
	fired := fire[float64](w.model, nil, f, true)
	run := tape.NewEvaluator[float64](of)
	w.model.Load(of, run, &vec.Values{vec.T: {t}, vec.Y: y, vec.P: w.problem.Point.P, vec.D: d, vec.Fired: fired})
	run.Run()
	for _, out := range of.Outputs {
		if !slices.ContainsFunc(run.Value(out.Value), func(x float64) bool { return x-x != 0 }) {
			continue
		}
		from, _ := w.model.OriginIn(run, out.Value)
		for _, a := range e.Body {
			if a.Target.Name == tapec.MustName(out.Name).Of {
				return a, from
			}
		}
	}
	return nil, origin.Origin{}
}

func (w *outputs) nonFinite(of *tape.Tape, t float64, y, d, m []float64) (origin.Origin, bool) {
	e := tape.NewEvaluator[float64](of)
	w.model.Load(of, e, &vec.Values{
		vec.T: {t}, vec.Y: y, vec.P: w.problem.Point.P, vec.D: d, vec.M: m,
		vec.Kept: slices.Repeat([]float64{math.Inf(1)}, w.Kit.Layout.NM),
	})
	e.Run()
	if v, found := e.FirstNonFinite(); found && int(v) < len(of.Inputs) &&
		tapec.MustName(of.Inputs[v].Name).Role == tapec.HeldMode {
		return w.nonFinite(w.model.Compiled.Choose, t, y, d, m) // which made it
	}
	return w.model.OriginIn(e)
}
