package lag

import (
	"math"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/stages"
)

// curve is the dense output of a step as one polynomial for each state that is read late, y₀ + θ Σ c_k (2θ - 1)^k.
// Steps are read more often than they are made, and the numbers β_j(θ) of all stages cost more than the step itself.
// [degree][late], nil for a step without length and for methods whose dense output is no such sum.
type curve []float64

// fit returns the curve of a step all rows of which are known. It is overwritten by the next one.
func fit(x *Worker, s *solvers.Step) curve {
	if x.asWhole.made(s) {
		return x.asWhole.curve
	}
	of, ok := solvers.MakerOf(plain(x.method), s).(interface{ Output() *stages.Dense })
	if !ok || s.H == 0 {
		return nil
	}
	p, size := of.Output(), x.w.Size()
	if x.shapeOf != p {
		x.shapeOf, x.shape = p, p.Curve()
	}
	late := x.rec.late
	n, w, m := len(late), size.N+size.Q, len(x.shape.Rows)
	if room := (len(x.shape.Of) + m + 1) * n; len(x.room) < room {
		x.room = make([]float64, room) // the first row stays zero
	}
	zero, diff, c := x.room[:n], x.room[n:][:m*n], x.room[(m+1)*n:][:len(x.shape.Of)*n]
	first := diff[(m-1)*n:]
	for i, state := range late {
		first[i] = s.K[x.shape.Rows[0]*w+state]
	}
	for j, row := range x.shape.Rows[1:] {
		to := diff[j*n:][:n]
		for i, state := range late {
			to[i] = s.K[row*w+state] - first[i]
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

// value returns Σ c_k (2θ - 1)^k of column col, of n.
func (c curve) value(n, col int, theta float64) (v float64) {
	u := float64(2*theta) - 1
	for k := len(c) - n + col; k >= 0; k -= n {
		v = math.FMA(v, u, c[k])
	}
	return v
}

// slope returns that and the derivative of θ times that.
func (c curve) slope(n, col int, theta float64) (v, rate float64) {
	u, d := float64(2*theta)-1, 0.0
	for k := len(c) - n + col; k >= 0; k -= n {
		d = math.FMA(d, u, v)
		v = math.FMA(v, u, c[k])
	}
	return v, math.FMA(2*theta, d, v)
}

// curveAt writes the states that of reads at theta of a step.
func curveAt(x *Worker, step int, theta float64, of *taken, y []float64) {
	s, n := x.rec.steps[step], len(x.rec.late)
	c := s.curve
	if len(y) >= many {
		p := &x.powers
		p.of(len(c)/n, theta)
		simd.Combine(y, s.Y0[of.from:], theta, p.value, p.rows, c[of.col:], n)
		return
	}
	for i := range y {
		y[i] = math.FMA(theta, c.value(n, of.col+i, theta), s.Y0[of.from+i])
	}
}

// slopesOf writes the slopes by time of what delay i reads of the curve of a step, with the places of lags.
func slopesOf(x *Worker, i, step int, theta float64, slopes []float64) {
	c, h, n := x.rec.steps[step].curve, x.rec.steps[step].H, len(x.rec.late)
	for _, of := range x.rec.takes[i] {
		if of.discrete {
			continue
		}
		to := slopes[of.to-x.n:][:of.len]
		if len(to) >= many {
			p := &x.powers
			p.of(len(c)/n, theta)
			p.slopes(to, c[of.col:], n, theta)
		} else {
			for m := range to {
				_, to[m] = c.slope(n, of.col+m, theta)
			}
		}
		for m := range to {
			to[m] /= h
		}
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
	last := 0.0
	for k, v := range p.value {
		p.slope[k] = math.FMA(float64(2*theta*float64(k)), last, v)
		last = v
	}
	clear(rates)
	simd.Combine(rates, rates, 1, p.slope, p.rows, c, n)
}

// curved reports whether the record has the curve of a step.
func (r *Record) curved(step int) bool {
	return uint(step) < uint(len(r.steps)) && r.steps[step].curve != nil
}

// gathered are cotangents of the curve of a step, which later steps read: of its coefficients over the length of the
// step, of the start, and of the time and the length of the step.
type gathered struct {
	some        bool
	c, y0, t, h []float64 // in lanes
	room        []float64 // of all
}

// gather adds the cotangents of what delay i reads at theta of a step to those of its curve: lags are those of all. It
// adds those of the time to x.sb. Unless they are nil, slopes are what slopesOf has written.
func gather(x *Worker, i, step int, theta float64, lags, slopes []float64) {
	n, l := len(x.rec.late), x.l
	g := gatheredAt(x, step)
	if slopes == nil {
		slopes = x.lags
		slopesOf(x, i, step, theta, slopes)
	}
	p, u := &x.powers, float64(2*theta)-1
	for _, of := range x.rec.takes[i] {
		if of.discrete {
			continue
		}
		w := lags[(of.to-x.n)*l:][:of.len*l]
		if to := g.c[of.col*l:]; len(w) >= many {
			p.of(len(g.c)/(n*l), theta)
			for k := range p.value {
				to := to[k*n*l:][:len(w)]
				simd.Combine(to, to, theta, p.value[k:k+1], p.rows[:1], w, len(w))
			}
		} else {
			for m, v := range w {
				v = float64(theta * v)
				for at := m; at < len(to); at += n * l {
					to[at] += v
					v = float64(v * u)
				}
			}
		}
		for m, rate := range slopes[of.to-x.n:][:of.len] {
			y0 := g.y0[(of.col+m)*l:][:l]
			for j, v := range w[m*l:][:l] {
				move := float64(rate * v)
				y0[j] += v
				x.sb[j] += move
				g.t[j] -= move
				g.h[j] -= float64(theta * move)
			}
		}
	}
}

// gatheredAt returns what is gathered for a step, of which something is read.
func gatheredAt(x *Worker, step int) *gathered {
	for len(x.gathered) <= step {
		x.gathered = append(x.gathered, gathered{})
	}
	g := &x.gathered[step]
	if g.some {
		return g
	}
	g.some = true
	n, l, c := len(x.rec.late), x.l, len(x.rec.steps[step].curve)
	if len(g.c) != c*l { // for the first time, or after a step of another method
		g.room = make([]float64, c*l+n*l+2*l)
		room := g.room
		g.c, room = room[:c*l], room[c*l:]
		g.y0, g.t, g.h = room[:n*l], room[n*l:][:l], room[n*l+l:]
	} else {
		clear(g.room)
	}
	return g
}

// sow hands what was gathered of states to what the transpose of s by m takes in.
func (g *gathered) sow(m solvers.Method, s *solvers.Step, of []int) {
	g.some = false
	stages.SowCurve(m, s, of, g.c, g.y0, g.t, g.h)
}

// hand hands what was gathered for a step to what its transpose takes in.
func hand(x *Worker, step int) {
	if step < len(x.gathered) && x.gathered[step].some {
		seeded(x, step, func(s *solvers.Step) { x.gathered[step].sow(x.method, s, x.rec.late) })
	}
}
