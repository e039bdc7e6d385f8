package lag

import (
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/stages"
)

// Complex is a ComplexWorker that reads the past of the run that is repeated. What the run read decides which steps are
// read. Delays must not move.
type Complex struct {
	*system.ComplexWorker
	x      *Worker // that knows the recorded run
	method solvers.ComplexMethod

	begun bool
	start complex128
	y0    []complex128
	times []complex128   // of jumps
	sets  [][]complex128 // discretes, by the gap that set them and the start first
	steps []solvers.ComplexStep
	now   *solvers.ComplexStep // the present step, nil outside of any
	real  solvers.Step         // as it was recorded, without its rows
	d     []complex128

	y, ym, yr, xc, m, slope []complex128
	moves, rates            []float64 // real parts of a state and of rates
}

// InComplex returns c as it reads the past that the record of x holds.
func InComplex(c *system.ComplexWorker, x *Worker, m solvers.ComplexMethod) *Complex {
	v := func(n int) []complex128 { return make([]complex128, n) }
	all := len(x.y)
	return &Complex{
		ComplexWorker: c, x: x, method: m, d: v(len(x.d)), y: v(all), ym: v(all), yr: v(all), xc: v(x.n),
		slope: v(x.n), moves: make([]float64, x.n), rates: make([]float64, x.n+x.w.Size().Q),
	}
}

// Start implements solvers.ComplexSystem.
func (c *Complex) Start(t0 complex128, y, d []complex128) {
	c.begun = false
	c.ComplexWorker.Start(t0, y, d)
}

// Begins implements sens.ComplexPast.
func (c *Complex) Begins(t complex128, y, d []complex128) {
	c.begun, c.start, c.steps = true, t, c.steps[:0]
	c.times = slices.Repeat([]complex128{t}, len(c.x.rec.gaps))
	c.y0, c.sets = append(c.y0[:0], y...), append(c.sets[:0], slices.Clone(d))
}

// Enter implements solvers.ComplexSystem.
func (c *Complex) Enter(d []complex128, m []float64) {
	copy(c.d, d)
	c.ComplexWorker.Enter(d, m)
}

// Repeats implements sens.ComplexPast.
func (c *Complex) Repeats(s *solvers.Step, d, m []float64, as *solvers.ComplexStep) {
	c.now, c.real = as, *s
	c.x.Enter(d, m)
	if s.H > 0 {
		c.x.Over(s.T, s.T1)
	}
}

// Leap implements sens.ComplexPast; see Worker.LeapPush.
func (c *Complex) Leap(t complex128, y, f []complex128) {
	x, r := c.x, c.x.rec
	if c.real.H == 0 {
		return
	}
	list := leapsAt(x, c.real.T)
	for k, p := range list {
		for i, v := range y {
			c.moves[i] = real(v)
		}
		diff, at := difference(x, c.real.T, c.moves, list, k), r.delays[p.delay].at
		dt := c.times[p.gap] + c.d[at] - t - complex(r.gaps[p.gap].t+x.d[at]-c.real.T, 0)
		for e, v := range diff {
			to := y
			if e >= x.n {
				to, e = f, e-x.n
			}
			to[e] = elem.CFMA(complex(v, 0), dt, to[e])
		}
	}
}

// EndOf implements sens.ComplexPast.
func (c *Complex) EndOf(i int) (t complex128, moves bool) {
	x, does := follows(c.x, i)
	if !does {
		return 0, false
	}
	t = c.start
	if x.after >= 0 {
		t = c.steps[x.after].T1
	}
	return t + c.d[c.x.rec.delays[x.delay].at], true
}

// Repeated implements sens.ComplexPast.
func (c *Complex) Repeated(s *solvers.ComplexStep) {
	if s.H != 0 {
		c.method.InterpolateComplex(c, s, 0.5, c.xc) // for its rows
	}
	own := *s
	own.Y0, own.Y1, own.K = slices.Clone(s.Y0), slices.Clone(s.Y1), slices.Clone(s.K)
	was := c.x.rec.steps[len(c.steps)]
	same := real(s.T) == was.T && real(s.H) == was.H
	for i, y := range s.Y0 {
		same = same && real(y) == was.Y0[i]
	}
	for i, k := range was.K {
		if same { // a step that an event has made shorter has rows of the longer one
			own.K[i] = complex(k, imag(own.K[i]))
		}
	}
	c.steps, c.now = append(c.steps, own), nil
}

// Sets implements sens.ComplexPast.
func (c *Complex) Sets(after int, t complex128, d []complex128) {
	r := c.x.rec
	for j := r.gapsBehind(after); j < len(r.gaps) && r.gaps[j].from <= after; j++ {
		for len(c.sets) < j+2 {
			c.sets = append(c.sets, c.sets[len(c.sets)-1])
		}
		c.sets[1+j], c.times[j] = slices.Clone(d), t
	}
}

// extend returns the state y with the lags at t behind it, in to.
func (c *Complex) extend(t complex128, y, to []complex128) []complex128 {
	x := c.x
	copy(to, y[:x.n])
	if !c.begun {
		for _, g := range x.rec.reads {
			from := y
			if g.discrete {
				from = c.d
			}
			for k := range g.n {
				copy(to[g.to+k*g.len:][:g.len], from[g.from:])
			}
		}
		return to
	}
	at := c.recorded(t)
	x.taus(at, nil)
	for i := range x.rec.delays {
		step, theta := c.locate(i, at, t)
		switch {
		case step < 0:
			copy(c.xc, c.y0)
		case x.rec.steps[step].H == 0:
			copy(c.xc, c.steps[step].Y1)
		default:
			c.method.InterpolateComplex(c, &c.steps[step], theta, c.xc)
		}
		for _, g := range x.rec.reads {
			if k := i - g.first; k >= 0 && k < g.n {
				from := c.xc
				if g.discrete {
					from = c.sets[min(1+x.rec.holder(regionOf(x, i)), len(c.sets)-1)]
				}
				copy(to[g.to+k*g.len:][:g.len], from[g.from:])
			}
		}
	}
	return to
}

// recorded returns the time in the recorded run that t is now.
func (c *Complex) recorded(t complex128) float64 {
	if c.now == nil || c.real.H == 0 || real(c.now.T) == c.real.T && real(c.now.H) == c.real.H {
		return real(t) // rounding would choose another step where one ends
	}
	return c.real.Node(real(elem.CDiv(t-c.now.T, c.now.H)))
}

// locate returns the step that delay i read where it was at, and where t is in that.
func (c *Complex) locate(i int, at float64, t complex128) (step int, theta complex128) {
	if step, _ = c.x.locate(i, at); step < 0 || step >= len(c.steps) {
		return ofStart, 0
	}
	s := &c.steps[step]
	return step, elem.CDiv(t-c.d[c.x.rec.delays[i].at]-s.T, s.H)
}

// apart has f evaluate something at t, outside of any step.
func (c *Complex) apart(t complex128, f func()) {
	x, now := c.x, c.now
	mid, later := x.mid, x.later
	x.mid, x.later, c.now = real(t), false, nil
	f()
	x.mid, x.later, c.now = mid, later, now
}

// Eval implements solvers.ComplexSystem.
func (c *Complex) Eval(t complex128, y, k []complex128) {
	c.ComplexWorker.Eval(t, c.extend(t, y, c.y), k)
	if c.now == nil || c.real.H == 0 || len(y) == 0 || &y[0] != &c.now.Y0[0] || !c.member().Info().FSAL {
		return
	}
	// A run keeps the row at the end of a step for the next one, which may read on the other side of a break. How far
	// that is from the rates of this step stays as it was.
	was := c.x.rec.steps[len(c.steps)]
	c.x.Eval(was.T, was.Y0, c.rates)
	for i, v := range c.rates {
		k[i] += complex(was.K[i]-v, 0)
	}
}

// member returns the method of the present step.
func (c *Complex) member() solvers.Method { return solvers.Members(c.method)[c.now.Member] }

// Guard implements solvers.ComplexSystem.
func (c *Complex) Guard(i int, t complex128, y []complex128) complex128 {
	return c.ComplexWorker.Guard(i, t, c.extend(t, y, c.y))
}

// Affect implements solvers.ComplexSystem.
func (c *Complex) Affect(f solvers.Firing, t complex128, ym, dm, yp, dp []complex128) {
	c.apart(t, func() {
		c.ComplexWorker.Affect(f, t, c.extend(t, ym, c.ym), dm, c.yr, dp)
		copy(yp, c.yr)
	})
}

// Observe implements sens.ComplexObjectives.
func (c *Complex) Observe(s sens.Site, t complex128, ym, dm, yp, dp, functionals []complex128) {
	c.apart(t, func() {
		c.ComplexWorker.Observe(s, t, c.extend(t, ym, c.ym), dm, c.extend(t, yp, c.y), dp, functionals)
	})
}

// Jacobian implements matrices.ComplexJacobianField.
func (c *Complex) Jacobian() *matrices.Jacobian { return c.x.Jacobian() }

// EvalJacobian implements matrices.ComplexJacobianField.
func (c *Complex) EvalJacobian(t complex128, y, j []complex128) {
	a := jac(c.x)
	if c.m == nil {
		c.m = make([]complex128, a.all)
	}
	c.ComplexWorker.EvalJacobian(t, c.extend(t, y, c.y), c.m)
	for e, from := range a.own {
		j[e] = c.m[from]
	}
	clear(j[len(a.own):])
	at := c.recorded(t)
	for i, list := range a.lags {
		if len(list) == 0 {
			continue
		}
		step, theta := c.locate(i, at, t)
		if step < 0 || c.x.rec.steps[step].H == 0 {
			continue
		}
		s := &c.steps[step]
		curve := solvers.Members(c.method)[s.Member].(interface{ Output() *stages.Dense }).Output()
		curve.ComplexSlope(s, theta, c.slope, c.Size().N+c.Size().Q)
		for _, g := range list {
			j[g.time] = elem.CFMA(c.m[g.from], c.slope[g.state], j[g.time])
		}
	}
}
