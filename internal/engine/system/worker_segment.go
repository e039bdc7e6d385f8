package system

import (
	"math"

	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/tapec"
)

// Start implements solvers.System.
func (w *Worker) Start(t0 float64, y, d []float64) {
	w.refresh()
	w.beginKeeping()
	w.Separator.Begin()
	w.watching.begin()
	w.t[0], w.started = t0, t0
	w.out[tapec.Primal][vec.Y], w.out[tapec.Primal][vec.D] = y, d
	w.value.Get(tapec.PartStart).Run(&w.in, &w.out)
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
	c := w.push.Get(tapec.PartStart)
	if c == nil {
		return
	}
	w.t[0] = t0
	w.in[tapec.Tangent][vec.T] = td
	w.out[tapec.Tangent][vec.Y], w.out[tapec.Tangent][vec.D] = yd, dd
	c.Run(&w.in, &w.out)
	for i, cut := range w.problem.Point.Cut {
		if cut {
			clear(yd[i*w.lanes : (i+1)*w.lanes])
		}
	}
}

// StartPull implements solvers.CotangentSystem.
func (w *Worker) StartPull(t0 float64, yb, db, tb []float64) {
	c := w.pull.Get(tapec.PartStart)
	if c == nil {
		return
	}
	for i, cut := range w.problem.Point.Cut {
		if cut {
			yb = append([]float64(nil), yb...)
			clear(yb[i*w.lanes : (i+1)*w.lanes])
		}
	}
	w.t[0] = t0
	w.in[tapec.Cotangent][vec.Y], w.in[tapec.Cotangent][vec.D] = yb, db
	w.out[tapec.Cotangent][vec.T] = tb
	c.Run(&w.in, &w.out)
}

// Enter implements solvers.System.
func (w *Worker) Enter(d, m []float64) {
	w.refresh()
	copy(w.in[tapec.Primal][vec.D], d)
	copy(w.in[tapec.Primal][vec.M], m)
	w.spoil()
	if w.clock != nil && w.clock.searcher != nil {
		w.clock.searcher.Reset()
	}
	if c := w.value.Get(tapec.PartSegmentWork); c != nil {
		c.Run(&w.in, &w.out)
	}
}

// EnterPush implements solvers.TangentSystem.
func (w *Worker) EnterPush(dd []float64) {
	copy(w.dot.d, dd)
	if c := w.push.Get(tapec.PartSegmentWork); c != nil {
		clear(w.dot.e)
		c.Run(&w.in, &w.out)
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
	if w.push.Get(tapec.PartRunWork) != nil {
		w.push.Get(tapec.PartRunWork).Run(&w.in, &w.out)
	}
}

// setSides writes a matrix that moves at element (i, j) of a lane by x as the product of x e_i and e_j.
func (w *Worker) setSides(pd []float64) {
	clear(w.dot.sides)
	l := w.lanes
	for _, s := range w.kit.Sides {
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
	if w.value.Get(tapec.PartChoose) == nil || len(m) == 0 {
		return
	}
	now, in := w.in[tapec.Primal][vec.M], w.in[tapec.Primal][vec.Kept]
	for i := range in {
		in[i] = math.Inf(1)
		if kept != nil && kept[i] {
			in[i] = now[i]
		}
	}
	w.t[0] = t
	w.in[tapec.Primal][vec.Y] = y
	w.out[tapec.Primal][vec.M] = m
	w.value.Get(tapec.PartChoose).Run(&w.in, &w.out)
	for i, k := range kept {
		if k {
			m[i] = now[i]
		}
	}
}
