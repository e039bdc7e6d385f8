package optim

import (
	"context"
	"math"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/seeds"
)

// TestLeastAbsolute compares regressions with a linear program in a box around all of them.
func TestLeastAbsolute(t *testing.T) {
	draw := elem.NewRand(seeds.Of(t, 3))
	evaluations := 0
	const models = 300
	for k := range models {
		n, m := 1+int(draw.Uint64()%4), 5+int(draw.Uint64()%30)
		a, y := make([]float64, m*n), make([]float64, m)
		whole := &Linear{C: make([]float64, n), Lo: all(n, -100), Hi: all(n, 100)}
		for i := range m {
			u := 9 * draw.Float64()
			row := a[i*n : (i+1)*n]
			for j := range row {
				row[j] = math.Pow(u, float64(j)) / float64(1+j)
			}
			y[i] = dot(row, []float64{2, -1, 0.5, 0.1}[:n]) + draw.Norm()
			scale := norm(row)
			r := LinearRow{Kink: y[i] / scale, Below: scale, Above: scale, Min: math.Inf(-1), Max: math.Inf(1)}
			for _, v := range row {
				r.A = append(r.A, v/scale)
			}
			whole.Rows = append(whole.Rows, r)
		}
		want := whole.Solve()
		p := KinkedProblem{
			Variables: n, Kinks: m, Bounds: Bounds{Lo: all(n, -100), Hi: all(n, 100)},
			Evaluate: func(_ context.Context, x []float64, _ Want, at *Point, k *Kinks, _ *Constraints) error {
				at.Value = 0
				copy(k.J, a)
				for i := range m {
					k.U[i], k.W[i] = dot(a[i*n:(i+1)*n], x)-y[i], 1
					at.Value += math.Abs(k.U[i])
				}
				return nil
			},
		}
		start := make([]float64, n)
		for i := range start {
			start[i] = 1 + draw.Float64()
		}
		r, err := Folded(t.Context(), p, start, Options{})
		if err != nil {
			t.Fatal(err)
		}
		evaluations += r.Evaluations
		least := 0.0
		for i := range m {
			least += math.Abs(dot(a[i*n:(i+1)*n], want.X) - y[i])
		}
		if !(r.Value-least <= 1e-6*least) || !r.Status.Converged() {
			t.Errorf("regression %d of %d numbers to %d: %.9g, least %.9g: %v", k, n, m, r.Value, least, r.Status)
		}
	}
	t.Logf("%d evaluations a regression", evaluations/models)
}

// TestFoldedHocks solves the problems of Hock and Schittkowski without kinks.
func TestFoldedHocks(t *testing.T) {
	total := 0
	for _, h := range hocks {
		n := len(h.start)
		k := len(h.c(make([]complex128, n)))
		p := h.problem()
		q := KinkedProblem{
			Variables: n, Constraints: k, Bounds: p.Bounds, Lo: p.Lo, Hi: p.Hi,
			Evaluate: func(ctx context.Context, x []float64, want Want, at *Point, _ *Kinks, c *Constraints) error {
				return p.Evaluate(ctx, x, want, at, c)
			},
		}
		r, err := Folded(t.Context(), q, h.start, Options{})
		if err != nil {
			t.Errorf("problem %d: %v", h.number, err)
			continue
		}
		total += r.Evaluations
		if math.Abs(r.Value-h.optimum) > 1e-6*(1+math.Abs(h.optimum)) || r.Violated {
			t.Errorf("problem %d: %.9g, optimum %.9g, violation %.2g: %v, %d evaluations", h.number, r.Value, h.optimum,
				r.Violation, r.Status, r.Evaluations)
		}
	}
	t.Logf("%d evaluations of %d problems", total, len(hocks))
}
