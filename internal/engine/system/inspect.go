package system

import (
	"math"
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/origin"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
	"odes.dev/odes/vm"
)

// This file is for inspection: what a model was compiled to, and its outputs and invariants beside a run.

// OutputWidth returns the number of elements of all outputs.
func (w *Worker) OutputWidth() int {
	n := 0
	for _, b := range w.Primals.Get(tapec.PartOutputs).Outs {
		n = max(n, b.Hi)
	}
	return n
}

// Outputs writes the outputs[OutputWidth()] at (t, y, d), with the modes that were entered last.
func (w *Worker) Outputs(t float64, y, d, outputs []float64) {
	w.runAt(w.Primals.Get(tapec.PartOutputs), vec.Out, t, y, d, outputs)
}

// Invariants writes gaps[2·invariants] at (t, y, d): first how far the two sides of each invariant
// differ, then how large they are.
func (w *Worker) Invariants(t float64, y, d, gaps []float64) {
	w.runAt(w.Primals.Get(tapec.PartInvariants), vec.Other, t, y, d, gaps)
}

// runAt runs c at (t, y, d), and restores the discretes of the run afterwards.
func (w *Worker) runAt(c *compiled.Call, to vec.Vector, t float64, y, d, out []float64) {
	w.T[0] = t
	saved, other := w.In[tapec.Primal][vec.D], w.Out[tapec.Primal][to]
	w.In[tapec.Primal][vec.Y], w.In[tapec.Primal][vec.D], w.Out[tapec.Primal][to] = y, d, out
	c.Run(&w.In, &w.Out)
	w.In[tapec.Primal][vec.D], w.Out[tapec.Primal][to] = saved, other
}

// AtStart puts a worker at the start of a run. It returns the times of all Instants and the initial
// state.
func (w *Worker) AtStart() (times, y []float64) {
	size := w.Size()
	y = make([]float64, size.N)
	d, modes := make([]float64, size.D), make([]float64, size.M)
	times = make([]float64, len(w.Instants()))
	w.InstantTimes(d, times)
	t := times[solvers.InstantStart]
	w.Start(t, y, d)
	w.Enter(d, modes)
	w.Choose(t, y, nil, modes)
	w.Enter(d, modes)
	w.InstantTimes(d, times)
	return times, y
}

// StepStats returns the statistics of the worker's programs of whole steps and of their transposes;
// nil where there is none.
func (w *Worker) StepStats() (step, transpose *vm.Stats) {
	a, b := w.Made()
	return compiled.Stats(a), compiled.Stats(b)
}

// NonFinite returns where the first number that is not finite comes from in the rates at (t, y) with discretes d and
// modes m. It returns false if no number is, or if no expression of the text makes it.
func (w *Worker) NonFinite(t float64, y, d, m []float64) (origin.Origin, bool) {
	return w.nonFinite(w.model.Compiled.Rates, t, y, d, m)
}

// NonFiniteJacobian does the same for the Jacobian of the rates.
func (w *Worker) NonFiniteJacobian(t float64, y, d, m []float64) (origin.Origin, bool) {
	j, err := w.model.Programs.WithJacobian(w.problem.Split)
	if err != nil {
		return origin.Origin{}, false
	}
	return w.nonFinite(j.Made.Tape, t, y, d, m)
}

// NonFiniteGuards does the same for the guards.
func (w *Worker) NonFiniteGuards(t float64, y, d, m []float64) (origin.Origin, bool) {
	if w.model.Compiled.Guards == nil {
		return origin.Origin{}, false
	}
	return w.nonFinite(w.model.Compiled.Guards, t, y, d, m)
}

// NonFiniteBody finds the assignment that makes a number not finite in the body of f at (t, y, d), left limits, and
// where that number comes from. It returns nil if none does.
func (w *Worker) NonFiniteBody(f solvers.Firing, t float64, y, d []float64) (*model.Assign, origin.Origin) {
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

func (w *Worker) nonFinite(of *tape.Tape, t float64, y, d, m []float64) (origin.Origin, bool) {
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
