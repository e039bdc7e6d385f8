package implicit

import (
	"math/big"
	"strconv"
	"strings"

	"odes.dev/odes/solvers/tableau"
)

// The fully implicit methods follow from their nodes: the roots of P_s for Gauss, of P_s - P_{s-1} for Radau IIA and of
// P_s - P_{s-2} for Lobatto IIIC, with Legendre's polynomials P of 2x - 1. All is computed to far more digits than the
// tables keep.

const collocationBits = 512

func real512(x float64) *big.Float { return new(big.Float).SetPrec(collocationBits).SetFloat64(x) }

// exactPolynomial has the coefficients of 1, x, x², ….
type exactPolynomial []*big.Float

func (p exactPolynomial) at(x *big.Float) *big.Float {
	v := real512(0)
	for k := len(p) - 1; k >= 0; k-- {
		v.Add(v.Mul(v, x), p[k])
	}
	return v
}

func (p exactPolynomial) times(q exactPolynomial) exactPolynomial {
	out := make(exactPolynomial, len(p)+len(q)-1)
	for k := range out {
		out[k] = real512(0)
	}
	for i, a := range p {
		for j, b := range q {
			out[i+j].Add(out[i+j], real512(0).Mul(a, b))
		}
	}
	return out
}

// plus returns p + c q, where q is no longer than p.
func (p exactPolynomial) plus(c *big.Float, q exactPolynomial) exactPolynomial {
	out := make(exactPolynomial, len(p))
	for k := range out {
		out[k] = real512(0).Set(p[k])
		if k < len(q) {
			out[k].Add(out[k], real512(0).Mul(c, q[k]))
		}
	}
	return out
}

// integral returns ∫₀ˣ p.
func (p exactPolynomial) integral() exactPolynomial {
	out := exactPolynomial{real512(0)}
	for k, c := range p {
		out = append(out, real512(0).Quo(c, real512(float64(k+1))))
	}
	return out
}

// legendre returns P_s of 2x - 1, by (k+1) P_{k+1} = (2k+1) (2x-1) P_k - k P_{k-1}.
func legendre(s int) exactPolynomial {
	line := exactPolynomial{real512(-1), real512(2)}
	before, p := exactPolynomial{real512(1)}, line
	if s == 0 {
		return before
	}
	for k := 1; k < s; k++ {
		next := p.times(line)
		for i := range next {
			next[i].Mul(next[i], real512(float64(2*k+1)))
		}
		next = next.plus(real512(float64(-k)), before)
		for i := range next {
			next[i].Quo(next[i], real512(float64(k+1)))
		}
		before, p = p, next
	}
	return p
}

// roots returns the roots of p, which are real, simple and in [0, 1], ascending.
func (p exactPolynomial) roots() []*big.Float {
	var list []*big.Float
	const pieces = 997 // no root is at the end of a piece
	at := func(k int) *big.Float { return real512(0).Quo(real512(float64(2*k-3)), real512(2*(pieces-3)+0.5)) }
	for k := range pieces {
		a, b := at(k), at(k+1)
		sign := p.at(a).Sign()
		if sign == p.at(b).Sign() {
			continue
		}
		for range collocationBits {
			mid := real512(0).Mul(real512(0.5), real512(0).Add(a, b))
			if p.at(mid).Sign() == sign {
				a = mid
			} else {
				b = mid
			}
		}
		list = append(list, b)
	}
	return list
}

// lagrange returns the polynomials that are one at one of the nodes and zero at the others.
func lagrange(nodes []*big.Float) []exactPolynomial {
	list := make([]exactPolynomial, len(nodes))
	for i, c := range nodes {
		p := exactPolynomial{real512(1)}
		for j, d := range nodes {
			if j != i {
				over := real512(0).Sub(c, d)
				p = p.times(exactPolynomial{real512(0).Quo(real512(0).Neg(d), over), real512(0).Quo(real512(1), over)})
			}
		}
		list[i] = p
	}
	return list
}

// differences returns the weights of the divided difference over the nodes, so that the first is φ.
func differences(nodes []*big.Float, phi float64) []*big.Float {
	list := make([]*big.Float, len(nodes))
	for i, c := range nodes {
		v := real512(1)
		for j, d := range nodes {
			if j != i {
				v.Quo(v, real512(0).Sub(c, d))
			}
		}
		list[i] = v
	}
	first := list[0]
	for i := len(list) - 1; i >= 0; i-- {
		list[i] = real512(0).Mul(real512(phi), real512(0).Quo(list[i], first))
	}
	return list
}

// figuresOf writes a row of numbers.
func figuresOf(row []*big.Float) string {
	var b strings.Builder
	for i, v := range row {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(tableau.Decimal(v))
	}
	return b.String()
}

// collocation fills in the figures of a method whose stages are at the nodes. Row 0 only serves the estimate, a divided
// difference of the slopes of all rows, with the filter φ.
func (t *implicitTable) collocation(nodes []*big.Float, phi float64) {
	own := lagrange(nodes)
	zero, one := real512(0), real512(1)
	a, dense := []string{}, []string{"0"}
	for _, c := range append(nodes, one) {
		row := []*big.Float{zero}
		for _, p := range own {
			row = append(row, p.integral().at(c))
		}
		a = append(a, figuresOf(row))
	}
	for _, p := range own {
		dense = append(dense, figuresOf(p.integral()[1:]))
	}
	t.A, t.B, t.DenseB = strings.Join(a[:len(nodes)], "\n"), a[len(nodes)], strings.Join(dense, "\n")
	t.E = figuresOf(differences(append([]*big.Float{zero}, nodes...), phi))
	t.Filter = strconv.FormatFloat(phi, 'g', -1, 64)
}

// gaussTable fills in the figures of the Gauss method of s stages. There are rows for the slope at the end and for that
// at a quarter of the step: the polynomial through the slopes of the stages and of both ends, which is that of the
// dense output, has another one there. For linear equations it is the one of the stages, so a divided difference
// would show nothing.
func gaussTable(t implicitTable, s int) *implicitTable {
	nodes := legendre(s).roots()
	t.collocation(nodes, 1/float64(2*s))
	all := append(append([]*big.Float{real512(0)}, nodes...), real512(1))
	quarter := real512(0.25)
	var inside, slope []*big.Float
	var dense []string
	for _, p := range lagrange(all) {
		inside = append(inside, p.integral().at(quarter))
		slope = append(slope, p.at(quarter))
		dense = append(dense, figuresOf(p.integral()[1:]))
	}
	t.A += "\n" + t.B + "\n" + figuresOf(inside)
	t.E, t.Twice, t.DenseB = figuresOf(append(slope, real512(-1))), true, strings.Join(dense, "\n")
	return &t
}

// radauTable fills in those of the Radau IIA method of s stages. Where s is odd, φ is near the real eigenvalue of A.
func radauTable(t implicitTable, s int) *implicitTable {
	nodes := legendre(s).plus(real512(-1), legendre(s-1)).roots()
	nodes[s-1] = real512(1)
	t.collocation(nodes, 0.8/float64(s))
	return &t
}

// lobattoTable fills in those of the Lobatto IIIC method of s stages: a_i1 = b_1, and Σ_j a_ij c_j^(k-1) = c_i^k/k for
// k < s. The first stage is at the start, but is not y₀: the estimate is the difference of slopes there.
func lobattoTable(t implicitTable, s int) *implicitTable {
	nodes := legendre(s).plus(real512(-1), legendre(s-2)).roots()
	nodes[0], nodes[s-1] = real512(0), real512(1)
	zero, one := real512(0), real512(1)
	var a []string
	dense := []string{"0"}
	weights := []*big.Float{zero}
	for _, p := range lagrange(nodes) {
		weights = append(weights, p.integral().at(one))
		dense = append(dense, figuresOf(p.integral()[1:]))
	}
	inner := lagrange(nodes[1:])
	for _, c := range nodes {
		row := []*big.Float{zero, weights[1]}
		for _, p := range inner {
			v := real512(0).Mul(weights[1], p.at(zero))
			row = append(row, v.Sub(p.integral().at(c), v))
		}
		a = append(a, figuresOf(row))
	}
	t.A, t.B, t.DenseB = strings.Join(a, "\n"), figuresOf(weights), strings.Join(dense, "\n")
	t.E, t.Filter = "1/4 -1/4", "1/4"
	return &t
}
