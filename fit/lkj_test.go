package fit

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
)

// TestLKJ: the density of the correlations of a matrix is that of Stan's manual. It integrates to 1 over all three
// correlations, blocks count each for itself, standard deviations do not matter, and derivatives are those of
// differences.
func TestLKJ(t *testing.T) {
	at := func(text string, w []float64, eta float64) (value float64, gradient []float64) {
		t.Helper()
		m, err := odes.Parse("m.ode", "time t from 0 to 1\nparam eta = 2\n"+text+
			"\nstate x = 0\nx' = 0\nobjective lp = log_prior()\n", odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{Set: []odes.Assignment{
			{Name: "W", Values: w}, {Name: "eta", Values: []float64{eta}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		return s.Values[0].Value, s.Gradient
	}
	const two = "param W[2,2] = [[1, 0.1], [0.1, 1]] ~ lkj(eta)"
	for _, eta := range []float64{0.7, 1, 4} {
		got, g := at(two, []float64{4, 0.5 * 2 * 3, 0.5 * 2 * 3, 9}, eta)
		a, _ := math.Lgamma(eta + 0.5)
		b, _ := math.Lgamma(eta)
		want := a - b - 0.5*math.Log(math.Pi) + (eta-1)*math.Log(0.75)
		if math.Abs(got-want) > 1e-13 {
			t.Errorf("eta %g: %.15g, not %.15g", eta, got, want)
		}
		// By the covariance: (eta-1) (-2 r)/(1-r²) / (sd sd), of which each of two elements has half.
		if d := (eta - 1) * -2 * 0.5 / 0.75 / 6; math.Abs(g[2]+g[3]-d) > 1e-13 {
			t.Errorf("eta %g: the derivative by the covariance is %.12g, not %.12g", eta, g[2]+g[3], d)
		}
	}
	// With eta = 2 the density of three rows is c (1 + 2xyz - x² - y² - z²), which has a closed integral over z.
	// Stan's constant, by exp: Gamma(3)² / (pi^(3/2) Gamma(2.5) Gamma(2)).
	const three = "param W[3,3] = [[1, 0.1, 0.1], [0.1, 1, 0.1], [0.1, 0.1, 1]] ~ lkj(eta)"
	x, y, z := 0.3, -0.2, 0.4
	got, _ := at(three, []float64{1, x, y, x, 1, z, y, z, 1}, 2)
	det := 1 + 2*x*y*z - x*x - y*y - z*z
	c := math.Exp(got) / det
	sum, n := 0.0, 400
	for i := range n { // over x and y by the midpoint rule, and over z exactly
		for j := range n {
			x, y := (2*float64(i)+1)/float64(n)-1, (2*float64(j)+1)/float64(n)-1
			d := (1 - x*x) * (1 - y*y) // det = d - (z - xy)²
			sum += c * 4.0 / 3 * d * math.Sqrt(d) * 4 / float64(n*n)
		}
	}
	if math.Abs(sum-1) > 1e-4 {
		t.Errorf("the density of three correlations integrates to %g", sum)
	}
	const blocks = "param W[3,3] = [[1, 0, 0.1], [0, 1, 0], [0.1, 0, 1]] ~ lkj(eta)"
	whole, _ := at(blocks, []float64{4, 0, 3, 0, 5, 0, 3, 0, 9}, 2)
	block, _ := at(two, []float64{4, 3, 3, 9}, 2)
	if whole != block {
		t.Errorf("a block among zeros has %.15g, and alone %.15g", whole, block)
	}
	for text, says := range map[string]string{
		"param W[3,3] = [[1, 0.1, 0], [0.1, 1, 0.1], [0, 0.1, 1]] ~ lkj(2)": "zeros within a block",
		"param W[2,2] = [[1, 0.1], [0.1, 1]] ~ lkj([[1, 1], [1, 1]])":       "one number",
		"param r = 0 ~ lkj(-1)": "eta > 0",
		"param W[2,2] = a*[[1, 0.1], [0.1, 1]] ~ lkj(2)\nparam a = 1": "which correlations",
	} {
		_, err := odes.Parse("m.ode", "time t from 0 to 1\n"+text+"\nstate x = 0\nx' = 0\n", odes.ParseOptions{})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestLKJFit: a fit with the prior of a matrix is at the same point as one with the prior of its correlation.
func TestLKJFit(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	matrix := strings.Replace(blockText, "[0.01, 0.1]]\n", "[0.01, 0.1]] ~ lkj(30)\n", 1)
	matrix = strings.Replace(matrix, "nll()", "nll() - log_prior()", 1)
	single := strings.Replace(matrix, "param Omega[2,2] = [[0.1, 0.01], [0.01, 0.1]] ~ lkj(30)\n",
		"param u = 0.3 in [0.01, 2], w = 0.3 in [0.01, 2], r = 0 in [-1, 1] ~ lkj(30)\n", 1)
	single = strings.Replace(single, "mvnormal(Omega)", "mvnormal([[u^2, r*u*w], [r*u*w, w^2]])", 1)
	var at [2][]float64
	var values [2]float64
	for k, text := range []string{matrix, single} {
		m := populationModel(t, text)
		o := odes.Options{
			Settings: []odes.Setting{{Key: "fit.intervals", Value: "none"}, {Key: "solver.marginal", Value: "fo"}},
			Set:      []odes.Assignment{{Name: "CL", Values: []float64{2.18}}, {Name: "V", Values: []float64{11.4}}},
		}
		o.Settings = append(o.Settings, odes.Setting{Key: "fit.over", Value: [...]string{"[Omega]", "[u, w, r]"}[k]})
		r, err := Run(t.Context(), m, Options{Options: o})
		if err != nil {
			t.Fatal(err)
		}
		values[k] = r.Objective.Value
		for i := range r.Estimates {
			at[k] = append(at[k], r.Estimates[i].Value)
		}
	}
	u, w, r := at[1][0], at[1][1], at[1][2]
	want := []float64{u * u, r * u * w, w * w}
	if math.Abs(values[0]-values[1]) > 1e-7 {
		t.Errorf("the objectives are %.10g and %.10g", values[0], values[1])
	}
	for i, x := range at[0] {
		if math.Abs(x-want[i]) > 1e-4*math.Abs(w*w) {
			t.Errorf("%s: %v, not %v", fmt.Sprint("element ", i), at[0], want)
		}
	}
}
