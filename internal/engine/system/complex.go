package system

import (
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/orbit"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// ComplexWorker evaluates a model in complex arithmetic. It uses the tapes as the compiler made them,
// before hoisting and differentiation, and so is an independent reference for derivatives.
type ComplexWorker struct {
	problem *Problem
	model   *compiled.Model
	parts   *tapec.Parts[*evaluation]
	vec     [vec.Count][]complex128
	rates   tapec.Part     // see Take
	flights *orbit.Flights // nil where no state repeats
}

// evaluation is a tape's evaluator with the places its inputs and outputs bind to.
type evaluation struct {
	eval      *tape.Evaluator[complex128]
	ins, outs []storage
}

type storage struct {
	part vec.Part
	data []complex128
}

// ComplexWorker returns a complex worker for the problem.
func (p *Problem) ComplexWorker() *ComplexWorker {
	m := p.Model
	h := &m.Programs.Hoisted
	if p.Jacobian {
		j, err := m.Programs.WithJacobian(p.Split)
		if err != nil {
			panic("system: " + err.Error()) // the run that is repeated had it
		}
		h = &j.Hoisted
	}
	l := h.Layout
	w := &ComplexWorker{problem: p, model: m, rates: tapec.PartRates, flights: newFlights(m)}
	tapes := h.Tapes.Without(tapec.PartRunWork, tapec.PartSegmentWork, tapec.PartChoose,
		tapec.PartClocks, tapec.PartPriorities, tapec.PartOutputs, tapec.PartInvariants)
	tapes.Set(tapec.PartRates, h.Rates)
	tapes.Set(tapec.PartJacobian, h.Jacobian)
	w.parts, _ = tapec.Transform(tapes, func(_ tapec.PartIndex, t *tape.Tape) (*evaluation, error) {
		if t == nil {
			return nil, nil
		}
		e := &evaluation{eval: tape.NewEvaluator[complex128](t)}
		for _, in := range t.Inputs {
			p := l.Part(tapec.MustName(in.Name))
			e.ins = append(e.ins, storage{p, e.eval.Input(in.Name)})
		}
		for _, out := range t.Outputs {
			p := l.Part(tapec.MustName(out.Name))
			e.outs = append(e.outs, storage{p, e.eval.Output(out.Name)})
		}
		return e, nil
	})
	for v, n := range map[vec.Vector]int{
		vec.T: 1, vec.P: l.NP, vec.D: l.ND, vec.M: l.NM, vec.F: l.NF, vec.Times: len(m.Compiled.InstantList),
		vec.Rho: len(m.Compiled.GuardList), vec.Truth: len(m.Compiled.GuardList), vec.Psi: l.Objectives,
	} {
		w.vec[v] = make([]complex128, n)
	}
	return w
}

// run reads inputs from the vectors of w and writes outputs to out.
func (w *ComplexWorker) run(e *evaluation, out *[vec.Count][]complex128) {
	for _, s := range e.ins {
		copy(s.data, w.vec[s.part.Vec][s.part.Offset:])
	}
	e.eval.Run()
	for _, s := range e.outs {
		copy(out[s.part.Vec][s.part.Offset:], s.data)
	}
}

// Size implements solvers.ComplexSystem.
func (w *ComplexWorker) Size() solvers.Size { return w.problem.Size() }

// SetParameters implements solvers.ComplexSystem: p are the active parameters.
// Defaults that follow other parameters are not recomputed.
func (w *ComplexWorker) SetParameters(p []complex128) {
	for i, x := range w.problem.Point.P {
		w.vec[vec.P][i] = complex(x, 0)
	}
	for _, name := range w.problem.Active {
		column := w.problem.Column(name)
		copy(w.vec[vec.P][w.model.Param(name).Offset:], p[column.Offset:column.Offset+column.Len])
	}
}

// Start implements solvers.ComplexSystem.
func (w *ComplexWorker) Start(t0 complex128, y, d []complex128) {
	w.vec[vec.T][0] = t0
	out := [vec.Count][]complex128{vec.Y: y, vec.D: d}
	w.run(w.parts.Get(tapec.PartStart), &out)
	for i, cut := range w.problem.Point.Cut {
		if cut {
			y[i] = complex(w.problem.Point.Initial[i], 0)
		}
	}
}

// Enter implements solvers.ComplexSystem.
func (w *ComplexWorker) Enter(d []complex128, m []float64) {
	copy(w.vec[vec.D], d)
	for i, x := range m {
		w.vec[vec.M][i] = complex(x, 0)
	}
}

// Eval implements solvers.ComplexSystem.
func (w *ComplexWorker) Eval(t complex128, y, k []complex128) {
	w.vec[vec.T][0], w.vec[vec.Y] = t, y
	out := [vec.Count][]complex128{vec.K: k}
	w.run(w.parts.Get(w.rates), &out)
}

// Guard implements solvers.ComplexSystem.
func (w *ComplexWorker) Guard(i int, t complex128, y []complex128) complex128 {
	w.vec[vec.T][0], w.vec[vec.Y] = t, y
	w.run(w.parts.Get(tapec.PartGuards), &w.vec)
	return w.vec[vec.Rho][i]
}

// Instant implements solvers.ComplexSystem.
func (w *ComplexWorker) Instant(i int) complex128 {
	w.run(w.parts.Get(tapec.PartInstants), &w.vec)
	times := w.vec[vec.Times]
	if f := w.flights; f != nil {
		now := make([]float64, len(times))
		for j, x := range times {
			now[j] = real(x)
		}
		if f.Shift(now); f.Skip(i) != 0 {
			return elem.CFMA(complex(float64(f.Skip(i)), 0), times[f.List[i].Period], times[i])
		}
	}
	return times[i]
}

// Affect implements solvers.ComplexSystem. The body of an event that settles begins its search at yp.
func (w *ComplexWorker) Affect(f solvers.Firing, t complex128, ym, dm, yp, dp []complex128) {
	guess := slices.Clone(yp)
	w.assign(f, t, ym, dm, yp, dp)
	if w.model.Checked.Events[f.Event].Settles {
		w.settle(f, t, guess, yp, dp)
	}
}

// assign executes the assignments of a body.
func (w *ComplexWorker) assign(f solvers.Firing, t complex128, ym, dm, yp, dp []complex128) {
	copy(yp, ym)
	copy(dp, dm)
	body := w.parts.List(tapec.PartAffects)[f.Event]
	if body == nil {
		return
	}
	saved := w.vec[vec.D]
	w.vec[vec.Fired] = fire[complex128](w.model, nil, f, true)
	w.vec[vec.T][0], w.vec[vec.Y], w.vec[vec.D] = t, ym, dm
	out := [vec.Count][]complex128{vec.Y: yp, vec.D: dp}
	w.run(body, &out)
	w.vec[vec.D] = saved
}

// Observe implements sens.ComplexObjectives.
func (w *ComplexWorker) Observe(s sens.Site, t complex128, ym, dm, yp, dp, functionals []complex128) {
	c := w.model.Compiled
	var e *evaluation
	switch s.Kind {
	case sens.SiteInitial:
		e = w.parts.Get(tapec.PartInitial)
	case sens.SiteFinal:
		e = w.parts.Get(tapec.PartFinal)
	case sens.SiteTime:
		e = w.parts.List(tapec.PartAtTimes)[c.InstantList[s.Index].Group]
		w.vec[vec.Row] = nil
		for _, x := range w.model.Rows[s.Index] {
			w.vec[vec.Row] = append(w.vec[vec.Row], complex(x, 0))
		}
	case sens.SitePeak:
		e = w.parts.Get(tapec.PartPeaks)
	case sens.SiteEvent:
		e = w.parts.List(tapec.PartAtEvents)[s.Firing.Event]
		w.vec[vec.Fired] = fire[complex128](w.model, nil, s.Firing, false)
	}
	if e == nil {
		return
	}
	saved := w.vec[vec.D]
	w.vec[vec.T][0], w.vec[vec.Y], w.vec[vec.D], w.vec[vec.Ym], w.vec[vec.Dm] = t, yp, dp, ym, dm
	read := [vec.Count][]complex128{vec.F: make([]complex128, len(functionals))}
	w.run(e, &read)
	w.vec[vec.D] = saved
	if s.Kind == sens.SitePeak {
		for _, p := range s.Peaks {
			functionals[p.Element] = elem.CFMA(complex(p.Weight, 0), read[vec.F][p.Element], functionals[p.Element])
		}
		return
	}
	for _, o := range e.outs {
		k := w.model.FunctionalAt(o.part.Offset)
		if f := &c.Functionals[k]; s.Kind == sens.SiteEvent && f.Nth > 0 && f.Nth != s.Firing.Nth+1 {
			continue
		}
		for j := range o.data {
			functionals[o.part.Offset+j] += read[vec.F][o.part.Offset+j]
		}
	}
}

// Values implements sens.ComplexObjectives.
func (w *ComplexWorker) Values(functionals, psi []complex128) {
	c := w.parts.Get(tapec.PartObjective)
	if c == nil {
		return
	}
	w.vec[vec.F] = functionals
	w.run(c, &w.vec)
	for i, row := range w.problem.Rows {
		psi[i] = w.vec[vec.Psi][row]
	}
}
