package certify_test

import (
	"errors"
	"math"
	"testing"

	"odes.dev/odes/internal/base/certify"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/optim"
)

// none returns n infinite bounds.
func none(n int) (lo, hi []float64) {
	for range n {
		lo, hi = append(lo, math.Inf(-1)), append(hi, math.Inf(1))
	}
	return lo, hi
}

// rosenbrock returns the certificate at a point of Rosenbrock's function, in other units, times a factor and shifted.
func rosenbrock(x, y float64, units [2]float64, factor, shift float64) certify.Certificate {
	lo, hi := none(2)
	r, s := 1-x, y-x*x
	p := &certify.Problem{
		X: []float64{x * units[0], y * units[1]}, Sizes: []float64{2.2 * units[0], units[1]}, Lo: lo, Hi: hi,
		At: &certify.Point{
			Value:    factor*(r*r+100*s*s) + shift,
			Gradient: []float64{factor * (-2*r - 400*x*s) / units[0], factor * 200 * s / units[1]},
		},
		Hessian: []float64{
			factor * (2 - 400*s + 800*x*x) / units[0] / units[0], -factor * 400 * x / units[0] / units[1],
			-factor * 400 * x / units[0] / units[1], factor * 200 / units[1] / units[1],
		},
		Size: factor * 24.2, Enough: 1e-6,
	}
	return p.Minimum()
}

// TestManyVariables: far from the minimum of many variables a straight step is proof enough, and no quadratic program
// is solved. At the minimum it is, and in few variables always.
func TestManyVariables(t *testing.T) {
	bowl := func(n int, at float64) certify.Certificate {
		lo, hi := none(n)
		p := &certify.Problem{
			X: make([]float64, n), Sizes: make([]float64, n), Lo: lo, Hi: hi,
			At: &certify.Point{Gradient: make([]float64, n)}, Hessian: make([]float64, n*n), Size: 1, Enough: 1e-6,
		}
		for i := range n {
			h := 1 + float64(i%7)
			p.X[i], p.Sizes[i], p.At.Gradient[i], p.Hessian[i*n+i] = 1+at, 1, h*at, h
			p.At.Value += h * at * at / 2
		}
		return p.Minimum()
	}
	for _, c := range []struct {
		n       int
		at      float64
		solves  bool
		minimum bool
	}{{160, 0.3, false, false}, {160, 1e-5, true, true}, {20, 0.3, true, false}} {
		got := bowl(c.n, c.at)
		if got.Programs > 0 != c.solves || got.Stationarity <= 1e-6 != c.minimum {
			t.Errorf("%d variables, %g away: %d programs, stationarity %g", c.n, c.at, got.Programs, got.Stationarity)
		}
	}
}

// TestUnits: a certificate is nothing at a minimum, tells how far a point is from one, and depends on no units.
func TestUnits(t *testing.T) {
	for _, c := range []struct{ x, y, want float64 }{
		{1, 1, 0}, {1 + 1e-7, 1 + 2e-7, 4.1e-16}, {1.001, 1.002, 4.1e-8}, {0, 0, 1. / 24.2},
	} {
		for _, units := range [][2]float64{{1, 1}, {1e-12, 1e6}} {
			for _, factor := range []float64{1, 1e-9} {
				got := rosenbrock(c.x, c.y, units, factor, 1e6*factor).Stationarity
				if math.Abs(got-c.want) > 0.05*c.want+1e-25 {
					t.Errorf("at %g, %g in units %v times %g: %g, want %g", c.x, c.y, units, factor, got, c.want)
				}
			}
		}
	}
}

// speed is the least time T for a distance of 3 with |u| ≤ 1 on 16 pieces and a velocity of at most 1, by the largest
// velocity at the ends of pieces, of which one gradient is known at a point.
func speed(x []float64) *certify.Point {
	n := len(x) - 1
	h := x[0] / float64(n)
	at := &certify.Point{Value: x[0], Gradient: make([]float64, n+1)}
	at.Gradient[0] = 1
	c := optim.Constraints{C: make([]float64, 3), J: make([]float64, 3*(n+1))}
	v, far, most := 0.0, 0.0, math.Inf(-1)
	for k, u := range x[1:] {
		far += h * (v + h*u/2)
		if v += h * u; v > most {
			most = v
			clear(c.J[2*(n+1):])
			for i := range k + 1 {
				c.J[2*(n+1)+1+i] = h
			}
			c.J[2*(n+1)] = v / x[0]
		}
	}
	c.C[0], c.C[1], c.C[2] = far-3, v, most-1
	c.J[0], c.J[n+1] = 2*far/x[0], v/x[0]
	for i := range n {
		c.J[1+i] = h * h * (float64(n-i) - 0.5)
		c.J[n+2+i] = h
	}
	at.Constraints = c
	return at
}

// TestPieces: at the exact optimum of a problem with a largest value, the gradient of one time alone promises a third
// of the objective; those of the times that meet promise nothing.
func TestPieces(t *testing.T) {
	x := []float64{4, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1}
	n := len(x)
	p := &certify.Problem{
		X: x, Sizes: make([]float64, n), Lo: make([]float64, n), Hi: make([]float64, n),
		Min: []float64{0, 0, math.Inf(-1)}, Max: []float64{0, 0, 0}, At: speed(x), Size: 4, Enough: 1e-6,
	}
	for i := range x {
		p.Sizes[i], p.Lo[i], p.Hi[i] = 2, -1, 1
	}
	p.Sizes[0], p.Lo[0], p.Hi[0] = 6, 0.5, 20
	p.Near = func([]float64) (*certify.Point, error) { return nil, errors.New("none") }
	if c := p.Minimum(); c.Stationarity < 0.1 {
		t.Errorf("one gradient promises %g", c.Stationarity)
	}
	p.Near = func(x []float64) (*certify.Point, error) { return speed(x), nil }
	if c := p.Minimum(); c.Stationarity > 1e-6 || c.Pieces == 0 || c.Feasibility > 1e-12 {
		t.Errorf("%d more gradients promise %g, feasibility %g", c.Pieces, c.Stationarity, c.Feasibility)
	}
	x[4], x[13] = 0.9, -0.9 // feasible to first order, and slower
	p.At = speed(x)
	p.X[0] = 4.0 * (1 + 1e-9)
	if c := p.Minimum(); c.Stationarity < 1e-3 {
		t.Errorf("a point that is no minimum has %g, feasibility %g", c.Stationarity, c.Feasibility)
	}
}

// TestMedian: sums of absolute values are least at a median, and nowhere else.
func TestMedian(t *testing.T) {
	draw := elem.NewRand(5)
	for range 200 {
		m := 1 + 2*int(draw.Uint64()%9)
		y := make([]float64, m)
		lo, hi := none(1)
		for i := range y {
			y[i] = draw.Norm()
		}
		for k, at := range y {
			below := 0
			p := &certify.Problem{
				X: []float64{at}, Sizes: []float64{1}, Lo: lo, Hi: hi, Size: 1, Enough: 1e-6,
				At: &certify.Point{Gradient: []float64{0}},
			}
			for _, v := range y {
				p.At.Kinks.U, p.At.Kinks.J = append(p.At.Kinks.U, at-v), append(p.At.Kinks.J, 1)
				p.At.Kinks.W = append(p.At.Kinks.W, 1)
				if v < at {
					below++
				}
			}
			if c := p.Minimum(); (c.Stationarity < 1e-9) != (below == m/2) {
				t.Errorf("value %d with %d of %d below has %g", k, below, m, c.Stationarity)
			}
		}
	}
}

// TestInfeasible: what constraints cannot satisfy is told from what a step could make better.
func TestInfeasible(t *testing.T) {
	lo, hi := none(1)
	for _, c := range []struct {
		x    float64
		want bool
	}{{0, true}, {0.5, false}, {3, false}} { // x² ≤ −1
		p := &certify.Problem{
			X: []float64{c.x}, Sizes: []float64{1}, Lo: lo, Hi: hi, Min: []float64{math.Inf(-1)}, Max: []float64{-1},
			At: &certify.Point{
				Gradient:    []float64{1},
				Constraints: optim.Constraints{C: []float64{c.x * c.x}, J: []float64{2 * c.x}},
			},
		}
		if got := p.Infeasible(); got != c.want {
			t.Errorf("at %g: %v", c.x, got)
		}
	}
}

// TestBound: what a bound holds back is told even where the number at it is small.
func TestBound(t *testing.T) {
	p := &certify.Problem{ // ½(x + 1)² at its bound 1e-9
		X: []float64{1e-9}, Sizes: []float64{1}, Lo: []float64{1e-9}, Hi: []float64{math.Inf(1)}, Size: 1, Enough: 1e-6,
		At: &certify.Point{Gradient: []float64{1}}, Hessian: []float64{1},
	}
	if c := p.Minimum(); c.Stationarity != 0 {
		t.Errorf("at the bound: %g", c.Stationarity)
	}
	if got := p.Without(0, 10); math.Abs(got-0.5) > 1e-6 {
		t.Errorf("without the bound: %g", got)
	}
	p.X[0] = 2e-3
	if c := p.Minimum(); c.Stationarity < 1e-3 {
		t.Errorf("beside the bound: %g", c.Stationarity)
	}
}
