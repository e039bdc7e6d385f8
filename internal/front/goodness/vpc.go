package goodness

import (
	"math"
	"slices"
)

// Check is a visual predictive check of an observation: quantiles of the data over time, beside those of simulated
// data.
type Check struct {
	Observation, Unit string
	Corrected         bool // for predictions
	Probabilities     []float64
	Bins              []Bin
	T, Data           []float64 // the data, corrected as all else
	LeftOut           int       // data that could not be corrected: their prediction is zero
}

// Bin is data of about the same time.
type Bin struct {
	T, From, To float64 // the median of the times, and their range
	N           int
	Observed    []float64 // quantiles of the data
	// Low, Median and High are what these quantiles are in simulated data: 2.5, 50 and 97.5 % of the replicates.
	Low, Median, High []float64
}

// probabilities are those of the quantiles of a check.
var probabilities = []float64{0.05, 0.5, 0.95}

// Checks returns the visual predictive check of each observation. Corrected ones have all data, and what is simulated
// for them, times the median prediction of their bin over their own one (Bergstrand and others 2011).
func (r *Result) Checks(corrected bool) (list []Check) {
	var names []string
	for i := range r.Rows {
		if !slices.Contains(names, r.Rows[i].Observation) {
			names = append(names, r.Rows[i].Observation)
		}
	}
	for _, name := range names {
		c := Check{Observation: name, Corrected: corrected, Probabilities: probabilities}
		var at []int
		for i := range r.Rows {
			switch x := &r.Rows[i]; {
			case x.Observation != name || math.IsInf(x.T, 0) || i >= len(r.Simulated):
			case corrected && !(x.Pred > 0):
				c.LeftOut++
			default:
				c.Unit = x.Unit
				at = append(at, i)
			}
		}
		slices.SortStableFunc(at, func(a, b int) int { return compare(r.Rows[a].T, r.Rows[b].T) })
		for _, bin := range r.bins(at) {
			c.add(r, bin)
		}
		if len(c.Bins) > 0 {
			list = append(list, c)
		}
	}
	return list
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// mostBins is how many bins a check has at most.
const mostBins = 12

// bins parts rows in the order of time: as many bins as there are times, or else bins of about as many rows. Rows of
// one time stay together.
func (r *Result) bins(at []int) (list [][]int) {
	times := 0
	for k := range at {
		if k == 0 || r.Rows[at[k]].T != r.Rows[at[k-1]].T {
			times++
		}
	}
	n := mostBins
	if times > mostBins {
		n = min(mostBins, max(3, len(at)/8))
	}
	for k, i := range at {
		same := k > 0 && r.Rows[i].T == r.Rows[at[k-1]].T
		begins := k == 0 || !same && (times <= mostBins || k*n/len(at) > (k-len(list[len(list)-1]))*n/len(at))
		if begins {
			list = append(list, nil)
		}
		list[len(list)-1] = append(list[len(list)-1], i)
	}
	return list
}

// add adds a bin.
func (c *Check) add(r *Result, rows []int) {
	column := func(of func(i int) float64) []float64 {
		list := make([]float64, len(rows))
		for k, i := range rows {
			list[k] = of(i)
		}
		slices.Sort(list)
		return list
	}
	times := column(func(i int) float64 { return r.Rows[i].T })
	b := Bin{T: quantile(times, 0.5), From: times[0], To: times[len(times)-1], N: len(rows)}
	factor := func(int) float64 { return 1 }
	if c.Corrected {
		middle := quantile(column(func(i int) float64 { return r.Rows[i].Pred }), 0.5)
		factor = func(i int) float64 { return middle / r.Rows[i].Pred }
	}
	data := column(func(i int) float64 { return factor(i) * r.Rows[i].Data })
	for _, i := range rows {
		c.T, c.Data = append(c.T, r.Rows[i].T), append(c.Data, factor(i)*r.Rows[i].Data)
	}
	simulated := make([][]float64, len(c.Probabilities))
	for k := range r.Simulated[rows[0]] {
		made := column(func(i int) float64 { return factor(i) * r.Simulated[i][k] })
		for q, p := range c.Probabilities {
			simulated[q] = append(simulated[q], quantile(made, p))
		}
	}
	for q, p := range c.Probabilities {
		slices.Sort(simulated[q])
		b.Observed = append(b.Observed, quantile(data, p))
		b.Low = append(b.Low, quantile(simulated[q], 0.025))
		b.Median = append(b.Median, quantile(simulated[q], 0.5))
		b.High = append(b.High, quantile(simulated[q], 0.975))
	}
	c.Bins = append(c.Bins, b)
}

// quantile interpolates between sorted numbers (type 7 of Hyndman and Fan).
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := int(at)
	next := min(i+1, len(sorted)-1)
	return sorted[i] + (at-float64(i))*(sorted[next]-sorted[i])
}
