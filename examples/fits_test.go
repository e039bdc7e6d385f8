package examples_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/front/report"
)

// TestControls solves the problems of optimal control and compares the results with golden files, bit by bit.
func TestControls(t *testing.T) {
	for _, path := range []string{
		"far/far.ode", "minimum_time/minimum_time.ode", "minimum_time/switching.ode", "minimum_time/pendulum.ode",
		"swingup/swingup.ode", "swingup/least_time.ode", "insulin/insulin.ode", "orbit/orbit.ode",
	} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			if testing.Short() && !strings.HasPrefix(path, "minimum_time") {
				t.Skip("hundreds of runs")
			}
			m, err := odes.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			r, err := fit.Run(t.Context(), m, fit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != "ok" || r.Starts[0].Status != "converged" {
				t.Errorf("%s, %s: %s", r.Status, r.Starts[0].Status, r.Starts[0].Why)
			}
			for _, c := range r.Constraints {
				if c.Relation == "==" && c.Value < -1e-8 || c.Value > 1e-8 {
					t.Errorf("constraint %s is violated: %g", c.Name, c.Value)
				}
			}
			info := m.Info()
			h := report.Heading{
				Model: info.Name, File: filepath.Base(info.File), Time: info.Time, TimeUnit: info.TimeUnit,
			}
			var b bytes.Buffer
			if err := report.FitTable(&b, h, r, report.TableOptions{}); err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(path, ".ode") + ".fit.golden"
			if *update {
				if err := os.WriteFile(golden, b.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b.Bytes(), want) {
				t.Errorf("the result is not that of %s:\n%s", golden, difference(string(want), b.String()))
			}
		})
	}
}
