package system

import (
	"fmt"
	"io"
	"math"
	"slices"

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
	for _, b := range w.value.Get(tapec.PartOutputs).outs {
		n = max(n, b.hi)
	}
	return n
}

// Outputs writes the outputs[OutputWidth()] at (t, y, d), with the modes that were entered last.
func (w *Worker) Outputs(t float64, y, d, outputs []float64) {
	w.runAt(w.value.Get(tapec.PartOutputs), vec.Out, t, y, d, outputs)
}

// Invariants writes gaps[2·invariants] at (t, y, d): first how far the two sides of each invariant
// differ, then how large they are.
func (w *Worker) Invariants(t float64, y, d, gaps []float64) {
	w.runAt(w.value.Get(tapec.PartInvariants), vec.Other, t, y, d, gaps)
}

// runAt runs c at (t, y, d), and restores the discretes of the run afterwards.
func (w *Worker) runAt(c *call, to vec.Vector, t float64, y, d, out []float64) {
	w.t[0] = t
	saved, other := w.in[tapec.Primal][vec.D], w.out[tapec.Primal][to]
	w.in[tapec.Primal][vec.Y], w.in[tapec.Primal][vec.D], w.out[tapec.Primal][to] = y, d, out
	c.run(&w.in, &w.out)
	w.in[tapec.Primal][vec.D], w.out[tapec.Primal][to] = saved, other
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

// Stats returns the statistics of the program of the rates and of that of their transpose; nil where
// there is none.
func (k *Kit) Stats() (rates, transpose *vm.Stats) {
	rates = stats(k.value.Get(tapec.PartRates))
	if k.pull != nil {
		transpose = stats(k.pull.Get(tapec.PartRates))
	}
	return rates, transpose
}

// StepStats returns the statistics of the worker's programs of whole steps and of their transposes;
// nil where there is none.
func (w *Worker) StepStats() (step, transpose *vm.Stats) {
	a, b := w.made()
	return stats(a), stats(b)
}

// StepPrograms counts programs of whole steps.
type StepPrograms struct {
	Steps, Transposes int
	Noting            int // of the transposes: those that record factors of products
	Tangents, Seconds int // tangents of steps, and of transposes
	Peaks             int // readings of what is to be largest
}

// StepPrograms counts the programs of whole steps that the model's workers have compiled.
func (m *Model) StepPrograms() (n StepPrograms) {
	m.programs.mu.Lock()
	defer m.programs.mu.Unlock()
	seen := map[*program]bool{}
	for _, k := range m.programs.kits {
		of := k.value.Get(tapec.PartRates)
		if seen[of] {
			continue
		}
		seen[of] = true
		of.wholes.mu.Lock()
		for key, p := range of.wholes.programs {
			switch {
			case p == nil, key.guards:
			case key.peaks:
				n.Peaks++
			case key.tangent && key.back:
				n.Seconds++
			case key.tangent:
				n.Tangents++
			case !key.back:
				n.Steps++
			default:
				n.Transposes++
				if len(p.notes) > 0 {
					n.Noting++
				}
			}
		}
		of.wholes.mu.Unlock()
	}
	return n
}

func stats(p *program) *vm.Stats {
	if p == nil {
		return nil
	}
	s := p.code.Stats()
	return &s
}

// NonFinite returns where the first number that is not finite comes from in the rates at (t, y) with discretes d and
// modes m. It returns false if no number is, or if no expression of the text makes it.
func (w *Worker) NonFinite(t float64, y, d, m []float64) (origin.Origin, bool) {
	return w.nonFinite(w.model.Compiled.Rates, t, y, d, m)
}

// NonFiniteJacobian does the same for the Jacobian of the rates.
func (w *Worker) NonFiniteJacobian(t float64, y, d, m []float64) (origin.Origin, bool) {
	j, err := w.model.programs.withJacobian(w.problem.Split)
	if err != nil {
		return origin.Origin{}, false
	}
	return w.nonFinite(j.made.Tape, t, y, d, m)
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
	w.model.load(of, run, &vec.Values{vec.T: {t}, vec.Y: y, vec.P: w.problem.Point.p, vec.D: d, vec.Fired: fired})
	run.Run()
	for _, out := range of.Outputs {
		if !slices.ContainsFunc(run.Value(out.Value), func(x float64) bool { return x-x != 0 }) {
			continue
		}
		from, _ := w.model.originIn(run, out.Value)
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
	w.model.load(of, e, &vec.Values{
		vec.T: {t}, vec.Y: y, vec.P: w.problem.Point.p, vec.D: d, vec.M: m,
		vec.Kept: slices.Repeat([]float64{math.Inf(1)}, w.kit.layout.NM),
	})
	e.Run()
	if v, found := e.FirstNonFinite(); found && int(v) < len(of.Inputs) &&
		tapec.MustName(of.Inputs[v].Name).Role == tapec.HeldMode {
		return w.nonFinite(w.model.Compiled.Choose, t, y, d, m) // which made it
	}
	return w.model.originIn(e)
}

// NonFiniteValue returns the expression that makes an objective infinite or NaN, at the functionals of a run: the one
// that the objective reads it from, through others that inherit it. row is the objective's place among all. It returns
// false if no expression of the text makes it. functional is the element of the functionals that it is, or -1.
func (p *Task) NonFiniteValue(row int, functionals []float64) (from origin.Origin, functional int, found bool) {
	t := p.Model.Compiled.Objective
	e := tape.NewEvaluator[float64](t)
	p.Model.load(t, e, &vec.Values{vec.F: functionals, vec.P: p.Point.p})
	e.Run()
	wrong := func(v tape.Value) bool {
		return slices.ContainsFunc(e.Value(v), func(x float64) bool { return x-x != 0 })
	}
	v, _ := t.Output(tapec.Objectives.Name().String())
	for {
		in := t.Instr(v)
		if in == nil {
			break
		}
		next := v
		for k, a := range in.Args {
			switch {
			case in.Op == tape.Concat && in.Attr.Axis == 0 && row >= 0: // of the objectives
				if row -= t.Shape(a).Size(); row < 0 {
					next = a
				}
			case in.Op == tape.Select && !slices.Contains(e.Value(in.Args[0]), float64(2-k)):
				// The condition, or a branch that is not taken.
			case t.Instr(a) != nil && t.Instr(a).Op == tape.Const:
				// A constant has no place that tells more.
			case next == v && wrong(a):
				next = a
			}
		}
		if next == v {
			break
		}
		v, row = next, -1
	}
	from, functional = origin.Origin{Span: t.Span(v), Cause: tape.Cause(e, v)}, -1
	if int(v) < len(t.Inputs) {
		if place, ok := p.Model.layout.Find(tapec.MustName(t.Inputs[v].Name)); ok && place.Vec == vec.F {
			functional = place.Offset
			for functional < place.Offset+place.Len-1 && functionals[functional]-functionals[functional] == 0 {
				functional++
			}
			from.Span = p.Model.FunctionalSpan(functional)
		}
	}
	return from, functional, !from.Span.IsZero()
}

// EmitTapes writes the model's tapes.
func (m *Model) EmitTapes(w io.Writer) error {
	return m.emit(w, func(_ derivatives, t *tape.Tape) (*tape.Tape, error) { return t, nil })
}

// EmitTransposes writes the transposes of the model's tapes, by all params.
func (m *Model) EmitTransposes(w io.Writer) error {
	return m.emit(w, func(d derivatives, t *tape.Tape) (*tape.Tape, error) { return d.pull(t, false) })
}

// EmitTangents writes the tangents of the model's tapes, by all params.
func (m *Model) EmitTangents(w io.Writer) error {
	return m.emit(w, func(d derivatives, t *tape.Tape) (*tape.Tape, error) { return d.push(t) })
}

// emit writes what of makes of each tape of the model; nil is nothing.
func (m *Model) emit(w io.Writer, of func(derivatives, *tape.Tape) (*tape.Tape, error)) error {
	d := derivatives{active: map[string]bool{}}
	for _, name := range Names(m.Checked.Params) {
		d.active[name] = true
	}
	printer := tape.Printer{MaxData: 16}
	for _, t := range m.programs.tapes.All(runOrder...) {
		if t == nil {
			continue
		}
		t, err := of(d, t)
		if err != nil {
			return err
		}
		if t == nil {
			continue
		}
		if err := printer.Print(w, t); err != nil {
			return err
		}
		if _, err = io.WriteString(w, "\n"); err != nil {
			return err
		}
	}
	return nil
}

// EmitPrograms writes a line for each of the machine's programs of values and transposes.
func (m *Model) EmitPrograms(w io.Writer) error {
	k, err := m.programs.kit(kitWith{lanes: 1, active: Names(m.Checked.Params), dir: Pull})
	if err != nil {
		return err
	}
	for _, s := range []*tapec.Parts[*program]{k.value, k.pull} {
		for _, p := range s.All(runOrder...) {
			if p == nil {
				continue
			}
			n := p.code.Stats()
			_, err := fmt.Fprintf(w, "%s\t%d lanes\t%d instructions\t%d steps\t%d bytes\t%d flops\t%d blocks of "+
				"%d machine instructions in %d bytes\n",
				p.tape.Name, p.lanes, n.Instructions, n.Steps, n.Bytes, n.Flops, n.Native.Blocks,
				n.Native.Instructions, n.Native.Bytes)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// runOrder is the order in which a run meets the parts of a model.
var runOrder = []tapec.Part{
	tapec.PartRunWork, tapec.PartSegmentWork, tapec.PartStart, tapec.PartInstants, tapec.PartChoose, tapec.PartRates,
	tapec.PartGuards, tapec.PartClocks, tapec.PartPriorities,
	tapec.PartAffects, tapec.PartInitial, tapec.PartAtTimes, tapec.PartAtEvents, tapec.PartFinal, tapec.PartPeaks,
	tapec.PartObjective,
	tapec.PartOutputs, tapec.PartInvariants,
}
