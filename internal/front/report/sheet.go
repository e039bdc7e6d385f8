package report

import (
	"encoding/csv"
	"io"
	"math"

	"odes.dev/odes/internal/base/parquet"
)

// sheet is a flat table, as spreadsheets and Parquet files have it. Each kind of result says what its sheet is, and
// all formats of flat tables write that.
type sheet struct {
	name    string
	columns []sheetColumn
	rows    func(yield func([]cell)) // the cells may be used again for the next row
}

// sheetColumn is a column: of texts, or else of numbers.
type sheetColumn struct {
	name string
	text bool
}

// cell is a number, or a text. The zero cell is empty.
type cell struct {
	text   string
	number float64
	is     bool // a number
}

// number is a cell with a number, nan as well.
func number(x float64) cell { return cell{number: x, is: true} }

// some is a cell with a number, and an empty one where there is none.
func some(x float64) cell { return cell{number: x, is: !math.IsNaN(x)} }

// text is a cell with a text.
func text(s string) cell { return cell{text: s} }

// yesNo is a cell with a switch.
func yesNo(on bool) cell {
	if on {
		return text("true")
	}
	return text("false")
}

// texts and numbers add columns, and return the place of the first.
func (t *sheet) texts(names ...string) int   { return t.add(true, names) }
func (t *sheet) numbers(names ...string) int { return t.add(false, names) }

func (t *sheet) add(text bool, names []string) int {
	at := len(t.columns)
	for _, name := range names {
		t.columns = append(t.columns, sheetColumn{name, text})
	}
	return at
}

// inCSV writes results of a kind as CSV: a header of names, then a line for each row.
func inCSV[R any](of func(Heading, R) *sheet) Writer[R] {
	return func(w io.Writer, h Heading, result R, _ TableOptions) error {
		t := of(h, result)
		out := csv.NewWriter(w)
		row := make([]string, len(t.columns))
		for i, c := range t.columns {
			row[i] = c.name
		}
		out.Write(row)
		t.rows(func(cells []cell) {
			for i, c := range cells {
				if row[i] = c.text; c.is {
					row[i] = plainNumber(c.number)
				}
			}
			out.Write(row)
		})
		out.Flush()
		return out.Error()
	}
}

// inParquet writes results of a kind as a Parquet file. What has no number is null.
func inParquet[R any](of func(Heading, R) *sheet) Writer[R] {
	return func(w io.Writer, h Heading, result R, _ TableOptions) error {
		const most = 1 << 16 // rows that are kept in memory
		t := of(h, result)
		columns := make([]*parquet.Column, len(t.columns))
		for i, c := range t.columns {
			columns[i] = &parquet.Column{Name: c.name, Kind: parquet.Double, Optional: true}
			if c.text {
				columns[i] = &parquet.Column{Name: c.name, Kind: parquet.Bytes}
			}
		}
		f := parquet.New(w, t.name, columns)
		t.rows(func(cells []cell) {
			for i, c := range cells {
				switch {
				case t.columns[i].text:
					columns[i].Text(c.text)
				case c.is:
					columns[i].Number(c.number)
				default:
					columns[i].None()
				}
			}
			f.Rows(1, most)
		})
		return f.Close()
	}
}
