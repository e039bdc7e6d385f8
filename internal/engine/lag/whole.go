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

	places []reading // of the step that is made or transposed
	times  []float64 // cotangents of the time of a row
}

// made reports whether s is that step.
func (w *asWhole) made(by solvers.Method, s *solvers.Step) bool {
	if w.form == nil || s.T != w.t || s.T1 != w.t1 {
		return false
	}
	a, ok := by.(solvers.Arithmetical)
	return ok && a.Arithmetic() == w.form && slices.Equal(s.Y1, w.y1)
}

// reading is where the past is read: a step of the record, and where in it.
type reading struct {
	step  int
	theta float64
}

// reach makes x.places those that rows of K from the first on read in a step, [delays][rows].
func reach(x *Worker, s *solvers.Step, nodes []float64, first int) {
	r, rows := x.rec, len(nodes)
	x.taus(s.T, s.Y0)
	if room := len(r.delays) * rows; len(x.places) < room {
		x.places = make([]reading, room)
	}
	for i := range r.delays {
		lo, hi := 0, -1
		if region := regionOf(x, i); region >= 0 {
			lo, hi = r.bounds(region)
		}
		at, k := x.places[i*rows:][:rows], x.last[i]
		for j := first; j < rows; j++ {
			if j > first && nodes[j] == nodes[j-1] {
				at[j] = at[j-1]
				continue
			}
			t := s.Node(nodes[j])
			u := t - x.tau[i]
			if k < hi && k >= 0 && r.steps[k+1].T < u {
				k++
			}
			if k >= lo && k <= hi {
				// As a rule the step is that of the last reading, or the next one.
				p := &r.steps[k]
				if p.T < u && (k == hi || !(r.steps[k+1].T < u)) && p.H > 0 && p.T < x.from {
					at[j] = reading{k, (u - p.T) / p.H}
					continue
				}
			}
			x.last[i] = max(k, 0)
			at[j].step, at[j].theta = x.locate(i, t)
			k = x.last[i]
		}
		x.last[i] = max(k, 0)
	}
}

// lagsOf writes what rows of K from the first on read of the past in a step to lags, [rows][lags].
func lagsOf(x *Worker, s *solvers.Step, nodes []float64, first int, lags []float64) {
	reach(x, s, nodes, first)
	r, rows := x.rec, len(nodes)
	for i := range r.delays {
		for j, at := range x.places[i*rows:][:rows] {
			if j >= first {
				take(x, i, at.step, at.theta, s.Y0, lags[j*r.lags:][:r.lags])
			}
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
	l, n, rows := x.l, x.rec.lags*x.l, len(a.Nodes)
	for j := rows - 1; j >= 0; j-- {
		bar := bars[j*(n+l):][:n+l]
		times := append(x.asWhole.times[:0], bar[n:]...)
		for i := range x.rec.delays {
			if at := x.places[i*rows+j]; pulls(x, i, bar) {
				untake(x, i, at.step, at.theta, bar, times)
			}
		}
		add(c.T0, times)
		x.asWhole.times = times
	}
	return true
}
