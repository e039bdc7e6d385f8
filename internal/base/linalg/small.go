package linalg

import "math"

// Solves of two and three equations by one lane, which small models do most: those of dense without loops.

func (d *dense) solve2(x *[2]float64) {
	a, r := (*[4]float64)(d.a), (*[2]float64)(d.recip)
	x0, x1 := x[0], x[1]
	if d.pivot[0] != 0 {
		x0, x1 = x1, x0
	}
	x1 = float64(-math.FMA(a[1], x0, x1) * r[1])
	x[0], x[1] = float64(math.FMA(a[2], x1, -x0)*r[0]), x1
}

func (d *dense) solveT2(x *[2]float64) {
	a, r := (*[4]float64)(d.a), (*[2]float64)(d.recip)
	x0 := float64(-x[0] * r[0])
	x1 := float64(math.FMA(a[2], x0, -x[1]) * r[1])
	x0 = math.FMA(a[1], x1, x0)
	if d.pivot[0] != 0 {
		x0, x1 = x1, x0
	}
	x[0], x[1] = x0, x1
}

func (d *dense) solve3(x *[3]float64) {
	a, r, p := (*[9]float64)(d.a), (*[3]float64)(d.recip), (*[3]int32)(d.pivot)
	switch p[0] {
	case 1:
		x[0], x[1] = x[1], x[0]
	case 2:
		x[0], x[2] = x[2], x[0]
	}
	x0, x1, x2 := x[0], x[1], x[2]
	if p[1] != 1 {
		x1, x2 = x2, x1
	}
	x1 = math.FMA(a[1], x0, x1)
	x2 = math.FMA(a[5], x1, math.FMA(a[2], x0, x2))
	x2 = float64(-x2 * r[2])
	x1 = float64(math.FMA(a[7], x2, -x1) * r[1])
	x[0], x[1], x[2] = float64(math.FMA(a[6], x2, math.FMA(a[3], x1, -x0))*r[0]), x1, x2
}

func (d *dense) solveT3(x *[3]float64) {
	a, r, p := (*[9]float64)(d.a), (*[3]float64)(d.recip), (*[3]int32)(d.pivot)
	x0 := float64(-x[0] * r[0])
	x1 := float64(math.FMA(a[3], x0, -x[1]) * r[1])
	x2 := float64(math.FMA(a[7], x1, math.FMA(a[6], x0, -x[2])) * r[2])
	x1 = math.FMA(a[5], x2, x1)
	x0 = math.FMA(a[2], x2, math.FMA(a[1], x1, x0))
	if p[1] != 1 {
		x1, x2 = x2, x1
	}
	x[0], x[1], x[2] = x0, x1, x2
	switch p[0] {
	case 1:
		x[0], x[1] = x[1], x[0]
	case 2:
		x[0], x[2] = x[2], x[0]
	}
}

// small solves where there is such a function for the number of equations.
func (d *dense) small(x []float64, transposed bool) bool {
	switch {
	case len(x) == 3 && transposed:
		d.solveT3((*[3]float64)(x))
	case len(x) == 3:
		d.solve3((*[3]float64)(x))
	case len(x) == 2 && transposed:
		d.solveT2((*[2]float64)(x))
	case len(x) == 2:
		d.solve2((*[2]float64)(x))
	default:
		return false
	}
	return true
}
