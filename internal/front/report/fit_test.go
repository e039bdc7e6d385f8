package report_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes/fit"
	"odes.dev/odes/internal/front/report"
)

// The mark of an end of an interval is explained, where there is one.
func TestFitTableMarks(t *testing.T) {
	for open, want := range map[string]int{"": 0, "bound": 0, "failed": 2} {
		x := fit.Estimate{Name: "k", Value: 2, StdErr: 0.5, Lower: 1, Upper: 3, OpenLower: open}
		h, r := report.Heading{Model: "m", File: "m.ode"}, &fit.Result{Estimates: []fit.Estimate{x}}
		var out bytes.Buffer
		if err := report.FitTable(&out, h, r, report.TableOptions{}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), "?"); n != want {
			t.Errorf("%q: %d marks and explanations, want %d:\n%s", open, n, want, &out)
		}
	}
}

// TestFitUntold: what is not identifiable for other reasons than a combination is not told to be.
func TestFitUntold(t *testing.T) {
	for _, is := range []bool{false, true} {
		var out strings.Builder
		r := &fit.Result{Identifiable: is}
		if err := report.FormatNamed("json").Fit(&out, report.Heading{}, r, report.TableOptions{}); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf(`"identifiable": %v, "unidentified": []`, is); !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
}

// TestFitDecided: an estimate that constraints decide has a word in place of errors, in tables and in JSON.
func TestFitDecided(t *testing.T) {
	nan := math.NaN()
	x := fit.Estimate{Name: "k", Value: 2, StdErr: nan, Lower: nan, Upper: nan, Decided: true}
	h, r := report.Heading{Model: "m", File: "m.ode"}, &fit.Result{Estimates: []fit.Estimate{x}}
	for want, write := range map[string]report.Writer[*fit.Result]{
		"decided by constraints":              report.FitTable,
		`"at_bound": false, "decided": true}`: report.FormatNamed("json").Fit,
	} {
		var out strings.Builder
		if err := write(&out, h, r, report.TableOptions{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
