// Package kernel holds the inner loops of the machine: what one instruction does to contiguous
// slices of numbers. Its Go code is the definition to the bit, and a faster version of a loop must
// give the same bits. It also holds the handlers of threaded programs, written by the generator in
// _asm. The package knows nothing of programs or registers.
package kernel

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/tape"
)

// Map1 sets d[i] = op(a[i]). The number n is the power of Powi. The slice d may be a. Frequent ops have loops of their
// own, here and below; the others call the function of the table of ops.
func Map1(op tape.Op, n int, d, a []float64) {
	a = a[:len(d)]
	switch op {
	case tape.Neg:
		for i, x := range a {
			d[i] = -x
		}
	case tape.Abs:
		for i, x := range a {
			d[i] = math.Abs(x)
		}
	case tape.Not:
		for i, x := range a {
			d[i] = 1 - x
		}
	case tape.Recip:
		for i, x := range a {
			d[i] = 1 / x
		}
	case tape.Sqrt:
		for i, x := range a {
			d[i] = math.Sqrt(x)
		}
	case tape.Sqr:
		for i, x := range a {
			d[i] = float64(x * x)
		}
	case tape.Floor:
		for i, x := range a {
			d[i] = math.Floor(x)
		}
	case tape.Ceil:
		for i, x := range a {
			d[i] = math.Ceil(x)
		}
	case tape.Trunc:
		for i, x := range a {
			d[i] = math.Trunc(x)
		}
	case tape.Exp:
		for i, x := range a {
			d[i] = elem.Exp(x)
		}
	case tape.Log:
		for i, x := range a {
			d[i] = elem.Log(x)
		}
	case tape.Sin:
		for i, x := range a {
			d[i] = elem.Sin(x)
		}
	case tape.Cos:
		for i, x := range a {
			d[i] = elem.Cos(x)
		}
	case tape.Powi:
		for i, x := range a {
			d[i] = elem.Powi(x, n)
		}
	default:
		f := op.Row().Real1
		for i, x := range a {
			d[i] = f(x)
		}
	}
}

// Map2 sets d[i] = op(a[i], b[i]). The slice d may be a or b.
func Map2(op tape.Op, d, a, b []float64) {
	a, b = a[:len(d)], b[:len(d)]
	if arithmetic(op, d, a, b) || function(op, d, a, b) || logic(op, d, a, b) {
		return
	}
	f := op.Row().Real2
	for i, x := range a {
		d[i] = f(x, b[i])
	}
}

// arithmetic is Map2 of the four operations, and reports whether op is one.
func arithmetic(op tape.Op, d, a, b []float64) bool {
	a, b = a[:len(d)], b[:len(d)] // no element needs a check
	switch op {
	case tape.Add:
		for i, x := range a {
			d[i] = x + b[i]
		}
	case tape.Sub:
		for i, x := range a {
			d[i] = x - b[i]
		}
	case tape.Mul:
		for i, x := range a {
			d[i] = float64(x * b[i])
		}
	case tape.Div:
		for i, x := range a {
			d[i] = x / b[i]
		}
	default:
		return false
	}
	return true
}

// function is Map2 of functions, and reports whether op is one.
func function(op tape.Op, d, a, b []float64) bool {
	a, b = a[:len(d)], b[:len(d)] // no element needs a check
	switch op {
	case tape.Pow:
		for i, x := range a {
			d[i] = elem.Pow(x, b[i])
		}
	case tape.Atan2:
		for i, x := range a {
			d[i] = elem.Atan2(x, b[i])
		}
	case tape.Hypot:
		for i, x := range a {
			d[i] = elem.Hypot(x, b[i])
		}
	case tape.Mod:
		for i, x := range a {
			d[i] = elem.Mod(x, b[i])
		}
	case tape.Min:
		for i, x := range a {
			d[i] = elem.Min(x, b[i])
		}
	case tape.Max:
		for i, x := range a {
			d[i] = elem.Max(x, b[i])
		}
	case tape.ZeroMul:
		for i, x := range a {
			d[i] = elem.ZeroMul(x, b[i])
		}
	default:
		return false
	}
	return true
}

// logic is Map2 of comparisons and of what connects them, and reports whether op is one.
func logic(op tape.Op, d, a, b []float64) bool {
	a, b = a[:len(d)], b[:len(d)] // no element needs a check
	switch op {
	case tape.Less:
		for i, x := range a {
			d[i] = elem.Less(x, b[i])
		}
	case tape.LessEq:
		for i, x := range a {
			d[i] = elem.LessEq(x, b[i])
		}
	case tape.Equal:
		for i, x := range a {
			d[i] = elem.Equal(x, b[i])
		}
	case tape.NotEqual:
		for i, x := range a {
			d[i] = elem.NotEqual(x, b[i])
		}
	case tape.And:
		for i, x := range a {
			d[i] = elem.And(x, b[i])
		}
	case tape.Or:
		for i, x := range a {
			d[i] = elem.Or(x, b[i])
		}
	default:
		return false
	}
	return true
}

// Map3 sets d[i] = op(a[i], b[i], c[i]). The slice d may be any of the operands.
func Map3(op tape.Op, d, a, b, c []float64) {
	a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
	switch op {
	case tape.Select:
		for i, x := range a {
			d[i] = elem.Select(x, b[i], c[i])
		}
	case tape.FMA:
		for i, x := range a {
			d[i] = math.FMA(x, b[i], c[i])
		}
	default:
		f := op.Row().Real3
		for i, x := range a {
			d[i] = f(x, b[i], c[i])
		}
	}
}

// Fill sets every d[i] to x.
func Fill(d []float64, x float64) {
	for i := range d {
		d[i] = x
	}
}

// Add sets d[i] += a[i].
func Add(d, a []float64) {
	a = a[:len(d)]
	for i, x := range a {
		d[i] += x
	}
}

// Scale sets d[i] = s·a[i].
func Scale(d, a []float64, s float64) {
	a = a[:len(d)]
	for i, x := range a {
		d[i] = float64(s * x)
	}
}
