package lag

import (
	"cmp"
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

	ordered *solvers.Arithmetic // of which rows are
	rows    []int
	places  []reading // of the step that is made or transposed
	times  []float64 // cotangents of the time of a row
	slopes []float64 // [rows][lags]
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

// byTime makes x.rows the rows of K in the order of their times. Rows of a step read neighbours then.
func (w *asWhole) byTime(form *solvers.Arithmetic) {
	if w.ordered == form {
		return
	}
	w.ordered, w.rows = form, w.rows[:0]
	for j := range form.Nodes {
		w.rows = append(w.rows, j)
	}
	slices.SortStableFunc(w.rows, func(a, b int) int { return cmp.Compare(form.Nodes[a], form.Nodes[b]) })
}

// reach makes x.places those that rows of K from the first on read in a step, [delays][rows].
func reach(x *Worker, s *solvers.Step, form *solvers.Arithmetic, first int) {
	r, nodes := x.rec, form.Nodes
	x.taus(s.T, s.Y0)
	x.byTime(form)
	if room := len(r.delays) * len(nodes); len(x.places) < room {
		x.places = make([]reading, room)
	}
	for i := range r.delays {
		lo, hi := 0, -1
		if region := regionOf(x, i); region >= 0 {
			lo, hi = r.bounds(region)
		}
		at, tau, was := x.places[i*len(nodes):][:len(nodes)], x.tau[i], -1
		k := min(max(x.last[i], lo), hi)
		for _, j := range x.asWhole.rows {
			if j < first {
				continue
			}
			if was >= 0 && nodes[j] == nodes[was] {
				at[j] = at[was]
				continue
			}
			t := s.Node(nodes[j])
			u := t - tau
			// As a rule the step is that of the row before or the next one, or for the first row of a transpose the
			// one before.
			if k >= lo && k < hi && r.steps[k+1].T < u {
				k++
			} else if was < 0 && k > lo && !(r.steps[k].T < u) {
				k--
			}
			if k >= lo {
				p := r.steps[k]
				if p.T < u && (k == hi || !(r.steps[k+1].T < u)) && p.H > 0 && p.T < x.from {
					if theta := (u - p.T) / p.H; theta <= 1+far {
						at[j] = reading{k, theta}
						if was < 0 {
							x.last[i] = k
						}
						was = j
						continue
					}
				}
			}
			at[j].step, at[j].theta = x.locate(i, t)
			k = min(max(x.last[i], lo), hi)
			was = j
		}
	}
}

// lagsOf writes what rows of K from the first on read of the past in a step to lags, [rows][lags]. Unless they are nil,
// slopes are those by time of what is read of curves, likewise.
func lagsOf(x *Worker, s *solvers.Step, form *solvers.Arithmetic, first int, lags, slopes []float64) {
	reach(x, s, form, first)
	r, rows := x.rec, len(form.Nodes)
	for i, takes := range r.takes {
		places := x.places[i*rows:][:rows]
		if len(takes) == 1 && takes[0].len == 1 && !takes[0].discrete {
			oneOf(x, i, places, first, s.Y0, lags, slopes)
			continue
		}
		for j, at := range places[first:] {
			j += first
			take(x, i, at.step, at.theta, s.Y0, lags[j*r.lags:][:r.lags])
			if slopes != nil && r.curved(at.step) {
				slopesOf(x, i, at.step, at.theta, slopes[j*r.lags:][:r.lags])
			}
		}
	}
}

// oneOf is what lagsOf does for a delay i that reads one number.
func oneOf(x *Worker, i int, places []reading, first int, y, lags, slopes []float64) {
	r, c := x.rec, &x.rec.takes[i][0]
	var (
		step  = -1
		of    curve
		y0, h float64
	)
	for j := first; j < len(places); j++ {
		at, to := places[j], j*r.lags+c.to-x.n
		if at.step != step || of == nil {
			if step, of = at.step, nil; r.curved(step) {
				from := r.steps[step]
				of, y0, h = from.curve, from.Y0[c.from], from.H
			}
		}
		switch {
		case of == nil:
			take(x, i, step, at.theta, y, lags[j*r.lags:][:r.lags])
		case slopes != nil:
			v, d := of.slope(x.n, c.from, at.theta)
			slopes[to] = d / h
			if lags[to] = float64(at.theta*v) + y0; at.theta == 1 {
				lags[to] = r.steps[step].Y1[c.from]
			}
		case at.theta == 1:
			lags[to] = r.steps[step].Y1[c.from]
		default:
			lags[to] = float64(at.theta*of.value(x.n, c.from, at.theta)) + y0
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
	lagsOf(x, s, a, 1, lags, nil)
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
	if len(x.asWhole.slopes) < len(lags) {
		x.asWhole.slopes = make([]float64, len(lags))
	}
	lagsOf(x, s, a, 0, lags, x.asWhole.slopes)
	bars := x.w.PullReading(a, s, c, seeds)
	l, n, rows := x.l, x.rec.lags*x.l, len(a.Nodes)
	times := x.asWhole.times
	for j := rows - 1; j >= 0; j-- {
		bar := bars[j*(n+l):][:n+l]
		times = append(times[:0], bar[n:]...)
		for i := range x.rec.delays {
			at, of := x.places[i*rows+j], x.rec.takes[i]
			if l == 1 && len(of) == 1 && of[0].len == 1 && !of[0].discrete && x.rec.curved(at.step) {
				to := of[0].to - x.n
				if v := bar[to]; v != 0 {
					move := gatherOne(x, of[0].from, at, v, x.asWhole.slopes[j*n+to])
					times[0] += move
					x.db[x.rec.delays[i].at] -= move
				}
			} else if pulls(x, i, bar) {
				untake(x, i, at.step, at.theta, bar, x.asWhole.slopes[j*x.rec.lags:][:x.rec.lags], times)
			}
		}
		add(c.T0, times)
	}
	x.asWhole.times = times
	return true
}
