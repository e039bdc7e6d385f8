// Package draws says how far draws of Markov chains can be trusted, and how good a posterior predicts: R-hat, effective
// draws, Monte Carlo errors, energies, and importance sampling with smoothed weights.
//
// Draws of one quantity are chains of draws: x[chain][draw]. Chains that were stopped may differ in length; all are cut
// to the shortest. Sums have a fixed order, so results have the same bits everywhere.
//
// What cannot be told is NaN: of fewer than four draws a chain, of draws that are not finite, of a quantity that is the
// same in all draws (a chain that never moved looks like that, so no number of draws is given for it).
package draws

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/sample"
)

// fewest draws of a chain of which anything is said.
const fewest = 4

// shortest cuts all chains to the shortest; nil if there is too little of them, or a number that is not finite.
func shortest(x [][]float64) [][]float64 {
	if len(x) == 0 {
		return nil
	}
	n := len(x[0])
	for _, c := range x {
		n = min(n, len(c))
	}
	if n < fewest {
		return nil
	}
	cut := make([][]float64, len(x))
	for i, c := range x {
		cut[i] = c[:n:n]
		for _, v := range cut[i] {
			if v-v != 0 {
				return nil
			}
		}
	}
	return cut
}

// split makes two chains of each, without the draw in the middle of an odd number. What drifts differs between them.
func split(x [][]float64) [][]float64 {
	halves := make([][]float64, 0, 2*len(x))
	for _, c := range x {
		halves = append(halves, c[:len(c)/2])
	}
	for _, c := range x {
		halves = append(halves, c[len(c)-len(c)/2:])
	}
	return halves
}

// each returns f of every draw, in chains as x has them.
func each(x [][]float64, f func(float64) float64) [][]float64 {
	y := make([][]float64, len(x))
	for i, c := range x {
		y[i] = make([]float64, len(c))
		for j, v := range c {
			y[i][j] = f(v)
		}
	}
	return y
}

func constant(x [][]float64) bool {
	for _, c := range x {
		for _, v := range c {
			if v != x[0][0] {
				return false
			}
		}
	}
	return true
}

// sorted returns all draws in ascending order.
func sorted(x [][]float64) []float64 {
	all := slices.Concat(x...)
	slices.Sort(all)
	return all
}

// quantile returns the value at the share p of ascending numbers, between two of them where it falls between.
func quantile(all []float64, p float64) float64 {
	at := float64(p * float64(len(all)-1))
	below := math.Floor(at)
	i := int(below)
	if i+1 >= len(all) {
		return all[len(all)-1]
	}
	return all[i] + float64((at-below)*(all[i+1]-all[i]))
}

// normal replaces each draw by the quantile of the normal distribution at its rank among all. Draws that are equal
// share the mean of their ranks.
func normal(x [][]float64) [][]float64 {
	type place struct{ chain, draw int }
	var places []place
	for i, c := range x {
		for j := range c {
			places = append(places, place{i, j})
		}
	}
	value := func(p place) float64 { return x[p.chain][p.draw] }
	slices.SortStableFunc(places, func(a, b place) int {
		switch va, vb := value(a), value(b); {
		case va < vb:
			return -1
		case va > vb:
			return 1
		}
		return 0
	})
	z := make([][]float64, len(x))
	for i, c := range x {
		z[i] = make([]float64, len(c))
	}
	size := float64(len(places))
	for from := 0; from < len(places); {
		to := from + 1
		for to < len(places) && value(places[to]) == value(places[from]) {
			to++
		}
		rank := float64(from+1+to) / 2
		score := sample.NormalQuantile((rank-0.375)/(size+0.25), (size-rank+0.625)/(size+0.25))
		for _, p := range places[from:to] {
			z[p.chain][p.draw] = score
		}
		from = to
	}
	return z
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// variance is that of a sample: divided by one less than there are numbers.
func variance(x []float64) float64 {
	m, sum := mean(x), 0.0
	for _, v := range x {
		sum += float64((v - m) * (v - m))
	}
	return sum / float64(len(x)-1)
}

func means(x [][]float64) []float64 {
	m := make([]float64, len(x))
	for i, c := range x {
		m[i] = mean(c)
	}
	return m
}

// Mean returns the mean of all draws.
func Mean(x [][]float64) float64 { return mean(slices.Concat(x...)) }

// Sd returns the standard deviation of all draws.
func Sd(x [][]float64) float64 { return math.Sqrt(variance(slices.Concat(x...))) }

// Quantile returns the value below which the share p of all draws is.
func Quantile(x [][]float64, p float64) float64 {
	all := sorted(x)
	if len(all) == 0 {
		return math.NaN()
	}
	return quantile(all, p)
}

// RHat returns R-hat of halves of chains, of normal scores of ranks, the larger one of those of the draws and of their
// distances from the median: above 1.01, chains differ in place or in width (Vehtari, Gelman, Simpson, Carpenter and
// Bürkner, Bayesian Analysis 16:667, 2021, doi:10.1214/20-BA1221). One chain is compared with itself, by its halves.
func RHat(x [][]float64) float64 {
	x = shortest(x)
	if x == nil || constant(x) {
		return math.NaN()
	}
	halves := split(x)
	median := quantile(sorted(halves), 0.5)
	folded := each(halves, func(v float64) float64 { return math.Abs(v - median) })
	return max(rhat(normal(halves)), rhat(normal(folded)))
}

func rhat(x [][]float64) float64 {
	n := float64(len(x[0]))
	within := 0.0
	for _, c := range x {
		within += variance(c)
	}
	within /= float64(len(x))
	between := float64(n * variance(means(x)))
	if within == 0 && between == 0 { // |x - median| is constant: two values, each as often as the other
		return 0
	}
	return math.Sqrt((between/within + n - 1) / n)
}

// BulkESS returns how many independent draws tell as much of the centre of the distribution: the effective draws of
// normal scores of ranks.
func BulkESS(x [][]float64) float64 {
	x = shortest(x)
	if x == nil || constant(x) {
		return math.NaN()
	}
	return effective(normal(split(x)))
}

// TailESS returns the same of the tails: the smaller number of effective draws of those for the quantiles at 5 % and at
// 95 %.
func TailESS(x [][]float64) float64 {
	x = shortest(x)
	if x == nil || constant(x) {
		return math.NaN()
	}
	all := sorted(x)
	low, high := quantileESS(x, all, 0.05), quantileESS(x, all, 0.95)
	switch {
	case math.IsNaN(low):
		return high
	case math.IsNaN(high):
		return low
	}
	return min(low, high)
}

// MeanESS returns the effective draws for the mean.
func MeanESS(x [][]float64) float64 {
	x = shortest(x)
	if x == nil || constant(x) {
		return math.NaN()
	}
	return effective(split(x))
}

// QuantileESS returns the effective draws for the quantile at p.
func QuantileESS(x [][]float64, p float64) float64 {
	x = shortest(x)
	if x == nil || constant(x) {
		return math.NaN()
	}
	return quantileESS(x, sorted(x), p)
}

// quantileESS is NaN where no draw is above the quantile.
func quantileESS(x [][]float64, all []float64, p float64) float64 {
	at := quantile(all, p)
	below := each(x, func(v float64) float64 { return elem.LessEq(v, at) })
	if constant(below) {
		return math.NaN()
	}
	return effective(split(below))
}

// effective returns the effective draws of chains of one length: autocorrelations of all chains together, summed in
// pairs as long as these are positive, and made monotone (Geyer, Statistical Science 7:473, 1992,
// doi:10.1214/ss/1177011137).
func effective(x [][]float64) float64 {
	draws := len(x[0])
	n, m := float64(draws), float64(len(x))
	if draws < 2 {
		return math.NaN()
	}
	cov := make([]float64, draws) // mean of the chains
	for _, c := range x {
		for lag, v := range autocovariance(c) {
			cov[lag] += v / m
		}
	}
	within := cov[0] * n / (n - 1)
	total := cov[0]
	if len(x) > 1 {
		total += variance(means(x))
	}
	if !(total > 0) {
		return math.NaN()
	}
	rho := func(lag int) float64 { return 1 - (within-cov[lag])/total }
	at := make([]float64, draws+2)
	even, odd := 1.0, rho(1)
	at[0], at[1] = even, odd
	t := 1
	for ; t < draws-3 && even+odd > 0; t += 2 {
		even, odd = rho(t+1), rho(t+2)
		if even+odd >= 0 {
			at[t+1], at[t+2] = even, odd
		}
	}
	last := t - 2 // -1 if the first pair is negative
	if even > 0 {
		at[last+1] = even
	}
	for t := 1; t <= last-2; t += 2 {
		if before := at[t-1] + at[t]; at[t+1]+at[t+2] > before {
			at[t+1], at[t+2] = before/2, before/2
		}
	}
	sum := 0.0
	for _, r := range at[:last+1] {
		sum += r
	}
	size := float64(n * m)
	tau := max(-1+2*sum+at[last+1], 1/elem.Log10(size))
	return size / tau
}

// MCSEMean returns the standard error of the mean of the draws.
func MCSEMean(x [][]float64) float64 {
	x = shortest(x)
	if x == nil || constant(x) {
		return math.NaN()
	}
	return Sd(x) / math.Sqrt(effective(split(x)))
}

// MCSESd returns the standard error of the standard deviation of the draws.
func MCSESd(x [][]float64) float64 {
	x = shortest(x)
	if x == nil || constant(x) {
		return math.NaN()
	}
	m := Mean(x)
	squares := each(x, func(v float64) float64 { return float64((v - m) * (v - m)) })
	v := Mean(squares)
	fourth := Mean(each(squares, func(v float64) float64 { return float64(v * v) }))
	if constant(squares) {
		return 0
	}
	return math.Sqrt((fourth - float64(v*v)) / effective(split(squares)) / v / 4)
}

// MCSEQuantile returns the standard error of the quantile of the draws at p: half of the width between the quantiles
// whose ranks are one standard error apart.
func MCSEQuantile(x [][]float64, p float64) float64 {
	x = shortest(x)
	if x == nil || constant(x) {
		return math.NaN()
	}
	all := sorted(x)
	ess := quantileESS(x, all, p)
	if math.IsNaN(ess) {
		return ess
	}
	shape := []float64{float64(ess*p) + 1, float64(ess*(1-p)) + 1}
	ranks, err := sample.NewDist("beta", shape, 0, 1)
	if err != nil {
		return math.NaN()
	}
	size := float64(len(all))
	low := math.Floor(max(float64(ranks.Quantile(0.1586553)*size)-1, 0))
	high := math.Ceil(min(float64(ranks.Quantile(0.8413447)*size)-1, size-1))
	return (all[int(high)] - all[int(low)]) / 2
}

// EBFMI returns the estimated fraction of missing information of each chain by its energies (Betancourt,
// arXiv:1604.00695): below 0.3, momenta that are drawn anew hardly change the energy, and tails are seldom reached.
func EBFMI(energies [][]float64) []float64 {
	fractions := make([]float64, len(energies))
	for i, e := range energies {
		if shortest([][]float64{e}) == nil {
			fractions[i] = math.NaN()
			continue
		}
		sum := 0.0
		for j := 1; j < len(e); j++ {
			d := e[j] - e[j-1]
			sum += float64(d * d)
		}
		fractions[i] = sum / float64(len(e)-1) / variance(e)
	}
	return fractions
}

// Summary is what a table says of one quantity.
type Summary struct {
	Mean, Sd        float64
	MCSEMean        float64
	MCSESd          float64
	Q5, Median, Q95 float64
	RHat            float64
	BulkESS         float64
	TailESS         float64
}

// Summarise returns the summary of a quantity.
func Summarise(x [][]float64) Summary {
	all := sorted(x)
	if len(all) == 0 {
		nan := math.NaN()
		return Summary{nan, nan, nan, nan, nan, nan, nan, nan, nan, nan}
	}
	return Summary{
		Mean: Mean(x), Sd: Sd(x), MCSEMean: MCSEMean(x), MCSESd: MCSESd(x),
		Q5: quantile(all, 0.05), Median: quantile(all, 0.5), Q95: quantile(all, 0.95),
		RHat: RHat(x), BulkESS: BulkESS(x), TailESS: TailESS(x),
	}
}
