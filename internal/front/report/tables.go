package report

import (
	"bufio"
	"io"

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
	p.line("%s (%s)", h.Model, h.File)
	if len(t.Facts) > 0 {
		p.line("")
	}
	for _, f := range t.Facts {
		text := f.Text
		if text == "" {
			text = significant(f.Value, n)
		}
		p.line("  %s = %s", withUnit(f.Name, f.Unit), text)
	}
	for i := range t.Tables {
		x := &t.Tables[i]
		p.line("")
		p.line("%s", x.Name)
		cols := []column{{left: true}}
		for _, c := range x.Columns {
			cols = append(cols, column{head: withUnit(c.Name, c.Unit)})
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
				cols[1+c].cells = append(cols[1+c].cells, significant(x.Columns[c].Values[k], n))
			}
		}
		p.columns(cols)
	}
	return p.w.Flush()
}

// skipped marks that rows are left out.
func (p *printer) skipped(cols []column) {
	for i := range cols {
		cols[i].cells = append(cols[i].cells, "…")
	}
}

// tablesJSON writes one object: facts by name, and of each table its columns by name.
func tablesJSON(w io.Writer, h Heading, t *Tables, _ TableOptions) error {
	j := newJSON(w)
	j.raw("{\n  \"schema\": 1, \"status\": \"ok\", \"model\": ")
	j.text(h.Model)
	j.raw(", \"file\": ")
	j.text(h.File)
	j.raw(",\n  \"facts\": {")
	for i, f := range t.Facts {
		if i > 0 {
			j.raw(", ")
		}
		j.text(f.Name)
		j.raw(": ")
		if f.Text != "" {
			j.text(f.Text)
		} else {
			j.number(f.Value)
		}
	}
	j.raw("},\n  \"tables\": {")
	for i := range t.Tables {
		x := &t.Tables[i]
		if i > 0 {
			j.raw(",")
		}
		j.raw("\n    ")
		j.text(x.Name)
		j.raw(": {")
		if x.Labels != nil {
			j.raw("\"labels\": ")
			j.texts(x.Labels)
			j.raw(", ")
		}
		j.raw("\"columns\": [")
		for k, c := range x.Columns {
			if k > 0 {
				j.raw(",")
			}
			j.raw("\n      {\"name\": ")
			j.text(c.Name)
			j.raw(", \"unit\": ")
			j.text(c.Unit)
			j.raw(", \"values\": ")
			j.array([]int{len(c.Values)}, c.Values)
			j.raw("}")
		}
		j.raw("]}")
	}
	j.raw("}\n}\n")
	return j.w.Flush()
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
