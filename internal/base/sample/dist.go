package sample

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"odes.dev/odes/internal/base/elem"
)

// Dist is a distribution of numbers, between two bounds if it has any.
type Dist struct {
	Name   string
	args   []float64
	of     *distribution
	lo, hi float64 // bounds
	cut    bool    // the bounds take something away
	below  float64 // probability of values below lo
	above  float64 // and of those above hi
	inner  float64 // and of those between
}

// distribution is a family of distributions. The functions take the arguments of one member.
type distribution struct {
	name  string
	args  int
	valid func(a []float64) bool
	need  string // what valid asks for, in words
	// cdf returns the probability of values up to x, and of those above x.
	cdf func(x float64, a []float64) (below, above float64)
	// quantile returns x where the probability of values below is p and that of those above is q = 1 - p; it uses the
	// smaller. nil: the inverse of cdf is sought within the support.
	quantile func(p, q float64, a []float64) float64
	lo, hi   func(a []float64) float64 // the support
	whole    bool                      // whole numbers only
}

func constant(x float64) func([]float64) float64 { return func([]float64) float64 { return x } }

func positive(from int) func([]float64) bool {
	return func(a []float64) bool {
		return !slices.ContainsFunc(a[from:], func(x float64) bool { return !(x > 0) })
	}
}

// normalCDF returns the probabilities below and above z of the standard normal distribution.
func normalCDF(z float64) (below, above float64) {
	return 0.5 * elem.Erfc(-z/math.Sqrt2), 0.5 * elem.Erfc(z/math.Sqrt2)
}

func laplaceCDF(z float64) (below, above float64) {
	half := 0.5 * elem.Exp(-math.Abs(z))
	if z < 0 {
		return half, 1 - half
	}
	return 1 - half, half
}

func laplaceQuantile(p, q float64) float64 {
	if p < q {
		return elem.Log(2 * p)
	}
	return -elem.Log(2 * q)
}

func at(a []float64, z float64) float64 { return a[0] + float64(a[1]*z) }

func logOrNot(x float64) float64 {
	if x <= 0 {
		return math.Inf(-1)
	}
	return elem.Log(x)
}

// distributions lists those that the language has.
var distributions = []*distribution{
	{
		name: "normal", args: 2, valid: positive(1), need: "sd > 0",
		cdf:      func(x float64, a []float64) (float64, float64) { return normalCDF((x - a[0]) / a[1]) },
		quantile: func(p, q float64, a []float64) float64 { return at(a, NormalQuantile(p, q)) },
		lo:       constant(math.Inf(-1)), hi: constant(math.Inf(1)),
	},
	{
		name: "lognormal", args: 2, valid: positive(1), need: "sd > 0",
		cdf:      func(x float64, a []float64) (float64, float64) { return normalCDF((logOrNot(x) - a[0]) / a[1]) },
		quantile: func(p, q float64, a []float64) float64 { return elem.Exp(at(a, NormalQuantile(p, q))) },
		lo:       constant(0), hi: constant(math.Inf(1)),
	},
	{
		name: "laplace", args: 2, valid: positive(1), need: "b > 0",
		cdf:      func(x float64, a []float64) (float64, float64) { return laplaceCDF((x - a[0]) / a[1]) },
		quantile: func(p, q float64, a []float64) float64 { return at(a, laplaceQuantile(p, q)) },
		lo:       constant(math.Inf(-1)), hi: constant(math.Inf(1)),
	},
	{
		name: "loglaplace", args: 2, valid: positive(1), need: "b > 0",
		cdf:      func(x float64, a []float64) (float64, float64) { return laplaceCDF((logOrNot(x) - a[0]) / a[1]) },
		quantile: func(p, q float64, a []float64) float64 { return elem.Exp(at(a, laplaceQuantile(p, q))) },
		lo:       constant(0), hi: constant(math.Inf(1)),
	},
	{
		name: "student", args: 3, need: "nu > 0 and s > 0",
		valid: func(a []float64) bool { return a[0] > 0 && a[2] > 0 },
		cdf: func(x float64, a []float64) (float64, float64) {
			z := (x - a[1]) / a[2]
			tail := 0.5 * tailOfBeta(a[0]/(a[0]+float64(z*z)), float64(z*z)/(a[0]+float64(z*z)), a[0]/2, 0.5)
			if z < 0 {
				return tail, 1 - tail
			}
			return 1 - tail, tail
		},
		lo: constant(math.Inf(-1)), hi: constant(math.Inf(1)),
	},
	{
		name: "poisson", args: 1, valid: positive(0), need: "mean > 0", whole: true,
		cdf: func(x float64, a []float64) (float64, float64) {
			above, below := gammaCDF(a[0], math.Floor(x)+1)
			return below, above
		},
		lo: constant(0), hi: constant(math.Inf(1)),
	},
	{
		name: "negbin", args: 2, valid: positive(0), need: "mean > 0 and phi > 0", whole: true,
		cdf: func(x float64, a []float64) (float64, float64) {
			sum := a[0] + a[1]
			below := tailOfBeta(a[1]/sum, a[0]/sum, a[1], math.Floor(x)+1)
			return below, tailOfBeta(a[0]/sum, a[1]/sum, math.Floor(x)+1, a[1])
		},
		lo: constant(0), hi: constant(math.Inf(1)),
	},
	{
		name: "uniform", args: 2, need: "lo < hi",
		valid: func(a []float64) bool { return a[0] < a[1] && !math.IsInf(a[1]-a[0], 0) },
		cdf: func(x float64, a []float64) (float64, float64) {
			below := min(max((x-a[0])/(a[1]-a[0]), 0), 1)
			return below, min(max((a[1]-x)/(a[1]-a[0]), 0), 1)
		},
		quantile: func(p, q float64, a []float64) float64 {
			if p < q {
				return a[0] + float64(p*(a[1]-a[0]))
			}
			return a[1] - float64(q*(a[1]-a[0]))
		},
		lo: func(a []float64) float64 { return a[0] }, hi: func(a []float64) float64 { return a[1] },
	},
	{
		// Not a distribution of the language, but that of sweeps over several powers of ten.
		name: "loguniform", args: 2, need: "0 < lo < hi",
		valid: func(a []float64) bool { return a[0] > 0 && a[0] < a[1] && !math.IsInf(a[1], 0) },
		cdf: func(x float64, a []float64) (float64, float64) {
			width := elem.Log(a[1] / a[0])
			below := min(max(logOrNot(x/a[0])/width, 0), 1)
			return below, 1 - below
		},
		quantile: func(p, q float64, a []float64) float64 {
			width := elem.Log(a[1] / a[0])
			if p < q {
				return float64(a[0] * elem.Exp(p*width))
			}
			return float64(a[1] * elem.Exp(-q*width))
		},
		lo: func(a []float64) float64 { return a[0] }, hi: func(a []float64) float64 { return a[1] },
	},
	{
		name: "gamma", args: 2, valid: positive(0), need: "shape > 0 and lambda > 0",
		cdf: func(x float64, a []float64) (float64, float64) { return gammaCDF(float64(a[1]*max(x, 0)), a[0]) },
		lo:  constant(0), hi: constant(math.Inf(1)),
	},
	{
		name: "beta", args: 2, valid: positive(0), need: "a > 0 and b > 0",
		cdf: func(x float64, a []float64) (float64, float64) {
			x = min(max(x, 0), 1)
			return tailOfBeta(x, 1-x, a[0], a[1]), tailOfBeta(1-x, x, a[1], a[0])
		},
		lo: constant(0), hi: constant(1),
	},
	{
		name: "lkj", args: 1, valid: positive(0), need: "eta > 0",
		cdf: func(x float64, a []float64) (float64, float64) {
			x = min(max(x, -1), 1)
			below, above := float64(0.5*(1+x)), float64(0.5*(1-x))
			return tailOfBeta(below, above, a[0], a[0]), tailOfBeta(above, below, a[0], a[0])
		},
		lo: constant(-1), hi: constant(1),
	},
	{
		name: "exponential", args: 1, valid: positive(0), need: "lambda > 0",
		cdf: func(x float64, a []float64) (float64, float64) {
			z := float64(a[0] * max(x, 0))
			return -elem.Expm1(-z), elem.Exp(-z)
		},
		quantile: func(p, q float64, a []float64) float64 {
			if p < q {
				return -elem.Log1p(-p) / a[0]
			}
			return -elem.Log(q) / a[0]
		},
		lo: constant(0), hi: constant(math.Inf(1)),
	},
	{
		name: "cauchy", args: 2, valid: positive(1), need: "s > 0",
		cdf:      func(x float64, a []float64) (float64, float64) { return cauchyCDF((x - a[0]) / a[1]) },
		quantile: func(p, q float64, a []float64) float64 { return at(a, cauchyQuantile(p, q)) },
		lo:       constant(math.Inf(-1)), hi: constant(math.Inf(1)),
	},
	{
		name: "inverse_gamma", args: 2, valid: positive(0), need: "shape > 0 and scale > 0",
		cdf: func(x float64, a []float64) (float64, float64) {
			if !(x > 0) {
				return 0, 1
			}
			above, below := gammaCDF(a[1]/x, a[0])
			return below, above
		},
		lo: constant(0), hi: constant(math.Inf(1)),
	},
	{
		name: "half_normal", args: 1, valid: positive(0), need: "sd > 0",
		cdf: func(x float64, a []float64) (float64, float64) {
			z := max(x, 0) / a[0] / math.Sqrt2
			return elem.Erf(z), elem.Erfc(z)
		},
		quantile: func(p, q float64, a []float64) float64 {
			if p < 0.85 {
				return float64(a[0] * normalCentre(p/2))
			}
			return float64(a[0] * NormalQuantile(1-q/2, q/2))
		},
		lo: constant(0), hi: constant(math.Inf(1)),
	},
	{
		name: "half_cauchy", args: 1, valid: positive(0), need: "s > 0",
		cdf: func(x float64, a []float64) (float64, float64) {
			z := max(x, 0) / a[0]
			return elem.Atan2(z, 1) * (2 / math.Pi), elem.Atan2(1, z) * (2 / math.Pi)
		},
		quantile: func(p, q float64, a []float64) float64 {
			if p < q {
				return float64(a[0] * elem.Tan(p*(math.Pi/2)))
			}
			return a[0] / elem.Tan(q*(math.Pi/2))
		},
		lo: constant(0), hi: constant(math.Inf(1)),
	},
}

// cauchyCDF returns the probabilities below and above z of the standard Cauchy distribution.
func cauchyCDF(z float64) (below, above float64) {
	return elem.Atan2(1, -z) / math.Pi, elem.Atan2(1, z) / math.Pi
}

func cauchyQuantile(p, q float64) float64 {
	switch d := p - 0.5; {
	case math.Abs(d) < 0.25:
		return elem.Tan(d * math.Pi)
	case p < q:
		return -1 / elem.Tan(p*math.Pi)
	}
	return 1 / elem.Tan(q*math.Pi)
}

// Support returns where a distribution with these arguments has a density; false if there is none of that name.
func Support(name string, args []float64) (lo, hi float64, ok bool) {
	at := slices.IndexFunc(distributions, func(d *distribution) bool { return d.name == name })
	if at < 0 || len(args) != distributions[at].args {
		return 0, 0, false
	}
	return distributions[at].lo(args), distributions[at].hi(args), true
}

// NewDist returns the distribution of that name with arguments as the language has them, cut off at the bounds lo and
// hi (±Inf for none).
func NewDist(name string, args []float64, lo, hi float64) (*Dist, error) {
	at := slices.IndexFunc(distributions, func(d *distribution) bool { return d.name == name })
	if at < 0 {
		return nil, fmt.Errorf("there is no distribution %q", name)
	}
	of := distributions[at]
	if len(args) != of.args {
		return nil, fmt.Errorf("%s takes %d arguments, not %d", name, of.args, len(args))
	}
	for _, x := range args {
		if x-x != 0 {
			return nil, fmt.Errorf("%s needs arguments that are finite numbers, not %g", name, x)
		}
	}
	if !of.valid(args) {
		return nil, fmt.Errorf("%s needs %s", call(name, args), of.need)
	}
	d := &Dist{
		Name: name, args: slices.Clone(args), of: of, lo: max(lo, of.lo(args)), hi: min(hi, of.hi(args)), inner: 1,
	}
	if d.cut = d.lo > of.lo(args) || d.hi < of.hi(args); d.cut {
		if d.lo > of.lo(args) {
			d.below, _ = of.cdf(d.lo, args)
		}
		if of.whole && d.lo > 0 {
			d.below, _ = of.cdf(math.Ceil(d.lo)-1, args)
		}
		_, d.above = of.cdf(d.hi, args)
		d.inner = 1 - d.below - d.above
		switch { // without cancellation where both bounds are on one side of the median
		case d.below > 0.5:
			_, q := of.cdf(d.lo, args)
			d.inner = q - d.above
		case d.above > 0.5:
			p, _ := of.cdf(d.hi, args)
			d.inner = p - d.below
		}
		if !(d.lo <= d.hi) || !(d.inner > 0) && !(d.hi == d.lo) {
			return nil, fmt.Errorf("%s has nothing within the bounds [%g, %g]", call(name, args), lo, hi)
		}
	}
	return d, nil
}

// call writes a distribution as the language does.
func call(name string, args []float64) string {
	return name + strings.NewReplacer("[", "(", "]", ")", " ", ", ").Replace(fmt.Sprint(args))
}

// Mass returns the probability that the distribution without bounds gives to what is within them.
func (d *Dist) Mass() float64 { return d.inner }

// Quantile returns the value below which the share u of the distribution is, for u in [0, 1].
func (d *Dist) Quantile(u float64) float64 {
	p, q := u, 1-u
	if d.cut {
		p, q = d.below+float64(u*d.inner), d.above+float64((1-u)*d.inner)
	}
	var x float64
	switch {
	case p <= 0:
		x = d.of.lo(d.args)
	case q <= 0:
		x = d.of.hi(d.args)
	case d.of.quantile != nil:
		x = d.of.quantile(p, q, d.args)
	default:
		x = d.invert(p, q)
	}
	return min(max(x, d.lo), d.hi)
}

// invert seeks the smallest number at which the probability of what is up to it is p or more.
func (d *Dist) invert(p, q float64) float64 {
	lo, hi := order(d.lo), order(d.hi)
	step := int64(1)
	value := func(k int64) float64 { return unorder(k) }
	if d.of.whole {
		lo, hi = int64(math.Ceil(d.lo)), int64(min(math.Floor(d.hi), 1<<53))
		value = func(k int64) float64 { return float64(k) }
	}
	reached := func(k int64) bool {
		below, above := d.of.cdf(value(k), d.args)
		if p < q {
			return below >= p
		}
		return above <= q
	}
	if d.of.whole { // most often not far from the beginning
		for lo+step < hi && !reached(lo+step) {
			lo += step
			step *= 2
		}
		hi = min(hi, lo+step)
	}
	for lo < hi { // reached(hi), or hi is the end
		mid := lo + int64(uint64(hi-lo)/2)
		if reached(mid) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return value(lo)
}

// order numbers the floating-point numbers in ascending order, and unorder is its inverse.
func order(x float64) int64 {
	k := int64(math.Float64bits(x))
	if k < 0 {
		k = math.MinInt64 - k
	}
	return k
}

func unorder(k int64) float64 {
	if k < 0 {
		k = math.MinInt64 - k
	}
	return math.Float64frombits(uint64(k))
}

// NormalQuantile returns z below which the standard normal distribution has probability p, where q = 1 - p. The
// relative error is about 1e-15. It is algorithm AS 241, PPND16 (M. J. Wichura, Appl. Statist. 37:477, 1988,
// doi:10.2307/2347330).
func NormalQuantile(p, q float64) float64 {
	if d := p - 0.5; math.Abs(d) <= 0.425 {
		return normalCentre(d)
	}
	tail := min(p, q)
	if tail <= 0 {
		return math.Copysign(math.Inf(1), p-q)
	}
	r := math.Sqrt(-elem.Log(tail))
	var z float64
	if r <= 5 {
		r -= 1.6
		z = polynomial(r, ppndC) / polynomial(r, ppndD)
	} else {
		r -= 5
		z = polynomial(r, ppndE) / polynomial(r, ppndF)
	}
	return math.Copysign(z, p-q)
}

// normalCentre is NormalQuantile of 0.5 + d, for d within 0.425 of 0.
func normalCentre(d float64) float64 {
	r := 0.180625 - float64(d*d)
	return float64(d*polynomial(r, ppndA)) / polynomial(r, ppndB)
}

// Coefficients of AS 241, from the constant term on.
var (
	ppndA = []float64{
		3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
		4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3,
	}
	ppndB = []float64{
		1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
		2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3,
	}
	ppndC = []float64{
		1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
		1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4,
	}
	ppndD = []float64{
		1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9,
	}
	ppndE = []float64{
		6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7,
	}
	ppndF = []float64{
		1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15,
	}
)

func polynomial(x float64, c []float64) float64 {
	s := 0.0
	for _, a := range slices.Backward(c) {
		s = math.FMA(s, x, a)
	}
	return s
}

// gammaCDF returns the regularised incomplete gamma functions P(a, x) and Q(a, x) = 1 - P, by the series and the
// continued fraction of Abramowitz and Stegun 6.5.29 and 6.5.31.
func gammaCDF(x, a float64) (p, q float64) {
	const tiny = 1e-300
	switch {
	case !(x > 0):
		return 0, 1
	case math.IsInf(x, 1):
		return 1, 0
	}
	front := elem.Exp(float64(a*elem.Log(x)) - x - elem.Lgamma(a))
	if x < a+1 {
		term := 1 / a
		sum := term
		for n := 1; n < 100_000 && term > 0x1p-54*sum; n++ {
			term = float64(term*x) / (a + float64(n))
			sum += term
		}
		p = min(float64(front*sum), 1)
		return p, 1 - p
	}
	b := x + 1 - a
	c, d := 1/tiny, 1/b
	h := d
	for n := 1.0; n < 100_000; n++ {
		an := -float64(n * (n - a))
		b += 2
		if d = math.FMA(an, d, b); math.Abs(d) < tiny {
			d = tiny
		}
		if c = b + an/c; math.Abs(c) < tiny {
			c = tiny
		}
		d = 1 / d
		factor := float64(d * c)
		h = float64(h * factor)
		if math.Abs(factor-1) < 0x1p-52 {
			break
		}
	}
	q = min(float64(front*h), 1)
	return 1 - q, q
}

// tailOfBeta returns the regularised incomplete beta function I_x(a, b), where y = 1 - x, by the continued fraction of
// DLMF 8.17.22.
func tailOfBeta(x, y, a, b float64) float64 {
	switch {
	case !(x > 0):
		return 0
	case !(y > 0):
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - tailOfBeta(y, x, b, a)
	}
	const tiny = 1e-300
	front := elem.Exp(elem.Lgamma(a+b)-elem.Lgamma(a)-elem.Lgamma(b)+
		float64(a*elem.Log(x))+float64(b*elem.Log(y))) / a
	guard := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/guard(1-float64((a+b)*x)/(a+1))
	h := d
	for m := 1.0; m < 100_000; m++ {
		even := float64(m*(b-m)*x) / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / guard(math.FMA(even, d, 1))
		c = guard(1 + even/c)
		h = float64(h * float64(d*c))
		odd := -float64((a+m)*(a+b+m)*x) / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / guard(math.FMA(odd, d, 1))
		c = guard(1 + odd/c)
		factor := float64(d * c)
		h = float64(h * factor)
		if math.Abs(factor-1) < 0x1p-52 {
			break
		}
	}
	return min(float64(front*h), 1)
}
