package fit

import (
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes"
)

// evenText is a population whose predictions are even in the random effect: at zero, no gradient shows where to go.
// It has no states.
const evenText = `time t from 0 to 1
param w = 1 in [0.1, 5], s = 0.5 in [0.01, 5]
random e ~ normal(0, w)
output f = 2*e^2
data D = csv("d.csv", time = "TIME")
observe y = f ~ normal(s) from D.DV
experiment subject from D by D.ID { }
objective L = nll()
`

func even(t *testing.T, marginal, rows string) *odes.Model {
	t.Helper()
	m, err := odes.Parse("m.ode", evenText+"solver { marginal = "+marginal+" }\n", odes.ParseOptions{
		Files: fstest.MapFS{"d.csv": {Data: []byte("ID,TIME,DV\n" + rows)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestSaddle: a search for a mode that begins at a saddle leaves it.
func TestSaddle(t *testing.T) {
	// 4 e² = 2·1.5 − s² / (4 w²) where the derivative by e is zero
	want := math.Sqrt((1.5 - 0.25/4) / 2)
	for _, method := range []string{"laplace", "agq(n = 9)", "imp(n = 100)", "focei"} {
		r, err := even(t, method, "1,0,1.5\n").Sensitivities(t.Context(), odes.Options{})
		if err != nil || math.IsNaN(r.Values[0].Value) || math.IsNaN(r.Gradient[0]+r.Gradient[1]) {
			t.Errorf("%s: %v, %v", method, r, err)
		}
		p, err := even(t, method, "1,0,1.5\n").Population(t.Context(), odes.Options{}, false)
		if err != nil || math.Abs(math.Abs(p.Subjects[0].Mode[0])-want) > 1e-8 || p.Subjects[0].Modes != 2 {
			t.Errorf("%s: the mode is %v, not %g; %v", method, p, want, err)
		}
	}
}

// TestFlatMode: a mode that is nearly flat is named, and one that is flat has no value: the result is partial.
func TestFlatMode(t *testing.T) {
	for _, y := range []string{"0.0625", "0.06249999"} { // 1/w² − 4 y/s² is zero
		r, err := even(t, "laplace", "1,0,"+y+"\n").Sensitivities(t.Context(), odes.Options{})
		text := ""
		if err == nil {
			for _, d := range r.Warnings {
				text += d.Message + "\n"
			}
		}
		if err != nil || r.Status != "partial" || !strings.Contains(text, "flat") {
			t.Errorf("%s: %v, %v, %s", y, r, err, text)
		}
	}
}
