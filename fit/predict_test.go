package fit_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// TestMissingLimits: a row whose limit of quantification is missing has none, whether from below or from above.
func TestMissingLimits(t *testing.T) {
	value := func(noise string) float64 {
		m := parse(t, `
time t from 0 to 3
param k = 1
state x = 1
x' = -k*x
data D {
  time = [1, 2]
  c    = [0.4, 0.1]
  some = [nan, 0.2]
  most = [nan, 0.05]
}
observe y = x ~ `+noise+` from D.c
objective J = nll()
`)
		s, err := m.Sensitivities(t.Context(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s.Values[0].Value
	}
	density := func(y, t float64) float64 {
		r := (y - math.Exp(-t)) / 0.1
		return r*r/2 + math.Log(0.1*math.Sqrt(2*math.Pi))
	}
	beyond := func(z float64) float64 { return -math.Log(math.Erfc(z/math.Sqrt2) / 2) }
	mean := math.Exp(-2)
	near(t, "below", value("normal(0.1, below = D.some)"), density(0.4, 1)+beyond((mean-0.2)/0.1), 1e-6)
	near(t, "above", value("normal(0.1, above = D.most)"), density(0.4, 1)+beyond((0.05-mean)/0.1), 1e-6)
}

// TestBelowTheLimit: of a value below its limit of quantification a prediction tells the limit, wherever the value is.
func TestBelowTheLimit(t *testing.T) {
	m, err := odes.Parse("test.ode", `
time t from 0 to 3
param k = 1
state x = 1
x' = -k*x
data D {
  time  = [1, 2, 3]
  c     = [0.4, 0.1, 0.06]
  limit = [0.1, 0.1, 0.08]
}
observe y = x ~ normal(0.1, below = D.limit) from D.c
experiment e { use D }
objective J = nll()
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := fit.Predict(t.Context(), m, odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		data float64
		side int
	}{{0.4, 0}, {0.1, -1}, {0.08, -1}} {
		if list[i].Data != want.data || list[i].Side != want.side {
			t.Errorf("row %d: %+v, want %+v", i, list[i], want)
		}
	}
}

// manyRows is a model with rows of data at times that are in no order, some of them twice.
func manyRows(rows int, more string) string {
	var times, data []string
	for i := range rows {
		times = append(times, fmt.Sprint(float64(i*7%rows/2)/float64(rows)))
		data = append(data, fmt.Sprint(i%3))
	}
	return fmt.Sprintf(`
time t from 0 to 1
param k = 1, b = 0.5
state x = 1
x' = -k*x
data D {
  time = [%s]
  c    = [%s]
}
observe y = x + b ~ normal(0.1) from D.c
experiment e { use D }
objective J = nll()
solver { rtol = 1e-10  atol = 1e-12 }
%s`, strings.Join(times, ", "), strings.Join(data, ", "), more)
}

// TestRowsByThemselves: every row of data has its own prediction, with its own derivatives; none has one where a run
// stops before the last.
func TestRowsByThemselves(t *testing.T) {
	compare := func(more string) (*odes.Comparison, error) {
		m, err := odes.Parse("test.ode", manyRows(40, more), odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := m.CompareAll(odes.Options{Wrt: []string{"k", "b"}})
		if err != nil {
			t.Fatal(err)
		}
		return c, c.Run(t.Context())
	}
	c, err := compare("")
	if err != nil {
		t.Fatal(err)
	}
	g := &c.Groups[0]
	for i, at := range g.T {
		x := math.Exp(-at)
		got := []float64{g.Prediction.Values[i], g.Prediction.Slopes[2*i], g.Prediction.Slopes[2*i+1]}
		for k, want := range []float64{x + 0.5, -at * x, 1} {
			if !(math.Abs(got[k]-want) <= 1e-8) {
				t.Errorf("row %d at %g: %g, want %g of number %d", i, at, got[k], want, k)
			}
		}
	}
	if _, err := compare("event soon at 0.2 { stop }"); err == nil {
		t.Error("rows after a stop have predictions")
	}
}

// BenchmarkRows is of a gradient of the predictions of many rows.
func BenchmarkRows(b *testing.B) {
	for _, rows := range []int{1000, 4000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			m, err := odes.Parse("test.ode", manyRows(rows, ""), odes.ParseOptions{})
			if err != nil {
				b.Fatal(err)
			}
			c, err := m.CompareAll(odes.Options{Wrt: []string{"k", "b"}})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := c.Run(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
