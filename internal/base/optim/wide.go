package optim

// wide is levenberg for matrices with far more columns than rows, as those of few data and the many weights of a
// network have. A minimiser within a sphere lies in the space of the rows of M and of h: in an orthonormal basis of
// that the problem has as many numbers as there are rows, and lengths are the same. Of several minimisers it takes the
// shortest.
func wide(a []float64, m, n int, b, h []float64, radius float64, v []float64) bool {
	q := basis(a, m, n, h)
	p := len(q)
	if p == 0 {
		clear(v)
		return false
	}
	small := make([]float64, m*p)
	for i := range m {
		for k, u := range q {
			small[i*p+k] = dot(a[i*n:(i+1)*n], u)
		}
	}
	var slope []float64
	if h != nil {
		slope = make([]float64, p)
		for k, u := range q {
			slope[k] = dot(h, u)
		}
	}
	y := make([]float64, p)
	bounded := levenberg(small, m, p, b, slope, radius, y)
	clear(v)
	for k, u := range q {
		add(v, y[k], u)
	}
	return bounded
}

// basis returns an orthonormal basis of the space of the rows of an m × n matrix and of h, which may be nil: by Gram
// and Schmidt's method, where each vector is made orthogonal twice, which is enough (L. Giraud, J. Langou,
// M. Rozložník, Comput. Math. Appl. 50 (2005) 1069–1075, doi:10.1016/j.camwa.2005.08.009). What rounding leaves of a
// vector that lies in the space already is left out.
func basis(a []float64, m, n int, h []float64) (q [][]float64) {
	join := func(row []float64) {
		u := make([]float64, n)
		copy(u, row)
		first := norm(u)
		for range 2 {
			for _, w := range q {
				add(u, -dot(u, w), w)
			}
		}
		length := norm(u)
		if !(length > float64(16*float64(n)*epsilon*first)) {
			return
		}
		for i := range u {
			u[i] /= length
		}
		q = append(q, u)
	}
	for i := range m {
		join(a[i*n : (i+1)*n])
	}
	if h != nil {
		join(h)
	}
	return q
}
