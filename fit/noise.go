package fit

import (
	"math"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/elem"
)

const logRootTwoPi = 0.9189385332046728

// row is what one row of data adds to the objective, ½ square² + rest, and how it depends on the centre of its
// distribution and the other numbers of that.
//
// A normal distribution gives a square. The curvature of the logarithm of its standard deviation, beyond that which the
// square has, is the expected one: together they are the Fisher information. Any other distribution, and a value beyond
// a limit, has no square: rest is the negative log likelihood, whose derivatives come with the run, and the curves
// are weights of outer products of derivatives that stand for its second derivatives.
type row struct {
	squared    bool
	square     float64
	byCentre   float64   // derivative of square
	byArgs     []float64 // and by the other numbers
	rest       float64
	restByArgs []float64

	curveCentre float64
	curveArgs   []float64
	curveTerm   float64 // of the derivatives of rest
}

// squared reports whether row k of g is a square.
func squared(g *odes.Compared, k int) bool {
	return (g.Noise == "normal" || g.Noise == "lognormal") && g.Measured(k)
}

// rowOf returns row k of g.
func rowOf(g *odes.Compared, k int) row {
	m, y := g.Prediction.Values[k], g.Data[k]
	args := make([]float64, len(g.Args))
	for a := range args {
		args[a] = g.Args[a].Values[k]
	}
	t := row{byArgs: make([]float64, len(args)), restByArgs: make([]float64, len(args))}
	t.curveArgs = make([]float64, len(args))
	if !squared(g, k) {
		t.rest = g.Term.Values[k]
		t.curves(g, k, m, args)
		return t
	}
	sd := args[0]
	t.squared = true
	t.rest = elem.Log(sd) + logRootTwoPi
	switch g.Noise {
	case "normal":
		t.square = (m - y) / sd
		t.byCentre = 1 / sd
	case "lognormal":
		if !(m > 0) { // a median that is not positive has no density
			t.square, t.rest = math.Inf(1), math.Inf(1)
			return t
		}
		logY := elem.Log(y)
		t.square = (elem.Log(m) - logY) / sd
		t.byCentre = 1 / float64(m*sd)
		t.rest += logY
	}
	t.byArgs[0] = -t.square / sd
	t.restByArgs[0] = 1 / sd
	t.curveArgs[0] = 1 / float64(sd*sd)
	return t
}

// kink is what one row of data with Laplace's noise adds to the objective, |value| + rest.
type kink struct {
	value, byCentre, byScale float64
	rest, restByScale        float64
	scale                    int // which of the numbers of the distribution it is
}

// absolute reports whether row k of g is an absolute value.
func absolute(g *odes.Compared, k int) bool {
	return (g.Noise == "laplace" || g.Noise == "loglaplace") && g.Measured(k)
}

// kinkOf returns row k of g.
func kinkOf(g *odes.Compared, k int) kink {
	m, y := g.Prediction.Values[k], g.Data[k]
	t := kink{scale: slices.Index(g.Parameters, "b")}
	b := g.Args[t.scale].Values[k]
	t.rest, t.restByScale = elem.Log(2*b), 1/b
	if g.Noise == "laplace" {
		t.value, t.byCentre = (m-y)/b, 1/b
	} else {
		logY := elem.Log(y)
		t.value, t.byCentre = (elem.Log(m)-logY)/b, 1/float64(m*b)
		t.rest += logY
	}
	t.byScale = -t.value / b
	return t
}

// curves are the Fisher informations of a distribution in its centre and its other numbers, as far as they are known in
// closed form, without what joins them. Where a value is beyond a limit, or the limit unclear, it is the square of the
// derivative of the deviance's root, which is exact far from what the datum tells and vanishes far within it.
func (t *row) curves(g *odes.Compared, k int, m float64, args []float64) {
	if !g.Measured(k) {
		if t.rest > 1e-300 {
			t.curveTerm = 1 / (2 * t.rest)
		}
		return
	}
	arg := func(name string) (int, float64) {
		i := slices.Index(g.Parameters, name)
		return i, args[i]
	}
	square := func(x float64) float64 { return float64(x * x) }
	switch g.Noise {
	case "laplace":
		i, b := arg("b")
		t.curveCentre, t.curveArgs[i] = 1/square(b), 1/square(b)
	case "loglaplace":
		i, b := arg("b")
		t.curveCentre, t.curveArgs[i] = 1/square(float64(m*b)), 1/square(b)
	case "student":
		i, s := arg("s")
		j, nu := arg("nu")
		t.curveCentre = (nu + 1) / float64((nu+3)*square(s))
		t.curveArgs[i] = 2 * nu / float64((nu+3)*square(s))
		t.curveArgs[j] = max(0.25*(elem.Trigamma(nu/2)-elem.Trigamma((nu+1)/2))-
			(nu+5)/(2*nu*float64((nu+1)*(nu+3))), 0)
	case "poisson":
		t.curveCentre = 1 / max(m, 1e-300)
	case "negbin":
		i, phi := arg("phi")
		t.curveCentre = phi / float64(max(m, 1e-300)*(phi+m))
		t.curveArgs[i] = t.observed(phi, m, g.Data[k])
	}
}

// observed is the second derivative of the negative log likelihood of a count y by phi, where it is positive.
func (t *row) observed(phi, m, y float64) float64 {
	d := elem.Trigamma(phi) - elem.Trigamma(y+phi) - 1/phi + 2/(phi+m) - (y+phi)/float64((phi+m)*(phi+m))
	return max(d, 0)
}

// scatter returns the standard deviation of data around a prediction, and how many of these a value lies from it. Both
// are NaN where that means nothing.
func scatter(g *odes.Compared, k int) (sd, residual float64) {
	m, y := g.Prediction.Values[k], g.Data[k]
	arg := func(name string) float64 { return g.Args[slices.Index(g.Parameters, name)].Values[k] }
	switch g.Noise {
	case "normal":
		sd = arg("sd")
	case "lognormal": // residuals are those of logarithms
		s := arg("sd")
		return m * math.Sqrt(elem.Exp(s*s)-1) * elem.Exp(s*s/2), (elem.Log(y) - elem.Log(m)) / s
	case "laplace":
		sd = arg("b") * math.Sqrt2
	case "loglaplace":
		return math.NaN(), (elem.Log(y) - elem.Log(m)) / (arg("b") * math.Sqrt2)
	case "student":
		nu := arg("nu")
		if !(nu > 2) {
			return math.NaN(), (y - m) / arg("s")
		}
		sd = arg("s") * math.Sqrt(nu/(nu-2))
	case "poisson":
		sd = math.Sqrt(m)
	case "negbin":
		sd = math.Sqrt(m + m*m/arg("phi"))
	default:
		return math.NaN(), math.NaN()
	}
	return sd, (y - m) / sd
}
