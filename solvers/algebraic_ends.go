package solvers

import (
	"math"

	"odes.dev/odes/internal/base/elem"
)

// algebraicEnds makes the ends of steps consistent, where the field has a Mass. So the unknowns are functions of the
// other states at all times: conditions that read them change where these say, and what happens at a time finds them as
// they are. A step then is the map of the stages, followed by that of Consistency.
type algebraicEnds struct {
	*Consistency
	work  *stageWork
	sum   *terms    // of y₁ over the rows of K
	moved []float64 // [n] how far the last step was moved
	y1    []float64 // [n·l] ȳ₁ before that
	t1    []float64 // [l]
	end   Dual      // [n] y₁ and its tangents
	bar   Dual      // [n] ȳ₁ with its tangents
	bart  Dual      // [1]
	drawn Dual      // [n + q], [n] and [1], for steps of length zero
	yb    Dual
	tb    Dual
}

func newAlgebraicEnds(jac *Jacobian, work *stageWork, sum *terms) (*algebraicEnds, error) {
	c, err := newConsistency(jac, Size{N: work.n, Q: work.q}, work.l)
	if err != nil {
		return nil, err
	}
	v := func(n int) []float64 { return make([]float64, n) }
	return &algebraicEnds{
		Consistency: c, work: work, sum: sum, moved: v(work.n), y1: v(work.n * work.l), t1: v(work.l),
	}, nil
}

// settle makes the end of s consistent.
func (a *algebraicEnds) settle(f Field, s *Step) error {
	if a == nil || !finite(s.Y1) {
		return nil
	}
	copy(a.moved, s.Y1)
	if err := a.Solve(f.(JacobianField), s.T1, s.Y1); err != nil {
		return err
	}
	for i, y := range s.Y1 {
		a.moved[i] -= y
	}
	return nil
}

// drifted returns how far the end of the last step was moved to be consistent; nil without algebraic equations.
func (a *algebraicEnds) drifted() []float64 {
	if a == nil {
		return nil
	}
	return a.moved
}

// rest makes a step of length zero, whose matrix is singular where there are algebraic equations. The stages then make
// one of Euler's explicit method, y₀ + h M⁺ f: its derivatives by h are those of the flow, once it is made
// consistent.
func (a *algebraicEnds) rest(s *Step) {
	clear(s.K[a.work.w:])
	copy(s.Y1, s.Y0)
	clear(s.DQ)
	clear(a.moved)
}

// restComplex makes a step of length zero but for how that moves; K holds the slopes at the start.
func (m *Mass) restComplex(s *ComplexStep, n, w int) {
	clear(s.K[w:])
	for i, y := range s.Y0 {
		if s.Y1[i] = y; m.of[i] == 0 {
			s.Y1[i] = elem.CFMA(s.H, s.K[i], y)
		}
	}
	for j := range s.DQ {
		s.DQ[j] = elem.CMul(s.H, s.K[n+j])
	}
}

// slopeOf returns f of s in the rows of states that have rates, 0 in those of unknowns, and r.
func (a *algebraicEnds) slopeOf(s *Step) []float64 {
	slope := a.work.slope
	copy(slope, s.K[:a.work.w])
	a.mass.clear(slope, 1)
	return slope
}

// pushRest is Push for a step that rest made.
func (a *algebraicEnds) pushRest(f TangentField, s *Step, d *StepTangent) {
	l, k := a.l, a.slopeOf(s)
	for m, h := range d.H {
		d.T1[m] = d.T0[m] + h
		for i, v := range k[:a.n] {
			d.Y1[i*l+m] = math.FMA(h, v, d.Y0[i*l+m])
		}
		for j, v := range k[a.n:] {
			d.DQ[j*l+m] = float64(h * v)
		}
	}
	a.Push(f.(TangentJacobianField), s.T1, s.Y1, d.T1, d.Y1)
}

// pullRest is Pull for a step that rest made; the end of c was pulled through Consistency.
func (a *algebraicEnds) pullRest(s *Step, c *StepCotangent) {
	k := a.slopeOf(s)
	copy(c.Y0, c.Y1)
	copy(c.T0, c.T1)
	if c.WantH {
		copy(c.H, c.T1)
		inner(c.H, k[:a.n], c.Y1)
		inner(c.H, k[a.n:], c.DQ)
	}
}

// pulled returns c with the cotangents of the end of s before it was made consistent.
func (a *algebraicEnds) pulled(f CotangentField, s *Step, c *StepCotangent) *StepCotangent {
	copy(a.y1, c.Y1)
	copy(a.t1, c.T1)
	a.Pull(f.(CotangentJacobianField), s.T1, s.Y1, a.y1, a.t1)
	before := *c
	before.Y1, before.T1 = a.y1, a.t1
	return &before
}

// pullPushed returns c with the cotangents of the end of s before it was made consistent, and their tangents. kd holds
// the tangents of the stages; nil for a step that rest made.
func (a *algebraicEnds) pullPushed(f SecondField, s *Step, d *StepTangent, kd []float64, c *StepSecond) *StepSecond {
	r, n, l := a.work, a.n, a.l
	if len(a.end.X) == 0 {
		a.end, a.bar, a.bart = NewDual(n, l), NewDual(n, l), NewDual(1, l)
	}
	copy(a.end.X, s.Y1)
	if kd != nil {
		a.sum.combine(a.end.D, d.Y0, s.H, kd, r.w*l)
		r.lengthen(a.end.D, a.sum, d.H, s.K, n)
	} else {
		k := a.slopeOf(s)
		for i := range n {
			for j, h := range d.H {
				a.end.D[i*l+j] = math.FMA(h, k[i], d.Y0[i*l+j])
			}
		}
	}
	t := Dual{X: []float64{s.T1}, D: a.t1}
	for j, h := range d.H {
		t.D[j] = d.T0[j] + h
	}
	g := f.(SecondJacobianField)
	a.Push(g, s.T1, s.Y1, t.D, a.end.D)
	a.bar.Copy(c.Y1)
	a.bart.Copy(c.T1)
	a.PullPush(g, t, a.end, a.bar, a.bart)
	before := *c
	before.Y1, before.T1 = a.bar, a.bart
	return &before
}

// pullPushRest is PullPush for a step that rest made; the end of c was pulled through Consistency. The second
// derivative by the length is that of Euler's method, zero.
func (a *algebraicEnds) pullPushRest(f SecondField, s *Step, d *StepTangent, c *StepSecond) {
	n, w, l := a.n, a.work.w, a.l
	if len(a.drawn.X) == 0 {
		a.drawn, a.yb, a.tb = NewDual(w, l), NewDual(n, l), NewDual(1, l)
	}
	c.Y0.Copy(c.Y1)
	c.T0.Copy(c.T1)
	c.H.Copy(c.T1)
	copy(a.drawn.X, c.Y1.X)
	copy(a.drawn.X[n:], c.DQ.X)
	copy(a.drawn.D, c.Y1.D)
	copy(a.drawn.D[n*l:], c.DQ.D)
	a.mass.clear(a.drawn.X, 1)
	a.mass.clear(a.drawn.D, l)
	if c.WantH {
		kd := make([]float64, w*l)
		f.Push(s.T, s.Y0, d.T0, d.Y0, kd)
		for i, k := range s.K[:w] {
			c.H.X[0] = math.FMA(k, a.drawn.X[i], c.H.X[0])
		}
		inner(c.H.D, s.K[:w], a.drawn.D)
		inner(c.H.D, a.drawn.X, kd)
	}
	for i, v := range a.drawn.X { // h times these
		for j, h := range d.H {
			a.drawn.D[i*l+j] = float64(h * v)
		}
		a.drawn.X[i] = 0
	}
	f.PullPush(Dual{X: []float64{s.T}, D: d.T0}, Dual{X: s.Y0, D: d.Y0}, a.drawn, a.yb, a.tb)
	c.Y0.Add(a.yb)
	c.T0.Add(a.tb)
}
