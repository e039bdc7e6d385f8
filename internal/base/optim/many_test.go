package optim

import (
	"context"
	"flag"
	"math"
	"math/rand/v2"
	"testing"
)

var manyProblems = flag.Int("many", 20, "how many random problems TestManyAgrees solves")

// glide is a mass that a force with bounds moves by one in the least time T, piece by piece, and stops: the unknowns
// are n forces and T. With an even number of pieces, T is 2.
func glide(n int) (ConstrainedProblem, []float64) {
	p := ConstrainedProblem{
		Variables: n + 1, Constraints: 2, Lo: []float64{1, 0}, Hi: []float64{1, 0}, Many: true,
		Bounds: Bounds{Lo: make([]float64, n+1), Hi: make([]float64, n+1)},
	}
	x := make([]float64, n+1)
	for i := range n {
		p.Bounds.Lo[i], p.Bounds.Hi[i] = -1, 1
	}
	p.Bounds.Lo[n], p.Bounds.Hi[n], x[n] = 0.5, 10, 4
	place := func(i int) float64 { return (float64(n-i) - 0.5) / float64(n*n) } // of x(T) by force i, for T = 1
	p.Evaluate = func(_ context.Context, x []float64, _ Want, at *Point, c *Constraints) error {
		t := x[n]
		clear(at.Gradient)
		at.Value, at.Gradient[n] = t, 1
		clear(c.C)
		for i, u := range x[:n] {
			c.C[0] += float64(t * t * place(i) * u)
			c.C[1] += float64(t / float64(n) * u)
			c.J[i], c.J[n+1+i] = float64(t*t*place(i)), t/float64(n)
		}
		c.J[n], c.J[2*n+1] = 2*c.C[0]/t, c.C[1]/t
		return nil
	}
	return p, x
}

// TestMany solves problems of thousands of variables.
func TestMany(t *testing.T) {
	p, x := glide(2000)
	r, err := Constrained(context.Background(), p, x, Options{})
	if err != nil || !r.Status.Converged() || r.Violated || math.Abs(r.Value-2) > 1e-7 {
		t.Errorf("%v, %v at %.10g, violation %g, %d iterations, %d evaluations", err, r.Status, r.Value, r.Violation,
			r.Iterations, r.Evaluations)
	}
	t.Logf("%d iterations, %d evaluations, %.12g", r.Iterations, r.Evaluations, r.Value)
}

// TestManyAgrees solves random convex problems as if they had many variables, and as they are.
func TestManyAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(54, 2))
	for round := range *manyProblems {
		n, k := 10+r.IntN(40), r.IntN(5)
		a, quartic := make([]float64, n*n), r.IntN(2) == 0
		for i := range a {
			a[i] = r.NormFloat64() * math.Pow(10, 2*r.Float64()-2)
		}
		rows, bends := make([]float64, k*n), make([]float64, k)
		for i := range rows {
			rows[i] = r.NormFloat64()
		}
		centre, inside := make([]float64, n), make([]float64, n)
		p := ConstrainedProblem{
			Variables: n, Constraints: k, Lo: make([]float64, k), Hi: make([]float64, k),
			Bounds: Bounds{Lo: make([]float64, n), Hi: make([]float64, n)},
		}
		for i := range n {
			centre[i], inside[i] = 2*r.NormFloat64(), 2*r.Float64()-1
			p.Bounds.Lo[i], p.Bounds.Hi[i] = -1-r.Float64(), 1+r.Float64()
		}
		of := func(j int, x []float64, slope []float64) float64 {
			sum := dot(rows[j*n:(j+1)*n], x)
			copy(slope, rows[j*n:(j+1)*n])
			for i, v := range x {
				sum += bends[j] * v * v
				slope[i] += 2 * bends[j] * v
			}
			return sum
		}
		work := make([]float64, n)
		for j := range k {
			kind := r.IntN(4)
			if kind > 1 {
				bends[j] = r.Float64()
			}
			switch v := of(j, inside, work); kind { // what bends is convex only as an upper limit
			case 0:
				p.Lo[j], p.Hi[j] = v, v
			case 1:
				p.Lo[j], p.Hi[j] = v-r.Float64(), v+r.Float64()
			default:
				p.Lo[j], p.Hi[j] = math.Inf(-1), v+0.1*r.Float64()
			}
		}
		p.Evaluate = func(_ context.Context, x []float64, _ Want, at *Point, c *Constraints) error {
			clear(at.Gradient)
			at.Value = 0
			for i := range n {
				row := a[i*n : (i+1)*n]
				s := dot(row, x) - dot(row, centre)
				at.Value += s * s / 2
				add(at.Gradient, s, row)
				if quartic {
					d := x[i] - centre[i]
					at.Value += d * d * d * d / 100
					at.Gradient[i] += d * d * d / 25
				}
			}
			for j := range k {
				c.C[j] = of(j, x, c.J[j*n:(j+1)*n])
			}
			return nil
		}
		x0 := make([]float64, n)
		for i := range x0 {
			x0[i] = 2*r.Float64() - 1
		}
		want, err := Constrained(context.Background(), p, x0, Options{})
		if err != nil || !want.Status.Converged() {
			t.Errorf("round %d: %v, %v", round, err, want.Status)
			continue
		}
		p.Many = true
		got, err := Constrained(context.Background(), p, x0, Options{})
		off := math.Abs(got.Value - want.Value)
		if err != nil || !got.Status.Converged() || !(off <= 1e-6*(1+math.Abs(want.Value))) {
			t.Errorf("round %d, %d variables, %d constraints: %v, %v, %.10g after %d, want %.10g after %d; %g", round,
				n, k, err, got.Status, got.Value, got.Evaluations, want.Value, want.Evaluations, got.Violation)
		}
	}
}
