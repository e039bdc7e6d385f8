package report

import (
	"bufio"
	"io"
	"math"

	"odes.dev/odes/data"
	"odes.dev/odes/result"
)

// Tables and the types of its parts are the common form of results, which every format writes.
type (
	Tables      = result.Form
	Fact        = result.Fact
	Table       = result.Table
	TableColumn = result.TableColumn
)

// HasTables tells whether a format has tables.
func HasTables(f *Format) bool { return f.Tables != nil }

// tablesTable writes tables for people, of long ones the first rows and the last.
func tablesTable(w io.Writer, h Heading, t *Tables, opts TableOptions) error {
	const n = 6
	p := &printer{w: bufio.NewWriter(w), opts: opts}
	p.line("%s (%s)", h.title(), h.File)
	if len(t.Facts) > 0 {
		p.line("")
	}
	for _, f := range t.Facts {
		text := f.Text
		if text == "" {
			text = plain([]float64{f.Value}, n)(f.Value)
		}
		p.line("  %s = %s", withUnit(f.Name, f.Unit), text)
	}
	for i := range t.Tables {
		x := &t.Tables[i]
		p.line("")
		p.line("%s", x.Name)
		cols := []column{{left: true}}
		var write []func(x float64) string
		for _, c := range x.Columns {
			cols, write = append(cols, column{head: withUnit(c.Name, c.Unit)}), append(write, plain(c.Values, n))
		}
		rows, left := x.Rows(), 0
		if rows > maxTimes && !opts.All {
			left = rows - maxTimes
		}
		for k := range rows {
			if left > 0 && k == maxTimes-1 {
				p.skipped(cols)
			}
			if left > 0 && k >= maxTimes-1 && k < rows-1 {
				continue
			}
			cols[0].cells = append(cols[0].cells, x.Label(k))
			for c := range x.Columns {
				cols[1+c].cells = append(cols[1+c].cells, write[c](x.Columns[c].Values[k]))
			}
		}
		p.columns(cols)
	}
	return p.w.Flush()
}

// plain returns what writes numbers of a list: as whole ones where all are, else with n digits.
func plain(list []float64, n int) func(x float64) string {
	const most = 1e6
	for _, x := range list {
		if x != math.Trunc(x) || math.Abs(x) >= most {
			return func(x float64) string { return significant(x, n) }
		}
	}
	return plainNumber
}

// skipped marks that rows are left out.
func (p *printer) skipped(cols []column) {
	for i := range cols {
		cols[i].cells = append(cols[i].cells, "…")
	}
}

// tablesForm is facts by name, and of each table its columns by name.
type tablesForm struct {
	modelForm
	Facts  pairs `json:"facts" at:"2"`
	Tables pairs `json:"tables" at:"2" each:"4"`
}

// tableForm is a table.
type tableForm struct {
	Labels  []string     `json:"labels,omitempty"`
	Columns []columnForm `json:"columns" each:"6"`
}

// columnForm is a column of a table.
type columnForm struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`
	Values []float64 `json:"values"`
}

// tablesJSON writes the common form.
func tablesJSON(w io.Writer, h Heading, t *Tables, _ TableOptions) error {
	form := tablesForm{modelForm: modelForm{1, "ok", h.Model, h.File}}
	for _, f := range t.Facts {
		if f.Text != "" {
			form.Facts = append(form.Facts, pair{f.Name, f.Text})
		} else {
			form.Facts = append(form.Facts, pair{f.Name, f.Value})
		}
	}
	for _, x := range t.Tables {
		table := tableForm{Labels: x.Labels}
		for _, c := range x.Columns {
			table.Columns = append(table.Columns, columnForm(c))
		}
		form.Tables = append(form.Tables, pair{x.Name, table})
	}
	return writeJSON(w, form)
}

// tablesNPZ writes a NumPy archive: every column as table/column, labels as table.txt.
func tablesNPZ(w io.Writer, _ Heading, t *Tables, _ TableOptions) error {
	z := data.NewArchive(w)
	for _, f := range t.Facts {
		var err error
		if f.Text != "" {
			err = z.Lines(f.Name+".txt", []string{f.Text})
		} else {
			err = z.List(f.Name, []float64{f.Value})
		}
		if err != nil {
			return err
		}
	}
	for i := range t.Tables {
		x := &t.Tables[i]
		if x.Labels != nil {
			if err := z.Lines(x.Name+".txt", x.Labels); err != nil {
				return err
			}
		}
		for _, c := range x.Columns {
			if err := z.List(x.Name+"/"+c.Name, c.Values); err != nil {
				return err
			}
		}
	}
	return z.Close()
}
