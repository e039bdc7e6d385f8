package fit

import (
	"context"
	"math"
	"slices"
)

// Matrices are row-major, n × n, and small.

// eigen returns the eigenvalues of the symmetric matrix a, ascending, and its eigenvectors as rows of v, by Jacobi's
// rotations, which find small eigenvalues of graded matrices to their own digits. a is overwritten.
func eigen(a []float64, n int) (values, v []float64) {
	v = make([]float64, n*n)
	for i := range n {
		v[i*n+i] = 1
	}
	for range 60 {
		off := 0.0
		for i := range n {
			for j := range i {
				off = max(off, math.Abs(a[i*n+j])/(math.Sqrt(math.Abs(a[i*n+i]*a[j*n+j]))+1e-300))
			}
		}
		if off < 1e-17 {
			break
		}
		for i := range n {
			for j := range i {
				rotate(a, v, n, j, i)
			}
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch d := a[i*n+i] - a[j*n+j]; {
		case d < 0:
			return -1
		case d > 0:
			return 1
		}
		return 0
	})
	rows := make([]float64, 0, n*n)
	for _, i := range order {
		values = append(values, a[i*n+i])
		rows = append(rows, v[i*n:(i+1)*n]...)
	}
	return values, rows
}

// rotate makes the element p, q of a zero.
func rotate(a, v []float64, n, p, q int) {
	x := a[p*n+q]
	if x == 0 {
		return
	}
	theta := (a[q*n+q] - a[p*n+p]) / (2 * x)
	t := 1 / (math.Abs(theta) + math.Sqrt(theta*theta+1))
	if theta < 0 {
		t = -t
	}
	c := 1 / math.Sqrt(t*t+1)
	s := t * c
	for k := range n {
		i, j := a[k*n+p], a[k*n+q]
		a[k*n+p], a[k*n+q] = float64(c*i)-float64(s*j), float64(s*i)+float64(c*j)
	}
	for k := range n {
		i, j := a[p*n+k], a[q*n+k]
		a[p*n+k], a[q*n+k] = float64(c*i)-float64(s*j), float64(s*i)+float64(c*j)
		i, j = v[p*n+k], v[q*n+k]
		v[p*n+k], v[q*n+k] = float64(c*i)-float64(s*j), float64(s*i)+float64(c*j)
	}
	a[p*n+q], a[q*n+p] = 0, 0
}

// invert returns the inverse of a symmetric positive definite matrix; nil if it is not. It scales the matrix to a
// diagonal of ones first.
func invert(a []float64, n int) []float64 {
	scale := make([]float64, n)
	for i := range n {
		if !(a[i*n+i] > 0) || math.IsInf(a[i*n+i], 1) {
			return nil
		}
		scale[i] = 1 / math.Sqrt(a[i*n+i])
	}
	l := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			sum := float64(a[i*n+j] * scale[i] * scale[j])
			for k := range j {
				sum -= float64(l[i*n+k] * l[j*n+k])
			}
			switch {
			case i != j:
				l[i*n+j] = sum / l[j*n+j]
			case !(sum > 1e-15):
				return nil
			default:
				l[i*n+i] = math.Sqrt(sum)
			}
		}
	}
	out := make([]float64, n*n)
	col := make([]float64, n)
	for j := range n {
		clear(col)
		col[j] = 1
		for i := range n { // L z = e
			for k := range i {
				col[i] -= float64(l[i*n+k] * col[k])
			}
			col[i] /= l[i*n+i]
		}
		for i := n - 1; i >= 0; i-- {
			for k := i + 1; k < n; k++ {
				col[i] -= float64(l[k*n+i] * col[k])
			}
			col[i] /= l[i*n+i]
		}
		for i := range n {
			out[i*n+j] = float64(col[i] * scale[i] * scale[j])
		}
	}
	return out
}

// sub returns the rows and columns of a, n × n, that keep lists.
func sub(a []float64, n int, keep []int) []float64 {
	out := make([]float64, 0, len(keep)*len(keep))
	for _, i := range keep {
		for _, j := range keep {
			out = append(out, a[i*n+j])
		}
	}
	return out
}

func norm(v []float64) float64 {
	most := 0.0
	for _, x := range v {
		most = max(most, math.Abs(x))
	}
	if most == 0 {
		return 0
	}
	sum := 0.0
	for _, x := range v {
		sum += float64(x / most * (x / most))
	}
	return most * math.Sqrt(sum)
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i] * b[i])
	}
	return sum
}

// svd returns the singular values of a matrix with these columns, descending, and the right singular vectors as rows,
// by one-sided Jacobi rotations (Hestenes 1958), which lose no digits of small ones that the columns have. The columns
// are overwritten.
func svd(ctx context.Context, cols [][]float64) (values, v []float64, err error) {
	n := len(cols)
	turned := make([][]float64, n)
	for j := range turned {
		turned[j] = make([]float64, n)
		turned[j][j] = 1
	}
	values, order, err := orthogonal(ctx, cols, turned, 1e-16)
	for _, i := range order {
		v = append(v, turned[i]...)
	}
	return values, v, err
}

// svdOfRows returns the singular values of a matrix with these rows, as many as there are rows, and the right singular
// vectors of those that are not zero: it takes time in proportion to the columns, and leaves out the directions in
// which no row leads. The rows are overwritten.
func svdOfRows(ctx context.Context, rows [][]float64) (values, v []float64, err error) {
	const angle = 1e-11 // singular values are told from zero by a larger part
	values, order, err := orthogonal(ctx, rows, nil, angle)
	for r, i := range order {
		if values[r] == 0 {
			continue
		}
		for _, x := range rows[i] {
			v = append(v, x/values[r])
		}
	}
	return values, v, err
}

// orthogonal rotates columns until their angles are right ones, but for so much, and those of also in the same way. It
// returns their lengths, descending, and their order by these.
func orthogonal(ctx context.Context, cols, also [][]float64, angle float64) (values []float64, order []int, err error) {
	n := len(cols)
	for range 60 {
		done := true
		for i := range n {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			for j := range i {
				a, b, c := dot(cols[j], cols[j]), dot(cols[i], cols[i]), dot(cols[j], cols[i])
				if math.Abs(c) <= angle*math.Sqrt(a*b) || c == 0 {
					continue
				}
				done = false
				zeta := (b - a) / (2 * c)
				t := 1 / (math.Abs(zeta) + math.Sqrt(zeta*zeta+1))
				if zeta < 0 {
					t = -t
				}
				cs := 1 / math.Sqrt(t*t+1)
				sn := cs * t
				turn(cols[j], cols[i], cs, sn)
				if also != nil {
					turn(also[j], also[i], cs, sn)
				}
			}
		}
		if done {
			break
		}
	}
	order = make([]int, n)
	size := make([]float64, n)
	for i := range order {
		order[i], size[i] = i, norm(cols[i])
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case size[i] > size[j]:
			return -1
		case size[i] < size[j]:
			return 1
		}
		return 0
	})
	for _, i := range order {
		values = append(values, size[i])
	}
	return values, order, nil
}

// turn rotates two vectors.
func turn(a, b []float64, c, s float64) {
	for k, x := range a {
		y := b[k]
		a[k], b[k] = float64(c*x)-float64(s*y), float64(s*x)+float64(c*y)
	}
}
