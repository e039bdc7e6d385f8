package sens_test

import (
	"math"
	"strings"
	"testing"

	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

// everything has at once what a run can have: two state events in sequence that
// reset states with time in body and guard, an explicit event at τ(p), repeated
// events with a period that is a parameter, observations at times that depend on
// parameters, start and end that do, a discrete on which a later time depends, a
// mode, a crossing with a filter, and a quadrature window between parameters.
//
// Parameters: 0 a, 1 b, 2 level, 3 slope of a guard, 4 gain of a body, 5 τ,
// 6 t0, 7 tf, 8 from, 9 to, 10 x0, 11 site, 12 period, 13 unused, 14 delay.
func everything() *problem {
	p := &problem{opts: solvers.Options{RTol: 1e-9, ATol: 1e-11}}
	p.Hybrid = &hybridModel{
		N: 3, Q: 2, D: 2, M: 2,
		Params: []float64{0.9, 0.4, 1.1, 0.07, 0.6, 1.3, 0.1, 6.2, 0.7, 3.3, 0.5, 2.4, 0.9, 7, 0.35},
		Init: func(t0 C, e *env, y, d []C) {
			y[0], y[1], y[2] = e.P[10], e.P[10]*e.P[0]+t0, 0.3
			d[0], d[1] = 0.2*e.P[1], 1e9
		},
		Field: func(t C, y []C, e *env, k []C) {
			k[0] = y[1] + 0.1*t
			k[1] = -e.P[0]*y[0] - e.P[1]*y[1]*y[2] + e.D[0]
			k[2] = 0.3*y[0] - e.P[1]*y[2]
			if e.M[0] == 1 {
				k[2] += 0.4*y[1]*y[1] - e.P[0]
			}
			k[3] = y[0] * y[0] * t
			k[4] = 0
			if e.M[1] == 1 {
				k[4] = y[0]*y[2] + e.P[1]*t
			}
		},
		Select: func(t float64, y []float64, e *env, m []float64) {
			m[0], m[1] = 0, 0
			if y[1] > real(e.P[2])*0.2 {
				m[0] = 1
			}
			if from, to := real(e.P[8]), real(e.P[9]); t >= from && t < to {
				m[1] = 1
			}
		},
		Conditions: []guard{
			{Guard: solvers.Guard{Event: 0}, Rho: func(t C, y []C, e *env) C { return y[0] - e.P[2] - e.P[3]*t }},
			{
				Guard: solvers.Guard{Event: 1}, Strict: true,
				Rho: func(t C, y []C, e *env) C { return -y[0] - 0.5*e.P[2] + 0.02*t*t },
			},
			{
				Guard:  solvers.Guard{Event: 2, Crossing: true},
				Rho:    func(t C, y []C, e *env) C { return y[2] - 0.1*e.P[1] },
				Filter: func(_ float64, y []C) bool { return real(y[1]) > 0 },
			},
			{Guard: solvers.Guard{Event: -1, Mode: 0, Name: "if@7"}, Rho: func(t C, y []C, e *env) C {
				r := y[1] - 0.2*e.P[2]
				if e.M[0] == 1 {
					return -r
				}
				return r
			}},
		},
		Bodies: []event{
			{Event: solvers.Event{Name: "up", Elems: 1}, Body: func(_ int, t C, ym []C, e *env, yp, dp []C) {
				yp[1] = -e.P[4]*ym[1] + 0.01*t
				yp[0] = ym[0] - 0.05*e.P[1]
				dp[0] = e.D[0] + 0.1*ym[2]*t
				dp[1] = t + e.P[14]
			}},
			{Event: solvers.Event{Name: "down", Elems: 1}, Body: func(_ int, t C, ym []C, e *env, yp, dp []C) {
				yp[1] = ym[1] + e.P[4]*e.P[0]
				dp[0] = 0.5 * e.D[0]
			}},
			{Event: solvers.Event{Name: "cross", Elems: 1}, Body: func(_ int, t C, ym []C, e *env, yp, dp []C) {
				yp[0] = ym[0] + 0.03*e.P[1]*ym[2]
			}},
			{
				Event: solvers.Event{Name: "kick", Elems: 1, Explicit: true},
				Body: func(_ int, t C, ym []C, e *env, yp, dp []C) {
					yp[1] = ym[1] + e.P[0]*ym[0]*t
				},
			},
			{
				Event: solvers.Event{Name: "tick", Elems: 1, Explicit: true},
				Body: func(_ int, t C, ym []C, e *env, yp, dp []C) {
					yp[2] = 0.9*ym[2] + 0.1*e.P[3]
				},
			},
			{
				Event: solvers.Event{Name: "later", Elems: 1, Explicit: true},
				Body: func(_ int, t C, ym []C, e *env, yp, dp []C) {
					dp[0] = e.D[0] * ym[0]
					dp[1] = 1e9
				},
			},
		},
	}
	every := at(solvers.InstantEvery, func(e *env) C { return 1 + e.P[3] })
	every.Event, every.Period, every.Count = 4, 8, 9
	fire := func(event int, f func(e *env) C) instant {
		i := at(solvers.InstantFire, f)
		i.Event = event
		return i
	}
	site := func(n int, f func(e *env) C) instant {
		i := at(solvers.InstantSite, f)
		i.Site = n
		return i
	}
	second := fixedAt(solvers.InstantSite, 5)
	second.Site = 1
	p.Times = []instant{
		at(solvers.InstantStart, func(e *env) C { return e.P[6] }),
		at(solvers.InstantEnd, func(e *env) C { return e.P[7] + 0.1*e.P[0] }),
		fire(3, func(e *env) C { return e.P[5] * e.P[0] }),
		site(0, func(e *env) C { return e.P[11] }),
		second,
		at(solvers.InstantRemode, func(e *env) C { return e.P[8] }),
		at(solvers.InstantRemode, func(e *env) C { return e.P[9] }),
		every,
		at(solvers.InstantValue, func(e *env) C { return e.P[12] }),
		at(solvers.InstantValue, func(*env) C { return 4 }),
		fire(5, func(e *env) C { return e.D[1] }),
	}
	p.n, p.m = 7, 5
	p.observe = func(s sens.Site, t C, ym, dm, yp, dp, pp, f []C) {
		switch s.Kind {
		case sens.SiteInitial:
			f[2] += yp[0] * yp[1] * t
		case sens.SiteFinal:
			f[3] += yp[0]*yp[2] + pp[0]*yp[1] + dp[0]*t
		case sens.SiteTime:
			f[4] += yp[1]*yp[1]*t + ym[2]*dm[0] + pp[1]*complex(float64(s.Index+1), 0)
		case sens.SiteEvent:
			f[5] += ym[0]*yp[1] - dm[0]*dp[0] + t*pp[2]
			f[6] += t * t
		}
	}
	p.psi = func(f, pp, psi []C) {
		psi[0] = f[0]*f[3] + pp[0]
		psi[1] = f[1] + f[2]*f[2]
		psi[2] = f[4]
		psi[3] = f[5] * pp[1]
		psi[4] = f[6]
	}
	return p
}

func TestEverything(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	for _, c := range []struct {
		name  string
		fixed float64
	}{
		{"rk4", 0.11},
		{"dopri5", 0},
		{"dopri5", 0.13},
		{"bs3", 0},
		{"vern7", 0},
		{"bs3, dop853", 0},
		{"dopri5, rkc2", 0},
		{"dopri5, rkc2", 0.11},
		{"dopri5, rodas5p", 0},
		{"rosenbrock23, bs3", 0.13},
		{"rk4, vern7, rkf45", 0.13},
	} {
		p := everything()
		p.opts.Fixed = c.fixed
		tr, st := p.run(t, c.name)
		res := p.compare(t, c.name, tr, st, 1e-13)
		seen := map[string]int{}
		for _, e := range res.Events {
			if e.Mode {
				seen["mode"]++
			} else {
				seen[p.Bodies[e.Firing.Event].Name]++
			}
		}
		t.Logf("%s: %d steps, %d rejected, %d located, events %v", c.name, st.Steps, st.Rejected, st.Located, seen)
		for _, name := range []string{"up", "down", "cross", "kick", "tick", "later", "mode"} {
			if seen[name] == 0 {
				t.Errorf("%s: %s did not happen, so its derivatives were not tested", c.name, name)
			}
		}
		if seen["cross"] != 1 {
			t.Errorf("%s: cross fired %d times, want 1: its filter forbids the way up", c.name, seen["cross"])
		}
		for o := range p.m {
			// The Jacobian of the closures is an integral, so its derivatives round.
			least := 0.0
			if strings.Contains(c.name, "ro") {
				least = 1e-17
			}
			if x := res.DP[o*15+13]; !(math.Abs(x) <= least) {
				t.Errorf("derivative by a parameter that is not used: %v", x)
			}
		}
	}
}
