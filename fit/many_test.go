package fit_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// network is a model of many weights and few data.
func network(hidden int, more string) string {
	return fmt.Sprintf(`
const H = %d
time t from 0 to 1.5
param W[H,2] = 0.1*randn(H, 2, seed = 1)
param V[2,H] = 0.1*randn(2, H, seed = 2)
state y[2] = [2, 0]
let dy = V @ tanh(W @ (y^3))
y[i]' = dy[i] for i in 1:2
data D { time = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4]  u = [1.9, 1.5, 0.8, 0.1, -0.5, -1, -1.3] }
observe o = y[1] ~ normal(0.05) from D.u
objective L = nll()
fit { minimize = L  over = [W, V]  %s }
`, hidden, more)
}

// TestManyUntold: what data tell of many estimates takes no more runs than the search, and is one message: at a
// certified minimum, and where a search has ended before.
func TestManyUntold(t *testing.T) {
	for _, c := range []struct {
		algorithm string
		most      int // iterations
		certified bool
	}{{"lbfgsb", 5, false}, {"auto", 300, true}} {
		r := run(t, parse(t, network(60, fmt.Sprintf("max_iter = %d  algorithm = %s", c.most, c.algorithm))),
			fit.Options{})
		search := r.Starts[0].Evaluations
		if most := 2 * search; r.Stats.Evaluations-search > most {
			t.Errorf("%s: %d runs after a search of %d", c.algorithm, r.Stats.Evaluations-search, search)
		}
		if len(r.Unidentified) != 1 || r.Identifiable || r.Settings.Intervals != "wald" {
			t.Fatalf("%s: %d combinations, intervals %s", c.algorithm, len(r.Unidentified), r.Settings.Intervals)
		}
		u := r.Unidentified[0]
		if u.Directions < 240-7 || u.Directions >= 240 || len(u.Names) < u.Directions {
			t.Errorf("%s: %d directions of %d estimates", c.algorithm, u.Directions, len(u.Names))
		}
		said := messages(r)
		if strings.Count(said, "identifiable") != 1 || len(said) > 700 || r.KKT.Certified != c.certified ||
			strings.Contains(said, "there are no standard errors") == c.certified {
			t.Errorf("%s: %+v: %s", c.algorithm, r.KKT, said)
		}
	}
}

// TestInterruptedPhases: in every phase, a fit that is interrupted gives the best so far within a second, and says what
// it has not done.
//
//odes:goroutines
func TestInterruptedPhases(t *testing.T) {
	const slow = `
time t from 0 to 40
param a = 1.2 in [0.1, 3], b = 0.5 in [0.1, 3], c = 0.4 in [0.01, 3], sd = 0.2 in [0.01, 1]
state x = 1, y = 1
x' = a*x - b*x*y
y' = b*x*y - c*y
data D { time = [1, 2, 3, 4, 5, 6, 7, 8, 9]  v = [1.2, 1.9, 2.5, 1.4, 0.7, 0.5, 0.8, 1.5, 2.4] }
observe ob = x ~ normal(sd) from D.v
objective L = nll()
fit { minimize = L  over = [a, b, c, sd]  %s }
solver { method = bs3  rtol = 1e-7  atol = 1e-9 }
`
	for _, c := range []struct{ fit, phase, said string }{
		{"starts = 400  intervals = none", "searches", "the fit was interrupted"},
		{"intervals = profile", "profiles", "ends of intervals with the mark ? lie farther out"},
		{"intervals = bootstrap  bootstrap = 500", "refits", "of 500 refits"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var at time.Time
		m, err := odes.Parse("slow.ode", fmt.Sprintf(slow, c.fit), odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := fit.Run(ctx, m, fit.Options{Workers: 2, Told: func(p fit.Progress) {
			if p.Phase == c.phase && p.Done > 1 && at.IsZero() {
				at = time.Now()
				cancel()
			}
		}})
		took := time.Since(at)
		cancel()
		if err != nil || at.IsZero() {
			t.Errorf("%s: %v", c.phase, err)
			continue
		}
		if r.Status != "partial" || !strings.Contains(messages(r), c.said) || len(r.Estimates) != 4 {
			t.Errorf("%s: %s, %d estimates, %s", c.phase, r.Status, len(r.Estimates), messages(r))
		}
		if took > 5*time.Second { // a second, and what other work of the machine takes
			t.Errorf("%s: it ended %v after the interruption", c.phase, took)
		}
		t.Logf("%s: %v", c.phase, took)
	}
}
