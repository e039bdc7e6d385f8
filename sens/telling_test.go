package sens_test

import (
	"math"
	"testing"

	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

// heard collects what is told of progress: fractions that do not become smaller, from little to nearly all, and times
// within the run.
type heard struct {
	calls       int
	first, last float64
	steps       int
}

func (h *heard) listen(t *testing.T, who string) func(t, done float64, steps int) {
	*h = heard{}
	return func(at, done float64, steps int) {
		if !(done >= h.last && done <= 1) || !(at >= 0 && at <= 2) || steps <= h.steps {
			t.Errorf("%s: told %v of it, time %v and %d steps after %v and %d", who, done, at, steps, h.last, h.steps)
		}
		if h.calls == 0 {
			h.first = done
		}
		h.calls++
		h.last, h.steps = done, steps
	}
}

// TestTelling: every method tells how far it is, in all of its passes over a run of a thousand steps.
func TestTelling(t *testing.T) {
	p := line(1, 0.5, 1.25, 0.7)
	p.when(p.event("e", func(_ C, ym []C, _ *env, yp, _ []C) { yp[0] = ym[0] + 1 }),
		func(_ C, y []C, e *env) C { return y[0] - e.P[2] })
	p.n, p.m = 1, 3
	p.psi = func(f, p, psi []C) { psi[0], psi[1], psi[2] = f[0], f[0]*f[0], p[3] }
	p.opts.Fixed = 0.002
	tr, _ := p.run(t, "rk4")
	all := p.methods(t, "rk4")
	for _, m := range p.continuousMethods(t, "rk4") {
		all = append(all, m)
	}
	var h heard
	for _, m := range all {
		var res sens.Result
		m.(sens.Teller).SetTell(h.listen(t, m.Name()))
		if err := m.Gradient(t.Context(), tr, sens.Options{}, &res); err != nil {
			t.Fatal(err)
		}
		if !(h.first < 0.2 && h.last > 0.9) || h.calls < 8*res.Stats.Sweeps || h.steps > res.Stats.Steps+tr.Steps() {
			t.Errorf("%s: told %+v in %d sweeps of %d steps", m.Name(), h, res.Stats.Sweeps, res.Stats.Steps)
		}
		h = heard{}
		m.(sens.Teller).SetTell(nil)
		if err := m.Gradient(t.Context(), tr, sens.Options{}, &res); err != nil || h.calls > 0 {
			t.Errorf("%s: %v; told %d times", m.Name(), err, h.calls)
		}
	}
}

// manyTicks is x' = p0 with many events at multiples of the period p2, each of which adds p1 to x.
func manyTicks(n int) *problem {
	p := line(1, 0.5, 2/(float64(n)+0.5), 0.1)
	tick := p.event("tick", func(_ C, ym []C, e *env, yp, _ []C) { yp[0] = ym[0] + e.P[1] })
	every := at(solvers.InstantEvery, func(e *env) C { return e.P[2] })
	every.Event, every.Period = tick, 3
	value := at(solvers.InstantValue, func(e *env) C { return e.P[2] })
	p.Times = append(p.Times, every, value)
	p.Bodies[tick].Explicit = true
	return p
}

// TestManyTimes: the times of many events are differentiated by walks forwards, also by the continuous adjoint, and
// come to what they are: the k-th is k times the period.
func TestManyTimes(t *testing.T) {
	const n = 70
	p := manyTicks(n)
	p.opts.Fixed = 0.002
	tr, _ := p.run(t, "rk4")
	for _, lanes := range []int{1, 3} {
		times := sens.TimesForwards{Times: func() (func() sens.TangentWorker, error) {
			return func() sens.TangentWorker {
				o := p.with(lanes)
				return sens.TangentWorker{System: o.Hybrid, Objectives: o, Method: p.method(t, "rk4", lanes)}
			}, nil
		}}
		adjoint, continuous := p.adjoint(t, "rk4", lanes), p.continuous(t, "rk4", 1e-10, false)
		adjoint.TimesForwards, continuous.TimesForwards = times, times
		for _, m := range []sens.Method{adjoint, continuous} {
			var h heard
			m.(sens.Teller).SetTell(h.listen(t, m.Name()))
			var res sens.Result
			if err := m.Gradient(t.Context(), tr, sens.Options{EventTimes: true}, &res); err != nil {
				t.Fatal(err)
			}
			walks := (len(p.Params) + lanes - 1) / lanes
			if !(h.first < 0.2 && h.last > 0.9) || res.Stats.Sweeps != 1+walks {
				t.Errorf("%s: told %+v in %d sweeps, want %d", m.Name(), h, res.Stats.Sweeps, 1+walks)
			}
			if len(res.Events) != n {
				t.Fatalf("%s: %d events, want %d", m.Name(), len(res.Events), n)
			}
			for k, e := range res.Events {
				for i, want := range []float64{0, 0, float64(k + 1), 0} {
					if !(math.Abs(e.DP[i]-want) <= 1e-12*want) {
						t.Errorf("%s: time %d by p%d is %v, want %v", m.Name(), k, i, e.DP[i], want)
					}
				}
			}
			for i, want := range []float64{2, 1 + n, 0, 0} {
				near(t, m.Name(), res.DP[i], want, 1e-12)
			}
		}
	}
}
