package lag

import (
	"math"
	"slices"

	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/stages"
)

// Where a delay that moves comes to read what is behind a jump or a kink, the end of the step is the root of t - τ - s,
// where s is the time of that. For second derivatives it moves as a root of a guard does. Such guards are numbered
// behind those of the model, in the order of what was crossed.

// bendsAt reports whether what was crossed is of an order that second derivatives know of.
func (r *Record) bendsAt(c crossed) bool { return r.gaps[c.gap].truly < bends }

// RootOf implements sens.PastPullPusher.
func (x *Second) RootOf(i int) (guard int, is bool) {
	list := x.rec.crossed
	k := slices.IndexFunc(list, func(c crossed) bool { return c.step == i && c.free && x.rec.bendsAt(c) })
	return len(x.w.Guards()) + k, k >= 0
}

// Roots implements sens.PastPullPusher.
func (x *Second) Roots() int {
	steps := map[int]bool{}
	for _, c := range x.rec.crossed {
		if c.free && x.rec.bendsAt(c) {
			steps[c.step] = true
		}
	}
	return len(steps)
}

// crossing returns what guard i belongs to, nil for one of the model.
func (x *Second) crossing(i int) *crossed {
	if i -= len(x.w.Guards()); i < 0 {
		return nil
	}
	return &x.rec.crossed[i]
}

// GuardPush implements solvers.TangentSystem.
func (x *Second) GuardPush(i int, t float64, y, td, yd, rd []float64) {
	c := x.crossing(i)
	if c == nil {
		x.Worker.GuardPush(i, t, y, td, yd, rd)
		return
	}
	x.extend(t, y, x.y)
	taud := pushTau(x.Worker, t, y, td, yd)[x.rec.delays[c.delay].at*x.l:]
	clear(rd)
	if after := x.rec.gaps[c.gap].after; after < 0 {
		copy(rd, x.td0)
	} else if after < len(x.kept) {
		copy(rd, x.kept[after].t1)
	}
	for j, s := range rd {
		rd[j] = td[j] - taud[j] - s
	}
}

// guardPullPush is GuardPullPush for a crossing.
func (x *Second) guardPullPush(c *crossed, t, y, w, yb, tb solvers.Dual) {
	x.taub2.Clear()
	at := x.rec.delays[c.delay].at
	takeAway(solvers.Dual{X: x.taub2.X[at:][:1], D: x.taub2.D[at*x.l:][:x.l]}, w)
	x.extended(t, y)
	x.pullTaus(t, y, yb, tb)
	tb.Add(w)
	takeAway(x.untilOf(x.rec.gaps[c.gap].after), w)
}

// pullTaus transposes the delays that move, with the cotangents taub2. It adds to those of state and time.
func (x *Second) pullTaus(t, y, yb, tb solvers.Dual) {
	copy(x.y2.X, y.X[:x.n])
	copy(x.y2.D, y.D[:x.n*x.l])
	system.DelaysPullPush(x.s, t, x.y2, x.taub2, x.yt2, x.tb2)
	x.some(yb, x.n).Add(x.some(x.yt2, x.n))
	tb.Add(x.tb2)
}

func takeAway(a, b solvers.Dual) {
	for i, v := range b.X {
		a.X[i] -= v
	}
	for i, v := range b.D {
		a.D[i] -= v
	}
}

// separate notes the lanes in which anything that is crossed at the end of step i moves otherwise than that end.
func (x *Second) separate(i int, s *solvers.Step, d *solvers.StepTangent) {
	list := x.rec.crossed
	td := make([]float64, x.l)
	for k, c := range list {
		if c.step != i || !x.rec.bendsAt(c) {
			continue
		}
		for j := range td {
			td[j] = d.T0[j] + d.H[j]
		}
		rd := make([]float64, x.l)
		x.GuardPush(len(x.w.Guards())+k, s.T1, s.Y1, td, d.Y1, rd)
		for j, v := range rd {
			if math.Abs(v) > float64(1e-8*max(math.Abs(td[j]), 1e-3)) {
				x.split.lanes[j], x.split.at = true, s.T1
			}
		}
	}
}

// twice is repeating for second derivatives.
type twice struct {
	*repeating
	of solvers.SecondMethod
	x  *Second
}

// Method returns m as it differentiates the steps of x.
func (x *Second) Method(m solvers.Method) solvers.Method {
	once, again := x.Worker.Method(m).(*repeating)
	of, able := m.(solvers.SecondMethod)
	if !again || !able {
		return m
	}
	return &twice{once, of, x}
}

// InterpolatePullPush implements solvers.SecondMethod.
func (m *twice) InterpolatePullPush(
	f solvers.SecondField, s *solvers.Step, d *solvers.StepTangent, theta float64, td []float64, w, tb solvers.Dual,
) {
	m.of.InterpolatePullPush(f, s, d, theta, td, w, tb)
}

// PullPush implements solvers.SecondMethod; see repeating.Pull.
func (m *twice) PullPush(f solvers.SecondField, s *solvers.Step, d *solvers.StepTangent, c *solvers.StepSecond) {
	x, i := m.x, m.x.step
	m.of.PullPush(f, s, d, c)
	sown := func() bool { return i < len(x.seeds2) && x.seeds2[i].Sown() }
	if s.H == 0 || !sown() {
		return
	}
	zero := func(a solvers.Dual) solvers.Dual { return solvers.NewDual(len(a.X), x.l) }
	y1, t1, dq := c.Y1, c.T1, c.DQ
	c.Y1, c.T1, c.DQ = zero(y1), zero(t1), zero(dq)
	y0, t0, h := zero(c.Y0), zero(c.T0), zero(c.H)
	y0.Copy(c.Y0)
	t0.Copy(c.T0)
	h.Copy(c.H)
	first := x.seeds2[i].Largest()
	for range repeats {
		if !sown() || x.seeds2[i].Largest() <= float64(0x1p-60*first) {
			break
		}
		stages.SowSecond(m.of, s, &x.seeds2[i])
		m.of.PullPush(f, s, d, c)
		y0.Add(c.Y0)
		t0.Add(c.T0)
		h.Add(c.H)
	}
	if sown() {
		x.seeds2[i].Drop()
	}
	c.Y0.Copy(y0)
	c.T0.Copy(t0)
	c.H.Copy(h)
	c.Y1, c.T1, c.DQ = y1, t1, dq
}
