package system

import (
	"math"

	"odes.dev/odes/lang/source"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Kinks finds operations that a run evaluates exactly where they have no derivative: abs at 0, and
// ties of min and max. It belongs to one goroutine.
type Kinks struct {
	model *Model
	point *Point
	tapes map[*tape.Tape]*kinkTape
}

// Kink is an operation that was evaluated where it has no derivative.
type Kink struct {
	Op   tape.Op
	Span source.Span
	// Clock tells that the operation depends on nothing but the time. At a fixed time it does not
	// move.
	Clock bool
}

// kinkTape is a tape with operations that have kinks.
type kinkTape struct {
	eval  *tape.Evaluator[float64]
	ops   []tape.Value
	clock map[tape.Value]bool
}

// Kinks returns what finds the kinks of the model; nil if it has no operation with kinks.
func (p *Problem) Kinks() *Kinks {
	c := p.Model.Compiled
	k := &Kinks{model: p.Model, point: p.Point, tapes: map[*tape.Tape]*kinkTape{}}
	for _, list := range [][]*tape.Tape{{c.Rates, c.Initial, c.Final, c.Objective}, c.AtTimes, c.AtEvents} {
		for _, t := range list {
			k.add(t)
		}
	}
	if len(k.tapes) == 0 {
		return nil
	}
	return k
}

// add notes the operations of t that have kinks.
func (k *Kinks) add(t *tape.Tape) {
	if t == nil {
		return
	}
	kt := &kinkTape{clock: map[tape.Value]bool{}}
	moves := tape.DependsOnFunc(t, func(string) bool { return true })
	steers := tape.DependsOnFunc(t, func(name string) bool {
		return tapec.MustName(name).Role != tapec.Time
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
		k.tapes[t] = kt
	}
}

// AtMark lists the kinks at which the model is at a mark of a run of length span: in what objectives read
// there, and in the rates if they do not leave them. A kink at one moment has no weight in an integral.
func (k *Kinks) AtMark(m *solvers.Mark, span float64) []Kink {
	c := k.model.Compiled
	switch m.Kind {
	case solvers.MarkStart:
		return append(k.stay(m, span), k.look(c.Initial, m, nil, nil)...)
	case solvers.MarkFire:
		return append(k.stay(m, span), k.look(c.AtEvents[m.Firing.Event], m, nil, nil)...)
	case solvers.MarkSite:
		return k.look(c.AtTimes[c.InstantList[m.Instant].Group], m, nil, nil)
	case solvers.MarkFinal:
		return k.look(c.Final, m, nil, nil)
	}
	return nil
}

// InValues lists the kinks at which the objectives are, as functions of functionals. m is the last
// mark.
func (k *Kinks) InValues(m *solvers.Mark, functionals []float64) []Kink {
	c := k.model.Compiled
	if c.Objective == nil {
		return nil
	}
	return k.look(c.Objective, m, nil, functionals)
}

// stay lists the kinks at which the rates are at a mark, and a little later along the field.
func (k *Kinks) stay(m *solvers.Mark, span float64) []Kink {
	t := k.model.Compiled.Rates
	if len(k.look(t, m, m.Mp, nil)) == 0 {
		return nil
	}
	later, eps := *m, float64(0x1p-20*span)
	later.T, later.Yp = m.T+eps, append([]float64(nil), m.Yp...)
	for _, out := range t.Outputs {
		if at := k.model.layout.part(tapec.MustName(out.Name)); at.vec == vecK {
			for i, f := range k.tapes[t].eval.Output(out.Name) {
				if n := at.offset + i; n < len(later.Yp) { // a state, and no integral
					later.Yp[n] = math.FMA(eps, f, later.Yp[n])
				}
			}
		}
	}
	return k.look(t, &later, m.Mp, nil)
}

// look evaluates t at a mark.
func (k *Kinks) look(t *tape.Tape, m *solvers.Mark, modes, functionals []float64) []Kink {
	kt := k.tapes[t]
	if t == nil || kt == nil {
		return nil
	}
	fired := make([]float64, m.Firing.Elem+1)
	fired[m.Firing.Elem] = 1
	at := values{
		vecT: {m.T}, vecY: m.Yp, vecYm: m.Ym, vecD: m.Dp, vecDm: m.Dm, vecM: modes, vecP: k.point.p, vecF: functionals,
		vecFired: fired,
	}
	if !k.model.load(t, kt.eval, &at) {
		return nil // a data row: likelihoods have no kinks of their own
	}
	kt.eval.Run()
	var found []Kink
	for _, v := range kt.ops {
		if in := t.Instr(v); tied(kt.eval, in) {
			found = append(found, Kink{Op: in.Op, Span: in.Span, Clock: kt.clock[v]})
		}
	}
	return found
}

// tied reports whether an element of abs is 0, or whether min or max has equal operands.
func tied(e *tape.Evaluator[float64], in *tape.Instr) bool {
	a := e.Value(in.Args[0])
	b := []float64{0}
	if in.Op != tape.Abs {
		b = e.Value(in.Args[1])
	}
	if len(a) > 1 && len(b) > 1 && len(a) != len(b) {
		return false // broadcast operands are not compared
	}
	for i := range max(len(a), len(b)) {
		if a[i%len(a)] == b[i%len(b)] {
			return true
		}
	}
	return false
}
