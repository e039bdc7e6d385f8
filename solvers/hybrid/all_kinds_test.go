package hybrid_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/record"
)

// varied is a system that implements everything that a solver may ask of one.
type varied struct {
	*solvertest.Hybrid
	bent    []bend
	changes []float64         // when conditions of time alone change, in order
	peaks   []float64         // of a function of time
	calls   *[6]int           // of what a solver asks
	spots   map[int][]float64 // of guards that read s: where they are least far from firing, for a moment
}

func (v *varied) with() *varied {
	w := *v
	w.Hybrid = v.With(1)
	return &w
}

func (v *varied) Eval(t float64, y, k []float64) {
	v.calls[0]++
	v.Hybrid.Eval(t, y, k)
}

func (v *varied) Enter(d, m []float64) {
	v.calls[1]++
	v.Hybrid.Enter(d, m)
}

// Affect has bodies that depend on how often they have been applied.
func (v *varied) Affect(f solvers.Firing, t float64, ym, dm, yp, dp []float64) bool {
	stop := v.Hybrid.Affect(f, t, ym, dm, yp, dp)
	yp[3] += float64(f.Nth & 1)
	return stop
}

func (v *varied) Priorities(t float64, y, p []float64) {
	v.calls[2]++
	at := 0
	for i, e := range v.Bodies {
		for k := range e.Elems {
			p[at] = math.Floor(3*y[0]) * float64(1-2*(i&1)+k)
			at++
		}
	}
}

func (v *varied) Apart(_ float64, _, _ []float64, a, b solvers.Cause) bool {
	fixed := func(c solvers.Cause) bool { return c.Guard < 0 && v.Times[c.Instant].Fixed }
	return !fixed(a) || !fixed(b)
}

// OneSided implements solvers.Separator.
func (v *varied) ApartAt(*solvers.Junction) (which [2]string, some bool) { return which, false }

func (v *varied) Clocks() int { return 1 }

func (v *varied) NextSwitch(t, limit float64) float64 {
	v.calls[3]++
	return (&clocked{at: v.changes}).NextSwitch(t, limit)
}

func (v *varied) Signals() int { return len(v.peaks) }

func (v *varied) Unseen(times, y []float64) (end float64, some bool) {
	v.calls[4]++
	return (&signalled{peaks: v.peaks}).Unseen(times, y)
}

func (v *varied) Bent() (guards, states []int) { return (&enclosed{bent: v.bent}).Bent() }

func (v *varied) Enclose(t span, y, yd, rho, slope []span) {
	v.calls[5]++
	(&enclosed{bent: v.bent}).Enclose(t, y, yd, rho, slope)
}

// drawVaried draws a driven oscillator x, v with a ramp s, three modes and two discretes, and with events of all kinds:
// at levels of each, in windows, peaks, dips and corners that are much shorter than steps, by the clock, at times that
// depend on discretes, at one time or almost.
func drawVaried(r *rand.Rand) *varied {
	h := sys()
	v := &varied{Hybrid: h, calls: &[6]int{}, spots: map[int][]float64{}}
	draw := func(lo, hi float64) float64 { return lo + (hi-lo)*r.Float64() }
	number := func(lo, hi float64) C { return complex(draw(lo, hi), 0) }
	h.N, h.Q, h.D, h.M = 4, 1, 2, 3
	x, y, w, drive := number(-1, 1), number(-1, 1), number(0.5, 3), number(0, 0.4)
	h.Init = func(_ C, _ *env, z, d []C) { z[0], z[1], z[2], z[3], d[0], d[1] = x, y, 0, 1, 0.5, 1 }
	relay := complex([6]float64{4, 1}[r.IntN(6)], 0) // the solution may slide along where it changes
	h.Field = func(t C, z []C, e *env, k []C) {
		k[0] = z[1]
		k[1] = -w*w*z[0] + drive*e.D[0] - 0.3*complex(e.M[0], 0)*z[1] - relay*complex(e.M[2], 0)
		k[2] = e.D[1] - 0.25*complex(e.M[1], 0)
		k[3] = 0
		k[4] = z[0]*z[0] + complex(e.M[1], 0)
	}
	tf := draw(2, 4)
	h.Times[1] = instant(solvers.InstantEnd, tf)
	level, speed, opens := draw(-0.6, 0.6), draw(-0.6, 0.6), draw(0, tf)
	h.Times = append(h.Times, instant(solvers.InstantRemode, opens))
	h.Times[2].Modes = []int{1}
	h.Times[2].Fixed = r.IntN(2) == 0
	h.Select = func(t float64, z []float64, _ *env, m []float64) {
		m[0], m[1], m[2] = 0, 0, 0
		if z[0] > level {
			m[0] = 1
		}
		if t >= opens {
			m[1] = 1
		}
		if z[1] > speed {
			m[2] = 1
		}
	}
	guard := func(g solvers.Guard, strict bool, rho func(t C, z []C, e *env) C, spots ...float64) *solvertest.Guard {
		v.spots[len(h.Conditions)] = spots
		h.Conditions = append(h.Conditions, solvertest.Guard{Guard: g, Strict: strict, Rho: rho})
		return &h.Conditions[len(h.Conditions)-1]
	}
	of := func(state int, c C) func(t C, z []C, e *env) C {
		return func(_ C, z []C, _ *env) C { return z[state] - c }
	}
	bodies := []body{
		nil,
		nil,
		func(_ int, _ C, zm []C, _ *env, zp, _ []C) { zp[1] = zm[1] + 0.3 },
		func(_ int, _ C, zm []C, _ *env, zp, _ []C) { zp[3] = complex(math.Copysign(0, -1), 0) },
		func(_ int, _ C, zm []C, _ *env, zp, _ []C) { zp[1] = -0.8 * zm[1] },
		func(_ int, t C, zm []C, e *env, zp, dp []C) { dp[0], zp[0] = e.D[0]+0.7, zm[0]+0.1*t },
		func(k int, _ C, zm []C, e *env, _, dp []C) { dp[0] = e.D[0]*zm[0] + complex(float64(k), 0) },
		func(_ int, _ C, zm []C, _ *env, zp, _ []C) { zp[2] = zm[2] + 0.05 },
		func(_ int, _ C, zm []C, _ *env, zp, _ []C) { zp[2] = zm[2] - 0.05 },
		func(_ int, _ C, zm []C, _ *env, zp, _ []C) { zp[1] = -1e-3 * zm[1] }, // it may come back at once
		func(_ int, _ C, _ []C, e *env, _, dp []C) { dp[1] = 1.5 - 0.5*e.D[1] },
	}
	add := func(change func(ev *solvers.Event)) int {
		n := len(h.Bodies)
		ev := event(h, fmt.Sprint("e", n), nil, bodies[r.IntN(len(bodies))])
		ev.Priority, ev.Once, ev.Silent = float64(r.IntN(3)), r.IntN(5) == 0, r.IntN(12) == 0
		ev.Start, ev.Varies = r.IntN(8) == 0, r.IntN(3) == 0
		if change != nil {
			change(&ev.Event)
		}
		return n
	}
	on := func() solvers.Guard { return solvers.Guard{Event: add(nil), Affine: r.IntN(2) == 0} }
	when := func(c float64) func(e *env) C { // a time that depends on a discrete or not
		if r.IntN(2) == 0 {
			return func(*env) C { return complex(c, 0) }
		}
		return func(e *env) C { return complex(c, 0) + 0.05*(e.D[0]-0.5) }
	}
	mode := func(i, state int, c float64) {
		g := solvers.Guard{Event: -1, Mode: i, Name: fmt.Sprint("if", i), Affine: true}
		guard(g, true, func(_ C, z []C, e *env) C {
			if e.M[i] == 1 {
				return complex(c, 0) - z[state]
			}
			return z[state] - complex(c, 0)
		})
	}
	mode(0, 0, level)
	mode(2, 1, speed)
	times := []float64{opens, tf}
	near := func() float64 { // at one of the times, just beside it, or anywhere
		at := draw(0, tf)
		switch r.IntN(4) {
		case 0:
			at = times[r.IntN(len(times))]
		case 1:
			at = times[r.IntN(len(times))] * (1 + 1e-10*float64(r.IntN(3)-1))
		}
		times = append(times, at)
		return at
	}
	var levels []C
	for range 2 + r.IntN(4) {
		c := number(-0.8, 0.8)
		if len(levels) > 0 && r.IntN(4) == 0 { // where another is, or almost
			c = levels[r.IntN(len(levels))] + complex([3]float64{0, 1e-11, -1e-9}[r.IntN(3)]*r.Float64(), 0)
		}
		levels = append(levels, c)
		at := draw(0.1, tf) // of the ramp
		if r.IntN(4) == 0 {
			at = times[r.IntN(len(times))] * (1 + [3]float64{0, 1e-6, -1e-7}[r.IntN(3)]*r.Float64())
		}
		width := math.Pow(10, -1-6*r.Float64())
		switch r.IntN(17) {
		case 0:
			guard(on(), r.IntN(2) == 0, of(r.IntN(2), c))
		case 1:
			g := guard(on(), false, of(r.IntN(3), c))
			g.Crossing, g.Way = true, int8(r.IntN(3)-1)
			if r.IntN(2) == 0 {
				until := draw(0, tf)
				g.Filter = func(t float64, _ []C) bool { return t < until }
			}
		case 2: // elements, at one time or not
			n := add(func(ev *solvers.Event) {
				ev.Elems = 2
				name := ev.Name
				ev.Element = func(k int) string { return fmt.Sprintf("%s[%d]", name, k+1) }
			})
			first, state, level := r.IntN(2), r.IntN(3), c
			if state == 2 {
				level = complex(at, 0)
			}
			for k := range 2 {
				shift := complex(float64(k*r.IntN(2))*width, 0)
				guard(solvers.Guard{Event: n, Elem: k ^ first}, false, of(state, level+shift))
			}
		case 3: // a peak, enclosed
			f, rho, slope := bump(at, width)
			v.bent = append(v.bent, bend{guard: len(h.Conditions), state: 2, rho: rho, slope: slope})
			guard(solvers.Guard{Event: add(nil)}, false, func(_ C, z []C, _ *env) C {
				return complex(f(real(z[2])), 0)
			}, at)
		case 4: // a corner
			guard(solvers.Guard{Event: add(nil)}, false, func(_ C, z []C, _ *env) C {
				return complex(width-math.Abs(real(z[2])-at), 0)
			})
		case 5: // a window of the ramp; one of no width is met or not as rounding has it
			square := complex([4]float64{1, 1, 0, -1}[r.IntN(4)]*width*width, 0)
			guard(solvers.Guard{Event: add(nil)}, r.IntN(2) == 0, func(_ C, z []C, _ *env) C {
				u := z[2] - complex(at, 0)
				return square - u*u
			}, at)
		case 6: // two at once
			low, high := of(0, c), func(_ C, z []C, _ *env) C { return c + complex(width, 0) - z[0] }
			guard(solvers.Guard{Event: add(nil)}, false, func(t C, z []C, e *env) C {
				return complex(min(real(low(t, z, e)), real(high(t, z, e))), 0)
			})
			guard(solvers.Guard{Event: -1, Mode: -1, Watch: true, Affine: true}, true, low)
			guard(solvers.Guard{Event: -1, Mode: -1, Watch: true, Affine: true}, true, high)
		case 7: // the clock
			change := near()
			v.changes = append(v.changes, change)
			g := on()
			g.Clock = true
			guard(g, false, func(t C, _ []C, _ *env) C { return t - complex(change, 0) })
		case 8, 9:
			i := fire(add(nil), near())
			i.At, i.Fixed = when(times[len(times)-1]), r.IntN(2) == 0
			h.Times = append(h.Times, i)
		case 10:
			i := fire(add(nil), 0)
			i.At, i.Fixed = when(draw(-0.5, 1)), false
			i.Kind, i.Period = solvers.InstantEvery, len(h.Times)+1
			h.Times = append(h.Times, i, instant(solvers.InstantValue, draw(0.3, 2)))
			if last := &h.Times[len(h.Times)-2]; r.IntN(2) == 0 {
				last.To = len(h.Times)
				h.Times = append(h.Times, instant(solvers.InstantValue, draw(0, tf)))
			} else if r.IntN(2) == 0 {
				last.Count = len(h.Times)
				h.Times = append(h.Times, instant(solvers.InstantValue, float64(r.IntN(4))))
			}
		case 11:
			guard(solvers.Guard{Event: -1, Mode: -1, Kink: true, Affine: true}, false, of(1, c))
		case 12: // a polynomial of the ramp with two close roots
			roots := []float64{at, at + width, at + width + draw(0.1, 1)}
			f := product(roots)
			guard(solvers.Guard{Event: add(nil)}, false, func(_ C, z []C, _ *env) C {
				return complex(f(real(z[2])), 0)
			}, at+width/2)
		case 13:
			v.peaks = append(v.peaks, at)
		case 14: // the ramp
			guard(on(), r.IntN(2) == 0, of(2, complex(at, 0)))
		case 15: // of time, though nobody says so
			c := near()
			guard(on(), r.IntN(2) == 0, func(t C, _ []C, _ *env) C { return t - complex(c, 0) })
		case 16: // a peak of which the enclosure knows little
			fine := math.Pow(10, -1-3.5*r.Float64())
			coarse := func(x span) span {
				if x.Hi-x.Lo > fine {
					return span{Lo: -1, Hi: 1}
				}
				d := max(at-x.Hi, x.Lo-at, 0)
				return wider(span{Lo: 0.1 - max(at-x.Lo, x.Hi-at), Hi: 0.1 - d})
			}
			unknown := func(span) span { return span{Lo: math.NaN(), Hi: math.NaN()} }
			v.bent = append(v.bent, bend{guard: len(h.Conditions), state: 2, rho: coarse, slope: unknown})
			guard(solvers.Guard{Event: add(nil)}, false, func(_ C, z []C, _ *env) C {
				return complex(0.1-math.Abs(real(z[2])-at), 0)
			}, at)
		}
	}
	for range r.IntN(4) {
		h.Times = append(h.Times, site(near()))
		h.Times[len(h.Times)-1].Fixed = r.IntN(2) == 0
	}
	slices.Sort(v.changes)
	slices.Sort(v.peaks)
	return v
}

// stops is a sink that ends a run at a step.
type stops struct {
	trail
	left int
}

var errEnough = errors.New("enough")

func (l *stops) Step(s *solvers.Step, e solvers.End) error {
	if l.left--; l.left < 0 {
		return errEnough
	}
	return l.trail.Step(s, e)
}

// variedOptions draws a method and how it is used.
func variedOptions(r *rand.Rand, n int) (string, solvers.Options) {
	methods := []string{
		"dopri5", "bs3", "tsit5", "dop853", "rk4", "bs3, dop853", "vern7", "rkc2", "rk4, vern7", "vern9",
		"rodas4", "rosenbrock23", "sdirk4", "trbdf2",
	}
	name := methods[n%len(methods)]
	opts := solvers.Options{
		RTol: 1e-6, ATol: 1e-6,
		EventRules: solvers.EventRules{
			MaxEvents: 60, MaxCascade: 30, Each: r.IntN(4) == 0, Shuffled: r.IntN(4) == 0, Seed: 3,
		},
	}
	switch {
	case strings.HasPrefix(name, "rk4"):
		opts.Fixed = [4]float64{0.11, 0.3, 0.7, 10}[r.IntN(4)]
	case r.IntN(2) == 0:
		opts.H0 = 10
	case r.IntN(2) == 0:
		opts.HMax = 0.3
	}
	if r.IntN(4) == 0 {
		opts.EventTol = 1e-9
	}
	if r.IntN(3) == 0 {
		opts.Observe = solvers.ObserveDense
	}
	return name, opts
}

// TestVaried makes runs of systems that are drawn. What they cost, and every bit of them, stays. Of each fifth, a
// solver that was used before, or stopped on its way, makes the same run; and between the events of the run, at many
// places in each step, no condition is found that became true unnoticed.
func TestVaried(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 13), 20))
	done, kept := 0, 0
	draws := 10_000
	if testing.Short() {
		draws = 3000
	}
	for n := range draws {
		v := drawVaried(r)
		name, opts := variedOptions(r, n)
		m := method(name).New(v.Size(), 0)
		var ctl hybrid.Controller
		if opts.Fixed == 0 {
			ctl, _ = hybrid.NewController("", m.Info())
		}
		v.Asked = new(int)
		one := v.with()
		s := hybrid.NewSolver(one, m, ctl, opts)
		l, tr := &trail{}, &record.Trajectory{}
		st, err := s.Solve(context.Background(), l)
		spent(t, st, *v.Asked, l.lines, l.times, l.ends, l.final, *v.calls, err)
		if n%5 > 0 {
			continue
		}
		stop := &stops{left: r.IntN(2 + st.Steps)}
		if _, err := s.Solve(context.Background(), stop); !errors.Is(err, errEnough) && stop.left < 0 {
			t.Errorf("run %d: %v where it was to stop", n, err)
		}
		again := &trail{}
		st2, err2 := s.Solve(context.Background(), solvers.Sinks{again, tr})
		if fmt.Sprint(err) != fmt.Sprint(err2) || !reflect.DeepEqual(st, st2) || !slices.Equal(l.lines, again.lines) ||
			!slices.Equal(l.ends, again.ends) {
			t.Errorf("run %d, %s: a second time it is %v %+v %v, and was %v %+v %v", n, name, again, st2, err2, l, st,
				err)
		}
		if err != nil {
			continue
		}
		done++
		if n%50 == 0 {
			kept++
			wander(t, r, s, v, tr, name)
		}
		warned, disputed := map[string]bool{}, false
		for _, w := range st.Warnings {
			warned[w.Name] = warned[w.Name] || w.Kind == solvers.Hidden
			disputed = disputed || w.Kind == solvers.Disputed
		}
		if disputed {
			continue // and any of the conditions may have changed in between
		}
		unnoticed(t, fmt.Sprintf("run %d, %s %+v", n, name, opts), v, tr, m, warned)
	}
	if done < draws/10 || kept < draws/100 {
		t.Errorf("%d runs went to their end, and %d were kept in other ways", done, kept)
	}
}

// wander holds a run that is kept in some way to its bits, wherever it is read next.
func wander(t *testing.T, r *rand.Rand, s *hybrid.Solver, v *varied, whole *record.Trajectory, name string) {
	t.Helper()
	tr := &record.Trajectory{}
	if k := r.IntN(len(schedules) + 4); k < len(schedules) {
		tr.Keep = schedules[k]
	} else {
		tr.Limit = whole.Bytes() * int64(1+r.IntN(8)) / 8
	}
	m := method(name)
	tr.Replayer = func() (solvers.System, solvers.Method) { return v.with(), m.New(v.Size(), 0) }
	tr.Open = func() (record.Disk, error) { return &file{}, nil }
	if _, err := s.Solve(context.Background(), tr); err != nil {
		return // there is no room
	}
	readers := 1 + r.IntN(2)
	tr.Share(readers, 1+r.IntN(2))
	what := fmt.Sprintf("%s, kept as %v", name, tr.Kept())
	sameRun(t, what, whole, tr, true)
	var a record.Reader
	a.Open(context.Background(), whole)
	for range readers {
		var b record.Reader
		b.Open(context.Background(), tr)
		at := r.IntN(whole.Steps() + 1)
		for range 60 {
			switch at += r.IntN(5) - 2; {
			case r.IntN(8) == 0:
				at = r.IntN(whole.Steps() + 1)
			case r.IntN(20) == 0:
				b.Back()
			}
			at = max(min(at, whole.Steps()-1), 0)
			var x, y solvers.Step
			var mx, my solvers.Mark
			if whole.Steps() > 0 && r.IntN(3) > 0 {
				load := (*record.Reader).Load
				if r.IntN(2) == 0 {
					load = (*record.Reader).LoadDense
				}
				ex, _ := load(&a, at, &x)
				ey, err := load(&b, at, &y)
				rows := min(len(x.K), len(y.K)) // there may be room for more
				same := bitsOf(x.Y0, x.Y1, x.DQ, x.K[:rows]) == bitsOf(y.Y0, y.Y1, y.DQ, y.K[:rows])
				if err != nil || ex != ey || !same {
					t.Fatalf("%s: step %d is %+v, want %+v; %v", what, at, y, x, err)
				}
				continue
			}
			k := r.IntN(whole.Marks())
			ax, fx, _ := a.LoadMark(k, &mx)
			ay, fy, err := b.LoadMark(k, &my)
			same := bitsOf(mx.Ym, mx.Yp, mx.Dm, mx.Dp) == bitsOf(my.Ym, my.Yp, my.Dm, my.Dp)
			if err != nil || ax != ay || fx != fy || !same {
				t.Fatalf("%s: mark %d is %+v, want %+v; %v", what, k, my, mx, err)
			}
		}
	}
	workOf(t).again += tr.Replayed()
}

// bitsOf writes numbers so that no two of different bits are the same.
func bitsOf(x ...[]float64) string {
	var b strings.Builder
	for _, v := range x {
		for _, u := range v {
			fmt.Fprintf(&b, "%x ", math.Float64bits(u))
		}
		b.WriteByte(';')
	}
	return b.String()
}

// unnoticed requires of every step that no condition that was false when it began is true within it.
func unnoticed(t *testing.T, what string, v *varied, tr *record.Trajectory, m solvers.Method,
	warned map[string]bool,
) {
	t.Helper()
	var rd record.Reader
	rd.Open(context.Background(), tr)
	h := v.with()
	n := len(h.Conditions)
	var mark solvers.Mark
	var st solvers.Step
	begin, rho := make([]float64, n), make([]float64, n)
	y, truth, spent := make([]float64, h.N), make([]bool, n), make([]bool, len(h.Bodies)*2)
	k := 0
	for i := -1; i < tr.Steps(); i++ {
		if i >= 0 && tr.Length(i) > 0 {
			if _, err := rd.LoadDense(i, &st); err != nil {
				t.Fatal(err)
			}
			h.GuardValues(st.T, st.Y0, begin, truth)
			look := func(theta float64) {
				m.Interpolate(h, &st, theta, y)
				h.GuardValues(st.T+theta*st.H, y, rho, truth)
				for j, g := range h.Conditions {
					dead := g.Event >= 0 && h.Bodies[g.Event].Once && spent[2*g.Event+g.Elem]
					if g.Event < 0 || g.Crossing || g.Clock || dead || warned[h.Bodies[g.Event].Name] ||
						begin[j] > -1e-7 || rho[j] < 1e-7 {
						continue
					}
					t.Errorf("%s: guard %d is %v at the start of the step from %v by %v, and %v at %v of it", what, j,
						begin[j], st.T, st.H, rho[j], theta)
				}
			}
			for theta := 1.0 / 32; theta < 0.999; theta += 1.0 / 16 {
				look(theta)
			}
			for _, spots := range v.spots {
				for _, at := range spots { // the ramp is a line
					if theta := (at - st.Y0[2]) / (st.Y1[2] - st.Y0[2]); theta > 1e-9 && theta < 1-1e-9 {
						look(theta)
					}
				}
			}
		}
		for ; k < tr.Marks() && tr.After(k) <= i; k++ {
			if _, _, err := rd.LoadMark(k, &mark); err != nil {
				t.Fatal(err)
			}
			if mark.Kind == solvers.MarkFire {
				spent[2*mark.Firing.Event+mark.Firing.Elem] = true
			}
			h.Enter(mark.Dp, mark.Mp)
		}
	}
}
