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

// TestRoughAdvice: the tolerances that a fit advises are some that runs can follow, and with them the fit comes to its
// minimum. The data fall over thirty orders of magnitude, far below what is 0 beside the start.
func TestRoughAdvice(t *testing.T) {
	const text = `
time t from 0 to 24
state S = 10
S' = -Vm*S/(Km + S)
param Vm = 0.986 in [0.06211, 55.9]
param Km = 0.541 in [0.01734, 15.61]
data D {
  time = [1, 3, 4, 6, 8, 9, 11, 12, 14, 16, 17, 19, 21, 22, 24]
  y = [7.7747, 4.7784, 4.36, 0.57206, 0.00085091, 2.2543e-05, 1.6329e-08, 4.3051e-10, 4.9512e-13, 2.9066e-16,
    6.9684e-18, 6.4312e-21, 5.2518e-24, 1.3839e-25, 1.2516e-28]
}
observe o = S ~ loglaplace(0.1) from D.y
objective L = nll()
fit { log = all  intervals = none }
`
	const advice = "solver { rtol = 1e-14  atol = 1e-20 }"
	if r := run(t, parse(t, text), fit.Options{}); !slices.ContainsFunc(r.Warnings, func(d diag.Diagnostic) bool {
		return strings.Contains(d.Message, "too rough here") && strings.HasSuffix(d.Message, advice)
	}) {
		t.Errorf("not advised: %s\n%+v", advice, r.Warnings)
	}
	if r := run(t, parse(t, text+advice), fit.Options{}); !r.KKT.Certified {
		t.Errorf("with what is advised: %v, %+v", r.Objective.Value, r.Warnings)
	}
}
