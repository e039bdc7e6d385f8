package lag

import (
	"slices"

	"odes.dev/odes/solvers"
)

// Steps by delays that stay read what is known before they are made, since none is longer than the shortest delay. So
// all that the rows of a step read is gathered at once, and the step is made by one program; its transpose likewise.

// asWhole is the step that was made as a whole last.
type asWhole struct {
	form  *solvers.Arithmetic // nil for none
	t, t1 float64
	y1    []float64
	curve curve
	taus  []float64 // cotangents of the time of a row
}

// made reports whether s is that step.
func (w *asWhole) made(by solvers.Method, s *solvers.Step) bool {
	if w.form == nil || s.T != w.t || s.T1 != w.t1 {
		return false
	}
	a, ok := by.(solvers.Arithmetical)
	return ok && a.Arithmetic() == w.form && slices.Equal(s.Y1, w.y1)
}

// lagsOf writes what rows of K from the first on read of the past in a step to lags, [rows][lags].
func lagsOf(x *Worker, s *solvers.Step, nodes []float64, first int, lags []float64) {
	r := x.rec
	x.taus(s.T, s.Y0)
	for j := first; j < len(nodes); j++ {
		row := lags[j*r.lags:][:r.lags]
		if j > first && nodes[j] == nodes[j-1] {
			copy(row, lags[(j-1)*r.lags:])
			continue
		}
		t := s.Node(nodes[j])
		for i := range r.takes {
			step, theta := x.locate(i, t)
			x.take(i, step, theta, s.Y0, row)
		}
	}
}

// MakeStep implements solvers.Stepper.
func (x *Worker) MakeStep(a *solvers.Arithmetic, s *solvers.Step, reuse bool) bool {
	w := &x.asWhole
	w.form = nil
	if x.rec.moving > 0 || s.H == 0 || len(x.rec.gaps) == 0 {
		return false
	}
	lags := x.w.Lags(a)
	if lags == nil {
		return false
	}
	if !reuse {
		k := len(s.Y0) + len(s.DQ)
		x.Eval(s.T, s.Y0, s.K[:k:k])
	}
	lagsOf(x, s, a.Nodes, 1, lags)
	w.curve = x.w.MakeReading(a, s)
	w.form, w.t, w.t1, w.y1 = a, s.T, s.T1, append(w.y1[:0], s.Y1...)
	return true
}

// PullSeededStep implements solvers.SeededStepPuller.
func (x *Worker) PullSeededStep(
	a *solvers.Arithmetic, s *solvers.Step, c *solvers.StepCotangent, seeds *solvers.Seeds,
) bool {
	if x.rec.moving > 0 || s.H == 0 {
		return false
	}
	lags := x.w.PulledLags(a)
	if lags == nil {
		return false
	}
	lagsOf(x, s, a.Nodes, 0, lags)
	bars := x.w.PullReading(a, s, c, seeds)
	n := x.rec.lags * x.l
	for i := a.Rows - 1; i >= 0; i-- {
		bar := bars[i*(n+x.l):][:n+x.l]
		copy(x.yb[x.n*x.l:], bar[:n])
		at := append(x.asWhole.taus[:0], bar[n:]...)
		x.pull(s.Node(a.Nodes[i]), x.yb, at)
		add(c.T0, at)
		x.asWhole.taus = at
	}
	return true
}
