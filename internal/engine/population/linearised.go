package population

import (
	"errors"

	"odes.dev/odes/internal/base/elem"
)

var errNoNumber = errors.New("the likelihood of a subject is not a number")

// NoNumber reports whether err says that a likelihood is not a number.
func NoNumber(err error) bool { return errors.Is(err, errNoNumber) }

// uninteracting is the likelihood of FOCE, whose standard deviations are those at eta = 0.
func (q *problem) uninteracting(eta []float64, order int) (*Conditional, error) {
	m, w := q.m, q.m+q.p
	r, err := q.Rows(q.ctx, eta)
	if err != nil {
		return nil, err
	}
	out := &Conditional{Value: r.Constant, Gradient: make([]float64, w)}
	if order == 2 {
		weights := make([]float64, len(r.Data))
		for j, y := range r.Data {
			s := q.zero.S[j]
			weights[j] = (r.F[j] - y) / s / s
		}
		if out.Products, err = q.Curved(q.ctx, []Sum{{F: weights}}); err != nil {
			return nil, err
		}
	}
	for j, y := range r.Data {
		s := q.zero.S[j]
		e := (y - r.F[j]) / s
		out.Value += float64(0.5*e*e) + elem.Log(s) + float64(0.5*log2pi)
		df, ds := r.DF[j*w:(j+1)*w], q.zero.DS[j*w:(j+1)*w]
		for x := range w {
			out.Gradient[x] -= float64(e / s * df[x])
		}
		for x := m; x < w; x++ {
			out.Gradient[x] += float64((1 - float64(e*e)) / s * ds[x])
		}
		if order < 2 {
			continue
		}
		for i := range m {
			row := out.Products[i*w : (i+1)*w]
			for x := range w {
				row[x] += float64(df[i] * df[x] / (s * s))
			}
			for x := m; x < w; x++ {
				row[x] += float64(2 * e / (s * s) * df[i] * ds[x])
			}
		}
	}
	return out, nil
}

// linearised adds half the logarithm of the determinant of the Hessian that FOCEI and FOCE have: that of predictions
// and noise which are linear in the random effects.
func (q *problem) linearised(out *Result, gradient bool) error {
	m, w := q.m, q.m+q.p
	r, err := q.Rows(q.ctx, out.Mode)
	if err != nil {
		return err
	}
	q.runs++
	interaction := q.method.Kind == "focei"
	noise := r
	if !interaction {
		noise = q.zero
	}
	h := append([]float64(nil), q.prior.inverse...)
	for j := range r.Data {
		s := noise.S[j]
		for a := range m {
			for b := range m {
				h[a*m+b] += float64(r.DF[j*w+a] * r.DF[j*w+b] / (s * s))
				if interaction {
					h[a*m+b] += float64(2 * r.DS[j*w+a] * r.DS[j*w+b] / (s * s))
				}
			}
		}
	}
	symmetrise(h, m)
	c, ok := cholesky(h, m)
	if !ok {
		return q.flat(out)
	}
	out.Used = h
	out.Value = out.Joint + float64(0.5*logDet(c, m)) - float64(0.5*float64(m)*log2pi)
	if !gradient {
		return nil
	}
	b := inverse(c, m)
	by := make([]float64, w)
	// Half the trace of b with the derivative of a aᵀ/s² (times factor): the second derivatives in it are those of sums
	// of the rows, one for each random effect. Only these sums are differentiated, and not each row.
	weigh := func(first []float64, factor float64, to func(k int) []float64) {
		for j := range r.Data {
			s, ds := noise.S[j], noise.DS[j*w:(j+1)*w]
			a := first[j*w : j*w+m]
			u := multiply(b, a, m)
			for k := range m {
				to(k)[j] = float64(factor * u[k] / (s * s))
			}
			weight := float64(factor * dot(a, u) / (s * s * s))
			from := 0
			if !interaction {
				from = m // the noise is that at eta = 0
			}
			for x := from; x < w; x++ {
				by[x] -= float64(weight * ds[x])
			}
		}
	}
	sums := make([]Sum, m)
	for k := range sums {
		sums[k].F = make([]float64, len(r.Data))
		if interaction {
			sums[k].S = make([]float64, len(r.Data))
		}
	}
	weigh(r.DF, 1, func(k int) []float64 { return sums[k].F })
	if interaction {
		weigh(r.DS, 2, func(k int) []float64 { return sums[k].S })
	}
	if err := q.curl(by, sums); err != nil {
		return err
	}
	q.prior.curve(by[m:], b, q.p)
	return q.chain(out, by)
}

// curl adds to by the derivative of sum k by random effect k, once more by everything, over all k.
func (q *problem) curl(by []float64, sums []Sum) error {
	m, w := q.m, q.m+q.p
	second, err := q.Curved(q.ctx, sums)
	if err != nil {
		return err
	}
	for k := range m {
		for x, d := range second[(k*m+k)*w:][:w] {
			by[x] += d
		}
	}
	return nil
}

// firstOrder is FO: predictions are linear in the random effects, about zero.
func (q *problem) firstOrder(gradient bool) (*Result, error) {
	m, w := q.m, q.m+q.p
	r, err := q.Rows(q.ctx, make([]float64, m))
	if err != nil {
		return nil, err
	}
	n := len(r.Data)
	out := &Result{Runs: 1, Modes: 1, Omega: q.omega}
	cov := make([]float64, n*n)
	wa := make([]float64, n*m) // Omega·a
	sym := make([]float64, m*m)
	copy(sym, q.omega.W)
	symmetrise(sym, m)
	for j := range n {
		copy(wa[j*m:(j+1)*m], multiply(sym, r.DF[j*w:j*w+m], m))
	}
	for i := range n {
		for j := range n {
			cov[i*n+j] = dot(r.DF[i*w:i*w+m], wa[j*m:(j+1)*m])
		}
		cov[i*n+i] += float64(r.S[i] * r.S[i])
	}
	symmetrise(cov, n)
	c, ok := cholesky(cov, n)
	if !ok {
		q.flat(out)
		return out, nil
	}
	res := make([]float64, n)
	for j, y := range r.Data {
		res[j] = y - r.F[j]
	}
	z := append([]float64(nil), res...)
	solve(c, z, n)
	out.Value = float64(0.5*dot(res, z)) + float64(0.5*logDet(c, n)) + float64(0.5*float64(n)*log2pi) + r.Constant
	if !gradient {
		return out, nil
	}
	inv := inverse(c, n)
	all := make([]float64, w)
	g := all[m:]
	sums := make([]Sum, m)
	for a := range sums {
		sums[a].F = make([]float64, n)
	}
	for i := range n {
		for x := range g {
			g[x] -= float64(z[i] * r.DF[i*w+m+x])
		}
		for j := range n {
			weight := float64(0.5 * (inv[i*n+j] - float64(z[i]*z[j])))
			for a := range m {
				sums[a].F[i] += float64(2 * weight * wa[j*m+a])
				for b := range m {
					both := float64(weight * r.DF[i*w+a] * r.DF[j*w+b])
					for x, d := range q.omega.Slopes[(a*m+b)*q.p:][:q.p] {
						g[x] += float64(both * d)
					}
				}
			}
			if i == j {
				for x := range g {
					g[x] += float64(2 * weight * r.S[i] * r.DS[i*w+m+x])
				}
			}
		}
	}
	if err := q.curl(all, sums); err != nil {
		return nil, err
	}
	out.Gradient = g
	return out, nil
}
