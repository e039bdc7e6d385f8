package hybrid

import (
	"math"
	"math/rand/v2"
	"testing"

	"odes.dev/odes/internal/base/bernstein"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/solvers"
)

// TestShown compares what coefficients show with Descartes' rule, of coefficients that are drawn.
func TestShown(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 13), 5))
	count := map[bool]int{}
	for range 20000 {
		s := &Solver{}
		s.off = 0.125
		b := make([]float64, 2+r.IntN(5))
		for i := range b {
			b[i] = float64(r.IntN(17)-8) / 16
			if r.IntN(3) > 0 { // seldom near zero
				b[i] = math.Copysign(0.2+r.Float64(), r.Float64()-0.5+0.3*float64(len(b)-i))
			}
		}
		want, changes := true, 0
		for i := range b {
			if near := math.Abs(b[i]) <= s.off; near && i > 0 {
				want = false
			} else if i > 0 && (b[i] > 0) != (b[i-1] > 0) && math.Abs(b[i-1]) > s.off {
				changes++
			}
		}
		if math.Abs(b[0]) <= s.off {
			want = want && changes == 0
		} else {
			want = want && changes <= 1
		}
		if got := s.shown(b); got != want {
			t.Fatalf("%v: %v", b, got)
		}
		count[want]++
	}
	if count[true] < 1000 || count[false] < 1000 {
		t.Errorf("too few of a kind: %v", count)
	}
}

// TestDivide draws polynomials by their roots and requires the runs of signs to be those between them, as far as their
// values are clear.
func TestDivide(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 13), 6))
	const n = 4
	for k := range 3000 {
		s := &Solver{}
		s.panels = newPanels(bernstein.Of(n))
		s.off, s.levels, s.smooth = 0x1p-46, fineLevel, k%2 == 0
		roots := make([]float64, r.IntN(n+1))
		for i := range roots {
			roots[i] = 1.4*r.Float64() - 0.2
			if i > 0 && r.IntN(2) == 0 { // close to another
				roots[i] = roots[i-1] + math.Exp2(-3-8*r.Float64())
			}
		}
		f := func(x float64) float64 {
			v := 1.0
			for _, z := range roots {
				v *= x - z
			}
			return v
		}
		b := make([]float64, n+1)
		for i := range b {
			for j, x := range s.Nodes {
				b[i] = math.FMA(s.Rows[i*(n+1)+j], f(x), b[i])
			}
		}
		s.runs = s.runs[:0]
		if s.divide(b, 0, 1, 0) {
			continue // it says that it cannot tell
		}
		for i, run := range s.runs {
			if i > 0 && run.sign == s.runs[i-1].sign || run.from > run.to || run.at < run.from || run.at > run.to {
				t.Fatalf("roots %v: runs %+v", roots, s.runs)
			}
			if v := f(run.at); run.sign != 0 && (sign(v) != run.sign || math.Abs(math.Abs(v)-run.most) > 1e-13) {
				t.Fatalf("roots %v: run %+v, where the value is %v", roots, run, v)
			}
		}
		for range 50 { // a clear value lies in a run of its sign
			x := r.Float64()
			v := f(x)
			if math.Abs(v) < 1e-6 {
				continue
			}
			ok := false
			for _, run := range s.runs {
				ok = ok || run.from <= x && x <= run.to && run.sign == sign(v)
			}
			for i := range s.runs[1:] { // or between two runs, in a part that is monotone
				ok = ok || s.runs[i].to <= x && x <= s.runs[i+1].from
			}
			if !ok {
				t.Fatalf("roots %v: %v at %v, but the runs are %+v", roots, v, x, s.runs)
			}
		}
	}
}

// TestFar holds that no polynomial of the values of its nodes leaves their range by more than far allows, and that
// corner finds where two lines meet.
func TestFar(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 13), 7))
	for _, n := range []int{2, 3, 4, 5, 7, 9, 11} {
		b := bernstein.Of(n)
		for range 300 {
			values := make([]float64, n+1)
			lo, hi := math.Inf(1), math.Inf(-1)
			for i := range values {
				values[i] = float64(r.IntN(2))
				lo, hi = min(lo, values[i]), max(hi, values[i])
			}
			if lo == hi {
				continue
			}
			shift := 0.5*(spread-1)*(hi-lo)*(1+1e-9) - lo
			if !far(lo+shift, hi+shift) || !far(-hi-shift, -lo-shift) || far(lo, hi) {
				t.Fatalf("far of %v to %v", lo, hi)
			}
			for range 20 { // Lagrange's formula
				x, v := r.Float64(), 0.0
				for j, z := range b.Nodes {
					w := values[j]
					for k, u := range b.Nodes {
						if k != j {
							w *= (x - u) / (z - u)
						}
					}
					v += w
				}
				if v+shift < 0 {
					t.Fatalf("degree %d, values %v: %v at %v", n, values, v, x)
				}
			}
		}
	}
	at := func(x, v float64) *sample { return &sample{theta: x, rho: []float64{v}} }
	for range 2000 {
		c, dip := 0.3+0.4*r.Float64(), 0.3*(r.Float64()-0.7)
		left, right := 1+r.Float64(), 1+r.Float64()
		way := float64(2*r.IntN(2) - 1)
		f := func(x float64) float64 {
			if x < c {
				return way * (dip + left*(c-x))
			}
			return way * (dip + right*(x-c))
		}
		x := [4]float64{0.1, 0.25, 0.75, 0.9}
		got := corner(0, at(x[0], f(x[0])), at(x[1], f(x[1])), at(x[2], f(x[2])), at(x[3], f(x[3])))
		want := c
		for _, x := range x {
			if way*f(x) <= 0 {
				want = 0
			}
		}
		if dip > 0.25*min(way*f(x[1]), way*f(x[2])) {
			want = 0
		}
		if !(math.Abs(got-want) <= 1e-12) {
			t.Fatalf("corner at %v, want %v; dip %v, slopes %v, %v", got, want, dip, left, right)
		}
	}
}

// TestSecant holds that the estimate of shrink is that of the line, with the weights of its ends, of the first guard.
func TestSecant(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 13), 8))
	for range 500 {
		guards := []solvers.Guard{{Event: 0}, {Event: 1, Crossing: true}, {Event: 2}, {Event: -1, Watch: true}}
		s := &Solver{guards: guards}
		n := len(guards)
		s.live = make([]arming, n)
		s.lo, s.hi = newSample(n), newSample(n)
		s.lo.h, s.hi.h = r.Float64(), 1+r.Float64()
		wlo, whi := [...]float64{1, 0.5, 0.25}[r.IntN(3)], [...]float64{1, 0.5}[r.IntN(2)]
		want := math.Inf(1)
		for i := range guards {
			a, b := -r.Float64(), r.Float64()
			a, b = wlo*a, whi*b
			s.lo.rho[i], s.hi.rho[i] = a/wlo, b/whi
			s.hi.truth[i] = true
			s.live[i] = arming{on: r.IntN(3) > 0, side: -1}
			if twoSided(&guards[i]) || guards[i].Watch {
				if r.IntN(2) == 0 {
					s.live[i].side = 1
					s.lo.rho[i], s.hi.rho[i] = -s.lo.rho[i], -s.hi.rho[i]
					s.hi.truth[i] = false
				}
			}
			if s.live[i].on {
				want = min(want, s.lo.h+(s.hi.h-s.lo.h)*a/(a-b))
			}
		}
		if got := s.secant(wlo, whi); !(math.Abs(got-want) <= 1e-14) && got != want {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}
