package fit

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes"
)

var coverage = flag.Int("coverage", 0, "how many populations TestPopulationCoverage fits; 200 take an hour")

// TestPopulationCoverage simulates populations of 100 subjects by the closed form of one compartment, and fits them:
// Wald intervals on the scale of the search have the true values as often as they promise. It is run by hand:
//
//	go test ./fit -run TestPopulationCoverage -coverage 200 -v -timeout 60m
func TestPopulationCoverage(t *testing.T) {
	if *coverage == 0 {
		t.Skip("without -coverage")
	}
	const text = `
time t from 0 to 12
param tcl = 0.5 in [-3, 4], tv = 2.5 in [0, 5], s = 0.2 in [0.01, 2]
param w_cl = 0.4 in [0.01, 3], w_v = 0.2 in [0.01, 3]
random e_cl ~ normal(0, w_cl), e_v ~ normal(0, w_v)
let k = exp(tcl + e_cl)/exp(tv + e_v)
state A = 100
A' = -k*A
data D = csv("d.csv", time = "TIME")
observe y = A/exp(tv + e_v) ~ lognormal(s) from D.DV
experiment subject from D by D.ID { }
solver { marginal = focei }
objective L = nll()
fit { log = [s, w_cl, w_v]  intervals = wald }
`
	truth := []float64{0.7, 2.3, 0.15, 0.3, 0.25}
	inside, fits := make([]int, len(truth)), 0
	var names []string
	for round := range *coverage {
		r := rand.New(rand.NewPCG(uint64(round), 58))
		var rows strings.Builder
		rows.WriteString("ID,TIME,DV\n")
		for i := range 100 {
			cl := math.Exp(truth[0] + truth[3]*r.NormFloat64())
			v := math.Exp(truth[1] + truth[4]*r.NormFloat64())
			for _, at := range []float64{0.5, 3, 6, 12} {
				fmt.Fprintf(&rows, "%d,%g,%.17g\n", i+1, at,
					100/v*math.Exp(-cl/v*at+truth[2]*r.NormFloat64()))
			}
		}
		m, err := odes.Parse("m.ode", text, odes.ParseOptions{
			Files: fstest.MapFS{"d.csv": {Data: []byte(rows.String())}},
		})
		if err != nil {
			t.Fatal(err)
		}
		out, err := Run(t.Context(), m, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if out.Status != "ok" {
			t.Logf("population %d: %s, %v", round, out.Status, out.Warnings)
			continue
		}
		fits++
		names = names[:0]
		for i, e := range out.Estimates {
			names = append(names, e.Name)
			if e.Lower <= truth[i] && truth[i] <= e.Upper {
				inside[i]++
			}
		}
		if round%5 == 4 {
			t.Logf("%d of %d: %v", fits, round+1, inside)
		}
	}
	if fits < *coverage*95/100 {
		t.Errorf("%d of %d fits came to a minimum", fits, *coverage)
	}
	for i, n := range inside {
		part := float64(n) / float64(fits)
		least := 0.90
		if i > 1 {
			least = 0.85 // of standard deviations
		}
		t.Logf("%s: %.1f %%", names[i], 100*part)
		if part < least || part > 0.99 {
			t.Errorf("intervals of %s have the true value in %.1f %%", names[i], 100*part)
		}
	}
}
