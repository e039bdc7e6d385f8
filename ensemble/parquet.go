package ensemble

import (
	"io"

	"odes.dev/odes/internal/base/parquet"
)

// rowsPerGroup is how many members a row group of a Parquet file has. So much is kept in memory. A test makes it less.
var rowsPerGroup int64 = 1 << 15

// writeParquet writes a table with the columns of the CSV file. Numbers that are missing are null.
func writeParquet(w io.Writer, p *Problem, chunks Chunks) error {
	columns := []*parquet.Column{
		{Name: "member", Kind: parquet.Int64},
		{Name: "status", Kind: parquet.Bytes},
		{Name: "steps", Kind: parquet.Int32},
	}
	for _, name := range p.Table.Names() {
		columns = append(columns, &parquet.Column{Name: name, Kind: parquet.Double, Optional: true})
	}
	last := &parquet.Column{Name: "error", Kind: parquet.Bytes, Optional: true}
	columns = append(columns, last)
	f := parquet.New(w, "members", columns)
	width := p.Table.Width()
	for c, err := range chunks {
		if err != nil {
			return err
		}
		why := c.remarks()
		for i, status := range c.Status {
			columns[0].Int(int64(c.First + i + 1))
			columns[1].Text(status.String())
			columns[2].Int(int64(c.Steps[i]))
			for k, x := range c.Rows[i*width : (i+1)*width] {
				columns[3+k].Number(x)
			}
			if len(why) > 0 && why[0].Member == c.First+i {
				last.Text(why[0].text())
				why = why[1:]
			} else {
				last.None()
			}
		}
		f.Rows(len(c.Status), rowsPerGroup)
	}
	return f.Close()
}
