package fit_test

import (
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/fit"
	"odes.dev/odes/lang/diag"
)

// TestRoughRuns: where errors of runs are larger than what a search looks for, as of chaotic states after a long time,
// the end of a search is no minimum, the fit says why, and does not say what the data tell.
func TestRoughRuns(t *testing.T) {
	m := parse(t, `
time s from 0 to 50
param rho = 28.1 in [20, 35]
param beta = 2.6 in [1, 5]
state x = 1, y = 1, z = 1
x' = 10*(y - x)
y' = x*(rho - z) - y
z' = x*y - beta*z
data D { time = [43, 44, 45, 46, 47, 48, 49, 50]  v = [3, -4, 8, 1, -9, 5, 2, -7] }
observe seen = x ~ normal(1) from D.v
objective loss = nll()
fit { intervals = none  max_iter = 40 }
solver { rtol = 1e-4  atol = 1e-4 }
`)
	r := run(t, m, fit.Options{})
	if r.Status == "ok" || r.KKT.Certified {
		t.Errorf("%s at %v, %+v", r.Status, r.Objective.Value, r.KKT)
	}
	if !slices.ContainsFunc(r.Warnings, func(d diag.Diagnostic) bool {
		return strings.Contains(d.Message, "runs with these tolerances are too rough here")
	}) {
		t.Errorf("%+v", r.Warnings)
	}
	if r.Identifiable || len(r.Unidentified) > 0 {
		t.Errorf("identifiable: %v, %v", r.Identifiable, r.Unidentified)
	}
}
