package serve

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
	"odes.dev/odes/fit"
)

// decay is a model with data: exact ones of k = 0.5 and x0 = 2 but for small errors.
const decay = `model Decay
time t : [h] from 0 to 4
param k = 1 [1/h] in [0.01, 10], x0 = 1 [mg] in [0.1, 10], b[2] = 1
state x = x0
x' = -k*x
output y = x
data D {
  time = [1, 2, 3, 4] [h]
  x = [1.22, 0.73, 0.45, 0.27] [mg]
}
observe o = x ~ normal(0.01 [mg]) from D.x
objective J = nll()
objective F = final(x)
fit { minimize = J  over = [k, x0]  starts = 3  seed = 7 }
ensemble { n = 8  k ~ uniform(0.5, 1.5)  seed = 3 }
`

// TestFit: fits and predictions are those of package fit.
func TestFit(t *testing.T) {
	c := dial(t)
	m, err := odes.Parse("model.ode", decay, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	model := c.open(decay)
	want, err := fit.Run(t.Context(), m, fit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := c.ask(kindResult, fmt.Sprintf(`{"op":"fit","model":%d}`, model))
	for i, x := range want.Estimates {
		same(t, x.Name, []float64{
			r.arrays["estimates"][i], r.arrays["stderr"][i], r.arrays["lower"][i], r.arrays["upper"][i],
			r.arrays["before"][i], r.arrays["low"][i], r.arrays["high"][i], r.arrays["at_bound"][i],
		}, []float64{x.Value, x.StdErr, x.Lower, x.Upper, x.Start, x.LowBound, x.HighBound, 0})
	}
	same(t, "correlation", r.arrays["correlation"], slices.Concat(want.Correlation...))
	if r.head["value"] != want.Objective.Value || r.head["status"] != "ok" || len(want.Starts) != 3 {
		t.Error(r.head)
	}
	for i, s := range want.Starts {
		same(t, "start", r.arrays["start_to"][2*i:2*i+2], s.To)
	}
	for i, p := range want.Predictions {
		row := r.arrays["predictions"][8*i : 8*i+8]
		same(t, "prediction", row, []float64{p.T, p.Data, p.Value, p.Error, p.Scatter, p.Residual, 0, 0})
	}
	if math.Abs(r.arrays["estimates"][0]-0.5) > 0.01 || math.Abs(r.arrays["estimates"][1]-2) > 0.02 {
		t.Error(r.arrays["estimates"])
	}
	head := fmt.Sprintf(`{"op":"predict","model":%d,"set":[{"name":"k","count":1},{"name":"x0","count":1}]}`, model)
	r = c.ask(kindResult, head, r.arrays["estimates"]...)
	for i, p := range want.Predictions {
		if got := r.arrays["predictions"][8*i+2]; math.Abs(got-p.Value) > 1e-12*p.Value {
			t.Errorf("prediction %d is %v, want %v", i, got, p.Value)
		}
	}
	failed := c.open("model M\ntime t from 0 to 2\nparam a = 1 in [1, 2]\nstate x = 1\nx' = a*x^2\n" +
		"objective J = final(x)\n")
	if r := c.ask(kindError, fmt.Sprintf(`{"op":"fit","model":%d}`, failed)); r.head["error"] != "run" {
		t.Error(r.head)
	}
}

// TestEnsemble: members have the bits of runs alone, whether drawn or of a table, with derivatives and with outputs. A
// member that fails is told.
func TestEnsemble(t *testing.T) {
	c := dial(t)
	m, err := odes.Parse("model.ode", decay, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	model := c.open(decay)
	ask := func(more string, values ...float64) *reply {
		t.Helper()
		return c.ask(kindResult, fmt.Sprintf(`{"op":"ensemble","model":%d%s}`, model, more), values...)
	}
	check := func(r *reply, name string, n int) {
		t.Helper()
		if len(r.arrays["param"]) != n || len(r.arrays["value"]) != 2*n || len(r.arrays["gradient"]) != 2*n*4 {
			t.Fatalf("%d members: %v", n, r.head)
		}
		for i, v := range r.arrays["param"] {
			want, err := m.Sensitivities(t.Context(), odes.Options{
				Set:      []odes.Assignment{{Name: name, Values: []float64{v}}},
				Settings: []odes.Setting{{Key: "sens.trust", Value: "off"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			same(t, name, r.arrays["gradient"][i*8:i*8+8], want.Gradient)
			same(t, name, r.arrays["value"][2*i:2*i+2], []float64{want.Values[0].Value, want.Values[1].Value})
		}
	}
	r := ask(``)
	check(r, "k", 8)
	same(t, "the same seed", ask(`,"settings":[["ensemble.seed","3"]]`).arrays["param"], r.arrays["param"])
	if other := ask(`,"settings":[["ensemble.seed","4"]]`).arrays["param"]; slices.Equal(other, r.arrays["param"]) {
		t.Error("another seed draws the same values")
	}
	check(ask(`,"draw":"x0 from 1 to 2","settings":[["ensemble.n","4"]]`), "x0", 4)
	check(ask(`,"columns":["b[2]"],"rows":3`, 1, 2, 3), "b[2]", 3)

	r = ask(`,"columns":["k","x0"],"rows":2,"times":3`, 0, 2, 4, 1, 2, 0.5, 3)
	if r.head["status"] != "ok" || len(r.arrays["series"]) != 6 {
		t.Fatal(r.head)
	}
	for i, x := range []struct{ k, x0 float64 }{{1, 2}, {0.5, 3}} {
		for j, at := range []float64{0, 2, 4} {
			want := x.x0 * math.Exp(-x.k*at)
			if got := r.arrays["series"][3*i+j]; math.Abs(got-want) > 1e-5*want {
				t.Errorf("member %d at %v: %v, want %v", i, at, got, want)
			}
		}
	}

	// Of k alone, F = exp(-4 k) varies; nothing reads b.
	r = ask(`,"draw":"k ~ uniform(0.5, 1.5), b[2] ~ normal(0, 1)","indices":"sobol","of":["F"],` +
		`"settings":[["ensemble.n","64"]]`)
	p, err := ensemble.OpenModel(&ensemble.Job{Of: []string{"F"}, Design: ensemble.Design{
		Points: ensemble.Saltelli, N: 64, Seed: 3, Axes: axes(t, m, "k ~ uniform(0.5, 1.5), b[2] ~ normal(0, 1)"),
	}}, m)
	if err != nil {
		t.Fatal(err)
	}
	all := ensemble.NewValues(p)
	if _, err := ensemble.Run(t.Context(), p, ensemble.Config{
		Each: func(c *ensemble.Chunk) error { all.Add(c); return nil },
	}); err != nil {
		t.Fatal(err)
	}
	list, _ := all.Indices()
	for i, x := range list {
		same(t, x.Axis, r.arrays["indices"][9*i:9*i+9], []float64{
			x.First.Value, x.First.Lower, x.First.Upper, x.Jansen.Value, x.Jansen.Lower, x.Jansen.Upper, x.Total.Value,
			x.Total.Lower, x.Total.Upper,
		})
	}
	if first := r.arrays["indices"][0]; math.Abs(first-1) > 0.2 {
		t.Errorf("the index of k is %v", first)
	}
	for kind, size := range map[string]int{"morris": 3, "dgsm": 2} {
		r := ask(`,"draw":"k ~ uniform(0.5, 1.5), b[2] ~ normal(0, 1)","indices":"` + kind + `","of":["F"],` +
			`"settings":[["ensemble.n","8"]]`)
		if got := r.arrays["indices"]; len(got) != 2*size*3 || !(got[0] != 0) || got[3*size] != 0 {
			t.Errorf("%s: %v", kind, got)
		}
	}

	model = c.open("model M\ntime t from 0 to 2\nparam a = 0.1\nstate x = 1\nx' = a*x^2\nobjective J = final(x)\n")
	r = ask(`,"columns":["a"],"rows":3`, 0.1, 1, 0.2)
	why := r.head["failures"].([]any)
	if r.head["status"] != "partial" || len(why) != 1 || why[0].(map[string]any)["member"] != 1.0 ||
		!math.IsNaN(r.arrays["value"][1]) || math.Abs(r.arrays["value"][2]-1/(1-0.4)) > 1e-4 {
		t.Error(r.head, r.arrays["value"])
	}
}

func axes(t *testing.T, m *odes.Model, text string) []ensemble.Axis {
	list, err := ensemble.ReadAxes(m, nil, text)
	if err != nil {
		t.Fatal(err)
	}
	return list
}
