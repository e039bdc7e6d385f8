package optim

import "math"

// eigen returns the eigenvalues of the symmetric n × n matrix a, rising, and makes its rows the eigenvectors. It
// reduces a to a tridiagonal matrix and applies implicit QL steps to it, as the procedures tred2 and imtql2 of EISPACK.
func eigen(a []float64, n int) []float64 { return eigenUntil(a, n, nil) }

// eigenUntil is eigen, or nil where over says that nobody wants them any more.
func eigenUntil(a []float64, n int, over func() bool) []float64 {
	d, e := make([]float64, n), make([]float64, n)
	if !tridiagonal(a, d, e, n, over) {
		return nil
	}
	at := func(i, j int) *float64 { return &a[i*n+j] }
	unwanted := func() bool { return over != nil && over() }
	for i := range n {
		if unwanted() {
			return nil
		}
		if d[i] != 0 {
			for j := range i {
				g := 0.0
				for k := range i {
					g += float64(*at(i, k) * *at(k, j))
				}
				for k := range i {
					*at(k, j) -= float64(g * *at(k, i))
				}
			}
		}
		d[i] = *at(i, i)
		*at(i, i) = 1
		for j := range i {
			*at(i, j), *at(j, i) = 0, 0
		}
	}
	// Rows are easier to rotate than columns.
	for i := range n {
		for j := range i {
			*at(i, j), *at(j, i) = *at(j, i), *at(i, j)
		}
	}
	if n > 0 {
		copy(e, e[1:])
		e[n-1] = 0
	}
	for l := range n {
		for range 60 {
			if unwanted() {
				return nil
			}
			m := l
			for m < n-1 && math.Abs(e[m]) > float64(epsilon*(math.Abs(d[m])+math.Abs(d[m+1]))) {
				m++
			}
			if m == l {
				break
			}
			g := (d[l+1] - d[l]) / float64(2*e[l])
			r := hypot(g, 1)
			g = d[m] - d[l] + e[l]/(g+math.Copysign(r, g))
			s, c, p := 1.0, 1.0, 0.0
			i := m - 1
			for ; i >= l; i-- {
				f, b := float64(s*e[i]), float64(c*e[i])
				r = hypot(f, g)
				e[i+1] = r
				if r == 0 {
					d[i+1] -= p
					e[m] = 0
					break
				}
				s, c = f/r, g/r
				g = d[i+1] - p
				r = float64((d[i]-g)*s) + float64(2*c*b)
				p = float64(s * r)
				d[i+1] = g + p
				g = float64(c*r) - b
				for k := range n {
					u, w := *at(i, k), *at(i+1, k)
					*at(i+1, k) = float64(s*u) + float64(c*w)
					*at(i, k) = float64(c*u) - float64(s*w)
				}
			}
			if r == 0 && i >= l {
				continue
			}
			d[l] -= p
			e[l] = g
			e[m] = 0
		}
	}
	for i := range n { // rising
		least := i
		for j := i + 1; j < n; j++ {
			if d[j] < d[least] {
				least = j
			}
		}
		if least != i {
			d[i], d[least] = d[least], d[i]
			for k := range n {
				*at(i, k), *at(least, k) = *at(least, k), *at(i, k)
			}
		}
	}
	return d
}

// tridiagonal reduces a to a matrix with the diagonal d, which it leaves to be filled in, and e beside it. It reports
// false where over ends it.
func tridiagonal(a, d, e []float64, n int, over func() bool) bool {
	at := func(i, j int) *float64 { return &a[i*n+j] }
	for i := n - 1; i > 0; i-- {
		if over != nil && over() {
			return false
		}
		scale, h := 0.0, 0.0
		if i > 1 {
			for k := range i {
				scale += math.Abs(*at(i, k))
			}
		}
		if scale == 0 {
			e[i] = *at(i, i-1)
			d[i] = 0
			continue
		}
		for k := range i {
			*at(i, k) /= scale
			h += float64(*at(i, k) * *at(i, k))
		}
		f := *at(i, i-1)
		g := -math.Copysign(math.Sqrt(h), f)
		e[i] = float64(scale * g)
		h -= float64(f * g)
		*at(i, i-1) = f - g
		f = 0
		for j := range i {
			*at(j, i) = *at(i, j) / h
			g = 0
			for k := range j + 1 {
				g += float64(*at(j, k) * *at(i, k))
			}
			for k := j + 1; k < i; k++ {
				g += float64(*at(k, j) * *at(i, k))
			}
			e[j] = g / h
			f += float64(e[j] * *at(i, j))
		}
		hh := f / (h + h)
		for j := range i {
			f = *at(i, j)
			g = e[j] - float64(hh*f)
			e[j] = g
			for k := range j + 1 {
				*at(j, k) -= float64(f*e[k]) + float64(g**at(i, k))
			}
		}
		d[i] = h
	}
	return true
}
