package hybrid_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
)

// once is a system one of whose guards is not a number the one time that its values are asked for.
type once struct {
	*solvertest.Hybrid
	guard, left int
}

func (o *once) GuardValues(t float64, y, rho []float64, truth []bool) {
	o.Hybrid.GuardValues(t, y, rho, truth)
	if o.left--; o.left == 0 {
		rho[o.guard], truth[o.guard] = math.NaN(), false
	}
}

// TestNotANumberOnce has guards that are not a number at one of the points where a run looks at them, whichever that
// is. The run tries another step and finds the same events, or, with steps of one length, says which condition it was.
func TestNotANumberOnce(t *testing.T) {
	// An oscillator with an event where it is not affine, a level, an atom of a condition, and a kink.
	h := sys()
	h.N = 2
	h.Init = func(_ C, _ *env, y, _ []C) { y[0], y[1] = 0, 1 }
	h.Field = func(_ C, y []C, _ *env, k []C) { k[0], k[1] = y[1], -y[0] }
	h.Times[1] = instant(solvers.InstantEnd, 5)
	event(h, "energy", func(_ C, y []C, _ *env) C { return y[0]*y[1] - 0.4999 }, nil)
	event(h, "level", func(_ C, y []C, _ *env) C { return y[0] - 0.999 }, nil)
	h.Conditions[1].Affine = true
	event(h, "watched", func(_ C, y []C, _ *env) C { return y[1] + 0.8 }, nil)
	h.Conditions[2].Watch = true
	kink(h, func(_ C, y []C, _ *env) C { return y[0] + 0.3 })
	for _, c := range []struct {
		method string
		opts   solvers.Options
	}{
		{"dopri5", solvers.Options{RTol: 1e-5, ATol: 1e-5}},
		{"bs3, dop853", solvers.Options{RTol: 1e-3, ATol: 1e-3, H0: 3}},
		{"rk4", solvers.Options{Fixed: 0.5}},
	} {
		run := func(guard, at int) (*log, solvers.Stats, int, error) {
			o := &once{Hybrid: h.With(1), guard: guard, left: at}
			m := method(c.method).New(o.Size(), 0)
			var ctl hybrid.Controller
			if c.opts.Fixed == 0 {
				ctl, _ = hybrid.NewController("", m.Info())
			}
			l := &log{}
			st, err := hybrid.NewSolver(o, m, ctl, c.opts).Solve(context.Background(), l)
			return l, st, at - o.left, err
		}
		want, _, asked, err := run(0, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		again, said := 0, 0
		for guard := range h.Conditions {
			for at := 1; at <= asked; at++ {
				what := fmt.Sprintf("%s, guard %d, look %d", c.method, guard, at)
				l, st, _, err := run(guard, at)
				var bad *solvers.NonFiniteError
				switch {
				case err == nil:
					if l.String() != want.String() {
						t.Errorf("%s: %s, want %s", what, l, want)
					}
					near(t, what, l.times, want.times, 1e-3)
					again += st.Rejected
				case !errors.As(err, &bad) || bad.Guard != guard+1 && bad.Guard != 0:
					t.Errorf("%s: %v", what, err)
				default:
					said++
				}
				spent(t, st, 0, l.lines, l.times, err)
			}
		}
		if adaptive := c.opts.Fixed == 0; adaptive && again < asked || !adaptive && said < asked {
			t.Errorf("%s, %d looks at each guard: %d steps were tried again, %d said so", c.method, asked, again, said)
		}
	}
}

// TestLeaves has two guards that fire at one time, the first of which moves on while the second turns back at once: it
// fires once more, after a time far shorter than a step.
func TestLeaves(t *testing.T) {
	const back = 1e-4
	for _, first := range []bool{false, true} {
		h := sys()
		h.N = 4 // a ball with a short flight, and a slope
		h.Init = func(_ C, _ *env, y, _ []C) { y[0], y[1], y[2], y[3] = 1, -1, -1, 0 }
		h.Field = func(_ C, y []C, _ *env, k []C) { k[0], k[1], k[2], k[3] = y[1], -2*y[3]/back, 1, 0 }
		floor := func() {
			event(h, "floor", func(_ C, y []C, _ *env) C { return -y[0] },
				func(n int, _ C, ym []C, _ *env, yp, _ []C) {
					yp[1], yp[3] = 1, 1 // up for a moment
					if real(ym[3]) > 0.5 {
						yp[1], yp[3] = 1, 0 // away
					}
				})
			h.Conditions[len(h.Conditions)-1].Affine = true
		}
		level := func() {
			event(h, "level", func(_ C, y []C, _ *env) C { return y[2] }, nil)
			h.Conditions[len(h.Conditions)-1].Affine = true
		}
		if first {
			level()
			floor()
		} else {
			floor()
			level()
		}
		for _, name := range []string{"rk4", "dopri5"} {
			opts := solvers.Options{}
			if name == "rk4" {
				opts.Fixed = 0.3
			}
			l := &log{}
			st, err := solver(h, name, opts).Solve(context.Background(), l)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			count := map[string]int{}
			for _, line := range l.lines {
				count[line]++
			}
			if count["floor"] != 2 || count["level"] != 1 || st.Sought == 0 && opts.Fixed > 0 {
				t.Errorf("%s: %s; %d steps were sought", name, l, st.Sought)
			}
			if n := len(l.times); n == 3 && math.Abs(l.times[2]-1-back) > 1e-7 {
				t.Errorf("%s: the floor is met at %v, want %v", name, l.times, 1+back)
			}
		}
	}
}

// TestJumpsEnclosed has guards that jump and of which an enclosure knows no slope: each jump is found to the last
// digit, however deep the search has to go, and of several guards each where it is.
func TestJumpsEnclosed(t *testing.T) {
	for _, c := range [][]float64{{0.3}, {1e-9, 0.7}, {0.2, 0.6, 0.61}, {0.9, 0.1}, {0.5, 0.4, 0.1}} {
		for _, name := range []string{"dopri5", "rk4", "vern7"} {
			opts := solvers.Options{H0: 1}
			if name == "rk4" {
				opts = solvers.Options{Fixed: 1}
			}
			h := sys()
			h.Times[1] = instant(solvers.InstantEnd, 1)
			e := &enclosed{Hybrid: h}
			for i, at := range c {
				// It is true for a moment only.
				until := at + 1e-3*float64(1+i)
				jump := func(x float64) float64 {
					if x >= at && x < until {
						return 1
					}
					return -1
				}
				event(h, fmt.Sprint("jump", i), func(_ C, y []C, _ *env) C { return complex(jump(real(y[0])), 0) }, nil)
				e.bent = append(e.bent, bend{guard: i, state: 0, rho: func(x span) span {
					if x.Lo >= at && x.Hi < until {
						return span{Lo: 1, Hi: 1}
					}
					if x.Hi < at || x.Lo >= until {
						return span{Lo: -1, Hi: -1}
					}
					return span{Lo: -1, Hi: 1}
				}, slope: func(x span) span {
					if x.Lo < at && x.Hi >= at || x.Lo < until && x.Hi >= until {
						return span{Lo: math.NaN(), Hi: math.NaN()}
					}
					return span{}
				}})
			}
			l := &log{}
			if _, err := e.solve(t, name, opts, l); err != nil {
				t.Errorf("%s, jumps at %v: %v", name, c, err)
				continue
			}
			if len(l.times) != len(c) {
				t.Errorf("%s, jumps at %v: %s at %v", name, c, l, l.times)
				continue
			}
			for i, at := range c {
				found := false
				for k, line := range l.lines {
					found = found || line == fmt.Sprint("jump", i) && math.Abs(l.times[k]-at) <= 4e-16
				}
				if !found {
					t.Errorf("%s: jump %d of %v is not where it is: %s at %v", name, i, c, l, l.times)
				}
			}
		}
	}
}
