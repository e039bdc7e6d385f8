package hybrid_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
)

// trail is a log of all steps as well.
type trail struct {
	log
	ends []float64
}

func (l *trail) Step(s *solvers.Step, e solvers.End) error {
	l.ends = append(append(l.ends, s.T1), s.Y1...)
	return l.log.Step(s, e)
}

// eventful draws a damped oscillator with a mode, a discrete and a few events: at levels, with times of their own, at
// the same time as others, which push it, count, or set each other off.
func eventful(r *rand.Rand) *solvertest.Hybrid {
	h := sys()
	h.N, h.Q, h.D, h.M = 2, 1, 1, 1
	draw := func(lo, hi float64) float64 { return lo + (hi-lo)*r.Float64() }
	number := func(lo, hi float64) C { return complex(draw(lo, hi), 0) }
	x, v, w := number(-1, 1), number(-1, 1), number(0.5, 3)
	h.Init = func(_ C, _ *env, y, d []C) { y[0], y[1], d[0] = x, v, 0.5 }
	h.Field = func(t C, y []C, e *env, k []C) {
		k[0], k[1], k[2] = y[1], -w*w*y[0]+0.1*e.D[0]-0.3*complex(e.M[0], 0)*y[1], y[0]*y[0]
	}
	level := draw(-0.5, 0.5)
	h.Select = func(_ float64, y []float64, _ *env, m []float64) {
		m[0] = 0
		if y[0] > level {
			m[0] = 1
		}
	}
	h.Conditions = append(h.Conditions, solvertest.Guard{
		Guard: solvers.Guard{Event: -1, Name: "if", Affine: true}, Strict: true,
		Rho: func(_ C, y []C, e *env) C {
			if e.M[0] == 1 {
				return complex(level, 0) - y[0]
			}
			return y[0] - complex(level, 0)
		},
	})
	tf := draw(3, 6)
	h.Times[1] = instant(solvers.InstantEnd, tf)
	bodies := []body{
		nil,
		func(_ int, _ C, ym []C, _ *env, yp, _ []C) { yp[1] = ym[1] + 0.3 },
		func(_ int, _ C, ym []C, _ *env, yp, _ []C) { yp[1] = -0.8 * ym[1] },
		func(_ int, t C, ym []C, e *env, yp, dp []C) { dp[0], yp[0] = e.D[0]+0.7, ym[0]+0.1*t },
		func(_ int, _ C, ym []C, e *env, yp, dp []C) { dp[0] = e.D[0] * ym[0] },
	}
	var times []float64
	for n := range 2 + r.IntN(4) {
		name, b := fmt.Sprintf("e%d", n), bodies[r.IntN(len(bodies))]
		c := number(-0.8, 0.8)
		switch r.IntN(7) {
		case 0, 1: // a level
			ev := event(h, name, func(_ C, y []C, _ *env) C { return y[0] - c }, b)
			ev.Once = r.IntN(4) == 0
			ev.Priority = float64(r.IntN(2))
			g := &h.Conditions[len(h.Conditions)-1]
			g.Affine = r.IntN(2) == 0
			g.Crossing, g.Strict = r.IntN(3) == 0, r.IntN(2) == 0
			if g.Crossing {
				g.Way = int8(r.IntN(3) - 1)
			}
		case 2: // the same level twice
			for range 2 {
				event(h, name, func(_ C, y []C, _ *env) C { return y[1] - c }, bodies[r.IntN(len(bodies))])
			}
		case 3: // not affine
			event(h, name, func(t C, y []C, _ *env) C { return y[0]*y[0] + y[1]*t/5 - 0.5 - c/4 }, b)
		case 4:
			event(h, name, nil, b)
			at := draw(0, tf)
			times = append(times, at)
			h.Times = append(h.Times, fire(n, at))
			h.Times[len(h.Times)-1].Event = len(h.Bodies) - 1
		case 5:
			event(h, name, nil, b)
			every := fire(len(h.Bodies)-1, draw(0, 1))
			every.Kind, every.Period = solvers.InstantEvery, len(h.Times)+1
			h.Times = append(h.Times, every, instant(solvers.InstantValue, draw(0.3, 2)))
		case 6: // a kink, or an atom of a condition
			kink(h, func(t C, y []C, _ *env) C { return y[1] - 0.1*t - c })
			g := &h.Conditions[len(h.Conditions)-1]
			g.Watch = r.IntN(2) == 0
			g.Kink = !g.Watch
		}
	}
	for range r.IntN(4) {
		h.Times = append(h.Times, site(draw(0, tf)))
	}
	for _, at := range times {
		if r.IntN(2) == 0 {
			h.Times = append(h.Times, site(at))
		}
	}
	return h
}

// TestEventful repeats runs of systems that are drawn: what they cost, and every bit of them, stays. Each is the same
// run however it is kept.
func TestEventful(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 13), 10))
	methods := []string{"dopri5", "bs3", "tsit5", "dop853", "rk4", "bs3, dop853", "vern7", "rkc2"}
	done := 0
	for n := range 60 {
		h := eventful(r)
		name := methods[n%len(methods)]
		opts := solvers.Options{RTol: 1e-6, ATol: 1e-6, EventRules: mostEvents(200)}
		if name == "rk4" {
			opts = solvers.Options{Fixed: 0.11, EventRules: mostEvents(200)}
		}
		l := &trail{}
		h.Asked = new(int)
		st, err := solver(h, name, opts).Solve(context.Background(), l)
		if err == nil {
			done++
		}
		spent(t, st, *h.Asked, l.lines, l.ends, l.final, err)
		if n%6 == 0 {
			sameKept(t, solver(h, name, opts), h, name)
		}
	}
	if done < 45 {
		t.Errorf("%d runs went to their end", done)
	}
}
