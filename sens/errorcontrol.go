package sens

import (
	"math"

	"odes.dev/odes/internal/base/sizes"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/record"
)

// ErrorControl is a Sink that carries forward sensitivities along a run while it is made, so that error control sees
// them, too. This is the error test of simultaneous sensitivity analysis. Norm goes into solvers.Options.Also. The
// run must be recorded by Run, which must receive each step before the ErrorControl does.
//
// The derivative s of the states by a parameter of size p is as accurate as the states when its error is below ATol/p
// + RTol·|s| (Hindmarsh and others, ACM Transactions on Mathematical Software 31 (2005) 363–396, section 2.6).
type ErrorControl struct {
	Run *record.Trajectory
	// New makes the worker of a block of directions, one for each of its lanes.
	New func() TangentWorker
	// Initial adds the initial values to the directions.
	Initial bool
	// RTol and ATol have one number for all states, or one for each.
	RTol, ATol []float64
	Size       []float64 // [P] the sizes of the parameters; 0 counts as 1

	walks  []*walk
	firsts []int
	y0     []float64
	e      []float64
	zero   []float64
	start  []float64

	// How far parameters that are zero have moved states at most, and what that makes of functionals at the end.
	most, last []float64

	largest []float64 // [N] sizes of states so far, for absolute tolerances that follow them: negative ones
}

// Begin implements solvers.Sink.
func (g *ErrorControl) Begin(solvers.System, solvers.Method) error {
	z := g.Run.Size()
	n := z.P
	if g.Initial {
		n += z.N
	}
	g.walks, g.firsts = g.walks[:0], g.firsts[:0]
	g.most, g.last, g.largest = make([]float64, z.N), nil, make([]float64, z.N)
	for first := 0; first < n; {
		wk := g.New()
		if _, err := solvers.As[solvers.TangentEstimator](wk.Method, solvers.TangentErrors); err != nil {
			return err
		}
		w := newWalk(wk, g.Run)
		w.k, w.res = make([]float64, z.N+z.Q), &Result{}
		for j := 0; j < w.l && first+j < z.P; j++ {
			w.pd[(first+j)*w.l+j] = 1
		}
		w.sys.SetTangent(w.pd)
		g.walks, g.firsts = append(g.walks, w), append(g.firsts, first)
		first += w.l
		if len(g.e) < (z.N+z.Q)*w.l {
			g.e, g.start = make([]float64, (z.N+z.Q)*w.l), make([]float64, z.N*w.l)
		}
		if len(g.zero) < w.l { // by itself, since a model may have no states
			g.zero = make([]float64, w.l)
		}
	}
	return nil
}

// Step implements solvers.Sink.
func (g *ErrorControl) Step(s *solvers.Step, e solvers.End) error {
	i := g.Run.Steps() - 1
	for _, w := range g.walks {
		if e.Kind == solvers.EndRoot {
			w.rates.add(i, w.liveSlope(s, e.Index))
		}
		w.flowStep(i, s)
	}
	g.reach()
	return nil
}

// size returns that of direction at, and false for one that is none.
func (g *ErrorControl) size(at int) (size float64, ok bool) {
	switch {
	case at < len(g.Size):
		return math.Abs(g.Size[at]), true
	case !g.Initial || at-len(g.Size) >= len(g.y0):
		return 0, false
	}
	return math.Abs(g.y0[at-len(g.Size)]), true
}

// orOne returns size, or 1 for zero.
func orOne(size float64) float64 {
	if size == 0 {
		return 1
	}
	return size
}

// reach takes notice of the tangents by parameters that are zero, which count as if they were 1.
func (g *ErrorControl) reach() {
	for b, w := range g.walks {
		for j := range w.l {
			if size, ok := g.size(g.firsts[b] + j); !ok || size != 0 {
				continue
			}
			for i := range g.most {
				g.most[i] = max(g.most[i], math.Abs(w.yd[i*w.l+j]))
			}
		}
	}
}

// Reached bounds the effect on each objective of parameters whose value is zero, by the largest excursions that the
// states made during the run. Without directions it returns nil.
func (g *ErrorControl) Reached(functionals []float64) []float64 {
	if len(g.walks) == 0 {
		return nil
	}
	w := g.walks[0]
	_, m := w.obj.Counts()
	return g.sizes(m, g.last, func(fd, psid []float64) { w.obj.ValuesPush(functionals, fd, psid) })
}

// sizes sums up what push makes of each element of from, by size.
func (g *ErrorControl) sizes(n int, from []float64, push func(in, out []float64)) []float64 {
	l := g.walks[0].l
	in, out, to := make([]float64, len(from)*l), make([]float64, n*l), make([]float64, n)
	for first := 0; first < len(from); first += l {
		clear(in)
		clear(out)
		for j := range min(l, len(from)-first) {
			in[(first+j)*l+j] = from[first+j]
		}
		push(in, out)
		for i := range out {
			if x := math.Abs(out[i]); x <= math.MaxFloat64 {
				to[i/l] += x
			}
		}
	}
	return to
}

// end finds how large functionals would be at the final mark m.
func (g *ErrorControl) end(m *solvers.Mark) {
	if len(g.walks) == 0 || !g.walks[0].obj.Observes(SiteFinal, -1) {
		return
	}
	w := g.walks[0]
	f, _ := w.obj.Counts()
	pt := Point{Site: Site{Kind: SiteFinal}}
	pt.moveTo(m)
	none, dd := make([]float64, w.l), make([]float64, len(w.dd))
	w.sys.SetTangent(make([]float64, len(w.pd)))
	g.last = g.sizes(f, g.most, func(yd, fd []float64) {
		w.obj.ObservePush(&pt, none, yd, dd, yd, dd, fd)
	})
}

// liveSlope is fieldSlope in the middle of a walk, when parameters have tangents.
func (w *walk) liveSlope(st *solvers.Step, guard int) float64 {
	n := copy(w.yp, w.yd)
	rate := w.fieldSlope(st, guard)
	clear(w.w)
	w.sys.GuardPush(guard, st.T1, st.Y1, w.w, w.yd, w.r) // yd is zero
	rate -= w.r[0]
	copy(w.yd, w.yp[:n])
	return rate
}

// Mark implements solvers.Sink.
func (g *ErrorControl) Mark(m *solvers.Mark) error {
	if m.Inside {
		return nil
	}
	mk := g.Run.Marks() - 1
	for b, w := range g.walks {
		_, left := g.Run.PeekMark(mk, &w.mark)
		w.mark = *m
		w.pushMark(mk, left, g.firsts[b])
	}
	switch m.Kind {
	case solvers.MarkStart:
		g.y0 = append(g.y0[:0], m.Yp...)
	case solvers.MarkFinal:
		g.end(m)
		return nil
	}
	g.reach()
	return nil
}

// Norm returns the largest norm of the estimated error of a direction over the trial step s.
func (g *ErrorControl) Norm(s *solvers.Step) float64 {
	worst, n := 0.0, len(s.Y0)
	for i, y := range s.Y0 {
		g.largest[i] = max(g.largest[i], math.Abs(y))
	}
	for b, w := range g.walks {
		l := w.l
		e, start := g.e[:(n+len(s.DQ))*l], g.start[:n*l]
		copy(start, w.yd)
		for i, f := range s.K[:n] { // where the last event moved
			for j, td := range w.td {
				start[i*l+j] = math.FMA(-f, td, start[i*l+j])
			}
		}
		clear(w.d.H)
		w.d.T0, w.d.Y0 = g.zero[:l], start
		w.method.Push(w.sys, s, &w.d)
		w.method.(solvers.TangentEstimator).PushError(w.sys, s, &w.d, e)
		for j := range l {
			size, ok := g.size(g.firsts[b] + j)
			if !ok {
				continue
			}
			size = orOne(size)
			sum := 0.0
			for i := range n {
				rtol, atol := g.RTol[min(i, len(g.RTol)-1)], g.ATol[min(i, len(g.ATol)-1)]
				if atol < 0 {
					atol = float64(sizes.Part * rtol * max(g.largest[i], math.Abs(s.Y1[i])))
				}
				sc := math.FMA(rtol, max(math.Abs(start[i*l+j]), math.Abs(w.d.Y1[i*l+j])), atol/size)
				if x := e[i*l+j]; x != 0 {
					x /= sc
					sum = math.FMA(x, x, sum)
				}
			}
			if x := math.Sqrt(sum / float64(max(n, 1))); !(x <= worst) {
				worst = x
			}
		}
	}
	return worst
}
