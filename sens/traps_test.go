package sens_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

func bySite(i instant, n int) instant {
	i.Site = n
	return i
}

func firing(i instant, event, elem int) instant {
	i.Event, i.Elem = event, elem
	return i
}

// copies is n systems side by side that do not know of each other: a ball that
// bounces, is kicked at its own time and twice at the time of a kick that comes
// periodically, is heavier while it falls (a mode), and is observed at a time of
// its own. With equal parameters everything happens to all of them at once, yet
// each has its own derivatives. Parameters of each: g, e, h0, τ, site, weight, period.
func copies(n int) *problem {
	const np = 7
	p := &problem{opts: solvers.Options{RTol: 1e-10, ATol: 1e-12}}
	h := &hybridModel{N: 2 * n, Q: n, M: n}
	for range n {
		h.Params = append(h.Params, 9.81, 0.8, 2, 0.4, 1.1, 0.3, 0.25)
	}
	par := func(e *env, i int) []C { return e.P[i*np : (i+1)*np] }
	h.Init = func(_ C, e *env, y, _ []C) {
		for i := range n {
			y[2*i], y[2*i+1] = par(e, i)[2], 1
		}
	}
	h.Field = func(_ C, y []C, e *env, k []C) {
		for i := range n {
			q := par(e, i)
			k[2*i], k[2*i+1] = y[2*i+1], -q[0]
			if e.M[i] == 1 {
				k[2*i+1] -= q[5]
			}
			k[2*n+i] = y[2*i]
		}
	}
	h.Select = func(_ float64, y []float64, _ *env, m []float64) {
		for i := range n {
			m[i] = 0
			if y[2*i+1] < 0 {
				m[i] = 1
			}
		}
	}
	h.Times = []instant{fixedAt(solvers.InstantStart, 0), fixedAt(solvers.InstantEnd, 2)}
	h.Bodies = []event{
		{
			Event: solvers.Event{Name: "bounce", Elems: n},
			Body: func(i int, _ C, ym []C, e *env, yp, _ []C) {
				yp[2*i+1] = -par(e, i)[1] * ym[2*i+1]
			},
		},
		{
			Event: solvers.Event{Name: "kick", Elems: n, Explicit: true},
			Body: func(i int, t C, ym []C, e *env, yp, _ []C) {
				yp[2*i+1] = ym[2*i+1] + 0.1*t
			},
		},
	}
	for i := range n {
		h.Conditions = append(h.Conditions,
			guard{Guard: solvers.Guard{Event: 0, Elem: i}, Rho: func(_ C, y []C, _ *env) C { return -y[2*i] }},
			guard{
				Guard: solvers.Guard{Event: -1, Mode: i, Name: "if@1"}, Strict: true,
				Rho: func(_ C, y []C, e *env) C {
					if e.M[i] == 1 {
						return y[2*i+1]
					}
					return -y[2*i+1]
				},
			})
		h.Times = append(h.Times,
			firing(at(solvers.InstantFire, func(e *env) C { return par(e, i)[3] }), 1, i),
			bySite(at(solvers.InstantSite, func(e *env) C { return par(e, i)[4] }), i))
	}
	p.Hybrid = h
	p.n, p.m = 3*n, 3*n
	p.observe = func(s sens.Site, _ C, _, _, yp, _, _, f []C) {
		switch s.Kind {
		case sens.SiteFinal:
			for i := range n {
				f[n+i] += yp[2*i]
			}
		case sens.SiteTime:
			f[2*n+s.Index] += yp[2*s.Index+1]
		}
	}
	p.psi = func(f, _, psi []C) { copy(psi, f) }
	return p
}

// TestTwins requires of copies of a system the derivatives that one has alone.
func TestTwins(t *testing.T) {
	const n, np = 3, 7
	for _, name := range []string{"rk4", "dopri5"} {
		alone, many := copies(1), copies(n)
		many.opts.Meetings = true // copies meet, and nothing comes of it
		if name == "rk4" {
			alone.opts.Fixed, many.opts.Fixed = 0.07, 0.07
		}
		tr, st := alone.run(t, name)
		one := alone.compare(t, name, tr, st, 1e-12)
		tr, ms := many.run(t, name)
		all := many.compare(t, name, tr, ms, 1e-12)
		if ms.Events != n*st.Events || ms.Switches != n*st.Switches || st.Switches < 2 || st.Events < 3 {
			t.Errorf("%d copies: %d events, %d switches; one: %d, %d", n, ms.Events, ms.Switches, st.Events,
				st.Switches)
		}
		if len(ms.Warnings)+len(all.Warnings) > 0 {
			t.Errorf("warnings %v %v", ms.Warnings, all.Warnings)
		}
		for kind := range 3 {
			for i := range n {
				near(t, "value", all.Psi[kind*n+i], one.Psi[kind], 1e-11)
				for k := range n {
					for j := range np {
						want, got := 0.0, all.DP[(kind*n+i)*n*np+k*np+j]
						if k == i {
							want = one.DP[kind*np+j]
						}
						if !(math.Abs(got-want) <= 1e-10) {
							t.Errorf("%s: objective %d of copy %d by parameter %d of copy %d: %.15g, want %.15g", name,
								kind, i, j, k, got, want)
						}
					}
				}
			}
		}
	}
}

// line is x' = p0 from x = p1, from 0 to 2.
func line(params ...float64) *problem {
	p := &problem{opts: solvers.Options{}}
	p.Hybrid = &hybridModel{
		N: 1, Params: params,
		Init:  func(_ C, e *env, y, _ []C) { y[0] = e.P[1] },
		Field: func(_ C, _ []C, e *env, k []C) { k[0] = e.P[0] },
		Times: []instant{fixedAt(solvers.InstantStart, 0), fixedAt(solvers.InstantEnd, 2)},
	}
	p.n, p.m = 1, 1
	p.observe = func(s sens.Site, _ C, _, _, yp, _, _, f []C) {
		if s.Kind == sens.SiteFinal {
			f[0] += yp[0]
		}
	}
	p.psi = func(f, _, psi []C) { copy(psi, f) }
	return p
}

func (p *problem) event(name string, b func(t C, ym []C, e *env, yp, dp []C)) int {
	p.Bodies = append(p.Bodies, event{
		Event: solvers.Event{Name: name, Elems: 1},
		Body: func(_ int, t C, ym []C, e *env, yp, dp []C) {
			if b != nil {
				b(t, ym, e, yp, dp)
			}
		},
	})
	return len(p.Bodies) - 1
}

func (p *problem) when(event int, rho func(t C, y []C, e *env) C) {
	p.Conditions = append(p.Conditions, guard{Guard: solvers.Guard{Event: event}, Rho: rho})
}

// continuousMethods are those that differentiate the equations. They are exact where the solution is a polynomial.
func (p *problem) continuousMethods(t *testing.T, name string) map[string]sens.Method {
	forward := func(lanes int) sens.Method {
		return &sens.Forward{New: func() sens.TangentWorker {
			o := p.with(lanes)
			return sens.TangentWorker{System: o.Hybrid, Objectives: o, Method: p.method(t, name, lanes)}
		}}
	}
	return map[string]sens.Method{
		"forward": forward(1), "forward in two lanes": forward(2),
		"continuous": p.continuous(t, name, 1e-10, false), "backsolve": p.continuous(t, name, 1e-10, true),
	}
}

// exact runs a problem fixed and adaptively, by all methods, and compares the
// gradients of its objectives with closed forms. Its solution is a polynomial of low degree.
func (p *problem) exact(t *testing.T, want ...[]float64) {
	t.Helper()
	for _, fixed := range []float64{0, 0.15} {
		name := "dopri5"
		if p.opts.Fixed = fixed; fixed > 0 {
			name = "rk4"
		}
		tr, st := p.run(t, name)
		res := p.compare(t, name, tr, st, 1e-11)
		for o, row := range want {
			for j, x := range row {
				near(t, fmt.Sprintf("%s: dψ%d/dp%d", name, o, j), res.DP[o*len(row)+j], x, 1e-12)
			}
		}
		for kind, m := range p.continuousMethods(t, name) {
			var got sens.Result
			opts := sens.Options{Initial: true, EventTimes: true}
			if err := m.Gradient(t.Context(), tr, opts, &got); err != nil {
				t.Fatalf("%s, %s: %v", name, kind, err)
			}
			what := name + ", " + kind
			rows(t, what+": dψ/dp", got.DP, res.DP, p.m, 1e-11)
			rows(t, what+": dψ/dy0", got.DY0, res.DY0, p.m, 1e-11)
			for e := range got.Events {
				rows(t, fmt.Sprintf("%s: dt(%d)/dp", what, e), got.Events[e].DP, res.Events[e].DP, 1, 1e-11)
			}
		}
	}
}

// TestParameterOnlyInGuard: x jumps by 1 + t when x passes p2 at t = (p2 - p1)/p0.
func TestParameterOnlyInGuard(t *testing.T) {
	p := line(1, 0.5, 1.25)
	p.when(p.event("e", func(t C, ym []C, _ *env, yp, _ []C) { yp[0] = ym[0] + 1 + t }),
		func(_ C, y []C, e *env) C { return y[0] - e.P[2] })
	// x(2) = p1 + 2 p0 + 1 + (p2 - p1)/p0
	p.exact(t, []float64{2 - 0.75, 0, 1})
}

// TestTimeOnlyFromParameter: a body at τ = p2 adds t², moving nothing else.
func TestTimeOnlyFromParameter(t *testing.T) {
	p := line(1, 0.5, 1.25)
	p.Times = append(p.Times, firing(at(solvers.InstantFire, func(e *env) C { return e.P[2] }),
		p.event("e", func(t C, ym []C, _ *env, yp, _ []C) { yp[0] = ym[0] * t }), 0))
	// x(2) = (p1 + p0 τ) τ + p0 (2 - τ)
	p.exact(t, []float64{1.25*1.25 + 0.75, 1.25, 0.5 + 2*1.25 - 1})
}

// TestMovingEnds: x(2)… with t0 = p2 and tf = p3; a body at t0 itself, one at tf, and a window that is the whole span.
func TestMovingEnds(t *testing.T) {
	p := line(1, 0.5, 0.25, 1.75)
	p.Times[0] = at(solvers.InstantStart, func(e *env) C { return e.P[2] })
	p.Times[1] = at(solvers.InstantEnd, func(e *env) C { return e.P[3] })
	double := p.event("double", func(_ C, ym []C, _ *env, yp, _ []C) { yp[0] = 2 * ym[0] })
	grow := p.event("grow", func(t C, ym []C, _ *env, yp, _ []C) { yp[0] = ym[0] + t*t })
	p.Times = append(p.Times,
		firing(at(solvers.InstantFire, func(e *env) C { return e.P[2] }), double, 0),
		firing(at(solvers.InstantFire, func(e *env) C { return e.P[3] }), grow, 0))
	// x(tf) = 2 p1 + p0 (tf - t0) + tf²
	p.exact(t, []float64{1.5, 2, -1, 1 + 3.5})
}

// TestNowhere: an objective that no state reaches, and one whose state no parameter reaches.
func TestNowhere(t *testing.T) {
	p := line(1, 0.5, 3)
	p.N = 2
	p.Init = func(_ C, e *env, y, _ []C) { y[0], y[1] = e.P[1], 1 }
	p.Field = func(_ C, _ []C, e *env, k []C) { k[0], k[1] = e.P[0], 1 }
	p.when(p.event("e", func(_ C, ym []C, _ *env, yp, _ []C) { yp[0] = -ym[0] }),
		func(_ C, y []C, _ *env) C { return y[0] - 1 })
	p.n, p.m = 1, 3
	p.observe = func(s sens.Site, _ C, _, _, yp, _, _, f []C) {
		if s.Kind == sens.SiteFinal {
			f[0] += yp[1]
		}
	}
	p.psi = func(f, pp, psi []C) { psi[0], psi[1], psi[2] = 7, f[0], pp[2]*pp[2] }
	p.exact(t, []float64{0, 0, 0}, []float64{0, 0, 0}, []float64{0, 0, 6})
	tr, _ := p.run(t, "rk4")
	var res sens.Result
	if err := p.adjoint(t, "rk4", 2).Gradient(context.Background(), tr, sens.Options{}, &res); err != nil {
		t.Fatal(err)
	}
	for i, x := range res.DP[:6] { // in the second row two moves of time cancel
		if i < 3 && x != 0 || math.Abs(x) > 1e-15 {
			t.Errorf("derivative %d is %v, not zero", i, x)
		}
	}
}

// TestObservationAtEvent: at an event the right limit is read, with its own
// time's derivative; the left limit moves with the event.
func TestObservationAtEvent(t *testing.T) {
	p := line(1, 0.5, 1.5)
	p.when(p.event("e", func(_ C, ym []C, _ *env, yp, _ []C) { yp[0] = 3 * ym[0] }),
		func(_ C, y []C, _ *env) C { return y[0] - 2 })
	p.Times = append(p.Times, bySite(at(solvers.InstantSite, func(e *env) C { return e.P[2] }), 0))
	p.n, p.m = 2, 2
	p.observe = func(s sens.Site, _ C, ym, _, yp, _, _, f []C) {
		if s.Kind == sens.SiteTime {
			f[0] += yp[0]
			f[1] += ym[0] * ym[0]
		}
	}
	// After te = (2 - p1)/p0 = 1.5: x = 6 + p0 (t - te), read at t = p2 = te; x⁻ is 2 whatever happens.
	p.exact(t, []float64{1.5, 1, 1}, []float64{0, 0, 0})
}

// TestLimitsOfGroups reads limits at two events. Left limits are those before the group of the event at which they are
// read: x triples at te = (2 - p1)/p0 = 1.5 and doubles at p3 = 1.75, and is read at p2 = te and p4 = p3.
func TestLimitsOfGroups(t *testing.T) {
	both := groups(1.5)
	// Between them x = 6 + p0 (t - te), which is 6.25 at p3; after that 2 x(p3) + p0 (t - p3). Left limits move with
	// the event.
	doubled, before := []float64{2 * 1.75, 2, 0, 1, 1}, []float64{12.5 * 1.75, 12.5, 0, 12.5, 0}
	both.exact(t, []float64{1.5, 1, 1, 0, 0}, []float64{0, 0, 0, 0, 0}, doubled, before)
	second := groups(3) // nothing is read at the first event
	second.exact(t, []float64{0, 0, 0, 0, 0}, []float64{0, 0, 0, 0, 0}, doubled, before)
}

// groups is the problem of TestLimitsOfGroups, with a time p2.
func groups(p2 float64) *problem {
	p := line(1, 0.5, p2, 1.75, 1.75)
	p.when(p.event("triple", func(_ C, ym []C, _ *env, yp, _ []C) { yp[0] = 3 * ym[0] }),
		func(_ C, y []C, _ *env) C { return y[0] - 2 })
	double := p.event("double", func(_ C, ym []C, _ *env, yp, _ []C) { yp[0] = 2 * ym[0] })
	p.Times = append(p.Times,
		firing(at(solvers.InstantFire, func(e *env) C { return e.P[3] }), double, 0),
		bySite(at(solvers.InstantSite, func(e *env) C { return e.P[2] }), 0),
		bySite(at(solvers.InstantSite, func(e *env) C { return e.P[4] }), 1))
	p.n, p.m = 4, 4
	p.observe = func(s sens.Site, _ C, ym, _, yp, _, _, f []C) {
		if s.Kind == sens.SiteTime {
			f[2*s.Index] += yp[0]
			f[2*s.Index+1] += ym[0] * ym[0]
		}
	}
	return p
}

// TestTimesOfAGroup: three events at one time, p2, p3 and p5. The first moves the discretes that set the times of the
// others. They still happen at what these were before. The second happens once more; for the third that is too late.
func TestTimesOfAGroup(t *testing.T) {
	const u = 1.75 // p3 + p4 p0, when the second happens again
	p := line(1, 0.5, 1.25, 1.25, 0.5, 1.25)
	p.D = 2
	p.Init = func(_ C, e *env, y, d []C) { y[0], d[0], d[1] = e.P[1], e.P[3], e.P[5] }
	first := p.event("first", func(_ C, ym []C, e *env, yp, dp []C) {
		yp[0] = ym[0] + 1
		dp[0], dp[1] = e.D[0]+e.P[4]*e.P[0], e.D[1]+2*e.P[4]*e.P[0]
	})
	second := p.event("second", func(t C, ym []C, _ *env, yp, _ []C) { yp[0] = ym[0] * t })
	third := p.event("third", func(t C, ym []C, _ *env, yp, _ []C) { yp[0] = ym[0] + t*t })
	p.Times = append(p.Times,
		firing(at(solvers.InstantFire, func(e *env) C { return e.P[2] }), first, 0),
		firing(at(solvers.InstantFire, func(e *env) C { return e.D[0] }), second, 0),
		firing(at(solvers.InstantFire, func(e *env) C { return e.D[1] }), third, 0))
	// x(2) = x(u) u + p0 (2 - u) with x(u) = (p1 + p0 p3 + 1) p3 + p5² + p0 (u - p3).
	const x = 2.75*1.25 + 1.25*1.25 + 0.5
	p.exact(t, []float64{
		(1.25*1.25+0.5+0.5)*u + x*0.5 + (2 - u) - 0.5, 1.25 * u, 0, (2.75+1.25)*u + x - 1, u + x - 1, 2.5 * u,
	})
}

// TestObservedInside reads within steps, at a time that is fixed and at one that moves: x = p1 + p0 t.
func TestObservedInside(t *testing.T) {
	p := line(1, 0.5, 1.1)
	p.opts.Observe = solvers.ObserveDense
	p.Times = append(p.Times, bySite(fixedAt(solvers.InstantSite, 0.5), 0),
		bySite(at(solvers.InstantSite, func(e *env) C { return e.P[2] }), 1))
	p.n, p.m = 2, 2
	p.observe = func(s sens.Site, t C, _, _, yp, _, _, f []C) {
		if s.Kind == sens.SiteTime {
			f[s.Index] += yp[0] * t
		}
	}
	p.exact(t, []float64{0.25, 0.5, 0}, []float64{1.1 * 1.1, 1.1, 0.5 + 2*1.1})
}

// TestStop: the run ends at te = (2 - p1)/p0, where x is 2 and doubles.
func TestStop(t *testing.T) {
	p := line(1, 0.5)
	e := p.event("stop", func(t C, ym []C, _ *env, yp, _ []C) { yp[0] = 2 * ym[0] * t })
	p.Bodies[e].Stop = true
	p.when(e, func(_ C, y []C, _ *env) C { return y[0] - 2 })
	p.Times = append(p.Times, bySite(fixedAt(solvers.InstantSite, 1.75), 0))
	p.n, p.m = 2, 2
	observe := p.observe
	read := false
	p.observe = func(s sens.Site, tt C, ym, dm, yp, dp, pp, f []C) {
		observe(s, tt, ym, dm, yp, dp, pp, f)
		read = read || s.Kind == sens.SiteTime
	}
	p.exact(t, []float64{-4 * 1.5, -4})
	if read {
		t.Error("an observation after the stop was read")
	}
}

// TestMissingFiring has an objective without a value: it is NaN, and the other one is not touched.
func TestMissingFiring(t *testing.T) {
	p := line(1, 0.5)
	p.when(p.event("e", nil), func(_ C, y []C, _ *env) C { return y[0] - 1 })
	p.n, p.m = 2, 2
	second := false
	observe := p.observe
	p.observe = func(s sens.Site, tt C, ym, dm, yp, dp, pp, f []C) {
		observe(s, tt, ym, dm, yp, dp, pp, f)
		if s.Kind == sens.SiteEvent && s.Firing.Nth == 1 {
			f[1] += tt
			second = true
		}
	}
	p.missing = func(f []float64) {
		if !second {
			f[1] = nan
		}
	}
	tr, _ := p.run(t, "dopri5")
	methods := p.methods(t, "dopri5")
	for _, m := range p.continuousMethods(t, "dopri5") {
		methods = append(methods, m)
	}
	for _, m := range methods {
		var res sens.Result
		if err := m.Gradient(context.Background(), tr, sens.Options{}, &res); err != nil {
			t.Fatal(err)
		}
		if !math.IsNaN(res.Psi[1]) {
			t.Errorf("%s: %v, want NaN", m.Name(), res.Psi[1])
		}
		near(t, m.Name(), res.Psi[0], 2.5, 1e-14)
		near(t, m.Name(), res.DP[0], 2, 1e-9)
	}
}

// TestEventOfEvent: a jump makes another condition true; that member moves with the first.
func TestEventOfEvent(t *testing.T) {
	p := line(1, 0.5, 1.25, 3)
	p.when(p.event("first", func(_ C, ym []C, e *env, yp, _ []C) { yp[0] = ym[0] + e.P[3] }),
		func(_ C, y []C, e *env) C { return y[0] - e.P[2] })
	p.when(p.event("second", func(t C, ym []C, _ *env, yp, _ []C) { yp[0] = ym[0] * t }),
		func(_ C, y []C, _ *env) C { return y[0] - 3 })
	// te = (p2 - p1)/p0 = 0.75; x(2) = (p2 + p3) te + p0 (2 - te)
	s := 4.25 - 1.0
	p.exact(t, []float64{2 - 0.75 - s*0.75, -s, s + 0.75, 0.75})
}

func TestGrazing(t *testing.T) {
	p := line(1, 0.5, 1)
	p.Field = func(t C, _ []C, e *env, k []C) { k[0] = e.P[0] * (1 - t) } // greatest at t = 1: p1 + p0/2
	p.when(p.event("touch", nil), func(_ C, y []C, e *env) C { return y[0] - e.P[2]*(1-1e-14) })
	p.opts.Fixed = 0.5
	_, st := p.run(t, "rk4")
	if st.Events != 1 || len(st.Warnings) != 1 || st.Warnings[0].Kind != solvers.Grazing {
		t.Fatalf("%d events, warnings %v", st.Events, st.Warnings)
	}
	p.Hybrid.Conditions[0].Rho = func(_ C, y []C, e *env) C { return y[0] - e.P[2] }
	tr, st := p.run(t, "rk4")
	if st.Events != 1 || len(st.Warnings) != 1 {
		t.Fatalf("%d events, warnings %v", st.Events, st.Warnings)
	}
	for _, m := range p.methods(t, "rk4")[1:4] {
		var res sens.Result
		if err := m.Gradient(context.Background(), tr, sens.Options{}, &res); err != nil {
			t.Fatal(err)
		}
		if len(res.Warnings) != 1 || res.Warnings[0].Kind != solvers.Grazing || res.Warnings[0].Name != "touch" ||
			res.Warnings[0].Instant != -1 {
			t.Errorf("%s: warnings %+v", m.Name(), res.Warnings)
		}
		for i, x := range res.DP {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Errorf("%s: derivative %d is %v", m.Name(), i, x)
			}
		}
	}
}

// TestGrazingSlope: what a warning says of a guard that reads the last of five states does not depend on how many
// lanes there are. Its slope is p0 (1 - t) at the time of the event, where it is a hundredth of what it was at the
// start of the step. The other states move fast.
func TestGrazingSlope(t *testing.T) {
	p := line(1, 0.5)
	p.N = 5
	p.Init = func(_ C, e *env, y, _ []C) { y[4] = e.P[1] }
	p.Field = func(t C, _ []C, e *env, k []C) {
		for i := range 4 {
			k[i] = 100
		}
		k[4] = e.P[0] * (1 - t)
	}
	const level = 0.5 + 0.5 - 0.5*0.01*0.01 // where t is 0.99
	p.when(p.event("touch", nil), func(_ C, y []C, _ *env) C { return y[4] - level })
	p.opts.Fixed = 2
	tr, st := p.run(t, "rk4")
	if st.Events != 1 {
		t.Fatalf("%d events", st.Events)
	}
	for lanes := range 7 {
		var m sens.Method = p.adjoint(t, "rk4", max(lanes, 1))
		if lanes > 0 {
			m = &sens.Tangent{New: func() sens.TangentWorker {
				o := p.with(lanes)
				return sens.TangentWorker{System: o.Hybrid, Objectives: o, Method: p.method(t, "rk4", lanes)}
			}}
		}
		for limit, some := range map[float64]bool{0.0101: true, 0.0099: false} {
			var res sens.Result
			if err := m.Gradient(t.Context(), tr, sens.Options{GrazingLimit: limit}, &res); err != nil {
				t.Fatal(err)
			}
			if (len(res.Warnings) == 1) != some {
				t.Errorf("%s, %d lanes, limit %v: warnings %v", m.Name(), lanes, limit, res.Warnings)
			} else if some {
				near(t, m.Name()+": relative slope", res.Warnings[0].Value, 0.01, 1e-9)
			}
		}
	}
}

// TestThreads requires the same bits from any number of goroutines and lanes.
//
//odes:goroutines
func TestThreads(t *testing.T) {
	p := copies(3)
	tr, _ := p.run(t, "dopri5")
	var want sens.Result
	opts := sens.Options{Initial: true, EventTimes: true}
	for i, c := range []struct{ threads, lanes int }{{1, 1}, {3, 1}, {2, 4}, {8, 3}} {
		a := p.adjoint(t, "dopri5", c.lanes)
		a.Threads = c.threads
		var res sens.Result
		if err := a.Gradient(context.Background(), tr, opts, &res); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			want = res
			continue
		}
		same := func(what string, a, b []float64) {
			for i := range b {
				if math.Float64bits(a[i]) != math.Float64bits(b[i]) && a[i] != b[i] {
					t.Fatalf("%+v: %s[%d] = %v, alone %v", c, what, i, a[i], b[i])
				}
			}
		}
		same("dp", res.DP, want.DP)
		same("dy0", res.DY0, want.DY0)
		for e := range res.Events {
			same("dt", res.Events[e].DP, want.Events[e].DP)
		}
	}
}

func TestCancel(t *testing.T) {
	p := ball(2)
	tr, _ := p.run(t, "dopri5")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, m := range p.methods(t, "dopri5") {
		if err := m.Gradient(ctx, tr, sens.Options{}, &sens.Result{}); err != context.Canceled {
			t.Errorf("%s: %v", m.Name(), err)
		}
	}
}
