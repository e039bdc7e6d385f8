package sens_test

import (
	"math"
	"testing"

	"odes.dev/odes/sens"
)

// TestObserver gives functionals an observer that no walk, sweep or replay knows of, and demands that all ways to
// differentiate agree, and with the closed form of what it reads.
func TestObserver(t *testing.T) {
	sens.Halfway(t)
	const a, w, phi, tf = 1.5, 2.0, 0.3, 2.9
	for _, name := range []string{"dopri5", "rodas5p"} {
		p := swing(tf, a, w, phi)
		tr, st := p.run(t, name)
		res := p.compare(t, name, tr, st, 1e-9)
		var want [4][3]float64 // by A, ω and φ
		for i := range tr.Steps() {
			if i%3 != 2 {
				continue
			}
			at := tr.Begins()
			for k := range i {
				at += tr.Length(k)
			}
			at += 0.5 * tr.Length(i)
			s, c := math.Sincos(w*at + phi)
			for k, x := range [3]float64{s, a * at * c, a * c} {
				want[0][k] += x
				want[1][k] -= x
			}
		}
		for o := range 2 {
			for k, x := range want[o] {
				if got := res.DP[o*3+k]; !(math.Abs(got-x) <= 1e-6*(1+math.Abs(x))) {
					t.Errorf("%s: derivative %d of functional %d is %v, want %v", name, k, o, got, x)
				}
			}
		}
	}
}
