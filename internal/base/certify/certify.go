// Package certify says how much better a point near one could be, from exact derivatives at that point and, where these
// leave it open, from some nearby. It knows nothing of the search that found the point.
//
// A linear program asks how far the objective falls, to first order, where no variable moves by more than a part ρ of
// its size and constraints are kept, for ρ = 1, 0.1 … 1e-8. A step along its solution, as long as the curvature lets
// the objective fall, is a gain; so is a step along the solution of the quadratic program. The curvature is that of the
// Lagrangian, with the multipliers of the linear program: where constraints bend down, the way along them leads farther
// than the objective alone tells. Kinks are rows of the programs: absolute values are; where gradients jump, pieces
// that meet at the point are found by runs nearby, which join the programs until these promise no more than there is.
// At a minimum the largest gain is zero. Nothing depends on the units of variables or of the objective.
package certify

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/optim"
)

// Point is a value of an objective, F + Σ W|U|, and of constraints, with their derivatives.
type Point struct {
	Value       float64
	Gradient    []float64 // of F
	Kinks       optim.Kinks
	Constraints optim.Constraints
}

// Problem is a point and what may be near it.
type Problem struct {
	X, Sizes []float64 // the point, and how far its variables may move
	Lo, Hi   []float64 // bounds; infinite ones are none
	Min, Max []float64 // limits of the constraints; those of an equation are equal
	At       *Point
	// Hessian is that of F, n × n, or a matrix that stands for it; nil where there is none.
	Hessian []float64
	// Size is what gains are relative to.
	Size float64
	// Enough is the gain, relative to Size, with which nobody looks further.
	Enough float64
	// Noise is the error of a value.
	Noise float64
	// Smooth tells that no gradient jumps near the point, beside those of kinks.
	Smooth bool
	// Over tells that nobody wants the certificate any more, which then means nothing; nil for never.
	Over func() bool
	// Products sets out to the Hessian of F + yᵀC at the point times v, where there are too many variables for
	// matrices; nil: it cannot be had.
	Products func(y, v, out []float64) error
	// Curve returns the Hessian of F + yᵀC at the point, n × n; nil: it cannot be had. Then Hessian is that of y = 0.
	Curve func(y []float64) []float64
	// Brief asks for more products than a matrix has columns only where these decide whether the gain is enough.
	Brief bool
	// Near evaluates at another point; nil: nothing may be.
	Near func(x []float64) (*Point, error)

	slack   []float64 // what constraints may be violated by; nil for nothing
	cuts    []cut
	solved  int         // quadratic programs
	curves  []float64   // Hessian, or what differences of gradients make of it; during gain, that of the Lagrangian
	bends   [][]float64 // those of the constraints; nil where they are not known
	presses bool        // constraints hold the solution of a linear program
	only    float64     // the radius of which programs are solved, since it led to the last piece; 0: of all
}

// cut is a piece of a function: its value at X, by its derivatives elsewhere. Constraint −1 is the objective.
type cut struct {
	constraint int
	value      float64
	slope      []float64
}

// Certificate says how good a point is.
type Certificate struct {
	Stationarity float64 // what could be gained, relative to Size
	Feasibility  float64 // the largest violation, relative to how far its constraint moves with the variables
	Step         []float64
	Real         bool // a run nearby confirms that Step leads down
	Pieces       int  // gradients that meet, beyond one for each function
	Programs     int  // quadratic programs that were solved
}

// Minimum returns the certificate of a point.
func (p *Problem) Minimum() Certificate {
	c := Certificate{Feasibility: p.Feasibility()}
	const likely = 1e-3 // of points that are to be good ones
	most := min(3*len(p.X)+10, 120)
	p.curves = p.Hessian
	for {
		gain, step, radius := p.gain()
		if p.only != 0 && !(gain > float64(p.Enough*p.Size)) {
			p.only = 0
			continue
		}
		c.Stationarity, c.Step, c.Pieces, c.Programs = gain/p.Size, step, len(p.cuts), p.solved
		if c.Stationarity <= p.Enough && c.Feasibility <= likely && p.differ() {
			continue
		}
		if !(c.Stationarity > p.Enough) || step == nil || p.Near == nil || len(p.cuts) >= most {
			return p.level(p.farther(c))
		}
		const little = 1e-4 // of sizes
		met, real := p.probe(step, math.Min(little, radius), true)
		c.Real = real
		for far := 10 * little; !met && far <= 10*radius && len(p.Min) > 0; far *= 10 {
			met, _ = p.probe(step, math.Min(far, radius), false)
		}
		if p.only = 0; met && p.curves != nil {
			p.only = radius
		} else if !met {
			return p.level(p.farther(c))
		}
	}
}

// Folded tells which variables have slopes that differ between the pieces of the objective that meet at the point, as
// far as these were found. What differs far less than others is curvature between the places where they were.
func (p *Problem) Folded() []bool {
	const part = 1e-2
	out := make([]bool, len(p.X))
	for _, k := range p.cuts {
		if k.constraint >= 0 {
			continue
		}
		by, most := make([]float64, len(p.X)), 0.0
		for i, v := range k.slope {
			by[i] = math.Abs(float64((v - p.At.Gradient[i]) * p.Sizes[i]))
			most = math.Max(most, by[i])
		}
		for i, v := range by {
			out[i] = out[i] || v > float64(part*most)
		}
	}
	return out
}

// radii are the parts of sizes by which variables may move.
var radii = []float64{1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8}

// Quadratic programs in so many variables take long. Where a straight step gains so many times what is enough, the
// point is no minimum by that alone, and the gain is a lower bound.
const manyVariables, clearly = 150, 1e3

// mostProducts is how many Hessians times vectors a certificate of many variables may take.
const mostProducts = 300

// rounding is the part of the scale of a linear program that its slopes are not certain to.
const rounding = 0x1p-38

// gain returns the largest gain, the step that has it and the radius of that.
func (p *Problem) gain() (gain float64, step []float64, radius float64) {
	gain, step, radius, most := p.programs()
	if p.Products == nil || p.curves != nil {
		return gain, step, radius
	}
	switch enough := float64(p.Enough * p.Size); {
	case most <= enough: // even without curvature
		gain = math.Max(gain, most)
	case gain > float64(clearly*enough):
	case p.matrices():
		gain, step, radius, _ = p.programs()
	case !p.Brief || gain <= enough:
		p.solved++
		g, d, ok := p.products(mostProducts)
		if !ok { // what nobody could find out counts as gain
			g = most
		}
		if g > gain {
			gain, step, radius = g, d, 1
		}
	}
	return gain, step, radius
}

// programs returns the largest gain that programs of all radii find, the step that has it and the radius of that, and
// what a convex function could fall by.
func (p *Problem) programs() (gain float64, step []float64, radius, most float64) {
	plain := p.curves
	defer func() { p.curves = plain }()
	p.presses = false
	most = math.Inf(1)
	for _, r := range radii {
		if p.only != 0 && r != p.only {
			continue
		}
		if p.Over != nil && p.Over() {
			return 0, nil, 0, most
		}
		l, of, scale := p.program(r)
		if l == nil {
			if r == 1 {
				most = 0
			}
			continue
		} else if math.IsInf(scale, 1) {
			return scale, make([]float64, len(p.X)), r, most
		}
		s := l.Solve()
		if r == 1 {
			most = -float64(s.Bound * scale)
		}
		p.curves = p.lagrangian(plain, of, s.Multipliers, scale)
		take := func(d []float64) {
			if g, q := p.along(d); g > gain {
				gain, radius, step = g, r, scaled(d, q)
			}
		}
		d := p.whole(s.X, r)
		take(d)
		// What is missing: the program was not solved to its end. Rounding leaves slopes that curvature, where it is
		// known, makes nothing of.
		if missing := math.Max(s.Value-s.Bound, 0); missing*scale > gain && (p.curves == nil || missing > rounding) {
			gain, radius, step = float64(missing*scale), r, d
		}
		if p.curves != nil && !(len(p.X) > manyVariables && gain > float64(clearly*p.Enough*p.Size)) {
			p.solved++
			if x := p.curved(l, scale, r).Solve(); x != nil {
				take(p.whole(x, r))
			}
		}
	}
	return gain, step, radius, most
}

// farther looks beyond the sizes of variables, where the minimum of a valley that hardly curves may lie, and returns
// the certificate with a larger gain and its step if a run there confirms it. As far as the model is convex, the gain
// is at most in proportion to how far variables may move.
func (p *Problem) farther(c Certificate) Certificate {
	const far = 10
	gain, enough := float64(c.Stationarity*p.Size), float64(p.Enough*p.Size)
	if p.curves == nil || p.Near == nil || len(p.X) > manyVariables || far*gain <= enough || gain > clearly*enough {
		return c
	}
	l, of, scale := p.program(far)
	if l == nil || math.IsInf(scale, 1) || p.Over != nil && p.Over() {
		return c
	}
	plain := p.curves
	defer func() { p.curves = plain }()
	p.curves = p.lagrangian(plain, of, l.Solve().Multipliers, scale)
	p.solved++
	x := p.curved(l, scale, far).Solve()
	if x == nil {
		return c
	}
	d := p.whole(x, far)
	promised, q := p.along(d)
	if !(promised > float64(1.02*gain)) {
		return c
	}
	d = scaled(d, q)
	at, part := p.nearby(d, far)
	if at == nil || part < 1 || p.Violation(&at.Constraints) > math.Max(p.Feasibility(), 1e-9) {
		return c
	}
	if fell := p.At.Value - at.Value; fell > gain && fell > 2*p.Noise {
		c.Stationarity, c.Step, c.Programs, c.Real = fell/p.Size, d, p.solved, true
	}
	return c
}

// level looks along the variables that change nothing to second order, constraints neither, together and in several
// directions: at such a point there may be a saddle of higher order. It returns the certificate with the gain of the
// first run that leads down.
func (p *Problem) level(c Certificate) Certificate {
	enough := float64(p.Enough * p.Size)
	if c.Stationarity > p.Enough || p.curves == nil || p.Near == nil || len(p.X) > manyVariables {
		return c
	}
	n := len(p.X)
	var flat []int
	for i, g := range p.At.Gradient {
		most := math.Abs(float64(g * p.Sizes[i]))
		for j, h := range p.curves[i*n : (i+1)*n] {
			most += math.Abs(float64(float64(h*p.Sizes[i]) * p.Sizes[j]))
		}
		for k := range p.At.Constraints.C {
			if p.At.Constraints.J[k*n+i] != 0 {
				most = math.Inf(1)
			}
		}
		if most <= enough && p.Lo[i] < p.Hi[i] {
			flat = append(flat, i)
		}
	}
	if len(flat) == 0 {
		return c
	}
	const directions = 6 // all up, all down, and by the digits of their numbers
	for _, radius := range []float64{1, 30, 1000} {
		for k := range directions {
			d := make([]float64, n)
			for m, i := range flat {
				d[i] = float64(radius * p.Sizes[i])
				if k == 1 || k > 1 && ((m+1)>>((k-2)/2)&1 == 0) == (k%2 == 0) {
					d[i] = -d[i]
				}
			}
			at, _ := p.nearby(d, radius)
			if at == nil || p.Violation(&at.Constraints) > math.Max(p.Feasibility(), 1e-9) {
				continue
			}
			if fell := p.At.Value - at.Value; fell > enough && fell > 2*p.Noise {
				c.Stationarity, c.Step, c.Real = fell/p.Size, d, true
				return c
			}
		}
	}
	return c
}

// lagrangian returns the Hessian of F with the constraints that hold the solution of a program, each with its
// multiplier, as far as theirs are known. It notes whether any does.
func (p *Problem) lagrangian(f []float64, of []limit, y []float64, scale float64) []float64 {
	if f == nil {
		return nil
	}
	out, whole := f, make([]float64, len(p.Min))
	for j, r := range of {
		if r.constraint < 0 || y[j] == 0 {
			continue
		}
		p.presses = true
		whole[r.constraint] += float64(y[j] * scale / r.size)
		if p.bends == nil {
			continue
		} else if &out[0] == &f[0] {
			out = slices.Clone(f)
		}
		for k, h := range p.bends[r.constraint] {
			out[k] += float64(float64(y[j]*scale/r.size) * h)
		}
	}
	if p.Curve != nil && p.presses {
		if h := p.Curve(whole); h != nil {
			return h
		}
	}
	return out
}

// whole returns the step of a solution of a program with that radius.
func (p *Problem) whole(x []float64, radius float64) []float64 {
	d := make([]float64, len(p.X))
	for i := range d {
		d[i] = float64(x[i] * radius * p.Sizes[i])
	}
	return d
}

// scaled returns d times q.
func scaled(d []float64, q float64) []float64 {
	out := make([]float64, len(d))
	for i, v := range d {
		out[i] = float64(q * v)
	}
	return out
}

// row is a linear function v + aᵀd around the point.
type row struct {
	v          float64
	a          []float64
	min, max   float64 // limits of the function
	weight     float64 // of its absolute value; 0 for a constraint
	constraint int     // −1 for a kink
}

// rows returns the kinks and constraints around the point. A constraint that does not hold may stay as it is.
func (p *Problem) rows() []row {
	n := len(p.X)
	var list []row
	for k, u := range p.At.Kinks.U {
		if w := p.At.Kinks.W[k]; w > 0 {
			list = append(list, row{
				v: u, a: p.At.Kinks.J[k*n : (k+1)*n], weight: w, constraint: -1, min: math.Inf(-1), max: math.Inf(1),
			})
		}
	}
	limited := func(i int, v float64, a []float64) {
		c := p.At.Constraints.C[i]
		r := row{v: v, a: a, min: math.Min(p.Min[i], c), max: math.Max(p.Max[i], c), constraint: i}
		if p.Min[i] == p.Max[i] {
			r.min, r.max = c, c
		}
		if p.slack != nil {
			r.min, r.max = r.min-p.slack[i], r.max+p.slack[i]
		}
		list = append(list, r)
	}
	for i, c := range p.At.Constraints.C {
		limited(i, c, p.At.Constraints.J[i*n:(i+1)*n])
	}
	for _, k := range p.cuts {
		if k.constraint >= 0 {
			limited(k.constraint, k.value, k.slope)
		}
	}
	return list
}

// extent returns how far a function with this slope moves where all variables move by their sizes.
func (p *Problem) extent(slope []float64) float64 {
	sum := 0.0
	for i, a := range slope {
		sum += math.Abs(float64(a * p.Sizes[i]))
	}
	return sum
}

// Feasibility returns the largest violation, relative to how far its constraint moves with the variables.
func (p *Problem) Feasibility() float64 {
	most, n := 0.0, len(p.X)
	for i, off := range p.Violations() {
		if off > 0 {
			most = math.Max(most, off/p.extent(p.At.Constraints.J[i*n:(i+1)*n]))
		}
	}
	return most
}

// room returns how far variable i may move, within a radius, in units of radius times its size.
func (p *Problem) room(i int, radius float64) (lo, hi float64) {
	unit := radius * p.Sizes[i]
	lo = math.Max(math.Min((p.Lo[i]-p.X[i])/unit, 0), -1)
	hi = math.Min(math.Max((p.Hi[i]-p.X[i])/unit, 0), 1)
	return lo, hi
}

// program returns the linear program of a radius and what its rows are: the sizes by which those of constraints are
// divided. Its objective is divided by scale. It is nil where nothing changes; an infinite scale is one of numbers that
// are too large to compute with.
func (p *Problem) program(radius float64) (l *optim.Linear, of []limit, scale float64) {
	n := len(p.X)
	all := n
	var pieces []cut
	for _, k := range p.cuts {
		if k.constraint < 0 {
			pieces = append(pieces, k)
		}
	}
	if len(pieces) > 0 {
		all++ // the last variable is the largest of the pieces of the objective
	}
	l = &optim.Linear{C: make([]float64, all), Lo: make([]float64, all), Hi: make([]float64, all), Over: p.Over}
	slope := make([]float64, n)
	for i := range n {
		slope[i] = float64(p.At.Gradient[i] * p.Sizes[i] * radius)
		l.Lo[i], l.Hi[i] = p.room(i, radius)
	}
	for _, v := range slope {
		scale += math.Abs(v)
	}
	rows := p.rows()
	for _, r := range rows {
		scale += float64(r.weight * p.extent(r.a) * radius)
	}
	for _, k := range pieces {
		scale = math.Max(scale, float64(p.extent(k.slope)*radius))
	}
	if scale == 0 {
		return nil, nil, 0
	} else if scale-scale != 0 {
		return l, nil, math.Inf(1)
	}
	if len(pieces) == 0 {
		for i, v := range slope {
			l.C[i] = v / scale
		}
	}
	for _, r := range rows {
		size := float64(p.extent(r.a) * radius)
		if size == 0 {
			continue
		}
		t := optim.LinearRow{A: make([]float64, all), Min: math.Inf(-1), Max: math.Inf(1)}
		for i, a := range r.a {
			t.A[i] = float64(a*p.Sizes[i]*radius) / size
		}
		if r.weight > 0 {
			t.Kink = -r.v / size
			t.Below = float64(r.weight*size) / scale
			t.Above = t.Below
			if math.Abs(t.Kink) > 1 { // out of reach
				for i, a := range t.A {
					l.C[i] += float64(math.Copysign(t.Above, r.v) * a)
				}
				continue
			}
		} else {
			t.Min, t.Max = math.Min((r.min-r.v)/size, 0), math.Max((r.max-r.v)/size, 0)
			if t.Min <= -1 && t.Max >= 1 {
				continue
			}
		}
		l.Rows, of = append(l.Rows, t), append(of, limit{r.constraint, size})
	}
	if len(pieces) > 0 {
		l.C[n], l.Lo[n], l.Hi[n] = 1, -1, 1
		for _, k := range append([]cut{{constraint: -1, slope: p.At.Gradient, value: p.At.Value}}, pieces...) {
			t := optim.LinearRow{
				A: make([]float64, all), Min: math.Min((k.value-p.At.Value)/scale, 0),
				Max: math.Inf(1),
			}
			for i, a := range k.slope {
				t.A[i] = -float64(a*p.Sizes[i]*radius) / scale
			}
			t.A[n] = 1
			l.Rows = append(l.Rows, t)
		}
	}
	return l, of, scale
}

// limit tells of which constraint a row of a program is, −1 for a kink, and by what it is divided.
type limit struct {
	constraint int
	size       float64
}

// curved adds the curvature of F to a program.
func (p *Problem) curved(l *optim.Linear, scale, radius float64) *optim.Quadratic {
	n, all := len(p.X), len(l.C)
	q := &optim.Quadratic{Linear: *l, G: make([]float64, all*all)}
	for i := range n {
		for j := range n {
			h := float64(p.curves[i*n+j]+p.curves[j*n+i]) / 2
			q.G[i*all+j] = float64(h*float64(p.Sizes[i]*radius)*float64(p.Sizes[j]*radius)) / scale
		}
	}
	return q
}

// change returns by how much the objective changes along q times d, whose curvature is dHd.
func (p *Problem) change(q float64, d []float64, dHd float64) float64 {
	sum := float64(q * dot(p.At.Gradient, d))
	for _, k := range p.cuts {
		if k.constraint < 0 {
			sum = math.Max(sum, k.value-p.At.Value+float64(q*dot(k.slope, d)))
		}
	}
	n := len(d)
	for k, u := range p.At.Kinks.U {
		sum += float64(p.At.Kinks.W[k] * (math.Abs(u+float64(q*dot(p.At.Kinks.J[k*n:(k+1)*n], d))) - math.Abs(u)))
	}
	return sum + float64(0.5*q*q*math.Max(dHd, 0))
}

// along returns the largest gain on the way along d, and the part of d that has it.
func (p *Problem) along(d []float64) (gain, part float64) {
	if !(p.change(1e-9, d, 0) < 0) {
		return 0, 0
	}
	dHd := p.curvature(d)
	lo, hi := 0.0, 1.0
	for range 80 { // it is convex; the minimum may be close to 0
		a := hi / 4
		if lo > 0 {
			a = lo + float64((hi-lo)/3)
		}
		b := math.Max(hi-float64((hi-lo)/3), a)
		if p.change(a, d, dHd) <= p.change(b, d, dHd) {
			hi = b
		} else {
			lo = a
		}
	}
	for _, q := range []float64{1, hi, (lo + hi) / 2} {
		if g := -p.change(q, d, dHd); g > gain {
			gain, part = g, q
		}
	}
	return gain, part
}

// curvature returns that of F along d: by the Hessian, or by gradients at points nearby.
func (p *Problem) curvature(d []float64) float64 {
	n := len(d)
	if p.curves != nil {
		sum := 0.0
		for i, v := range d {
			sum += float64(v * dot(p.curves[i*n:(i+1)*n], d))
		}
		return sum
	}
	// Of a gain that is enough without curvature there is nothing to know.
	if p.Near == nil || !(-p.change(1, d, 0) > float64(p.Enough*p.Size)) {
		return 0
	}
	at := p.stretches(d)
	if at == nil {
		return 0
	}
	return dot(at.bend(p, -1), d)
}

// nearby evaluates where no variable has moved by more than a part of its size along d, which part it returns.
func (p *Problem) nearby(d []float64, radius float64) (*Point, float64) {
	length := 0.0
	for i, v := range d {
		length = math.Max(length, math.Abs(v)/p.Sizes[i])
	}
	part := math.Min(1, radius/length)
	x := slices.Clone(p.X)
	for i, v := range d {
		x[i] = math.Max(p.Lo[i], math.Min(x[i]+float64(part*v), p.Hi[i]))
	}
	at, err := p.Near(x)
	if err != nil {
		return nil, 0
	}
	return at, part
}

// probe evaluates along d, where no variable has moved by more than a part of its size, and reports whether other
// pieces of constraints are met there, or of the objective as well, which become part of the problem, and whether the
// objective falls as it is promised to.
func (p *Problem) probe(d []float64, radius float64, objective bool) (met, real bool) {
	const (
		distinct = 3e-2 // of how far a function moves
		turned   = 0.999
		matters  = 1e-7 // of how far a function moves: what is less may be rounding
	)
	n := len(d)
	at, part := p.nearby(d, radius)
	if at == nil {
		return false, false
	}
	moved := scaled(d, part)
	// piece keeps a function that was computed to have a value, and of which less was promised.
	piece := func(i int, promised, value float64, slope, old []float64) {
		size := math.Max(p.extent(slope), p.extent(old))
		differ := make([]float64, n)
		for j := range differ {
			differ[j] = slope[j] - old[j]
		}
		off := math.Abs(value - promised)
		// Gradients are of one piece where they differ little, in the sizes of variables and as they are: sizes may
		// hide what differs in a variable that is near zero.
		cosine := dot(slope, old) / math.Sqrt(dot(slope, slope)*dot(old, old))
		if !(off > matters*float64(radius*size)) || p.extent(differ) <= float64(distinct*size) && cosine > turned {
			return
		}
		// A piece is nowhere beyond the function itself. What seems to be so curves, and is no piece.
		here, beyond := p.At.Value, value > promised
		if i >= 0 {
			here = p.At.Constraints.C[i]
		}
		if value -= dot(slope, moved); beyond == (value > here) {
			if math.Abs(value-here) > 0.1*off {
				return
			}
			value = here
		}
		p.cuts = append(p.cuts, cut{constraint: i, value: value, slope: slices.Clone(slope)})
		met = true
	}
	for i, c := range at.Constraints.C {
		if p.Min[i] == p.Max[i] {
			continue
		}
		a := p.At.Constraints.J[i*n : (i+1)*n]
		lower := math.IsInf(p.Max[i], 1)
		value := p.At.Constraints.C[i] + dot(a, moved)
		for _, k := range p.cuts {
			if k.constraint == i {
				if v := k.value + dot(k.slope, moved); lower {
					value = math.Min(value, v)
				} else {
					value = math.Max(value, v)
				}
			}
		}
		if lower && c < value || !lower && c > value {
			piece(i, value, c, at.Constraints.J[i*n:(i+1)*n], a)
		}
	}
	promised := p.change(1, moved, p.curvature(moved))
	fell := at.Value - p.At.Value
	if kinks := len(p.At.Kinks.U) > 0; objective && !kinks && fell > promised {
		piece(-1, p.At.Value+promised, at.Value, at.Gradient, p.At.Gradient)
	}
	return met, fell < 0.1*promised && -fell > 2*p.Noise
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += float64(v * b[i])
	}
	return sum
}
