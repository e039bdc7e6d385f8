package examples_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/plot"
)

// changed parses a model after it has replaced some of its text: old, new, and so on.
func changed(t *testing.T, path string, replace ...string) *odes.Model {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(string(text), replace[i]) {
			t.Fatalf("%s has no %q", path, replace[i])
		}
	}
	m, err := odes.Parse(path, strings.NewReplacer(replace...).Replace(string(text)), odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// fitted fits a model with settings.
func fitted(t *testing.T, m *odes.Model, settings ...string) *fit.Result {
	t.Helper()
	var o fit.Options
	for i := 0; i < len(settings); i += 2 {
		o.Settings = append(o.Settings, odes.Setting{Key: settings[i], Value: settings[i+1]})
	}
	r, err := fit.Run(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPaperAircraft finds the controls of the aircraft by Newton's method and by L-BFGS. What PETSc's program prints
// for the same problem, optimal_control/ex1 of its tutorials on time steps, is in the files of expected output beside
// that program.
func TestPaperAircraft(t *testing.T) {
	const folder = "papers/tsadjoint/"
	m := changed(t, folder+"aircraft.ode")
	best := fitted(t, m)
	for i, want := range []float64{ // as PETSc prints them
		2.88134, 2.79477, 2.68143, 2.52676, 2.30725, 1.99477, 1.59983, 1.22992, 0.984687, 0.860197,
	} {
		if v := best.Estimates[i]; v.Value != 2 || v.AtBound != 1 {
			t.Errorf("speed %d is %v, want 2", i+1, v.Value)
		}
		if w := best.Estimates[10+i].Value; math.Abs(w-want) > 0.6e-5 || want < 1 && math.Abs(w-want) > 0.6e-6 {
			t.Errorf("heading %d is %v, want %v", i+1, w, want)
		}
	}
	if v := best.Objective.Value; math.Abs(v-0.849937) > 0.5e-6 {
		t.Errorf("the objective is %v, want 0.849937", v)
	}
	petsc := map[string]map[int]string{
		"newton": {1: "2.5e-01", 2: "2.2e-02", 3: "3.2e-02", 4: "1.4e-03", 5: "9.8e-05", 6: "3.5e-08", 7: "4.3e-14"},
		"lbfgsb": {
			1: "6.3e-01", 2: "1.2e-01", 3: "1.1e-01", 4: "5.3e-02", 5: "4.0e-02", 6: "1.7e-02", 7: "8.1e-03",
			10: "3.3e-03", 15: "5.4e-04", 20: "1.0e-05", 30: "1.9e-07",
		},
	}
	picture := &plot.Lines{
		Title: "twenty controls of an aircraft", X: plot.Axis{Label: "iterations"},
		Y:      plot.Axis{Label: "gradient", Log: true},
		Curves: []plot.Curve{{Name: "Newton, exact Hessian"}, {Name: "L-BFGS"}},
	}
	var rows [][]string
	var ended [2]int // iterations, once a search has ended before
	for _, k := range []int{1, 2, 3, 4, 5, 6, 7, 10, 15, 20, 30} {
		row := []string{fmt.Sprint(k)}
		for i, algorithm := range []string{"auto", "lbfgsb"} {
			key := []string{"newton", "lbfgsb"}[i]
			r := fitted(t, m, "fit.algorithm", algorithm, "fit.max_iter", fmt.Sprint(k))
			if r.Algorithm != key {
				t.Fatalf("the algorithm is %s, want %s", r.Algorithm, key)
			}
			cell, theirs := "", petsc[key][k]
			if n := r.Starts[0].Iterations; n == k || ended[i] == 0 {
				if cell = fmt.Sprintf("%.1e", r.GradientNorm); n < k {
					cell, ended[i] = fmt.Sprintf("%s after %d", cell, n), n
				}
				c := &picture.Curves[i]
				c.X, c.Y = append(c.X, float64(n)), append(c.Y, r.GradientNorm)
			}
			row = append(row, cell, theirs)
			switch {
			case k == 10 && key == "newton" && !(r.GradientNorm < 1e-12):
				t.Errorf("after 10 iterations of Newton's method the gradient is %g", r.GradientNorm)
			case k == 30 && key == "lbfgsb" && !(r.GradientNorm < 1e-7):
				t.Errorf("after 30 iterations of L-BFGS the gradient is %g", r.GradientNorm)
			}
		}
		rows = append(rows, row)
	}
	tabled(t, folder+"README.md", "aircraft", []string{
		"iterations", "Newton", "PETSc's Newton", "L-BFGS", "PETSc's quasi-Newton",
	}, rows)
	drawn(t, folder+"aircraft.svg", picture)
}

// TestPaperInverse finds the start of Gray and Scott's reaction from its end. PETSc's program for the same,
// advection-diffusion-reaction/ex5opt_ic of its tutorials, prints 8.48202 for the guess on 64 × 64 points.
func TestPaperInverse(t *testing.T) {
	const folder = "papers/tsadjoint/"
	const model = folder + "gray_scott_inverse.ode"
	if testing.Short() {
		t.Skip("hundreds of runs")
	}
	if s := misfit(t, changed(t, model, "const n = 32", "const n = 64")); math.Abs(s-8.48202) > 0.5e-5 {
		t.Errorf("the misfit of the guess is %v, PETSc's is 8.48202", s)
	}
	var rows [][]string
	for _, c := range []struct {
		n      int
		method string
		most   int
		whole  bool
	}{
		{32, "bs3", 10, false},
		{32, "bs3", 28, false},
		{32, "bs3", 300, false},
		{32, "trapezoidal", 28, false},
		{32, "trapezoidal", 300, false},
		{64, "bs3", 28, true},
		{64, "bs3", 300, true},
		{64, "trapezoidal", 28, true},
		{64, "trapezoidal", 300, true},
	} {
		if c.whole && !*whole {
			continue
		}
		r := fitted(t, changed(t, model, "const n = 32", fmt.Sprintf("const n = %d", c.n)), "solver.method", c.method,
			"fit.max_iter", fmt.Sprint(c.most))
		s := r.Starts[0]
		rows = append(rows, []string{
			fmt.Sprintf("%d²", c.n), "`" + c.method + "`", fmt.Sprint(s.Iterations), fmt.Sprint(s.Evaluations),
			fmt.Sprintf("%.1e", r.Objective.Value), fmt.Sprintf("%.1e", r.GradientNorm),
		})
		if c.most == 300 && (s.Status != "converged" || r.Objective.Value > 1e-20) {
			t.Errorf("%s: %s at %g", c.method, s.Status, r.Objective.Value)
		}
	}
	rowed(t, folder+"README.md", "inverse", []string{
		"points", "method", "iterations", "evaluations", "misfit", "gradient",
	}, rows)
}

// misfit returns the value of the only objective of a model.
func misfit(t *testing.T, m *odes.Model) float64 {
	t.Helper()
	s, err := m.Sensitivities(t.Context(), odes.Options{Wrt: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	return s.Values[0].Value
}

// TestPaperBurgers compares finite elements with the solution of Cole and Hopf, on finer and finer rings, and looks
// for the start of the wave from its end.
func TestPaperBurgers(t *testing.T) {
	const folder = "papers/tsadjoint/"
	const model = folder + "burgers_elements.ode"
	var rows [][]string
	last := 0.0
	for _, n := range []int{20, 40, 80} {
		e := math.Sqrt(misfit(t, changed(t, model, "const n    = 80", fmt.Sprintf("const n = %d", n),
			" + 0.25*exp(-4*(x[i] - 2)^2)", "", "fixed_step = 0.05", "fixed_step = 0.0125")))
		order := ""
		if last > 0 {
			p := math.Log2(last / e)
			if order = fmt.Sprintf("%.2f", p); math.Abs(p-2) > 0.05 {
				t.Errorf("%d elements: order %.3f, want 2", n, p)
			}
		}
		last = e
		rows = append(rows, []string{fmt.Sprint(n), fmt.Sprintf("%.2e", e), order})
	}
	tabled(t, folder+"README.md", "burgers", []string{"elements", "error at t = 4", "order"}, rows)

	if testing.Short() {
		return
	}
	rows = nil
	m := changed(t, model)
	petsc := map[int]string{1: "0.163", 2: "0.059", 3: "0.037", 4: "0.023", 5: "0.016"} // its expected output
	for _, k := range []int{1, 2, 3, 4, 5, 10, 20, 40} {
		r := fitted(t, m, "fit.max_iter", fmt.Sprint(k))
		sum := 0.0
		for i, v := range r.Estimates {
			x := math.Pi * 4 * float64(i) / 80
			d := v.Value - 2*0.01*math.Pi*math.Sin(x)/(2+math.Cos(x))
			sum += d * d * 4 / 80
		}
		rows = append(rows, []string{
			fmt.Sprint(k), fmt.Sprintf("%.2e", math.Sqrt(r.Objective.Value)), fmt.Sprintf("%.3f", math.Sqrt(sum)),
			petsc[k],
		})
		if k == 40 && math.Sqrt(sum) > 0.002 {
			t.Errorf("the start is off by %g", math.Sqrt(sum))
		}
	}
	tabled(t, folder+"README.md", "assimilation", []string{
		"iterations", "distance from the end", "distance from the true start", "PETSc's",
	}, rows)
}
