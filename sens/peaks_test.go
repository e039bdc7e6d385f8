package sens_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/record"
)

// swing is x = A·sin(ωt + φ), v its rate, with the peaks of x, of −x, of x·v and of t·x, of which the last is largest
// at the end.
func swing(tf float64, params ...float64) *problem {
	p := &problem{}
	p.Hybrid = &hybridModel{}
	p.N = 2
	p.Params = params // A, ω, φ
	p.Times = []instant{fixedAt(solvers.InstantStart, 0), fixedAt(solvers.InstantEnd, tf)}
	p.Init = func(_ C, e *env, y, _ []C) {
		a, w, phi := e.P[0], e.P[1], e.P[2]
		y[0], y[1] = a*cmplx.Sin(phi), a*w*cmplx.Cos(phi)
	}
	p.Field = func(_ C, y []C, e *env, k []C) { k[0], k[1] = y[1], -e.P[1]*e.P[1]*y[0] }
	p.n, p.m, p.peaks = 4, 4, []int{0, 1, 2, 3}
	p.heights = func(t C, y, _, e []C) { e[0], e[1], e[2], e[3] = y[0], -y[0], y[0]*y[1], t*t*t }
	p.observe = func(sens.Site, C, []C, []C, []C, []C, []C, []C) {}
	p.psi = func(f, _, psi []C) { copy(psi, f) }
	p.opts = solvers.Options{RTol: 1e-10, ATol: 1e-12}
	return p
}

// TestPeaks compares the largest values of a swing, and their derivatives, with closed forms, for several methods of
// dense output, and all ways to differentiate with each other.
func TestPeaks(t *testing.T) {
	const a, w, phi, tf = 1.5, 2.0, 0.3, 2.9
	for _, name := range []string{"dopri5", "dop853", "vern7", "tsit5", "bs3", "rk4"} {
		p := swing(tf, a, w, phi)
		tol, exact := 1e-9, 1e-7
		switch name {
		case "rk4":
			p.opts = solvers.Options{Fixed: 0.01}
		case "bs3":
			p.opts = solvers.Options{RTol: 1e-8, ATol: 1e-9}
			exact = 1e-5
		}
		tr, st := p.run(t, name)
		res := p.compare(t, name, tr, st, tol)
		// sin = 1 at the top, −1 at the bottom; x·v = A²ω sin(2(ωt + φ))/2; t³ is largest at the end.
		for i, want := range []struct {
			value, at float64
			da, dw    float64
		}{
			{a, (math.Pi/2 - phi) / w, 1, 0},
			{a, (3*math.Pi/2 - phi) / w, 1, 0},
			{a * a * w / 2, (math.Pi/4 - phi) / w, a * w, a * a / 2},
			{tf * tf * tf, tf, 0, 0},
		} {
			what := name + ": peak " + string(rune('0'+i))
			near(t, what, res.Psi[i], want.value, exact)
			near(t, what+": by A", res.DP[3*i], want.da, 100*exact)
			near(t, what+": by ω", res.DP[3*i+1], want.dw, 100*exact)
			near(t, what+": by φ", res.DP[3*i+2], 0, 100*exact)
			// x·v is as large once more, half a swing later
			near(t, what+": when", math.Remainder(res.Peaks[i].T-want.at, math.Pi/w), 0, 1e3*exact)
			if res.Peaks[i].Element != i {
				t.Errorf("%s is that of %d", what, res.Peaks[i].Element)
			}
		}
	}
}

// TestPeakOfKink: min(a t, b - c t) is largest where the two meet, at b/(a + c), and there it is ab/(a + c). The
// derivatives are those of this, which neither branch has.
func TestPeakOfKink(t *testing.T) {
	const a, b, c = 2.0, 3.0, 0.5
	p := swing(3, a, b, c)
	p.Init = func(_ C, e *env, y, _ []C) { y[0], y[1] = 0, e.P[1] }
	p.Field = func(_ C, _ []C, e *env, k []C) { k[0], k[1] = e.P[0], -e.P[2] }
	p.n, p.m, p.peaks = 1, 1, []int{0}
	p.heights = func(_ C, y, _, e []C) {
		if e[0] = y[0]; real(y[1]) < real(y[0]) {
			e[0] = y[1]
		}
	}
	const s = a + c
	for _, fixed := range []float64{0.15, 0.4} {
		p.opts = solvers.Options{Fixed: fixed}
		tr, _ := p.run(t, "rk4")
		methods := p.methods(t, "rk4")[:4] // differences would move to the other branch
		for _, m := range p.continuousMethods(t, "rk4") {
			methods = append(methods, m)
		}
		for _, m := range methods {
			var res sens.Result
			if err := m.Gradient(t.Context(), tr, sens.Options{}, &res); err != nil {
				t.Fatal(err)
			}
			near(t, m.Name()+": value", res.Psi[0], a*b/s, 1e-12)
			near(t, m.Name()+": time", res.Peaks[0].T, b/s, 1e-12)
			for i, want := range []float64{b * c / (s * s), a / s, -a * b / (s * s)} {
				near(t, m.Name()+": derivative", res.DP[i], want, 1e-9)
			}
		}
	}
}

// TestPeakAlone: one peak within a step, and nothing else.
func TestPeakAlone(t *testing.T) {
	const a, w, phi = 1.5, 2.0, 0.3
	p := swing(1, a, w, phi)
	p.n, p.m, p.peaks = 1, 1, []int{0}
	p.heights = func(_ C, y, _, e []C) { e[0] = y[0] }
	tr, st := p.run(t, "dopri5")
	res := p.compare(t, "dopri5", tr, st, 1e-9)
	near(t, "value", res.Psi[0], a, 1e-8)
	for i, want := range []float64{1, 0, 0} {
		near(t, "derivative", res.DP[i], want, 1e-7)
	}
}

// TestPeakAtEnd: what an event at the end of the run makes largest is read behind it.
func TestPeakAtEnd(t *testing.T) {
	p := line(1, 0.5, 0.7)
	p.Times = append(p.Times, firing(fixedAt(solvers.InstantFire, 2),
		p.event("lift", func(_ C, ym []C, e *env, yp, _ []C) { yp[0] = ym[0] + e.P[2] }), 0))
	p.observe, p.peaks = func(sens.Site, C, []C, []C, []C, []C, []C, []C) {}, []int{0}
	p.heights = func(_ C, y, _, e []C) { e[0] = y[0] }
	p.exact(t, []float64{2, 1, 1})
}

// TestPeaksOfCubics: a polynomial of degree 3 is searched exactly, wherever in a step it rises and falls. Its
// derivatives by its coefficients are the powers of the time at which it is largest.
func TestPeaksOfCubics(t *testing.T) {
	p := swing(1, 0, 0, 0)
	p.Field = func(_ C, _ []C, _ *env, k []C) { k[0], k[1] = 0, 0 }
	p.Params = make([]float64, 3)
	p.opts = solvers.Options{Fixed: 0.5}
	p.n, p.m, p.peaks = 1, 1, []int{0}
	p.heights = func(t C, _, p, e []C) { e[0] = t * (p[0] + t*(p[1]+t*p[2])) }
	r := elem.NewRand(5)
	inside := 0
	for range 800 {
		// It turns at u and v, which are within a sixth of the step more often than not.
		u := r.Float64()
		v := u + (r.Float64()-0.5)*[...]float64{2, 0.2, 0.02, 2e-3, 2e-4}[r.Uint64()%5]
		scale := [...]float64{1, 1e-13, 1e9}[r.Uint64()%3]
		c := scale * (20*r.Float64() - 10)
		p.Params[0], p.Params[1], p.Params[2] = c*u*v, -c*(u+v)/2, c/3
		value := func(t float64) float64 { return t * (p.Params[0] + t*(p.Params[1]+t*p.Params[2])) }
		best := 0.0
		for _, at := range []float64{u, v, 1} {
			if at > 0 && at <= 1 && value(at) > value(best) {
				best = at
			}
		}
		if best > 0 && best < 1 {
			inside++
		}
		tr, _ := p.run(t, "rk4")
		var res sens.Result
		if err := p.adjoint(t, "rk4", 1).Gradient(t.Context(), tr, sens.Options{}, &res); err != nil {
			t.Fatal(err)
		}
		if d := res.Psi[0] - value(best); !(math.Abs(d) <= 1e-13*scale) {
			t.Fatalf("turns at %v and %v, factor %v: largest value is %v at %v, want %v at %v", u, v, c, res.Psi[0],
				res.Peaks[0].T, value(best), best)
		}
	}
	if inside < 60 {
		t.Errorf("only %d peaks within the run", inside)
	}
}

// TestPeakSearchEnds: a saw with a hundred thousand teeth rises at every point and falls on the whole, so that each
// part of a step looks as if it turned twice. The search divides it a few times and is content.
func TestPeakSearchEnds(t *testing.T) {
	p := swing(1, 1)
	p.Init = func(_ C, _ *env, y, _ []C) { y[0], y[1] = 0, 0 }
	p.Field = func(_ C, _ []C, _ *env, k []C) { k[0], k[1] = 0, 0 }
	p.opts = solvers.Options{Fixed: 0.25}
	p.n, p.m, p.peaks = 1, 1, []int{0}
	asked := 0
	p.heights = func(t C, _, p, e []C) {
		asked++
		const teeth = 1e5
		e[0] = p[0]*t - complex(2*math.Floor(real(t)*teeth)/teeth, 0)
	}
	tr, _ := p.run(t, "rk4")
	var res sens.Result
	if err := p.adjoint(t, "rk4", 1).Gradient(t.Context(), tr, sens.Options{}, &res); err != nil {
		t.Fatal(err)
	}
	// Each look asks for the value and for the slope: at the ends of three parts of each of four steps, and at 7 places
	// within them, which three divisions give. The peak itself is read a few times.
	if least := 2 * 4 * (4 + 3*7); asked < least || asked > least+20 {
		t.Errorf("asked for %d values and slopes, want little more than %d", asked, least)
	}
	near(t, "value", res.Psi[0], 0, 1e-5)
}

// TestPeaksTie has two tops of a swing, which are as large but for rounding: which is the largest is not decided, and
// the other is named. After one swing there is no other.
func TestPeaksTie(t *testing.T) {
	const w = 2.0
	for tf, tie := range map[float64]bool{5: true, 2.9: false} {
		p := swing(tf, 1.5, w, 0.3)
		p.opts = solvers.Options{RTol: 1e-12, ATol: 1e-13}
		tr, _ := p.run(t, "vern9")
		res := sens.Result{}
		if err := p.adjoint(t, "vern9", 1).Gradient(context.Background(), tr, sens.Options{}, &res); err != nil {
			t.Fatal(err)
		}
		first, second := (math.Pi/2-0.3)/w, (5*math.Pi/2-0.3)/w
		top := res.Peaks[0]
		if !tie {
			if !math.IsNaN(top.Other) {
				t.Errorf("up to %v: as large at %v and %v", tf, top.T, top.Other)
			}
			continue
		}
		if !(math.Abs(min(top.T, top.Other)-first) < 1e-5 && math.Abs(max(top.T, top.Other)-second) < 1e-5) {
			t.Errorf("up to %v: tops at %v and %v, want %v and %v", tf, top.T, top.Other, first, second)
		}
	}
}

// TestPeaksNearlyTie: two tops count as equal within Options.Tie.
func TestPeaksNearlyTie(t *testing.T) {
	p := swing(5, 1.5, 2, 0.3)
	p.heights = func(t C, y, _, e []C) { e[0], e[1], e[2], e[3] = y[0]*(1-0.002*t), 0, 0, 0 }
	tr, _ := p.run(t, "dopri5")
	// They differ by 0.0063 of the larger.
	for tie, both := range map[float64]bool{0: false, 1e-3: false, 0.01: true, 0.5: true} {
		var res sens.Result
		if err := p.adjoint(t, "dopri5", 1).Gradient(t.Context(), tr, sens.Options{Tie: tie}, &res); err != nil {
			t.Fatal(err)
		}
		if top := res.Peaks[0]; math.IsNaN(top.Other) == both || top.T > 1 {
			t.Errorf("tie %v: tops at %v and %v", tie, top.T, top.Other)
		}
	}
}

// TestPeaksTieOfCubics has cubics of time, which have two tops or one: at the start, within a step, or at the end. The
// lower one is named if it is within Options.Tie, however steps divide the time.
func TestPeaksTieOfCubics(t *testing.T) {
	const tie = 0.2
	r := rand.New(rand.NewPCG(seeds.Of(t, 5), 21))
	named, alone := 0, 0
	for n := range 1000 {
		u := 0.6 * r.Float64()
		v, k := u+0.2+0.5*r.Float64(), 80*r.Float64()-40
		f := func(t float64) float64 { return 0.5 + k*t*(u*v+t*(t/3-(u+v)/2)) } // it turns at u and v
		slope := func(t float64) float64 { return k * (t - u) * (t - v) }
		var tops []float64
		for _, at := range []float64{0, u, v, 1} {
			if at <= 1 && (at == 0 || slope(at-1e-6) >= 0) && (at == 1 || slope(at+1e-6) <= 0) {
				tops = append(tops, at)
			}
		}
		slices.SortFunc(tops, func(a, b float64) int { return cmp.Compare(f(b), f(a)) })
		other := math.NaN()
		if len(tops) > 1 {
			size := max(math.Abs(f(0)), math.Abs(f(1)), math.Abs(f(u)), math.Abs(f(min(v, 1))))
			deep := f(tops[1]) - low(f, tops[0], tops[1])
			off := f(tops[0]) - f(tops[1])
			if far := tie * size; math.Abs(off-far) < 0.1*far || math.Abs(deep-far) < 0.1*far {
				continue
			} else if off < far && deep > far {
				other = tops[1]
			}
		}
		p := swing(1, 1, 1, 0)
		p.heights = func(t C, y, _, e []C) {
			u, v, k := complex(u, 0), complex(v, 0), complex(k, 0)
			e[0], e[1], e[2], e[3] = 0.5+k*t*(u*v+t*(t/3-(u+v)/2)), 0, 0, 0
		}
		for _, fixed := range []float64{1, 0.37} {
			p.opts = solvers.Options{Fixed: fixed}
			tr, _ := p.run(t, "rk4")
			var res sens.Result
			if err := p.adjoint(t, "rk4", 1).Gradient(t.Context(), tr, sens.Options{Tie: tie}, &res); err != nil {
				t.Fatal(err)
			}
			top := res.Peaks[0]
			same := math.IsNaN(top.Other) && math.IsNaN(other) || math.Abs(top.Other-other) < 1e-6
			if math.Abs(top.T-tops[0]) > 1e-6 || !same {
				t.Errorf("%d, steps of %v, turns at %v and %v, factor %v: tops at %v and %v, want %v and %v", n, fixed,
					u, v, k, top.T, top.Other, tops, other)
			}
		}
		if math.IsNaN(other) {
			alone++
		} else {
			named++
		}
	}
	if min(named, alone) < 20 {
		t.Errorf("%d with another top, %d without", named, alone)
	}
}

// low returns about the least value of f between a and b.
func low(f func(float64) float64, a, b float64) float64 {
	least := f(a)
	for k := range 1001 {
		least = min(least, f(a+(b-a)*float64(k)/1000))
	}
	return least
}

// TestPeaksOfTime has functions of time with peaks that are much narrower than steps. The highest is found.
func TestPeaksOfTime(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 5), 22))
	for n := range 30 {
		var sum []string
		best := 0.0
		for k := range 1 + r.IntN(4) {
			height, at := 0.5+r.Float64(), float64(k)+0.1+0.8*r.Float64()
			best = max(best, height)
			narrow := math.Pow(10, 1.3+4*r.Float64())
			sum = append(sum, fmt.Sprintf("%.17g*exp(-((t - %.17g)*%.17g)^2)", height, at, narrow))
		}
		m, err := odes.Parse("m.ode", fmt.Sprintf("time t from 0 to 4\nparam a = 1\nstate x = a\nx' = -x\n"+
			"objective J = max_over(a*(%s))\nsens { trust = off }\n", strings.Join(sum, " + ")), odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprint(n, ": ", sum), s.Values[0].Value, best, 1e-9)
		near(t, fmt.Sprint(n, ": derivative of ", sum), s.Gradient[0], best, 1e-9)
	}
}

// TestPeaksObserved finds peaks while a run is made, as a Sink, and without a trajectory.
func TestPeaksObserved(t *testing.T) {
	p := swing(2.9, 1.5, 2, 0.3)
	tr, _ := p.run(t, "dopri5")
	res := sens.Result{}
	if err := p.adjoint(t, "dopri5", 1).Gradient(context.Background(), tr, sens.Options{}, &res); err != nil {
		t.Fatal(err)
	}
	o := p.with(1)
	m := p.method(t, "dopri5", 0)
	ctl, _ := hybrid.NewController("", m.Info())
	seen := sens.NewObserver(o)
	if _, err := hybrid.Solve(context.Background(), o.Hybrid, m, ctl, p.opts, seen); err != nil {
		t.Fatal(err)
	}
	psi := make([]float64, p.m)
	seen.Values(psi)
	for i := range psi {
		if psi[i] != res.Psi[i] {
			t.Errorf("peak %d is %v as a sink, %v from the trajectory", i, psi[i], res.Psi[i])
		}
	}
}

// growth is x' = k·x from x0, of which final(x) = x0·e^(kT).
func growth(k, x0, tf float64) *problem {
	p := swing(tf, k, x0)
	p.N, p.n, p.m, p.peaks = 1, 1, 1, nil
	p.Init = func(_ C, e *env, y, _ []C) { y[0] = e.P[1] }
	p.Field = func(_ C, y []C, e *env, k []C) { k[0] = e.P[0] * y[0] }
	p.observe = func(s sens.Site, _ C, _, _, yp, _, _, f []C) {
		if s.Kind == sens.SiteFinal {
			f[0] += yp[0]
		}
	}
	return p
}

// TestAlong replays a run along directions: derivatives, values and second derivatives are those of the closed form.
func TestAlong(t *testing.T) {
	const k, x0, tf = 0.7, 2.0, 1.5
	p := growth(k, x0, tf)
	tr, _ := p.run(t, "dop853")
	c := p.methods(t, "dop853")[0].(*sens.ComplexStep)
	ctx := context.Background()
	end := x0 * math.Exp(k*tf)
	for _, d := range [][2]float64{{1, 0}, {0, 1}, {0.3, -2}} {
		got, err := c.Along(ctx, tr, d[:], nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "along", got[0], d[0]*tf*end+d[1]*end/x0, 1e-9)
		const eps = 1e-3
		values, err := c.Replays(ctx, tr, d[:], []float64{0.5}, []float64{0, eps, -2 * eps})
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range []float64{0, eps, -2 * eps} {
			near(t, "replayed", values[i][0], (x0+e*(d[1]+0.5))*math.Exp((k+e*d[0])*tf), 1e-9)
		}
	}
	moved, err := c.Along(ctx, tr, []float64{0, 0}, []float64{2}, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "along the initial value", moved[0], 2*end/x0, 1e-9)
	f, err := c.Analytic(ctx, tr)
	if err != nil {
		t.Fatal(err)
	}
	second, err := sens.Curvature(func(z complex128) ([]complex128, error) {
		return f.At(ctx, []complex128{k + z, complex(x0, 0)}, nil)
	}, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the second derivative", second[0], tf*tf*end, 1e-8)
}

// looking counts the points at which expressions are looked at.
type looking struct {
	*closures
	looks *int
}

func (l looking) Heights(t float64, y, e []float64) {
	*l.looks++
	l.closures.Heights(t, y, e)
}

// TestPeaksWork counts the points at which a search looks: samples, and few more where something turns.
func TestPeaksWork(t *testing.T) {
	for _, c := range []struct {
		name    string
		heights func(t C, y, p, e []C)
		looks   [3]int
	}{
		{"even", func(t C, _, _, e []C) { e[0] = t }, [3]int{86, 333, 33}},
		{"level", func(_ C, _, _, e []C) { e[0] = 1 }, [3]int{86, 333, 33}},
		{"swing", func(_ C, y, _, e []C) { e[0] = y[0] }, [3]int{89, 337, 37}},
		{"flat", func(_ C, y, _, e []C) { e[0] = 1 - y[0]*y[0]*y[0]*y[0] }, [3]int{181, 419, 130}},
		{"steep", func(t C, y, _, e []C) { e[0] = elem.CExp(4*t) * y[0] }, [3]int{93, 341, 40}},
		{"waves", func(t C, y, _, e []C) { e[0] = elem.CSin(15*t) + y[0] }, [3]int{147, 384, 79}},
		{"narrow", func(t C, y, _, e []C) { e[0] = 1/(0.003+(t-1.1)*(t-1.1)) + y[1] }, [3]int{95, 343, 42}},
		{"kink", func(t C, y, _, e []C) { e[0] = elem.CAbs(y[0]-0.5) + 0.2*t }, [3]int{95, 341, 42}},
		{"clipped", func(_ C, y, _, e []C) { e[0] = elem.CMin(y[0], 0.7) }, [3]int{86, 336, 33}},
		{"root", func(_ C, y, _, e []C) { e[0] = elem.CSqrt(1.6 - y[0]) }, [3]int{90, 337, 38}},
	} {
		var got [3]int
		for i, name := range []string{"dopri5", "bs3", "rk4"} {
			p := swing(2.9, 1.5, 2, 0.3)
			p.opts = solvers.Options{RTol: 1e-5, ATol: 1e-5}
			if name == "rk4" {
				p.opts = solvers.Options{Fixed: 0.4}
			}
			p.n, p.m, p.peaks, p.heights = 1, 1, []int{0}, c.heights
			tr, _ := p.run(t, name)
			o := p.with(1)
			var res sens.Result
			a := &sens.Adjoint{New: func() sens.CotangentWorker {
				counts := looking{o, &got[i]}
				return sens.CotangentWorker{System: o.Hybrid, Objectives: counts, Method: p.method(t, name, 1)}
			}}
			if err := a.Gradient(t.Context(), tr, sens.Options{}, &res); err != nil {
				t.Fatal(err)
			}
		}
		for i, n := range got {
			if d := n - c.looks[i]; d*d > 4 { // rounding decides where a search ends
				t.Errorf("%s: %v looks, want %v", c.name, got, c.looks)
			}
		}
	}
}

// TestAlongTangent: the tangent, the complex step and the gradient of the adjoint agree on the derivatives along random
// directions of params and initial values, of a run that has everything.
func TestAlongTangent(t *testing.T) {
	p := everything()
	p.opts.Fixed = 0.11
	tr, _ := p.run(t, "rk4")
	all := p.methods(t, "rk4")
	var res sens.Result
	if err := all[1].Gradient(t.Context(), tr, sens.Options{Initial: true}, &res); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seeds.Of(t, 3), 4))
	for round := range 4 {
		dp, dy0 := make([]float64, len(p.Params)), make([]float64, p.N)
		for i := range dp {
			dp[i] = r.NormFloat64()
		}
		for i := range dy0 {
			dy0[i] = r.NormFloat64()
		}
		if round == 0 {
			dy0 = nil
		}
		var calls int
		all[3].(*sens.Tangent).SetTell(func(float64, float64, int) { calls++ })
		pushed, err := all[3].(*sens.Tangent).Along(t.Context(), tr, dp, dy0)
		if err != nil {
			t.Fatal(err)
		}
		exact, err := all[0].(*sens.ComplexStep).Along(t.Context(), tr, dp, dy0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if want := tr.Steps() / 64; calls != want {
			t.Errorf("told %d times in %d steps", calls, tr.Steps())
		}
		for o := range p.m {
			want, size := 0.0, 0.0
			for i, d := range dp {
				want += d * res.DP[o*len(dp)+i]
				size += math.Abs(d * res.DP[o*len(dp)+i])
			}
			for i, d := range dy0 {
				want += d * res.DY0[o*p.N+i]
				size += math.Abs(d * res.DY0[o*p.N+i])
			}
			for _, got := range []float64{pushed[o], exact[o]} {
				if !(math.Abs(got-want) <= 1e-13*size) {
					t.Errorf("objective %d along direction %d: %v, by the gradient %v", o, round, got, want)
				}
			}
		}
	}
}

// TestErrorControl lets derivatives take part in the error control of a run whose states are easy and whose derivatives
// are not: they become as accurate as the tolerance asks, with more steps.
func TestErrorControl(t *testing.T) {
	const k, x0, tf = 1e-3, 1e-6, 4.0
	p := growth(k, x0, tf)
	p.Field = func(t C, y []C, e *env, k []C) { k[0] = e.P[0] * cmplx.Sin(5*t) * (1 + y[0]) }
	exact := func() float64 { // of 1 + x = (1 + x0)·exp(k(1 - cos 5t)/5)
		g := (1 - math.Cos(5*tf)) / 5
		return (1 + x0) * g * math.Exp(k*g)
	}()
	errs, steps := [2]float64{}, [2]int{}
	for n := range 2 {
		p.opts = solvers.Options{RTol: 1e-4, ATol: 1e-4}
		tr := &record.Trajectory{}
		m := p.method(t, "dopri5", 0)
		ctl, _ := hybrid.NewController("", m.Info())
		sinks := solvers.Sinks{tr}
		if n == 1 {
			g := &sens.ErrorControl{
				Run: tr, Initial: true, RTol: []float64{1e-8}, ATol: []float64{1e-8}, Size: []float64{1, 1},
				New: func() sens.TangentWorker {
					o := p.with(2)
					return sens.TangentWorker{System: o.Hybrid, Objectives: o, Method: p.method(t, "dopri5", 2)}
				},
			}
			p.opts.Also = g.Norm
			sinks = append(sinks, g)
		}
		st, err := hybrid.Solve(context.Background(), p.Hybrid.With(1), m, ctl, p.opts, sinks)
		if err != nil {
			t.Fatal(err)
		}
		res := sens.Result{}
		if err := p.adjoint(t, "dopri5", 1).Gradient(context.Background(), tr, sens.Options{}, &res); err != nil {
			t.Fatal(err)
		}
		errs[n], steps[n] = math.Abs(res.DP[0]-exact), st.Steps
	}
	if !(errs[1] < 1e-7 && errs[0] > 100*errs[1] && steps[1] > 2*steps[0]) {
		t.Errorf("errors %.2g and %.2g in %d and %d steps", errs[0], errs[1], steps[0], steps[1])
	}
}

// TestLookupMode finds the modes by the names that users write.
func TestLookupMode(t *testing.T) {
	for _, m := range sens.Modes() {
		if got, ok := sens.LookupMode(m.Name); !ok || got.Name != m.Name {
			t.Errorf("%s: %v", m.Name, got)
		}
	}
	if _, ok := sens.LookupMode("none of them"); ok {
		t.Error("a mode that is none is found")
	}
}
