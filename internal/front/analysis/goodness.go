package analysis

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/front/goodness"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/plot"
)

// predictReplicates is how many sets of data are drawn for NPDE and visual predictive checks, unless more are asked
// for: as many as NONMEM has.
const predictReplicates = 300

// predictPictures are the pictures of a comparison with data.
var predictPictures = append(onPredictions(fitPictures[2:5]),
	Picture{"gof", "of a population: goodness of fit, data over PRED and IPRED, and residuals", ofPeople(fitness)},
	Picture{"individuals", "of a population: the data of each subject, with PRED and IPRED over time", individuals},
	Picture{
		"vpc", "of a population: quantiles of data over time beside simulated ones, a visual predictive check",
		ofPeople(func(a *About, r *goodness.Result) plot.Picture { return check(a, r, false) }),
	},
	Picture{
		"pcvpc", "the same, prediction-corrected",
		ofPeople(func(a *About, r *goodness.Result) plot.Picture { return check(a, r, true) }),
	},
	Picture{"covariates", "of a population: the modes of random effects (EBEs) over covariates", ofPeople(covariates)},
)

// onPredictions makes pictures of fits those of comparisons with data, of populations too.
func onPredictions(list []Picture) (out []Picture) {
	for _, p := range list {
		draw := p.Draw
		p.Draw = func(a *About, of any) (plot.Picture, error) {
			if r, is := of.(*goodness.Result); is {
				of = &fit.Result{Predictions: r.Predictions}
			}
			return draw(a, of)
		}
		out = append(out, p)
	}
	return out
}

var errNoPopulation = errors.New("this picture is of models with random effects: random e ~ normal(0, w)")

// ofPeople returns what draws a picture of a population.
func ofPeople(draw func(a *About, r *goodness.Result) plot.Picture) func(a *About, of any) (plot.Picture, error) {
	return func(a *About, of any) (plot.Picture, error) {
		r, is := of.(*goodness.Result)
		if !is {
			return nil, errNoPopulation
		}
		return draw(a, r), nil
	}
}

// populated compares a population with its data.
func populated(ctx context.Context, m *odes.Model, o goodness.Options) (*Result, error) {
	if o.Replicates == 0 {
		o.Replicates = predictReplicates
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	r, err := goodness.Run(ctx, m, o)
	if err != nil {
		return nil, err
	}
	tables := peopleTables(r)
	alone := &report.Tables{Tables: tables.Tables[:1]}
	status := ""
	if r.Partial {
		status = "partial"
	}
	return &Result{
		Status: status, Warnings: r.Warnings, Tables: tables, Of: r,
		Write: func(f *report.Format, w io.Writer, h report.Heading, opts report.TableOptions) error {
			switch f.Name {
			case "csv":
				return peopleCSV(w, h, r)
			case "parquet":
				return f.Tables(w, h, alone, opts)
			}
			return f.Tables(w, h, tables, opts)
		},
	}, nil
}

// numbersOf are the columns of a row of a population.
var numbersOf = []struct {
	name string
	of   func(x *goodness.Row) float64
}{
	{"t", func(x *goodness.Row) float64 { return x.T }},
	{"DV", func(x *goodness.Row) float64 { return x.Data }},
	{"PRED", func(x *goodness.Row) float64 { return x.Pred }},
	{"IPRED", func(x *goodness.Row) float64 { return x.IPred }},
	{"IWRES", func(x *goodness.Row) float64 { return x.IWRes }},
	{"CWRES", func(x *goodness.Row) float64 { return x.CWRes }},
	{"NPDE", func(x *goodness.Row) float64 { return x.NPDE }},
	{"below", func(x *goodness.Row) float64 { return float64(max(-x.Side, 0)) }},
	{"above", func(x *goodness.Row) float64 { return float64(max(x.Side, 0)) }},
}

// peopleTables returns the rows, the modes of the subjects, and the visual predictive checks.
func peopleTables(r *goodness.Result) *report.Tables {
	p := r.Population
	t := &report.Tables{Facts: []report.Fact{
		{Name: "OFV", Value: p.OFV},
		{Name: "subjects", Value: float64(len(p.Subjects))},
		{Name: "measurements", Value: float64(p.Measurements)},
	}}
	rows := report.Table{Name: "predictions"}
	for _, n := range numbersOf {
		c := report.TableColumn{Name: n.name}
		for i := range r.Rows {
			c.Values = append(c.Values, n.of(&r.Rows[i]))
		}
		rows.Columns = append(rows.Columns, c)
	}
	several := slices.ContainsFunc(r.Rows, func(x goodness.Row) bool { return x.Observation != r.Rows[0].Observation })
	for i := range r.Rows {
		label := r.Rows[i].Subject
		if several || label == "" {
			label += " " + r.Rows[i].Observation
		}
		rows.Labels = append(rows.Labels, label)
	}
	effects := report.Table{Name: "effects"}
	for k, name := range p.Effects {
		mode, err := report.TableColumn{Name: name}, report.TableColumn{Name: "se " + name}
		for i := range p.Subjects {
			a, b := math.NaN(), math.NaN()
			if s := &p.Subjects[i]; s.Mode != nil {
				a, b = s.Mode[k], s.Errors[k]
			}
			mode.Values, err.Values = append(mode.Values, a), append(err.Values, b)
		}
		effects.Columns = append(effects.Columns, mode, err)
	}
	for i := range p.Subjects {
		effects.Labels = append(effects.Labels, p.Subjects[i].Name)
	}
	t.Tables = append(t.Tables, rows, effects)
	for _, corrected := range []bool{false, true} {
		for _, c := range r.Checks(corrected) {
			name := "vpc of " + c.Observation
			if corrected {
				name = "pc" + name
			}
			t.Tables = append(t.Tables, checkTable(name, &c))
		}
	}
	return t
}

func checkTable(name string, c *goodness.Check) report.Table {
	t := report.Table{Name: name}
	add := func(name string, of func(b *goodness.Bin) float64) {
		x := report.TableColumn{Name: name}
		for i := range c.Bins {
			x.Values = append(x.Values, of(&c.Bins[i]))
		}
		t.Columns = append(t.Columns, x)
	}
	add("t", func(b *goodness.Bin) float64 { return b.T })
	add("n", func(b *goodness.Bin) float64 { return float64(b.N) })
	for q, p := range c.Probabilities {
		of := strconv.FormatFloat(100*p, 'g', -1, 64) + " %"
		add("data "+of, func(b *goodness.Bin) float64 { return b.Observed[q] })
		add("low "+of, func(b *goodness.Bin) float64 { return b.Low[q] })
		add("median "+of, func(b *goodness.Bin) float64 { return b.Median[q] })
		add("high "+of, func(b *goodness.Bin) float64 { return b.High[q] })
	}
	return t
}

// peopleCSV writes a line for each row.
func peopleCSV(to io.Writer, _ report.Heading, r *goodness.Result) error {
	buffer := bufio.NewWriter(to)
	w := csv.NewWriter(buffer)
	line := []string{"experiment", "observation", "row"}
	for _, n := range numbersOf {
		line = append(line, n.name)
	}
	w.Write(append(line, r.Population.Effects...))
	for i := range r.Rows {
		x := &r.Rows[i]
		line = append(line[:0], x.Subject, x.Observation, strconv.Itoa(x.Line+1))
		number := func(v float64) {
			text := strconv.FormatFloat(v, 'g', -1, 64)
			switch {
			case math.IsNaN(v):
				text = ""
			case math.IsInf(v, 1):
				text = "inf"
			}
			line = append(line, text)
		}
		for _, n := range numbersOf {
			number(n.of(x))
		}
		at := slices.IndexFunc(r.Population.Subjects, func(s odes.Subject) bool { return s.Name == x.Subject })
		for k := range r.Population.Effects {
			v := math.NaN()
			if at >= 0 && r.Population.Subjects[at].Mode != nil {
				v = r.Population.Subjects[at].Mode[k]
			}
			number(v)
		}
		w.Write(line)
	}
	if w.Flush(); w.Error() != nil {
		return w.Error()
	}
	return buffer.Flush()
}

// fitness draws goodness of fit: a row of panels for each observation.
func fitness(a *About, r *goodness.Result) plot.Picture {
	s := &plot.Stack{Columns: 2}
	var names []string
	for i := range r.Rows {
		if !slices.Contains(names, r.Rows[i].Observation) {
			names = append(names, r.Rows[i].Observation)
		}
	}
	time := timeAxis(a.Info)
	for _, name := range names {
		unit := ""
		for i := range r.Rows {
			if r.Rows[i].Observation == name {
				unit = r.Rows[i].Unit
			}
		}
		of := func(label string) plot.Axis { return plot.Axis{Label: label, Unit: unit} }
		none := func(label string) plot.Axis { return plot.Axis{Label: label} }
		pred := func(x *goodness.Row) float64 { return x.Pred }
		at := func(x *goodness.Row) float64 { return x.T }
		for _, p := range []struct {
			x, y  plot.Axis
			a, b  func(x *goodness.Row) float64
			equal bool
		}{
			{of("PRED"), of("DV"), pred, func(x *goodness.Row) float64 { return x.Data }, true},
			{
				of("IPRED"), of("DV"), func(x *goodness.Row) float64 { return x.IPred },
				func(x *goodness.Row) float64 { return x.Data }, true,
			},
			{of("PRED"), none("CWRES"), pred, func(x *goodness.Row) float64 { return x.CWRes }, false},
			{time, none("CWRES"), at, func(x *goodness.Row) float64 { return x.CWRes }, false},
			{
				of("IPRED"), none("IWRES"), func(x *goodness.Row) float64 { return x.IPred },
				func(x *goodness.Row) float64 { return x.IWRes }, false,
			},
			{time, none("NPDE"), at, func(x *goodness.Row) float64 { return x.NPDE }, false},
		} {
			c := plot.Curve{Name: name, Dots: true, Loop: true}
			lo, hi := math.Inf(1), math.Inf(-1)
			for i := range r.Rows {
				x := &r.Rows[i]
				if x.Observation != name || x.Side != 0 {
					continue
				}
				u, v := p.a(x), p.b(x)
				if u-u != 0 || v-v != 0 {
					continue
				}
				c.X, c.Y = append(c.X, u), append(c.Y, v)
				if lo, hi = min(lo, u), max(hi, u); p.equal {
					lo, hi = min(lo, v), max(hi, v)
				}
			}
			if len(c.X) == 0 {
				continue
			}
			l := &plot.Lines{Title: name, X: p.x, Y: p.y, Curves: []plot.Curve{c}}
			line := plot.Curve{Name: "0", X: []float64{lo, hi}, Y: []float64{0, 0}}
			if p.equal {
				line.Name, line.Y = "equal", line.X
			}
			l.Curves = append(l.Curves, line)
			s.Panels = append(s.Panels, l)
		}
	}
	if len(s.Panels) == 0 {
		return nil
	}
	return s
}

// mostIndividuals is how many subjects have a panel.
const mostIndividuals = 24

// individuals draws a panel for each subject and observation.
func individuals(a *About, of any) (plot.Picture, error) {
	r, is := of.(*goodness.Result)
	if !is {
		return nil, errNoPopulation
	}
	courses, err := r.Courses(context.Background())
	if err != nil {
		return nil, err
	}
	s := &plot.Stack{Columns: 3}
	for i := range courses {
		c := &courses[i]
		if len(s.Panels) == mostIndividuals {
			s.Title = fmt.Sprintf("the first %d of %d subjects", mostIndividuals, len(courses))
			break
		}
		ipred := plot.Curve{Name: "IPRED", X: c.T, Y: c.IPred}
		l := &plot.Lines{
			Title: c.Subject + " " + c.Observation, X: timeAxis(a.Info), Y: plot.Axis{Label: c.Observation},
		}
		for k := range r.Rows {
			x := &r.Rows[k]
			if x.Subject != c.Subject || x.Observation != c.Observation {
				continue
			}
			l.Y.Unit = x.Unit
			ipred.PX, ipred.PY, ipred.Side = append(ipred.PX, x.T), append(ipred.PY, x.Data), append(ipred.Side, x.Side)
		}
		l.Curves = append(l.Curves, ipred, plot.Curve{Name: "PRED", X: c.T, Y: c.Pred})
		s.Panels = append(s.Panels, l)
	}
	if len(s.Panels) == 0 {
		return nil, nil
	}
	return s, nil
}

// check draws visual predictive checks.
func check(a *About, r *goodness.Result, corrected bool) plot.Picture {
	s := &plot.Stack{}
	for _, c := range r.Checks(corrected) {
		title := "visual predictive check of " + c.Observation
		if corrected {
			title += ", prediction-corrected"
			if c.LeftOut > 0 {
				title += fmt.Sprintf(" (%d data with a prediction of zero are left out)", c.LeftOut)
			}
		}
		l := &plot.Lines{Title: title, X: timeAxis(a.Info), Y: plot.Axis{Label: c.Observation, Unit: c.Unit}}
		for q, p := range c.Probabilities {
			k := plot.Curve{Name: strconv.FormatFloat(100*p, 'g', -1, 64) + " % of the data"}
			band := plot.Band{Name: "simulated " + strconv.FormatFloat(100*p, 'g', -1, 64) + " %", Curve: q + 1}
			for i := range c.Bins {
				b := &c.Bins[i]
				k.X, k.Y = append(k.X, b.T), append(k.Y, b.Observed[q])
				band.X, band.Lo, band.Hi = append(band.X, b.T), append(band.Lo, b.Low[q]), append(band.Hi, b.High[q])
			}
			l.Curves, l.Bands = append(l.Curves, k), append(l.Bands, band)
		}
		l.Curves = append(l.Curves, plot.Curve{Name: "data", X: c.T, Y: c.Data, Dots: true, Loop: true})
		s.Panels = append(s.Panels, l)
	}
	if len(s.Panels) == 0 {
		return nil
	}
	return s
}

// covariates draws the modes of each random effect over each covariate.
func covariates(_ *About, r *goodness.Result) plot.Picture {
	s := &plot.Stack{Columns: 2}
	for k, name := range r.Population.Effects {
		for _, c := range r.Covariates {
			dots := plot.Curve{Name: name, Dots: true, Loop: true}
			for i := range r.Population.Subjects {
				if m := r.Population.Subjects[i].Mode; m != nil && c.Values[i]-c.Values[i] == 0 {
					dots.X, dots.Y = append(dots.X, c.Values[i]), append(dots.Y, m[k])
				}
			}
			if len(dots.X) == 0 {
				continue
			}
			s.Panels = append(s.Panels, &plot.Lines{
				X: plot.Axis{Label: c.Name, Unit: c.Unit}, Y: plot.Axis{Label: name}, Curves: []plot.Curve{
					dots, {Name: "0", X: []float64{slices.Min(dots.X), slices.Max(dots.X)}, Y: []float64{0, 0}},
				},
			})
		}
	}
	if len(s.Panels) == 0 {
		return nil
	}
	return s
}
