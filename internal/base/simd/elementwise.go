package simd

import (
	"math"

	"odes.dev/odes/internal/base/elem"
)

// Shared is a set of operands that have one element for each row of lanes. The other operands have
// one for each lane.
type Shared uint8

// The operands.
const (
	SharedA Shared = 1 << iota
	SharedB
	SharedC
)

// chunk bounds the elements that one kernel call computes.
const chunk = 1 << 15

// Unary sets out[i] = op(a[i]) for all of out. The operand is at least as long.
func Unary(op Op, out, a []float64) {
	a = a[:len(out)]
	if !useAVX2 {
		unaryGeneric(op, out, a)
		return
	}
	for i := 0; i < len(out); {
		n := min(len(out)-i, chunk)
		done := unaryKernel(op, &out[i], &a[i], n)
		if done < 0 {
			unaryGeneric(op, out, a)
			return
		}
		i += done
		if done < n { // a group with a lane that the kernel cannot do
			end := min(i+4, len(out))
			unaryGeneric(op, out[i:end], a[i:end])
			i = end
		}
	}
}

func unaryGeneric(op Op, out, a []float64) {
	switch op {
	case Copy:
		copy(out, a)
	case Neg:
		for i, x := range a {
			out[i] = -x
		}
	case Sqrt:
		for i, x := range a {
			out[i] = math.Sqrt(x)
		}
	case Sqr:
		for i, x := range a {
			out[i] = float64(x * x)
		}
	case Recip:
		for i, x := range a {
			out[i] = 1 / x
		}
	default:
		f := operations[op].f1
		for i, x := range a {
			out[i] = f(x)
		}
	}
}

// Powi sets out[i] to a[i] to the integer power n, as elem.Powi.
func Powi(out, a []float64, n int) {
	switch n {
	case 1:
		Unary(Copy, out, a)
	case 2:
		Unary(Sqr, out, a)
	case 3:
		Unary(Cube, out, a)
	case 4:
		Unary(Fourth, out, a)
	case -1:
		Unary(Recip, out, a)
	case -2:
		Unary(Recip2, out, a)
	case -3:
		Unary(Recip3, out, a)
	case -4:
		Unary(Recip4, out, a)
	default:
		powiLong(out, a[:len(out)], n)
	}
}

func powiLong(out, a []float64, n int) {
	m, negative := n, 0
	if n < 0 {
		m, negative = -n, 1
	}
	if !useAVX2 || m <= 4 || m > 1<<20 {
		for i, x := range a {
			out[i] = elem.Powi(x, n)
		}
		return
	}
	for i := 0; i < len(out); {
		k := min(len(out)-i, chunk)
		done := longPower(&out[i], &a[i], k, m, negative)
		i += done
		if done < k {
			end := min(i+4, len(out))
			for ; i < end; i++ {
				out[i] = elem.Powi(a[i], n)
			}
		}
	}
}

// Binary sets out[i] = op(a[i], b[i]) for all of out. The operands are at least as long.
func Binary(op Op, out, a, b []float64) {
	a, b = a[:len(out)], b[:len(out)]
	if !useAVX2 {
		binaryGeneric(op, out, a, b)
		return
	}
	for i := 0; i < len(out); {
		n := min(len(out)-i, chunk)
		done := binaryKernel(op, 0, &out[i], &a[i], &b[i], n)
		if done < 0 {
			binaryGeneric(op, out, a, b)
			return
		}
		i += done
		if done < n {
			end := min(i+4, len(out))
			binaryGeneric(op, out[i:end], a[i:end], b[i:end])
			i = end
		}
	}
}

func binaryGeneric(op Op, out, a, b []float64) {
	a, b = a[:len(out)], b[:len(out)]
	switch op {
	case Add:
		for i, x := range a {
			out[i] = x + b[i]
		}
	case Sub:
		for i, x := range a {
			out[i] = x - b[i]
		}
	case Mul:
		for i, x := range a {
			out[i] = float64(x * b[i])
		}
	case Div:
		for i, x := range a {
			out[i] = x / b[i]
		}
	default:
		f := operations[op].f2
		for i, x := range a {
			out[i] = f(x, b[i])
		}
	}
}

// BinaryRows sets out[r·lanes + l] = op(a, b), where an operand in shared gives its element r, and
// any other one its element r·lanes + l. The slice out holds whole rows. Scalars are shared
// operands of one row, with lanes = len(out). At least one operand must have lanes.
func BinaryRows(op Op, shared Shared, out, a, b []float64, lanes int) {
	switch shared {
	case 0:
		Binary(op, out, a, b)
		return
	case SharedA | SharedB:
		panic("simd: no operand of " + op.String() + " has lanes")
	}
	rows := len(out) / max(lanes, 1)
	if rows == 0 {
		return
	}
	out = out[:rows*lanes]
	a, b = a[:size(shared, SharedA, rows, lanes)], b[:size(shared, SharedB, rows, lanes)]
	if !useAVX2 {
		binaryRowsGeneric(op, shared, out, a, b, lanes)
		return
	}
	if byRow(op) {
		for r := range rows {
			x, y := part(shared, SharedA, a, r, lanes), part(shared, SharedB, b, r, lanes)
			binaryScalar(op, shared, out[r*lanes:(r+1)*lanes], x, y)
		}
		return
	}
	blocks(rows, lanes, func(r, i, rows, lanes int) {
		binaryRowsKernel(op, shared, &out[i], at(shared, SharedA, a, r, i), at(shared, SharedB, b, r, i), rows, lanes)
	})
}

// blocks cuts rows of lanes into what one kernel call computes: rows from r on, which begin at
// element i. They are whole, or a piece of one row if rows are long.
func blocks(rows, lanes int, call func(r, i, rows, lanes int)) {
	if lanes > chunk {
		for r := range rows {
			for l := 0; l < lanes; l += chunk {
				call(r, r*lanes+l, 1, min(chunk, lanes-l))
			}
		}
		return
	}
	step := chunk / lanes
	for r := 0; r < rows; r += step {
		call(r, r*lanes, min(step, rows-r), lanes)
	}
}

// byRow reports whether the kernel of an operation takes a scalar operand but no rows. A row is
// enough work for a call.
func byRow(op Op) bool { return op >= Pow && op < Select }

// size returns how many elements an operand has.
func size(shared, which Shared, rows, lanes int) int {
	if shared&which != 0 {
		return rows
	}
	return rows * lanes
}

// at returns where the elements of an operand for row r and element i start.
func at(shared, which Shared, x []float64, r, i int) *float64 {
	if shared&which != 0 {
		return &x[r]
	}
	return &x[i]
}

// part returns row r of an operand.
func part(shared, which Shared, x []float64, r, lanes int) []float64 {
	if shared&which != 0 {
		return x[r : r+1]
	}
	return x[r*lanes : (r+1)*lanes]
}

// binaryScalar is BinaryRows for one row.
func binaryScalar(op Op, shared Shared, out, a, b []float64) {
	for i := 0; i < len(out); {
		n := min(len(out)-i, chunk)
		done := binaryKernel(op, shared, &out[i], at(shared, SharedA, a, 0, i), at(shared, SharedB, b, 0, i), n)
		i += done
		if done < n {
			end := min(i+4, len(out))
			for f := operations[op].f2; i < end; i++ {
				out[i] = f(pick(shared, SharedA, a, 0, i), pick(shared, SharedB, b, 0, i))
			}
		}
	}
}

func binaryRowsGeneric(op Op, shared Shared, out, a, b []float64, lanes int) {
	for r := 0; r*lanes < len(out); r++ {
		row := out[r*lanes : (r+1)*lanes]
		switch shared {
		case SharedA:
			x, y := a[r], b[r*lanes:(r+1)*lanes]
			switch op {
			case Add:
				for l, v := range y {
					row[l] = x + v
				}
			case Mul:
				for l, v := range y {
					row[l] = float64(x * v)
				}
			default:
				f := operations[op].f2
				for l, v := range y {
					row[l] = f(x, v)
				}
			}
		case SharedB:
			x, y := a[r*lanes:(r+1)*lanes], b[r]
			switch op {
			case Add:
				for l, v := range x {
					row[l] = v + y
				}
			case Mul:
				for l, v := range x {
					row[l] = float64(v * y)
				}
			default:
				f := operations[op].f2
				for l, v := range x {
					row[l] = f(v, y)
				}
			}
		}
	}
}

// Ternary sets out[i] = op(a[i], b[i], c[i]) for all of out. The operands are at least as long.
func Ternary(op Op, out, a, b, c []float64) {
	a, b, c = a[:len(out)], b[:len(out)], c[:len(out)]
	if !useAVX2 {
		ternaryGeneric(op, out, a, b, c)
		return
	}
	for i := 0; i < len(out); i += chunk {
		ternaryKernel(op, &out[i], &a[i], &b[i], &c[i], min(len(out)-i, chunk))
	}
}

func ternaryGeneric(op Op, out, a, b, c []float64) {
	if op == FMA {
		for i, x := range a {
			out[i] = math.FMA(x, b[i], c[i])
		}
		return
	}
	f := operations[op].f3
	for i, x := range a {
		out[i] = f(x, b[i], c[i])
	}
}

// TernaryRows is BinaryRows for three operands, of which one or two are shared.
func TernaryRows(op Op, shared Shared, out, a, b, c []float64, lanes int) {
	switch shared {
	case 0:
		Ternary(op, out, a, b, c)
		return
	case SharedA | SharedB | SharedC:
		panic("simd: no operand of " + op.String() + " has lanes")
	}
	rows := len(out) / max(lanes, 1)
	if rows == 0 {
		return
	}
	out = out[:rows*lanes]
	a, b, c = a[:size(shared, SharedA, rows, lanes)], b[:size(shared, SharedB, rows, lanes)],
		c[:size(shared, SharedC, rows, lanes)]
	if !useAVX2 {
		ternaryRowsGeneric(op, shared, out, a, b, c, lanes)
		return
	}
	blocks(rows, lanes, func(r, i, rows, lanes int) {
		ternaryRowsKernel(op, shared, &out[i], at(shared, SharedA, a, r, i), at(shared, SharedB, b, r, i),
			at(shared, SharedC, c, r, i), rows, lanes)
	})
}

func ternaryRowsGeneric(op Op, shared Shared, out, a, b, c []float64, lanes int) {
	f := operations[op].f3
	for i := range out {
		r := i / lanes
		out[i] = f(pick(shared, SharedA, a, r, i), pick(shared, SharedB, b, r, i), pick(shared, SharedC, c, r, i))
	}
}

// pick returns the element of an operand for row r, element i.
func pick(shared, which Shared, x []float64, r, i int) float64 {
	if shared&which != 0 {
		return x[r]
	}
	return x[i]
}
