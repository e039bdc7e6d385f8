package hybrid_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/methods"
)

// real makes a root function of a function of a state that is 1 a unit of time.
func ofX(f func(x float64) float64) func(t C, y []C, e *env) C {
	return func(_ C, y []C, _ *env) C { return complex(f(real(y[0])), 0) }
}

// ramp is x' = 1 from 0 to tf.
func ramp(tf float64) *solvertest.Hybrid {
	h := sys()
	h.Times[1] = instant(solvers.InstantEnd, tf)
	return h
}

// fired runs h and returns when its events fired.
func fired(t *testing.T, h *solvertest.Hybrid, method string, opts solvers.Options) ([]float64, solvers.Stats) {
	t.Helper()
	l := &log{}
	h.Asked = new(int)
	st, err := solver(h, method, opts).Solve(context.Background(), l)
	if err != nil {
		t.Fatalf("%s %+v: %v", method, opts, err)
	}
	spent(t, st, *h.Asked, l.lines, l.times, l.final)
	return l.times, st
}

// near requires the times want, to within tol.
func near(t *testing.T, what string, got, want []float64, tol float64) bool {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: fired at %v, want %v", what, got, want)
		return false
	}
	for i, x := range want {
		if math.Abs(got[i]-x) > tol {
			t.Errorf("%s: fired at %v, want %v", what, got, want)
			return false
		}
	}
	return true
}

// product is Π (x - r_i), negative before all of an even number of roots.
func product(roots []float64) func(x float64) float64 {
	return func(x float64) float64 {
		p := -1.0
		for _, r := range roots {
			p *= x - r
		}
		return p
	}
}

// TestParabolas has dips and windows much shorter than the steps, of every method, with steps of any length.
func TestParabolas(t *testing.T) {
	for _, spec := range methods.All() {
		if spec.Can.Has(solvers.SplitRates) { // imex_test.go
			continue
		}
		info := spec.New(ramp(1).Size(), 0).Info()
		for _, w := range []float64{1e-2, 1e-4, 1e-6} {
			for _, fixed := range []float64{0, 0.7, 10} {
				if fixed == 0 && info.Embedded == 0 {
					continue
				}
				h := ramp(10)
				event(h, "near", ofX(func(x float64) float64 { return w*w - (x-3)*(x-3) }), nil)
				event(h, "between", ofX(func(x float64) float64 { return -(x - 5) * (x - 5 - w) }), nil)
				event(h, "leaves", ofX(func(x float64) float64 { return (x-7)*(x-7) - w*w }), nil)
				got, _ := fired(t, h, spec.Name, solvers.Options{Fixed: fixed})
				near(t, fmt.Sprintf("%s, w = %v, h = %v", spec.Name, w, fixed), got, []float64{3 - w, 5, 7 + w}, 1e-9)
			}
		}
	}
}

// TestHiddenPairs draws polynomials with pairs of close roots and trigonometric functions.
func TestHiddenPairs(t *testing.T) {
	draws := 3000
	if testing.Short() {
		draws = 300
	}
	r := rand.New(rand.NewPCG(seeds.Of(t, 11), 15))
	methods := []string{"rk4", "bs3", "dopri5", "tsit5", "dop853", "vern9", "rkc2"}
	for n := range draws {
		h := ramp(10)
		var want []float64
		what, blind := "", false
		kind := r.IntN(3)
		switch kind {
		case 0: // pairs of roots
			var roots []float64
			for range 1 + r.IntN(2) {
				w := math.Pow(10, -5*r.Float64())
				a := 0.1 + 9*r.Float64()*(1-w)
				roots = append(roots, a, a+w)
			}
			slices.Sort(roots)
			for k := 0; k < len(roots); k += 2 {
				want = append(want, roots[k])
			}
			if len(roots) > 2 && roots[2]-roots[1] < 1e-5 {
				continue
			}
			event(h, "e", ofX(product(roots)), nil)
			// Where rounding of the values at nodes is more than all that is between two roots, nothing shows these.
			p := product(roots)
			for k := 0; k < len(roots); k += 2 {
				between := math.Abs(p(0.5 * (roots[k] + roots[k+1])))
				blind = blind || between < float64(0x1p-50*max(math.Abs(p(0)), math.Abs(p(10))))
			}
			what = fmt.Sprint("roots ", roots)
		case 1: // a part of a period
			a, c := 0.2+3*r.Float64(), 1-math.Pow(10, -1-6*r.Float64())
			phase := 2 * math.Pi * r.Float64()
			half := math.Acos(c)
			for k := -20; k < 40; k++ {
				at := (float64(2*k)*math.Pi - half - phase) / a
				if at > 0 && at < 10 {
					want = append(want, at)
				}
			}
			if math.Cos(phase) > c-1e-6 || math.Cos(10*a+phase) > c-1e-6 {
				continue
			}
			event(h, "e", ofX(func(x float64) float64 { return elem.Cos(a*x+phase) - c }), nil)
			what = fmt.Sprintf("cos(%v x + %v) > %v", a, phase, c)
		case 2: // a rational function with a peak
			s, at := math.Pow(10, -0.4*r.Float64()), 1+8*r.Float64()
			event(h, "e", ofX(func(x float64) float64 { return 1/(1+(x-at)*(x-at)/(s*s)) - 0.99 }), nil)
			want = []float64{at - s*math.Sqrt(1/0.99-1)}
			what = fmt.Sprintf("peak at %v of width %v", at, s)
		}
		m := methods[n%len(methods)]
		opts := solvers.Options{}
		if m == "rk4" || r.IntN(3) == 0 {
			opts.Fixed = 0.1 + 10*r.Float64()*r.Float64()
		} else if r.IntN(2) == 0 {
			opts.H0 = 10
		}
		if kind == 2 && opts.Fixed == 0 { // no polynomial, and the state says nothing about it
			opts.HMax = 2
		} else if kind == 2 {
			opts.Fixed = min(opts.Fixed, 2)
		}
		got, _ := fired(t, h, m, opts)
		if !blind && !near(t, fmt.Sprintf("%s, %s, %+v", what, m, opts), got, want, 1e-7) {
			return
		}
	}
}

// TestCorners has guards with corners that reach just beyond zero.
func TestCorners(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 7), 8))
	for n := range 500 {
		w, at := math.Pow(10, -1-5*r.Float64()), 0.5+9*r.Float64()
		h := ramp(10)
		event(h, "e", ofX(func(x float64) float64 { return w - math.Abs(x-at) }), nil)
		m := []string{"dopri5", "bs3", "dop853", "vern9", "rkc2"}[n%5]
		got, _ := fired(t, h, m, solvers.Options{H0: 10})
		near(t, fmt.Sprintf("%s: |x - %v| < %v", m, at, w), got, []float64{at - w}, 1e-9)
	}
}

// TestOrbitWindows has an orbit that enters thin windows, also near where it turns.
func TestOrbitWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 3), 4))
	for n := range 300 {
		c := 1.8*r.Float64() - 0.9
		if n%3 == 0 {
			c = 1 - math.Pow(10, -2-3*r.Float64())
		}
		w := math.Pow(10, -2-10*r.Float64())
		tf := 6.2
		h := sys()
		h.N = 2
		h.Init = func(_ C, _ *env, y, _ []C) { y[0], y[1] = 0, 1 }
		h.Field = func(_ C, y []C, _ *env, k []C) { k[0], k[1] = y[1], -y[0] }
		h.Times[1] = instant(solvers.InstantEnd, tf)
		atom := func(rho func(x C) C) {
			h.Conditions = append(h.Conditions, solvertest.Guard{
				Guard:  solvers.Guard{Event: -1, Mode: -1, Watch: true},
				Strict: true, Rho: func(_ C, y []C, _ *env) C { return rho(y[0]) },
			})
		}
		low, high := complex(c, 0), complex(c+w, 0)
		event(h, "in", func(_ C, y []C, _ *env) C {
			if real(y[0]-low) < real(high-y[0]) {
				return y[0] - low
			}
			return high - y[0]
		}, nil)
		atom(func(x C) C { return x - low })
		atom(func(x C) C { return high - x })
		in, out := math.Asin(c), math.Pi-math.Asin(min(c+w, 1))
		var want []float64
		if c > 0 {
			want = append(want, in)
		}
		if c+w < 1 {
			want = append(want, out)
		}
		if c < 0 {
			want = append(want, 2*math.Pi+in)
		}
		if c+w < 0 {
			want = want[:0]
			want = append(want, math.Pi-math.Asin(c+w), 2*math.Pi+math.Asin(c))
		}
		if math.Abs(c) < 1e-3 || math.Abs(c+w) < 1e-3 || 2*math.Pi+math.Asin(c) > tf-1e-3 && c < 0 ||
			math.Abs(c+w-1) < 1e-6 {
			continue
		}
		for _, m := range []string{"dopri5", "dop853", "vern9", "bs3", "tsit5"} {
			opts := solvers.Options{RTol: 1e-9, ATol: 1e-9}
			got, _ := fired(t, h, m, opts)
			near(t, fmt.Sprintf("%s: %v < x < that + %v", m, c, w), got, want, 1e-3)
		}
	}
}

// TestRearm has guards that jumps make false: they fire again.
func TestRearm(t *testing.T) {
	// if x > 1 then x - 1 else x, and that > 1/2.
	h := ramp(4)
	h.M = 1
	h.Select = func(_ float64, y []float64, _ *env, m []float64) {
		m[0] = 0
		if y[0] > 1 {
			m[0] = 1
		}
	}
	event(h, "f", func(_ C, y []C, e *env) C { return y[0] - complex(e.M[0], 0) - 0.5 }, nil)
	h.Conditions = append(h.Conditions, solvertest.Guard{
		Guard: solvers.Guard{Event: -1, Name: "if"}, Strict: true,
		Rho: func(_ C, y []C, e *env) C {
			if e.M[0] == 1 {
				return 1 - y[0]
			}
			return y[0] - 1
		},
	})
	for _, c := range []struct {
		method string
		fixed  float64
	}{{"dopri5", 0}, {"tsit5", 0}, {"bs3", 0}, {"rk4", 0.7}, {"rk4", 4}} {
		got, _ := fired(t, h, c.method, solvers.Options{Fixed: c.fixed})
		near(t, c.method, got, []float64{0.5, 1, 1.5}, 1e-12)
	}

	// Another event's body.
	h = ramp(4)
	h.N = 2
	h.Init = func(_ C, _ *env, y, _ []C) { y[0], y[1] = 0, 0 }
	h.Field = func(_ C, y []C, _ *env, k []C) { k[0], k[1] = 1, 1 }
	event(h, "r", func(_ C, y []C, _ *env) C { return y[1] - 1 },
		func(_ int, _ C, _ []C, _ *env, yp, _ []C) { yp[0], yp[1] = 0, -100 })
	event(h, "f", above(0.3), nil)
	for _, fixed := range []float64{0, 0.1, 0.25, 3} {
		m := "rk4"
		if fixed == 0 {
			m = "dopri5"
		}
		got, _ := fired(t, h, m, solvers.Options{Fixed: fixed})
		near(t, m, got, []float64{0.3, 1, 1.3}, 1e-12)
	}
}

// TestLeftAtRoot has bodies that leave their guard at its root, but for rounding: it must not fire again by that.
func TestLeftAtRoot(t *testing.T) {
	for _, strict := range []bool{false, true} {
		for _, c := range []float64{1, 0.7, 1.0 / 3, 1e5 / 3e5, 1.23456789} {
			for name, b := range map[string]body{
				"nothing": nil,
				"exactly": func(_ int, _ C, _ []C, _ *env, yp, _ []C) { yp[0] = complex(c, 0) },
				"above":   func(_ int, _ C, _ []C, _ *env, yp, _ []C) { yp[0] = complex(math.Nextafter(c, 2), 0) },
				"below":   func(_ int, _ C, _ []C, _ *env, yp, _ []C) { yp[0] = complex(math.Nextafter(c, 0), 0) },
				"rounded": func(_ int, _ C, ym []C, _ *env, yp, _ []C) { yp[0] = ym[0] * 1.1 / 1.1 * 1.3 / 1.3 },
			} {
				h := ramp(2)
				event(h, "e", above(complex(c, 0)), b)
				h.Conditions[0].Strict = strict
				for _, m := range []string{"rk4", "dopri5"} {
					opts := solvers.Options{}
					if m == "rk4" {
						opts.Fixed = 0.25
					}
					if got, _ := fired(t, h, m, opts); len(got) != 1 {
						t.Errorf("c = %v, strict %v, %s, %s: fired at %v", c, strict, name, m, got)
					}
				}
			}
		}
	}
}
