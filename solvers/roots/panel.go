// Package roots looks for the roots of guards in a step. A Search asks the polynomial through the values of a guard at
// the nodes of a stretch, which is a Panel; Enclosures ask interval arithmetic; a Bracket narrows down where something
// fires. What they need to know of the step they ask a Reader. Times are parts of the step, or lengths from its start;
// values are those of the guard, in its units. Nothing here knows of runs.
package roots

import (
	"math"

	"odes.dev/odes/internal/base/bernstein"
)

// The halvings of a polynomial.
const (
	MaxPanels  = 10 // of a step
	FineLevel  = 24 // halvings of a polynomial that is the guard
	RoughLevel = 5  // and of one that is not
	// A polynomial of values between a and b, at these nodes, does not leave them by more than (b - a)·(spread - 1)/2
	// (Lebesgue's constant, for up to 12 nodes).
	spread = 3
)

// Sample holds the values of the guards at a length of the step.
type Sample struct {
	Theta float64 // fraction of the trial step
	H     float64
	Rho   []float64
	Truth []bool
}

// NewSample returns a sample of so many guards.
func NewSample(guards int) *Sample {
	return &Sample{Rho: make([]float64, guards), Truth: make([]bool, guards)}
}

// Set makes p a sample at length h. There are few guards, for which calls of copy take longer.
func (p *Sample) Set(h float64, rho []float64, truth []bool) {
	p.H = h
	for i, x := range rho {
		p.Rho[i], p.Truth[i] = x, truth[i]
	}
}

// Sign returns 1 for positive values, -1 for negative ones, and else 0.
func Sign(x float64) int8 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// Panel is the work space for polynomials of a degree.
type Panel struct {
	*bernstein.Basis
	Halves      [MaxPanels + 1][]*Sample
	Values      []float64                // [n+1] of the present guard
	left, right [FineLevel + 1][]float64 // [level][n+1]

	Runs   []Stretch
	Off    float64 // how far the guard may be from the polynomial
	Levels int
	Smooth bool // its slope is that of the polynomial, roughly: no corner is near its ends
}

// Stretch is where a polynomial has one sign, as far as it was looked at, and where it is farthest from zero.
type Stretch struct {
	Sign     int8
	From, To float64
	At, most float64
}

// NewPanel returns a panel for polynomials in a basis.
func NewPanel(b *bernstein.Basis) *Panel {
	n, p := b.N, &Panel{Basis: b, Values: make([]float64, b.N+1)}
	slab := make([]float64, 2*len(p.left)*(n+1))
	for i := range p.left {
		p.left[i], p.right[i], slab = slab[:n+1:n+1], slab[n+1:2*(n+1):2*(n+1)], slab[2*(n+1):]
	}
	p.Halves[0] = make([]*Sample, n+1)
	return p
}

// Fill makes the values those of guard i at samples, and returns the size of the last coefficient of their polynomial.
func (s *Panel) Fill(i int, samples []*Sample) float64 {
	last, values := 0.0, s.Values
	for j, q := range samples {
		v := q.Rho[i]
		values[j] = v
		last += float64(s.Last[j] * v)
	}
	return math.Abs(last)
}

// Missed returns by how much the polynomial of guard i through samples misses its value at probe k.
func (s *Panel) Missed(i int, samples []*Sample, k int, probe *Sample) float64 {
	there := -probe.Rho[i]
	for j, q := range samples {
		there = math.FMA(s.AtProbes[k][j], q.Rho[i], there)
	}
	return math.Abs(there)
}

// LastButOne returns the last coefficient but one of the polynomial of guard i through samples.
func (s *Panel) LastButOne(i int, samples []*Sample) (before float64) {
	for j, q := range samples {
		before = math.FMA(s.Before[j], q.Rho[i], before)
	}
	return math.Abs(before)
}

// Coefficients writes those of the present values times scale, in Bernstein's basis, to s.left[0].
func (s *Panel) Coefficients(scale float64) []float64 {
	b, values, rows := s.left[0], s.Values, s.Rows
	n := len(values)
	for r := 0; r < n; r += 2 { // two at once, since each waits for its sum; the last one perhaps twice
		next := min(r+1, n-1)
		here, there := rows[r*n:][:n], rows[next*n:][:n]
		x, y := 0.0, 0.0
		for j, v := range values {
			v = float64(scale * v)
			x += float64(here[j] * v)
			y += float64(there[j] * v)
		}
		b[r], b[next] = x, y
	}
	return b
}

// Shown reports whether coefficients b show at once that the polynomial has no sign that it has not at its ends: by
// Descartes' rule, if their signs change at most once. Where it begins at a root, they must not change.
func (s *Panel) Shown(b []float64) bool {
	rest, changes := b, 0
	if math.Abs(b[0]) <= s.Off {
		rest, changes = b[1:], 1
	}
	up := rest[0] > 0
	for _, c := range rest {
		if math.Abs(c) <= s.Off {
			return false
		}
		if c > 0 != up {
			up = !up
			if changes++; changes > 1 {
				return false
			}
		}
	}
	return true
}

// Divide follows the sign of the polynomial with coefficients b over [lo, hi] of the panel, from the left. It reports
// whether the guard may hide roots there that it cannot tell.
func (s *Panel) Divide(b []float64, lo, hi float64, level int) (doubt bool) {
	n := s.N
	least, most, up, down := bernstein.Extremes(b)
	clear := least > s.Off || most < -s.Off || s.Levels == FineLevel && least >= -s.Off && most <= s.Off
	if margin := float64(float64(n)*(hi-lo)) * s.Off; clear || s.Smooth && (up > margin || down < -margin) {
		s.note(lo, b[0])
		s.note(hi, b[n])
		return false
	}
	if level == s.Levels {
		s.note(lo, b[0])
		s.note(float64(0.5*(lo+hi)), 0)
		s.note(hi, b[n])
		return true
	}
	l, r := s.left[level+1], s.right[level+1]
	copy(r, b)
	bernstein.Halve(l, r)
	middle := float64(0.5 * (lo + hi))
	doubt = s.Divide(l, lo, middle, level+1)
	return s.Divide(r, middle, hi, level+1) || doubt
}

// note adds a value of the polynomial to its runs.
func (s *Panel) note(at, value float64) {
	sg := int8(0)
	if math.Abs(value) > s.Off {
		sg = Sign(value)
	}
	if k := len(s.Runs) - 1; k >= 0 && s.Runs[k].Sign == sg {
		r := &s.Runs[k]
		if r.To = at; math.Abs(value) > r.most {
			r.At, r.most = at, math.Abs(value)
		}
		return
	}
	s.Runs = append(s.Runs, Stretch{Sign: sg, From: at, To: at, At: at, most: math.Abs(value)})
}

// Far reports whether a polynomial with values between lo and hi at the nodes has no zero.
func Far(lo, hi float64) bool {
	beyond := float64(0.5 * (spread - 1) * (hi - lo))
	return lo > beyond || -hi > beyond
}

// remote is Far for values that are no polynomial's but by chance, as those of a wave over periods may be.
func remote(lo, hi float64) bool {
	beyond := float64(8 * (hi - lo))
	return lo > beyond || -hi > beyond
}

// Corner returns where the line through samples a and b of guard i meets that through c and d beyond zero, or nearly,
// between b and c, or 0. A guard that has a corner there, as |x - c| has, is no polynomial.
func Corner(i int, a, b, c, d *Sample) float64 {
	side := Sign(a.Rho[i])
	left, right := math.Abs(b.Rho[i]), math.Abs(c.Rho[i])
	down := (left - math.Abs(a.Rho[i])) / (b.Theta - a.Theta)
	up := (math.Abs(d.Rho[i]) - right) / (d.Theta - c.Theta)
	if side == 0 || Sign(b.Rho[i]) != side || Sign(c.Rho[i]) != side || Sign(d.Rho[i]) != side ||
		!(down < 0 && up > 0) {
		return 0
	}
	width := c.Theta - b.Theta
	at := (right - left - float64(up*width)) / (down - up)
	if math.FMA(down, at, left) > float64(0.25*min(left, right)) || !(at > 0 && at < width) {
		return 0
	}
	return b.Theta + at
}

// Vertex returns where the parabola through three values has its least one, well within them. It reports whether there
// is one that is not the middle.
func Vertex(x, v [3]float64) (z float64, moves bool) {
	l, r := x[1]-x[0], x[2]-x[1]
	dl, dr := (v[1]-v[0])/l, (v[2]-v[1])/r
	if !(dr > dl) {
		return 0, false
	}
	z = float64(0.5*(x[0]+x[1])) - float64(float64(0.5*(l+r))*dl)/(dr-dl)
	if !(math.Abs(z-x[1]) > float64(1e-3*min(l, r))) {
		return 0, false
	}
	return max(min(z, x[2]-float64(0.1*r)), x[0]+float64(0.1*l)), true
}

// Nearer replaces one of three values by that at z, so that the least one stays in the middle.
func Nearer(x, v [3]float64, z, value float64) (at, of [3]float64) {
	switch {
	case z < x[1] && value <= v[1]:
		x, v = [3]float64{x[0], z, x[1]}, [3]float64{v[0], value, v[1]}
	case z < x[1]:
		x[0], v[0] = z, value
	case value <= v[1]:
		x, v = [3]float64{x[1], z, x[2]}, [3]float64{v[1], value, v[2]}
	default:
		x[2], v[2] = z, value
	}
	return x, v
}

// Extent returns the range of guard i over some samples, NaN where a value is not a number.
func Extent(i int, samples []*Sample) (low, high float64) {
	low = samples[0].Rho[i]
	high = low
	for _, p := range samples {
		switch v := p.Rho[i]; {
		case v < low:
			low = v
		case v > high:
			high = v
		case v != v:
			return v, v
		}
	}
	return low, high
}
