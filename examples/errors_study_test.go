package examples_test

import (
	"fmt"
	"math"
	"testing"

	"odes.dev/odes"
)

// TestStandardErrors fits a model by Newton's method and computes the standard errors of the
// estimates. Both use the Hessian of the likelihood.
func TestStandardErrors(t *testing.T) {
	const folder = "theophylline/"
	m, err := odes.ParseFile(folder + "theophylline.ode")
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Prepare(odes.Options{Threads: 1, Settings: []odes.Setting{{Key: "sens.trust", Value: "off"}}})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"lKe", "lKa", "lCl", "sd"}
	x := []float64{-2.5, 0.5, -3, 1}
	n := len(x)
	at := func(x []float64) *odes.Sensitivities {
		for i, name := range names {
			if err := r.Set(odes.Assignment{Name: name, Values: []float64{x[i]}}); err != nil {
				t.Fatal(err)
			}
		}
		s, err := r.Sensitivities(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	var rows [][]string
	var inverse [][]float64
	for k := range 20 {
		s := at(x)
		value, g, h := s.Values[0].Value, append([]float64(nil), s.Gradient...), append([]float64(nil), s.Second(0)...)
		slope := 0.0
		for _, d := range g {
			slope = math.Hypot(slope, d)
		}
		// Far from the minimum the Hessian may not be positive definite. A multiple of the size of
		// its diagonal makes it so.
		shift := 0.0
		for inverse = invert(h, shift); inverse == nil; inverse = invert(h, shift) {
			shift = max(2*shift, 1)
		}
		row := []string{fmt.Sprint(k), fmt.Sprintf("%.6f", value), fmt.Sprintf("%.1e", slope), fmt.Sprint(shift)}
		rows = append(rows, row)
		if slope < 1e-5 {
			break
		}
		step := make([]float64, n)
		for i := range step {
			for j := range step {
				step[i] -= float64(inverse[i][j] * g[j])
			}
		}
		for part := 1.0; ; part /= 2 {
			next := make([]float64, n)
			for i := range next {
				next[i] = x[i] + float64(part*step[i])
			}
			if next[3] > 0 && at(next).Values[0].Value <= value+1e-12 {
				x = next
				break
			}
			if part < 1e-6 {
				t.Fatalf("no step from %v makes the likelihood larger", x)
			}
		}
	}
	if last := rows[len(rows)-1]; len(rows) > 15 || last[3] != "0" {
		t.Errorf("Newton's method took %d steps and ended at %v", len(rows)-1, last)
	}
	tabled(t, folder+"README.md", "newton", []string{"step", "`L`", "length of the gradient", "added to the diagonal"},
		rows)

	// The published fit of the same data by nonlinear least squares, whose model is the closed form.
	published := []float64{-2.9196, 0.5752, -3.9159}
	rows = nil
	for i, name := range names {
		if i < 3 && math.Abs(x[i]-published[i]) > 6e-5 {
			t.Errorf("%s = %.6f, published is %v", name, x[i], published[i])
		}
		row := []string{"`" + name + "`", fmt.Sprintf("%.6f", x[i]), fmt.Sprintf("%.4f", math.Sqrt(inverse[i][i]))}
		for j := range names {
			r := inverse[i][j] / math.Sqrt(inverse[i][i]*inverse[j][j])
			if math.Abs(r) < 1e-4 {
				r = 0 // what the last step leaves is rounding
			}
			row = append(row, fmt.Sprintf("%.3f", r))
		}
		rows = append(rows, row)
	}
	tabled(t, folder+"README.md", "errors", []string{
		"", "estimate", "standard error", "`lKe`", "`lKa`", "`lCl`",
		"`sd`",
	}, rows)
	own, err := m.Sensitivities(t.Context(), odes.Options{Wrt: names})
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range own.Gradient {
		if move := math.Abs(d) * inverse[i][i]; move > 1e-3*math.Sqrt(inverse[i][i]) {
			t.Errorf("the model's value of %s is not the estimate: a gradient of %.2g is left", names[i], d)
		}
	}
}

// invert returns the inverse of the symmetric matrix h[n][n] + shift·I by Cholesky's factors. It
// returns nil where that matrix is not positive definite.
func invert(h []float64, shift float64) [][]float64 {
	n := int(math.Sqrt(float64(len(h))))
	l := make([][]float64, n)
	for i := range l {
		l[i] = make([]float64, n)
		for j := range i + 1 {
			sum := h[i*n+j]
			if i == j {
				sum += shift
			}
			for k := range j {
				sum -= float64(l[i][k] * l[j][k])
			}
			if i > j {
				l[i][j] = sum / l[j][j]
			} else if l[i][i] = math.Sqrt(sum); !(sum > 0) {
				return nil
			}
		}
	}
	out := make([][]float64, n)
	for c := range out {
		v := make([]float64, n)
		v[c] = 1
		for i := range n {
			for k := range i {
				v[i] -= float64(l[i][k] * v[k])
			}
			v[i] /= l[i][i]
		}
		for i := n - 1; i >= 0; i-- {
			for k := i + 1; k < n; k++ {
				v[i] -= float64(l[k][i] * v[k])
			}
			v[i] /= l[i][i]
		}
		out[c] = v
	}
	return out
}
