package analysis

import (
	"bufio"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/simulate"
)

// simulated draws data.
var simulated = &Row{
	Name: "simulate", Block: "simulate",
	Help: "Simulate data: predictions of the model with random noise, at the rows of its table.",
	Flags: []Flag{
		{Name: "seed", Key: "seed", Placeholder: "N", Help: "Seed of the random numbers: a whole number from 1."},
		{Name: "replicates", Key: "replicates", Placeholder: "N", Help: "Number of sets of data."},
		{Name: "prior", Key: "prior", Help: "Draw params from their priors first, for each set anew."},
		{
			Name: "times", Key: "times", Placeholder: "TIMES",
			Help: "Times in place of those of the table: 0:1:24 or [0,1,5].",
		},
		{
			Name: "table", Key: "table", Placeholder: "NAME",
			Help: "Which table of the model, where it observes several.",
		},
	},
	Examples: []Example{
		{"odes simulate model.ode --seed 1 -o data.csv", "simulated data in the form of its table"},
		{"odes simulate model.ode --times 0:0.5:24", "at these times, from 0 to 24"},
		{"odes simulate model.ode --prior --replicates 100 -o data.csv", "each set with params drawn " +
			"from the priors, in columns true_…"},
	},
	Run: func(ctx context.Context, m *odes.Model, o odes.Options) (*Result, error) {
		r, err := simulate.Run(ctx, m, o)
		if err != nil {
			return nil, err
		}
		tables := simulatedTables(r)
		return &Result{
			Status: r.Status, Warnings: r.Warnings, Tables: tables,
			Write: func(f *report.Format, w io.Writer, h report.Heading, opts report.TableOptions) error {
				if f.Name == "csv" {
					return dataCSV(w, h, r)
				}
				return f.Tables(w, h, tables, opts)
			},
		}, nil
	},
}

// simulatedTables returns the data as one table, whose texts are labels, and the params that were drawn as another.
func simulatedTables(r *simulate.Result) *report.Tables {
	t := &report.Tables{Facts: []report.Fact{
		{Name: "seed", Value: float64(r.Settings.Seed)}, {Name: "replicates", Value: float64(len(r.Replicates))},
	}}
	data, params := report.Table{Name: r.Table.Name}, report.Table{Name: "params"}
	at := 0
	column := func(name, unit string, of func(r *simulate.Replicate, row int) float64) {
		c := report.TableColumn{Name: name, Unit: unit}
		for i := range r.Replicates {
			for row := range r.Rows() {
				c.Values = append(c.Values, of(&r.Replicates[i], row))
			}
		}
		data.Columns = append(data.Columns, c)
	}
	if r.Settings.Replicates > 1 {
		column("replicate", "", func(r *simulate.Replicate, _ int) float64 { return float64(r.Number) })
	}
	for k, c := range r.Table.Columns {
		switch {
		case r.Observed[k]:
			observed := at
			column(c.Name, c.Unit, func(r *simulate.Replicate, row int) float64 { return r.Data[observed][row] })
			at++
		case c.Texts == nil:
			column(c.Name, c.Unit, func(_ *simulate.Replicate, row int) float64 { return c.Values[row] })
		}
	}
	for i := range r.Replicates {
		for row := range r.Rows() {
			var label []string
			for _, c := range r.Table.Columns {
				if c.Texts != nil {
					label = append(label, c.Texts[row])
				}
			}
			data.Labels = append(data.Labels, strings.Join(label, ", "))
		}
		for k, p := range r.Replicates[i].Params {
			if i == 0 {
				params.Columns = append(params.Columns, report.TableColumn{Name: p.Name})
			}
			params.Columns[k].Values = append(params.Columns[k].Values, p.Value)
		}
	}
	if t.Tables = append(t.Tables, data); len(params.Columns) > 0 {
		t.Tables = append(t.Tables, params)
	}
	if len(r.EffectNames) > 0 {
		t.Tables = append(t.Tables, simulatedEffects(r))
	}
	return t
}

// simulatedEffects returns a table with a row for each subject of each replicate.
func simulatedEffects(r *simulate.Result) report.Table {
	t := report.Table{Name: "effects", Columns: []report.TableColumn{{Name: "replicate"}}}
	for _, name := range r.EffectNames {
		t.Columns = append(t.Columns, report.TableColumn{Name: name})
	}
	for i := range r.Replicates {
		for _, d := range r.Replicates[i].Effects {
			t.Labels = append(t.Labels, d.Experiment)
			t.Columns[0].Values = append(t.Columns[0].Values, float64(r.Replicates[i].Number))
			for k, x := range d.Values {
				t.Columns[k+1].Values = append(t.Columns[k+1].Values, x)
			}
		}
	}
	return t
}

// trueName is what the column of what was drawn is called.
func trueName(name string) string {
	return "true_" + strings.NewReplacer("[", "_", ",", "_", "]", "").Replace(name)
}

// dataCSV writes data as the item `data` reads them: a line for each row of each replicate.
func dataCSV(to io.Writer, h report.Heading, r *simulate.Result) error {
	buffer := bufio.NewWriterSize(to, 1<<16)
	fmt.Fprintf(buffer, "# simulated: model %s, table %s, seed %d\n", strings.Join(strings.Fields(h.Model), " "),
		r.Table.Name, r.Settings.Seed)
	w := csv.NewWriter(buffer)
	var line []string
	if r.Settings.Replicates > 1 {
		line = append(line, "replicate")
	}
	old := map[string]bool{} // columns of what was drawn when data were simulated before
	if len(r.Replicates) > 0 {
		for _, p := range r.Replicates[0].Params {
			old[trueName(p.Name)] = true
		}
		for _, name := range r.EffectNames {
			old[trueName(name)] = true
		}
	}
	for _, c := range r.Table.Columns {
		if old[c.Name] {
			continue
		}
		name := c.Name
		if c.Unit != "" {
			name += " [" + c.Unit + "]"
		}
		line = append(line, name)
	}
	if len(r.Replicates) > 0 {
		for _, p := range r.Replicates[0].Params {
			line = append(line, trueName(p.Name))
		}
		for _, name := range r.EffectNames {
			line = append(line, trueName(name))
		}
	}
	w.Write(line)
	number := func(x float64) {
		text := strconv.FormatFloat(x, 'g', -1, 64)
		switch {
		case math.IsNaN(x):
			text = "nan"
		case math.IsInf(x, 1):
			text = "inf"
		}
		line = append(line, text)
	}
	for i := range r.Replicates {
		x := &r.Replicates[i]
		subjects := map[string][]float64{}
		for _, d := range x.Effects {
			subjects[d.Experiment] = d.Values
		}
		for row := range r.Rows() {
			line = line[:0]
			if r.Settings.Replicates > 1 {
				line = append(line, strconv.Itoa(x.Number))
			}
			at := 0
			for k, c := range r.Table.Columns {
				switch {
				case old[c.Name] && !r.Observed[k]:
				case r.Observed[k]:
					number(x.Data[at][row])
					at++
				case c.Texts != nil:
					line = append(line, c.Texts[row])
				default:
					number(c.Values[row])
				}
			}
			for _, p := range x.Params {
				number(p.Value)
			}
			for k := range r.EffectNames {
				value := math.NaN()
				if r.Subject[row] != "" {
					value = subjects[r.Subject[row]][k]
				}
				number(value)
			}
			w.Write(line)
		}
	}
	if w.Flush(); w.Error() != nil {
		return w.Error()
	}
	return buffer.Flush()
}
