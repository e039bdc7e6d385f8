package report

import (
	"archive/zip"
	"bufio"
	"encoding/csv"
	"io"
)

// Tables are the common form of results: facts, and tables of numbers. Every format writes it.
type Tables struct {
	Facts  []Fact
	Tables []Table
}

// Fact is a number, or a text, about a result as a whole.
type Fact struct {
	Name, Unit string
	Value      float64
	Text       string // in place of the number; "" for none
}

// Table is rows of numbers.
type Table struct {
	Name    string
	Labels  []string // of the rows; nil for none
	Columns []TableColumn
}

// TableColumn is a column of a table.
type TableColumn struct {
	Name, Unit string
	Values     []float64
}

// Rows returns how many rows a table has.
func (t *Table) Rows() int {
	if len(t.Columns) == 0 {
		return 0
	}
	return len(t.Columns[0].Values)
}

// label returns the name of a row; "" for none.
func (t *Table) label(row int) string {
	if t.Labels == nil {
		return ""
	}
	return t.Labels[row]
}

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
			cols[0].cells = append(cols[0].cells, x.label(k))
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

// tablesCSV writes a row for each number: the table, the row and its label, the column, its unit, the number. Facts are
// those of the table "".
func tablesCSV(w io.Writer, _ Heading, t *Tables, _ TableOptions) error {
	out := csv.NewWriter(w)
	out.Write([]string{"table", "row", "label", "column", "unit", "value"})
	for _, f := range t.Facts {
		text := f.Text
		if text == "" {
			text = plainNumber(f.Value)
		}
		out.Write([]string{"", "", "", f.Name, f.Unit, text})
	}
	for i := range t.Tables {
		x := &t.Tables[i]
		for k := range x.Rows() {
			for _, c := range x.Columns {
				row := plainNumber(float64(k + 1))
				out.Write([]string{x.Name, row, x.label(k), c.Name, c.Unit, plainNumber(c.Values[k])})
			}
		}
	}
	out.Flush()
	return out.Error()
}

// tablesNPZ writes a NumPy archive: every column as table/column, labels as table.txt.
func tablesNPZ(w io.Writer, _ Heading, t *Tables, _ TableOptions) error {
	z := zip.NewWriter(w)
	for _, f := range t.Facts {
		var err error
		if f.Text != "" {
			err = textMember(z, f.Name+".txt", []string{f.Text})
		} else {
			err = listMember(z, f.Name, []float64{f.Value})
		}
		if err != nil {
			return err
		}
	}
	for i := range t.Tables {
		x := &t.Tables[i]
		if x.Labels != nil {
			if err := textMember(z, x.Name+".txt", x.Labels); err != nil {
				return err
			}
		}
		for _, c := range x.Columns {
			if err := listMember(z, x.Name+"/"+c.Name, c.Values); err != nil {
				return err
			}
		}
	}
	return z.Close()
}
