package vm

import (
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/tape"
)

// simdOps holds, for each op, the operation of package simd with the same name. Copy stands for ops without one: those
// that are not elementwise, Powi, and functions that no kernel computes. Go runs the latter.
var simdOps = func() (table [256]simd.Op) {
	for _, op := range tape.Ops() {
		if k, ok := simd.OpByName(op.String()); ok && op.Row().Elementwise() {
			table[op] = k
		}
	}
	return table
}()

// hasKernel reports whether package simd has the elementwise op.
func hasKernel(op tape.Op) bool { return op == tape.Powi || simdOps[op] != simd.Copy }

// powers are the handlers of integer powers.
var powers = map[int]simd.Op{
	1: simd.Copy, 2: simd.Sqr, 3: simd.Cube, 4: simd.Fourth,
	-1: simd.Recip, -2: simd.Recip2, -3: simd.Recip3, -4: simd.Recip4,
}

// isFunction reports whether op has a handler that may leave elements to Go.
func isFunction(op tape.Op) bool {
	switch simdOps[op] {
	case simd.Copy:
		return op == tape.Powi
	case simd.Neg, simd.Abs, simd.Sign, simd.Not, simd.Recip, simd.Sqrt, simd.Sqr, simd.Floor, simd.Ceil, simd.Round,
		simd.Trunc:
		return false
	case simd.Pow, simd.Atan2, simd.Hypot, simd.Mod:
		return true
	}
	return simdOps[op] < simd.Add
}

// Weight returns how many additions take about as long as op, for each element.
func Weight(op tape.Op) int {
	if isFunction(op) {
		return functionWork
	}
	return 1
}

// functionWork is how many additions take as long as one elementary function.
const functionWork = 16
