package optim

import (
	"math"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/seeds"
)

// randomLinear draws a program of n variables and m rows, some of which are equations, limits or kinks.
func randomLinear(draw *elem.Rand, n, m int) *Linear {
	u := func() float64 { return 2*draw.Float64() - 1 }
	p := &Linear{}
	for range n {
		p.C = append(p.C, u())
		p.Lo, p.Hi = append(p.Lo, -draw.Float64()), append(p.Hi, draw.Float64())
	}
	if draw.Float64() < 0.3 { // as at a vertex
		for i := range n {
			p.Lo[i] = math.Round(draw.Float64()) * p.Lo[i]
		}
	}
	for range m {
		r := LinearRow{Min: math.Inf(-1), Max: math.Inf(1)}
		for range n {
			r.A = append(r.A, math.Round(2*u())*math.Abs(u()))
		}
		switch k := draw.Float64(); {
		case k < 0.1:
			r.Min, r.Max = 0, 0
		case k < 0.3:
			r.Max = math.Round(draw.Float64()) * draw.Float64()
		case k < 0.4:
			r.Min = -draw.Float64()
		default:
			r.Kink, r.Below, r.Above = u(), draw.Float64(), draw.Float64()
		}
		p.Rows = append(p.Rows, r)
	}
	return p
}

// TestLinear compares the value of a solution with a bound below which no point is.
func TestLinear(t *testing.T) {
	draw := elem.NewRand(seeds.Of(t, 7))
	for k := range 3000 {
		n := 1 + int(draw.Uint64()%8)
		m := int(draw.Uint64() % 25)
		p := randomLinear(draw, n, m)
		s := p.Solve()
		if !(s.Value-s.Bound <= 1e-7) {
			t.Errorf("program %d of %d variables and %d rows: value %.10g, bound %.10g", k, n, m, s.Value, s.Bound)
		}
		for i, v := range s.X {
			if v < p.Lo[i] || v > p.Hi[i] {
				t.Errorf("program %d: x[%d] = %g is not within [%g, %g]", k, i, v, p.Lo[i], p.Hi[i])
			}
		}
		for j := range p.Rows {
			r := &p.Rows[j]
			if v := dot(r.A, s.X); v < r.Min-1e-8 || v > r.Max+1e-8 {
				t.Errorf("program %d: row %d = %g is not within [%g, %g]", k, j, v, r.Min, r.Max)
			}
		}
		// The bound is one: no random point that keeps the limits is below it.
		for range 200 {
			x := make([]float64, n)
			for i := range x {
				x[i] = p.Lo[i] + draw.Float64()*(p.Hi[i]-p.Lo[i])
			}
			v, keeps := dot(p.C, x), true
			for j := range p.Rows {
				r := &p.Rows[j]
				at := dot(r.A, x)
				keeps = keeps && at >= r.Min && at <= r.Max
				v += r.cost(at) - r.cost(0)
			}
			if keeps && v < s.Bound-1e-12 {
				t.Errorf("program %d: a point has %g, which is below the bound %g", k, v, s.Bound)
			}
		}
	}
}

// TestOver: programs and eigenvalues end where nobody wants them any more.
func TestOver(t *testing.T) {
	const n = 300
	r := elem.NewRand(1)
	q := Quadratic{Linear: Linear{C: make([]float64, n), Lo: make([]float64, n), Hi: make([]float64, n)}}
	q.G = make([]float64, n*n)
	for i := range n {
		q.C[i], q.Lo[i], q.Hi[i] = r.Norm(), -1, 1
		row := LinearRow{A: make([]float64, n), Min: -1, Max: 1}
		for j := range n {
			row.A[j] = r.Norm()
			q.G[i*n+j] += row.A[j]
			q.G[j*n+i] += row.A[j]
		}
		q.Rows = append(q.Rows, row)
	}
	for _, most := range []int{0, 3, 50} {
		asked := 0
		q.Over = func() bool { asked++; return asked > most }
		if x := q.Solve(); x != nil {
			t.Errorf("a solution after %d", most)
		}
		program := asked
		asked = 0
		q.Linear.Solve()
		if program > most+2 || asked > most+2 {
			t.Errorf("they went on: asked %d and %d times, not %d", program, asked, most)
		}
	}
}
