package solvers

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/simd"
)

// NormKind says how the scaled errors of the states are combined to one number.
type NormKind uint8

// The kinds of norm. sc_i = Abs_i + Rel·max(|y₀_i|, |y₁_i|), except for NormOdeint.
const (
	NormRMS    NormKind = iota // √(1/n Σ (e_i/sc_i)²)
	NormMax                    // max |e_i|/sc_i
	NormOdeint                 // max |e_i|/(Abs_i + Rel (|y₀_i| + |h| |f_i(t, y₀)|)), as Boost.odeint has it
)

// Tolerance measures errors: Norm is 1 for an error that is just tolerable.
type Tolerance struct {
	Rel  float64
	Rels []float64 // when set, one for each state, in place of Rel
	Abs  []float64 // one for all states, or one for each
	Kind NormKind
	// Most times its tolerance is the most that the error of a state may be, if a root mean square is 1; 0 for any.
	Most float64
}

// Scale returns sc_i for a state that moves from y0 to y1.
func (tol *Tolerance) Scale(i int, y0, y1 float64) float64 {
	return math.FMA(tol.RelOf(i), elem.LargerSize(y0, y1), tol.AbsOf(i))
}

// Scaled returns |e|/sc_i for the error e of a state that moves from y0 to y1; 0 where both are.
func (tol *Tolerance) Scaled(i int, e, y0, y1 float64) float64 {
	return quotient(e, tol.Scale(i, y0, y1))
}

// RelOf returns the relative tolerance of state i.
func (tol *Tolerance) RelOf(i int) float64 {
	if tol.Rels == nil {
		return tol.Rel
	}
	return tol.Rels[i]
}

// Least returns the smallest relative tolerance, as far as doubles have that many digits.
func (tol *Tolerance) Least() float64 {
	least := tol.Rel
	if tol.Rels != nil {
		least = slices.Min(tol.Rels)
	}
	return max(least, 0x1p-50)
}

// AbsOf returns the absolute tolerance of state i.
func (tol *Tolerance) AbsOf(i int) float64 {
	if len(tol.Abs) == 1 {
		return tol.Abs[0]
	}
	return tol.Abs[i]
}

// Norm returns the norm of the estimated error e[N] of the states over a finished step. The result is NaN if an error
// is, or if the step left the finite numbers.
func (tol *Tolerance) Norm(s *Step, e []float64) float64 {
	norm, most := tol.norms(s, e)
	if tol.Kind == NormRMS && tol.Most > 0 {
		return max(norm, most/tol.Most)
	}
	return norm
}

// oneOfMany is the Most of runs in which steps may solve equations.
const oneOfMany = 6

// TakeMost sets Most for runs by a method. A mean over many states hides the error of a few, and derivatives may
// come from just these. So where some of its members solve equations, no state may be off by more than oneOfMany
// tolerances. That changes nothing with up to oneOfMany² states. It holds for explicit steps between or before such
// steps as well: they cost little beside them, and their errors remain.
func (tol *Tolerance) TakeMost(by Method) {
	if slices.ContainsFunc(Members(by), func(m Method) bool { return m.Info().Solved > 0 }) {
		tol.Most = oneOfMany
	}
}

// norms returns the norm, and the largest |e_i|/sc_i of five states or more.
func (tol *Tolerance) norms(s *Step, e []float64) (norm, most float64) {
	n := len(s.Y0)
	var a accumulator
	if tol.Kind == NormRMS && n >= 8 && tol.Rels == nil { // the same sums, by vectors; NaN in e stays in them
		most, finite := simd.ScaledSquares(&a.square, e[:n], s.Y0, s.Y1, tol.Abs, tol.Rel)
		if !finite {
			return math.NaN(), most
		}
		return a.norm(tol.Kind, n), most
	}
	if tol.Kind == NormRMS && n <= 4 {
		return tol.few(s, e), 0
	}
	for i, y := range s.Y0 {
		sc := tol.Scale(i, y, s.Y1[i])
		finite := sc <= math.MaxFloat64
		if tol.Kind == NormOdeint {
			sc = math.FMA(math.Abs(s.H), math.Abs(s.K[i]), math.Abs(y))
			sc = math.FMA(tol.RelOf(i), sc, tol.AbsOf(i))
			finite = sc <= math.MaxFloat64 && math.Abs(s.Y1[i]) <= math.MaxFloat64
		}
		if !finite {
			return math.NaN(), a.most
		}
		a.add(i, quotient(e[i], sc))
	}
	return a.norm(tol.Kind, n), a.most
}

// few is Norm in root mean square for one to four states: the same sums.
func (tol *Tolerance) few(s *Step, e []float64) float64 {
	var square [4]float64
	n := len(s.Y0)
	if n == 0 {
		return 0
	}
	for i, y := range s.Y0 {
		sc := tol.Scale(i, y, s.Y1[i])
		if !(sc <= math.MaxFloat64) {
			return math.NaN()
		}
		x := quotient(e[i], sc)
		square[i&3] = float64(x * x)
	}
	return rootOfMean(&square, n)
}

// rootOfMean returns the root of the mean of one to four squares: the same sum as that of an accumulator.
func rootOfMean(square *[4]float64, n int) float64 {
	return math.Sqrt(((square[0] + square[2]) + (square[1] + square[3])) / float64(n))
}

// Size returns the norm of x[N] with the scales at y.
func (tol *Tolerance) Size(x, y []float64) float64 {
	scaled := func(i int) float64 {
		return quotient(x[i], math.FMA(tol.RelOf(i), math.Abs(y[i]), tol.AbsOf(i)))
	}
	if n := len(y); tol.Kind == NormRMS && n > 0 && n <= 4 {
		var square [4]float64
		for i := range y {
			v := scaled(i)
			square[i&3] = float64(v * v)
		}
		return rootOfMean(&square, n)
	}
	var a accumulator
	for i := range y {
		a.add(i, scaled(i))
	}
	return a.norm(tol.Kind, len(y))
}

// quotient returns |e|/sc, and 0 for 0/0: an error that is exactly zero needs no tolerance.
func quotient(e, sc float64) float64 {
	if e == 0 && sc == 0 {
		return 0
	}
	return math.Abs(e) / sc
}

// accumulator gathers the sum of squares, in the order of elem.Dot, and the maximum.
type accumulator struct {
	square [8]float64
	most   float64
}

func (a *accumulator) add(i int, x float64) {
	a.square[i&7] = math.FMA(x, x, a.square[i&7])
	if x > a.most || x != x {
		a.most = x
	}
}

func (a *accumulator) norm(kind NormKind, n int) float64 {
	switch {
	case n == 0:
		return 0
	case a.most != a.most || kind != NormRMS:
		return a.most
	}
	return math.Sqrt(elem.Tree(&a.square) / float64(n))
}
