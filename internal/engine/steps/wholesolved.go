package steps

import (
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Whole steps of methods that solve equations contain the elimination, with fixed pivots. Where rows are exchanged
// (small dense matrices), each sequence of exchanges has programs of its own. A program tells when its pivots do not
// serve; then the step is made stage by stage, to the bits that it has anyhow.

// solvedSteps is a worker's use of the programs for one sequence of exchanges of rows.
type solvedSteps struct {
	form         *matrices.SolvedArithmetic
	exchanges    []float64
	name         string // of the exchanges
	steps, pulls wholeSteps

	kept, runs, failed int // of steps: where their factors are in the output, and how often pivots did not serve
}

// noSolved has no programs.
var noSolved = solvedSteps{steps: wholeSteps{never: true}, pulls: wholeSteps{never: true}}

const (
	// solvedKinds is the most sequences of exchanges, of all methods, that may have programs.
	solvedKinds = 16
	// solvedFails is how many steps may be in vain, besides a part of all.
	solvedFails = 100
	// solvedWork is the most elements that a step may compute in a lane, nearly each by an instruction: longer code is
	// no faster than calls.
	solvedWork = 12288
	// CompileAfter.Small is meant for steps of so many instructions that these and solvedBase are solvedMean. Compiling
	// takes longer in proportion, while a step saves little more.
	solvedMean = 2048
	solvedBase = 512
)

// work estimates the instructions of a step by form.
func (w *Steps) work(form *matrices.SolvedArithmetic, m *matrices.StepMatrix) int {
	rates, all := w.Kit.Value.Get(tapec.PartRates).Tape, w.Kit.Layout.NY+w.Kit.Layout.NQ
	return m.Flops/2 + form.Stages*(m.Factors+compiled.Elements(rates, 1)+form.Stages*all)
}

// solvedBy returns what is known of whole steps by form with the given exchanges of rows.
func (w *Steps) solvedBy(form *matrices.SolvedArithmetic, exchanges []float64) *solvedSteps {
	is := func(v *solvedSteps) bool { return v.form == form && slices.Equal(v.exchanges, exchanges) }
	if v := w.solved; v != nil && is(v) {
		return v
	}
	i := slices.IndexFunc(w.solveds, is)
	if i < 0 {
		i = len(w.solveds)
		if i == solvedKinds {
			return &noSolved
		}
		w.solveds = append(w.solveds, &solvedSteps{
			form: form, exchanges: slices.Clone(exchanges), name: fmt.Sprint(exchanges),
		})
	}
	w.solved = w.solveds[i]
	return w.solved
}

// ready reports whether there is a program. It compiles the program when enough steps have been made.
func (v *solvedSteps) ready(w *Steps, m *matrices.StepMatrix, back bool) bool {
	p := &v.steps
	if back {
		p = &v.pulls
	}
	if p.never {
		return p.Call != nil
	}
	key := compiled.WholeKey{Form: &v.form.Arithmetic, Back: back, Exchanges: v.name, Kit: w.Kit}
	after := p.after
	if p.made == nil {
		work := w.work(v.form, m)
		if p.never = work > solvedWork; p.never {
			return false
		}
		pays := float64(w.Task.CompileAfter.Small) * float64(work+solvedBase) / solvedMean
		if back {
			pays *= 2.0 / 3 // each saves more
		}
		after = int(min(pays, 1e15))
	}
	if !p.due(w, key, after) {
		return false
	}
	p.never = true
	rates, l := w.Primals.Get(tapec.PartRates), w.Kit.Layout
	if rates.Code.Backend() == simd.Generic || !rates.Covers(tapec.Primal, vec.K, l.NY+l.NQ) ||
		back && (w.Transposes.Get(tapec.PartRates) == nil || w.Shared != nil) {
		return false
	}
	q := w.Kit.Whole(key, func() *compiled.WholeProgram { return newSolved(w.Kit, v, m, back) })
	if q == nil {
		return false
	}
	p.bind(w, q, back, l.NY)
	if !back {
		v.kept = q.Kept
		for i, x := range q.Fixed {
			p.out[q.Kept+i] = x
		}
	}
	return true
}

// newSolved compiles a step, or its transpose; nil if it would be too large.
func newSolved(k *compiled.Kit, v *solvedSteps, x *matrices.StepMatrix, back bool) *compiled.WholeProgram {
	straight := x.Analysis.Straight(v.exchanges)
	rates, jacobian := k.Value.Get(tapec.PartRates).Tape, k.Value.Get(tapec.PartJacobian).Tape
	m := newSolvedMaker(k.Layout, rates, jacobian, v.form, x, straight, nil)
	out, lanes := &compiled.WholeProgram{}, 1
	var t *tape.Tape
	var sums []string
	if back {
		pull, curl := k.Pull.Get(tapec.PartRates), k.Pull.Get(tapec.PartJacobian)
		if curl == nil {
			curl = &compiled.Program{}
		}
		t, sums = m.backward(pull.Tape, curl.Tape, noteOf(k))
		lanes = k.Lanes
	} else {
		t, out.Fixed = m.forward()
		out.Kept = m.kept
	}
	if compiled.Elements(t, 1) > solvedWork {
		return nil
	}
	return programOf(k, out, m.stepMaker, t, sums, lanes)
}

// MakeSolvedStep implements matrices.SolvingStepper.
func (w *Steps) MakeSolvedStep(a *matrices.SolvedArithmetic, m *matrices.StepMatrix, s *solvers.Step, reuse bool,
	x *matrices.SolvedStep,
) bool {
	straight := len(x.Kept) - m.Analysis.Exchanges()
	v := w.solvedBy(a, x.Kept[straight:])
	if v.steps.Call == nil && !v.ready(w, m, false) {
		return false
	}
	n, k := len(s.Y0), len(s.Y0)+len(s.DQ)
	if !reuse {
		w.Field.Eval(s.T, s.Y0, s.K[:k:k])
	}
	p := &v.steps
	p.in[0], p.in[1], p.in[2] = s.T, s.H, s.T1
	copy(p.in[3:], s.Y0)
	copy(p.in[3+n:], s.K[:k])
	p.RunBound(&w.In, &w.Out)
	out := p.out
	v.runs++
	end := v.kept - len(x.Entries) - 2*k
	if out[len(out)-1] != 1 || !allFinite(out[end:end+n]) {
		if v.failed++; v.failed > solvedFails && v.failed > v.runs/8 {
			p.Call = nil
		}
		return false
	}
	copy(s.K[k:], out[:end])
	copy(s.Y1, out[end:])
	copy(s.DQ, out[end+n:])
	if len(s.E) > 0 {
		s.Estimated = true
		copy(s.E, out[end+k:])
	}
	copy(x.Entries, out[end+2*k:])
	copy(x.Kept[:straight], out[v.kept:])
	return true
}

func allFinite(x []float64) bool {
	for _, v := range x {
		if !(math.Abs(v) <= math.MaxFloat64) {
			return false
		}
	}
	return true
}

// PullSolvedStep implements matrices.SolvingStepPuller.
func (w *Steps) PullSolvedStep(a *matrices.SolvedArithmetic, m *matrices.StepMatrix, s *solvers.Step,
	c *solvers.StepCotangent, kept []float64,
) bool {
	entries := len(kept) - len(m.All)
	v := w.solvedBy(a, kept[entries-m.Analysis.Exchanges():entries])
	if v.pulls.Call == nil && !v.ready(w, m, true) {
		return false
	}
	p, n := &v.pulls, len(s.Y0)
	rows := a.Stages * (n + len(s.DQ))
	copy(p.in[3+n:], s.K[:rows])
	copy(p.in[3+n+rows:], kept)
	w.pullBy(p, s, c)
	return true
}
