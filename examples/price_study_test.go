package examples_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPriceOfDefaults lists what the control of integrals and stable steps cost on the examples, and what they do to
// the errors of derivatives.
func TestPriceOfDefaults(t *testing.T) {
	files, err := filepath.Glob("*/*.ode")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".ode")
		if strings.Contains(string(text), "fixed_step") || strings.Contains(file, "512") || stiff[name] {
			continue
		}
		if name == "fitted" {
			continue // it stands at a minimum, where no derivative is large enough to compare
		}
		want := studied(t, file, "solver.method", "vern9", "solver.rtol", "1e-12", "solver.atol", "1e-14",
			"sens.order", "1")
		row := []string{"`" + name + "`"}
		var errs []float64
		for _, how := range [][]string{
			{"solver.quad_tol", "off", "solver.stability", "off"}, {"solver.stability", "off"}, {},
		} {
			got := studied(t, file, append([]string{"sens.order", "1"}, how...)...)
			row = append(row, fmt.Sprintf("%d, %d", got.Stats.Steps, got.Stats.F))
			worst := 0.0
			for i := range want.Values {
				size, e := 0.0, 0.0
				for k, x := range want.Gradient[i*want.Columns : (i+1)*want.Columns] {
					size = max(size, math.Abs(x))
					e = max(e, math.Abs(got.Gradient[i*want.Columns+k]-x))
				}
				if size > 1e-9 {
					worst = max(worst, e/size)
				}
			}
			errs = append(errs, worst)
		}
		if errs[2] > 1e-4 {
			t.Errorf("%s: derivatives are off by %g", file, errs[2])
		}
		rows = append(rows, append(row, fmt.Sprintf("%.0e", errs[0]), fmt.Sprintf("%.0e", errs[2])))
	}
	if len(rows) < 25 {
		t.Errorf("only %d examples", len(rows))
	}
	tabled(t, "../docs/methods-steps.md", "price", []string{
		"example", "without both", "with `quad_tol`", "with both", "error without", "with both",
	}, rows)
}
