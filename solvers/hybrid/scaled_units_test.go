package hybrid_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/elem"
)

// network writes a model of species that turn into each other and bind, each in a unit of its own.
func network(seed uint64, unit []float64, method string) string {
	r := elem.NewRand(seed)
	n := len(unit)
	any := func() int { return int(r.Float64() * float64(n)) }
	var out strings.Builder
	rates := make([]strings.Builder, n)
	out.WriteString("time t from 0 to 1\nparam c = 1, g = 1\n")
	for q := range 3 * n {
		k := math.Pow(10, 8*r.Float64()-4)
		from, other, to := any(), any(), any()
		rate := fmt.Sprintf("%g*c*x%d/%g", k, from, unit[from])
		if q%2 == 0 {
			rate += fmt.Sprintf("*x%d/%g", other, unit[other])
			fmt.Fprintf(&rates[other], " - %g*r%d", unit[other], q)
		}
		fmt.Fprintf(&out, "let r%d = %s\n", q, rate)
		fmt.Fprintf(&rates[from], " - %g*r%d", unit[from], q)
		fmt.Fprintf(&rates[to], " + %g*r%d", unit[to], q)
	}
	var atol []string
	for i, u := range unit {
		fmt.Fprintf(&out, "state x%d = %g\nx%d' = g*%g%s\n", i, 2*r.Float64()*u, i, 1e-3*u, rates[i].String())
		fmt.Fprintf(&out, "objective J%d = final(x%d)/%g\n", i, i, u)
		atol = append(atol, fmt.Sprintf("x%d = %g", i, 1e-9*u))
	}
	fmt.Fprintf(&out, "sens { wrt = [c, g] }\nsolver { method = %s  rtol = 1e-7  atol = [%s] }\n", method,
		strings.Join(atol, ", "))
	return out.String()
}

// TestUnitsOfStates checks that results, steps and marks do not depend on the units of states, with tolerances in these
// units. Where pivots were chosen by the numbers, such a run took many times the steps, or did not end.
func TestUnitsOfStates(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	for _, n := range []int{3, 8, 20} {
		for seed := range uint64(5) {
			one, unit := make([]float64, n), make([]float64, n)
			r := elem.NewRand(seed)
			for i := range unit {
				one[i], unit[i] = 1, math.Ldexp(1, int(100*r.Float64())-50)
			}
			for _, method := range []string{"rodas5p", "radau5"} {
				run := func(unit []float64) *odes.Sensitivities {
					t.Helper()
					m, err := odes.Parse("network.ode", network(seed, unit, method), odes.ParseOptions{})
					if err != nil {
						t.Fatal(err)
					}
					s, err := m.Sensitivities(t.Context(), odes.Options{
						Settings: []odes.Setting{{Key: "solver.max_steps", Value: "3000"}},
					})
					if err != nil {
						t.Fatalf("%s, %d species, seed %d: %v", method, n, seed, err)
					}
					return s
				}
				want, got := run(one), run(unit)
				if a, b := want.Stats.Steps, got.Stats.Steps; b > a+a/10+5 {
					t.Errorf("%s, %d species, seed %d: %d steps, and %d in other units", method, n, seed, a, b)
				}
				if want.Status != got.Status {
					t.Errorf("%s, %d species, seed %d: %s, and %s in other units", method, n, seed, want.Status,
						got.Status)
				}
				for i, v := range want.Values {
					if w := got.Values[i].Value; !(math.Abs(w-v.Value) <= 1e-5*math.Abs(v.Value)+1e-7) {
						t.Errorf("%s, %d species, seed %d: %s = %g, and %g in other units", method, n, seed, v.Name,
							v.Value, w)
					}
				}
			}
		}
	}
}
