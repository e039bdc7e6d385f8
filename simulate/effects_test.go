package simulate

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// people is a population of two subjects, whose noise is next to nothing: data are 10 + e[1] and 20 + e[2].
const people = `model M
time t from 0 to 2
param Omega[2,2] = [[4, 1.5], [1.5, 1]]
random e[2] ~ mvnormal(Omega)
state x = 0
x' = 0
data D { time = [1, 2, 1, 2]  id = [1, 1, 2, 2]  y = [1, 1, 1, 1] }
observe y = x + 10*t + e[1]*(2 - t) + e[2]*(t - 1) ~ normal(1e-9) from D.y
experiment s from D by D.id { }
objective L = nll()
`

// TestRandomEffects: what is drawn has the covariances of the model, in all subjects independently, and data follow
// from it. It depends on the seed alone.
func TestRandomEffects(t *testing.T) {
	const n = 2000
	r := drawn(t, people, "seed=3", "replicates=2000", "threads=1")
	if again := drawn(t, people, "seed=3", "replicates=2000", "threads=3"); !slices.EqualFunc(r.Replicates,
		again.Replicates, func(a, b Replicate) bool { return slices.Equal(a.Data[0], b.Data[0]) }) {
		t.Error("threads change data")
	}
	if !slices.Equal(r.EffectNames, []string{"e[1]", "e[2]"}) || !slices.Equal(r.Subject, []string{
		"s_1", "s_1", "s_2", "s_2",
	}) {
		t.Errorf("%v, %v", r.EffectNames, r.Subject)
	}
	var cov [4][4]float64
	for i := range r.Replicates {
		x := &r.Replicates[i]
		var all []float64
		for s, d := range x.Effects {
			for k, v := range d.Values {
				if y := x.Data[0][2*s+k]; math.Abs(y-10*float64(k+1)-v) > 1e-7 {
					t.Fatalf("datum %g with %g", y, v)
				}
				all = append(all, v)
			}
		}
		for a := range all {
			for b := range all {
				cov[a][b] += all[a] * all[b] / n
			}
		}
	}
	want := [4][4]float64{{4, 1.5, 0, 0}, {1.5, 1, 0, 0}, {0, 0, 4, 1.5}, {0, 0, 1.5, 1}}
	for a := range want {
		for b := range want {
			sd := math.Sqrt((want[a][a]*want[b][b] + want[a][b]*want[a][b]) / n)
			if math.Abs(cov[a][b]-want[a][b]) > 4*sd {
				t.Errorf("covariance %d %d: %g, want %g ± %g", a, b, cov[a][b], want[a][b], sd)
			}
		}
	}
}

// TestRandomEffectsOfPriors: their distributions follow from what is drawn from priors.
func TestRandomEffectsOfPriors(t *testing.T) {
	const text = `model M
time t from 0 to 1
param w = 1 ~ lognormal(0, 2)
random e ~ normal(0, w)
state x = 0
x' = 0
data D { time = [1, 1]  id = [1, 2]  y = [1, 1] }
observe y = x + e ~ normal(1e-9) from D.y
experiment s from D by D.id { }
objective L = nll()
`
	r := drawn(t, text, "prior=on", "replicates=500", "threads=2")
	square, n := 0.0, 0.0
	for i := range r.Replicates {
		x := &r.Replicates[i]
		for k, d := range x.Effects {
			z := d.Values[0] / x.Params[0].Value
			square, n = square+z*z, n+1
			if math.Abs(x.Data[0][k]-d.Values[0]) > 1e-7 {
				t.Fatalf("datum %g with %g", x.Data[0][k], d.Values[0])
			}
		}
	}
	if v := square / n; n != 1000 || math.Abs(v-1) > 4*math.Sqrt(2/n) {
		t.Errorf("variance %g of %g", v, n)
	}
	fixed := drawn(t, strings.Replace(text, "w = 1 ~ lognormal(0, 2)", "w = 0", 1))
	if fixed.Replicates[0].Effects[0].Values[0] != 0 {
		t.Error("a deviation of zero")
	}
	for _, bad := range []struct{ text, says string }{
		{strings.Replace(text, "w = 1 ~ lognormal(0, 2)", "w = -1", 1), "the standard deviation of e is -1"},
		{strings.Replace(people, "[1.5, 1]]", "[1.5, 0.1]]", 1), "Omega is no matrix of covariances of e"},
	} {
		if _, err := draw(t, bad.text); err == nil || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("error %v", err)
		}
	}
}
