package solvers

import "math"

// rosenbrockAlgebraic makes the end of a step consistent, where the field has a Mass. So the unknowns are functions of
// the other states at all times: conditions that read them change where these say, and what happens at a time finds
// them as they are. A step then is the map of the stages, followed by that of Consistency.
type rosenbrockAlgebraic struct {
	*Consistency
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

func (r *rosenbrock) readyAlgebraic(jac *Jacobian) error {
	c, err := newConsistency(jac, Size{N: r.n, Q: r.q}, r.l)
	if err != nil {
		return err
	}
	v := func(n int) []float64 { return make([]float64, n) }
	r.algebra = &rosenbrockAlgebraic{Consistency: c, moved: v(r.n), y1: v(r.n * r.l), t1: v(r.l)}
	return nil
}

// settle makes the end of s consistent.
func (r *rosenbrock) settle(f Field, s *Step) {
	a := r.algebra
	if a == nil || !finite(s.Y1) {
		return
	}
	copy(a.moved, s.Y1)
	if err := a.Solve(f.(JacobianField), s.T1, s.Y1); err != nil {
		r.fault = err
		r.fail(s)
		return
	}
	for i, y := range s.Y1 {
		a.moved[i] -= y
	}
}

// Drifted returns how far the end of the last step was moved to be consistent; nil without algebraic equations.
func (r *rosenbrock) Drifted() []float64 {
	if r.algebra == nil {
		return nil
	}
	return r.algebra.moved
}

// rest makes a step of length zero, whose matrix is singular where there are algebraic equations. The stages then make
// one of Euler's explicit method, y₀ + h M⁺ f: its derivatives by h are those of the flow, once it is made consistent.
func (r *rosenbrock) rest(s *Step) {
	clear(s.K[r.w:])
	copy(s.Y1, s.Y0)
	clear(s.DQ)
	clear(r.algebra.moved)
	r.made.k, r.fault = nil, nil
}

// rests reports whether s is a step that rest makes.
func (r *rosenbrock) rests(f Field, s *Step) bool {
	if s.H != 0 {
		return false
	}
	g, ok := f.(JacobianField)
	return ok && r.ready(g.Jacobian()) == nil && r.algebra != nil
}

// slopeOf returns f of s in the rows of states that have rates, 0 in those of unknowns, and r.
func (r *rosenbrock) slopeOf(s *Step) []float64 {
	copy(r.slope, s.K[:r.w])
	for _, i := range r.algebra.mass.Unknowns {
		r.slope[i] = 0
	}
	return r.slope
}

// pushRest is Push for a step that rest made.
func (r *rosenbrock) pushRest(f TangentField, s *Step, d *StepTangent) {
	l, k := r.l, r.slopeOf(s)
	for a, h := range d.H {
		d.T1[a] = d.T0[a] + h
		for i, v := range k[:r.n] {
			d.Y1[i*l+a] = math.FMA(h, v, d.Y0[i*l+a])
		}
		for j, v := range k[r.n:] {
			d.DQ[j*l+a] = float64(h * v)
		}
	}
	r.algebra.Push(f.(TangentJacobianField), s.T1, s.Y1, d.T1, d.Y1)
}

// pullRest is Pull for a step that rest made; the end of c was pulled through Consistency.
func (r *rosenbrock) pullRest(s *Step, c *StepCotangent) {
	k := r.slopeOf(s)
	copy(c.Y0, c.Y1)
	copy(c.T0, c.T1)
	if c.WantH {
		copy(c.H, c.T1)
		inner(c.H, k[:r.n], c.Y1)
		inner(c.H, k[r.n:], c.DQ)
	}
}

// pulled returns c with the cotangents of the end of s before it was made consistent.
func (r *rosenbrock) pulled(f CotangentField, s *Step, c *StepCotangent) *StepCotangent {
	a := r.algebra
	copy(a.y1, c.Y1)
	copy(a.t1, c.T1)
	a.Pull(f.(CotangentJacobianField), s.T1, s.Y1, a.y1, a.t1)
	before := *c
	before.Y1, before.T1 = a.y1, a.t1
	return &before
}

// pullPushed returns c with the cotangents of the end of s before it was made consistent, and their tangents. kd holds
// the tangents of the stages; nil for a step that rest made.
func (r *rosenbrock) pullPushed(f SecondField, s *Step, d *StepTangent, kd []float64, c *StepSecond) *StepSecond {
	a, n, l := r.algebra, r.n, r.l
	if len(a.end.X) == 0 {
		a.end, a.bar, a.bart = NewDual(n, l), NewDual(n, l), NewDual(1, l)
	}
	copy(a.end.X, s.Y1)
	if kd != nil {
		r.m.combine(a.end.D, d.Y0, s.H, kd, r.w*l)
		r.lengthen(a.end.D, &r.m, d.H, s.K, n)
	} else {
		k := r.slopeOf(s)
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
func (r *rosenbrock) pullPushRest(f SecondField, s *Step, d *StepTangent, c *StepSecond) {
	a, n, w, l := r.algebra, r.n, r.w, r.l
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
	for _, i := range a.mass.Unknowns {
		a.drawn.X[i] = 0
		clear(a.drawn.D[int(i)*l : (int(i)+1)*l])
	}
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
