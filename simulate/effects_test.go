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

// TestMatrixPriors: correlations of matrices have the distribution of Lewandowski, Kurowicka and Joe, block by block:
// each alone that of 2 Beta(a, a) - 1 with a = eta - 1 + rows/2, and their determinant the mean that constants give.
func TestMatrixPriors(t *testing.T) {
	const text = `model M
time t from 0 to 1
param eta = 1.5 ~ uniform(1.5, 1.5000001)
param W[4,4] = [[4, 0.1, 0, 0.1], [0.1, 1, 0, 0.1], [0, 0, 9, 0], [0.1, 0.1, 0, 0.25]] in [-9, 9] ~ lkj(eta)
random e[4] ~ mvnormal(W)
state x = 0
x' = 0
data D { time = [1, 1]  id = [1, 2]  y = [1, 1] }
observe y = x + e[1] + e[3] ~ normal(1) from D.y
experiment s from D by D.id { }
objective L = nll()
`
	const n, eta, rows = 3000, 1.5, 3.0
	r := drawn(t, text, "prior=on", "replicates=3000")
	var square [3]float64
	det, products := 0.0, 0.0
	for i := range r.Replicates {
		w := map[string]float64{}
		for _, p := range r.Replicates[i].Params {
			w[p.Name] = p.Value
		}
		if w["W[1,1]"] != 4 || w["W[3,3]"] != 9 || w["W[4,4]"] != 0.25 || w["W[3,1]"] != 0 || w["W[4,3]"] != 0 ||
			w["W[1,4]"] != w["W[4,1]"] {
			t.Fatalf("%v", w)
		}
		x, y, z := w["W[2,1]"]/2, w["W[4,1]"], w["W[4,2]"]/0.5
		for k, v := range []float64{x, y, z} {
			square[k] += v * v / n
		}
		products += x * y / n
		det += (1 + 2*x*y*z - x*x - y*y - z*z) / n
	}
	a := eta - 1 + rows/2
	want := 1 / (2*a + 1) // the variance
	for k, v := range square {
		if fourth := 3 * want / (2*a + 3); math.Abs(v-want) > 4*math.Sqrt((fourth-want*want)/n) {
			t.Errorf("the variance of correlation %d is %g, not %g", k, v, want)
		}
	}
	if math.Abs(products) > 4*want/math.Sqrt(n) {
		t.Errorf("correlations of one row vary together: %g", products)
	}
	// The density integrates to c(eta) = prod over k of B(a_k, a_k)^(rows-k) 2^…, so E det = c(eta+1)/c(eta).
	log := func(eta float64) (sum float64) {
		for k := 1.0; k < rows; k++ {
			a := eta + (rows-1-k)/2
			one, _ := math.Lgamma(a)
			two, _ := math.Lgamma(2 * a)
			sum += (rows - k) * (2*one - two + (2*a-1)*math.Ln2)
		}
		return sum
	}
	if want := math.Exp(log(eta+1) - log(eta)); math.Abs(det-want) > 4*0.25/math.Sqrt(n) {
		t.Errorf("the mean determinant is %g, not %g", det, want)
	}
}
