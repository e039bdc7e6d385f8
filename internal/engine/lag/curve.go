package lag

import (
	"math"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/stages"
)

// curve is the dense output of a step as one polynomial for each state, y₀ + θ Σ c_k (2θ - 1)^k. Steps are read more
// often than they are made, and the numbers β_j(θ) of all stages cost more than the step itself. [degree][N], nil for a
// step without length and for methods whose dense output is no such sum.
type curve []float64

// fit returns the curve of a step all rows of which are known. It is overwritten by the next one.
func fit(x *Worker, s *solvers.Step) curve {
	of, ok := solvers.MakerOf(plain(x.method), s).(interface{ Output() *stages.Dense })
	if !ok || s.H == 0 {
		return nil
	}
	if by := solvers.MakerOf(plain(x.method), s); x.asWhole.made(by, s) {
		return x.asWhole.curve
	}
	p, size := of.Output(), x.w.Size()
	if x.shapeOf != p {
		x.shapeOf, x.shape = p, p.Curve()
	}
	n, w, m := size.N, size.N+size.Q, len(x.shape.Rows)
	if room := (len(x.shape.Of) + m + 1) * n; len(x.room) < room {
		x.room = make([]float64, room) // the first row stays zero
	}
	zero, diff, c := x.room[:n], x.room[n:][:m*n], x.room[(m+1)*n:][:len(x.shape.Of)*n]
	first := diff[(m-1)*n:]
	copy(first, s.K[x.shape.Rows[0]*w:][:n])
	for j, row := range x.shape.Rows[1:] {
		to := diff[j*n:][:n]
		for i, v := range s.K[row*w:][:n] {
			to[i] = v - first[i]
		}
	}
	for k, of := range x.shape.Of {
		f := stages.Form{Row: of.Row, C: of.C}
		f.Combine(c[k*n:][:n], zero, s.H, diff, n)
	}
	return c
}

// many is how many states are read together from which on loops along them are worth a call.
const many = 8

// curveAt writes the states from number from on at theta of a step.
func curveAt(x *Worker, step int, theta float64, from int, y []float64) {
	s, c, n := &x.rec.steps[step], x.rec.curves[step], x.n
	if len(y) >= many {
		p := &x.powers
		p.of(len(c)/n, theta)
		simd.Combine(y, s.Y0[from:], theta, p.value, p.rows, c[from:], n)
		return
	}
	u := math.FMA(2, theta, -1)
	for i := range y {
		v := 0.0
		for k := len(c) - n + from + i; k >= 0; k -= n {
			v = math.FMA(v, u, c[k])
		}
		y[i] = math.FMA(theta, v, s.Y0[from+i])
	}
}

// powers are those of u = 2θ - 1 by which the coefficients of a curve count, θ u^k, over θ, and their slopes by θ.
type powers struct {
	value, slope []float64
	rows         []int // of the coefficients
}

// of makes p those for a degree, without the slopes.
func (p *powers) of(degree int, theta float64) {
	if len(p.value) != degree {
		p.value, p.slope, p.rows = make([]float64, degree), make([]float64, degree), make([]int, degree)
		for k := range p.rows {
			p.rows[k] = k
		}
	}
	u, v := math.FMA(2, theta, -1), 1.0
	for k := range p.value {
		p.value[k] = v
		v = float64(v * u)
	}
}

// slopes writes those by θ of states that c[degree][n] begins with.
func (p *powers) slopes(rates, c []float64, n int, theta float64) {
	if len(rates) >= many {
		last := 0.0
		for k, v := range p.value {
			p.slope[k] = math.FMA(float64(2*theta*float64(k)), last, v)
			last = v
		}
		clear(rates)
		simd.Combine(rates, rates, 1, p.slope, p.rows, c, n)
		return
	}
	u := math.FMA(2, theta, -1)
	for m := range rates {
		v, d := 0.0, 0.0
		for k := (len(p.rows)-1)*n + m; k >= 0; k -= n {
			d = math.FMA(d, u, v)
			v = math.FMA(v, u, c[k])
		}
		rates[m] = math.FMA(float64(2*theta), d, v)
	}
}

// fitted reports whether the state at theta of a step is that of its curve. Ends are those of the step.
func fitted(x *Worker, step int, theta float64) bool {
	return uint(step) < uint(len(x.rec.curves)) && theta != 0 && theta != 1 && x.rec.curves[step] != nil
}

// gathered are cotangents of the curve of a step, which later steps read: of its coefficients over the length of the
// step, of the start, and of the time and the length of the step.
type gathered struct {
	some        bool
	c, y0, t, h []float64 // in lanes
}

// gather adds the cotangents of what delay i reads at theta of a step to those of its curve: lags are those of all. It
// adds those of the time to x.sb.
func gather(x *Worker, i, step int, theta float64, lags []float64) {
	s, c := &x.rec.steps[step], x.rec.curves[step]
	n, l := x.n, x.l
	for len(x.gathered) <= step {
		x.gathered = append(x.gathered, gathered{})
	}
	g := &x.gathered[step]
	if len(g.c) != len(c)*l { // for the first time, or after a step of another method
		room := make([]float64, len(c)*l+n*l+2*l)
		g.c, room = room[:len(c)*l], room[len(c)*l:]
		g.y0, g.t, g.h = room[:n*l], room[n*l:][:l], room[n*l+l:]
	}
	if !g.some {
		g.some = true
		clear(g.c)
		clear(g.y0)
		clear(g.t)
		clear(g.h)
	}
	p := &x.powers
	p.of(len(c)/n, theta)
	for _, of := range x.rec.takes[i] {
		if of.discrete {
			continue
		}
		w := lags[(of.to-n)*l:][:of.len*l]
		if to := g.c[of.from*l:]; len(w) >= many {
			for k := range p.value {
				to := to[k*n*l:][:len(w)]
				simd.Combine(to, to, theta, p.value[k:k+1], p.rows[:1], w, len(w))
			}
		} else {
			for m, v := range w {
				at := m
				for _, u := range p.value {
					to[at] = math.FMA(float64(theta*u), v, to[at])
					at += n * l
				}
			}
		}
		rates := x.x[:of.len]
		p.slopes(rates, c[of.from:], n, theta)
		for m, rate := range rates {
			rate /= s.H
			y0 := g.y0[(of.from+m)*l:][:l]
			for j, v := range w[m*l:][:l] {
				move := float64(rate * v)
				y0[j] += v
				x.sb[j] += move
				g.t[j] -= move
				g.h[j] = math.FMA(-theta, move, g.h[j])
			}
		}
	}
}

// hand hands what was gathered for a step to what its transpose takes in.
func hand(x *Worker, step int) {
	if step >= len(x.gathered) || !x.gathered[step].some {
		return
	}
	g := &x.gathered[step]
	g.some = false
	seeded(x, step, func(s *solvers.Step) { stages.SowCurve(x.method, s, g.c, g.y0, g.t, g.h) })
}
