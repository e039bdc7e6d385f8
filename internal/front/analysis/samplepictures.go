package analysis

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/front/posterior"
	"odes.dev/odes/plot"
)

// samplePictures are the pictures of draws from a posterior.
var samplePictures = []Picture{
	{"trace", "the draws of each chain, one after the other", ofSample(traces)},
	{"ranks", "how the ranks of draws are shared among chains", ofSample(ranks)},
	{"pairs", "densities of params, and draws of each pair", ofSample(cornerOfDraws)},
	{"priors", "densities of the posterior beside those of the priors", ofSample(beside)},
	{"predictive", "the data, and where the courses of draws are", func(a *About, of any) (plot.Picture, error) {
		return bandsOfDraws(a, of.(*posterior.Result))
	}},
}

// ofSample returns what draws a picture of draws.
func ofSample(draw func(r *posterior.Result) plot.Picture) func(a *About, of any) (plot.Picture, error) {
	return func(_ *About, of any) (plot.Picture, error) { return draw(of.(*posterior.Result)), nil }
}

// Bounds of pictures of draws: points of a trace, dots of a pair, bins of ranks, and draws that are run again.
const (
	mostTraced = 500
	mostPaired = 400
	rankBins   = 20
	mostRuns   = 60
)

func axisOfParam(p *posterior.Param) plot.Axis { return plot.Axis{Label: p.Text(), Unit: p.Unit} }

// ofParams stacks a panel for each param, of as many as there is room for.
func ofParams(r *posterior.Result, title string, panel func(i int) *plot.Lines) plot.Picture {
	s := &plot.Stack{Title: title}
	n := len(r.Params)
	if n > mostPanels {
		n = mostPanels
		s.Title += fmt.Sprintf(": the first %d of %d params", n, len(r.Params))
	}
	for i := range n {
		if l := panel(i); l != nil {
			s.Panels = append(s.Panels, l)
		}
	}
	if len(s.Panels) == 0 {
		return nil
	}
	return s
}

// traces draws what each chain drew.
func traces(r *posterior.Result) plot.Picture {
	return ofParams(r, "traces", func(i int) *plot.Lines {
		l := &plot.Lines{X: plot.Axis{Label: "draw"}, Y: axisOfParam(&r.Params[i])}
		for c := range r.Chains {
			values := r.Chains[c].Values[i]
			k := plot.Curve{Name: "chain " + strconv.Itoa(c+1)}
			for at := 0; at < len(values); at += 1 + len(values)/mostTraced {
				k.X, k.Y = append(k.X, float64(at+1)), append(k.Y, values[at])
			}
			l.Curves = append(l.Curves, k)
		}
		return l
	})
}

// ranks draws how many of the draws of each chain have ranks of each twentieth among all draws: as many everywhere,
// where chains draw from the same (Vehtari and others 2021).
func ranks(r *posterior.Result) plot.Picture {
	if len(r.Column(0)) < 2 {
		return nil
	}
	return ofParams(r, "ranks", func(i int) *plot.Lines {
		type draw struct {
			x     float64
			chain int
		}
		var all []draw
		for c, values := range r.Column(i) {
			for _, x := range values {
				all = append(all, draw{x, c})
			}
		}
		slices.SortStableFunc(all, func(a, b draw) int {
			switch {
			case a.x < b.x:
				return -1
			case a.x > b.x:
				return 1
			}
			return 0
		})
		chains := len(r.Column(i))
		counts := make([][rankBins]float64, chains)
		for rank, d := range all {
			counts[d.chain][rank*rankBins/len(all)]++
		}
		l := &plot.Lines{
			X: plot.Axis{Label: "rank among all draws"},
			Y: plot.Axis{Label: "draws of " + r.Params[i].Text(), Range: plot.Range{From: 0, To: 1}},
		}
		most := 0.0
		for c := range chains {
			k := plot.Curve{Name: "chain " + strconv.Itoa(c+1), Loop: true}
			for b, n := range counts[c] {
				from, to := b*len(all)/rankBins, (b+1)*len(all)/rankBins
				k.X, k.Y = append(k.X, float64(from), float64(to)), append(k.Y, n, n)
				most = max(most, n)
			}
			l.Curves = append(l.Curves, k)
		}
		l.Y.Range.To = most * 1.1
		return l
	})
}

// column returns all draws of a param.
func column(r *posterior.Result, i int) []float64 { return slices.Concat(r.Column(i)...) }

// cornerOfDraws draws the density of each param, and below it the draws of each pair.
func cornerOfDraws(r *posterior.Result) plot.Picture {
	n := len(r.Params)
	k := &plot.Corner{Title: "draws of pairs of params"}
	if n > mostPairs {
		k.Title += fmt.Sprintf(": the first %d of %d", mostPairs, n)
		n = mostPairs
	}
	columns := make([][]float64, n)
	for i := range columns {
		columns[i] = column(r, i)
	}
	for i := range n {
		var row []plot.Picture
		for j := range i {
			c := plot.Curve{Name: "", Dots: true, Loop: true}
			for at := 0; at < len(columns[i]); at += 1 + len(columns[i])/mostPaired {
				c.X, c.Y = append(c.X, columns[j][at]), append(c.Y, columns[i][at])
			}
			row = append(row, &plot.Lines{
				X: axisOfParam(&r.Params[j]), Y: axisOfParam(&r.Params[i]), Curves: []plot.Curve{c},
			})
		}
		at, density := plot.Density(columns[i], densityPoints)
		own := &plot.Lines{
			X: axisOfParam(&r.Params[i]), Y: plot.Axis{Label: "density"},
			Curves: []plot.Curve{{Name: "density", X: at, Y: density}},
		}
		k.Rows = append(k.Rows, append(row, own))
	}
	return k
}

// beside draws the density of the posterior beside that of the prior, where there is one of its own.
func beside(r *posterior.Result) plot.Picture {
	return ofParams(r, "", func(i int) *plot.Lines {
		p := &r.Params[i]
		at, density := plot.Density(column(r, i), densityPoints)
		l := &plot.Lines{
			X: axisOfParam(p), Y: plot.Axis{Label: "density"},
			Curves: []plot.Curve{{Name: "posterior", X: at, Y: density}},
		}
		if p.Prior != nil {
			c := plot.Curve{Name: "prior"}
			const n = 200
			last := p.Prior(0.002)
			for k := 1; k < n; k++ { // the density is the inverse of the slope of quantiles
				share := 0.002 + 0.996*float64(k)/(n-1)
				x := p.Prior(share)
				if x > last {
					c.X, c.Y = append(c.X, (x+last)/2), append(c.Y, 0.996/(n-1)/(x-last))
				}
				last = x
			}
			l.Curves = append(l.Curves, c)
			if len(at) > 1 && len(c.X) > 0 { // a wide prior does not hide the posterior
				lo, hi := at[0], at[len(at)-1]
				room := hi - lo
				l.X.Range = plot.Range{
					From: max(lo-room, min(lo, c.X[0])), To: min(hi+room, max(hi, c.X[len(c.X)-1])),
				}
			}
		}
		return l
	})
}

// bandsOfDraws draws the data over where the courses of draws are: half and nine tenths of them, and their median. What
// the noise adds stands as bars at the data.
func bandsOfDraws(a *About, r *posterior.Result) (plot.Picture, error) {
	if a.With == nil {
		return nil, errors.New("a model that is read from a pipe is not run again: there are no courses of draws")
	}
	sets := setsOf(r)
	if len(sets) == 0 {
		return nil, nil
	}
	var first []fit.Prediction
	courses := map[[2]string][][]float64{}
	times := map[[2]string][]float64{}
	for i, set := range sets {
		of := a.With(set)
		if i == 0 {
			var err error
			if first, err = of.Data(); err != nil {
				return nil, err
			}
		}
		for _, g := range groups(&fit.Result{Predictions: first}) {
			key := [2]string{g.rows[0].Experiment, g.rows[0].Observation}
			t, y := of.course(key[0], key[1])
			if t == nil {
				continue
			}
			if times[key] == nil {
				times[key] = grid(t)
			}
			row := make([]float64, len(times[key]))
			for k, at := range times[key] {
				row[k] = plot.At(t, y, at)
			}
			courses[key] = append(courses[key], row)
		}
	}
	p := overGroups(a, &fit.Result{Predictions: first}, "value", func(g *group) plot.Curve {
		key := [2]string{g.rows[0].Experiment, g.rows[0].Observation}
		c := plot.Curve{Name: g.name, X: times[key], Y: quantiles(courses[key], 0.5)}
		for _, row := range g.inTime() {
			c.PX, c.PY, c.Spread = append(c.PX, row.T), append(c.PY, row.Data), append(c.Spread, row.Scatter)
			c.Side = append(c.Side, row.Side)
		}
		return c
	}, true)
	if p == nil {
		return nil, nil
	}
	for _, g := range groups(&fit.Result{Predictions: first}) {
		key := [2]string{g.rows[0].Experiment, g.rows[0].Observation}
		for _, panel := range p.(*plot.Stack).Panels {
			l := panel.(*plot.Lines)
			k := slices.IndexFunc(l.Curves, func(c plot.Curve) bool { return c.Name == g.name })
			if l.Title != key[1] || k < 0 || len(courses[key]) == 0 {
				continue
			}
			for _, b := range []struct {
				name string
				low  float64
			}{{"90 % of draws", 0.05}, {"50 % of draws", 0.25}} {
				l.Bands = append(l.Bands, plot.Band{
					Name: b.name, Curve: k + 1, X: times[key],
					Lo: quantiles(courses[key], b.low), Hi: quantiles(courses[key], 1-b.low),
				})
			}
		}
	}
	return p, nil
}

// grid is where courses are compared: they have times of their own.
func grid(t []float64) []float64 {
	const n = 200
	out := make([]float64, n)
	for k := range out {
		out[k] = t[0] + (t[len(t)-1]-t[0])*float64(k)/(n-1)
	}
	out[n-1] = t[len(t)-1]
	return out
}

// quantiles are those of each column of rows, NaN where fewer than half have a number.
func quantiles(rows [][]float64, p float64) (out []float64) {
	if len(rows) == 0 {
		return nil
	}
	for k := range rows[0] {
		var values []float64
		for _, row := range rows {
			if x := row[k]; x-x == 0 {
				values = append(values, x)
			}
		}
		slices.Sort(values)
		if 2*len(values) < len(rows) {
			out = append(out, math.NaN())
			continue
		}
		at := p * float64(len(values)-1)
		i := min(int(at), len(values)-1)
		next := values[min(i+1, len(values)-1)]
		out = append(out, values[i]+(at-float64(i))*(next-values[i]))
	}
	return out
}

// setsOf returns the values of some draws, evenly among all, as assignments.
func setsOf(r *posterior.Result) (sets [][]odes.Assignment) {
	columns := make([][]float64, len(r.Params))
	for i := range columns {
		columns[i] = column(r, i)
	}
	if len(columns) == 0 {
		return nil
	}
	n := len(columns[0])
	for k := range min(n, mostRuns) {
		at := (2*k + 1) * n / (2 * min(n, mostRuns))
		var set []odes.Assignment
		for i := range r.Params {
			name := r.Params[i].Name
			if r.Params[i].Subject != "" { // not of all experiments
				continue
			}
			if len(set) > 0 && set[len(set)-1].Name == name { // elements stand in their order
				last := &set[len(set)-1]
				last.Values = append(last.Values, columns[i][at])
				continue
			}
			set = append(set, odes.Assignment{Name: name, Values: []float64{columns[i][at]}})
		}
		sets = append(sets, set)
	}
	return sets
}
