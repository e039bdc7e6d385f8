package methods

import (
	"fmt"
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
)

// blank is a field without arithmetic: what is measured is the method alone.
type blank struct {
	size  solvers.Size
	lanes int
}

func (b blank) Size() solvers.Size                      { return b.size }
func (b blank) Lanes() int                              { return b.lanes }
func (b blank) Eval(_ float64, y, k []float64)          { copy(k, y) }
func (b blank) Push(_ float64, _, _, yd, kd []float64)  { copy(kd, yd) }
func (b blank) Pull(_ float64, _, kb, yb, tb []float64) { copy(yb, kb) }

func BenchmarkMethod(b *testing.B) {
	for _, name := range []string{"rk4", "dopri5", "tsit5", "vern9"} {
		for _, shape := range []struct{ n, lanes int }{{2, 1}, {2, 8}, {200, 1}, {200, 8}} {
			f := blank{solvers.Size{N: shape.n}, shape.lanes}
			r := lookup(b, name).New(f.size, f.lanes)
			s := solvers.NewStep(r.Info(), f.size)
			s.T, s.H, s.T1 = 0, 0.1, 0.1
			solvertest.Noise(5, s.Y0)
			e := make([]float64, shape.n)
			tol := &solvers.Tolerance{Rel: 1e-6, Abs: []float64{1e-9}}
			control, _ := hybrid.NewController("", r.Info())
			d, c := newTangent(f.size, f.lanes), newCotangent(f.size, f.lanes)
			c.WantH = false
			solvertest.Noise(6, d.Y0)
			solvertest.Noise(7, c.Y1)
			at := fmt.Sprintf("/method=%s/n=%d/lanes=%d", name, shape.n, shape.lanes)
			if shape.lanes == 1 {
				b.Run("step"+at, func(b *testing.B) {
					r.Step(f, s, false)
					for b.Loop() {
						r.Step(f, s, true)
					}
				})
				b.Run("control"+at, func(b *testing.B) {
					for b.Loop() {
						r.Error(s, e)
						control.Judge(s.H, tol.Norm(s, e))
					}
				})
			}
			b.Run("push"+at, func(b *testing.B) {
				for b.Loop() {
					r.Push(f, s, d)
				}
			})
			b.Run("pull"+at, func(b *testing.B) {
				for b.Loop() {
					r.Pull(f, s, c)
				}
			})
		}
	}
}
