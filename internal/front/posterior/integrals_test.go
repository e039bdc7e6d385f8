package posterior

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// integrated has effects that enter by their squares, so that Laplace's method is off by more where these are wide; of
// the other they are linear, and it is exact.
const integrated = `time t from 0 to 2
param a = 0.5 in [-5, 5]
param w = 0.5 in [0.01, 5]
param s = 0.4 in [0.01, 5]
random e ~ normal(0, w)
output f = a + EFFECT
data D { ID = [1, 1, 2, 2]  time = [0, 1, 0, 1]  DV = [1.5, 1.2, 0.7, 0.9] }
observe y = f ~ normal(s) from D.DV
experiment subject from D by D.ID { }
`

// TestIntegrals: independent integrals over random effects are those of quadrature, and tell where an approximation
// decides what is drawn.
func TestIntegrals(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	data := [][]float64{{1.5, 1.2}, {0.7, 0.9}}
	var columns [3][]float64 // of draws
	for k := range 8 {
		u := float64(k) / 7
		columns[0] = append(columns[0], 0.2+u)
		columns[1] = append(columns[1], 0.2+float64(1.5*u*u))
		columns[2] = append(columns[2], 0.3+0.2*math.Sin(9*u))
	}
	for _, c := range []struct {
		effect string
		of     func(e float64) float64
	}{
		{"e", func(e float64) float64 { return e }},
		{"e^2", func(e float64) float64 { return e * e }},
	} {
		p, err := newProblem(t.Context(), parsed(t, strings.Replace(integrated, "EFFECT", c.effect, 1)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		e, err := p.borrow()
		if err != nil {
			t.Fatal(err)
		}
		var least, most float64
		for k := range columns[0] {
			a, w, s := columns[0][k], columns[1][k], columns[2][k]
			want := 0.0
			for _, y := range data {
				const n = 4000
				sum := 0.0
				for i := range n {
					z := 16*(float64(i)+0.5)/n - 8
					log := -z * z / 2
					for _, x := range y {
						r := (x - a - c.of(w*z)) / s
						log -= float64(r*r/2) + math.Log(s) + math.Log(2*math.Pi)/2
					}
					sum += math.Exp(log) * 16 / n
				}
				want -= math.Log(sum / math.Sqrt(2*math.Pi))
			}
			q := make([]float64, 3)
			for i, x := range []float64{a, w, s} {
				q[i] = p.coords[i].of(x)
			}
			if _, err := e.density(t.Context(), q, make([]float64, 3)); err != nil {
				t.Fatal(err)
			}
			off, err := e.integralOff(t.Context(), []float64{a, w, s})
			if err != nil || !(math.Abs(e.value+off-want) < 0.05) {
				t.Errorf("%s, draw %d: %g by another integral, not %g: %v", c.effect, k, e.value+off, want, err)
			}
			least, most = min(least, off), max(most, off)
		}
		r := &Result{Status: "ok", Settings: p.settings, Chains: []Chain{{
			Values: columns[:], LogP: make([]float64, 8),
		}}}
		for i := range p.coords {
			r.Params = append(r.Params, Param{Name: p.coords[i].name})
		}
		if err := p.integrals(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		r.concludeIntegrals()
		bad := c.effect != "e"
		said := strings.Contains(messages(r), "integral over random effects is an approximation")
		if (r.Status == "partial") != bad || said != bad || (most-least > 0.5) != bad || r.Integrals.Failed > 0 {
			t.Errorf("%s: from %g to %g, %+v, %s", c.effect, least, most, *r.Integrals, messages(r))
		}
	}
}

// TestIntegralsForeseen: a posterior that an approximation decides is refused before chains begin, which would take
// long: where modes of a subject part, its density has poles.
func TestIntegralsForeseen(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	_, err := Run(t.Context(), parsed(t, `time t from 0 to 4
param a = 0.5 in [-20, 20], w = 0.5 in [0.01, 5], s = 0.6 in [0.01, 5]
random e ~ normal(0, w)
output f = a + e^2
data D {
  ID = [1, 1, 2, 2, 3, 3, 4, 4]
  time = [0, 1, 0, 1, 0, 1, 0, 1]
  DV = [1.5, 1.2, 0.7, 0.9, 3.1, 2.8, 1.1, 0.8]
}
observe y = f ~ normal(s) from D.DV
experiment subject from D by D.ID { }
sample { starts = 2  chains = 2 }`), Options{})
	if !errors.Is(err, ErrApproximate) || !strings.Contains(err.Error(), "--sample.random=draw") {
		t.Errorf("chains began: %v", err)
	}
}

// TestIntegralsTooMany: populations of particles whose integrals would take hours are refused before they begin.
func TestIntegralsTooMany(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	text := strings.Replace(integrated, "EFFECT", "e", 1)
	_, err := Run(t.Context(), parsed(t, text+"sample { method = smc  draws = 100000 }"), Options{})
	if !errors.Is(err, ErrIntegrals) || !strings.Contains(err.Error(), "--sample.draws=10416") {
		t.Errorf("populations began: %v", err)
	}
}

// TestAnchored: densities whose searches for modes begin near those of another point are those of searches from zero,
// for any history, and their slopes are near.
func TestAnchored(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	m := parsed(t, strings.Replace(integrated, "EFFECT", "0.2*e + 0.1*e^2 + 0.02*e^3", 1))
	p, err := newProblem(t.Context(), m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := func(e *evaluator, values ...float64) (float64, []float64) {
		t.Helper()
		q, g := make([]float64, 3), make([]float64, 3)
		for i, x := range values {
			q[i] = p.coords[i].of(x)
		}
		lp, err := e.density(t.Context(), q, g)
		if err != nil {
			t.Fatal(err)
		}
		if h, err := e.height(t.Context(), q); err != nil || h != lp {
			t.Errorf("%g at %g, and %g without slopes: %v", lp, values, h, err)
		}
		return lp, g
	}
	fresh := func() *evaluator {
		e, err := p.newEvaluator(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	zero, used := fresh(), fresh()
	var lp [3]float64
	var g [3][]float64
	points := [][]float64{{0.5, 0.5, 0.4}, {0.8, 1.5, 0.2}, {-2, 4, 1}}
	for k, x := range points {
		lp[k], g[k] = at(zero, x...)
	}
	p.anchor = []float64{p.coords[0].of(0.6), p.coords[1].of(0.7), p.coords[2].of(0.3)}
	for k, x := range points {
		got, slopes := at(used, x...)
		again, _ := at(fresh(), x...)
		if got != again || !(math.Abs(got-lp[k]) < 1e-3) {
			t.Errorf("%g at %g, %g without runs before, %g from zero", got, x, again, lp[k])
		}
		for i := range slopes {
			if !(math.Abs(slopes[i]-g[k][i]) < 0.02*(1+math.Abs(g[k][i]))) {
				t.Errorf("slopes %g at %g, %g from zero", slopes, x, g[k])
			}
		}
	}
}
