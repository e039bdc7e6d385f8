package odes

import (
	"context"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
	"odes.dev/odes/typecheck"
)

// CodeKink warns of a value taken exactly where a function has no derivative.
const CodeKink diag.Code = "kink"

// kinks looks for abs at 0 and for ties of min and max, exactly where a run
// reads its state: at the start, after bodies, and where objectives read. What
// happens between is not looked at: a trajectory crosses a kink in one point,
// which has no weight.
type kinks struct {
	model  *Model
	params []float64
	eval   map[*tape.Tape]*kinkTape
	said   map[source.Span]bool
}

// kinkTape is a tape with operations that have kinks.
type kinkTape struct {
	eval *tape.Evaluator[float64]
	ops  []tape.Value
	// clock are the ops that depend on nothing but the time: at a fixed one, they do not move.
	clock map[tape.Value]bool
}

// newKinks returns nil for a model without kinks.
func (m *Model) newKinks(pt *point) *kinks {
	k := &kinks{model: m, params: pt.p, eval: map[*tape.Tape]*kinkTape{}}
	if !k.any(m.compiled) {
		return nil
	}
	return k
}

// findKinks warns of the kinks of a recorded run and of the objectives' values.
func (r *Runner) findKinks(ctx context.Context, l *diag.List) error {
	k, c := r.kinks, r.model.compiled
	if k == nil {
		return nil
	}
	r.reader.Open(ctx, &r.trajectory)
	k.said = map[source.Span]bool{}
	var m solvers.Mark
	for i := range r.trajectory.Marks() {
		if _, _, err := r.reader.LoadMark(i, &m); err != nil {
			return err
		}
		switch m.Kind {
		case solvers.MarkStart:
			k.look(c.Rates, &m, m.Mp, nil, l)
			k.look(c.Initial, &m, nil, nil, l)
		case solvers.MarkFire:
			k.look(c.Rates, &m, m.Mp, nil, l)
			k.look(c.AtEvents[m.Firing.Event], &m, nil, nil, l)
		case solvers.MarkSite:
			k.look(c.AtTimes[c.InstantList[m.Instant].Group], &m, nil, nil, l)
		case solvers.MarkFinal:
			k.look(c.Final, &m, nil, nil, l)
		}
	}
	k.look(c.Objective, &m, nil, r.res.Functionals, l)
	return nil
}

// any reports whether any tape has an operation with a kink.
func (k *kinks) any(c *tapec.Compiled) bool {
	found := false
	tapes := append([]*tape.Tape{c.Rates, c.Initial, c.Final, c.Objective}, c.AtTimes...)
	for _, t := range append(tapes, c.AtEvents...) {
		if t == nil {
			continue
		}
		kt := &kinkTape{clock: map[tape.Value]bool{}}
		moves := tape.DependsOnFunc(t, func(string) bool { return true })
		steers := tape.DependsOnFunc(t, func(name string) bool {
			at, _, ok := k.model.layout.find(name)
			return !ok || at.vec != vecT
		})
		for i := range t.Instrs {
			v := tape.Value(len(t.Inputs) + i)
			switch t.Instrs[i].Op {
			case tape.Abs, tape.Min, tape.Max:
				if moves[v] {
					kt.ops = append(kt.ops, v)
					kt.clock[v] = !steers[v]
				}
			}
		}
		if len(kt.ops) > 0 {
			kt.eval = tape.NewEvaluator[float64](t)
			k.eval[t] = kt
			found = true
		}
	}
	return found
}

// look evaluates t at a mark and warns of the kinks it stands on.
func (k *kinks) look(t *tape.Tape, m *solvers.Mark, modes, functionals []float64, l *diag.List) {
	kt := k.eval[t]
	if t == nil || kt == nil {
		return
	}
	fired := make([]float64, m.Firing.Elem+1)
	fired[m.Firing.Elem] = 1
	from := map[vector][]float64{
		vecT: {m.T}, vecY: m.Yp, vecYm: m.Ym, vecD: m.Dp, vecDm: m.Dm, vecM: modes, vecP: k.params, vecF: functionals, vecFired: fired,
	}
	for _, in := range t.Inputs {
		at, _, ok := k.model.layout.find(in.Name)
		if !ok || at.vec == vecRow || at.offset > len(from[at.vec]) {
			return // a data row: likelihoods have no kinks of their own
		}
		clear(kt.eval.Input(in.Name))
		copy(kt.eval.Input(in.Name), from[at.vec][at.offset:])
	}
	kt.eval.Run()
	for _, v := range kt.ops {
		in := t.Instr(v)
		if k.said[in.Span] || !tied(kt.eval, in) || kt.clock[v] && k.fixed(m) {
			continue
		}
		k.said[in.Span] = true
		what := map[tape.Op]string{tape.Abs: "abs at 0", tape.Min: "a tie of min", tape.Max: "a tie of max"}[in.Op]
		l.Warnf(CodeKink, in.Span, "%s at %s = %s: there is no derivative there; that of one side, or 0, is used", what, k.model.checked.Time.Name, short(m.T))
	}
}

// fixed reports whether the time of a mark depends on nothing.
func (k *kinks) fixed(m *solvers.Mark) bool {
	if m.Kind == solvers.MarkStart {
		return typecheck.Static(k.model.checked.From)
	}
	if m.Kind != solvers.MarkFire || m.Firing.Event >= len(k.model.checked.Events) {
		return false
	}
	e := k.model.checked.Events[m.Firing.Event]
	for _, x := range append([]typecheck.Expr{e.Every, e.From, e.When, e.Crossing}, e.Times...) {
		if x != nil && !typecheck.Static(x) {
			return false
		}
	}
	return e.When == nil && e.Crossing == nil
}

// tied reports whether an element of abs is at 0, or of min and max has equal operands.
func tied(e *tape.Evaluator[float64], in *tape.Instr) bool {
	a := e.Value(in.Args[0])
	b := []float64{0}
	if in.Op != tape.Abs {
		b = e.Value(in.Args[1])
	}
	if len(a) > 1 && len(b) > 1 && len(a) != len(b) {
		return false // stretched arrays of different shapes are not looked at
	}
	for i := range max(len(a), len(b)) {
		if a[i%len(a)] == b[i%len(b)] {
			return true
		}
	}
	return false
}
