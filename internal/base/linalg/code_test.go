package linalg

import (
	"math"
	"slices"
	"sync"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/machine"
	"odes.dev/odes/internal/base/simd"
)

// TestCode compares factors and solutions of machine code with those of the Go code, for equality: of each matrix as it
// is, and with a tail of a few places that ends a block.
func TestCode(t *testing.T) {
	if !machine.Available() {
		t.Skip("code cannot be made here")
	}
	list := append(matrices(), network(1000, 3000, 1e-2, 1))
	tried, vouched := 0, 0
	for i := range 2 * len(list) {
		m := list[i/2]
		n := m.p.N
		f := analyzed(t, m, Sparse).(*sparse)
		if i%2 == 1 {
			s, b := f.s, i/2%(len(f.s.start)-1)
			s.tail, s.tailEnd = max(s.start[b], s.start[b+1]-5), s.start[b+1]
			o, err := s.order(nil, math.MaxInt32)
			if err != nil {
				t.Fatal(err)
			}
			f = newSparse(s, o, f.memory)
		}
		f.o.codes.failed.Store(true)
		if err := f.Factor(m.values); err != nil {
			t.Fatal(err)
		}
		for _, wide := range []bool{false, true} {
			if wide && !machine.Supports512() {
				continue
			}
			tried++
			g := newSparse(f.s, f.o, f.memory)
			g.wide = wide
			for number := range g.ready {
				if number >= codeEight && !wide {
					break
				}
				var err error
				if g.ready[number], err = g.s.makeCode(g.o, number, wide); err != nil {
					t.Fatal(err)
				}
			}
			if !g.fast(m.values) {
				continue
			}
			vouched++
			at := f.o.layout()
			if !slices.Equal(f.m[:at.pivot], g.m[:at.pivot]) ||
				!slices.Equal(f.m[at.tail:at.end-extra], g.m[at.tail:at.end-extra]) {
				t.Fatalf("%s, wide %t: other factors", m.name, wide)
			}
			r := elem.NewRand(9)
			for lanes := 1; lanes <= 8; lanes++ {
				for _, transposed := range []bool{false, true} {
					x := make([]float64, n*lanes)
					for i := range x {
						x[i] = r.Norm()
					}
					want := slices.Clone(x)
					for l := range lanes {
						if transposed {
							f.solveT(want[l:], lanes)
						} else {
							f.solve(want[l:], lanes)
						}
					}
					if !g.solveFast(x, lanes, lanes, transposed) {
						t.Fatal("no code")
					}
					if !slices.Equal(x, want) {
						t.Fatalf("%s, %d lanes, transposed %t, wide %t: other bits", m.name, lanes, transposed, wide)
					}
				}
			}
		}
	}
	if 2*vouched < tried {
		t.Errorf("code vouched for %d of %d factorisations only", vouched, tried)
	}
}

// TestFast compares whole factorisations that have become fast with others: results, errors and orders.
func TestFast(t *testing.T) {
	if simd.Backend() != simd.Native || !machine.Available() {
		t.Skip("code cannot be made here")
	}
	for _, m := range matrices() {
		n := m.p.N
		slow, fast := analyzed(t, m, Sparse).(*sparse), analyzed(t, m, Sparse).(*sparse)
		slow.o.codes.failed.Store(true)
		fast.o.codes.factored.Store(codeAfter)
		r := elem.NewRand(11)
		for round := range 12 {
			values := slices.Clone(m.values)
			for e := range values {
				switch {
				case round%3 == 1:
					values[e] *= elem.Exp(3 * r.Norm())
				case round%3 == 2 && r.Float64() < 0.05:
					values[e] = [...]float64{0, 1e-200, 1e200, math.Inf(1), math.NaN(), 1e-12}[int(6*r.Float64())]
				}
			}
			errSlow, errFast := slow.Factor(values), fast.Factor(values)
			if (errSlow == nil) != (errFast == nil) || errSlow != nil && errSlow.Error() != errFast.Error() {
				t.Fatalf("%s, round %d: %v, not %v", m.name, round, errFast, errSlow)
			}
			if !slices.Equal(slow.o.rows, fast.o.rows) {
				t.Fatalf("%s, round %d: another order", m.name, round)
			}
			if errSlow != nil {
				continue
			}
			for _, lanes := range []int{1, 2, 3, 8, 13} {
				x := make([]float64, n*lanes)
				for i := range x {
					x[i] = r.Norm()
				}
				y := slices.Clone(x)
				slow.Solve(x, lanes)
				slow.SolveT(x, lanes)
				fast.Solve(y, lanes)
				fast.SolveT(y, lanes)
				for i, v := range x {
					if math.Float64bits(v) != math.Float64bits(y[i]) && (v == v || y[i] == y[i]) {
						t.Fatalf("%s, round %d, %d lanes: %g, not %g", m.name, round, lanes, y[i], v)
					}
				}
			}
		}
	}
}

// run is what a schedule means.
func run(s *Schedule, places []float64) {
	for _, step := range s.Steps {
		v := 0.0
		if step.From != None {
			v = places[step.From]
		}
		if step.Negate {
			v = -v
		}
		for _, t := range s.Terms[step.First:step.Last] {
			v = math.FMA(places[t.A], places[t.B], v)
		}
		if step.Invert {
			v = -1 / v
		}
		if step.Scale != None {
			v *= places[step.Scale]
		}
		places[step.To] = v
	}
}

// TestSchedules runs schedules one by one and compares with an LU, for equality.
func TestSchedules(t *testing.T) {
	for _, m := range matrices() {
		a, err := Analyze(m.p, Options{Method: Sparse})
		if err != nil {
			t.Fatal(err)
		}
		f := a.New()
		if err := f.Factor(m.values); err != nil {
			t.Fatal(err)
		}
		factor, solve, solveT, ok := a.Schedules(f.Order())
		if tail := a.structure.tailSize() > 0; ok == tail {
			t.Fatalf("%s: schedules %t, a tail %t", m.name, ok, tail)
		} else if tail {
			continue
		}
		places := make([]float64, factor.Values+factor.Factors+2*factor.N)
		copy(places, m.values)
		run(factor, places)
		for k, pivot := range places[factor.Pivots:][:factor.N] {
			if pivot == 0 {
				t.Errorf("%s: pivot %d is 0", m.name, k)
			}
		}
		x := make([]float64, m.p.N)
		r := elem.NewRand(12)
		for i := range x {
			x[i] = r.Norm()
		}
		right := places[factor.Values+factor.Factors:][:factor.N]
		copy(right, x)
		run(solve, places)
		run(solveT, places)
		f.Solve(x, 1)
		f.SolveT(x, 1)
		if !slices.Equal(x, right) {
			t.Errorf("%s: other bits", m.name)
		}
	}
}

// TestStraight compares factors and solutions of a Straight with those of an LU, for equality.
func TestStraight(t *testing.T) {
	exchanged, count := 0, 0
	for _, m := range matrices() {
		for _, method := range []Method{Dense, Band, Sparse} {
			a, err := Analyze(m.p, Options{Method: method})
			if err != nil {
				t.Fatal(err)
			}
			f := a.New()
			if err := f.Factor(m.values); err != nil {
				t.Fatal(err)
			}
			kept, exchanges := make([]float64, f.Kept()), make([]float64, a.Exchanges())
			if !f.Keep(kept) {
				continue
			}
			Exchanges(f, exchanges)
			if !a.HasStraight() {
				continue
			}
			s := a.Straight(exchanges)
			count++
			if s.Kept+len(exchanges) != len(kept) || !slices.Equal(exchanges, kept[s.Kept:]) {
				t.Fatalf("%s, %v: %d factors and exchanges %v of %d numbers", m.name, method, s.Kept, exchanges,
					len(kept))
			}
			for k, e := range exchanges {
				if int(e) != k {
					exchanged++
					break
				}
			}
			places := make([]float64, s.Factor.Values+s.Factor.Factors+2*s.Factor.N)
			copy(places, m.values)
			run(s.Factor, places)
			at := func(place int32) float64 { return math.Abs(places[place]) }
			for _, l := range s.Lower {
				if at(l) > s.Bound {
					t.Errorf("%s, %v: an element of L is %g", m.name, method, at(l))
				}
			}
			for _, g := range s.Growth {
				most := 0.0
				for _, of := range g.Of {
					most = max(most, at(of))
				}
				for _, u := range g.Places {
					if at(u) > g.Factor*most {
						t.Errorf("%s, %v: an element has grown from %g to %g", m.name, method, most, at(u))
					}
				}
			}
			end := s.Kept
			if method == Sparse {
				end = s.Factor.Pivots - s.Factor.Values // pivots are there only if code has left them
			}
			if got := places[s.Factor.Values:][:end]; !slices.Equal(got, kept[:end]) {
				t.Fatalf("%s, %v: other factors", m.name, method)
			}
			x := make([]float64, m.p.N)
			r := elem.NewRand(12)
			for i := range x {
				x[i] = r.Norm()
			}
			right := places[s.Factor.Values+s.Factor.Factors:][:m.p.N]
			copy(right, x)
			run(s.Solve, places)
			run(s.SolveT, places)
			f.Solve(x, 1)
			f.SolveT(x, 1)
			if !slices.Equal(x, right) {
				t.Errorf("%s, %v: other bits", m.name, method)
			}
		}
	}
	if exchanged < 10 || count < 40 {
		t.Errorf("%d matrices were factored, %d with exchanges of rows", count, exchanged)
	}
}

// TestShared lets goroutines share an analysis while its code is made and after that.
//
//odes:goroutines
func TestShared(t *testing.T) {
	m := network(100, 300, 1e-3, 2)
	a, err := Analyze(m.p, Options{Method: Sparse})
	if err != nil {
		t.Fatal(err)
	}
	solve := func(f LU) ([]float64, error) {
		if err := f.Factor(m.values); err != nil {
			return nil, err
		}
		x := make([]float64, 9*m.p.N)
		for i := range x {
			x[i] = 1
		}
		f.Solve(x, 9)
		f.SolveT(x, 9)
		return x, nil
	}
	want, err := solve(a.New())
	if err != nil {
		t.Fatal(err)
	}
	after := codeAfter + a.order.flops/codeEach
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			f := a.New()
			for k := range after/4 + 50 {
				if got, err := solve(f); err != nil || !slices.Equal(got, want) {
					t.Errorf("factorisation %d: other bits, or %v", k, err)
					return
				}
			}
		})
	}
	group.Wait()
	if hasCode() && a.order.codes.list[codeFactor].Load() == nil {
		t.Error("there is no code")
	}
}
