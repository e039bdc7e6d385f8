package sens_test

import (
	"math"
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

type (
	env         = solvertest.Env
	hybridModel = solvertest.Hybrid
	guard       = solvertest.Guard
	instant     = solvertest.Instant
	event       = solvertest.Event
)

// fixedAt is an instant at a time that depends on nothing.
func fixedAt(k solvers.InstantKind, t float64) instant {
	return instant{Instant: solvers.Instant{Kind: k, Period: -1, To: -1, Count: -1, Fixed: true}, At: func(*env) C {
		return complex(t, 0)
	}}
}

// at is an instant at a time that may depend on anything.
func at(k solvers.InstantKind, f func(e *env) C) instant {
	return instant{Instant: solvers.Instant{Kind: k, Period: -1, To: -1, Count: -1}, At: f}
}

// ball drops from h0 and bounces. Parameters g, e, h0, tf.
func ball(tf float64) *problem {
	p := &problem{opts: solvers.Options{RTol: 1e-10, ATol: 1e-12}}
	p.Hybrid = &hybridModel{
		N: 2, Q: 1, Params: []float64{9.81, 0.8, 2, tf},
		Init:  func(_ C, e *env, y, _ []C) { y[0], y[1] = e.P[2], 0 },
		Field: func(_ C, y []C, e *env, k []C) { k[0], k[1], k[2] = y[1], -e.P[0], y[0] },
		Conditions: []guard{{
			Guard: solvers.Guard{Event: 0},
			Rho:   func(_ C, y []C, _ *env) C { return -y[0] },
		}},
		Bodies: []event{{
			Event: solvers.Event{Name: "bounce", Elems: 1},
			Body:  func(_ int, _ C, ym []C, e *env, yp, _ []C) { yp[1] = -e.P[1] * ym[1] },
		}},
		Times: []instant{
			fixedAt(solvers.InstantStart, 0),
			at(solvers.InstantEnd, func(e *env) C { return e.P[3] }),
		},
	}
	p.n, p.m = 4, 4
	p.observe = func(s sens.Site, t C, ym, dm, yp, dp, pp, f []C) {
		switch s.Kind {
		case sens.SiteFinal:
			f[1] += yp[0]
		case sens.SiteEvent:
			f[2] += 0.5*ym[1]*ym[1] - 0.5*yp[1]*yp[1]
			if s.Firing.Nth == 1 {
				f[3] += t
			}
		}
	}
	p.psi = func(f, _, psi []C) { copy(psi, f) }
	return p
}

// ballExact returns the closed forms of ball's objectives and gradients by
// complex step: integral of x, final x, energy lost, second bounce.
func ballExact(par []float64) (psi []float64, dp [][]float64) {
	eval := func(p []C) []C {
		g, e, h0, tf := p[0], p[1], p[2], p[3]
		v := sqrt(2 * g * h0)
		t := v / g
		integral := h0*t - g*t*t*t/6
		lost, second, n := C(0), C(0), 0
		for {
			n++
			if n == 2 {
				second = t
			}
			lost += 0.5*v*v - 0.5*e*e*v*v
			v *= e
			flight := 2 * v / g
			if real(t+flight) > real(tf) {
				break
			}
			integral += v*flight*flight/2 - g*flight*flight*flight/6
			t += flight
		}
		s := tf - t
		return []C{integral + v*s*s/2 - g*s*s*s/6, v*s - g*s*s/2, lost, second}
	}
	p := lift(par)
	for _, v := range eval(p) {
		psi = append(psi, real(v))
		dp = append(dp, make([]float64, len(par)))
	}
	for j := range p {
		p[j] += complex(0, tiny)
		for i, v := range eval(p) {
			dp[i][j] = imag(v) / tiny
		}
		p[j] = complex(par[j], 0)
	}
	return psi, dp
}

func sqrt(z C) C {
	r := math.Sqrt(real(z))
	return complex(r, imag(z)/(2*r))
}

func TestBall(t *testing.T) {
	for _, c := range []struct {
		tf    float64
		fixed float64
		name  string
	}{
		{2, 0, "dopri5"},
		{5, 0, "dopri5"},
		{2, 0.05, "rk4"},
		{5.5, 0.25, "rk4"},
		{5, 0, "tsit5"},
		{3, 0, "bs3"},
		{5.5, 0, "vern9"},
	} {
		p := ball(c.tf)
		p.opts.Fixed = c.fixed
		tr, st := p.run(t, c.name)
		res := p.compare(t, c.name, tr, st, 1e-11)
		psi, dp := ballExact(p.Params)
		t.Logf("%s to %v: %d bounces, %d steps, %d rejected, %d located", c.name, c.tf, st.Events, st.Steps,
			st.Rejected, st.Located)
		for i := range psi {
			near(t, "value", res.Psi[i], psi[i], 1e-9)
			for j, want := range dp[i] {
				near(t, "derivative", res.DP[i*4+j], want, 1e-8)
			}
		}
		if len(res.Warnings) > 0 || len(st.Warnings) > 0 {
			t.Errorf("warnings: %v %v", res.Warnings, st.Warnings)
		}
	}
}
