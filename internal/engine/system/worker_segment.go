package system

import (
	"math"

	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/tapec"
)

// Start implements solvers.System.
func (w *Worker) Start(t0 float64, y, d []float64) {
	w.refresh()
	w.BeginKeeping()
	w.Separator.Begin()
	w.watching.begin()
	w.T[0], w.started = t0, t0
	w.Out[tapec.Primal][vec.Y], w.Out[tapec.Primal][vec.D] = y, d
	w.Primals.Get(tapec.PartStart).Run(&w.In, &w.Out)
	for i, cut := range w.problem.Point.Cut {
		if cut {
			y[i] = w.problem.Point.Initial[i]
		}
	}
	for i, by := range w.problem.Point.Moved {
		y[i] += by
	}
}

// StartPush implements solvers.TangentSystem.
func (w *Worker) StartPush(t0 float64, td, yd, dd []float64) {
	clear(yd)
	clear(dd)
	c := w.Tangents.Get(tapec.PartStart)
	if c == nil {
		return
	}
	w.T[0] = t0
	w.In[tapec.Tangent][vec.T] = td
	w.Out[tapec.Tangent][vec.Y], w.Out[tapec.Tangent][vec.D] = yd, dd
	c.Run(&w.In, &w.Out)
	for i, cut := range w.problem.Point.Cut {
		if cut {
			clear(yd[i*w.Width : (i+1)*w.Width])
		}
	}
}

// StartPull implements solvers.CotangentSystem.
func (w *Worker) StartPull(t0 float64, yb, db, tb []float64) {
	c := w.Transposes.Get(tapec.PartStart)
	if c == nil {
		return
	}
	for i, cut := range w.problem.Point.Cut {
		if cut {
			yb = append([]float64(nil), yb...)
			clear(yb[i*w.Width : (i+1)*w.Width])
		}
	}
	w.T[0] = t0
	w.In[tapec.Cotangent][vec.Y], w.In[tapec.Cotangent][vec.D] = yb, db
	w.Out[tapec.Cotangent][vec.T] = tb
	c.Run(&w.In, &w.Out)
}

// Enter implements solvers.System.
func (w *Worker) Enter(d, m []float64) {
	w.refresh()
	copy(w.In[tapec.Primal][vec.D], d)
	copy(w.In[tapec.Primal][vec.M], m)
	w.spoil()
	if w.clock != nil && w.clock.searcher != nil {
		w.clock.searcher.Reset()
	}
	if c := w.Primals.Get(tapec.PartSegmentWork); c != nil {
		c.Run(&w.In, &w.Out)
	}
}

// EnterPush implements solvers.TangentSystem.
func (w *Worker) EnterPush(dd []float64) {
	copy(w.dot.d, dd)
	if c := w.Tangents.Get(tapec.PartSegmentWork); c != nil {
		clear(w.dot.e)
		c.Run(&w.In, &w.Out)
	}
}

// SetTangent implements solvers.TangentSystem.
func (w *Worker) SetTangent(pd []float64) {
	w.refresh()
	copy(w.dot.p, pd)
	w.setSides(pd)
	clear(w.dot.c)
	clear(w.dot.e)
	clear(w.dot.d)
	if w.Tangents.Get(tapec.PartRunWork) != nil {
		w.Tangents.Get(tapec.PartRunWork).Run(&w.In, &w.Out)
	}
}

// setSides writes a matrix that moves at element (i, j) of a lane by x as the product of x e_i and e_j.
func (w *Worker) setSides(pd []float64) {
	clear(w.dot.sides)
	l := w.Width
	for _, s := range w.Kit.Sides {
		for at, x := range pd[s.Column.Offset*l : (s.Column.Offset+s.Column.Len)*l] {
			if x != 0 {
				lane, i, j := at%l, at/l/s.Cols, at/l%s.Cols
				w.dot.sides[(s.At+i)*l+lane], w.dot.sides[(s.At+s.Rows+j)*l+lane] = x, 1
			}
		}
	}
}

// Choose implements solvers.System.
func (w *Worker) Choose(t float64, y []float64, kept []bool, m []float64) {
	if w.Primals.Get(tapec.PartChoose) == nil || len(m) == 0 {
		return
	}
	now, in := w.In[tapec.Primal][vec.M], w.In[tapec.Primal][vec.Kept]
	for i := range in {
		in[i] = math.Inf(1)
		if kept != nil && kept[i] {
			in[i] = now[i]
		}
	}
	w.T[0] = t
	w.In[tapec.Primal][vec.Y] = y
	w.Out[tapec.Primal][vec.M] = m
	w.Primals.Get(tapec.PartChoose).Run(&w.In, &w.Out)
	for i, k := range kept {
		if k {
			m[i] = now[i]
		}
	}
}
