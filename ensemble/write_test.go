package ensemble

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/parquet-go/parquet-go"

	"odes.dev/odes/data"
)

// All formats hold the rows with all bits, and say why members failed.
func TestWrite(t *testing.T) {
	defer func(n int64) { rowsPerGroup = n }(rowsPerGroup)
	rowsPerGroup = 30
	p := open(t, ballJob())
	j, err := OpenJournal(filepath.Join(t.TempDir(), "part"), p)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	all := gather(t, p, Config{Journal: j})
	width := p.Table.Width()
	files := map[string][]byte{}
	for _, f := range Formats() {
		var b bytes.Buffer
		if err := f.Write(&b, p, j.Chunks(p, &Findings{})); err != nil {
			t.Fatal(f.Name, err)
		}
		files[f.Name] = b.Bytes()
	}
	same := func(format string, i, k int, x float64) {
		t.Helper()
		if want := all.Rows[i*width+k]; x != want && (x == x || want == want) {
			t.Fatalf("%s: number %d of member %d is %g, not %g", format, k, i, x, want)
		}
	}

	lines, err := csv.NewReader(bytes.NewReader(files["csv"])).ReadAll()
	if err != nil || len(lines) != 101 || len(lines[0]) != width+4 || lines[0][5] != "initial(x)" {
		t.Fatalf("csv: %d lines, %q, %v", len(lines), lines[0], err)
	}
	for i, line := range lines[1:] {
		for k := range width {
			x := math.NaN()
			if line[3+k] != "" {
				x, _ = strconv.ParseFloat(line[3+k], 64)
			}
			same("csv", i, k, x)
		}
		if failed := all.Status[i] == Failed; failed != (line[width+3] != "") || line[1] != all.Status[i].String() {
			t.Errorf("csv: member %d is %v: %q", i, all.Status[i], line)
		}
	}

	z, err := zip.NewReader(bytes.NewReader(files["npz"]), int64(len(files["npz"])))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range p.Table.Groups() {
		a, err := data.Load(z, g.Name+".npy", 1<<20)
		if err != nil || len(a.Data) != 100*g.Size || a.Shape[0] != 100 {
			t.Fatal(g.Name, a.Shape, err)
		}
		for i := range 100 {
			for k := range g.Size {
				same("npz", i, g.At+k, a.Data[i*g.Size+k])
			}
		}
	}

	f, err := parquet.OpenFile(bytes.NewReader(files["parquet"]), int64(len(files["parquet"])))
	if err != nil {
		t.Fatal(err)
	}
	columns := f.Schema().Columns()
	if len(f.RowGroups()) != 4 {
		t.Errorf("parquet: %d groups of rows", len(f.RowGroups()))
	}
	if len(columns) != width+4 || columns[0][0] != "member" || columns[3][0] != "g" {
		t.Errorf("parquet: columns %v", columns)
	}
	rows := parquet.NewReader(f)
	for i := range 100 {
		buffer := make([]parquet.Row, 1)
		if n, err := rows.ReadRows(buffer); n != 1 || err != nil && err != io.EOF {
			t.Fatal(i, n, err)
		}
		for k := range width {
			x := math.NaN()
			if v := buffer[0][3+k]; !v.IsNull() {
				x = v.Double()
			}
			same("parquet", i, k, x)
		}
		if failed := all.Status[i] == Failed; failed == buffer[0][width+3].IsNull() {
			t.Errorf("parquet: member %d is %v: %v", i, all.Status[i], buffer[0][width+3])
		}
	}
}
