package roots

import (
	"math"
	"math/rand/v2"
	"testing"

	"odes.dev/odes/internal/testing/seeds"
)

// sided is guards that fire where they have left one side: above zero, or below.
type sided struct {
	on    []bool
	falls []bool
}

func (s *sided) Fires(i int, p *Sample) bool {
	if s.falls[i] {
		return s.on[i] && p.Rho[i] < 0
	}
	return s.on[i] && p.Rho[i] > 0
}

func (s *sided) Falls(i int) bool { return s.falls[i] }

// TestSecant holds that the estimate of a bracket is that of the line, with the weights of its ends, of the first guard
// that fires.
func TestSecant(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 13), 8))
	for range 500 {
		const n = 4
		of := &sided{on: make([]bool, n), falls: make([]bool, n)}
		s := NewBracket(n, of)
		s.Lo.H, s.Hi.H = r.Float64(), 1+r.Float64()
		wlo, whi := [...]float64{1, 0.5, 0.25}[r.IntN(3)], [...]float64{1, 0.5}[r.IntN(2)]
		want := math.Inf(1)
		for i := range n {
			a, b := -r.Float64(), r.Float64()
			a, b = wlo*a, whi*b
			s.Lo.Rho[i], s.Hi.Rho[i] = a/wlo, b/whi
			of.on[i], of.falls[i] = r.IntN(3) > 0, r.IntN(2) > 0
			if of.falls[i] {
				s.Lo.Rho[i], s.Hi.Rho[i] = -s.Lo.Rho[i], -s.Hi.Rho[i]
			}
			if of.on[i] {
				want = min(want, s.Lo.H+(s.Hi.H-s.Lo.H)*a/(a-b))
			}
		}
		if got := s.Secant(wlo, whi); !(math.Abs(got-want) <= 1e-14) && got != want {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

// TestShrink demands of a bracket that it encloses the first root of curves that are drawn by their roots, that it is
// as narrow as is asked, and that this takes few readings.
func TestShrink(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 13), 9))
	readings, most := 0, 0
	for range 2000 {
		n := 1 + r.IntN(3)
		of := &sided{on: make([]bool, n), falls: make([]bool, n)}
		root, power := make([]float64, n), make([]float64, n)
		for i := range n {
			of.on[i], of.falls[i] = true, r.IntN(2) > 0
			root[i], power[i] = r.Float64(), float64(1+2*r.IntN(3))
		}
		read := func(p *Sample, h float64) {
			p.H = h
			for i := range n {
				p.Rho[i] = math.Copysign(math.Pow(math.Abs(h-root[i]), power[i]), h-root[i]) * (1 + h)
				if of.falls[i] {
					p.Rho[i] *= -1
				}
			}
		}
		s := NewBracket(n, of)
		read(s.Lo, 0)
		read(s.Hi, 1)
		first := root[0]
		for _, x := range root {
			first = min(first, x)
		}
		count, kept := 0, 0
		width := math.Exp2(-float64(2 + r.IntN(45)))
		ok := s.Shrink(width, func(h float64) bool {
			count++
			read(s.Mid, h)
			return true
		}, func() { kept++ })
		if !ok || s.Hi.H-s.Lo.H > width || s.Lo.H > first || s.Hi.H < first || !s.Any(s.Hi) || s.Any(s.Lo) {
			t.Fatalf("roots %v to powers %v: [%v, %v], to be %v wide", root, power, s.Lo.H, s.Hi.H, width)
		}
		if kept > count {
			t.Fatalf("%d of %d readings kept", kept, count)
		}
		readings, most = readings+count, max(most, count)
	}
	if most > 150 || readings > 2000*50 {
		t.Errorf("%d readings, and at most %d for a root", readings, most)
	}
}

// TestShrinkGivesUp holds that a bracket is left where reading fails.
func TestShrinkGivesUp(t *testing.T) {
	s := NewBracket(1, &sided{on: []bool{true}, falls: []bool{false}})
	s.Lo.Set(0, []float64{-1}, []bool{false})
	s.Hi.Set(1, []float64{1}, []bool{true})
	if s.Shrink(1e-3, func(float64) bool { return false }, nil) {
		t.Error("it goes on")
	}
	if s.Lo.H != 0 || s.Hi.H != 1 {
		t.Errorf("[%v, %v]", s.Lo.H, s.Hi.H)
	}
}
