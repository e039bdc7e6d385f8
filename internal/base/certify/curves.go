package certify

import "math"

// Without Hessians, gradients nearby tell how functions curve. Where one is the largest of several functions, its
// gradient jumps, and a jump over a short way looks like much curvature, which would hide any gain. So differences are
// taken over two stretches then, one after the other: a jump is in one of them. The lesser is curvature.

// stretch is how long one is, in sizes of the variables.
const stretch = 1e-4

// stretches are the ends of two of them along a direction, and which parts of it these are.
type stretches struct {
	first, second *Point
	part, whole   float64
}

// stretches evaluates along d; nil if that cannot be.
func (p *Problem) stretches(d []float64) *stretches {
	s := &stretches{}
	if s.first, s.part = p.nearby(d, stretch); s.first == nil || s.part == 0 {
		return nil
	}
	if p.Smooth {
		s.second, s.whole = s.first, s.part
		return s
	}
	if s.second, s.whole = p.nearby(d, 2*stretch); s.second == nil {
		return nil
	}
	return s
}

// gradient returns that of constraint i, or of the objective, −1.
func (p *Point) gradient(i, n int) []float64 {
	if i < 0 {
		return p.Gradient
	}
	return p.Constraints.J[i*n : (i+1)*n]
}

// bend returns the Hessian of constraint i, or of the objective, −1, times the direction of s.
func (s *stretches) bend(p *Problem, i int) []float64 {
	n := len(p.X)
	at, first, second := p.At.gradient(i, n), s.first.gradient(i, n), s.second.gradient(i, n)
	a, b := make([]float64, n), make([]float64, n)
	for k := range n {
		a[k] = (first[k] - at[k]) / s.part
	}
	if s.whole == s.part {
		return a
	}
	for k := range n {
		b[k] = (second[k] - first[k]) / (s.whole - s.part)
	}
	if p.extent(a) <= p.extent(b) {
		return a
	}
	return b
}

// differ finds the Hessians that are missing, of the objective and of constraints if these hold the point, and reports
// whether there are any that were not known. The way down along a solution of a linear program tells little of how
// deep a valley is, and where constraints bend down there may be a way along them that leads farther.
func (p *Problem) differ() bool {
	n, k := len(p.X), len(p.Min)
	objective, constraints := p.curves == nil, k > 0 && p.bends == nil && p.presses && p.Curve == nil
	if !objective && !constraints || p.Near == nil || n > manyVariables {
		return false
	}
	if !objective && p.straight() {
		p.bends = make([][]float64, k)
		return false
	}
	h := make([][]float64, 1+k)
	for i := range h {
		h[i] = make([]float64, n*n)
	}
	for j, size := range p.Sizes {
		reach := 2 * stretch
		lo, hi := p.room(j, reach)
		way := float64(reach * size * hi)
		if -lo > hi {
			way = float64(reach * size * lo)
		}
		if way == 0 {
			continue
		}
		d := make([]float64, n)
		d[j] = way
		s := p.stretches(d)
		if s == nil {
			return false
		}
		for i := range h {
			for m, v := range s.bend(p, i-1) {
				h[i][j*n+m] = v / way
			}
		}
	}
	for i := range h {
		symmetric(h[i], n)
	}
	if objective {
		p.curves = h[0]
	}
	p.bends = h[1:]
	return true
}

// straight reports whether no constraint curves, as is seen along a direction of which nothing knows.
func (p *Problem) straight() bool {
	const little = 1e-8 // of how far a constraint moves
	n := len(p.X)
	d := make([]float64, n)
	random := uint64(0x9e3779b97f4a7c15)
	for j, size := range p.Sizes {
		random ^= random << 13
		random ^= random >> 7
		random ^= random << 17
		lo, hi := p.room(j, stretch)
		part := hi
		if -lo > hi || -lo == hi && random&1 == 0 {
			part = lo
		}
		d[j] = float64(part * stretch * size * (0.5 + float64(0.5*float64(random>>11)/(1<<53))))
	}
	at, _ := p.nearby(d, stretch)
	if at == nil {
		return false
	}
	differ := make([]float64, n)
	for i := range p.Min {
		a, b := p.At.gradient(i, n), at.gradient(i, n)
		for j := range n {
			differ[j] = b[j] - a[j]
		}
		if !(p.extent(differ) <= float64(little*p.extent(a))) {
			return false
		}
	}
	return true
}

// symmetric makes h so, with the lesser of what two columns say.
func symmetric(h []float64, n int) {
	for i := range n {
		for j := range i {
			v := h[i*n+j]
			if u := h[j*n+i]; math.Abs(u) < math.Abs(v) {
				v = u
			}
			h[i*n+j], h[j*n+i] = v, v
		}
	}
}
