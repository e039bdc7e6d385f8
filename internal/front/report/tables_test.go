package report

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestTables writes the common form in every format.
func TestTables(t *testing.T) {
	x := &Tables{
		Facts: []Fact{{Name: "accepted", Value: 0.25}, {Name: "how", Text: "by <hand>"}},
		Tables: []Table{{
			Name: "draws", Labels: []string{"first", "last"},
			Columns: []TableColumn{
				{Name: "k", Unit: "1/h", Values: []float64{1.5, math.NaN()}},
				{Name: "J", Unit: "", Values: []float64{-1e-300, math.Inf(1)}},
			},
		}, {Name: "long", Columns: []TableColumn{{Name: "n", Unit: "", Values: make([]float64, 100)}}}},
	}
	wrote := map[string]string{}
	for _, f := range Formats() {
		var b bytes.Buffer
		if err := f.Tables(&b, Heading{Model: "M", File: "m.ode"}, x, TableOptions{}); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		wrote[f.Name] = b.String()
		if err := f.Tables(failing{}, Heading{}, x, TableOptions{}); err == nil {
			t.Errorf("%s: writing fails, and nothing is said", f.Name)
		}
	}
	for _, part := range []string{"M (m.ode)", "accepted = 0.25", "how = by <hand>", "k [1/h]", "first", "nan", "…"} {
		if !strings.Contains(wrote["table"], part) {
			t.Errorf("the table lacks %q:\n%s", part, wrote["table"])
		}
	}
	if n := strings.Count(wrote["table"], "\n"); n > 60 {
		t.Errorf("the table has %d lines", n)
	}
	var read struct {
		Facts  map[string]any
		Tables map[string]struct {
			Labels  []string
			Columns []struct {
				Name, Unit string
				Values     []any
			}
		}
	}
	if err := json.Unmarshal([]byte(wrote["json"]), &read); err != nil {
		t.Fatalf("%v:\n%s", err, wrote["json"])
	}
	if d := read.Tables["draws"]; read.Facts["accepted"] != 0.25 || read.Facts["how"] != "by <hand>" ||
		len(d.Labels) != 2 || d.Columns[0].Values[1] != "nan" || d.Columns[1].Values[0] != -1e-300 {
		t.Errorf("JSON has %+v", read)
	}
	for _, row := range []string{
		",,,accepted,,0.25", "draws,1,first,k,1/h,1.5", "draws,2,last,J,,inf", "long,100,,n,,0",
	} {
		if !strings.Contains(wrote["csv"], row+"\n") {
			t.Errorf("CSV lacks %q", row)
		}
	}
	z, err := zip.NewReader(strings.NewReader(wrote["npz"]), int64(len(wrote["npz"])))
	if err != nil || len(z.File) != 6 {
		t.Errorf("%v: the archive has %d members", err, len(z.File))
	}
	for name, file := range map[string]string{
		"all": wrote["parquet"],
		"one": parquetOf(t, &Tables{Tables: x.Tables[:1]}),
	} {
		f, err := parquet.OpenFile(strings.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, c := range f.Schema().Columns() {
			got = append(got, c[0])
		}
		want, rows := "table row label column unit value", 2+2*2+100
		if name == "one" {
			want, rows = "label k J", 2
		}
		if strings.Join(got, " ") != want || int(f.NumRows()) != rows {
			t.Errorf("%s: %d rows of %v", name, f.NumRows(), got)
		}
	}
}

func parquetOf(t *testing.T, x *Tables) string {
	var b bytes.Buffer
	if err := FormatNamed("parquet").Tables(&b, Heading{}, x, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
