package analysis

import (
	"math"
	"slices"
	"strconv"

	"odes.dev/odes/fit"
	"odes.dev/odes/plot"
)

// mostPairs is how many numbers a picture of pairs has at most: panels become as small as stamps.
const mostPairs = 7

// densityPoints is how many places a density is drawn at.
const densityPoints = 120

// correlation draws how estimates move together.
func correlation(_ *About, r *fit.Result) plot.Picture {
	if len(r.Correlation) < 2 {
		return nil
	}
	h := &plot.Heat{
		Title: "correlation of estimates", FirstRow: 1, FirstCol: 1, Values: r.Correlation,
		Range: plot.Range{From: -1, To: 1},
	}
	for i := range r.Estimates {
		h.RowNames = append(h.RowNames, r.Estimates[i].Text())
	}
	h.ColNames = h.RowNames
	return h
}

// told are the estimates with a standard error.
func told(r *fit.Result) (list []int) {
	for i := range r.Estimates {
		if s := r.Estimates[i].StdErr; s > 0 && !math.IsInf(s, 0) {
			list = append(list, i)
		}
	}
	return list
}

// pairs draws where pairs of estimates lie, by their errors and correlations: on the diagonal the normal density
// of each, below it the ellipses that hold half and 95 % of each pair, with the estimates of refits.
func pairs(_ *About, r *fit.Result) plot.Picture {
	of := told(r)
	if len(of) < 2 || r.Correlation == nil {
		return nil
	}
	title := "pairs of estimates, by their standard errors"
	if len(of) > mostPairs {
		of = of[:mostPairs]
		title += ": the first " + strconv.Itoa(mostPairs)
	}
	k := &plot.Corner{Title: title}
	axis := func(i int) plot.Axis {
		e := &r.Estimates[i]
		return plot.Axis{Label: e.Text(), Unit: e.Unit, Log: logarithmic(e)}
	}
	for a, i := range of {
		var row []plot.Picture
		for _, j := range of[:a] {
			row = append(row, pairOf(r, i, j, axis(j), axis(i)))
		}
		k.Rows = append(k.Rows, append(row, alone(r, i, axis(i))))
	}
	return k
}

// logarithmic reports whether the logarithm of an estimate is taken for normal.
func logarithmic(e *fit.Estimate) bool { return e.Log && e.Value > 0 }

// away returns the value so many standard errors from an estimate, of its logarithm where that was searched for, within
// its bounds.
func away(e *fit.Estimate, s float64) float64 {
	x := e.Value + s*e.StdErr
	if logarithmic(e) {
		x = e.Value * math.Exp(s*e.StdErr/e.Value)
	}
	return min(max(x, e.LowBound), e.HighBound)
}

// alone draws the normal density of an estimate, and the share of refits.
func alone(r *fit.Result, i int, x plot.Axis) plot.Picture {
	e := &r.Estimates[i]
	c := plot.Curve{Name: "density"}
	for k := -40; k <= 40; k++ {
		s := float64(k) / 10
		c.X = append(c.X, away(e, s))
		c.Y = append(c.Y, math.Exp(-s*s/2)/(e.StdErr*math.Sqrt(2*math.Pi)))
	}
	l := &plot.Lines{X: x, Y: plot.Axis{Label: "density"}, Curves: []plot.Curve{c}}
	if len(r.Bootstrap) > 0 {
		column := make([]float64, 0, len(r.Bootstrap))
		for _, row := range r.Bootstrap {
			column = append(column, row[i])
		}
		at, density := plot.Density(column, densityPoints)
		l.Curves = append(l.Curves, plot.Curve{Name: "refits", X: at, Y: density})
	}
	return l
}

// pairOf draws two estimates: j to the right and i upwards.
func pairOf(r *fit.Result, i, j int, x, y plot.Axis) plot.Picture {
	a, b, rho := &r.Estimates[j], &r.Estimates[i], r.Correlation[i][j]
	l := &plot.Lines{X: x, Y: y}
	for _, level := range []struct {
		name  string
		share float64
	}{{"95 %", 0.95}, {"50 %", 0.5}} {
		radius := math.Sqrt(-2 * math.Log(1-level.share)) // of the distribution of chi² with two degrees
		c := plot.Curve{Name: level.name, Loop: true}
		for k := 0; k <= 72; k++ {
			sin, cos := math.Sincos(2 * math.Pi * float64(k) / 72)
			c.X = append(c.X, away(a, radius*cos))
			c.Y = append(c.Y, away(b, radius*(rho*cos+math.Sqrt(max(0, 1-rho*rho))*sin)))
		}
		l.Curves = append(l.Curves, c)
	}
	if len(r.Bootstrap) > 0 {
		c := plot.Curve{Name: "refits", Dots: true, Loop: true}
		for _, row := range r.Bootstrap {
			c.X, c.Y = append(c.X, row[j]), append(c.Y, row[i])
		}
		l.Curves = append(l.Curves, c)
	}
	if slices.ContainsFunc(l.Curves, func(c plot.Curve) bool { return len(c.X) == 0 || c.X[0] != c.X[0] }) {
		return &plot.Lines{X: x, Y: y}
	}
	return l
}
