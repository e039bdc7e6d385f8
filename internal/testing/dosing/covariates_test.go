package dosing_test

import (
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
)

// TestSteadyStateOfCovariates has covariates change behind a record with SS: its steady state is that under the
// covariate at the record, as in NONMEM.
func TestSteadyStateOfCovariates(t *testing.T) {
	const drug = `time t from 0 to 36
param ka = 1.1, CL = 2, V = 20
state gut = 0, body = 0
let c = body/V
let wt = KIND
gut' = -ka*gut
body' = ka*gut - CL*(wt/70)^0.75*c
solver { rtol = 1e-9  atol = 1e-12 }
sens { wrt = [ka, CL, V] }
`
	const table = `data D {
  ID   = [1, 1, 1, 1, 1, 1]
  time = [0, 2, 6, 12, 24, 30]
  AMT  = [FIRST, 0, 0, SECOND, 0, 0]
  II   = [FIRST, 0, 0, SECOND, 0, 0]/10
  SS   = [FIRST, 0, 0, SECOND, 0, 0]/100
  DV   = [nan, 3.1, 2.0, nan, 0.6, 0.3]
  WT   = [70, 70, 80, 90, 90, 60]
}
doses D { gut }
observe y = c ~ normal(0.3) from D.DV
experiment subject from D by D.ID
objective L = nll()
`
	const rows = `data D {
  time = [2, 6, 24, 30]
  DV   = [3.1, 2.0, 0.6, 0.3]
}
observe y = c ~ normal(0.3) from D.DV
objective L = nll()
event dose at WHEN {
  gut = 100/(1 - exp(-10*ka))
  body = 100*ka/(ka - k)*(exp(-10*k)/(1 - exp(-10*k)) - exp(-10*ka)/(1 - exp(-10*ka)))
}
`
	for _, kind := range []string{"next", "previous", "linear", "monotone"} {
		for _, later := range []bool{false, true} {
			first, second, when, weight := "100", "0", "0", "70"
			if later {
				first, second, when, weight = "0", "100", "12", "90"
			}
			fill := strings.NewReplacer("FIRST", first, "SECOND", second, "WHEN", when)
			course := strings.Replace(drug, "KIND", "interp(D.time, D.WT, t, kind = "+kind+")", 1)
			plain := strings.Replace(drug, "KIND", "interp([0, 2, 6, 12, 24, 30], [70, 70, 80, 90, 90, 60], t, kind = "+
				kind+")", 1) + "let k = CL*(" + weight + "/70)^0.75/V\n"
			is, want := sensitivities(t, course+fill.Replace(table)), sensitivities(t, plain+fill.Replace(rows))
			if d := is.Values[0].Value - want.Values[0].Value; math.Abs(d) > 1e-6*math.Abs(want.Values[0].Value) {
				t.Errorf("%s, later %v: the value is %v, want %v", kind, later, is.Values[0].Value,
					want.Values[0].Value)
			}
			for i, x := range want.Gradient {
				if y := is.Gradient[i]; math.Abs(y-x) > 1e-5*math.Abs(x) {
					t.Errorf("%s, later %v: derivative %d is %v, want %v", kind, later, i, y, x)
				}
			}
		}
	}
}

// sensitivities are those of a model.
func sensitivities(t *testing.T, text string) *odes.Sensitivities {
	t.Helper()
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err, text)
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{})
	if err != nil {
		t.Fatal(err, text)
	}
	return s
}
