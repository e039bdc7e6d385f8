package population

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
)

// A mixture is what points are drawn from for integrals by importance sampling: Student's distributions about modes,
// and the distribution of the random effects itself. Each point is weighed by the density of the whole (E. Veach,
// L. Guibas, SIGGRAPH 1995), so that no weight is larger than the likelihood over the last share (defensive importance
// sampling: T. Hesterberg, Technometrics 37:185, 1995). So sums over points converge to the integral for any likelihood
// that has a bound, also where a normal distribution about a mode is nothing like the posterior one.

// freedom is how many degrees of freedom the distributions about modes have: with four, the sum of squares that these
// need is a logarithm of two uniform numbers.
const freedom = 4

// component is a distribution of the points centre + root·z.
type component struct {
	centre, root, back []float64 // back is the inverse of root
	constant           float64   // of the logarithm of its density
	student            bool
	share              float64
	// How they move with params: the centre by slopes, [m][p], nil for not at all, and root by root·turns, [p][m][m].
	slopes, turns []float64
}

// mixture makes that of modes, all with the same share, and a fifth for the distribution. It returns how many of n
// draws each component has.
func (q *problem) mixture(modes []*found, n int) (list []component, draws []int) {
	m := q.m
	add := func(centre, root, precision []float64, student bool) {
		c := component{centre: centre, root: root, back: make([]float64, m*m), student: student}
		for i := range m { // rootᵀ·precision
			for k := range m {
				for j := range m {
					c.back[i*m+j] += float64(root[k*m+i] * precision[k*m+j])
				}
			}
		}
		for k := range m {
			c.constant -= elem.Log(root[k*m+k])
		}
		c.constant -= float64(0.5 * float64(m) * log2pi)
		if student { // Γ((freedom + m)/2) / (Γ(freedom/2) (freedom/2)^(m/2)), with Γ(2) = 1
			x, log := float64(0.5*float64(freedom+m)), 0.0
			for x > 2.25 {
				x--
				log += elem.Log(x)
			}
			if x < 2 { // Γ(3/2)
				log += elem.Log(0.5 * math.Sqrt(math.Pi))
			}
			c.constant += log - float64(0.5*float64(m)*math.Ln2)
		}
		list = append(list, c)
	}
	for _, f := range modes {
		if c, ok := cholesky(f.hessian, m); ok {
			add(f.eta, columns(c, m), f.hessian, true)
		}
	}
	add(make([]float64, m), q.prior.root, q.prior.inverse, false)
	own := n / 5
	if len(list) == 1 {
		own = n
	}
	draws = make([]int, len(list))
	for i := range list {
		if draws[i] = own; i < len(list)-1 {
			draws[i] = (n - own + len(list) - 2 - i) / (len(list) - 1)
		}
		list[i].share = float64(draws[i]) / float64(n)
	}
	return list, draws
}

// place returns the point of m normal numbers and, of Student's distribution, two that are even between 0 and 1: in
// units of the component, and as it is.
func (c *component) place(normal []float64, u1, u2 float64) (z, eta []float64) {
	z = slices.Clone(normal)
	if c.student {
		by := 1 / math.Sqrt(-0.5*(elem.Log(u1)+elem.Log(u2)))
		for k := range z {
			z[k] *= by
		}
	}
	return z, moved(c.centre, multiply(c.root, z, len(z)))
}

// density returns the logarithm of that of a point, which it has in its own units.
func (c *component) density(eta []float64) (log float64, u []float64) {
	m := len(eta)
	d := make([]float64, m)
	for k := range d {
		d[k] = eta[k] - c.centre[k]
	}
	u = multiply(c.back, d, m)
	square := dot(u, u)
	if c.student {
		return c.constant - float64(0.5*float64(freedom+m)*elem.Log(1+square/freedom)), u
	}
	return c.constant - float64(0.5*square), u
}

// score returns the derivatives of the logarithm of the density by u.
func (c *component) score(u []float64) []float64 {
	by := -1.0
	if c.student {
		by = -float64(freedom+len(u)) / (freedom + dot(u, u))
	}
	out := slices.Clone(u)
	for k := range out {
		out[k] *= by
	}
	return out
}

// mixed returns the logarithm of the density of a mixture, with what part of it each component has, and the point in
// their units.
func mixed(list []component, eta []float64) (log float64, part []float64, u [][]float64) {
	part, u = make([]float64, len(list)), make([][]float64, len(list))
	most := math.Inf(-1)
	for i := range list {
		if part[i], u[i] = list[i].density(eta); list[i].share > 0 {
			part[i] += elem.Log(list[i].share)
		} else {
			part[i] = math.Inf(-1)
		}
		most = max(most, part[i])
	}
	sum := 0.0
	for i := range part {
		part[i] = elem.Exp(part[i] - most)
		sum += part[i]
	}
	for i := range part {
		part[i] /= sum
	}
	return most + elem.Log(sum), part, u
}

// several returns the modes about which more than a hundredth of the integral is, as normal distributions have it.
func (q *problem) several(list []*found) (count []*found) {
	const part = 0.01
	masses := make([]float64, len(list))
	for i, f := range list {
		masses[i] = math.Inf(1)
		if c, ok := cholesky(f.hessian, q.m); ok {
			masses[i] = f.at.Value + float64(0.5*logDet(c, q.m))
		}
	}
	for i, f := range list {
		if masses[i] < slices.Min(masses)-elem.Log(part) {
			count = append(count, f)
		}
	}
	return count
}

// sampled is importance sampling from a mixture.
func (q *problem) sampled(out *Result, gradient bool) error {
	list, draws := q.mixture(q.several(q.found), q.method.N)
	type point struct {
		of     int
		z, eta []float64
		at     *Conditional
	}
	var points []point
	order := 0
	if gradient {
		order = 1
	}
	state := q.method.Seed
	var logs []float64
	for of, n := range draws {
		for range n {
			normal := make([]float64, q.m)
			for k := range normal {
				normal[k] = draw(&state)
			}
			u1, u2 := 0.5, 0.5
			if list[of].student {
				u1, u2 = uniform(&state), uniform(&state)
			}
			p := point{of: of}
			p.z, p.eta = list[of].place(normal, u1, u2)
			there, err := q.joint(p.eta, order)
			switch {
			case err != nil && q.Failed(err), err == nil && there.Value-there.Value != 0:
				logs = append(logs, math.Inf(-1)) // no density where the model has no solution
			case err != nil:
				return err
			default:
				p.at = there
				log, _, _ := mixed(list, p.eta)
				logs = append(logs, -there.Value-log)
			}
			points = append(points, p)
		}
	}
	most := slices.Max(logs)
	if math.IsInf(most, -1) {
		return q.flat(out)
	}
	out.Used = out.Hessian
	sum, squares := 0.0, 0.0
	weights := make([]float64, len(logs))
	for i, l := range logs {
		weights[i] = elem.Exp(l - most)
		sum += weights[i]
		squares += float64(weights[i] * weights[i])
	}
	out.Effective = sum * sum / squares
	out.Value = elem.Log(float64(len(logs))) - elem.Log(sum) - most
	if !gradient {
		return nil
	}
	if err := q.move(out, list); err != nil {
		return err
	}
	out.Gradient = make([]float64, q.p)
	for i, p := range points {
		if weights[i] > 0 {
			q.slopesOfPoint(out.Gradient, list, p.of, p.z, p.eta, p.at, weights[i]/sum)
		}
	}
	return nil
}

// move fills in how the components of a mixture move with params.
func (q *problem) move(out *Result, list []component) error {
	m, p := q.m, q.p
	for i := range list {
		c := &list[i]
		c.turns = make([]float64, p*m*m)
		if !c.student {
			s := &Spread{o: q.omega, l: q.prior.root}
			for x := range p {
				if w := s.moves(x); w != nil {
					copy(c.turns[x*m*m:], s.turn(w))
				}
			}
			continue
		}
		r := &Result{Mode: c.centre}
		if err := q.turning(r, c.root); err != nil {
			return err
		}
		if r.Slopes == nil {
			return q.flat(out)
		}
		c.slopes = r.Slopes
		if slices.Equal(c.centre, out.Mode) {
			out.Slopes = r.Slopes
		}
		for x := range p {
			for a := range m { // −phiᵀ, phi the lower half of total with half its diagonal
				for b := a; b < m; b++ {
					phi := q.total[(b*m+a)*p+x]
					if a == b {
						phi *= 0.5
					}
					c.turns[(x*m+a)*m+b] = -phi
				}
			}
		}
	}
	return nil
}

// slopesOfPoint adds the share of a point in the gradient: that of the joint density and of the density of the mixture,
// both with how the point moves.
func (q *problem) slopesOfPoint(
	to []float64, list []component, of int, z, eta []float64, at *Conditional, share float64,
) {
	m, p := q.m, q.p
	_, part, u := mixed(list, eta)
	scores := make([][]float64, len(list))
	for k := range list {
		scores[k] = list[k].score(u[k])
	}
	c := &list[of]
	moves, off := make([]float64, m), make([]float64, m)
	for x := range p {
		copy(moves, multiply(c.root, multiply(c.turns[x*m*m:][:m*m], z, m), m))
		for a := range m {
			if c.slopes != nil {
				moves[a] += c.slopes[a*p+x]
			}
		}
		s := at.Gradient[m+x] + dot(at.Gradient[:m], moves)
		for k := range list {
			if part[k] == 0 {
				continue
			}
			other := &list[k]
			turns := other.turns[x*m*m:][:m*m]
			copy(off, moves)
			trace := 0.0
			for a := range m {
				if other.slopes != nil {
					off[a] -= other.slopes[a*p+x]
				}
				trace += turns[a*m+a]
			}
			du, turned := multiply(other.back, off, m), multiply(turns, u[k], m)
			d := -trace
			for a := range m {
				d += float64(scores[k][a] * (du[a] - turned[a]))
			}
			s += float64(part[k] * d)
		}
		to[x] += float64(share * s)
	}
}
