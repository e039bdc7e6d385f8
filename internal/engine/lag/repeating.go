package lag

import (
	"math"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/stages"
)

// repeats is how often a step that reads itself is made again at most.
const repeats = 100

// repeating makes steps that may read themselves: each is made again until it reads what it makes. Its tangent and
// transpose are those of what is made in the end: they are repeated likewise, as the sum of a series.
type repeating struct {
	solvers.Interpolant
	x *Worker
}

// Method returns m as it makes the steps of x, and differentiates them.
func (x *Worker) Method(m solvers.Method) solvers.Method {
	able, ok := m.(solvers.Interpolant)
	if x.rec.moving == 0 || !ok {
		return m
	}
	return &repeating{able, x}
}

// plain returns m without what repeats its steps.
func plain(m solvers.Method) solvers.Method {
	switch r := m.(type) {
	case *repeating:
		return r.Interpolant
	case *twice:
		return r.of
	}
	return m
}

// Step implements solvers.Method.
func (m *repeating) Step(f solvers.Field, s *solvers.Step, reuse bool) {
	x := m.x
	x.own, x.self = nil, false
	s.Again = false // the Jacobian has slopes of what is read
	m.Interpolant.Step(f, s, reuse)
	if !x.self || s.H == 0 {
		return
	}
	z := x.w.Size()
	own := &solvers.Step{T: s.T, H: s.H, T1: s.T1, Member: s.Member, Y0: append([]float64(nil), s.Y0...)}
	last := math.Inf(1)
	for pass := range repeats {
		own.Dense = false
		own.K, own.Y1 = append(own.K[:0], s.K...), append(own.Y1[:0], s.Y1...)
		m.Interpolant.Interpolate(f, own, 0.5, x.x) // for its rows
		own.Dense = true
		x.own, s.Dense = own, false
		m.Interpolant.Step(f, s, true)
		change := 0.0
		for i, k := range s.K[:m.Info().Stages*(z.N+z.Q)] {
			e := i % (z.N + z.Q)
			if e >= z.N {
				continue
			}
			size := math.Abs(s.Y0[e]) + math.Abs(float64(s.H*k))
			if d := math.Abs(float64(s.H * (k - own.K[i]))); d > float64(0x1p-52*size) {
				change = max(change, d/size)
			}
			if k != k {
				change = math.NaN()
			}
		}
		if change == 0 || change < 1e-13 && change >= last {
			return
		}
		if change != change {
			return // the step is not finite, and will be shorter
		}
		if pass > 6 && change >= last {
			break // it does not come to an end
		}
		last = change
	}
	for i := range s.Y1 { // it is made anew, shorter
		s.Y1[i] = math.NaN()
	}
}

// Push implements solvers.Method.
func (m *repeating) Push(f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent) {
	x := m.x
	if x.self = false; s.H == 0 { // it belongs to no step that reads anything
		m.Interpolant.Push(f, s, d)
		return
	}
	var kept []float64
	if x.step < len(x.kept) {
		kept, x.kept[x.step].kd = x.kept[x.step].kd, nil
	}
	m.Interpolant.Push(f, s, d)
	if !x.self {
		if kept != nil { // it was pushed before
			x.kept[x.step].kd = kept
		}
		return
	}
	var old []float64
	last := math.Inf(1)
	for range repeats {
		x.Keep(x.step, f, m.Interpolant, s, d)
		kd := x.kept[x.step].kd
		change := math.Inf(1)
		if old != nil {
			change = 0
			size := 0.0
			for i, v := range kd {
				change, size = max(change, math.Abs(v-old[i])), max(size, math.Abs(v))
			}
			if change <= float64(0x1p-52*size) || change <= float64(1e-13*size) && change >= last {
				return
			}
		}
		last = change
		old = append(old[:0], kd...)
		m.Interpolant.Push(f, s, d)
	}
}

// Pull implements solvers.Method.
func (m *repeating) Pull(f solvers.CotangentField, s *solvers.Step, c *solvers.StepCotangent) {
	x := m.x
	m.Interpolant.Pull(f, s, c)
	i := x.step
	if s.H == 0 || !sown(x, i) {
		return
	}
	own := func(v []float64) []float64 { return append([]float64(nil), v...) }
	y1, t1, dq := c.Y1, c.T1, c.DQ
	c.Y1, c.T1, c.DQ = make([]float64, len(y1)), make([]float64, len(t1)), make([]float64, len(dq))
	y0, t0, h := own(c.Y0), own(c.T0), own(c.H)
	first := largest(x.seeds[i])
	for range repeats {
		if !sown(x, i) || largest(x.seeds[i]) <= float64(0x1p-60*first) {
			break
		}
		x.Sow(i, s, m.Interpolant)
		m.Interpolant.Pull(f, s, c)
		add(y0, c.Y0)
		add(t0, c.T0)
		if c.WantH {
			add(h, c.H)
		}
	}
	if sown(x, i) {
		x.seeds[i].Sown = false
	}
	copy(c.Y0, y0)
	copy(c.T0, t0)
	copy(c.H, h)
	c.Y1, c.T1, c.DQ = y1, t1, dq
}

func add(to, v []float64) {
	for i, x := range v {
		to[i] += x
	}
}

// sown reports whether anything was read of step i.
func sown(x *Worker, i int) bool {
	hand(x, i)
	if i >= len(x.seeds) || x.seeds[i] == nil || !x.seeds[i].Sown {
		return false
	}
	stages.Unfold(x.method, &x.rec.steps[i].Step, x.seeds[i])
	return true
}

// largest returns the largest cotangent of the rows of a step.
func largest(s *solvers.Seeds) (most float64) {
	for _, list := range [][]float64{s.K, s.Y0, s.H, s.T} {
		for _, v := range list {
			most = max(most, math.Abs(v))
		}
	}
	return most
}
