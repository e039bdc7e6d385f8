package system

// Start implements solvers.System.
func (w *Worker) Start(t0 float64, y, d []float64) {
	w.refresh()
	w.t[0], w.started = t0, t0
	w.out[primal][vecY], w.out[primal][vecD] = y, d
	w.value.start.run(&w.in, &w.out)
	for i, cut := range w.problem.Point.cut {
		if cut {
			y[i] = w.problem.Point.initial[i]
		}
	}
}

// StartPush implements solvers.TangentSystem.
func (w *Worker) StartPush(t0 float64, td, yd, dd []float64) {
	clear(yd)
	clear(dd)
	if w.push.start == nil {
		return
	}
	w.t[0] = t0
	w.in[tangent][vecT] = td
	w.out[tangent][vecY], w.out[tangent][vecD] = yd, dd
	w.push.start.run(&w.in, &w.out)
	for i, cut := range w.problem.Point.cut {
		if cut {
			clear(yd[i*w.lanes : (i+1)*w.lanes])
		}
	}
}

// StartPull implements solvers.CotangentSystem.
func (w *Worker) StartPull(t0 float64, yb, db, tb []float64) {
	if w.pull.start == nil {
		return
	}
	for i, cut := range w.problem.Point.cut {
		if cut {
			yb = append([]float64(nil), yb...)
			clear(yb[i*w.lanes : (i+1)*w.lanes])
		}
	}
	w.t[0] = t0
	w.in[cotangent][vecY], w.in[cotangent][vecD] = yb, db
	w.out[cotangent][vecT] = tb
	w.pull.start.run(&w.in, &w.out)
}

// Enter implements solvers.System.
func (w *Worker) Enter(d, m []float64) {
	w.refresh()
	copy(w.in[primal][vecD], d)
	copy(w.in[primal][vecM], m)
	if w.value.segment != nil {
		w.value.segment.run(&w.in, &w.out)
	}
}

// EnterPush implements solvers.TangentSystem.
func (w *Worker) EnterPush(dd []float64) {
	copy(w.dot.d, dd)
	if w.push.segment != nil {
		clear(w.dot.e)
		w.push.segment.run(&w.in, &w.out)
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
	if w.push.once != nil {
		w.push.once.run(&w.in, &w.out)
	}
}

// setSides writes a matrix that moves at element (i, j) of a lane by x as the product of x e_i and e_j.
func (w *Worker) setSides(pd []float64) {
	clear(w.dot.sides)
	l := w.lanes
	for _, s := range w.kit.sides {
		for at, x := range pd[s.column.offset*l : (s.column.offset+s.column.len)*l] {
			if x != 0 {
				lane, i, j := at%l, at/l/s.cols, at/l%s.cols
				w.dot.sides[(s.at+i)*l+lane], w.dot.sides[(s.at+s.rows+j)*l+lane] = x, 1
			}
		}
	}
}

// Choose implements solvers.System.
func (w *Worker) Choose(t float64, y, m []float64) {
	if w.value.choose == nil || len(m) == 0 {
		return
	}
	w.t[0] = t
	w.in[primal][vecY] = y
	w.out[primal][vecM] = m
	w.value.choose.run(&w.in, &w.out)
}
