package lag

import (
	"slices"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/solvers"
)

// Steps by delays that stay read what is known before they are made, since none is longer than the shortest delay. So
// all that the rows of a step read is gathered at once, and the step is made by one program; its transpose likewise.

// asWhole is the step that was made as a whole last.
type asWhole struct {
	some   bool
	t, t1  float64
	member int
	y1     []float64
	curve  curve

	of        *solvers.Arithmetic // that nodes and node belong to
	nodes     []float64           // of rows of K, in ascending order, each once
	node      []int               // that of each row
	second    int                 // the first node that another row than the first has
	stretches []stretch           // of nodes
	steps     []int               // that are read, [delays][nodes]
	thetas    []float64           // and where in them; this and the next two have room for fours of nodes
	values    []float64           // [nodes] of one number
	rates     []float64           // [delays][nodes] slopes by time, of delays that read one number
	slopes    []float64           // [rows][lags] those of others
	times     []float64           // cotangents of the times of rows
	rising    []rising            // of coefficients of curves
}

// made reports whether s is that step.
func (w *asWhole) made(s *solvers.Step) bool {
	return w.some && s.T == w.t && s.T1 == w.t1 && s.Member == w.member && slices.Equal(s.Y1, w.y1)
}

// stretch are the nodes from first to till, at which a delay reads the curve of one step. Where of is nil, they are
// one, and what is read there is anything.
type stretch struct {
	delay, first, till int
	of                 *kept
}

// rising are the cotangents v u^k of the coefficients of a curve.
type rising struct{ v, u float64 }

// order makes w.nodes those of an arithmetic. In their order, rows of a step read neighbours.
func (w *asWhole) order(form *solvers.Arithmetic) {
	if w.of == form {
		return
	}
	w.of, w.nodes = form, append(w.nodes[:0], form.Nodes...)
	slices.Sort(w.nodes)
	w.nodes, w.node = slices.Compact(w.nodes), w.node[:0]
	for _, c := range form.Nodes {
		w.node = append(w.node, slices.Index(w.nodes, c))
	}
	if w.second = 0; w.node[0] == 0 && !slices.Contains(w.node[1:], 0) {
		w.second = 1
	}
	w.values = make([]float64, len(w.nodes)+3)
}

// reach makes w.steps and w.thetas those that are read at the nodes of a step from the first on.
func reach(x *Worker, s *solvers.Step, first int) {
	r, w := x.rec, &x.asWhole
	x.taus(s.T, s.Y0)
	n := len(w.nodes)
	if room := len(r.delays)*n + 3; len(w.steps) < room {
		w.steps, w.thetas, w.rates = make([]int, room), make([]float64, room), make([]float64, room)
	}
	w.stretches = w.stretches[:0]
	for i := range r.delays {
		lo, hi := 0, -1
		if region := regionOf(x, i); region >= 0 {
			lo, hi = r.bounds(region)
		}
		steps, thetas := w.steps[i*n:][:n], w.thetas[i*n:][:n]
		tau, k := x.tau[i], min(max(x.last[i], lo), hi)
		for j := first; j < n; {
			t := s.Node(w.nodes[j])
			u := t - tau
			// The step is near that of the last node, as a rule.
			const few = 4
			for n := 0; n < few && k >= lo && k < hi && r.steps[k+1].T < u; n++ {
				k++
			}
			for n := 0; n < few && k > lo && !(r.steps[k].T < u); n++ {
				k--
			}
			from := j
			if k >= lo {
				p, end := r.steps[k], r.steps[k].T+float64((1+far)*r.steps[k].H)
				if k < hi {
					end = r.steps[k+1].T
				}
				if start, h := p.T, p.H; p.curve != nil && start < x.from && start < u {
					for !(end < u) {
						steps[j], thetas[j] = k, (u-start)/h
						if j++; j == n {
							break
						}
						u = s.Node(w.nodes[j]) - tau
					}
				}
				if j > from {
					w.stretches = append(w.stretches, stretch{i, from, j, p})
				}
			}
			if j == from {
				steps[j], thetas[j] = x.locate(i, t)
				k = min(max(x.last[i], lo), hi)
				j++
				w.stretches = append(w.stretches, stretch{i, from, j, nil})
			}
			if from == first {
				x.last[i] = max(k, 0)
			}
		}
	}
}

// lagsOf writes what rows of K from the first on read of the past in a step to lags, [rows][lags]. With slopes, w.rates
// and w.slopes become those of what is read of curves.
func lagsOf(x *Worker, s *solvers.Step, form *solvers.Arithmetic, first int, lags []float64, slopes bool) {
	r, w := x.rec, &x.asWhole
	w.order(form)
	reach(x, s, min(first, w.second))
	if slopes && len(w.slopes) < len(lags) {
		w.slopes = make([]float64, len(lags))
	}
	for i := range r.takes {
		if of := r.ones[i]; of != nil {
			alone(x, i, of, s.Y0, slopes)
			to := lags[of.to-x.n:]
			node, values := w.node, w.values
			for j := first; j < len(node); j++ {
				to[j*r.lags] = values[node[j]]
			}
			continue
		}
		for j := first; j < len(w.node); j++ {
			k := i*len(w.nodes) + w.node[j]
			take(x, i, w.steps[k], w.thetas[k], s.Y0, lags[j*r.lags:][:r.lags])
			if slopes && r.curved(w.steps[k]) {
				slopesOf(x, i, w.steps[k], w.thetas[k], w.slopes[j*r.lags:][:r.lags])
			}
		}
	}
}

// alone makes w.values what delay i reads at each node, one number, and with slopes w.rates those by time. The last
// four nodes of a stretch may reach into the next one, which is read later.
func alone(x *Worker, i int, of *taken, y []float64, slopes bool) {
	w, n, to := &x.asWhole, len(x.asWhole.nodes), of.to-x.n
	for k := range w.stretches {
		g := &w.stretches[k]
		if g.delay != i {
			continue
		}
		at, fours := i*n+g.first, (g.till-g.first+3)&^3
		values, thetas, rates := w.values[g.first:][:fours], w.thetas[at:][:fours], w.rates[at:][:fours]
		switch s := g.of; {
		case s == nil:
			take(x, i, w.steps[at], thetas[0], y, x.lags)
			if values[0] = x.lags[to]; slopes && x.rec.curved(w.steps[at]) {
				slopesOf(x, i, w.steps[at], thetas[0], x.lags)
				rates[0] = x.lags[to]
			}
		case slopes:
			simd.HornerSlopes(values, rates, thetas, s.Y0[of.from], s.H, s.curve[of.col:], len(x.rec.late))
		default:
			simd.Horner(values, thetas, s.Y0[of.from], s.curve[of.col:], len(x.rec.late))
		}
	}
}

// MakeStep implements solvers.Stepper.
func (x *Worker) MakeStep(a *solvers.Arithmetic, s *solvers.Step, reuse bool) bool {
	w := &x.asWhole
	w.some = false
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
	lagsOf(x, s, a, 1, lags, false)
	w.curve = x.w.MakeReading(a, s)
	w.some, w.t, w.t1, w.member, w.y1 = true, s.T, s.T1, s.Member, append(w.y1[:0], s.Y1...)
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
	lagsOf(x, s, a, 0, lags, true)
	bars, w := x.w.PullReading(a, s, c, seeds), &x.asWhole
	if x.l == 1 && len(x.rec.ones) == 1 && x.rec.ones[0] != nil && !slices.ContainsFunc(w.stretches, anything) {
		gatherRows(x, bars, c.T0)
		return true
	}
	l, n := x.l, x.rec.lags*x.l
	times := w.times
	for j := len(w.node) - 1; j >= 0; j-- {
		bar := bars[j*(n+l):][:n+l]
		times = append(times[:0], bar[n:]...)
		for i := range x.rec.delays {
			if !pulls(x, i, bar) {
				continue
			}
			k := i*len(w.nodes) + w.node[j]
			slopes := w.slopes[j*x.rec.lags:][:x.rec.lags]
			if of := x.rec.ones[i]; of != nil {
				slopes[of.to-x.n] = w.rates[k]
			}
			untake(x, i, w.steps[k], w.thetas[k], bar, slopes, times)
		}
		add(c.T0, times)
	}
	w.times = times
	return true
}

// anything reports whether what is read in a stretch may be something else than a curve.
func anything(g stretch) bool { return g.of == nil }

// gatherRows transposes what the rows of a step read of curves, one number after one delay in one lane: bars [rows][2]
// are the cotangents of that and of the time, which it adds to t0. Sums have the order of the rows, the last one first.
func gatherRows(x *Worker, bars, t0 []float64) {
	w, of, late := &x.asWhole, x.rec.ones[0], len(x.rec.late)
	moves := w.times[:0]
	for range w.node {
		moves = append(moves, 0)
	}
	for _, s := range w.stretches {
		var g *gathered
		parts := w.rising[:0]
		for j := len(w.node) - 1; j >= 0; j-- {
			node, bar := w.node[j], bars[2*j]
			if node < s.first || node >= s.till || bar == 0 {
				continue
			}
			if g == nil {
				g = gatheredAt(x, w.steps[node])
			}
			theta, move := w.thetas[node], float64(w.rates[node]*bar)
			parts, moves[j] = append(parts, rising{float64(theta * bar), float64(2*theta) - 1}), move
			g.y0[of.col] += bar
			g.t[0] -= move
			g.h[0] -= float64(theta * move)
		}
		w.rising = parts
		for ; len(parts) > 0; parts = parts[min(4, len(parts)):] { // side by side
			var p [4]rising
			copy(p[:], parts)
			v0, v1, v2, v3 := p[0].v, p[1].v, p[2].v, p[3].v
			u0, u1, u2, u3 := p[0].u, p[1].u, p[2].u, p[3].u
			for k := of.col; k < len(g.c); k += late {
				g.c[k] = g.c[k] + v0 + v1 + v2 + v3
				v0, v1, v2, v3 = float64(v0*u0), float64(v1*u1), float64(v2*u2), float64(v3*u3)
			}
		}
	}
	for j := len(w.node) - 1; j >= 0; j-- {
		t0[0] += bars[2*j+1] + moves[j]
		x.db[x.rec.delays[0].at] -= moves[j]
	}
	w.times = moves
}
