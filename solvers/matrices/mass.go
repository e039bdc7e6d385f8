package matrices

import (
	"math"

	"odes.dev/odes/internal/base/elem"
)

// Mass is the constant matrix M of a system M y' = f(t, y) of index 1, in a form that every such system can be brought
// to by combining its equations: a row of M that belongs to an unknown is zero, and f there is an algebraic equation;
// any other row has 1 on the diagonal and, if at all, entries in columns of unknowns. So M is the identity but for
// these. It never changes.
//
// A Field with a Mass gives it with its Jacobian; a nil *Mass stands for the identity. Quadratures have no part in it.
//
// The partial derivatives of the algebraic equations by the unknowns, along what M does not see, must be a regular
// matrix: that is what index 1 means. With the unknowns U, the other states B and C = M_BU it is f_U,U - f_U,B C.
type Mass struct {
	Unknowns   []int32 // the states whose rows are zero, ascending
	Rows, Cols []int32 // places of C, if there is any
	Values     []float64
	of         []int32 // [N] 1 + the number of an unknown, 0 for other states; see number
}

// NewMass returns the matrix for n states with the given unknowns, ascending, and the entries of C.
func NewMass(n int, unknowns, rows, cols []int32, values []float64) *Mass {
	m := &Mass{Unknowns: unknowns, Rows: rows, Cols: cols, Values: values, of: make([]int32, n)}
	for k, i := range unknowns {
		m.of[i] = 1 + int32(k)
	}
	return m
}

// Unknown reports whether state i is an unknown.
func (m *Mass) Unknown(i int) bool { return m.of[i] != 0 }

// number returns which unknown state i is, or -1.
func (m *Mass) number(i int32) int32 { return m.of[i] - 1 }

// Add adds M x to y, both [N].
func (m *Mass) Add(y, x []float64) { m.AddLanes(y, x, 1, false) }

// AddLanes adds M x to y, where both have n elements in l lanes; transposed, Mᵀ x.
func (m *Mass) AddLanes(y, x []float64, l int, transposed bool) {
	for i, unknown := range m.of {
		if unknown == 0 {
			to, from := y[i*l:(i+1)*l], x[i*l:(i+1)*l]
			for a, v := range from {
				to[a] += v
			}
		}
	}
	for e, c := range m.Values {
		to, from := m.Rows[e], m.Cols[e]
		if transposed {
			to, from = from, to
		}
		addScaled(y, int(to), c, x, int(from), l)
	}
}

// Minus subtracts M k from x[n].
func (p *Plan) Minus(x, k []float64) {
	m := p.Mass
	if m == nil {
		for i, v := range x {
			x[i] = v - k[i]
		}
		return
	}
	for i, unknown := range m.of {
		if unknown == 0 {
			x[i] -= k[i]
		}
	}
	for e, c := range m.Values {
		x[m.Rows[e]] -= float64(c * k[m.Cols[e]])
	}
}

// Sizes writes the sizes of the terms of f(y) - M k into to[n], with the entries j of J:
// Σ |J| (|y| + |y0|) + |M| |k|.
func (p *Plan) Sizes(to, j, y, y0, k []float64) {
	for i, v := range k {
		if to[i] = math.Abs(v); p.Mass != nil && p.Mass.of[i] != 0 {
			to[i] = 0
		}
	}
	if m := p.Mass; m != nil {
		for e, c := range m.Values {
			to[m.Rows[e]] += math.Abs(float64(c * k[m.Cols[e]]))
		}
	}
	for _, s := range p.States {
		at := &p.All[s.E]
		to[at.Row] = math.FMA(math.Abs(j[s.E]), math.Abs(y[at.Col])+math.Abs(y0[at.Col]), to[at.Row])
	}
}

// MinusComplex is minus in complex arithmetic.
func (p *Plan) MinusComplex(x, k []complex128) {
	m := p.Mass
	if m == nil {
		for i, v := range x {
			x[i] = v - k[i]
		}
		return
	}
	for i, unknown := range m.of {
		if unknown == 0 {
			x[i] -= k[i]
		}
	}
	for e, c := range m.Values {
		x[m.Rows[e]] = elem.CFMA(complex(-c, 0), k[m.Cols[e]], x[m.Rows[e]])
	}
}

// addScaled adds c times element j of x to element i of y, in l lanes.
func addScaled(y []float64, i int, c float64, x []float64, j, l int) {
	to, from := y[i*l:(i+1)*l], x[j*l:(j+1)*l]
	for a, v := range from {
		to[a] += float64(c * v)
	}
}

// Clear makes the rows of unknowns of x[n·l] zero.
func (m *Mass) Clear(x []float64, l int) {
	for _, i := range m.Unknowns {
		clear(x[int(i)*l : (int(i)+1)*l])
	}
}

// ClearComplex makes the elements of unknowns of x[n] zero.
func (m *Mass) ClearComplex(x []complex128) {
	for _, i := range m.Unknowns {
		x[i] = 0
	}
}

// massOf returns the mass matrix of a system, or nil.
func massOf(sys any) *Mass {
	if s, ok := sys.(interface{ Mass() *Mass }); ok {
		return s.Mass()
	}
	return nil
}
