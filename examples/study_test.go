package examples_test

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/plot"
)

// studied runs a model with the given settings, as pairs of key and value.
func studied(t *testing.T, model string, settings ...string) *odes.Sensitivities {
	t.Helper()
	m, err := odes.ParseFile(model)
	if err != nil {
		t.Fatal(err)
	}
	o := odes.Options{Threads: 1, Settings: []odes.Setting{{Key: "sens.trust", Value: "off"}}} // later settings win
	for i := 0; i < len(settings); i += 2 {
		o.Settings = append(o.Settings, odes.Setting{Key: settings[i], Value: settings[i+1]})
	}
	s, err := m.Sensitivities(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// exactly returns a run that is accurate enough to measure others by.
func exactly(t *testing.T, model string) *odes.Sensitivities {
	return studied(t, model, "solver.method", "vern9", "solver.rtol", "1e-14", "solver.atol", "1e-16")
}

// off returns the largest errors of values and of derivatives. Each error is relative to the
// largest number of its row.
func off(got, want *odes.Sensitivities) (values, derivatives float64) {
	for i, v := range want.Values {
		values = max(values, math.Abs(got.Values[i].Value-v.Value)/math.Abs(v.Value))
		row := want.Gradient[i*want.Columns : (i+1)*want.Columns]
		size := 0.0
		for _, x := range row {
			size = max(size, math.Abs(x))
		}
		for k, x := range row {
			derivatives = max(derivatives, math.Abs(got.Gradient[i*want.Columns+k]-x)/size)
		}
	}
	return values, derivatives
}

// held compares what a study found with the file that shows it. With -update it rewrites the file.
func held(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s does not show what was found; go test ./examples -update rewrites it:\n%s", path,
			difference(string(want), string(got)))
	}
}

// tabled compares the part of a document between <!-- name --> and <!-- end name --> with a table.
// With -update it rewrites that part.
func tabled(t *testing.T, path, name string, heads []string, rows [][]string) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(heads, " | "), strings.Repeat("---|", len(heads)))
	for _, row := range rows {
		if len(row) != len(heads) {
			t.Fatalf("%s: %d cells under %d heads", name, len(row), len(heads))
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), "<!-- "+name+" -->\n")
	_, after, closed := strings.Cut(rest, "<!-- end "+name+" -->\n")
	if !found || !closed {
		t.Fatalf("%s has no place for the table %q", path, name)
	}
	held(t, path, []byte(before+"<!-- "+name+" -->\n"+b.String()+"<!-- end "+name+" -->\n"+after))
}

// whole asks for studies that take minutes as a whole. Without it they are made in part.
var whole = flag.Bool("whole", false, "make studies of papers as a whole (minutes), not in part")

// rowed compares rows with those that the table called name in a document has. Rows of the document that are not
// among them are left alone, unless the study was made as a whole.
func rowed(t *testing.T, path, name string, heads []string, rows [][]string) {
	t.Helper()
	if *whole {
		tabled(t, path, name, heads, rows)
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "<!-- "+name+" -->\n")
	table, _, found := strings.Cut(rest, "<!-- end "+name+" -->\n")
	if !found || len(rows) == 0 {
		t.Fatalf("%s has no table %q, or there is nothing to compare with", path, name)
	}
	for _, row := range rows {
		if want := "| " + strings.Join(row, " | ") + " |\n"; !strings.Contains(table, want) {
			t.Errorf("%s: the table %q lacks the row %s", path, name, want)
		}
	}
}

// drawn writes a figure with -update. Otherwise it only looks for the curves in the file. A table
// that is written at the same time holds the numbers, so a change of style alone is no failure.
func drawn(t *testing.T, path string, l *plot.Lines) {
	t.Helper()
	for i, c := range l.Curves { // each point has a sign
		l.Curves[i].Loop, l.Curves[i].PX, l.Curves[i].PY = true, c.X, c.Y
	}
	var b bytes.Buffer
	if err := plot.Write(&b, strings.TrimPrefix(filepath.Ext(path), "."), l, plot.Page{}); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range l.Curves {
		if !bytes.Contains(text, []byte(">"+c.Name+"<")) {
			t.Errorf("%s does not show the curve %q; go test ./examples -update draws it", path, c.Name)
		}
	}
}

// TestSolutionAndGradient measures the errors of solution and gradient over the tolerances from
// 1e-3 to 1e-13, for every mode of differentiation. The gradient loses about as many digits as the
// solution, in every mode.
func TestSolutionAndGradient(t *testing.T) {
	var rows [][]string
	for _, model := range []string{"vdp/vdp_classic.ode", "lotka_volterra/lotka_volterra.ode"} {
		want := exactly(t, model)
		for _, mode := range []string{"adjoint", "tangent", "forward", "continuous"} {
			last := math.Inf(1)
			row := []string{"`" + strings.TrimSuffix(filepath.Base(model), ".ode") + "`", "`" + mode + "`"}
			for e := 3; e <= 13; e += 2 {
				tol := fmt.Sprintf("1e-%d", e)
				v, d := off(studied(t, model, "sens.mode", mode, "solver.method", "dop853", "solver.rtol", tol,
					"solver.atol", tol), want)
				row = append(row, fmt.Sprintf("%.0e / %.0e", v, d))
				if e >= 7 && !(d < last) && d > 1e-11 {
					t.Errorf("%s %s at %s: derivatives off by %.2g, %.2g at the tolerance before", model, mode, tol, d,
						last)
				}
				last = d
			}
			if last > 1e-9 {
				t.Errorf("%s %s at 1e-13: derivatives off by %.2g", model, mode, last)
			}
			if mode != "tangent" && mode != "forward" || fmt.Sprint(row[2:]) != fmt.Sprint(rows[len(rows)-1][2:]) {
				rows = append(rows, row) // otherwise it equals the row before
			}
		}
	}
	tabled(t, "../docs/methods-measured.md", "solution and gradient",
		[]string{"model", "mode", "1e-3", "1e-5", "1e-7", "1e-9", "1e-11", "1e-13"}, rows)
}
