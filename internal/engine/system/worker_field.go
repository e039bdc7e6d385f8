package system

import (
	"math"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/internal/engine/work"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tapec"
)

// smallVectors is the memory that stays bound; nil for a vector that is bound anew for each call.
type smallVectors struct {
	y, k       []float64 // [N], with what is read of the past, [N+Q]
	kb, yb, tb []float64 // [(N+Q)·L], those of y, [L]
}

func newSmallVectors(w *Worker) (s smallVectors) {
	size := w.Size()
	n, rates, l := size.N+w.Kit.Layout.NLags, size.N+size.Q, w.Width
	if max(n, rates) <= compiled.SmallEval {
		s.y, s.k = make([]float64, n), make([]float64, rates)
	}
	if max(n, rates)*l <= compiled.SmallPull && s.y != nil && w.Shared == nil && w.Book != nil && w.Book.Record == 0 {
		s.kb, s.yb, s.tb = make([]float64, rates*l), make([]float64, n*l), make([]float64, l)
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
	if in := &w.In[tapec.Primal]; w.domain != nil &&
		w.beyond(&vec.Values{vec.T: {t}, vec.Y: y, vec.P: w.problem.Point.P, vec.D: in[vec.D], vec.M: in[vec.M]}) {
		for i := range k {
			k[i] = math.NaN()
		}
		return
	}
	if w.rates != tapec.PartRates {
		w.evalPart(w.Primals.Get(w.rates), vec.K, t, y, k)
		return
	}
	if w.Keeping != nil {
		w.EvalKept(t, y, k)
		return
	}
	w.T[0] = t
	if s := &w.small; s.y != nil {
		work.CopyFew(s.y, y[:len(s.y)])
		if c := w.Primals.Get(tapec.PartRates); c.Bound {
			c.Machine.Run()
		} else {
			w.In[tapec.Primal][vec.Y], w.Out[tapec.Primal][vec.K] = s.y, s.k
			c.RunBound(&w.In, &w.Out)
		}
		work.CopyFew(k, s.k)
		return
	}
	w.In[tapec.Primal][vec.Y] = y
	w.Out[tapec.Primal][vec.K] = k
	w.Primals.Get(tapec.PartRates).RunMoved(&w.In, &w.Out)
}

// Push implements solvers.TangentField.
func (w *Worker) Push(t float64, y, td, yd, kd []float64) {
	if w.rates != tapec.PartRates {
		w.pushPart(w.Tangents.Get(w.rates), vec.K, t, y, td, yd, kd)
		return
	}
	if w.Tangents.Get(tapec.PartRates) == nil {
		clear(kd)
		return
	}
	w.T[0] = t
	w.In[tapec.Primal][vec.Y] = y
	w.In[tapec.Tangent][vec.T], w.In[tapec.Tangent][vec.Y] = td, yd
	w.Out[tapec.Tangent][vec.K] = kd
	if !w.Tangents.Get(tapec.PartRates).Covers(tapec.Tangent, vec.K, len(kd)) {
		clear(kd)
	}
	w.Tangents.Get(tapec.PartRates).RunMoved(&w.In, &w.Out)
}

// Pull implements solvers.CotangentField.
func (w *Worker) Pull(t float64, y, kb, yb, tb []float64) {
	if w.rates != tapec.PartRates {
		w.pullPart(w.Transposes.Get(w.rates), vec.K, t, y, kb, yb, tb)
		return
	}
	rates := w.Transposes.Get(tapec.PartRates)
	if rates == nil {
		clear(yb)
		clear(tb)
		return
	}
	w.T[0] = t
	if kept := w.KeptStage(t, y); kept != nil {
		rates = kept
	} else if s := &w.small; s.kb != nil {
		copy(s.y, y)
		copy(s.kb, kb)
		w.In[tapec.Primal][vec.Y], w.In[tapec.Cotangent][vec.K] = s.y, s.kb
		w.Out[tapec.Cotangent][vec.Y], w.Out[tapec.Cotangent][vec.T] = s.yb, s.tb // zero where nothing is written
		rates.RunBound(&w.In, &w.Out)
		copy(yb, s.yb)
		copy(tb, s.tb)
		return
	}
	w.In[tapec.Primal][vec.Y] = y
	w.In[tapec.Cotangent][vec.K] = kb
	w.Out[tapec.Cotangent][vec.Y], w.Out[tapec.Cotangent][vec.T] = yb, tb
	if !rates.Covers(tapec.Cotangent, vec.Y, len(yb)) {
		clear(yb)
	}
	if !rates.Covers(tapec.Cotangent, vec.T, len(tb)) {
		clear(tb)
	}
	if w.Shared != nil {
		w.In[tapec.Primal][vec.W] = w.sharedWork()
	}
	w.Out[tapec.Primal][vec.Factors] = w.Book.Next()
	rates.RunMoved(&w.In, &w.Out)
}

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
		w.Out[tapec.Primal][vec.W] = v.scratch
		w.Shared.RunMoved(&w.In, &w.Out)
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
	w.Out[tapec.Primal][vec.W] = to
	w.Shared.RunMoved(&w.In, &w.Out)
	return to
}
