package draws

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
)

// GoodK returns the largest k-hat of the weights of n draws at which means under them can be trusted.
func GoodK(n int) float64 { return min(1-1/elem.Log10(float64(n)), 0.7) }

// PSIS smooths importance weights: the largest are replaced by quantiles of a generalised Pareto distribution that is
// fitted to them (Vehtari, Simpson, Gelman, Yao and Gabry, JMLR 25(72), 2024). It returns logs of weights that sum to
// one, and k-hat, the shape of the tail: above GoodK the weights do not help. efficiency is the share of effective
// draws among all, 1 for independent ones. Weights that are all equal have k-hat 0, since their mean is exact; with too
// few different ones it is infinite. If a weight is infinite or NaN, so are all, and k-hat is infinite.
func PSIS(logWeights []float64, efficiency float64) (smoothed []float64, k float64) {
	n := len(logWeights)
	x := slices.Clone(logWeights)
	if n == 0 {
		return x, math.Inf(1)
	}
	top := slices.Max(x)
	if top-top != 0 {
		for i := range x {
			x[i] = math.NaN()
		}
		return x, math.Inf(1)
	}
	if slices.Min(x) == top {
		for i := range x {
			x[i] = -elem.Log(float64(n))
		}
		return x, 0
	}
	for i := range x {
		x[i] -= top
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case x[a] < x[b]:
			return -1
		case x[a] > x[b]:
			return 1
		}
		return 0
	})
	if !(efficiency > 0) {
		efficiency = 1
	}
	largest := int(math.Ceil(min(float64(n)/5, 3*math.Sqrt(float64(n)/efficiency))))
	cutoff := max(x[order[max(n-largest-1, 0)]], elem.Log(0x1p-1022))
	from := n
	for from > 0 && x[order[from-1]] > cutoff {
		from--
	}
	tail := order[from:]
	k = math.Inf(1)
	if len(tail) > 4 {
		base := elem.Exp(cutoff)
		above := make([]float64, len(tail))
		for i, at := range tail {
			above[i] = elem.Exp(x[at]) - base
		}
		var scale float64
		k, scale = pareto(above)
		if k-k == 0 && scale > 0 {
			for i, at := range tail {
				p := (float64(i) + 0.5) / float64(len(tail))
				x[at] = min(elem.Log(paretoQuantile(p, k, scale)+base), 0)
			}
		} else {
			k = math.Inf(1)
		}
	}
	sum := logSumExp(x)
	for i := range x {
		x[i] -= sum
	}
	return x, k
}

// pareto fits a generalised Pareto distribution to ascending positive numbers: shape and scale (Zhang and Stephens,
// Technometrics 51:316, 2009, doi:10.1198/tech.2009.08017), the shape with a weak prior at 0.5 that counts as ten
// numbers.
func pareto(x []float64) (shape, scale float64) {
	n := float64(len(x))
	count := 30 + int(math.Sqrt(n))
	quarter := x[int(n/4+0.5)-1]
	shapeAt := func(b float64) float64 {
		sum := 0.0
		for _, v := range x {
			sum += elem.Log1p(-float64(b * v))
		}
		return sum / n
	}
	at, likelihood := make([]float64, count), make([]float64, count)
	for i := range at {
		b := (1-math.Sqrt(float64(count)/(float64(i)+0.5)))/(3*quarter) + 1/x[len(x)-1]
		s := shapeAt(b)
		at[i] = b
		likelihood[i] = float64(n * (elem.Log(-b/s) - s - 1))
	}
	// The mean of b, by likelihoods at its points; those that count for nothing are left out.
	var sum, total float64
	for i, b := range at {
		others := 0.0
		for _, l := range likelihood {
			others += elem.Exp(l - likelihood[i])
		}
		if weight := 1 / others; weight >= 10*0x1p-52 {
			sum += float64(b * weight)
			total += weight
		}
	}
	b := sum / total
	s := shapeAt(b)
	return (float64(n*s) + 5) / (n + 10), -s / b
}

func paretoQuantile(p, shape, scale float64) float64 {
	if math.Abs(shape) < 0x1p-52 {
		return -float64(scale * elem.Log1p(-p))
	}
	return float64(scale * elem.Expm1(-float64(shape*elem.Log1p(-p))) / shape)
}

// logSumExp returns log(sum exp(x)).
func logSumExp(x []float64) float64 {
	top := slices.Max(x)
	if top-top != 0 {
		return top
	}
	sum := 0.0
	for _, v := range x {
		sum += elem.Exp(v - top)
	}
	return top + elem.Log(sum)
}

// LeftOut is how well data are predicted by draws that have not seen them.
type LeftOut struct {
	ELPD, SE  float64   // expected log density of new data, and its standard error
	P         float64   // effective number of params
	Pointwise []float64 // the terms of ELPD
	K         []float64 // k-hat of each
	Good      float64   // the largest k-hat that is good enough
	Bad       []int     // points whose k-hat is larger
}

// LOO estimates how well each point would be predicted by the posterior of all others, by PSIS. logLikelihood[point]
// has those of all draws. efficiency is as in PSIS: MeanESS of the params by the number of draws.
func LOO(logLikelihood [][]float64, efficiency float64) LeftOut {
	var out LeftOut
	var lppd float64
	for i, l := range logLikelihood {
		out.Good = GoodK(len(l))
		weights := make([]float64, len(l))
		for j, v := range l {
			weights[j] = -v
		}
		weights, k := PSIS(weights, efficiency)
		for j, v := range l {
			weights[j] += v
		}
		term := math.NaN()
		if len(l) > 0 {
			term = logSumExp(weights)
			lppd += logSumExp(l) - elem.Log(float64(len(l)))
		}
		out.Pointwise = append(out.Pointwise, term)
		out.K = append(out.K, k)
		out.ELPD += term
		if !(k <= out.Good) {
			out.Bad = append(out.Bad, i)
		}
	}
	n := float64(len(logLikelihood))
	if n > 1 {
		out.SE = math.Sqrt(float64(n*variance(out.Pointwise)) * (n - 1) / n)
	}
	out.P = lppd - out.ELPD
	return out
}
