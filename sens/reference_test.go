package sens_test

import (
	"encoding/json"
	"math"
	"math/cmplx"
	"os"
	"testing"

	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

// reference is a hybrid system with exact states, event times and derivatives, by names.
type reference struct {
	ID         string
	Parameters map[string]float64
	Results    []outcome
	Events     []struct {
		Event       string
		T           float64
		DT          map[string]float64            `json:"dt"`
		StateBefore map[string]float64            `json:"state_before"`
		DBefore     map[string]map[string]float64 `json:"d_state_before"`
	}
}

type outcome struct {
	T     float64
	State map[string]float64
	D     map[string]map[string]float64
	Costs map[string]struct {
		Value float64
		D     map[string]float64
	}
}

// example is a system of the reference in this package's terms.
type example struct {
	params, states, costs []string
	hybrid                hybridModel
}

func (x *example) guard(name string, rho func(t C, y []C, e *env) C, crossing bool,
	body func(t C, ym []C, e *env, yp, dp []C),
) {
	n := len(x.hybrid.Bodies)
	x.hybrid.Conditions = append(x.hybrid.Conditions, guard{
		Guard: solvers.Guard{Event: n, Crossing: crossing},
		Rho:   rho,
	})
	x.hybrid.Bodies = append(x.hybrid.Bodies, event{
		Event: solvers.Event{Name: name, Elems: 1},
		Body:  func(_ int, t C, ym []C, e *env, yp, dp []C) { body(t, ym, e, yp, dp) },
	})
}

// byHand returns the examples, made from closures.
func byHand() map[string]*example {
	all := map[string]*example{}

	x := &example{
		params: []string{"k", "Tenv", "P", "lo", "hi", "x0"}, states: []string{"x", "E"}, costs: []string{"cost"},
		hybrid: hybridModel{
			D:    1,
			Init: func(_ C, e *env, y, d []C) { y[0], y[1], d[0] = e.P[5], 0, 1 },
			Field: func(_ C, y []C, e *env, k []C) {
				k[0], k[1], k[2] = -e.P[0]*(y[0]-e.P[1])+e.P[2]*e.D[0], e.P[2]*e.D[0], (y[0]-20)*(y[0]-20)
			},
		},
	}
	x.guard("switch_off", func(_ C, y []C, e *env) C {
		if e.D[0] == 0 {
			return -1
		}
		return y[0] - e.P[4]
	}, false, func(_ C, _ []C, _ *env, _, dp []C) { dp[0] = 0 })
	x.guard("switch_on", func(_ C, y []C, e *env) C {
		if e.D[0] != 0 {
			return -1
		}
		return e.P[3] - y[0]
	}, false, func(_ C, _ []C, _ *env, _, dp []C) { dp[0] = 1 })
	all["thermostat"] = x

	x = &example{
		params: []string{"g", "L", "c", "wall", "e", "th0", "om0"}, states: []string{"th", "om"},
		costs: []string{"int_om2"},
		hybrid: hybridModel{
			Init: func(_ C, e *env, y, _ []C) { y[0], y[1] = e.P[5], e.P[6] },
			Field: func(_ C, y []C, e *env, k []C) {
				k[0], k[1], k[2] = y[1], -e.P[0]/e.P[1]*cmplx.Sin(y[0])-e.P[2]*y[1], y[1]*y[1]
			},
		},
	}
	x.guard("wall", func(_ C, y []C, e *env) C { return -y[0] - e.P[3] }, false,
		func(_ C, ym []C, e *env, yp, _ []C) { yp[1] = -e.P[4] * ym[1] })
	all["pendulum_wall"] = x

	x = &example{
		params: []string{"g", "e", "f", "drop", "width", "y0", "v0"}, states: []string{"x", "y", "vx", "vy"},
		hybrid: hybridModel{
			D:     2,
			Init:  func(_ C, e *env, y, d []C) { y[0], y[1], y[2], y[3], d[0], d[1] = 0, e.P[5], e.P[6], 0, 0, e.P[4] },
			Field: func(_ C, y []C, e *env, k []C) { k[0], k[1], k[2], k[3] = y[2], y[3], 0, -e.P[0] },
		},
	}
	x.guard("bounce", func(_ C, y []C, e *env) C { return e.D[0] - y[1] }, false,
		func(_ C, ym []C, e *env, yp, _ []C) { yp[2], yp[3] = e.P[2]*ym[2], -e.P[1]*ym[3] })
	x.guard("next_step", func(_ C, y []C, e *env) C { return y[0] - e.D[1] }, false,
		func(_ C, _ []C, e *env, _, dp []C) { dp[0], dp[1] = e.D[0]-e.P[3], e.D[1]+e.P[4] })
	all["ball_on_stairs"] = x

	x = &example{
		params: []string{"r1", "r2", "Kc", "tc", "xh", "q", "x0"}, states: []string{"x", "H"}, costs: []string{"int_x"},
		hybrid: hybridModel{
			D:    1,
			Init: func(_ C, e *env, y, d []C) { y[0], y[1], d[0] = e.P[6], 0, e.P[0] },
			Field: func(_ C, y []C, e *env, k []C) {
				k[0], k[1], k[2] = e.D[0]*y[0]*(1-y[0]/e.P[2]), 0, y[0]
			},
		},
	}
	x.guard("change", func(t C, _ []C, e *env) C { return t - e.P[3] }, false,
		func(_ C, _ []C, e *env, _, dp []C) { dp[0] = e.P[1] })
	x.guard("harvest", func(_ C, y []C, e *env) C { return y[0] - e.P[4] }, false,
		func(_ C, ym []C, e *env, yp, _ []C) { yp[0], yp[1] = (1-e.P[5])*ym[0], ym[1]+e.P[5]*ym[0] })
	all["rate_change_and_harvest"] = x

	x = &example{
		params: []string{"a", "b", "c", "d", "I", "v0"}, states: []string{"v", "u"},
		hybrid: hybridModel{
			Init: func(_ C, e *env, y, _ []C) { y[0], y[1] = e.P[5], e.P[1]*e.P[5] },
			Field: func(_ C, y []C, e *env, k []C) {
				k[0], k[1] = 0.04*y[0]*y[0]+5*y[0]+140-y[1]+e.P[4], e.P[0]*(e.P[1]*y[0]-y[1])
			},
		},
	}
	x.guard("spike", func(_ C, y []C, e *env) C { return y[0] - 30 }, false,
		func(_ C, ym []C, e *env, yp, _ []C) { yp[0], yp[1] = e.P[2], ym[1]+e.P[3] })
	all["izhikevich"] = x

	x = &example{
		params: []string{"l1", "l2", "a", "b"}, states: []string{"x1", "x2"},
		hybrid: hybridModel{
			D:    1,
			Init: func(_ C, e *env, y, d []C) { y[0], y[1], d[0] = e.P[2], e.P[3], 0 },
			Field: func(_ C, y []C, e *env, k []C) {
				k[0], k[1] = y[0]-100*y[1], 10*y[0]+y[1]
				if e.D[0] == 1 {
					k[0], k[1] = y[0]+10*y[1], -100*y[0]+y[1]
				}
			},
		},
	}
	x.guard("to2", func(_ C, y []C, e *env) C {
		if e.D[0] == 1 {
			return 0
		}
		return y[1] - e.P[0]*y[0]
	}, true, func(_ C, _ []C, _ *env, _, dp []C) { dp[0] = 1 })
	x.guard("to1", func(_ C, y []C, e *env) C {
		if e.D[0] == 0 {
			return 0
		}
		return y[1] - e.P[1]*y[0]
	}, true, func(_ C, _ []C, _ *env, _, dp []C) { dp[0] = 0 })
	all["switched_linear"] = x

	x = &example{
		params: []string{"g", "c", "V", "al"}, states: []string{"x", "y", "u", "v"},
		hybrid: hybridModel{
			Init: func(_ C, e *env, y, _ []C) {
				y[0], y[1], y[2], y[3] = 0, 0, e.P[2]*cmplx.Cos(e.P[3]), e.P[2]*cmplx.Sin(e.P[3])
			},
			Field: func(_ C, y []C, e *env, k []C) {
				s := cmplx.Sqrt(y[2]*y[2] + y[3]*y[3])
				k[0], k[1], k[2], k[3] = y[2], y[3], -e.P[1]*y[2]*s, -e.P[0]-e.P[1]*y[3]*s
			},
		},
	}
	x.guard("ground", func(_ C, y []C, _ *env) C { return -y[1] }, false, func(C, []C, *env, []C, []C) {})
	x.hybrid.Bodies[0].Stop = true
	all["projectile_range"] = x
	return all
}

// problem makes the example run to tf, with all states and costs at the end as objectives.
func (x *example) problem(r *reference, tf float64) *problem {
	h := x.hybrid
	h.N, h.Q = len(x.states), len(x.costs)
	for _, name := range x.params {
		h.Params = append(h.Params, r.Parameters[name])
	}
	h.Times = []instant{fixedAt(solvers.InstantStart, 0), fixedAt(solvers.InstantEnd, tf)}
	p := &problem{opts: solvers.Options{RTol: 1e-12, ATol: 1e-12}}
	p.Hybrid = &h
	p.n, p.m = h.Q+h.N, h.Q+h.N
	p.observe = func(s sens.Site, _ C, _, _, yp, _, _, f []C) {
		if s.Kind == sens.SiteFinal {
			copy(f[h.Q:], yp)
		}
	}
	p.psi = func(f, _, psi []C) { copy(psi, f) }
	return p
}

// TestReference compares values, event times and all derivatives with exact ones.
func TestReference(t *testing.T) {
	text, err := os.ReadFile("testdata/hybrid.json")
	if err != nil {
		t.Fatal(err)
	}
	var refs []reference
	if err := json.Unmarshal(text, &refs); err != nil {
		t.Fatal(err)
	}
	all := byHand()
	if len(refs) != len(all) {
		t.Fatalf("%d references for %d examples", len(refs), len(all))
	}
	for i := range refs {
		r := &refs[i]
		t.Run(r.ID, func(t *testing.T) {
			x := all[r.ID]
			// Errors are relative to the size of the derivatives, with the tolerance of the solution.
			check := func(what string, got, want, size float64) {
				t.Helper()
				if !(math.Abs(got-want) <= 3e-8*(1e-3+size)) {
					t.Errorf("%s = %.15g, want %.15g", what, got, want)
				}
			}
			gradient := func(what string, got []float64, want map[string]float64) {
				t.Helper()
				size := 0.0
				for _, v := range want {
					size = max(size, math.Abs(v))
				}
				for j, name := range x.params {
					if v, ok := want[name]; ok {
						check(what+"/d"+name, got[j], v, size)
					}
				}
			}
			ends := r.Results
			if len(ends) == 0 { // ends by itself, and everything is known before that event
				last := r.Events[len(r.Events)-1]
				ends = make([]outcome, 1)
				ends[0].T, ends[0].State, ends[0].D = 10, last.StateBefore, last.DBefore
			}
			for _, end := range ends {
				p := x.problem(r, end.T)
				tr, st := p.run(t, "dopri5")
				res := p.compare(t, "dopri5", tr, st, 1e-10)
				for j, name := range x.costs {
					c := end.Costs[name]
					check(name, res.Psi[j], c.Value, math.Abs(c.Value))
					gradient(name, res.DP[j*len(x.params):], c.D)
				}
				for j, name := range x.states {
					j += len(x.costs)
					check(name, res.Psi[j], end.State[name], math.Abs(end.State[name]))
					gradient(name, res.DP[j*len(x.params):], end.D[name])
				}
				want := 0
				for _, e := range r.Events {
					if e.T < end.T {
						want++
					}
				}
				whole := want < len(r.Events) || len(r.Results) == 0 // the logs stop after the last event or a dozen
				if whole && len(res.Events) != want || len(res.Events) < want {
					t.Fatalf("%d events before %v, want %d", len(res.Events), end.T, want)
				}
				for k, e := range res.Events[:want] {
					w := r.Events[k]
					if name := x.hybrid.Bodies[e.Firing.Event].Name; name != w.Event {
						t.Errorf("event %d is %s, want %s", k, name, w.Event)
					}
					check("t", e.T, w.T, w.T)
					gradient("t", e.DP, w.DT)
				}
			}
		})
	}
}
