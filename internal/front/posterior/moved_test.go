package posterior

import (
	"fmt"
	"math"
	"testing"
)

// TestMovedWhere: what continues from draws leaves an arc of a ring, and one end of a parabola, which weights do not
// see; the evidence has no error then. Right approximations stay right.
func TestMovedWhere(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	for _, x := range []struct {
		text string
		seed int
	}{
		{"param a = 3 in [-8,8], b = 0 in [-8,8]\nobjective L = 0.5*((sqrt(a^2+b^2+1e-12)-4)/0.2)^2 - 0.3*a", 4},
		{"param a = -1 in [-5,5], b = 1 in [-5,30]\nobjective L = 5*(b-a^2)^2+0.05*(1-a)^2", 1},
	} {
		text := prior(x.text + fmt.Sprintf("\nsample { of = L  over = [a, b]  method = pathfinder  seed = %d }",
			x.seed))
		r := drawn(t, text, Options{})
		if r.Status != "partial" || !(r.K < 0.6) || len(r.Moved) == 0 || !math.IsNaN(r.Evidence.Error) {
			t.Errorf("%s: %s, k = %g, %v; %v", x.text, r.Status, r.K, r.Moved, r.Warnings)
		}
	}
	moved := 0
	for seed := range 10 {
		for _, method := range []string{"laplace", "pathfinder"} {
			text := line + fmt.Sprintf("sample { draws = 250  chains = 4  method = %s  seed = %d }", method, seed+1)
			if r := drawn(t, text, Options{}); len(r.Moved) > 0 {
				moved++
			}
		}
	}
	if moved > 1 { // of 20, each with a probability of 1 %
		t.Errorf("%d of 20 normal posteriors seem to move", moved)
	}
}
