package posterior

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestNarrow: a mode with 42 % of the mass that is a twentieth as wide as the rest, which no search begins near. A
// population that ends without it saw it on the way.
func TestNarrow(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	square, around := []string{}, []string{}
	for i := 1; i <= 4; i++ {
		square = append(square, fmt.Sprintf("v[%d]^2", i))
		around = append(around, fmt.Sprintf("(v[%d] - 0.6)^2", i))
	}
	text := prior(`param v[4] = -0.5
objective L = -log(0.58*exp(-0.5*(` + strings.Join(square, " + ") + `)) + 0.42*160000*exp(-200*(` +
		strings.Join(around, " + ") + `)))
sample { of = L  over = [v]  draws = 200  method = smc  starts = 1  seed = SEED }`)
	for seed := range 2 {
		r := drawn(t, strings.Replace(text, "SEED", fmt.Sprint(seed+1), 1), Options{})
		inside := 0.0
		for c := range r.Chains {
			for k := range r.Chains[c].Draws() {
				far := 0.0
				for i := range 4 {
					far += math.Pow(r.Chains[c].Values[i][k]-0.6, 2)
				}
				if far < 0.04 {
					inside += 1.0 / float64(r.Draws())
				}
			}
		}
		t.Logf("seed %d: %s, %d modes, a share of %.2f, evidence %+v, %v", seed+1, r.Status, len(r.Modes), inside,
			*r.Evidence, messages(r))
		if len(r.Modes) != 2 || math.Abs(inside-0.42) > 0.1 {
			t.Errorf("seed %d: %d modes, the narrow one with a share of %.2f, not 0.42", seed+1, len(r.Modes), inside)
		}
		if want := 2 * math.Log(2*math.Pi); !(math.Abs(r.Evidence.Log-want) < 4*r.Evidence.Error) {
			t.Errorf("seed %d: evidence %+v, not %g", seed+1, *r.Evidence, want)
		}
	}
}
