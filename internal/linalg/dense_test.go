package linalg

import (
	"fmt"
	"testing"

	"odes.dev/odes/internal/elem"
)

func BenchmarkDense(b *testing.B) {
	for _, n := range []int{3, 8, 20, 40, 60, 100, 200, 400} {
		p := Full(n)
		r := elem.NewRand(1)
		values := make([]float64, n*n)
		for i := range values {
			values[i] = r.Norm()
		}
		for i := range n {
			values[i*n+i] += 2 * float64(n)
		}
		d := newDense(p)
		x := make([]float64, n*8)
		b.Run(fmt.Sprintf("factor/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				d.Factor(values)
			}
		})
		for _, lanes := range []int{1, 8} {
			for i := range x {
				x[i] = r.Norm()
			}
			b.Run(fmt.Sprintf("solve/lanes=%d/n=%d", lanes, n), func(b *testing.B) {
				for b.Loop() {
					d.Solve(x, lanes)
				}
			})
			for i := range x {
				x[i] = r.Norm()
			}
			b.Run(fmt.Sprintf("solveT/lanes=%d/n=%d", lanes, n), func(b *testing.B) {
				for b.Loop() {
					d.SolveT(x, lanes)
				}
			})
		}
	}
}
