package analysis

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/front/report"
)

// TestMirrors: every form of predictions tells of a datum at an upper limit what it tells of one at a lower limit in
// the mirror image of the model.
func TestMirrors(t *testing.T) {
	const text = `time t from 0 to 2
param k = 1
state x = k
x' = 0
data D { time = [0, 1, 2]  v = [1.25, 2, 3]  w = [-1.25, -2, -3] }
objective L = nll()
`
	forms := func(observe string) (told map[string]string, columns []float64) {
		m, err := odes.Parse("m.ode", text+observe, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := predict.Run(context.Background(), m, odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		told = map[string]string{}
		for _, f := range []string{"json", "csv", "table"} {
			var b strings.Builder
			if err := r.WriteAs(report.FormatNamed(f), &b, report.Heading{}, report.TableOptions{}); err != nil {
				t.Fatal(err)
			}
			told[f] = b.String()
		}
		return told, r.Arrays[0].Values
	}
	upper, this := forms("observe y = x ~ normal(0.5, above = 2) from D.v\n")
	lower, other := forms("observe y = -x ~ normal(0.5, below = -2) from D.w\n")
	type row struct {
		Data         float64 `json:"data"`
		Residual     any     `json:"residual"`
		Below, Above bool
	}
	read := func(text string) []row {
		var of struct{ Predictions []row }
		if err := json.Unmarshal([]byte(text), &of); err != nil {
			t.Fatal(err)
		}
		return of.Predictions
	}
	u, l := read(upper["json"]), read(lower["json"])
	for k := range u {
		if beyond := k > 0; u[k].Above != beyond || l[k].Below != beyond || u[k].Below || l[k].Above ||
			u[k].Data != -l[k].Data || beyond && (u[k].Residual != "nan" || l[k].Residual != "nan" || u[k].Data != 2) {
			t.Errorf("%+v, %+v", u[k], l[k])
		}
		a, b := this[k*predictionColumns:(k+1)*predictionColumns], other[k*predictionColumns:(k+1)*predictionColumns]
		if a[6] != b[7] || a[7] != b[6] || a[1] != -b[1] {
			t.Errorf("%v, %v", a, b)
		}
	}
	if a, b := strings.Count(upper["table"], "≥"), strings.Count(lower["table"], "≤"); a != 2 || b != 2 ||
		strings.Contains(upper["table"], "≤") || strings.Contains(lower["table"], "≥") {
		t.Errorf("%s%s", upper["table"], lower["table"])
	}
	a, b := strings.Count(upper["csv"], ",false,true\n"), strings.Count(lower["csv"], ",true,false\n")
	if a != 2 || b != 2 || !strings.Contains(upper["csv"], "below,above\n") {
		t.Errorf("%s%s", upper["csv"], lower["csv"])
	}
}
