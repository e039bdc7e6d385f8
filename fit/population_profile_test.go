package fit

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes"
)

// balanced is a linear mixed model: n subjects with k measurements each, y = mu + e + noise. Its likelihood follows
// from the sums of squares between and within subjects.
type balanced struct {
	n, k            int
	mean            float64
	between, within float64
	model           *odes.Model
}

// newBalanced draws nothing: measurements are a fixed pattern.
func newBalanced(t *testing.T, n, k int, marginal string, changes ...string) *balanced {
	t.Helper()
	b := &balanced{n: n, k: k}
	var rows strings.Builder
	rows.WriteString("ID,TIME,DV\n")
	values, means := make([][]float64, n), make([]float64, n)
	for i := range n {
		for j := range k {
			y := 3 + 0.8*math.Sin(float64(7*i+1)) + 0.5*math.Cos(float64(13*i+5*j))
			values[i] = append(values[i], y)
			means[i] += y / float64(k)
			fmt.Fprintf(&rows, "%d,%d,%.17g\n", i+1, j+1, y)
		}
		b.mean += means[i] / float64(n)
	}
	for i := range n {
		b.between += float64(k) * (means[i] - b.mean) * (means[i] - b.mean)
		for _, y := range values[i] {
			b.within += (y - means[i]) * (y - means[i])
		}
	}
	var err error
	b.model, err = odes.Parse("m.ode", strings.NewReplacer(changes...).Replace(`
time t from 0 to 10
param mu = 2 in [-10, 10], w = 0.5 in [1e-3, 10], s = 0.4 in [1e-2, 10]
random e ~ normal(0, w)
state x = 0
x' = 0
data D = csv("d.csv", time = "TIME")
observe y = x + mu + e ~ normal(s) from D.DV
experiment subject from D by D.ID { }
solver { marginal = `+marginal+` }
objective L = nll()
`), odes.ParseOptions{Files: fstest.MapFS{"d.csv": {Data: []byte(rows.String())}}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// nll is the negative log likelihood at the best mean.
func (b *balanced) nll(w, s float64) float64 {
	n, k := float64(b.n), float64(b.k)
	v := s*s + k*w*w
	return 0.5 * (n*k*math.Log(2*math.Pi) + n*(k-1)*math.Log(s*s) + n*math.Log(v) + b.within/(s*s) + b.between/v)
}

// held is the least value at w, for any s.
func (b *balanced) held(w float64) float64 {
	lo, hi := 0.05, 3.0
	for range 200 {
		x, y := lo+0.382*(hi-lo), lo+0.618*(hi-lo)
		if b.nll(w, x) < b.nll(w, y) {
			hi = y
		} else {
			lo = x
		}
	}
	return b.nll(w, lo)
}

// TestPopulationProfile: the interval of the standard deviation of a random effect ends where the profile of the closed
// form has risen by half the quantile of chi squared.
func TestPopulationProfile(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	b := newBalanced(t, 5, 2, "laplace")
	r, err := Run(t.Context(), b.model, Options{Options: odes.Options{
		Set:      []odes.Assignment{{Name: "mu", Values: []float64{b.mean}}},
		Settings: []odes.Setting{{Key: "fit.intervals", Value: "profile"}, {Key: "fit.over", Value: "[w, s]"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	s2 := b.within / float64(b.n*(b.k-1))
	w := math.Sqrt((b.between/float64(b.n) - s2) / float64(b.k))
	least := b.nll(w, math.Sqrt(s2))
	if e := &r.Estimates[0]; math.Abs(e.Value-w) > 1e-5*w || math.Abs(r.Objective.Value-least) > 1e-8*least {
		t.Errorf("w is %.9g, not %.9g; the objective is %.10g, not %.10g", e.Value, w, r.Objective.Value, least)
	}
	const half = 3.841458820694124 / 2
	for _, end := range []float64{r.Estimates[0].Lower, r.Estimates[0].Upper} {
		if rise := b.held(end) - least; math.Abs(rise-half) > 1e-4 {
			t.Errorf("at the end %g the profile has risen by %.8g", end, rise)
		}
	}
	if r.Estimates[0].OpenLower != "" || r.Estimates[0].OpenUpper != "" {
		t.Errorf("the ends are %q and %q", r.Estimates[0].OpenLower, r.Estimates[0].OpenUpper)
	}
}
