package examples_test

import (
	"fmt"
	"math"
	"testing"
)

// TestPaperHeat repeats tables 1 to 3 of the VectorizedAdjoint paper: errors of the derivative of the heat equation's
// solution by the diffusivity, against that of the partial differential equation, by scheme, grid, step and mode. All
// but differences must agree with closed forms of the scheme. The whole tables:
//
//	go test ./examples -run PaperHeat -whole
func TestPaperHeat(t *testing.T) {
	const end, paper = 0.01, "papers/vectorized_adjoint/README.md"
	exact := math.Exp(-2 * math.Pi * math.Pi * end) // of u(T)/u0
	slope := -2 * math.Pi * math.Pi * end * exact   // of its derivative by the diffusivity
	// Of the paper, dt = 5e-5, as far as known.
	published := map[string]string{
		"euler 10 solution": "1.902", "euler 30 solution": "0.096", "euler 50 solution": "0.030",
		"euler 10 adjoint": "7.260", "euler 30 adjoint": "0.104", "euler 50 adjoint": "0.615",
		"rk4 10 forward": "8.135", "rk4 30 forward": "0.785", "rk4 50 forward": "0.275",
	}
	modes := []string{"adjoint", "forward", "continuous", "bump 1e-6", "bump 1e-9"}
	for _, scheme := range []string{"euler", "rk4"} {
		var rows [][]string
		for _, dt := range []float64{5e-5, 2.5e-5, 1e-5} {
			for _, n := range []int{10, 30, 50} {
				if !*whole && (n == 50 || n == 30 && (dt < 5e-5 || testing.Short())) {
					continue
				}
				h := 1 / float64(n-1)
				s := math.Sin(math.Pi * h / 2)
				lambda := -8 * s * s / (h * h)
				z, steps := lambda*dt, math.Round(end/dt)
				r, rp := 1+z, 1.0
				if scheme == "rk4" {
					r, rp = 1+z+z*z/2+z*z*z/6+z*z*z*z/24, 1+z+z*z/2+z*z*z/6
				}
				u0 := math.Pow(math.Sin(math.Pi*float64(n/2-1)*h), 2)
				derivative := steps * math.Pow(r, steps-1) * rp * z
				row := []string{fmt.Sprint(dt), fmt.Sprint(n)}
				for i, mode := range modes {
					set := []string{
						"solver.method", scheme, "solver.fixed_step", fmt.Sprint(dt), "sens.of", "mid",
						"sens.mode", mode,
					}
					want, within := derivative, 1e-11
					var bump float64
					if k, _ := fmt.Sscanf(mode, "bump %g", &bump); k == 1 {
						set[len(set)-1] = "differences"
						set = append(set, "sens.bump", fmt.Sprint(bump))
						within = 1e-14/bump + bump*bump
					} else if mode == "continuous" {
						// The adjoint is R^(N-n) and the state R^n, so the integral of one step is z R^N or, by the
						// weights of the rule at the end of the step, that up to O(z).
						within = 1.1 * math.Abs(z)
					}
					got := studied(t, fmt.Sprintf("heat_adjoint/heat%d.ode", n), set...)
					if x := got.Gradient[0] / u0; math.Abs(x-want) > within*math.Abs(want) {
						t.Errorf("%s, n = %d, dt = %g, %s: %.12g, closed form %.12g", scheme, n, dt, mode, x, want)
					}
					if i == 0 {
						row = append(row, fmt.Sprintf("%.3f", 1e3*math.Abs(got.Values[0].Value/u0-exact)/exact))
					}
					row = append(row, fmt.Sprintf("%.3f", 1e3*math.Abs(got.Gradient[0]/u0-slope)/math.Abs(slope)))
				}
				for i, name := range append([]string{"solution"}, modes...) {
					if p, ok := published[fmt.Sprint(scheme, " ", n, " ", name)]; ok && dt == 5e-5 && row[2+i] != p {
						t.Errorf("%s, n = %d, %s: off by %s, published %s", scheme, n, name, row[2+i], p)
					}
				}
				rows = append(rows, row)
			}
		}
		rowed(t, paper, "heat "+scheme, []string{
			"dt", "n", "solution", "adjoint", "forward", "continuous", "differences, 1e-6", "1e-9",
		}, rows)
	}
}
