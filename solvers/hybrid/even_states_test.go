package hybrid_test

import (
	"fmt"
	"math"
	"testing"

	"odes.dev/odes/internal/testing/modeltest"
)

// TestBellsOfEvenStates has narrow peaks of a state that moves evenly, as a clock that is written as a state does, in a
// rate and in an integral. Events move the state and change its rate.
func TestBellsOfEvenStates(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	for _, width := range []float64{2, 0.2, 0.01, 1e-3} {
		for _, c := range []struct {
			peak string
			area float64 // of a peak of width 1
		}{
			{"exp(-((x - 50)/s)^2)", math.Sqrt(math.Pi)},
			{"max(1 - abs(x - 50)/s, 0)", 1},
			{"exp(-((2*x + t - 150)/s)^2)", 0}, // where x = t
			{"exp(-((x - 50)/s)^2)*z^2", math.Sqrt(math.Pi)},
		} {
			for _, method := range []string{"dopri5", "dop853", "bs3"} {
				s := modeltest.Run(t,
					fmt.Sprintf("time t from 0 to 100\nparam s = %g, r = 1\nstate x = 0, y = 0, z = 1\n"+
						"discrete u = 1\nx' = r*u\nz' = z*(1 - z)\ny' = %[2]s\nevent e at 10 { x -= 10 }\n"+
						"event f at 20 { u = 2 }\nevent g at 25 { x += 10; u = 1 }\nevent h at 30 { x -= 5 }\n"+
						"objective J = final(y)\nobjective K = integral(%[2]s)", width, c.peak),
					"solver.method", method, "solver.rtol", "1e-8", "solver.atol", "1e-12")
				area, by := c.area*width, c.area
				if c.area == 0 { // 2x + t moves by 3
					area, by = math.Sqrt(math.Pi)/3*width, math.Sqrt(math.Pi)/3
				}
				for i, v := range s.Values {
					if math.Abs(v.Value-area) > 1e-4*area {
						t.Errorf("%s, s = %v, %s: %s = %v, want %v", c.peak, width, method, v.Name, v.Value, area)
					}
					if got := s.Derivative(i, s.Variables[0])[0]; math.Abs(got-by) > 1e-3*by {
						t.Errorf("%s, s = %v, %s: d%s/ds = %v, want %v", c.peak, width, method, v.Name, got, by)
					}
				}
			}
		}
	}
}
