package analysis

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/front/posterior"
	"odes.dev/odes/internal/front/predictive"
	"odes.dev/odes/internal/front/report"
)

// chainColumn is the column of a file of draws that tells of which chain each is.
const chainColumn = "chain__"

// indices writes 1-based subscripts.
func indices(list []int) string {
	var parts []string
	for _, i := range list {
		parts = append(parts, strconv.Itoa(i))
	}
	return strings.Join(parts, ",")
}

// drawnEffect tells of which subject a column of a file of draws is that has a random effect, as odes sample writes it:
// eta.3, or eta.2.3 for eta[2], is of subject 3.
func drawnEffect(m *odes.Model, name string) (predictive.Effect, bool) {
	parts := strings.Split(name, ".")
	if !slices.Contains(m.RandomEffects(), parts[0]) || len(parts) < 2 {
		return predictive.Effect{}, false
	}
	var list []int
	for _, text := range parts[1:] {
		i, err := strconv.Atoi(text)
		if err != nil {
			return predictive.Effect{}, false
		}
		list = append(list, i)
	}
	n := len(list) - 1
	e := predictive.Effect{Subject: list[n], Name: parts[0]}
	if n > 0 {
		e.Name += "[" + indices(list[:n]) + "]"
	}
	return e, true
}

// drawnName returns what a column of a file of draws is called in a model: x[1,2] for x.1.2, as CmdStan writes it, and
// whether it is of a value that can be set. Columns that end in __ are statistics of chains; objectives of the model
// are what draws led to.
func drawnName(m *odes.Model, name string, symbols []odes.Symbol) (string, bool) {
	if strings.HasSuffix(name, "__") {
		return name, false
	}
	if _, is := drawnEffect(m, name); is {
		return name, false
	}
	follows := func(name string) bool {
		return slices.ContainsFunc(m.Objectives(), func(v odes.Value) bool { return v.Name == name })
	}
	for i := range symbols {
		if symbols[i].Name == name {
			return name, !follows(name)
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
	return name, !follows(name)
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
	for _, name := range slices.Sorted(maps.Keys(others)) {
		e, is := drawnEffect(m, name)
		if !is {
			continue
		}
		if d.Of == nil {
			d.Of = map[string]predictive.Effect{}
		}
		d.Of[name] = e
		d.Names = append(d.Names, name)
		for k, x := range others[name] {
			d.Rows[k] = append(d.Rows[k], x)
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

// drawsOf returns the draws of a posterior.
func drawsOf(r *posterior.Result) predictive.Draws {
	d := predictive.Draws{}
	for i := range r.Params {
		p := &r.Params[i]
		if p.Subject == "" {
			d.Names = append(d.Names, p.Text())
			continue
		}
		if d.Of == nil {
			d.Of = map[string]predictive.Effect{}
		}
		effect := p.Name
		if n := len(p.Index) - 1; n > 0 {
			effect += "[" + indices(p.Index[:n]) + "]"
		}
		d.Of[p.Text()] = predictive.Effect{Subject: p.Index[len(p.Index)-1], Name: effect}
		d.Names = append(d.Names, p.Text())
	}
	for c := range r.Chains {
		for k := range r.Chains[c].Draws() {
			row := make([]float64, len(d.Names))
			for i := range row {
				row[i] = r.Chains[c].Values[i][k]
			}
			d.Rows, d.Chains = append(d.Rows, row), append(d.Chains, c+1)
		}
	}
	return d
}

// perDatum has a column for each datum, and a row for each draw: NaN where its run failed, or where it was left out.
func perDatum(name string, r *predictive.Result, values [][]float64) report.Table {
	t := report.Table{Name: name}
	count := map[string]int{}
	for i := range r.Points {
		p := &r.Points[i]
		of := p.Observation
		if p.Experiment != "" {
			of = p.Experiment + ": " + of
		}
		count[of]++
		c := report.TableColumn{Name: fmt.Sprintf("%s[%d]", of, count[of]), Values: make([]float64, r.Of)}
		for k := range c.Values {
			c.Values[k] = math.NaN()
		}
		for k, at := range r.Kept {
			c.Values[at] = values[i][k]
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

// predictionsOf are medians and spreads as a comparison of a model with data has them.
func predictionsOf(r *predictive.Result) (list []fit.Prediction) {
	for _, p := range r.Points {
		sd := (p.High - p.Low) / (2 * 1.6448536269514722)
		residual := (p.Data - p.Median) / sd
		if p.Side != 0 {
			residual = math.NaN()
		}
		list = append(list, fit.Prediction{
			Experiment: p.Experiment, Observation: p.Observation, Unit: p.Unit, T: p.T, Data: p.Data, Side: p.Side,
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
