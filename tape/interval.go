package tape

import (
	"math"

	"odes.dev/odes/internal/base/elem"
)

// Interval is a closed set of numbers, [Lo, Hi], in which a value lies. Its ends may be infinite. Where NaN is among
// the values that are possible, both ends are NaN: nothing is known then.
//
// An Evaluator of Intervals encloses: if the inputs lie within theirs, every value that an Evaluator of float64 gives,
// to the bit, lies within its own, and so does the exact value but for the rounding errors of the float64 one.
// Additions, products, quotients and roots are rounded correctly, and that is monotone. So their results at the ends of
// intervals need no slack. Functions of package elem have some.
type Interval struct{ Lo, Hi float64 }

// Point returns the interval of one number.
func Point(x float64) Interval { return Interval{x, x} }

// Contains reports whether x is among the values that are possible.
func (a Interval) Contains(x float64) bool { return a.unknown() || a.Lo <= x && x <= a.Hi }

// Width returns Hi - Lo; NaN where nothing is known.
func (a Interval) Width() float64 { return a.Hi - a.Lo }

func (a Interval) unknown() bool { return a.Lo != a.Lo }

// infinite reports whether a reaches to infinity.
func (a Interval) infinite() bool { return math.IsInf(a.Lo, 0) || math.IsInf(a.Hi, 0) }

// is reports whether a is the number x alone.
func (a Interval) is(x float64) bool { return a.Lo == x && a.Hi == x }

var (
	anything = Interval{math.NaN(), math.NaN()}
	line     = Interval{math.Inf(-1), math.Inf(1)}
	upwards  = Interval{0, math.Inf(1)}
	downward = Interval{math.Inf(-1), 0}
	unit     = Interval{-1, 1}
	either   = Interval{0, 1}
)

// slack is what bounds of functions of package elem give way by, as a part of the bound. Their errors are a few units
// of 2⁻⁵³.
const slack = 0x1p-50

// wider returns [lo, hi] with slack, as far as within reaches.
func wider(lo, hi float64, within Interval) Interval {
	if lo != lo || hi != hi {
		return anything
	}
	r := Interval{below(lo), above(hi)}
	if r.Lo < within.Lo {
		r.Lo = within.Lo
	}
	if r.Hi > within.Hi {
		r.Hi = within.Hi
	}
	return r
}

// above returns a bound a little larger than x, which may be inexact; 0 is not.
func above(x float64) float64 {
	switch {
	case x == 0 || x > math.MaxFloat64:
		return x
	case x < -math.MaxFloat64:
		return -math.MaxFloat64
	}
	return x + float64(slack*math.Abs(x)) + 0x1p-1072
}

func below(x float64) float64 { return -above(-x) }

// hull returns the least interval around a and b.
func hull(a, b Interval) Interval {
	if a.unknown() || b.unknown() {
		return anything
	}
	return Interval{min(a.Lo, b.Lo), max(a.Hi, b.Hi)}
}

// rising encloses a function that never falls on its domain and is NaN elsewhere. Its results have slack unless it is
// exact, and lie in the given range.
func rising(f func(float64) float64, exact bool, domain, within Interval) func(Interval) Interval {
	return func(a Interval) Interval {
		if !(a.Lo >= domain.Lo && a.Hi <= domain.Hi) {
			return anything
		}
		if exact {
			return Interval{f(a.Lo), f(a.Hi)}
		}
		return wider(f(a.Lo), f(a.Hi), within)
	}
}

// falling is rising for a function that never rises.
func falling(f func(float64) float64, domain, within Interval) func(Interval) Interval {
	return func(a Interval) Interval {
		if !(a.Lo >= domain.Lo && a.Hi <= domain.Hi) {
			return anything
		}
		return wider(f(a.Hi), f(a.Lo), within)
	}
}

func enclosedNeg(a Interval) Interval { return Interval{-a.Hi, -a.Lo} }

func enclosedNot(a Interval) Interval { return Interval{1 - a.Hi, 1 - a.Lo} }

func enclosedAbs(a Interval) Interval {
	switch {
	case a.Lo >= 0:
		return a
	case a.Hi <= 0:
		return Interval{-a.Hi, -a.Lo}
	case a.unknown():
		return anything
	}
	return Interval{0, max(-a.Lo, a.Hi)}
}

func enclosedSqr(a Interval) Interval {
	a = enclosedAbs(a)
	return Interval{float64(a.Lo * a.Lo), float64(a.Hi * a.Hi)}
}

func enclosedCosh(a Interval) Interval {
	a = enclosedAbs(a)
	return wider(elem.Cosh(a.Lo), elem.Cosh(a.Hi), Interval{1, math.Inf(1)})
}

func enclosedSin(a Interval) Interval {
	return turning(wave(elem.Sin(a.Lo), elem.Sin(a.Hi)), a, 1)
}

func enclosedCos(a Interval) Interval {
	return turning(wave(elem.Cos(a.Lo), elem.Cos(a.Hi)), a, 0)
}

// wave returns the least interval with the values at both ends of a part of a sine.
func wave(x, y float64) Interval { return wider(min(x, y), max(x, y), unit) }

// turning extends r, the values of a sine at both ends of a, to the crests and troughs within a. There is a crest where
// a, in quarters of a turn, is crest up to multiples of 4.
func turning(r, a Interval, crest float64) Interval {
	q := quarters(a)
	if !(q.Hi-q.Lo < 8) { // also where a is infinite, or so large that quarters of a turn are lost
		if a.unknown() || a.infinite() {
			return anything
		}
		return unit
	}
	holds := func(at float64) bool { return math.FMA(4, math.Floor((q.Hi-at)/4), at) >= q.Lo }
	if holds(crest) {
		r.Hi = 1
	}
	if holds(crest + 2) {
		r.Lo = -1
	}
	return r
}

// quarters returns a in quarters of a turn, wide enough for the rounding errors of that.
func quarters(a Interval) Interval {
	const perRadian = 2 / math.Pi
	lo, hi := float64(a.Lo*perRadian), float64(a.Hi*perRadian)
	return Interval{lo - float64(slack*math.Abs(lo)), hi + float64(slack*math.Abs(hi))}
}

func enclosedTan(a Interval) Interval {
	if a.unknown() || a.infinite() {
		return anything
	}
	q := quarters(a)
	if !(q.Hi-q.Lo < 2) || math.FMA(2, math.Floor((q.Hi-1)/2), 1) >= q.Lo {
		return line
	}
	return wider(elem.Tan(a.Lo), elem.Tan(a.Hi), line)
}

// enclosedLgamma encloses log|Γ|, which for positive arguments falls as far as 1.4616…, and rises then. Bounds near
// its zeros have an absolute slack.
func enclosedLgamma(a Interval) Interval {
	const lowest, least = 1.4616321449683623, -0.12148629053584961
	switch {
	case a.unknown():
		return anything
	case a.Lo < 0:
		return line
	}
	lo, hi := elem.Lgamma(a.Lo), elem.Lgamma(a.Hi)
	r := Interval{min(lo, hi), max(lo, hi)}
	if a.Lo <= lowest && lowest <= a.Hi {
		r.Lo = least
	}
	return wider(r.Lo-slack, r.Hi+slack, line)
}

func enclosedDigamma(a Interval) Interval {
	if !(a.Lo > 0) {
		return anything
	}
	return wider(elem.Digamma(a.Lo)-slack, elem.Digamma(a.Hi)+slack, line)
}

func positive(f func(Interval) Interval) func(Interval) Interval {
	return func(a Interval) Interval {
		if !(a.Lo > 0) {
			return anything
		}
		return f(a)
	}
}

// enclosedPowi encloses integer powers.
func enclosedPowi(a Interval, n int) Interval {
	if n == 0 {
		return Point(1)
	}
	if n < 0 && a.Lo <= 0 && a.Hi >= 0 {
		if n%2 == 0 {
			a = enclosedAbs(a)
			return wider(elem.Powi(a.Hi, n), math.Inf(1), upwards)
		}
		return line // 1/0 has the sign of the zero
	}
	if n%2 == 0 {
		a = enclosedAbs(a)
	}
	lo, hi := elem.Powi(a.Lo, n), elem.Powi(a.Hi, n)
	if n == 1 {
		return a
	}
	return wider(min(lo, hi), max(lo, hi), line)
}

func enclosedAdd(a, b Interval) Interval {
	r := Interval{a.Lo + b.Lo, a.Hi + b.Hi}
	if r.Hi-r.Lo <= math.MaxFloat64 {
		return r
	}
	if math.IsInf(a.Lo, -1) && math.IsInf(b.Hi, 1) || math.IsInf(a.Hi, 1) && math.IsInf(b.Lo, -1) {
		return anything // ∞ - ∞
	}
	return checked(r.Lo, r.Hi)
}

func enclosedSub(a, b Interval) Interval { return enclosedAdd(a, enclosedNeg(b)) }

// checked returns [lo, hi], or anything where one of them is NaN.
func checked(lo, hi float64) Interval {
	if lo != lo || hi != hi {
		return anything
	}
	return Interval{lo, hi}
}

func enclosedMul(a, b Interval) Interval {
	r := span(float64(a.Lo*b.Lo), float64(a.Lo*b.Hi), float64(a.Hi*b.Lo), float64(a.Hi*b.Hi))
	if r.Hi-r.Lo <= math.MaxFloat64 {
		return r
	}
	if a.infinite() && b.Contains(0) || b.infinite() && a.Contains(0) {
		return anything // 0·∞
	}
	return r
}

// span returns the least interval around four numbers.
func span(p, q, r, s float64) Interval {
	if p > q {
		p, q = q, p
	}
	if r > s {
		r, s = s, r
	}
	if r < p {
		p = r
	}
	if s > q {
		q = s
	}
	if p != p || q != q || r != r || s != s {
		return anything
	}
	return Interval{p, q}
}

// corners encloses a function of two operands that is monotone in each of them, whatever the other is.
func corners(a, b Interval, f func(a, b float64) float64) Interval {
	return span(f(a.Lo, b.Lo), f(a.Lo, b.Hi), f(a.Hi, b.Lo), f(a.Hi, b.Hi))
}

func enclosedDiv(a, b Interval) Interval {
	if b.Lo <= 0 && b.Hi >= 0 {
		if b.is(0) || a.Contains(0) || a.infinite() {
			return anything
		}
		return line // a/0 has the sign of the zero
	}
	return corners(a, b, elem.Div)
}

func enclosedRecip(a Interval) Interval { return enclosedDiv(Point(1), a) }

// enclosedPow encloses a^b. For a ≥ 0 it is monotone in each operand.
func enclosedPow(a, b Interval) Interval {
	if b.is(0) || a.is(1) {
		return Point(1)
	}
	if a.Lo >= 0 && !b.unknown() {
		r := corners(a, b, elem.Pow)
		return wider(r.Lo, r.Hi, upwards)
	}
	if n := b.Lo; b.Lo == b.Hi && math.Trunc(n) == n && math.Abs(n) < 1<<20 && !a.unknown() {
		return enclosedPowi(a, int(n))
	}
	return anything
}

func enclosedAtan2(a, b Interval) Interval {
	if a.unknown() || b.unknown() {
		return anything
	}
	if a.Contains(0) && b.Lo <= 0 { // the origin, or the cut at angles of ±π
		return Interval{-above(math.Pi), above(math.Pi)}
	}
	r := corners(a, b, elem.Atan2)
	return wider(r.Lo, r.Hi, line)
}

func enclosedHypot(a, b Interval) Interval {
	a, b = enclosedAbs(a), enclosedAbs(b)
	return wider(elem.Hypot(a.Lo, b.Lo), elem.Hypot(a.Hi, b.Hi), upwards)
}

// enclosedMod encloses the remainder. It rises within a period.
func enclosedMod(a, b Interval) Interval {
	if a.unknown() || a.infinite() || !(b.Lo > 0 || b.Hi < 0) {
		return anything
	}
	if b.Lo == b.Hi && !math.IsInf(b.Lo, 0) && a.Hi-a.Lo < math.Abs(b.Lo) {
		if lo, hi := elem.Mod(a.Lo, b.Lo), elem.Mod(a.Hi, b.Lo); lo <= hi {
			return Interval{lo, hi}
		}
	}
	// Mod(a, b) may round to b.
	return Interval{min(b.Lo, 0), max(b.Hi, 0)}
}

func enclosedMin(a, b Interval) Interval { return checked(min(a.Lo, b.Lo), min(a.Hi, b.Hi)) }

func enclosedMax(a, b Interval) Interval { return checked(max(a.Lo, b.Lo), max(a.Hi, b.Hi)) }

// decided returns the enclosure of a condition that is known to hold, or known not to, or neither.
func decided(holds, fails bool) Interval {
	switch {
	case holds:
		return Point(1)
	case fails:
		return Point(0)
	}
	return either
}

func enclosedLess(a, b Interval) Interval { return decided(a.Hi < b.Lo, a.Lo >= b.Hi) }

func enclosedLessEq(a, b Interval) Interval { return decided(a.Hi <= b.Lo, a.Lo > b.Hi) }

func enclosedEqual(a, b Interval) Interval {
	return decided(a.Lo == b.Lo && a.is(a.Hi) && b.is(b.Hi), a.Hi < b.Lo || b.Hi < a.Lo)
}

func enclosedNotEqual(a, b Interval) Interval {
	return decided(a.Hi < b.Lo || b.Hi < a.Lo, a.Lo == b.Lo && a.is(a.Hi) && b.is(b.Hi))
}

// sure reports whether a is true, as any number but 0 is.
func sure(a Interval) bool { return a.Lo > 0 || a.Hi < 0 }

func enclosedAnd(a, b Interval) Interval { return decided(sure(a) && sure(b), a.is(0) || b.is(0)) }

func enclosedOr(a, b Interval) Interval { return decided(sure(a) || sure(b), a.is(0) && b.is(0)) }

func enclosedZeroMul(a, b Interval) Interval {
	switch {
	case a.is(0):
		return Point(0)
	case a.unknown() || b.unknown():
		return anything
	}
	return corners(a, b, func(a, b float64) float64 {
		if a == 0 || b == 0 {
			return 0
		}
		return float64(a * b)
	})
}

func enclosedSelect(a, b, c Interval) Interval {
	switch {
	case sure(a):
		return b
	case a.is(0):
		return c
	}
	return hull(b, c)
}

func enclosedFMA(a, b, c Interval) Interval {
	if a.Lo == a.Hi && a.Lo != 0 && a.Lo-a.Lo == 0 {
		if r, ok := multiple(a.Lo, b, c); ok {
			return r
		}
	} else if b.Lo == b.Hi && b.Lo != 0 && b.Lo-b.Lo == 0 {
		if r, ok := multiple(b.Lo, a, c); ok {
			return r
		}
	}
	return enclosedAny(a, b, c)
}

// multiple encloses p·b + c for a number p that is not zero, as of the weights of a network there are thousands. It
// leaves to others what is not finite, and zeros, whose signs it does not know.
func multiple(p float64, b, c Interval) (r Interval, ok bool) {
	if p > 0 {
		r = Interval{math.FMA(p, b.Lo, c.Lo), math.FMA(p, b.Hi, c.Hi)}
	} else {
		r = Interval{math.FMA(p, b.Hi, c.Lo), math.FMA(p, b.Lo, c.Hi)}
	}
	finite := b.Hi-b.Lo <= math.MaxFloat64 && c.Hi-c.Lo <= math.MaxFloat64 && r.Hi-r.Lo <= math.MaxFloat64
	return r, finite && r.Lo != 0 && r.Hi != 0
}

// enclosedAny is enclosedFMA for any operands.
func enclosedAny(a, b, c Interval) Interval {
	if enclosedAdd(enclosedMul(a, b), c).unknown() {
		return anything
	}
	of := func(c float64) Interval {
		return span(math.FMA(a.Lo, b.Lo, c), math.FMA(a.Lo, b.Hi, c), math.FMA(a.Hi, b.Lo, c), math.FMA(a.Hi, b.Hi, c))
	}
	lo, hi := of(c.Lo), of(c.Hi)
	return checked(lo.Lo, hi.Hi)
}
