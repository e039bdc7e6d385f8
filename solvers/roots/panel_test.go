package roots

import (
	"math"
	"math/rand/v2"
	"testing"

	"odes.dev/odes/internal/base/bernstein"
	"odes.dev/odes/internal/testing/seeds"
)

// TestShown compares what coefficients show with Descartes' rule, of coefficients that are drawn.
func TestShown(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 13), 5))
	count := map[bool]int{}
	for range 20000 {
		s := &Panel{Off: 0.125}
		b := make([]float64, 2+r.IntN(5))
		for i := range b {
			b[i] = float64(r.IntN(17)-8) / 16
			if r.IntN(3) > 0 { // seldom near zero
				b[i] = math.Copysign(0.2+r.Float64(), r.Float64()-0.5+0.3*float64(len(b)-i))
			}
		}
		want, changes := true, 0
		for i := range b {
			if near := math.Abs(b[i]) <= s.Off; near && i > 0 {
				want = false
			} else if i > 0 && (b[i] > 0) != (b[i-1] > 0) && math.Abs(b[i-1]) > s.Off {
				changes++
			}
		}
		if math.Abs(b[0]) <= s.Off {
			want = want && changes == 0
		} else {
			want = want && changes <= 1
		}
		if got := s.Shown(b); got != want {
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
		s := NewPanel(bernstein.Of(n))
		s.Off, s.Levels, s.Smooth = 0x1p-46, FineLevel, k%2 == 0
		zeros := make([]float64, r.IntN(n+1))
		for i := range zeros {
			zeros[i] = 1.4*r.Float64() - 0.2
			if i > 0 && r.IntN(2) == 0 { // close to another
				zeros[i] = zeros[i-1] + math.Exp2(-3-8*r.Float64())
			}
		}
		f := func(x float64) float64 {
			v := 1.0
			for _, z := range zeros {
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
		s.Runs = s.Runs[:0]
		if s.Divide(b, 0, 1, 0) {
			continue // it says that it cannot tell
		}
		for i, run := range s.Runs {
			if i > 0 && run.Sign == s.Runs[i-1].Sign || run.From > run.To || run.At < run.From || run.At > run.To {
				t.Fatalf("roots %v: runs %+v", zeros, s.Runs)
			}
			if v := f(run.At); run.Sign != 0 && (Sign(v) != run.Sign || math.Abs(math.Abs(v)-run.most) > 1e-13) {
				t.Fatalf("roots %v: run %+v, where the value is %v", zeros, run, v)
			}
		}
		for range 50 { // a clear value lies in a run of its sign
			x := r.Float64()
			v := f(x)
			if math.Abs(v) < 1e-6 {
				continue
			}
			ok := false
			for _, run := range s.Runs {
				ok = ok || run.From <= x && x <= run.To && run.Sign == Sign(v)
			}
			for i := range s.Runs[1:] { // or between two runs, in a part that is monotone
				ok = ok || s.Runs[i].To <= x && x <= s.Runs[i+1].From
			}
			if !ok {
				t.Fatalf("roots %v: %v at %v, but the runs are %+v", zeros, v, x, s.Runs)
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
			if !Far(lo+shift, hi+shift) || !Far(-hi-shift, -lo-shift) || Far(lo, hi) {
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
	at := func(x, v float64) *Sample { return &Sample{Theta: x, Rho: []float64{v}} }
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
		got := Corner(0, at(x[0], f(x[0])), at(x[1], f(x[1])), at(x[2], f(x[2])), at(x[3], f(x[3])))
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
