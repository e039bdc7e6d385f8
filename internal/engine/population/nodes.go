package population

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/sample"
)

// mostNodes is how many points a quadrature may have.
const mostNodes = 1 << 20

// node is a point of the sum, in units of the posterior, with the logarithm of its weight.
type node struct {
	z      []float64
	weight float64
}

// nodes sums over points around the mode: eta = mode + v·z, where v vᵀ is the inverse of the Hessian. The integral is
// about det v times the sum of exp(weight − joint).
func (q *problem) nodes(out *Result, gradient bool) error {
	m := q.m
	c, ok := cholesky(out.Hessian, m)
	if !ok {
		return q.flat(out)
	}
	out.Used = out.Hessian
	v := columns(c, m)
	list := q.points()
	logs := make([]float64, len(list))
	at := make([]*Conditional, len(list))
	order := 0
	if gradient {
		order = 1
	}
	most := math.Inf(-1)
	for i, z := range list {
		there, err := q.joint(moved(out.Mode, multiply(v, z.z, m)), order)
		switch {
		case err != nil && q.Failed(err), err == nil && there.Value-there.Value != 0:
			logs[i] = math.Inf(-1) // no density where the model has no solution
			continue
		case err != nil:
			return err
		}
		at[i], logs[i] = there, z.weight-there.Value
		most = max(most, logs[i])
	}
	sum, squares := 0.0, 0.0
	weights := make([]float64, len(list))
	for i, l := range logs {
		weights[i] = elem.Exp(l - most)
		sum += weights[i]
		squares += float64(weights[i] * weights[i])
	}
	if !(sum > 0) {
		return q.flat(out)
	}
	out.Effective = sum * sum / squares
	out.Value = float64(0.5*logDet(c, m)) - elem.Log(sum) - most
	if !gradient {
		return nil
	}
	share := weights
	for i := range share {
		share[i] /= sum
	}
	return q.slopesOfNodes(out, v, list, at, share)
}

// slopesOfNodes makes the gradient of a sum over nodes, each of which has a share in it: modes move with params, and so
// do the columns of v.
func (q *problem) slopesOfNodes(out *Result, v []float64, list []node, at []*Conditional, share []float64) error {
	m, p := q.m, q.p
	if err := q.turning(out, v); err != nil || out.Doubt != "" && out.Slopes == nil {
		return err
	}
	total := q.total
	g := make([]float64, p)
	for k := range m {
		for x := range p {
			g[x] += float64(0.5 * total[(k*m+k)*p+x])
		}
	}
	turned := make([]float64, m)
	for i, there := range at {
		if there == nil || share[i] == 0 {
			continue
		}
		for a := range turned { // vᵀ·gradient
			turned[a] = 0
			for e := range m {
				turned[a] += float64(v[e*m+a] * there.Gradient[e])
			}
		}
		z := list[i].z
		for x := range p {
			s := there.Gradient[m+x]
			for e := range m {
				s += float64(there.Gradient[e] * out.Slopes[e*p+x])
			}
			for a := range m { // dv = −v·phiᵀ, phi the lower half of total with half its diagonal
				for b := a; b < m; b++ {
					phi := total[(b*m+a)*p+x]
					if a == b {
						phi *= 0.5
					}
					s -= float64(turned[a] * phi * z[b])
				}
			}
			g[x] += float64(share[i] * s)
		}
	}
	out.Gradient = g
	return nil
}

// turning makes the total derivative of the Hessian at the mode by params, in the basis of the columns of v: [m][m][p].
func (q *problem) turning(out *Result, v []float64) error {
	m, p, w := q.m, q.p, q.m+q.p
	thirds, err := q.thirds(out, v)
	if err != nil {
		return err
	}
	centre, err := q.centre(out)
	if err != nil {
		return err
	}
	if !q.moves(out, centre) {
		return q.flat(out)
	}
	q.total = make([]float64, m*m*p)
	kv := product(q.prior.inverse, v, m)
	for k := range m {
		for l := range m {
			to := q.total[(k*m+l)*p:][:p]
			a, b := thirds[(k*m+l)*w:][:w], thirds[(l*m+k)*w:][:w]
			for x := range p {
				s := float64(0.5 * (a[m+x] + b[m+x]))
				for e := range m {
					s += float64(0.5 * (a[e] + b[e]) * out.Slopes[e*p+x])
				}
				to[x] = s
			}
			for i := range m { // of the inverse of Omega
				for j := range m {
					weight := float64(0.5 * (float64(kv[i*m+k]*kv[j*m+l]) + float64(kv[j*m+k]*kv[i*m+l])))
					for x, d := range q.omega.Slopes[(i*m+j)*p:][:p] {
						to[x] -= float64(weight * d)
					}
				}
			}
		}
	}
	return nil
}

// points returns the nodes of the method.
func (q *problem) points() []node {
	x, logWeight := hermite(q.method.N)
	list := []node{{z: []float64{}}}
	for range q.m {
		var next []node
		for _, n := range list {
			for k := range x {
				next = append(next, node{
					append(slices.Clone(n.z), math.Sqrt2*x[k]),
					n.weight + logWeight[k] + float64(x[k]*x[k]) + float64(0.5*math.Ln2),
				})
			}
		}
		list = next
	}
	return list
}

// TooMany reports whether a quadrature would have too many nodes.
func TooMany(n, m int) bool { return math.Pow(float64(n), float64(m)) > mostNodes }

// draw returns a number of the standard normal distribution.
func draw(state *uint64) float64 {
	u := uniform(state)
	return sample.NormalQuantile(u, 1-u)
}

// uniform returns a number between 0 and 1, by splitmix64.
func uniform(state *uint64) float64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return (float64(z>>11) + 0.5) * 0x1p-53
}

// hermite returns the nodes of Gauss–Hermite quadrature for the weight exp(−x²), and the logarithms of their weights:
// the zeros of the Hermite polynomial, by Newton's method from where the last ones lead.
func hermite(n int) (x, logWeight []float64) {
	x, logWeight = make([]float64, n), make([]float64, n)
	// normalised polynomials, times exp(−t²/2) so that nothing overflows
	eval := func(t float64) (p, before float64) {
		p = elem.Exp(-0.5*t*t) * 0.75112554446494248286 // pi^(−1/4)
		for k := 1; k <= n; k++ {
			p, before = float64(t*math.Sqrt(2/float64(k))*p)-float64(math.Sqrt(float64(k-1)/float64(k))*before), p
		}
		return p, before
	}
	count := func(t float64) (below int) { // zeros less than t, by Sturm's sequence
		d := 1.0
		for k := range n {
			d = t - float64(0.5*float64(k))/d
			if k == 0 {
				d = t
			}
			if d == 0 {
				d = 1e-300
			}
			if d > 0 {
				below++
			}
		}
		return below
	}
	edge := math.Sqrt(2*float64(n) + 2)
	for i := range n {
		lo, hi := -edge, edge
		for range 60 {
			if mid := float64(0.5 * (lo + hi)); count(mid) > i {
				hi = mid
			} else {
				lo = mid
			}
		}
		t := float64(0.5 * (lo + hi))
		for range 3 {
			p, before := eval(t)
			slope := float64(math.Sqrt(2*float64(n)) * before) // of the polynomial, at a zero
			if slope != 0 {
				t -= p / slope
			}
		}
		if n%2 == 1 && i == n/2 {
			t = 0
		}
		_, before := eval(t)
		x[i] = t
		// 1/(n·before²), without the factor exp(−t²)
		logWeight[i] = -elem.Log(float64(n)) - float64(2*elem.Log(math.Abs(before))) - float64(t*t)
	}
	return x, logWeight
}
