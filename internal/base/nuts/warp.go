package nuts

import (
	"context"
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
)

// Warp makes coordinates in which a density is nearer to a normal one than any linear map brings it: a triangular map
// (M. Parno, Y. Marzouk, SIAM/ASA J. Uncertainty Quantification 6:645, 2018). One number after the other is centred and
// scaled by what those before it are:
//
//	q = mean + L z,   z[i] = m(z[0…i−1]) + exp(s(z[0…i−1])) (y[i] + k(z[0…i−1])),
//
// in an order of its own, where m is a polynomial of second degree with knees, and s and k are of the first. Widths
// that depend on another param, as in populations, ridges that are bent, and numbers of which only their product with
// another one is known (k: see scaled) become straight. The polynomials are of bounded functions of z, so tails stay as
// they are. Whatever the map, draws are right: its Jacobian is part of the density.
//
// The fields are what a file of chains keeps.
type Warp struct {
	Order []int       // of the coordinates q
	Mean  []float64   // in that order, as all that follows
	Scale []float64   // L[n][n]
	Bends [][]Feature // of m, for each coordinate
	Width [][]Feature // of s
	Inner [][]Feature // of k
}

// Feature is a part of a polynomial: a number times the bounded coordinate A and the coordinate B, which are -1 for
// none. A coordinate B without A is bounded, too, and farther out.
type Feature struct {
	A, B int
	By   float64
	Knot float64 // of A alone: that which is beyond this place; 0 for none
}

// reach bounds coordinates: z counts as reach·tanh(z/reach). Factors are exponentials as far as draws go, or they are
// of no use.
const (
	reach   = 5
	farther = 15
)

// beyond is about how far z lies beyond a knot, away from zero, and its derivative.
func beyond(z, knot float64) (h, dh float64) {
	const soft = 0.5
	x := math.Copysign(1, knot) * (z - knot) / soft
	if x > 0 {
		h = x
	}
	e := elem.Exp(-math.Abs(x))
	h += elem.Log1p(e)
	dh = 1 / (1 + e)
	if x < 0 {
		dh = 1 - dh
	}
	return float64(soft * h), math.Copysign(dh, knot)
}

func bounded(z, reach float64) (u, du float64) {
	t := elem.Tanh(z / reach)
	return float64(reach * t), 1 - float64(t*t)
}

// at is a point of a warp, and what its derivatives need.
type at struct{ z, u, du, v, dv, e, k []float64 }

func newAt(n int) *at {
	all := make([]float64, 7*n)
	part := func(i int) []float64 { return all[i*n : (i+1)*n] }
	return &at{part(0), part(1), part(2), part(3), part(4), part(5), part(6)}
}

// set sets coordinate i.
func (p *at) set(i int, z float64) {
	p.z[i] = z
	p.u[i], p.du[i] = bounded(z, reach)
	p.v[i], p.dv[i] = bounded(z, farther)
}

func (f *Feature) value(p *at) float64 {
	switch {
	case f.Knot != 0:
		h, _ := beyond(p.z[f.A], f.Knot)
		return float64(f.By * h)
	case f.A < 0 && f.B < 0:
		return f.By
	case f.A < 0:
		return float64(f.By * p.v[f.B])
	case f.B < 0:
		return float64(f.By * p.u[f.A])
	}
	return float64(float64(f.By*p.u[f.A]) * p.z[f.B])
}

// into adds the derivatives of a feature, times by, to those of the coordinates.
func (f *Feature) into(to []float64, p *at, by float64) {
	switch {
	case f.Knot != 0:
		_, dh := beyond(p.z[f.A], f.Knot)
		to[f.A] += float64(by * f.By * dh)
		return
	case f.A < 0 && f.B < 0:
		return
	case f.A < 0:
		to[f.B] += float64(by * f.By * p.dv[f.B])
		return
	case f.B < 0:
		to[f.A] += float64(by * f.By * p.du[f.A])
		return
	}
	to[f.A] += float64(by * f.By * p.z[f.B] * p.du[f.A])
	to[f.B] += float64(by * f.By * p.u[f.A])
}

func sum(list []Feature, p *at) (s float64) {
	for i := range list {
		s += list[i].value(p)
	}
	return s
}

// inner are the features of k, of which files that are older have none.
func (w *Warp) inner(i int) []Feature {
	if w.Inner == nil {
		return nil
	}
	return w.Inner[i]
}

// Forward returns q of y, and the logarithm of the determinant of its derivatives, up to that of L.
func (w *Warp) Forward(y []float64) (q []float64, grows float64) {
	q = make([]float64, len(y))
	return q, w.forward(y, q, newAt(len(y)))
}

func (w *Warp) forward(y, q []float64, p *at) (grows float64) {
	n := len(y)
	for i := range n {
		s := sum(w.Width[i], p)
		p.e[i], p.k[i] = elem.Exp(s), sum(w.inner(i), p)
		p.set(i, sum(w.Bends[i], p)+float64(p.e[i]*(y[i]+p.k[i])))
		grows += s
	}
	for i := range n {
		x := w.Mean[i]
		for j, l := range w.Scale[i*n : i*n+i+1] {
			x += float64(l * p.z[j])
		}
		q[w.Order[i]] = x
	}
	return grows
}

// Back returns y of q.
func (w *Warp) Back(q []float64) []float64 {
	n := len(q)
	z := make([]float64, n)
	for i, at := range w.Order {
		z[i] = q[at] - w.Mean[i]
	}
	Whiten(w.Scale, z)
	y, p := make([]float64, n), newAt(n)
	for i := range z { // sums read what is before i
		p.set(i, z[i])
		y[i] = float64((z[i]-sum(w.Bends[i], p))*elem.Exp(-sum(w.Width[i], p))) - sum(w.inner(i), p)
	}
	return y
}

// Density returns the density in the coordinates of the warp.
func (w *Warp) Density(f Density) Density {
	n := len(w.Order)
	p, q, g, dz := newAt(n), make([]float64, n), make([]float64, n), make([]float64, n)
	return func(ctx context.Context, y, to []float64) (float64, error) {
		grows := w.forward(y, q, p)
		if !finite(q) {
			return 0, &Rejection{Cause: "values that are too large"}
		}
		lp, err := f(ctx, q, g)
		if err != nil {
			return 0, err
		}
		clear(dz)
		for i, at := range w.Order {
			for j, l := range w.Scale[i*n : i*n+i+1] {
				dz[j] += float64(l * g[at])
			}
		}
		for i := n - 1; i >= 0; i-- {
			to[i] = float64(dz[i] * p.e[i])
			for k := range w.Bends[i] {
				w.Bends[i][k].into(dz, p, dz[i])
			}
			inner := w.inner(i)
			for k := range inner {
				inner[k].into(dz, p, to[i])
			}
			for k := range w.Width[i] {
				w.Width[i][k].into(dz, p, float64(to[i]*(y[i]+p.k[i]))+1)
			}
		}
		return lp + grows, nil
	}
}

// NewWarp finds the map for draws q[draw][n]; effective says of a number of each draw how many are independent. It is
// nil where draws do not show that they are other than normal.
func NewWarp(q [][]float64, effective func(x []float64) float64) *Warp {
	if len(q) < 40 {
		return nil
	}
	n := len(q[0])
	given := make([]int, n)
	for i := range given {
		given[i] = i
	}
	back := slices.Clone(given)
	slices.Reverse(back)
	var best *Warp
	most := 0.0
	for _, order := range [][]int{given, back, drivers(q)} {
		w, gain := fitWarp(q, order, effective)
		if w != nil && gain > most {
			best, most = w, gain
		}
	}
	return best
}

// spread returns the mean of draws in an order, and L of their covariance.
func spread(q [][]float64, order []int) (mean, l []float64) {
	n := len(order)
	mean, c := make([]float64, n), make([]float64, n*n)
	for _, x := range q {
		for i, at := range order {
			mean[i] += x[at] / float64(len(q))
		}
	}
	for _, x := range q {
		for i, a := range order {
			for j, b := range order[:i+1] {
				c[i*n+j] += float64((x[a] - mean[i]) * (x[b] - mean[j]))
			}
		}
	}
	for i := range n {
		for j := range i + 1 {
			c[i*n+j] /= float64(len(q))
		}
	}
	return mean, Cholesky(c, n)
}

// drivers orders coordinates: first those whose size or width others depend on, and not the other way round.
func drivers(q [][]float64) []int {
	n := len(q[0])
	order, score := make([]int, n), make([]float64, n)
	for i := range n {
		order[i] = i
		for j := range i {
			for _, pair := range [][2]int{{i, j}, {j, i}} {
				mean, l := spread(q, pair[:])
				if l == nil {
					continue
				}
				var bend, width, u2, u4, r4, u1 float64
				for _, x := range q {
					z := []float64{x[pair[0]] - mean[0], x[pair[1]] - mean[1]}
					Whiten(l, z)
					u, _ := bounded(z[0], reach)
					s, r := float64(u*u)-1, float64(z[1]*z[1])-1
					bend, width = bend+float64(s*z[1]), width+float64(u*r)
					u1, u2, u4, r4 = u1+float64(u*u), u2+float64(s*s), u4+float64(z[1]*z[1]), r4+float64(r*r)
				}
				gain := float64(bend*bend)/float64(u2*u4) + float64(width*width)/float64(u1*r4)
				if gain-gain == 0 {
					score[pair[0]] += gain
					score[pair[1]] -= gain
				}
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case score[a] > score[b]:
			return -1
		case score[a] < score[b]:
			return 1
		}
		return 0
	})
	return order
}

// fitWarp fits the map in an order, and returns by how much the logarithm of the likelihood of the effective draws
// grows. It is nil where nothing grows.
func fitWarp(q [][]float64, order []int, effective func(x []float64) float64) (*Warp, float64) {
	n, m := len(order), len(q)
	w := &Warp{Order: slices.Clone(order), Bends: make([][]Feature, n), Width: make([][]Feature, n)}
	w.Mean, w.Scale = spread(q, order)
	if w.Scale == nil {
		return nil, 0
	}
	z, u := make([][]float64, n), make([][]float64, n) // [coordinate][draw]
	for i := range n {
		z[i], u[i] = make([]float64, m), make([]float64, m)
	}
	y := make([]float64, n)
	for d, x := range q {
		for i, at := range order {
			y[i] = x[at] - w.Mean[i]
		}
		Whiten(w.Scale, y)
		for i := range n {
			z[i][d] = y[i]
			u[i][d], _ = bounded(y[i], reach)
		}
	}
	tried := 0
	for i := range n {
		tried += len(candidates(i, n))
	}
	gain, least := 0.0, 6+elem.Log(float64(max(tried, 1)))
	rows := &rows{w: w, linear: slices.Clone(w.Scale), v: make([][]float64, n)}
	for i := range n {
		// What counts is how fast that mixes which is left of a coordinate behind those before it: that may be slow.
		c := conditional{z: z[i], u: u, all: z, share: min(effective(z[i])/float64(m), 1)}
		if !(c.share > 0) {
			return nil, 0
		}
		if i > 0 {
			gain += c.grow(candidates(i, n), least)
		}
		w.Bends[i], w.Width[i] = c.bends, c.width
		gain += rows.add(q, i, &c, least)
		z[i], u[i] = rows.z, rows.u
	}
	if gain == 0 {
		return nil, 0
	}
	return w, gain
}

// candidate is a feature that may be added, to the centre or to the width.
type candidate struct {
	Feature
	width bool
}

// knots are where what a coordinate does to those behind it may begin or end: a ridge that is straight on both sides
// of a knee, as where a rate is saturated, is no polynomial.
var knots = []float64{-2, -1, 1, 2}

// manyPairs is the most numbers of which all pairs are tried.
const manyPairs = 30

func candidates(i, n int) (list []candidate) {
	for a := range i {
		list = append(list, candidate{Feature{A: a, B: -1}, true})
		for _, knot := range knots {
			list = append(list, candidate{Feature{A: a, B: -1, Knot: knot}, false})
		}
		for b := range i {
			if a == b || n <= manyPairs {
				list = append(list, candidate{Feature{A: a, B: b}, false})
			}
		}
	}
	return list
}

// conditional is the distribution of one coordinate by those before it.
type conditional struct {
	z            []float64
	u, all       [][]float64
	share        float64 // of the draws that is effective
	bends, width []Feature
}

func (c *conditional) of(f *Feature, d int) float64 {
	if f.Knot != 0 {
		h, _ := beyond(c.all[f.A][d], f.Knot)
		return h
	}
	v := 1.0
	if f.A >= 0 {
		v = c.u[f.A][d]
	}
	if f.B >= 0 {
		v = float64(v * c.all[f.B][d])
	}
	return v
}

// residual returns what is left of a draw, in its width, and the logarithm of the width.
func (c *conditional) residual(d int) (r, s float64) {
	m := 0.0
	for k := range c.bends {
		m += float64(c.bends[k].By * c.of(&c.bends[k], d))
	}
	for k := range c.width {
		s += float64(c.width[k].By * c.of(&c.width[k], d))
	}
	return float64((c.z[d] - m) * elem.Exp(-s)), s
}

// fits is the logarithm of the likelihood of the effective draws.
func (c *conditional) fits() (l float64) {
	for d := range c.z {
		r, s := c.residual(d)
		l -= float64(r*r/2) + s
	}
	return float64(l * c.share)
}

// grow adds features, one after the other, as long as each adds more than least to the logarithm of the likelihood.
func (c *conditional) grow(list []candidate, least float64) float64 {
	m := len(c.z)
	begun := c.fits()
	now := begun
	c.bends, c.width = []Feature{{A: -1, B: -1}}, []Feature{{A: -1, B: -1}}
	r, r2 := make([]float64, m), make([]float64, m)
	most := int(float64(m) * c.share / 10)
	for len(c.bends)+len(c.width) < 2+most {
		variance := 0.0
		for d := range m {
			r[d], _ = c.residual(d)
			r2[d] = float64(r[d]*r[d]) - 1
			variance += float64(r2[d] * r2[d])
		}
		best, top := -1, 0.0
		for k := range list {
			f := &list[k]
			there := c.bends
			if f.width {
				there = c.width
			}
			same := func(x Feature) bool { return x.A == f.A && x.B == f.B && x.Knot == f.Knot }
			if slices.ContainsFunc(there, same) {
				continue
			}
			mean, square, with := 0.0, 0.0, 0.0
			for d := range m {
				v := c.of(&f.Feature, d)
				mean += v / float64(m)
				square += float64(v * v)
			}
			left := r
			if f.width {
				left = r2
			}
			for d := range m {
				with += float64((c.of(&f.Feature, d) - mean) * left[d])
			}
			square -= float64(float64(m) * mean * mean)
			score := float64(with * with / square / 2)
			if f.width {
				score = float64(score * float64(m) / variance)
			}
			if score*c.share > top {
				best, top = k, score*c.share
			}
		}
		if best < 0 || top < least/2 {
			break
		}
		bends, width := slices.Clone(c.bends), slices.Clone(c.width)
		if list[best].width {
			c.width = append(c.width, list[best].Feature)
		} else {
			c.bends = append(c.bends, list[best].Feature)
		}
		c.fit()
		then := c.fits()
		if !(then > now+least) {
			c.bends, c.width = bends, width
			break
		}
		now = then
	}
	if len(c.bends)+len(c.width) == 2 {
		c.bends, c.width = nil, nil
		return 0
	}
	return now - begun
}

// fit finds the numbers of all features: centres by weighted least squares, widths by Fisher's scoring.
func (c *conditional) fit() {
	const rounds, ridge = 8, 0.5 // the ridge counts as so many effective draws
	for range rounds {
		c.solve(&c.bends, func(d int) (weight, left float64) {
			r, s := c.residual(d)
			w := elem.Exp(-s)
			return float64(w * w), float64(r * w)
		}, ridge/c.share)
		c.solve(&c.width, func(d int) (weight, left float64) {
			r, _ := c.residual(d)
			return 2, max(min(float64(r*r)-1, 8), -1)
		}, ridge/c.share)
	}
}

// solve takes a step: weight is the curvature of a draw, and left its slope.
func (c *conditional) solve(list *[]Feature, of func(d int) (weight, left float64), ridge float64) {
	k := len(*list)
	a, b, f := make([]float64, k*k), make([]float64, k), make([]float64, k)
	for d := range c.z {
		weight, left := of(d)
		for i := range *list {
			f[i] = c.of(&(*list)[i], d)
			b[i] += float64(f[i] * left)
			for j := range i + 1 {
				a[i*k+j] += float64(weight * f[i] * f[j])
			}
		}
	}
	for i := range k {
		a[i*k+i] += ridge
		b[i] -= float64(ridge * (*list)[i].By)
	}
	l := Cholesky(a, k)
	if l == nil {
		return
	}
	Solve(l, b)
	for i := range k {
		(*list)[i].By += b[i]
	}
}
