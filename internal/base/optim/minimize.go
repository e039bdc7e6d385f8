package optim

import (
	"context"
	"math"
	"slices"
)

func minimize(ctx context.Context, p Problem, x0 []float64, o Options) (Result, error) {
	n := p.Variables
	room := func() Point {
		at := Point{Gradient: make([]float64, n)}
		if p.HasHessian && !o.FirstOrder {
			at.Hessian = make([]float64, n*n)
		}
		return at
	}
	f := general{ctx: ctx, p: p, now: room(), trial: room(), x: make([]float64, n), to: make([]float64, n)}
	// The first steps are short, so that a search finds the minimum of the valley that it starts in.
	s := search{o: o, n: n, b: p.Bounds, radius: 0.1}
	switch {
	case o.FirstOrder || !p.HasHessian && p.Product == nil:
		memory := o.Memory
		if memory == 0 {
			memory = 20
		}
		s.f = &quasiNewton{general: f, memory: memory}
	case p.HasHessian:
		s.f = &newton{general: f}
	default:
		s.f = &inexact{general: f}
	}
	return s.run(ctx, x0)
}

// general is a function as an objective of a search, without its model.
type general struct {
	ctx        context.Context
	p          Problem
	now, trial Point
	x, to      []float64
	d          []float64
}

func (f *general) evaluate(ctx context.Context, x []float64, want Want) (value, noise float64, err error) {
	f.trial.Noise = 0
	copy(f.to, x)
	err = f.p.Evaluate(ctx, x, want, &f.trial)
	if err == nil && want == Curving && !finite(f.trial.Hessian) {
		err = errNotFinite
	}
	return f.trial.Value, f.trial.Noise, err
}

func (f *general) accept() {
	f.now, f.trial = f.trial, f.now
	f.x, f.to = f.to, f.x
}

func (f *general) gain() float64 { return f.now.Value - f.trial.Value }

func (f *general) slopes(trial bool) []float64 {
	if trial {
		return f.trial.Gradient
	}
	return f.now.Gradient
}

func (f *general) measure([]float64) {}

// newton models a function by its Hessian.
type newton struct {
	general
	b []float64 // the scaled Hessian
}

func (f *newton) full() (Want, bool) { return Curving, false }

func (f *newton) model(d []float64) quadratic {
	n := len(d)
	if f.b == nil {
		f.b = make([]float64, n*n)
	}
	for i := range n {
		for j := range n {
			f.b[i*n+j] = (f.now.Hessian[i*n+j] + f.now.Hessian[j*n+i]) / 2 / d[i] / d[j]
		}
	}
	return f
}

func (f *newton) apply(z, out []float64) { multiply(f.b, z, out) }

// minimize finds the least value on the free variables from the eigenvalues of their part of the Hessian. See
// J. J. Moré, D. C. Sorensen, SIAM J. Sci. Stat. Comput. 4 (1983) 553–572, doi:10.1137/0904038.
func (f *newton) minimize(slope []float64, free []int, z []float64, radius float64) bool {
	n, k := len(z), len(free)
	held, c := make([]float64, n), make([]float64, n)
	copy(held, z)
	for _, j := range free {
		held[j] = 0
	}
	f.apply(held, c)
	h, g := make([]float64, k*k), make([]float64, k)
	for a, i := range free {
		g[a] = slope[i] + c[i]
		for b, j := range free {
			h[a*k+b] = f.b[i*n+j]
		}
	}
	radius = within(radius, held)
	e := eigen(h, k)
	v, w := make([]float64, k), make([]float64, k)
	multiply(h, g, v)

	// length returns |w| for w = −(Λ + λ)⁻¹v.
	length := func(lambda float64) float64 {
		for i := range w {
			w[i] = 0
			if v[i] != 0 {
				w[i] = -v[i] / (e[i] + lambda)
			}
		}
		return norm(w)
	}
	bounded := true
	tiny := float64(float64(k) * epsilon * math.Max(math.Abs(e[0]), math.Abs(e[k-1])))
	switch {
	case e[0] > tiny && length(0) <= radius:
		bounded = false
	default:
		lower := math.Max(0, -e[0])
		lower += math.Max(tiny, float64(epsilon*lower))
		if l := length(lower); l < radius {
			// The hard case: what is left of the radius goes along the direction of least curvature.
			if e[0] < tiny {
				w[0] = -math.Copysign(math.Sqrt(float64((radius-l)*(radius+l))+float64(w[0]*w[0])), v[0])
			}
			break
		}
		upper := norm(v)/radius + lower
		lambda := lower
		for range 100 {
			l := length(lambda)
			if math.Abs(l-radius) <= 1e-3*radius {
				break
			}
			if l > radius {
				lower = lambda
			} else {
				upper = lambda
			}
			bend := 0.0
			for i := range w {
				bend += float64(w[i] * w[i] / (e[i] + lambda))
			}
			next := lambda + float64((l-radius)/radius*(l*l/bend))
			if !(next > lower && next < upper) {
				next = lower + float64(0.5*(upper-lower))
			}
			lambda = next
		}
	}
	transposed(h, w, g)
	for a, i := range free {
		z[i] = g[a]
	}
	return bounded
}

// inexact models a function by products with its Hessian.
type inexact struct {
	general
	v, out []float64
}

func (f *inexact) full() (Want, bool) { return Slopes, false }

func (f *inexact) model(d []float64) quadratic {
	f.d = d
	if f.v == nil {
		f.v, f.out = make([]float64, len(d)), make([]float64, len(d))
	}
	return f
}

// apply takes a product that fails to be zero: the step is then one against the slopes, and so short as its radius.
func (f *inexact) apply(z, out []float64) {
	for i := range z {
		f.v[i] = z[i] / f.d[i]
	}
	if largest(z) == 0 {
		clear(out)
		return
	}
	if err := f.p.Product(f.ctx, f.x, f.v, f.out); err != nil || !finite(f.out) {
		clear(out)
		return
	}
	for i := range z {
		out[i] = f.out[i] / f.d[i]
	}
}

func (f *inexact) minimize(slope []float64, free []int, z []float64, radius float64) bool {
	return conjugate(f, slope, free, z, radius, 0.1)
}

// conjugate is truncated conjugate gradients on the free components from z, to a residual of a fraction of the first.
func conjugate(q quadratic, slope []float64, free []int, z []float64, radius, fraction float64) bool {
	n := len(z)
	r, p, bp := make([]float64, n), make([]float64, n), make([]float64, n)
	q.apply(z, bp)
	for _, i := range free {
		r[i] = -slope[i] - bp[i]
		p[i] = r[i]
	}
	square := dot(r, r)
	// Superlinear convergence asks for ever better steps.
	target := float64(math.Min(fraction, math.Sqrt(math.Sqrt(square)/(1+norm(slope)))) * math.Sqrt(square))
	for range 2*len(free) + 10 {
		if math.Sqrt(square) <= target || square == 0 {
			return false
		}
		q.apply(p, bp)
		for i := range bp {
			if p[i] == 0 {
				bp[i] = 0
			}
		}
		bend := dot(p, bp)
		zp, pp, zz := dot(z, p), dot(p, p), dot(z, z)
		// The way along p to the sphere.
		room := math.Max((radius-math.Sqrt(zz))*(radius+math.Sqrt(zz)), 0)
		if room == 0 || pp == 0 {
			return true
		}
		out := room / (zp + math.Sqrt(math.Max(float64(zp*zp)+float64(pp*room), 0)))
		if zp < 0 {
			out = (math.Sqrt(math.Max(float64(zp*zp)+float64(pp*room), 0)) - zp) / pp
		}
		t := square / bend
		if bend <= 0 || t >= out {
			add(z, out, p)
			return true
		}
		add(z, t, p)
		for _, i := range free {
			r[i] -= float64(t * bp[i])
		}
		next := dot(r, r)
		for _, i := range free {
			p[i] = r[i] + float64(next/square*p[i])
		}
		square = next
	}
	return false
}

// quasiNewton models a function by limited-memory BFGS: B = γ·I + Σ bᵢbᵢᵀ − aᵢaᵢᵀ (J. Nocedal, S. J. Wright, Numerical
// Optimization, 2nd ed., Springer 2006, procedure 7.6).
type quasiNewton struct {
	general
	memory int
	s, y   [][]float64 // scaled steps and differences of slopes
	a, b   [][]float64
	room   []float64 // of a and b
	stale  bool      // a and b are those of other steps
	gamma  float64
	// solved is a step whose product with B is known: right.
	solved, right []float64
}

func (f *quasiNewton) full() (Want, bool) { return Slopes, true }

func (f *quasiNewton) accept() {
	if f.d != nil {
		n := len(f.x)
		s, y := make([]float64, n), make([]float64, n)
		for i := range s {
			s[i] = (f.to[i] - f.x[i]) * f.d[i]
			y[i] = (f.trial.Gradient[i] - f.now.Gradient[i]) / f.d[i]
		}
		f.learn(s, y)
	}
	f.general.accept()
}

// learn is told of a step and the difference of slopes, which it keeps.
func (f *quasiNewton) learn(s, y []float64) {
	if sy := dot(s, y); sy > 1e-10*norm(s)*norm(y) {
		if len(f.s) == f.memory {
			f.s, f.y = f.s[1:], f.y[1:]
		}
		f.s, f.y = append(f.s, s), append(f.y, y)
		f.gamma = dot(y, y) / sy
		f.stale, f.solved = true, nil
	}
}

// update makes the vectors a and b anew, where steps have come since.
func (f *quasiNewton) update() {
	if !f.stale {
		return
	}
	f.stale = false
	f.a, f.b = f.a[:0], f.b[:0]
	if f.room == nil {
		f.room = make([]float64, 2*f.memory*len(f.s[0]))
	}
	room := f.room
	for i, s := range f.s {
		n := len(s)
		a, b := room[:n:n], room[n:2*n:2*n]
		room = room[2*n:]
		f.product(s, a)
		clear(b)
		add(b, 1/math.Sqrt(dot(f.y[i], s)), f.y[i])
		root := math.Sqrt(dot(s, a))
		for j := range a {
			a[j] /= root
		}
		f.a, f.b = append(f.a, a), append(f.b, b)
	}
}

func (f *quasiNewton) model(d []float64) quadratic {
	if len(f.s) == 0 {
		// The first step goes as far as its radius.
		g, x := make([]float64, len(d)), make([]float64, len(d))
		for i := range d {
			g[i], x[i] = f.now.Gradient[i]/d[i], 1
		}
		f.d = d
		f.gamma = norm(g) / (0.1 * norm(x))
	}
	return f
}

func (f *quasiNewton) apply(z, out []float64) {
	if f.solved != nil && slices.Equal(z, f.solved) {
		copy(out, f.right)
		return
	}
	f.update()
	f.product(z, out)
}

// product is apply by the vectors a and b as they are.
func (f *quasiNewton) product(z, out []float64) {
	for i := range z {
		out[i] = float64(f.gamma * z[i])
	}
	for i, b := range f.b {
		add(out, dot(b, z), b)
		add(out, -dot(f.a[i], z), f.a[i])
	}
}

func (f *quasiNewton) minimize(slope []float64, free []int, z []float64, radius float64) bool {
	if len(free) == len(z) && len(f.s) > 0 && largest(z) == 0 && f.newton(slope, z, radius) {
		return false
	}
	return conjugate(f, slope, free, z, radius, 1e-6)
}

// newton sets z to −B⁻¹·slope, by two passes over the steps (J. Nocedal, S. J. Wright, Numerical Optimization, 2nd ed.,
// Springer 2006, algorithm 7.4), and reports whether that is within the radius. Else z remains zero.
func (f *quasiNewton) newton(slope, z []float64, radius float64) bool {
	parts := make([]float64, len(f.s))
	for i, v := range slope {
		z[i] = -v
	}
	for k := len(f.s) - 1; k >= 0; k-- {
		parts[k] = dot(f.s[k], z) / dot(f.s[k], f.y[k])
		add(z, -parts[k], f.y[k])
	}
	for i := range z {
		z[i] /= f.gamma
	}
	for k, s := range f.s {
		add(z, parts[k]-dot(f.y[k], z)/dot(s, f.y[k]), s)
	}
	if norm(z) <= radius {
		f.solved, f.right = slices.Clone(z), make([]float64, len(z))
		for i, v := range slope {
			f.right[i] = -v
		}
		return true
	}
	clear(z)
	return false
}
