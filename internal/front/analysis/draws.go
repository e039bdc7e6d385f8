package analysis

import (
	"context"
	"math"
	"strconv"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/front/predictive"
	"odes.dev/odes/internal/front/report"
)

// chainColumn is the column of a file of draws that tells of which chain each is.
const chainColumn = "chain__"

// drawnName returns what a column of a file of draws is called in a model: x[1,2] for x.1.2, as CmdStan writes it, and
// whether it is of a value that can be set. Columns that end in __ are statistics of chains; objectives of the model
// are what draws led to.
func drawnName(m *odes.Model, name string, symbols []odes.Symbol) (string, bool) {
	if strings.HasSuffix(name, "__") {
		return name, false
	}
	for i := range symbols {
		if symbols[i].Name == name {
			return name, true
		}
	}
	base, index := name, ""
	for {
		at := strings.LastIndexByte(base, '.')
		if at < 0 {
			break
		}
		if _, err := strconv.Atoi(base[at+1:]); err != nil {
			break
		}
		base, index = base[:at], "."+base[at+1:]+index
	}
	if index != "" {
		name = base + "[" + strings.ReplaceAll(index[1:], ".", ",") + "]"
	}
	for _, v := range m.Objectives() {
		if v.Name == name {
			return name, false
		}
	}
	return name, true
}

// readDraws reads a file of draws, as odes sample -o or CmdStan writes it.
func readDraws(m *odes.Model, path string, seen *input.Seen) (predictive.Draws, error) {
	names, rows, others, err := readColumns(m, path, seen)
	if err != nil {
		return predictive.Draws{}, err
	}
	d := predictive.Draws{Names: names, Rows: rows}
	if c := others[chainColumn]; c != nil {
		for _, x := range c {
			d.Chains = append(d.Chains, int(x))
		}
	}
	if len(names) == 0 {
		return d, Wrongf("%s has no column that is a param of the model", path)
	}
	return d, nil
}

// predictedBy is what draws predict.
func predictedBy(ctx context.Context, a *Ask) (*Result, error) {
	d, err := readDraws(a.Model, a.Values["draws"], a.Seen)
	if err != nil {
		return nil, err
	}
	o := predictive.Options{Options: a.Options, Seed: 1}
	if n := a.Values["seed"]; n != "" {
		o.Seed = uint64(a.Values.Number("seed"))
	}
	if tell := a.Tell; tell != nil {
		o.Tell = func(done, of int) {
			tell(Progress{Phase: odes.PhaseRuns, Steps: done, Done: float64(done) / float64(of)})
		}
	}
	r, err := predictive.Run(ctx, a.Model, d, o)
	if err != nil {
		return nil, wrong(ctx, err)
	}
	t := predictedTables(r)
	return &Result{
		Status: r.Status, Warnings: r.Warnings, Tables: t, Head: nil,
		Of: &fit.Result{Predictions: predictionsOf(r)},
	}, nil
}

// predictionsOf are medians and spreads as a comparison of a model with data has them.
func predictionsOf(r *predictive.Result) (list []fit.Prediction) {
	for _, p := range r.Points {
		sd := (p.High - p.Low) / (2 * 1.6448536269514722)
		residual := (p.Data - p.Median) / sd
		if p.Below {
			residual = math.NaN()
		}
		list = append(list, fit.Prediction{
			Experiment: p.Experiment, Observation: p.Observation, Unit: p.Unit, T: p.T, Data: p.Data, Below: p.Below,
			Value: p.Median, Error: (p.Q95 - p.Q5) / (2 * 1.6448536269514722), Scatter: sd, Residual: residual,
		})
	}
	return list
}

// predictedTables returns what draws predict: of the whole, of each datum, and of statistics of the data.
func predictedTables(r *predictive.Result) *report.Tables {
	t := &report.Tables{Facts: []report.Fact{
		{Name: "draws", Value: float64(r.Draws - r.Failed), Text: strconv.Itoa(r.Draws - r.Failed)},
		{Name: "elpd_loo", Value: r.LOO.ELPD},
		{Name: "se", Value: r.LOO.SE},
		{Name: "p_loo", Value: r.LOO.P},
		{Name: "data with large k", Value: float64(len(r.LOO.Bad)), Text: strconv.Itoa(len(r.LOO.Bad))},
	}}
	data := report.Table{Name: "predictions"}
	column := func(name string, of func(p *predictive.Point) float64) {
		c := report.TableColumn{Name: name}
		for i := range r.Points {
			c.Values = append(c.Values, of(&r.Points[i]))
		}
		data.Columns = append(data.Columns, c)
	}
	for i := range r.Points {
		label := r.Points[i].Observation
		if e := r.Points[i].Experiment; e != "" {
			label = e + ": " + label
		}
		data.Labels = append(data.Labels, label)
	}
	column("t", func(p *predictive.Point) float64 { return p.T })
	column("data", func(p *predictive.Point) float64 { return p.Data })
	column("mean", func(p *predictive.Point) float64 { return p.Mean })
	column("5 %", func(p *predictive.Point) float64 { return p.Q5 })
	column("95 %", func(p *predictive.Point) float64 { return p.Q95 })
	column("data 5 %", func(p *predictive.Point) float64 { return p.Low })
	column("data 95 %", func(p *predictive.Point) float64 { return p.High })
	column("share below", func(p *predictive.Point) float64 { return p.PIT })
	column("elpd", func(p *predictive.Point) float64 { return p.ELPD })
	column("k", func(p *predictive.Point) float64 { return p.K })
	checks := report.Table{Name: "checks", Columns: []report.TableColumn{
		{Name: "data"}, {Name: "5 %"}, {Name: "median"}, {Name: "95 %"}, {Name: "share above"},
	}}
	for _, c := range r.Checks {
		checks.Labels = append(checks.Labels, c.Statistic+" of "+c.Observation)
		for i, x := range []float64{c.Data, c.Q5, c.Median, c.Q95, c.P} {
			checks.Columns[i].Values = append(checks.Columns[i].Values, x)
		}
	}
	if t.Tables = append(t.Tables, data); len(checks.Labels) > 0 {
		t.Tables = append(t.Tables, checks)
	}
	return t
}
