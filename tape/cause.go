package tape

import (
	"math"
	"slices"
)

// Cause says in words why v, as the last Run of e left it, holds a number that is not finite while its operands are
// finite, such as "the logarithm of a negative number". It returns "" where no element of v is so.
func Cause(e *Evaluator[float64], v Value) string {
	in := e.tape.Instr(v)
	if in == nil || in.Op == Const {
		return ""
	}
	at := slices.IndexFunc(e.values[v], func(x float64) bool { return x-x != 0 })
	if at < 0 {
		return ""
	}
	args := []float64{math.NaN(), math.NaN(), math.NaN()}
	if in.Op.Row().Elementwise() {
		for k, a := range in.Args {
			args[k] = e.values[a][broadcastIndex(in.Shape, e.tape.Shape(a), at)]
			if args[k]-args[k] != 0 {
				return ""
			}
		}
	} else if slices.ContainsFunc(in.Args, func(a Value) bool {
		return slices.ContainsFunc(e.values[a], func(x float64) bool { return x-x != 0 })
	}) {
		return ""
	}
	return cause(in, args[0], args[1], e.values[v][at])
}

// broadcastIndex returns which element of an operand element i of a result is made from.
func broadcastIndex(of, operand Shape, i int) int {
	at, stride := 0, 1
	for k := 1; k <= len(of); k++ {
		n := of[len(of)-k]
		if k <= len(operand) {
			if m := operand[len(operand)-k]; m > 1 {
				at += i % n * stride
				stride *= m
			}
		}
		i /= n
	}
	return at
}

// cause says why in makes y, which is not finite, of finite a and b.
func cause(in *Instr, a, b, y float64) string {
	switch in.Op {
	case Log, Log10, Log1p:
		if in.Op == Log1p {
			a++
		}
		if a == 0 {
			return "the logarithm of 0"
		}
		return "the logarithm of a negative number"
	case Sqrt:
		return "the square root of a negative number"
	case Recip:
		if a == 0 {
			return "a division by 0"
		}
	case Div, Mod:
		switch {
		case a == 0 && b == 0:
			return "0/0"
		case b == 0:
			return "a division by 0"
		}
	case Pow:
		switch {
		case a == 0:
			return "0 to a negative power"
		case a < 0 && y != y:
			return "a negative number to a power that is not whole"
		}
	case Powi:
		if a == 0 {
			return "0 to a negative power"
		}
	}
	if y != y {
		return "the function " + in.Op.String() + " where it is not defined"
	}
	return "too large for a number"
}
