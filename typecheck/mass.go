package typecheck

import (
	"math"

	"odes.dev/odes/internal/elem"
)

// priorMass returns the probability that a distribution gives to [lo, hi]. Beyond the median it is
// a difference of upper tails, so that it is accurate far out.
func priorMass(name string, v map[string]float64, lo, hi float64) float64 {
	tails := tailsOf(name, v)
	lower := func(x float64) float64 { p, _ := tails(x); return p }
	upper := func(x float64) float64 { _, q := tails(x); return q }
	if a := lower(lo); a > 0.5 {
		return upper(lo) - upper(hi)
	}
	if b := upper(hi); b < 0.5 {
		return 1 - (lower(lo) + b)
	}
	return lower(hi) - lower(lo)
}

// tailsOf returns a function for the probabilities of less than x and of more than x.
func tailsOf(name string, v map[string]float64) func(x float64) (p, q float64) {
	symmetric := func(tail func(z float64) float64, z float64) (p, q float64) { // tail(z) for z ≥ 0
		if z < 0 {
			return tail(-z), 1 - tail(-z)
		}
		return 1 - tail(z), tail(z)
	}
	normal := func(z float64) float64 { return 0.5 * elem.Erfc(z*math.Sqrt(0.5)) }
	laplace := func(z float64) float64 { return 0.5 * elem.Exp(-z) }
	log := func(x float64) float64 {
		if x <= 0 {
			return math.Inf(-1)
		}
		return elem.Log(x)
	}
	switch name {
	case "normal":
		return func(x float64) (p, q float64) { return symmetric(normal, (x-v["mean"])/v["sd"]) }
	case "lognormal":
		return func(x float64) (p, q float64) { return symmetric(normal, (log(x)-v["mu"])/v["sd"]) }
	case "laplace":
		return func(x float64) (p, q float64) { return symmetric(laplace, (x-v["mu"])/v["b"]) }
	case "loglaplace":
		return func(x float64) (p, q float64) { return symmetric(laplace, (log(x)-v["mu"])/v["b"]) }
	case "student":
		return func(x float64) (p, q float64) {
			return symmetric(func(z float64) float64 { return studentTail(v["nu"], z) }, (x-v["mu"])/v["s"])
		}
	case "uniform":
		return func(x float64) (p, q float64) {
			p = min(max((x-v["lo"])/(v["hi"]-v["lo"]), 0), 1)
			return p, 1 - p
		}
	case "exponential":
		return func(x float64) (p, q float64) {
			z := v["lambda"] * max(x, 0)
			return -elem.Expm1(-z), elem.Exp(-z)
		}
	case "gamma":
		return func(x float64) (p, q float64) { return gammaTails(v["shape"], v["lambda"]*max(x, 0)) }
	case "beta":
		return func(x float64) (p, q float64) { return betaTails(v["a"], v["b"], min(max(x, 0), 1)) }
	}
	panic("typecheck: no tails of " + name)
}

// studentTail returns the probability of more than z ≥ 0, with nu degrees of freedom.
func studentTail(nu, z float64) float64 {
	if math.IsInf(z, 1) {
		return 0
	}
	// Of the two arguments of the incomplete beta function, take the one that is computed without
	// cancellation.
	if z2 := float64(z * z); z2 < nu {
		p, _ := betaTails(0.5, nu/2, z2/(nu+z2))
		return 0.5 * (1 - p)
	}
	p, _ := betaTails(nu/2, 0.5, nu/math.FMA(z, z, nu))
	return 0.5 * p
}

// terms bounds the loops below. They need far fewer terms for any reasonable parameter.
const terms = 100_000

// gammaTails returns the regularised incomplete gamma functions P(a, x) and
// Q(a, x): a series below the median, Legendre's continued fraction above
// (Numerical Recipes, section 6.2).
func gammaTails(a, x float64) (p, q float64) {
	switch {
	case !(x > 0):
		return 0, 1
	case math.IsInf(x, 1):
		return 1, 0
	}
	front := elem.Exp(math.FMA(a, elem.Log(x), -x) - elem.Lgamma(a))
	if x < a+1 {
		sum, term := 1/a, 1/a
		for n := 1; n < terms && math.Abs(term) > sum*1e-17; n++ {
			term = float64(term * (x / (a + float64(n))))
			sum += term
		}
		p = float64(front * sum)
		return p, 1 - p
	}
	f := lentz(1e300, 1/(x+1-a), func(n float64) (num, den float64) { return -n * (n - a), x + float64(2*n) + 1 - a })
	q = float64(front * f)
	return 1 - q, q
}

// betaTails returns the regularised incomplete beta function I_x(a, b) and its
// complement, by the continued fraction (Numerical Recipes, section 6.4).
func betaTails(a, b, x float64) (p, q float64) {
	switch {
	case x <= 0:
		return 0, 1
	case x >= 1:
		return 1, 0
	case x > (a+1)/(a+b+2):
		q, p = betaTails(b, a, 1-x)
		return p, q
	}
	logs := math.FMA(a, elem.Log(x), float64(b*elem.Log1p(-x)))
	front := elem.Exp(elem.Lgamma(a+b)-elem.Lgamma(a)-elem.Lgamma(b)+logs) / a
	first := 1 / (1 - float64((a+b)*x)/(a+1))
	f := lentz(1, first, func(n float64) (num, den float64) {
		m := math.Floor((n + 1) / 2)
		at := a + float64(2*m)
		if n == float64(2*m) {
			return -(a + m) * (a + b + m) * x / (at * (at + 1)), 1
		}
		return m * (b - m) * x / ((at - 1) * at), 1
	})
	p = float64(front * f)
	return p, 1 - p
}

// lentz evaluates a continued fraction by the modified method of Lentz: c and d
// are the ratios of successive numerators and denominators at the start, and
// step n from 1 has the numerator and denominator of the next term.
func lentz(c, d float64, step func(n float64) (num, den float64)) float64 {
	f := d
	for n := 1.0; n < terms; n++ {
		num, den := step(n)
		d = 1 / nonzero(math.FMA(num, d, den))
		c = nonzero(den + num/c)
		f *= c * d
		if math.Abs(float64(c*d)-1) < 1e-16 {
			break
		}
	}
	return f
}

func nonzero(x float64) float64 {
	if math.Abs(x) < 1e-300 {
		return 1e-300
	}
	return x
}
