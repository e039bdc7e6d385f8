package contact

import (
	"math"
	"slices"
	"testing"
)

type c = complex128

// step is that of derivatives by complex numbers.
const step = 1e-20

// closures are a Local made of closures over complex numbers: derivatives come from their imaginary parts.
type closures struct {
	t      float64 // of the point
	p, pd  []float64
	field  func(z []c, m []float64, k []c)
	atoms  []func(t c, z, p []c) c
	choose func(t float64, z, p []float64) []float64
	conds  []func(t float64, z, p []float64) bool
	times  []func(z, p []c) c
	fire   []func(t c, z, p []c)
	read   func(instant int, zm, z []c)
}

func lift(x, d []float64, way float64) []c {
	out := make([]c, len(x))
	for i, v := range x {
		out[i] = complex(v, 0)
		if d != nil {
			out[i] = complex(v, step*way*d[i])
		}
	}
	return out
}

func lower(z []c, x, d []float64) {
	for i, v := range z {
		x[i], d[i] = real(v), imag(v)/step
	}
}

func (l *closures) Rates(z, m, k []float64) {
	out := make([]c, len(k))
	l.field(lift(z, nil, 0), m, out)
	for i, v := range out {
		k[i] = real(v)
	}
}

func (l *closures) Margins(z, _, dz []float64, dt, params float64) (margin, slope []float64) {
	for _, a := range l.atoms {
		v := a(complex(l.t, step*dt), lift(z, dz, 1), lift(l.p, l.pd, params))
		margin, slope = append(margin, real(v)), append(slope, imag(v)/step)
	}
	return margin, slope
}

func (l *closures) Times(z, dz []float64) (after, slope []float64) {
	for _, at := range l.times {
		v := at(lift(z, dz, 1), lift(l.p, l.pd, 1))
		after, slope = append(after, real(v)-l.t), append(slope, imag(v)/step)
	}
	return after, slope
}

func (l *closures) Look(z, before, x []float64, dt, e float64) (s Sight) {
	move := func(a, d []float64) []float64 {
		b := slices.Clone(a)
		for i := range b {
			b[i] += e * d[i]
		}
		return b
	}
	t, zz, p := l.t+e*dt, move(z, x), move(l.p, l.pd)
	if s.M = slices.Clone(before); l.choose != nil {
		s.M = l.choose(t, zz, p)
	}
	for _, holds := range l.conds {
		s.Holds, s.Passes = append(s.Holds, holds(t, zz, p)), append(s.Passes, true)
	}
	return s
}

func (l *closures) Fire(event, _, _ int, z, x []float64, dt float64) bool {
	zz := lift(z, x, 1)
	l.fire[event](complex(l.t, step*dt), zz, lift(l.p, l.pd, 1))
	lower(zz, z, x)
	return false
}

func (l *closures) Read(instant int, zm, xm, z, x []float64, _ float64) {
	zz := lift(z, x, 1)
	l.read(instant, lift(zm, xm, 1), zz)
	lower(zz, z, x)
}

// group returns a group of l at z with modes m, and events that come in the order of the list.
func (l *closures) group(z, m []float64, events, instants int) *Group {
	g := &Group{Local: l, Z: z, M: m, Near: 1e-9, Reach: 1e-5}
	for range events {
		g.Events = append(g.Events, Event{})
	}
	for i := range l.conds {
		g.Conditions = append(g.Conditions, Condition{Event: i})
	}
	for i := range instants {
		g.Instants = append(g.Instants, Instant{Kind: Fires, Event: i})
	}
	return g
}

// sides follows the group where params move by pd, and back. It returns the motions behind it, the left one turned.
func sides(t *testing.T, g *Group, l *closures, pd, dz []float64) (left, right *Side) {
	t.Helper()
	for side, way := range []float64{-1, 1} {
		l.pd = slices.Clone(pd)
		d := slices.Clone(dz)
		for i := range l.pd {
			l.pd[i] *= way
		}
		for i := range d {
			d[i] *= way
		}
		s, err := g.Follow(d)
		if err != nil {
			t.Fatal(err)
		}
		if side == 1 {
			return left, s
		}
		for i := range s.DZ {
			s.DZ[i] *= -1
		}
		left = s
	}
	return nil, nil
}

func dot(l, x []float64) (s float64) {
	for i, v := range l {
		s += v * x[i]
	}
	return s
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// closed are models of the theory, with what derivatives by their params are on both sides: columns have left, right.
var closed = []struct {
	name string
	l    closures
	z, m []float64
	n    [2]int // events, instants
	p    []float64
	lam  []float64
	want [][2]float64
}{
	{
		// A: x += 1 at a; E: m = 1 at e; B: x += 2 at b; q' = m x, x' = x/10, J = q(3). z = x, q, m
		name: "three",
		l: closures{
			t: 1, field: func(z []c, _ []float64, k []c) { k[0], k[1] = 0.1*z[0], z[2]*z[0] },
			times: []func(z, p []c) c{
				func(_, p []c) c { return p[0] }, func(_, p []c) c { return p[2] }, func(_, p []c) c { return p[1] },
			},
			fire: []func(t c, z, p []c){
				func(_ c, z, _ []c) { z[0]++ }, func(_ c, z, _ []c) { z[2] = 1 }, func(_ c, z, _ []c) { z[0] += 2 },
			},
		},
		z: []float64{2 * math.Exp(0.1), 0, 0}, n: [2]int{3, 3}, p: []float64{1, 1, 1},
		lam: []float64{math.Expm1(0.2) / 0.1, 1, 0},
		want: [][2]float64{
			{-math.Expm1(0.2), -math.Expm1(0.2) - 1},
			{-2 * math.Expm1(0.2), -2*math.Expm1(0.2) - 2},
			{-2 * math.Exp(0.1), -2*math.Exp(0.1) - 3},
		},
	},
	{
		// y' = v, an event turns v at a, x' = if y > c then 5 else 1. z = y, x, v
		name: "turn",
		l: closures{
			t: 1, field: func(z []c, m []float64, k []c) { k[0], k[1] = z[2], complex(1+4*m[0], 0) },
			atoms:  []func(t c, z, p []c) c{func(_ c, z, p []c) c { return z[0] - p[1] }},
			choose: func(_ float64, z, p []float64) []float64 { return []float64{b2f(z[0] > p[1])} },
			times:  []func(z, p []c) c{func(_, p []c) c { return p[0] }},
			fire:   []func(t c, z, p []c){func(_ c, z, _ []c) { z[2] = -z[2] }},
		},
		z: []float64{1, 3, 1}, m: []float64{0}, n: [2]int{1, 1}, p: []float64{1, 1}, lam: []float64{0, 1, 0},
		want: [][2]float64{{0, 8}, {-8, 0}},
	},
	{
		// A: v += 1 at a; B: x += y once y > c; y' = v, x' = 0.3 v, J = x(3). z = y, x, v
		name: "f_speeds",
		l: closures{
			t: 1, field: func(z []c, _ []float64, k []c) { k[0], k[1] = z[2], 0.3*z[2] },
			atoms: []func(t c, z, p []c) c{func(_ c, z, p []c) c { return z[0] - p[1] }},
			times: []func(z, p []c) c{func(_, p []c) c { return p[0] }},
			conds: []func(t float64, z, p []float64) bool{
				func(_ float64, z, p []float64) bool { return z[0] > p[1] },
			},
			fire: []func(t c, z, p []c){
				func(_ c, z, _ []c) { z[1] += z[0] }, func(_ c, z, _ []c) { z[2]++ },
			},
		},
		z: []float64{1, 2.3, 1}, n: [2]int{2, 1}, p: []float64{1, 1}, lam: []float64{0, 1, 0.6},
		want: [][2]float64{{-0.3, -0.3}, {1, 1}},
	},
	{
		// x' = (if y > c then 2 else 1) (if z > a then 3 else 1). z = y, z, x
		name: "d_two_modes",
		l: closures{
			t: 1, field: func(_ []c, m []float64, k []c) { k[0], k[1], k[2] = 1, 1, complex((1+m[0])*(1+2*m[1]), 0) },
			atoms: []func(t c, z, p []c) c{
				func(_ c, z, p []c) c { return z[0] - p[1] }, func(_ c, z, p []c) c { return z[1] - p[0] },
			},
			choose: func(_ float64, z, p []float64) []float64 { return []float64{b2f(z[0] > p[1]), b2f(z[1] > p[0])} },
		},
		z: []float64{2, 2, 3}, m: []float64{0, 0}, p: []float64{2, 2}, lam: []float64{0, 0, 1},
		want: [][2]float64{{-2, -4}, {-1, -3}},
	},
	{
		// A: x += y at a, B: x = 2x - 2 at b; y' = 1. z = y, x. Left and right by simulations: contact3.py
		name: "h_slopes",
		l: closures{
			t: 1, field: func(_ []c, _ []float64, k []c) { k[0] = 1 },
			times: []func(z, p []c) c{func(_, p []c) c { return p[0] }, func(_, p []c) c { return p[1] }},
			fire: []func(t c, z, p []c){
				func(_ c, z, _ []c) { z[1] += z[0] }, func(_ c, z, _ []c) { z[1] = 2*z[1] - 2 },
			},
		},
		z: []float64{0, 2}, n: [2]int{2, 2}, p: []float64{1, 1}, lam: []float64{0, 1},
		want: [][2]float64{{2, 1}, {0, 0}},
	},
}

func TestClosedForms(t *testing.T) {
	for _, x := range closed {
		l := x.l
		l.p = x.p
		g := l.group(x.z, x.m, x.n[0], x.n[1])
		if x.name == "f_speeds" {
			g.Instants[0].Event = 1
		}
		dz := make([]float64, len(x.z))
		for k, want := range x.want {
			pd := make([]float64, len(x.p))
			pd[k] = 1
			left, right := sides(t, g, &l, pd, dz)
			if got := [2]float64{dot(x.lam, left.DZ), dot(x.lam, right.DZ)}; !near(got[0], want[0]) ||
				!near(got[1], want[1]) {
				t.Errorf("%s, param %d: left, right are %v, want %v", x.name, k, got, want)
			}
			if !left.Alike(right) {
				t.Errorf("%s, param %d: leaps", x.name, k)
			}
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-10*(1+math.Abs(b)) }

// TestTwoTimes has a param that moves two coincidences, and the side at the second depends on that at the first.
func TestTwoTimes(t *testing.T) {
	// y' = if t > a then 2 else 1; x' = if y > 1 then 3 else 1; w' = (if x > 2.5 …5)(if t > 1.5 …2). z = y, x, w
	l := &closures{
		p: []float64{1},
		field: func(_ []c, m []float64, k []c) {
			k[0], k[1], k[2] = complex(1+m[0], 0), complex(1+2*m[1], 0), complex((1+4*m[2])*(1+m[3]), 0)
		},
		atoms: []func(t c, z, p []c) c{
			func(t c, _, p []c) c { return t - p[0] }, func(_ c, z, _ []c) c { return z[0] - 1 },
			func(_ c, z, _ []c) c { return z[1] - 2.5 }, func(t c, _, _ []c) c { return t - 1.5 },
		},
		choose: func(t float64, z, p []float64) []float64 {
			return []float64{b2f(t > p[0]), b2f(z[0] > 1), b2f(z[1] > 2.5), b2f(t > 1.5)}
		},
	}
	want := map[float64]float64{-1: -4.0 / 3, 1: 0}
	for way, want := range want {
		l.pd, l.t = []float64{way}, 1
		g := l.group([]float64{1, 1, 1}, []float64{0, 0, 0, 0}, 0, 0)
		s, err := g.Follow(make([]float64, 3))
		if err != nil {
			t.Fatal(err)
		}
		l.t = 1.5
		g = l.group([]float64{2, 2.5, 1.5}, s.M, 0, 0)
		if s, err = g.Follow(s.DZ); err != nil { // rates are constant in between, so motions at a fixed time are, too
			t.Fatal(err)
		}
		if got := s.DZ[2] * way; !near(got, want) {
			t.Errorf("way %v: %v, want %v", way, got, want)
		}
	}
}
