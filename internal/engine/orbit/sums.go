package orbit

import (
	"math"

	"odes.dev/odes/internal/base/linalg"
)

// Sum is a combination of the elements of a border. The coefficient of Pivot is 1, and those of the pivots of other
// sums are 0.
type Sum struct {
	Pivot int
	Coefs []float64
}

// of returns the sum at a border.
func (k *Sum) of(b *Border) (sum float64) {
	for i, c := range k.Coefs {
		if c != 0 {
			sum = math.FMA(c, b.At(i), sum)
		}
	}
	return sum
}

// sums lists the combinations of discretes, the elements behind the states, that a map with derivatives byStart,
// [n][n], leaves what they are: the left null vectors of those of its rows less those of 1. They are found by
// elimination. What bodies assign has small numbers as derivatives by discretes, so rounding is far below the limit.
func sums(states, n int, byStart []float64) (list []Sum) {
	const least = 1e-10
	count := n - states
	rows, made := make([][]float64, count), make([][]float64, count) // made tells of which rows they are sums
	for r := range rows {
		rows[r], made[r] = make([]float64, n), make([]float64, count)
		copy(rows[r], byStart[(states+r)*n:])
		rows[r][states+r]--
		made[r][r] = 1
	}
	reduce(rows, made, n, least)
	for r, row := range rows {
		zero := true
		for _, x := range row {
			zero = zero && math.Abs(x) <= least
		}
		if zero {
			list = append(list, Sum{Coefs: made[r]})
		}
	}
	basis := make([][]float64, len(list))
	for k := range list {
		basis[k] = list[k].Coefs
	}
	pivots := reduce(basis, nil, count, least)
	for k := range list {
		list[k].Pivot = states + pivots[k]
		coefs := make([]float64, n)
		copy(coefs[states:], basis[k])
		list[k].Coefs = coefs
	}
	return list
}

// reduce brings rows of n elements to reduced echelon form, and does the same to their companions. It returns the
// column of the pivot of each row; -1 for none.
func reduce(rows, with [][]float64, n int, least float64) (pivots []int) {
	pivots = make([]int, len(rows))
	for r := range pivots {
		pivots[r] = -1
	}
	for c := range n {
		at := -1
		for r, row := range rows {
			if pivots[r] < 0 && math.Abs(row[c]) > least && (at < 0 || math.Abs(row[c]) > math.Abs(rows[at][c])) {
				at = r
			}
		}
		if at < 0 {
			continue
		}
		pivots[at] = c
		for _, list := range [][][]float64{with, rows} {
			if list == nil {
				continue
			}
			scale := rows[at][c]
			for i := range list[at] {
				list[at][i] /= scale
			}
			for r := range rows {
				if f := rows[r][c]; r != at && f != 0 {
					for i, x := range list[at] {
						list[r][i] -= float64(f * x)
					}
				}
			}
		}
	}
	return pivots
}

// Closing returns the factors of I - Φ_y, where the rows of pivots of sums that are kept are these sums.
func Closing(n int, byStart []float64, kept []Sum) (linalg.LU, error) {
	a, err := linalg.Analyze(linalg.Full(n), linalg.Options{Method: linalg.Dense})
	if err != nil {
		return nil, err
	}
	values := make([]float64, n*n)
	for i := range n {
		for j := range n {
			if values[j*n+i] = -byStart[i*n+j]; i == j {
				values[j*n+i]++
			}
		}
	}
	for _, k := range kept {
		for j, c := range k.Coefs {
			values[j*n+k.Pivot] = c
		}
	}
	lu := a.New()
	return lu, lu.Factor(values)
}

// Keep replaces the rows of width of pivots by those of sums: x[pivot] = Σ coefs·past.
func (o *Orbit) Keep(x, past []float64, width int) {
	for _, k := range o.Kept {
		row := x[k.Pivot*width : (k.Pivot+1)*width]
		clear(row)
		for i, c := range k.Coefs {
			if c == 0 {
				continue
			}
			for j := range row {
				row[j] = math.FMA(c, past[i*width+j], row[j])
			}
		}
	}
}

// Refuse makes derivatives by params, in rows of width, NaN where a sum that is kept would not be kept for other values
// of the param: no state repeats there.
func (o *Orbit) Refuse(byParams []float64, width int) {
	const least = 1e-8 // of the terms of the sum
	for _, k := range o.Kept {
		for j := range width {
			sum, size := 0.0, 0.0
			for i, c := range k.Coefs {
				if c != 0 {
					sum = math.FMA(c, byParams[i*width+j], sum)
					size = max(size, math.Abs(float64(c*byParams[i*width+j])))
				}
			}
			if math.Abs(sum) > float64(least*size) && math.Abs(sum) > math.SmallestNonzeroFloat64 {
				for i := range len(byParams) / width {
					byParams[i*width+j] = math.NaN()
				}
			}
		}
	}
}
