package hybrid_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
)

type span = solvers.Range

// enclosed is a system with guards of one state that it encloses.
type enclosed struct {
	*solvertest.Hybrid
	bent []bend
}

// bend is a guard f(x), its derivative, and enclosures of both.
type bend struct {
	guard, state int
	rho, slope   func(x span) span
}

func (e *enclosed) Bent() (guards, states []int) {
	for _, b := range e.bent {
		guards, states = append(guards, b.guard), append(states, b.state)
	}
	return guards, states
}

func (e *enclosed) Enclose(_ span, y, yd, rho, slope []span) {
	for i, b := range e.bent {
		rho[i], slope[i] = b.rho(y[i]), times(b.slope(y[i]), yd[i])
	}
}

// times is the range of products.
func times(a, b span) span {
	p := [4]float64{a.Lo * b.Lo, a.Lo * b.Hi, a.Hi * b.Lo, a.Hi * b.Hi}
	return wider(span{Lo: min(p[0], p[1], p[2], p[3]), Hi: max(p[0], p[1], p[2], p[3])})
}

// wider makes room for rounding.
func wider(r span) span {
	return span{Lo: math.Nextafter(r.Lo, math.Inf(-1)), Hi: math.Nextafter(r.Hi, math.Inf(1))}
}

// bump is exp(-((x - c)/w)²) - ½, which is above zero between c ± w·√ln 2.
func bump(c, w float64) (f func(x float64) float64, rho, slope func(x span) span) {
	bell := func(x float64) float64 { u := (x - c) / w; return elem.Exp(-float64(u * u)) }
	ranged := func(x span) span {
		lo, hi := bell(x.Lo), bell(x.Hi)
		if x.Lo <= c && c <= x.Hi {
			return wider(span{Lo: min(lo, hi), Hi: 1})
		}
		return wider(span{Lo: min(lo, hi), Hi: max(lo, hi)})
	}
	f = func(x float64) float64 { return bell(x) - 0.5 }
	rho = func(x span) span { r := ranged(x); return wider(span{Lo: r.Lo - 0.5, Hi: r.Hi - 0.5}) }
	slope = func(x span) span {
		return times(ranged(x), wider(span{Lo: -2 * (x.Hi - c) / (w * w), Hi: -2 * (x.Lo - c) / (w * w)}))
	}
	return f, rho, slope
}

// withBump adds an event that fires as x enters a bump.
func (e *enclosed) withBump(name string, state int, c, w float64, b body) {
	f, rho, slope := bump(c, w)
	event(e.Hybrid, name, func(_ C, y []C, _ *env) C { return complex(f(real(y[state])), 0) }, b)
	e.bent = append(e.bent, bend{guard: len(e.Conditions) - 1, state: state, rho: rho, slope: slope})
}

// solve runs e with work space of its own.
func (e *enclosed) solve(t *testing.T, name string, opts solvers.Options, l *log) (solvers.Stats, error) {
	t.Helper()
	m := method(name).New(e.Size(), 0)
	var ctl hybrid.Controller
	if opts.Fixed == 0 {
		ctl, _ = hybrid.NewController("", m.Info())
	}
	e.Asked = new(int)
	st, err := hybrid.NewSolver(&enclosed{e.With(1), e.bent}, m, ctl, opts).Solve(context.Background(), l)
	spent(t, st, *e.Asked, l.lines, l.times, l.final, err)
	return st, err
}

// enclosedMethods make steps of one length or of any.
var enclosedMethods = []struct {
	name string
	opts solvers.Options
}{
	{"dopri5", solvers.Options{H0: 10}},
	{"bs3", solvers.Options{H0: 10}},
	{"dop853", solvers.Options{}},
	{"vern9", solvers.Options{H0: 10}},
	{"rk4", solvers.Options{Fixed: 0.7}},
	{"bs3, dop853", solvers.Options{}},
	{"rk4", solvers.Options{Fixed: 10}},
}

// TestBumps has guards that are above zero for much less than a step, and are no polynomials of time: none is missed,
// and the order is right.
func TestBumps(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 5), 7))
	reach := math.Sqrt(math.Ln2)
	for n := range 40 {
		e := &enclosed{Hybrid: ramp(10)}
		var want []float64
		at := 0.2
		for k := range 1 + n%3 {
			w := math.Pow(10, -1-5*r.Float64())
			c := at + w + 2.5*r.Float64()
			at = c + w + 0.1
			e.withBump(fmt.Sprint("e", k), 0, c, w, nil)
			want = append(want, c-w*reach)
		}
		for _, m := range enclosedMethods {
			l := &log{}
			st, err := e.solve(t, m.name, m.opts, l)
			if err != nil {
				t.Fatalf("%s: %v", m.name, err)
			}
			near(t, fmt.Sprintf("%s %+v", m.name, m.opts), l.times, want, 1e-9)
			for _, w := range st.Warnings {
				if w.Kind == solvers.Hidden {
					t.Errorf("%s: %+v, and all were found", m.name, w)
				}
			}
		}
	}
}

// TestBumpsOfOrbits has an oscillator that passes through the same bump on its way there and back, with events that
// push it and stop listening to it.
func TestBumpsOfOrbits(t *testing.T) {
	for _, once := range []bool{false, true} {
		for _, w := range []float64{1e-2, 1e-4, 1e-6} {
			e := &enclosed{Hybrid: sys()}
			e.N = 2
			e.Init = func(_ C, _ *env, y, _ []C) { y[0], y[1] = 0, 1 }
			e.Field = func(_ C, y []C, _ *env, k []C) { k[0], k[1] = y[1], -y[0] }
			e.Times[1] = instant(solvers.InstantEnd, 6)
			e.withBump("bump", 0, 0.5, w, nil)
			e.withBump("other", 1, -0.3, w, nil)
			e.Bodies[0].Once = once
			e.Times = append(e.Times, site(1), site(4))
			enter := func(level float64) float64 { return math.Asin(level) }
			half := w * math.Sqrt(math.Ln2)
			want := []float64{
				enter(0.5 - half), math.Pi/2 + enter(0.3-half), math.Pi - enter(0.5+half),
				3*math.Pi/2 - enter(0.3+half),
			}
			if once {
				want = []float64{want[0], want[1], want[3]}
			}
			for _, m := range enclosedMethods[:6] {
				opts := m.opts
				opts.RTol, opts.ATol, opts.H0 = 1e-9, 1e-9, 0
				if opts.Fixed > 0 {
					opts.Fixed = 0.05
				}
				l := &log{}
				if _, err := e.solve(t, m.name, opts, l); err != nil {
					t.Fatalf("%s: %v", m.name, err)
				}
				near(t, fmt.Sprintf("%s, w = %v, once %v", m.name, w, once), l.times, want, 1e-4)
			}
		}
	}
}

// TestNothingKnown has enclosures that exclude nothing: the search ends, and warns where something may be hidden. The
// event that a sample shows fires.
func TestNothingKnown(t *testing.T) {
	for _, m := range enclosedMethods {
		e := &enclosed{Hybrid: ramp(10)}
		event(e.Hybrid, "wild", ofX(func(x float64) float64 { return x - 7 }), nil)
		all := func(x span) span {
			if x.Hi-x.Lo < 1e-9 { // the ends of a step
				return span{Lo: x.Lo - 7, Hi: x.Hi - 7}
			}
			return span{Lo: -20, Hi: 20}
		}
		unknown := func(span) span { return span{Lo: math.NaN(), Hi: math.NaN()} }
		e.bent = []bend{{guard: 0, rho: all, slope: unknown}}
		l := &log{}
		st, err := e.solve(t, m.name, m.opts, l)
		if err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		near(t, m.name, l.times, []float64{7}, 1e-9)
		hidden := 0
		for _, w := range st.Warnings {
			if w.Kind == solvers.Hidden && w.Name == "wild" && w.T < 7 {
				hidden++
			}
		}
		if hidden == 0 {
			t.Errorf("%s %+v: warnings %v, want that something may be hidden", m.name, m.opts, st.Warnings)
		}
	}
}

// TestHiddenBehindAnother has a guard of which nothing is known, on which a search spends all that it may, and a narrow
// peak behind the place where it ends: the peak is found, or a warning names it as well.
func TestHiddenBehindAnother(t *testing.T) {
	for _, m := range enclosedMethods {
		e := &enclosed{Hybrid: ramp(10)}
		event(e.Hybrid, "wild", ofX(func(x float64) float64 { return x - 20 }), nil)
		nothing := func(span) span { return span{Lo: math.NaN(), Hi: math.NaN()} }
		e.bent = []bend{{guard: 0, rho: nothing, slope: nothing}}
		e.withBump("peak", 0, 9.1, 1e-4, nil)
		l := &log{}
		st, err := e.solve(t, m.name, m.opts, l)
		if err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		told := len(l.times) == 1
		for _, w := range st.Warnings {
			told = told || w.Kind == solvers.Hidden && w.Name == "peak"
		}
		if !told {
			t.Errorf("%s %+v: %v, warnings %+v", m.name, m.opts, l, st.Warnings)
		}
	}
}

// TestBehindWhatPasses has a level that the dense output of a step reaches, and real steps do not, or the other way
// round. A bump that comes later in the same step is found either way.
func TestBehindWhatPasses(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 5), 9))
	for n := range 200 {
		top := 0.1 + 0.2*r.Float64() // of x
		h := sys()
		h.N = 3
		h.Init = func(_ C, _ *env, y, _ []C) {
			y[0], y[1], y[2] = complex(math.Cos(top), 0), complex(math.Sin(top), 0), 0
		}
		h.Field = func(_ C, y []C, _ *env, k []C) { k[0], k[1], k[2] = y[1], -y[0], 1 }
		event(h, "level", above(complex(1+math.Pow(10, -3-6*r.Float64())*float64(1-n%2*2), 0)), nil)
		e := &enclosed{Hybrid: h}
		w := math.Pow(10, -2-5*r.Float64())
		c := top + 0.05 + 0.3*r.Float64()
		e.withBump("bump", 2, c, w, nil)
		for _, k := range []int{0, 4} {
			m := enclosedMethods[k]
			l := &log{}
			st, err := e.solve(t, m.name, m.opts, l)
			if err != nil {
				t.Fatalf("%s: %v", m.name, err)
			}
			at := slices.Index(l.lines, "bump")
			if want := c - w*math.Sqrt(math.Ln2); at < 0 || math.Abs(l.times[at]-want) > 1e-9 {
				t.Errorf("%d, %s: %v at %v, want the bump at %v; %v", n, m.name, l.lines, l.times, want, st.Warnings)
			}
		}
	}
}

// TestNotANumberWithin has a guard that is not a number for a small part of a step, which only its enclosure shows.
func TestNotANumberWithin(t *testing.T) {
	for _, m := range enclosedMethods {
		e := &enclosed{Hybrid: ramp(10)}
		event(e.Hybrid, "lost", ofX(func(x float64) float64 {
			if math.Abs(x-5) < 0.01 {
				return math.NaN()
			}
			return -1
		}), nil)
		e.bent = []bend{{
			guard: 0,
			rho: func(x span) span {
				if x.Hi < 4.99 || x.Lo > 5.01 {
					return span{Lo: -1, Hi: -1}
				}
				return span{Lo: math.NaN(), Hi: math.NaN()}
			},
			slope: func(span) span { return span{Lo: math.NaN(), Hi: math.NaN()} },
		}}
		_, err := e.solve(t, m.name, m.opts, &log{})
		var bad *solvers.NonFiniteError
		var small *solvers.StepUnderflowError
		if !errors.As(err, &bad) && !(errors.As(err, &small) && math.Abs(small.T-4.99) < 1e-9) {
			t.Errorf("%s %+v: %v", m.name, m.opts, err)
		}
	}
}

// TestKinksEnclosed has kinks whose guards are no polynomials: steps end there.
func TestKinksEnclosed(t *testing.T) {
	for _, m := range enclosedMethods {
		e := &enclosed{Hybrid: ramp(10)}
		f, rho, slope := bump(3, 0.01)
		kink(e.Hybrid, ofX(f))
		e.bent = []bend{{guard: 0, rho: rho, slope: slope}}
		l := &log{}
		if _, err := e.solve(t, m.name, m.opts, l); err != nil || l.String() != "end" {
			t.Errorf("%s: %v, %v", m.name, l, err)
		}
	}
}
