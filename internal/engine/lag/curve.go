package lag

import (
	"math"

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
		x.room = make([]float64, room) // the last row stays zero
	}
	diff, zero, c := x.room[:m*n], x.room[m*n:][:n], x.room[(m+1)*n:][:len(x.shape.Of)*n]
	first := diff[(m-1)*n:]
	copy(first, s.K[x.shape.Rows[0]*w:])
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

// at writes the states from number from on at theta of a step.
func (c curve) at(s *solvers.Step, theta float64, from int, y []float64) {
	const few = 4
	n, u := len(s.Y0), math.FMA(2, theta, -1)
	if len(y) < few { // loops along them would cost more
		for i := range y {
			v := 0.0
			for k := len(c) - n + from + i; k >= 0; k -= n {
				v = math.FMA(v, u, c[k])
			}
			y[i] = math.FMA(theta, v, s.Y0[from+i])
		}
		return
	}
	clear(y)
	for k := len(c) - n; k >= 0; k -= n {
		for i, v := range c[k+from:][:len(y)] {
			y[i] = math.FMA(y[i], u, v)
		}
	}
	for i, v := range s.Y0[from:][:len(y)] {
		y[i] = math.FMA(theta, y[i], v)
	}
}

// powers are those of 2θ - 1 by which the coefficients of a curve count, and their slopes by θ.
type powers struct{ value, slope stages.Form }

// of returns the powers by which the coefficients of c count for n states.
func (p *powers) of(c curve, n int, theta float64) *stages.Form {
	degree := len(c) / n
	for len(p.value.Row) < degree {
		p.value.Row = append(p.value.Row, len(p.value.Row))
		p.value.C = append(p.value.C, 0)
	}
	p.value.Row, p.value.C = p.value.Row[:degree], p.value.C[:degree]
	u, v := math.FMA(2, theta, -1), 1.0
	for k := range p.value.C {
		p.value.C[k] = v
		v = float64(v * u)
	}
	return &p.value
}

// slopes returns those of θ times the powers that of returned last.
func (p *powers) slopes(theta float64) *stages.Form {
	p.slope.Row, p.slope.C = p.value.Row, append(p.slope.C[:0], p.value.C...)
	for k := 1; k < len(p.slope.C); k++ {
		p.slope.C[k] = math.FMA(float64(2*theta*float64(k)), p.value.C[k-1], p.value.C[k])
	}
	return &p.slope
}

// fitted reports whether the state at theta of a step is that of its curve. Ends are those of the step.
func fitted(x *Worker, step int, theta float64) bool {
	return theta != 0 && theta != 1 && step < len(x.rec.curves) && x.rec.curves[step] != nil
}

// gathered are cotangents of the curve of a step, which later steps read: of its coefficients over the length of the
// step, of the start, and of the time and the length of the step.
type gathered struct {
	some        bool
	c, y0, t, h []float64 // in lanes
}

// gather adds the cotangents x.xb of the state at theta of a step to those of its curve. It adds those of the time to
// x.sb.
func gather(x *Worker, step int, theta float64) {
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
	for k, u := range x.powers.of(c, n, theta).C {
		by, to := float64(theta*u), g.c[k*n*l:][:n*l]
		for m, w := range x.xb {
			to[m] = math.FMA(by, w, to[m])
		}
	}
	rates := x.rates[:n]
	x.powers.slopes(theta).Combine(rates, x.rates[n:], 1/s.H, c, n) // behind the rates are zeros
	for i, rate := range rates {
		for j := range l {
			w := x.xb[i*l+j]
			move := float64(rate * w)
			g.y0[i*l+j] += w
			x.sb[j] += move
			g.t[j] -= move
			g.h[j] = math.FMA(-theta, move, g.h[j])
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
