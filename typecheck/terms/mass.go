package terms

import (
	"math"
	"slices"
)

// ReduceMass returns a regular matrix by[n][n] and left = by·m in the form of Mass, by elimination with complete
// pivoting. What is below 1e-12 of the largest entry counts as zero.
func ReduceMass(m []float64, n int) (by, left []float64) {
	const zero = 1e-12
	a, t := slices.Clone(m), make([]float64, n*n)
	most := 0.0
	for i := range n {
		t[i*n+i] = 1
	}
	for _, v := range a {
		most = max(most, math.Abs(v))
	}
	rowOf := slices.Repeat([]int{-1}, n) // of a column that pivots
	used := make([]bool, n)              // rows
	for range n {
		row, col, best := -1, -1, float64(zero*most)
		for i := range n {
			for j := range n {
				v := math.Abs(a[i*n+j])
				if i == j {
					v *= 2 // rather its own equation for each element
				}
				if !used[i] && rowOf[j] < 0 && v > best {
					row, col, best = i, j, v
				}
			}
		}
		if row < 0 {
			break
		}
		used[row], rowOf[col] = true, row
		pivot := a[row*n+col]
		for j := range n {
			a[row*n+j] /= pivot
			t[row*n+j] /= pivot
		}
		for i := range n {
			f := a[i*n+col]
			if i == row || f == 0 {
				continue
			}
			for j := range n {
				a[i*n+j] -= float64(f * a[row*n+j])
				t[i*n+j] -= float64(f * t[row*n+j])
			}
			a[i*n+col] = 0
		}
	}
	// What is left over are the equations of unknowns, each its own where it can be.
	for j := range n {
		if rowOf[j] < 0 && !used[j] {
			rowOf[j], used[j] = j, true
		}
	}
	by, left = make([]float64, n*n), make([]float64, n*n)
	unknown := make([]bool, n)
	for j := range n {
		if i := rowOf[j]; i >= 0 && a[i*n+j] == 1 {
			continue
		}
		unknown[j] = true
	}
	for j := range n {
		i := rowOf[j]
		if i < 0 {
			i = slices.Index(used, false)
			used[i] = true
		}
		copy(by[j*n:(j+1)*n], t[i*n:(i+1)*n])
		if unknown[j] {
			continue
		}
		left[j*n+j] = 1
		for k := range n {
			if v := a[i*n+k]; unknown[k] && math.Abs(v) > zero {
				left[j*n+k] = v
			}
		}
	}
	return by, left
}
