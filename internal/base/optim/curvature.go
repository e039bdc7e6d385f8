package optim

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// curvature is what a search knows of the second derivatives of the Lagrangian: they themselves (exact), or what the
// steps since it was fresh told.
type curvature struct {
	b       []float64 // n × n, of scaled variables
	grown   *grown    // in place of b, for many variables
	exact   bool
	fresh   bool
	off     bool            // second derivatives could not be had
	used    []float64       // what the last program had: b, or what is convex of it
	resting map[holder]bool // kinks and constraints that held the last step
	bounds  []bool          // and variables
}

// holder names a kink (constraint −1) or a constraint (kink −1).
type holder struct{ kink, constraint int }

// begin makes the curvature that of the start.
func (m *curvature) begin(ctx context.Context, s *sequence) {
	m.bounds = make([]bool, s.n)
	if s.p.Many {
		m.grown = &grown{quasiNewton{memory: cmp.Or(s.o.Memory, 30)}}
		m.fresh = true
		return
	}
	m.b = make([]float64, s.n*s.n)
	m.start(s)
	if s.p.Curve != nil && s.p.Cheap {
		m.exact = true
		m.look(ctx, s)
	}
}

// start makes the curvature what the point alone tells, which may be nothing.
func (m *curvature) start(s *sequence) {
	copy(m.b, s.now.at.Hessian)
	m.fresh = true
}

// renew makes the curvature anew at the end of a search: exact if that can be.
func (m *curvature) renew(ctx context.Context, s *sequence) {
	if m.grown != nil { // what is old in it is forgotten anyway
		m.fresh = true
		return
	}
	if m.exact = s.p.Curve != nil && !m.off; m.exact {
		m.look(ctx, s)
	}
	if !m.exact {
		m.start(s)
	}
}

// look finds second derivatives at the current point, with the multipliers of the last step.
func (m *curvature) look(ctx context.Context, s *sequence) {
	m.rest(s)
	if !m.exact {
		return
	}
	y := make([]float64, len(s.now.c.C))
	for i := range s.plan.lines {
		if k := s.plan.lines[i].constraint; k >= 0 {
			y[k] += s.plan.slopes[i]
		}
	}
	h := make([]float64, s.n*s.n)
	if err := s.p.Curve(ctx, s.x, y, h); err != nil || !finite(h) {
		if ctx.Err() == nil {
			m.exact, m.off = false, true
			m.start(s)
		}
		return
	}
	s.scale(h)
	m.b, m.fresh = h, true
}

// rest notes what held the last step.
func (m *curvature) rest(s *sequence) {
	m.resting = map[holder]bool{}
	for i := range s.plan.lines {
		l, y := &s.plan.lines[i], s.plan.slopes[i]
		if !l.cut && y > -l.below && y < l.above && y != 0 {
			m.resting[holder{l.kink, l.constraint}] = true
		}
	}
	for i := range m.bounds {
		lo, hi := s.p.Bounds.limits(i)
		m.bounds[i] = s.plan.held != nil && s.plan.held[i] != 0 && (s.x[i] == lo || s.x[i] == hi)
	}
}

// learn is told of the step to the trial at next.
func (m *curvature) learn(s *sequence, next []float64) {
	if m.exact {
		return
	}
	p, y := make([]float64, s.n), make([]float64, s.n)
	for j := range p {
		p[j] = (next[j] - s.x[j]) / s.s[j]
		y[j] = s.trial.at.Gradient[j] - s.now.at.Gradient[j]
	}
	if s.p.Peaked && cosine(s.trial.at.Gradient, s.now.at.Gradient) < distinct {
		// A jump of derivatives is no curvature. Where all goes as promised, there may be less of it, as bundle methods
		// have it.
		if s.ratio > 0.75 {
			for i := range m.b {
				m.b[i] *= 0.5
			}
			if m.grown != nil {
				m.grown.s, m.grown.y, m.grown.stale = nil, nil, true
				m.grown.gamma *= 0.5
			}
		}
		return
	}
	for i := range s.plan.lines {
		l, slope := &s.plan.lines[i], s.plan.slopes[i]
		to := []float64(nil)
		switch {
		case l.cut || slope == 0:
			continue
		case l.kink >= 0:
			to = s.trial.kinks.J[l.kink*s.n : (l.kink+1)*s.n]
		default:
			if to = s.trial.c.row(l.constraint, s.n); s.largest(l.constraint) && cosine(l.a, to) < distinct {
				continue
			}
		}
		add(y, slope, to)
		add(y, -slope, l.a)
	}
	if m.grown != nil {
		m.grown.learn(p, y)
		m.fresh = false
		return
	}
	if py := dot(p, y); m.fresh && largest(m.b) == 0 && py > 1e-8*norm(p)*norm(y) {
		for i := range s.n {
			m.b[i*s.n+i] = dot(y, y) / py
		}
	}
	if m.fresh && largest(m.b) == 0 {
		return // nothing curves yet
	}
	damped(m.b, p, y)
	m.fresh = false
}

// along returns the curvature along a step.
func (m *curvature) along(d []float64) float64 {
	out := make([]float64, len(d))
	if m.grown != nil {
		m.grown.apply(d, out)
		return dot(d, out)
	}
	multiply(m.used, d, out)
	return dot(d, out)
}

// fill makes a program one with this curvature, which is made positive definite: where constraints hold the minimum,
// by more of it across them, which changes no step that they hold; else by turning what is negative. size is how much
// the objective changes by a step as long as the radius. Steps of programs are in units of that.
func (m *curvature) fill(s *sequence, q *program, size float64) {
	if m.grown != nil {
		least := 1e-7 * size
		if least == 0 {
			least = float64(1e-7 * s.penalty * s.radius)
		}
		q.multiplied(s.n, func(v, out []float64) {
			m.grown.apply(v, out)
			for i := range out {
				out[i] = float64(out[i]*s.radius*s.radius) + float64(least*v[i])
			}
		})
		return
	}
	n, all, square := s.n, q.n, float64(s.radius*s.radius)
	most := 0.0
	for i := range n {
		most = math.Max(most, math.Abs(m.b[i*n+i]))
	}
	// A little of it keeps steps along what does not curve at all from being too long to compute with.
	least := math.Max(1e-7*size, 1e-12*most*square)
	if least == 0 {
		least = float64(1e-7 * s.penalty * s.radius)
	}
	plain, slopes := slices.Clone(q.g), slices.Clone(q.a)
	made := func(across float64) bool {
		copy(q.g, plain)
		copy(q.a, slopes)
		for i := range n {
			for j := range n {
				q.g[i*all+j] = float64(m.used[i*n+j] * square)
			}
			q.g[i*all+i] += least
			if across > 0 && m.bounds[i] {
				q.g[i*all+i] += float64(across * most * square)
			}
		}
		if across > 0 {
			m.stiffen(q, float64(across*most*square))
		}
		p := *q
		p.inverse, p.w = make([]float64, all*all), make([]float64, all)
		return p.invert() || q.unwanted()
	}
	m.used = m.b
	for _, across := range []float64{0, 10, 1e3} {
		if made(across) {
			return
		}
	}
	m.used = convex(m.b, n)
	for !made(0) {
		least = math.Max(10*least, float64(1e-12*most*square))
	}
}

// convex returns a matrix with the absolute values of its eigenvalues: where it bends down, steps are as long as where
// it bends up as much.
func convex(b []float64, n int) []float64 {
	vectors, out := slices.Clone(b), make([]float64, n*n)
	for k, value := range eigen(vectors, n) {
		v := vectors[k*n : (k+1)*n]
		for i, f := range v {
			add(out[i*n:(i+1)*n], float64(math.Abs(value)*f), v)
		}
	}
	return out
}

// stiffen adds curvature across the lines that held the last step.
func (m *curvature) stiffen(q *program, by float64) {
	for k := range q.lines {
		l := &q.lines[k]
		if l.cut || !m.resting[holder{l.kink, l.constraint}] {
			continue
		}
		square := dot(l.a, l.a)
		if square == 0 {
			continue
		}
		w := by / square
		add(q.a, float64(w*l.v), l.a)
		for i, a := range l.a {
			if a != 0 {
				add(q.g[i*q.n:(i+1)*q.n], float64(w*a), l.a)
			}
		}
	}
}

// damped is a BFGS update of b by a step p and the difference y of gradients, damped so that b remains positive
// definite (M. J. D. Powell, Lecture Notes in Math. 630 (1978) 144–157, doi:10.1007/BFb0067703). It changes y.
func damped(b, p, y []float64) {
	n := len(p)
	bp := make([]float64, n)
	multiply(b, p, bp)
	bend, py := dot(p, bp), dot(p, y)
	if bend <= 0 || !finite(bp) {
		return
	}
	if py < 0.2*bend {
		t := 0.8 * bend / (bend - py)
		for i := range y {
			y[i] = float64(t*y[i]) + float64((1-t)*bp[i])
		}
		py = dot(p, y)
	}
	if py <= 0 {
		return
	}
	for i := range n {
		for j := range n {
			b[i*n+j] += y[i]*y[j]/py - bp[i]*bp[j]/bend
		}
	}
}
