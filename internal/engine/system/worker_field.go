package system

import (
	"math"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tapec"
)

// smallVectors is the memory that stays bound; nil for a vector that is bound anew for each call.
type smallVectors struct {
	y, k       []float64 // [N], [N+Q]
	kb, yb, tb []float64 // [(N+Q)·L], [N·L], [L]
}

func newSmallVectors(w *Worker) (s smallVectors) {
	size := w.Size()
	n, q, l := size.N, size.Q, w.lanes
	if n+q <= compiled.SmallEval && w.kit.Layout.NLags == 0 {
		s.y, s.k = make([]float64, n), make([]float64, n+q)
	}
	if (n+q)*l <= compiled.SmallPull && s.y != nil && w.shared == nil && w.book != nil && w.book.Record == 0 {
		s.kb, s.yb, s.tb = make([]float64, (n+q)*l), make([]float64, n*l), make([]float64, l)
	}
	return s
}

// splitParts are the parts of models that are the parts of rates.
var splitParts = [...]tapec.Part{
	solvers.WholeRates: tapec.PartRates, solvers.ImplicitRates: tapec.PartImplicit,
	solvers.ExplicitRates: tapec.PartExplicit,
}

// Take implements solvers.SplitField.
func (w *Worker) Take(part solvers.RatesPart) { w.rates = splitParts[part] }

// Take implements solvers.SplitField.
func (w *ComplexWorker) Take(part solvers.RatesPart) { w.rates = splitParts[part] }

// Splits implements solvers.SplitField.
func (w *Worker) Splits() bool { return w.problem.Split }

// Splits implements solvers.SplitField.
func (w *ComplexWorker) Splits() bool { return w.problem.Split }

var _, _ solvers.SplitField = (*Worker)(nil), (*ComplexWorker)(nil)

// Eval implements solvers.Field.
func (w *Worker) Eval(t float64, y, k []float64) {
	if in := &w.in[tapec.Primal]; w.domain != nil &&
		w.beyond(&vec.Values{vec.T: {t}, vec.Y: y, vec.P: w.problem.Point.P, vec.D: in[vec.D], vec.M: in[vec.M]}) {
		for i := range k {
			k[i] = math.NaN()
		}
		return
	}
	if w.rates != tapec.PartRates {
		w.evalPart(w.value.Get(w.rates), vec.K, t, y, k)
		return
	}
	if w.keeping != nil {
		w.evalKept(t, y, k)
		return
	}
	w.t[0] = t
	if s := &w.small; s.y != nil {
		copyFew(s.y, y[:len(s.y)])
		if c := w.value.Get(tapec.PartRates); c.Bound {
			c.Machine.Run()
		} else {
			w.in[tapec.Primal][vec.Y], w.out[tapec.Primal][vec.K] = s.y, s.k
			c.RunBound(&w.in, &w.out)
		}
		copyFew(k, s.k)
		return
	}
	w.in[tapec.Primal][vec.Y] = y
	w.out[tapec.Primal][vec.K] = k
	w.value.Get(tapec.PartRates).RunMoved(&w.in, &w.out)
}

// Push implements solvers.TangentField.
func (w *Worker) Push(t float64, y, td, yd, kd []float64) {
	if w.rates != tapec.PartRates {
		w.pushPart(w.push.Get(w.rates), vec.K, t, y, td, yd, kd)
		return
	}
	if w.push.Get(tapec.PartRates) == nil {
		clear(kd)
		return
	}
	w.t[0] = t
	w.in[tapec.Primal][vec.Y] = y
	w.in[tapec.Tangent][vec.T], w.in[tapec.Tangent][vec.Y] = td, yd
	w.out[tapec.Tangent][vec.K] = kd
	if !w.push.Get(tapec.PartRates).Covers(tapec.Tangent, vec.K, len(kd)) {
		clear(kd)
	}
	w.push.Get(tapec.PartRates).RunMoved(&w.in, &w.out)
}

// Pull implements solvers.CotangentField.
func (w *Worker) Pull(t float64, y, kb, yb, tb []float64) {
	if w.rates != tapec.PartRates {
		w.pullPart(w.pull.Get(w.rates), vec.K, t, y, kb, yb, tb)
		return
	}
	rates := w.pull.Get(tapec.PartRates)
	if rates == nil {
		clear(yb)
		clear(tb)
		return
	}
	w.t[0] = t
	if kept := w.keptStage(t, y); kept != nil {
		rates = kept
	} else if s := &w.small; s.kb != nil {
		copy(s.y, y)
		copy(s.kb, kb)
		w.in[tapec.Primal][vec.Y], w.in[tapec.Cotangent][vec.K] = s.y, s.kb
		w.out[tapec.Cotangent][vec.Y], w.out[tapec.Cotangent][vec.T] = s.yb, s.tb // zero where nothing is written
		rates.RunBound(&w.in, &w.out)
		copy(yb, s.yb)
		copy(tb, s.tb)
		return
	}
	w.in[tapec.Primal][vec.Y] = y
	w.in[tapec.Cotangent][vec.K] = kb
	w.out[tapec.Cotangent][vec.Y], w.out[tapec.Cotangent][vec.T] = yb, tb
	if !rates.Covers(tapec.Cotangent, vec.Y, len(yb)) {
		clear(yb)
	}
	if !rates.Covers(tapec.Cotangent, vec.T, len(tb)) {
		clear(tb)
	}
	if w.shared != nil {
		w.in[tapec.Primal][vec.W] = w.sharedWork()
	}
	w.out[tapec.Primal][vec.Factors] = w.book.Next()
	rates.RunMoved(&w.in, &w.out)
}

// Prices implements solvers.Priced.
func (w *Worker) Prices() (rates, jacobian float64) { return w.kit.Prices() }

// Forget implements solvers.Revisitor.
func (w *Worker) Forget() {
	w.Visit(-1)
	for i := range w.visits.valid {
		w.visits.valid[i] = false
	}
}

// Visit implements solvers.Revisitor. Where there are algebraic equations, a step is pulled at more points than its
// stages: its end, and any that are observed.
func (w *Worker) Visit(step int) {
	if w.model.Mass != nil {
		step = -1
	}
	w.visits.step, w.visits.stage = step, 0
}

// sharedWork returns the work that all sweeps share at the current stage. It is computed on the first
// visit.
func (w *Worker) sharedWork() []float64 {
	v := &w.visits
	if v.step < 0 {
		w.out[tapec.Primal][vec.W] = v.scratch
		w.shared.RunMoved(&w.in, &w.out)
		return v.scratch
	}
	at := v.step*w.problem.Stages + v.stage
	v.stage++
	for len(v.kept) <= at {
		v.kept, v.valid = append(v.kept, nil), append(v.valid, false)
	}
	if v.valid[at] {
		return v.kept[at]
	}
	to := v.kept[at]
	switch {
	case to != nil:
		v.valid[at] = true
	case v.room >= len(v.scratch):
		to = make([]float64, len(v.scratch))
		v.kept[at], v.valid[at], v.room = to, true, v.room-len(to)
	default:
		to = v.scratch
	}
	w.out[tapec.Primal][vec.W] = to
	w.shared.RunMoved(&w.in, &w.out)
	return to
}
