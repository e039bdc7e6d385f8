package examples_test

import (
	"fmt"
	"math"
	"testing"

	"odes.dev/odes"
)

// TestHeatAdjoint compares the derivatives of heat_adjoint with the closed form of each scheme. It
// compares their errors against the exact solution, -2π² T e^(-2π²T) u0, with published ones.
func TestHeatAdjoint(t *testing.T) {
	// By (n, scheme), in units of 1e-1 %: the error of the exact discrete derivative of the scheme.
	published := map[string]string{
		"10 euler": "7.260", "30 euler": "0.104", "50 euler": "0.615",
		"10 rk4": "8.135", "30 rk4": "0.785", "50 rk4": "0.275",
	}
	const end, dt, steps = 0.01, 5e-5, 200
	var rows [][]string
	for _, n := range []int{10, 30, 50} {
		row := []string{fmt.Sprint(n), "", ""}
		m, err := odes.ParseFile(fmt.Sprintf("heat_adjoint/heat%d.ode", n))
		if err != nil {
			t.Fatal(err)
		}
		h := 1 / float64(n-1)
		s := math.Sin(math.Pi * h / 2)
		lambda := -8 * s * s / (h * h) // of the discrete Laplacian
		z := lambda * dt
		exact := -2 * math.Pi * math.Pi * end * math.Exp(-2*math.Pi*math.Pi*end)
		for scheme, r := range map[string][2]float64{ // R(z), R'(z)
			"euler": {1 + z, 1},
			"rk4":   {1 + z + z*z/2 + z*z*z/6 + z*z*z*z/24, 1 + z + z*z/2 + z*z*z/6},
		} {
			want := steps * math.Pow(r[0], steps-1) * r[1] * lambda * dt // times u0
			stated := published[fmt.Sprint(n, " ", scheme)]
			if got := fmt.Sprintf("%.3f", 1e3*math.Abs(want-exact)/math.Abs(exact)); got != stated {
				t.Errorf("n = %d, %s: the closed form is off by %s, published %s", n, scheme, got, stated)
			}
			for _, mode := range []string{"adjoint", "tangent", "complex"} {
				opts := odes.Options{Settings: []odes.Setting{
					{Key: "sens.mode", Value: mode}, {Key: "sens.trust", Value: "off"},
				}}
				if scheme == "rk4" {
					opts.Solver = "rk4"
				}
				if mode == "tangent" {
					opts.Of = []string{"mid", "heat", "u_T"}
				} else if mode == "complex" && n > 10 {
					continue
				}
				res, err := m.Sensitivities(t.Context(), opts)
				if err != nil {
					t.Fatal(err)
				}
				checked := 0
				var most, off float64 // in the maximum norm: of the exact derivative, and of the error
				for i, v := range res.Values {
					u0 := 0.0
					switch v.Name {
					case "mid":
						u0 = math.Pow(math.Sin(math.Pi*float64(n/2-1)*h), 2)
					case "heat":
						sum := 0.0
						for k := range n {
							sum += math.Sin(math.Pi * float64(k) * h)
						}
						u0 = sum * sum / float64(n*n)
					default:
						var a, b int
						if _, err := fmt.Sscanf(v.Name, "u_T[%d,%d]", &a, &b); err != nil {
							t.Fatal(v.Name, err)
						}
						if a == 1 || b == 1 || a == n || b == n {
							continue
						}
						u0 = math.Sin(math.Pi*float64(a-1)*h) * math.Sin(math.Pi*float64(b-1)*h)
						most, off = max(most, math.Abs(exact*u0)), max(off, math.Abs(res.Gradient[i]-exact*u0))
					}
					checked++
					if got := res.Gradient[i]; math.Abs(got-want*u0) > 1e-12*math.Abs(want) {
						t.Errorf("n = %d, %s, %s: d %s/d alpha = %.17g, closed form %.17g", n, scheme, mode, v.Name,
							got, want*u0)
					}
				}
				if mode == "tangent" { // tangents are there at every point
					found := fmt.Sprintf("%.3f", 1e3*off/most)
					if found != published[fmt.Sprint(n, " ", scheme)] {
						t.Errorf("n = %d, %s: off by %s, published %s", n, scheme, found,
							published[fmt.Sprint(n, " ", scheme)])
					}
					row[map[string]int{"euler": 1, "rk4": 2}[scheme]] = found
				}
				if least := 2; checked < least || mode == "tangent" && checked != 2+(n-2)*(n-2) {
					t.Errorf("n = %d, %s, %s: %d derivatives were compared", n, scheme, mode, checked)
				}
			}
		}
		rows = append(rows, row)
	}
	tabled(t, "heat_adjoint/README.md", "errors", []string{"n", "Euler", "Runge–Kutta 4"}, rows)
}

// TestHeatBacksolve integrates the heat equation backwards, which blows up. Its derivatives must be marked as lost, and
// the result as partial.
func TestHeatBacksolve(t *testing.T) {
	for _, n := range []int{10, 30, 50} {
		s := studied(t, fmt.Sprintf("heat_adjoint/heat%d.ode", n), "sens.mode", "backsolve", "sens.trust", "on",
			"sens.of", "mid")
		const end = 0.01
		exact := -2 * math.Pi * math.Pi * end * math.Exp(-2*math.Pi*math.Pi*end)
		right := math.Abs(s.Gradient[0]-exact) < 0.1*math.Abs(exact)
		if lost := s.Trusts != nil && s.Trusts[0] == odes.Lost; lost == right || lost != (s.Status == "partial") {
			t.Errorf("n = %d: backsolve gives %.3g, exact %.3g; lost: %v, status %q", n, s.Gradient[0], exact, lost,
				s.Status)
		}
		if right != (n < 50) {
			t.Errorf("n = %d: backsolve gives %.3g, exact %.3g", n, s.Gradient[0], exact)
		}
	}
}
