package steady_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
)

// saturating are functions of u > 0 that rise from 0 and near 1.
var saturating = []struct {
	text string
	of   func(u float64) float64
}{
	{"u/(1 + u)", func(u float64) float64 { return u / (1 + u) }},
	{"u^2/(1 + u^2)", func(u float64) float64 { return u * u / (1 + u*u) }},
	{"u^4/(1 + u^4)", func(u float64) float64 { return 1 - 1/(1+u*u*u*u) }},
	{"1 - exp(-u)", func(u float64) float64 { return -math.Expm1(-u) }},
	{"u/sqrt(1 + u^2)", func(u float64) float64 { return u / math.Hypot(1, u) }},
	{"1 - 1/sqrt(1 + u)", func(u float64) float64 { return 1 - 1/math.Sqrt(1+u) }},
	{"1 - 1/(1 + u)", func(u float64) float64 { return 1 - 1/(1+u) }},
	{"tanh(u)", math.Tanh},
}

// branchOf follows the steady states of a model, given by its items, along x.
func branchOf(t *testing.T, from, to float64, items ...string) *odes.Branch {
	t.Helper()
	text := "time t from 0 to 1\nparam x = 0\n" + strings.Join(items, "\n") + "\n"
	m, err := odes.Parse("branch.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err, text)
	}
	b, err := m.Continue(t.Context(), odes.Continuation{Param: "x", From: from, To: to}, odes.Options{})
	if err != nil {
		t.Fatal(err, text)
	}
	return b
}

// specials returns the places of a branch that are of some kind.
func specials(b *odes.Branch) (list []odes.Place) {
	for _, p := range b.Places {
		if p.Kind != "" {
			list = append(list, p)
		}
	}
	return list
}

// TestBranchAsymptotes follows steady states that grow without bound as the param nears a value: where a loss
// saturates, in the midst of other states of other sizes, after folds, and where growth comes to equal a loss. Branches
// end there.
func TestBranchAsymptotes(t *testing.T) {
	rng := rand.New(rand.NewPCG(seeds.Of(t, 3), 14))
	size := func() float64 { return math.Pow(10, 4*rng.Float64()-2) }
	check := func(t *testing.T, b *odes.Branch, folds int, at, width float64, state int) {
		t.Helper()
		last := b.Places[len(b.Places)-1]
		if b.End != "unbounded" || math.Abs(last.X-at) > 1e-6*width {
			t.Errorf("%s at %v, want one at %v (%d places, the last %+v)", b.End, last.X, at, len(b.Places), last)
		}
		if last.Growing != 0 || math.Abs(last.Y[state]) < 3*math.Abs(b.Places[0].Y[state]) {
			t.Errorf("the last place is %+v", last)
		}
		if list := specials(b); len(list) != folds {
			t.Errorf("%d special places, want %d: %+v", len(list), folds, list[:min(len(list), 3)])
		}
	}
	for _, g := range saturating {
		for range 3 {
			V, K := size(), size()
			from, to := V*(0.1+0.3*rng.Float64()), V*(1.1+rng.Float64())
			gain := fmt.Sprintf("fn g(u) = %s", g.text)
			t.Run("loss "+g.text, func(t *testing.T) {
				b := branchOf(t, from, to, gain, fmt.Sprintf("state y = %g\ny' = x - %g*g(y/%g)", 0.1*K, V, K))
				check(t, b, 0, V, to-from, 0)
			})
			d, e, other := size(), size(), size()
			t.Run("chain "+g.text, func(t *testing.T) { // what is lost becomes another state; a third has no part in it
				b := branchOf(t, from, to, gain, fmt.Sprintf("state z = %g, y = %g, w = %g", other, 0.1*K, V/d),
					fmt.Sprintf("z' = %g*(%g - z)", e, other), fmt.Sprintf("y' = x - %g*g(y/%g)", V, K),
					fmt.Sprintf("w' = %g*g(y/%g) - %g*w", V, K, d))
				check(t, b, 0, V, to-from, 1)
			})
			t.Run("folds "+g.text, func(t *testing.T) { // where a bump comes first
				rate := func(u float64) float64 { return g.of(u/20) + 2*u*math.Exp(-u) }
				folds := 0
				for u := 0.01; u < 100; u += 0.01 {
					if (rate(u+0.01)-rate(u))*(rate(u+0.02)-rate(u+0.01)) < 0 {
						folds++
					}
				}
				b := branchOf(t, 0.01*V, 3*V, gain, fmt.Sprintf("state y = %g", 0.01*K),
					fmt.Sprintf("y' = x - %g*(g(y/%g) + 2*y/%g*exp(-y/%g))", V, 20*K, K, K))
				check(t, b, folds, V, 3*V, 0)
			})
		}
	}
	for range 10 {
		in, V := size(), size()
		to := V * (1.1 + rng.Float64())
		t.Run("growth", func(t *testing.T) { // y = in/(V - x)
			b := branchOf(t, 0, to, fmt.Sprintf("state y = 0\ny' = %g + (x - %g)*y", in, V))
			check(t, b, 0, V, to, 0)
		})
		d, e := size(), size()
		t.Run("feedback", func(t *testing.T) { // two states that feed one another: the determinant is V*d - x*e
			at := V * d / e
			b := branchOf(t, 0, 1.5*at, "state y = 0, z = 0",
				fmt.Sprintf("y' = %g + x*z - %g*y", in, V), fmt.Sprintf("z' = %g*y - %g*z", e, d))
			check(t, b, 0, at, 1.5*at, 0)
		})
	}
}

// TestBranchNearAsymptotes: steady states that grow by many orders of magnitude and then do so no more are followed to
// the other end of the range.
func TestBranchNearAsymptotes(t *testing.T) {
	rng := rand.New(rand.NewPCG(seeds.Of(t, 15), 9))
	for range 20 {
		V, K, slow := 1+rng.Float64(), 1+rng.Float64(), math.Pow(10, -1-7*rng.Float64())
		b := branchOf(t, 0.1, 4, fmt.Sprintf("state y = 0.1\ny' = x - %g*y/(%g + y) - %g*y", V, K, slow))
		last := b.Places[len(b.Places)-1]
		if list := specials(b); b.End != "bound" || last.X != 4 || len(list) != 0 {
			t.Errorf("slow loss %g: %s, %d special places, the last place %+v", slow, b.End, len(list), last)
		}
		// Little comes in, until growth makes up for the loss: y = leak/(1 - x), then about x - 1.
		leak := slow * slow
		b = branchOf(t, 0, 3, fmt.Sprintf("state y = 0\ny' = %g + (x - 1)*y - y^2", leak))
		last = b.Places[len(b.Places)-1]
		if list := specials(b); b.End != "bound" || last.X != 3 || len(list) != 0 || math.Abs(last.Y[0]-2) > 1e-6+leak {
			t.Errorf("leak %g: %s, %d special places, the last place %+v", leak, b.End, len(list), last)
		}
	}
}
