package optim

import "math"

// epsilon is the distance of 1 from the next number.
const epsilon = 0x1p-52

// triangle reduces the m × n matrix a, by rows, to upper triangular form in place, by reflections, which are applied to
// b as well. It returns the number of rows that are left, at most n; below the diagonal, a is zero. A nil order keeps
// the order of columns; else columns are exchanged so that the diagonal falls, and order tells which column is where.
//
// Sums over the rows of a column go along with those of all other columns, row by row, as the matrix lies in memory.
func triangle(a []float64, m, n int, b []float64, order []int) int {
	row := func(i, from, to int) []float64 { return a[i*n+from : i*n+to : i*n+to] }
	for j := range order {
		order[j] = j
	}
	most, sums := make([]float64, n), make([]float64, n)
	// lengths returns those of columns from … to-1, from row k on.
	lengths := func(k, from, to int) []float64 {
		most, sums := most[from:to], sums[from:to]
		clear(most)
		clear(sums)
		for i := k; i < m; i++ {
			for j, v := range row(i, from, to) {
				most[j] = max(most[j], math.Abs(v))
			}
		}
		for i := k; i < m; i++ {
			for j, v := range row(i, from, to) {
				if most[j] != 0 {
					v /= most[j]
					sums[j] += float64(v * v)
				}
			}
		}
		for j, s := range sums {
			sums[j] = float64(most[j] * math.Sqrt(s))
		}
		return sums
	}
	rows := min(m, n)
	for k := range rows {
		to := k + 1
		if order != nil {
			to = n
		}
		all, best := lengths(k, k, to), 0
		for j, r := range all {
			if r > all[best] {
				best = j
			}
		}
		length := all[best]
		if best += k; best != k {
			for i := range m {
				a[i*n+k], a[i*n+best] = a[i*n+best], a[i*n+k]
			}
			order[k], order[best] = order[best], order[k]
		}
		if length == 0 {
			continue
		}
		// The reflection I − w·wᵀ/w_k, with w = column/length and 1 added at k, keeps signs from cancelling.
		if a[k*n+k] < 0 {
			length = -length
		}
		for i := k; i < m; i++ {
			a[i*n+k] /= length
		}
		head := a[k*n+k] + 1
		a[k*n+k] = head
		s, of := sums[k+1:], 0.0
		clear(s)
		for i := k; i < m; i++ {
			w := a[i*n+k]
			for j, v := range row(i, k+1, n) {
				s[j] += float64(w * v)
			}
			of += float64(w * b[i])
		}
		for j := range s {
			s[j] /= head
		}
		of /= head
		for i := k; i < m; i++ {
			w, to := a[i*n+k], row(i, k+1, n)
			for j, x := range s {
				to[j] -= float64(x * w)
			}
			b[i] -= float64(of * w)
		}
		a[k*n+k] = -length
		for i := k + 1; i < m; i++ {
			a[i*n+k] = 0
		}
	}
	return rows
}

// backward solves R·x = b for the leading rank columns of the upper triangle r with n columns, in place.
func backward(r []float64, n, rank int, b []float64) {
	for i := rank - 1; i >= 0; i-- {
		s := b[i]
		for j := i + 1; j < rank; j++ {
			s -= float64(r[i*n+j] * b[j])
		}
		b[i] = s / r[i*n+i]
	}
}

// forward solves Rᵀ·x = b for the leading rank columns of the upper triangle r with n columns, in place.
func forward(r []float64, n, rank int, b []float64) {
	for i := range rank {
		s := b[i]
		for j := range i {
			s -= float64(r[j*n+i] * b[j])
		}
		b[i] = s / r[i*n+i]
	}
}

// lengthen makes of the n × n upper triangle r and the right side b those of the matrix with the rows √λ·I below it, in
// place, by rotations. See Moré, loc. cit.
func lengthen(r, b []float64, n int, lambda float64, row []float64) {
	root := math.Sqrt(lambda)
	for j := range n {
		clear(row)
		row[j] = root
		side := 0.0
		for k := j; k < n; k++ {
			if row[k] == 0 {
				continue
			}
			c, s := rotation(r[k*n+k], row[k])
			for i := k; i < n; i++ {
				p, q := r[k*n+i], row[i]
				r[k*n+i] = float64(c*p) + float64(s*q)
				row[i] = float64(c*q) - float64(s*p)
			}
			b[k], side = float64(c*b[k])+float64(s*side), float64(c*side)-float64(s*b[k])
		}
	}
}

// rotation returns the cosine and sine of the rotation that turns (a, b) into (r, 0).
func rotation(a, b float64) (c, s float64) {
	if math.Abs(a) < math.Abs(b) {
		t := a / b
		s = 1 / math.Sqrt(1+float64(t*t))
		return float64(s * t), s
	}
	t := b / a
	c = 1 / math.Sqrt(1+float64(t*t))
	return c, float64(c * t)
}

// levenberg sets v to a minimiser of ½|M·v + b|² + hᵀv within |v| ≤ radius, to a tenth of it, and reports whether the
// radius bounds it. M is m × n, by rows; m, b and h are changed. Of several minimisers it takes one with zeros where M
// says nothing. A nil h is zero.
func levenberg(a []float64, m, n int, b, h []float64, radius float64, v []float64) bool {
	slope := make([]float64, n)
	transposed(a, b, slope)
	if h != nil {
		add(slope, 1, h)
	}
	if largest(slope) == 0 {
		clear(v)
		return false
	}
	order := make([]int, n)
	rows := triangle(a, m, n, b, order)
	r := make([]float64, n*n)
	copy(r, a[:rows*n])
	side := make([]float64, n)
	copy(side, b[:rows])
	hp := make([]float64, n)
	if h != nil {
		for j, k := range order {
			hp[j] = h[k]
		}
	}
	rank := 0
	for rank < rows && math.Abs(r[rank*n+rank]) > float64(float64(n)*epsilon*math.Abs(r[0])) {
		rank++
	}

	y, w := make([]float64, n), make([]float64, n)
	// solve sets y to −R⁻¹(side + R⁻ᵀh) of the leading rank columns.
	solve := func(r, side []float64, rank int) {
		copy(w, hp)
		forward(r, n, rank, w)
		clear(y)
		for i := range rank {
			y[i] = -side[i] - w[i]
		}
		backward(r, n, rank, y)
	}
	// bend returns |R⁻ᵀy|²/|y|², minus the relative derivative of |y| by λ.
	bend := func(r []float64, length float64) float64 {
		for i := range y {
			w[i] = y[i] / length
		}
		forward(r, n, n, w)
		return dot(w, w)
	}
	done := func(bounded bool) bool {
		for j, k := range order {
			v[k] = y[j]
		}
		return bounded
	}

	lower, upper := 0.0, norm(slope)/radius
	lambda := float64(1e-3 * upper)
	if rank == n || h == nil {
		solve(r, side, rank)
		length := norm(y)
		if length <= 1.1*radius {
			return done(false)
		}
		if rank == n {
			lower = (length - radius) / radius / bend(r, length)
		}
		lambda = norm(slope) / length
	}
	lambda = math.Min(math.Max(lambda, lower), upper)
	s, t := make([]float64, n*n), make([]float64, n)
	last := 0.0
	for range 20 {
		lambda = math.Max(lambda, math.Max(1e-3*upper*0x1p-40, math.SmallestNonzeroFloat64*0x1p60))
		copy(s, r)
		copy(t, side)
		lengthen(s, t, n, lambda, w)
		solve(s, t, n)
		length := norm(y)
		excess := length - radius
		if math.Abs(excess) <= 0.1*radius || lower == 0 && excess <= last && last < 0 {
			break
		}
		last = excess
		if excess > 0 {
			lower = math.Max(lower, lambda)
		} else {
			upper = math.Min(upper, lambda)
		}
		lambda = math.Max(lower, lambda+excess/radius/bend(s, length))
	}
	return done(norm(y) > 0.8*radius)
}
