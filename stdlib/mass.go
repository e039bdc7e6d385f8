package stdlib

import (
	"strings"

	"odes.dev/odes/lang/ast"
)

// Mass is what bounds leave of a distribution: negative logarithms of probabilities, in odes syntax, as functions of
// the distribution's numbers and of `from` and `to` (with Log, their logarithms). `from` is not below the support.
type Mass struct {
	Over   string // of what is above `from`
	Under  string // of what is below `to`
	Inside string // of what is between them

	Positive            bool // nothing is below 0
	over, under, inside definition
}

// Definition returns the tree for a distribution of that name which is cut off below, above, or on both sides. It is
// shared, so it must not be changed.
func (m *Mass) Definition(name string, below, above bool) *ast.Fn {
	switch {
	case below && above:
		return m.inside.of(name+" inside", m.Inside)
	case below:
		return m.over.of(name+" over", m.Over)
	}
	return m.under.of(name+" under", m.Under)
}

// normalTail is a definition of v = -log(erfc(z)/2) = -log Φ(-z√2). Its names end in v.
//
// Far below 0 the probability is nearly 1, and its logarithm is that of what it lacks. Beyond z = 10, before erfc
// underflows, it is the asymptotic series (Abramowitz and Stegun 7.1.23), which is exact to rounding there.
func normalTail(v, z string) string {
	return strings.NewReplacer("$z", z, "$v", v).Replace(
		"let z$v = $z let low$v = min(z$v, -0.5) let near$v = min(max(z$v, -0.5), 10) let far$v = max(z$v, 10) " +
			"let u$v = 0.5/far$v^2 " +
			"let series$v = 1 - u$v*(1 - 3*u$v*(1 - 5*u$v*(1 - 7*u$v*(1 - 9*u$v*" +
			"(1 - 11*u$v*(1 - 13*u$v*(1 - 15*u$v*(1 - 17*u$v*(1 - 19*u$v))))))))) " +
			"let $v = if z$v < -0.5 then -log1p(-0.5*erfc(-low$v)) " +
			"else if z$v < 10 then -log(0.5*erfc(near$v)) " +
			"else far$v^2 + log(far$v) + 1.2655121234846454 - log(series$v) ")
}

// mirrored defines a and b, 0 <= a + b, for the interval from p to q of a distribution that is symmetric around 0: the
// interval itself, or its mirror image, whose probability is the same. outer tells that it begins beyond the point at.
func mirrored(p, q, at string) string {
	return strings.NewReplacer("$p", p, "$q", q, "$at", at).Replace(
		"let p = $p let q = $q let a = if p + q < 0 then -q else p let b = if p + q < 0 then -p else q " +
			"let outer = a >= $at ")
}

// normalInside ends in the negative logarithm of the probability between p and q, in units of sd times the root of 2.
// Near the centre it is a difference of values of erf. Further out that would cancel, and it is one of tails.
func normalInside(p, q, minus string) string {
	return mirrored(p, q, "0.5") +
		"let near1 = if outer then 0 else a let near2 = if outer then 1 else b " +
		normalTail("s", "if outer then a else 0.5") + normalTail("t", "if outer then b else 1.5") +
		"return (if outer then s - log(-expm1(s - t)) else -log(0.5*(erf(near2) - erf(near1))))" + minus
}

const (
	half   = " - 0.6931471805599453"
	logPi  = "1.1447298858494002"
	logPi2 = "0.4515827052894549" // log(pi/2)
)

func normalMass() *Mass {
	return &Mass{
		Over:   normalTail("v", "(from - mean)/(sd*1.4142135623730951)") + "return v",
		Under:  normalTail("v", "(mean - to)/(sd*1.4142135623730951)") + "return v",
		Inside: normalInside("(from - mean)/(sd*1.4142135623730951)", "(to - mean)/(sd*1.4142135623730951)", ""),
	}
}

func logNormalMass() *Mass {
	in := func(text string) string { return strings.ReplaceAll(text, "mean", "mu") }
	m := normalMass()
	return &Mass{Over: in(m.Over), Under: in(m.Under), Inside: in(m.Inside), Positive: true}
}

func laplaceMass(positive bool) *Mass {
	return &Mass{
		Over:  "let z = (from - mu)/b " + laplaceTail,
		Under: "let z = (mu - to)/b " + laplaceTail,
		Inside: mirrored("(from - mu)/b", "(to - mu)/b", "0") +
			"let near1 = if outer then -1 else a let near2 = if outer then 1 else b " +
			"let far1 = if outer then a else 0 let far2 = if outer then b else 1 " +
			"return if outer then far1 + 0.6931471805599453 - log(-expm1(far1 - far2)) " +
			"else -log(-0.5*(expm1(near1) + expm1(-near2)))",
		Positive: positive,
	}
}

// laplaceTail is the negative logarithm of the probability above z.
const laplaceTail = "return if z > 0 then 0.6931471805599453 + z else -log1p(-0.5*exp(min(z, 0)))"

func cauchyMass() *Mass {
	return &Mass{
		Over:   cauchyLog("atan2(1, (from - mu)/s)"),
		Under:  cauchyLog("atan2(1, (mu - to)/s)"),
		Inside: "let p = (from - mu)/s let q = (to - mu)/s return " + logPi + " - log(atan2(q - p, 1 + p*q))",
	}
}

func cauchyLog(angle string) string { return "return " + logPi + " - log(" + angle + ")" }

func halfNormalMass() *Mass {
	return &Mass{
		Over:     normalTail("v", "from/(sd*1.4142135623730951)") + "return v" + half,
		Under:    "return -log(erf(to/(sd*1.4142135623730951)))",
		Inside:   normalInside("from/(sd*1.4142135623730951)", "to/(sd*1.4142135623730951)", half),
		Positive: true,
	}
}

func halfCauchyMass() *Mass {
	return &Mass{
		Over:     "return " + logPi2 + " - log(atan2(1, from/s))",
		Under:    "return " + logPi2 + " - log(atan(to/s))",
		Inside:   "let p = from/s let q = to/s return " + logPi2 + " - log(atan2(q - p, 1 + p*q))",
		Positive: true,
	}
}

func exponentialMass() *Mass {
	return &Mass{
		Over:     "return lambda*from",
		Under:    "return -log(-expm1(-lambda*to))",
		Inside:   "return lambda*from - log(-expm1(-lambda*(to - from)))",
		Positive: true,
	}
}

// uniformMass gives 0 where the bounds leave nothing: there is no value then whose density is asked for.
func uniformMass() *Mass {
	share := func(from, to string) string {
		return "let m = (" + to + " - " + from + ")/(hi - lo) return if m > 0 then -log(if m > 0 then m else 1) else 0"
	}
	return &Mass{
		Over: share("max(lo, from)", "hi"), Under: share("lo", "min(hi, to)"),
		Inside: share("max(lo, from)", "min(hi, to)"),
	}
}
