package typecheck

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// planted are mistakes of units in the models of the language reference.
var planted = []struct{ model, right, wrong string }{
	{"bounce", "v' = -g", "v' = -g*x"},
	{"bounce", "from = 0.5 [s]", "from = 0.5 [m]"},
	{"bounce", "v = -e*v", "v = -e*x"},
	{"glv", "param r[n]   = ones(n)", "param r[n] : [1/h] = 1, K[n] : [1/day] = 1"},
	{"vdp", "param x0 = 2", "param x0 = 2 [m]"},
	{"heat2d", "param k[nx,ny] = 1e-4 [m^2/s]", "param k[nx,ny] = 1e-4 [m/s]"},
	{"heat2d", "exp(-(x^2 + y^2)/(2*s^2))", "exp(-(x^2 + y^2)/(2*s))"},
	{"robertson", "state y1 = 1,", "state y1 = 1 [mol/L],"},
	{"enzyme", "rate kdeg*E", "rate kdeg*E*S"},
	{"enzyme", "S = 10 [uM]", "S = 10 [mol]"},
	{"control", "param xt = 1 [m]", "param xt = 1 [s]"},
	{"control", "final(x) == xt", "final(x) == 1"},
	{"pk", "let C1 = a1/V1", "let C1 = a1*V1"},
	{"pk", "at td[k] + tlag", "at td[k] + 0.5"},
	{"pk", "sd_a = 0.05 [mg/L], sd_p = 0.1", "sd_a = 0.05 [ug/L], sd_p = 0.1"},
	{"pk", "param F    = 0.7 ", "param F : [L] = 0.7 "},
	{"pk", "Cmin = 0.65 [mg/L]", "Cmin = 650 [ug/L]"},
}

// TestPlantedUnits checks that every planted mistake is found. The golden file holds the
// diagnostics.
func TestPlantedUnits(t *testing.T) {
	var out bytes.Buffer
	for _, p := range planted {
		file := filepath.Join("..", "parser", "testdata", "models", p.model+".ode")
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		if p.model == "glv" {
			text = strings.Replace(text, "x' = x * (r + A @ x)", "x' = x * (r + K + A @ x)", 1)
		}
		if p.model == "robertson" {
			text = strings.Replace(text, "k1 = 0.04 ", "k1 = 0.04 [1/s]", 1)
		}
		if !strings.Contains(text, p.right) {
			t.Fatalf("%s has no %q", p.model, p.right)
		}
		var l diag.List
		Check(parser.Parse(source.NewFile(p.model+".ode", strings.Replace(text, p.right, p.wrong, 1)), &l), Env{}, &l)
		found := false
		out.WriteString("## " + p.right + "  ->  " + p.wrong + "\n\n")
		var units []diag.Diagnostic
		for _, d := range l.All() {
			found = found || d.Code == CodeUnit && d.Level == diag.Error || d.Code == CodeInferred
			if d.Code == CodeUnit || d.Code == CodeInferred {
				units = append(units, d)
			}
		}
		if !found {
			t.Errorf("%s: %q is not noticed", p.model, p.wrong)
		}
		if err := diag.Write(&out, units, diag.Plain); err != nil {
			t.Fatal(err)
		}
		out.WriteString("\n")
	}
	const golden = "testdata/planted.golden"
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil || !bytes.Equal(want, out.Bytes()) {
		t.Errorf("got\n%s\nwant\n%s", out.Bytes(), want)
	}
}
