package stages

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
)

// Ends makes the ends of steps consistent, where the field has a Mass. So the unknowns are functions of the
// other states at all times: conditions that read them change where these say, and what happens at a time finds them as
// they are. A step then is the map of the stages, followed by that of Consistency.
type Ends struct {
	*matrices.Consistency
	work  *Space
	sum   *Form        // of y₁ over the rows of K
	moved []float64    // [n] how far the last step was moved
	side  int          // of the branch that its end is on
	Y1    []float64    // [n·l] ȳ₁ before that
	t1    []float64    // [l]
	end   solvers.Dual // [n] y₁ and its tangents
	bar   solvers.Dual // [n] ȳ₁ with its tangents
	bart  solvers.Dual // [1]
	drawn solvers.Dual // [n + q], [n] and [1], for steps of length zero
	yb    solvers.Dual
	tb    solvers.Dual
}

// NewEnds returns what makes ends consistent that are the given sum of the rows of K in the work space of their method.
func NewEnds(jac *matrices.Jacobian, work *Space, sum *Form) (*Ends, error) {
	c, err := matrices.ConsistencyOf(jac, solvers.Size{N: work.N, Q: work.Q}, work.L)
	if err != nil {
		return nil, err
	}
	v := func(n int) []float64 { return make([]float64, n) }
	return &Ends{
		Consistency: c, work: work, sum: sum, moved: v(work.N), Y1: v(work.N * work.L), t1: v(work.L),
	}, nil
}

// Settle makes the end of s consistent.
func (a *Ends) Settle(f solvers.Field, s *solvers.Step) error {
	if a == nil || !simd.Finite(s.Y1) {
		return nil
	}
	copy(a.moved, s.Y1)
	if err := a.Solve(f.(matrices.JacobianField), s.T1, s.Y1); err != nil {
		return err
	}
	a.side = a.Side()
	for i, y := range s.Y1 {
		a.moved[i] -= y
	}
	return nil
}

// Closed returns how far the end of the last step was moved to be consistent, and its side, as Consistency.Side has it;
// nil and 0 without algebraic equations.
func (a *Ends) Closed() (moved []float64, side int) {
	if a == nil {
		return nil, 0
	}
	return a.moved, a.side
}

// Rest makes a step of length zero, whose matrix is singular where there are algebraic equations. The stages then make
// one of Euler's explicit method, y₀ + h M⁺ f: its derivatives by h are those of the flow, once it is made
// consistent.
func (a *Ends) Rest(s *solvers.Step) {
	clear(s.K[a.work.W:])
	copy(s.Y1, s.Y0)
	clear(s.DQ)
	clear(a.moved)
}

// RestComplex makes a step of length zero but for how that moves; K holds the slopes at the start.
func RestComplex(m *matrices.Mass, s *solvers.ComplexStep, n, w int) {
	clear(s.K[w:])
	for i, y := range s.Y0 {
		if s.Y1[i] = y; !m.Unknown(i) {
			s.Y1[i] = elem.CFMA(s.H, s.K[i], y)
		}
	}
	for j := range s.DQ {
		s.DQ[j] = elem.CMul(s.H, s.K[n+j])
	}
}

// slopeOf returns f of s in the rows of states that have rates, 0 in those of unknowns, and r.
func (a *Ends) slopeOf(s *solvers.Step) []float64 {
	slope := a.work.Slope
	copy(slope, s.K[:a.work.W])
	a.Mass.Clear(slope, 1)
	return slope
}

// PushRest is Push for a step that rest made.
func (a *Ends) PushRest(f solvers.TangentField, s *solvers.Step, d *solvers.StepTangent) {
	l, k := a.L, a.slopeOf(s)
	for m, h := range d.H {
		d.T1[m] = d.T0[m] + h
		for i, v := range k[:a.N] {
			d.Y1[i*l+m] = math.FMA(h, v, d.Y0[i*l+m])
		}
		for j, v := range k[a.N:] {
			d.DQ[j*l+m] = float64(h * v)
		}
	}
	a.Push(f.(matrices.TangentJacobianField), s.T1, s.Y1, d.T1, d.Y1)
}

// PullRest is Pull for a step that rest made; the end of c was pulled through Consistency.
func (a *Ends) PullRest(s *solvers.Step, c *solvers.StepCotangent) {
	k := a.slopeOf(s)
	copy(c.Y0, c.Y1)
	copy(c.T0, c.T1)
	if c.WantH {
		copy(c.H, c.T1)
		Inner(c.H, k[:a.N], c.Y1)
		Inner(c.H, k[a.N:], c.DQ)
	}
}

// Pulled returns c with the cotangents of the end of s before it was made consistent.
func (a *Ends) Pulled(f solvers.CotangentField, s *solvers.Step, c *solvers.StepCotangent) *solvers.StepCotangent {
	copy(a.Y1, c.Y1)
	copy(a.t1, c.T1)
	a.Pull(f.(matrices.CotangentJacobianField), s.T1, s.Y1, a.Y1, a.t1)
	before := *c
	before.Y1, before.T1 = a.Y1, a.t1
	return &before
}

// PullPushed returns c with the cotangents of the end of s before it was made consistent, and their tangents. kd holds
// the tangents of the stages; nil for a step that rest made.
func (a *Ends) PullPushed(
	f solvers.SecondField, s *solvers.Step, d *solvers.StepTangent, kd []float64, c *solvers.StepSecond,
) *solvers.StepSecond {
	r, n, l := a.work, a.N, a.L
	if len(a.end.X) == 0 {
		a.end, a.bar, a.bart = solvers.NewDual(n, l), solvers.NewDual(n, l), solvers.NewDual(1, l)
	}
	copy(a.end.X, s.Y1)
	if kd != nil {
		a.sum.Combine(a.end.D, d.Y0, s.H, kd, r.W*l)
		r.Lengthen(a.end.D, a.sum, d.H, s.K, n)
	} else {
		k := a.slopeOf(s)
		for i := range n {
			for j, h := range d.H {
				a.end.D[i*l+j] = math.FMA(h, k[i], d.Y0[i*l+j])
			}
		}
	}
	t := solvers.Dual{X: []float64{s.T1}, D: a.t1}
	for j, h := range d.H {
		t.D[j] = d.T0[j] + h
	}
	g := f.(matrices.SecondJacobianField)
	a.Push(g, s.T1, s.Y1, t.D, a.end.D)
	a.bar.Copy(c.Y1)
	a.bart.Copy(c.T1)
	a.PullPush(g, t, a.end, a.bar, a.bart)
	before := *c
	before.Y1, before.T1 = a.bar, a.bart
	return &before
}

// PullPushRest is PullPush for a step that rest made; the end of c was pulled through Consistency. The second
// derivative by the length is that of Euler's method, zero.
func (a *Ends) PullPushRest(f solvers.SecondField, s *solvers.Step, d *solvers.StepTangent, c *solvers.StepSecond) {
	n, w, l := a.N, a.work.W, a.L
	if len(a.drawn.X) == 0 {
		a.drawn, a.yb, a.tb = solvers.NewDual(w, l), solvers.NewDual(n, l), solvers.NewDual(1, l)
	}
	c.Y0.Copy(c.Y1)
	c.T0.Copy(c.T1)
	c.H.Copy(c.T1)
	copy(a.drawn.X, c.Y1.X)
	copy(a.drawn.X[n:], c.DQ.X)
	copy(a.drawn.D, c.Y1.D)
	copy(a.drawn.D[n*l:], c.DQ.D)
	a.Mass.Clear(a.drawn.X, 1)
	a.Mass.Clear(a.drawn.D, l)
	if c.WantH {
		kd := make([]float64, w*l)
		f.Push(s.T, s.Y0, d.T0, d.Y0, kd)
		for i, k := range s.K[:w] {
			c.H.X[0] = math.FMA(k, a.drawn.X[i], c.H.X[0])
		}
		Inner(c.H.D, s.K[:w], a.drawn.D)
		Inner(c.H.D, a.drawn.X, kd)
	}
	for i, v := range a.drawn.X { // h times these
		for j, h := range d.H {
			a.drawn.D[i*l+j] = float64(h * v)
		}
		a.drawn.X[i] = 0
	}
	f.PullPush(solvers.Dual{X: []float64{s.T}, D: d.T0}, solvers.Dual{X: s.Y0, D: d.Y0}, a.drawn, a.yb, a.tb)
	c.Y0.Add(a.yb)
	c.T0.Add(a.tb)
}
