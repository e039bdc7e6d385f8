package linalg

import (
	"fmt"
	"math"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// BenchmarkLU measures factorisations and solves by all methods.
func BenchmarkLU(b *testing.B) {
	list := []matrix{
		network(20, 60, 1e-2, 1), network(100, 300, 1e-2, 1), network(1000, 3000, 1e-2, 1), grid(30), grid(100),
	}
	for _, n := range []int{3, 8, 20, 60, 100, 200, 400} {
		m := matrix{name: fmt.Sprintf("dense %d", n), p: Full(n), values: make([]float64, n*n)}
		r := elem.NewRand(1)
		for i := range m.values {
			m.values[i] = r.Norm()
		}
		list = append(list, m)
	}
	for _, n := range []int{400, 4000} {
		r := elem.NewRand(1)
		list = append(list, build(fmt.Sprintf("brusselator %d", n), n, func(add func(i, j int, v float64)) {
			for i := range n {
				add(i, i, 5)
				for _, d := range []int{-2, 2, 1 - i%2*2} {
					if j := i + d; j >= 0 && j < n {
						add(i, j, r.Norm())
					}
				}
			}
		}))
	}
	for _, m := range list {
		for _, method := range methods[1:] {
			f := analyzed(b, m, method)
			n := m.p.N
			if f.Flops() > 50_000_000 || method == Sparse && m.p.NonZeros() == n*n && n > 60 {
				continue
			}
			if s, ok := f.(*sparse); ok { // machine code is made at once
				s.o.codes.factored.Store(math.MaxInt32)
			}
			if err := f.Factor(m.values); err != nil {
				b.Fatal(err)
			}
			name := fmt.Sprintf("%s/%v/", m.name, method)
			b.Run(name+"factor", func(b *testing.B) {
				for b.Loop() {
					if err := f.Factor(m.values); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(f.Flops())*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "flop/ns")
			})
			for _, lanes := range []int{1, 8} {
				right, x := make([]float64, n*lanes), make([]float64, n*lanes)
				r := elem.NewRand(1)
				for i := range right {
					right[i] = r.Norm()
				}
				b.Run(fmt.Sprintf("%ssolve/lanes=%d", name, lanes), func(b *testing.B) {
					for b.Loop() {
						copy(x, right)
						f.Solve(x, lanes)
					}
				})
				b.Run(fmt.Sprintf("%ssolveT/lanes=%d", name, lanes), func(b *testing.B) {
					for b.Loop() {
						copy(x, right)
						f.SolveT(x, lanes)
					}
				})
			}
		}
	}
}

// BenchmarkMade measures what a pattern costs once: its analysis, and all machine code of an order.
func BenchmarkMade(b *testing.B) {
	for _, m := range []matrix{network(20, 60, 1e-2, 1), network(1000, 5000, 1e-2, 1), network(10000, 40000, 1e-2, 1)} {
		b.Run(m.name+"/analysis", func(b *testing.B) {
			for b.Loop() {
				analyzed(b, m, Sparse)
			}
		})
		f := analyzed(b, m, Sparse).(*sparse)
		if f.o.nonZeros()-f.o.tailSize > codeNonZeros {
			continue
		}
		b.Run(m.name+"/code", func(b *testing.B) {
			for b.Loop() {
				for number := range codeCount {
					if _, err := f.s.makeCode(f.o, number, f.wide); err != nil {
						b.Skip(err)
					}
				}
			}
		})
	}
}

// BenchmarkComplex measures factorisations and solves of complex matrices.
func BenchmarkComplex(b *testing.B) {
	for _, m := range []matrix{network(3, 9, 1e-2, 1), network(20, 60, 1e-2, 1), network(100, 300, 1e-2, 1)} {
		a, err := Analyze(m.p, Options{})
		if err != nil {
			b.Fatal(err)
		}
		f, err := a.NewComplex()
		if err != nil {
			b.Fatal(err)
		}
		values, right, x := make([]complex128, len(m.values)), make([]complex128, m.p.N), make([]complex128, m.p.N)
		r := elem.NewRand(1)
		for e, v := range m.values {
			values[e] = complex(v, r.Norm())
		}
		for i := range right {
			right[i] = complex(r.Norm(), r.Norm())
		}
		b.Run(fmt.Sprintf("%s/%v/factor", m.name, a.Method()), func(b *testing.B) {
			for b.Loop() {
				if err := f.Factor(values); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%s/%v/solve", m.name, a.Method()), func(b *testing.B) {
			for b.Loop() {
				copy(x, right)
				f.Solve(x, 1)
			}
		})
	}
}
