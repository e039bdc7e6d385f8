package methods

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/implicit"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/tableau"
)

// testedMethods are the registered methods, and a member of those that have members.
func testedMethods() (list []*solvers.Spec) {
	for _, m := range All() {
		if m.Can.Has(solvers.SplitRates) { // these have tests of their own
			continue
		}
		if len(m.Members) > 0 {
			list = append(list, m.Members[len(m.Members)/4])
		}
		list = append(list, m)
	}
	return list
}

// explosion is y' = y².
type explosion struct{}

func (explosion) Size() solvers.Size             { return solvers.Size{N: 1} }
func (explosion) Eval(_ float64, y, k []float64) { k[0] = y[0] * y[0] }
func (explosion) Jacobian() *matrices.Jacobian {
	return &matrices.Jacobian{Rows: []int32{0}, Cols: []int32{0}}
}
func (explosion) EvalJacobian(_ float64, y, j []float64) { j[0] = 2 * y[0] }

// TestUnsolvableStep requires that a step whose equation has no solution is rejected: y₁ = 1 + 1 + y₁² has none.
func TestUnsolvableStep(t *testing.T) {
	for _, of := range implicit.Family.Methods {
		m := solvers.Members(of.New(solvers.Size{N: 1}, 0))[0]
		s := solvers.NewStep(m.Info(), solvers.Size{N: 1})
		s.Y0[0], s.H, s.T1 = 1, 2, 2
		m.Step(explosion{}, s, false)
		e := make([]float64, 1)
		m.Error(s, e)
		c, _ := hybrid.NewController("", m.Info())
		tol := &solvers.Tolerance{Rel: 1e3, Abs: []float64{1e9}}
		if ok, h := c.Judge(s.H, tol.Norm(s, e)); ok || !(h < s.H) {
			t.Errorf("%s: y1 = %v: accepted %v, next step %v", of.Name, s.Y1[0], ok, h)
		}
		var fault *solvers.MatrixError
		err := m.(solvers.Implicit).Fault()
		if !errors.As(err, &fault) || len(fault.Cols) != 1 ||
			fault.Kind != solvers.MatrixDiverged && fault.Kind != solvers.MatrixSingular {
			t.Errorf("%s: %v", of.Name, err)
		}
	}
}

// implicitOf returns the figures of an implicit Runge–Kutta method, nil where it is none.
func implicitOf(t *testing.T, m *solvers.Spec) *implicit.Figures {
	t.Helper()
	r, ok := m.New(solvers.Size{}, 0).(interface {
		ExactFigures() (*implicit.Figures, error)
	})
	if !ok {
		return nil
	}
	x, err := r.ExactFigures()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// shortened rounds figures to 200 bits after the point, which keeps exact arithmetic short, unless all are fractions of
// small numbers.
func shortened(x *implicit.Figures) *implicit.Figures {
	scale := new(big.Int).Lsh(big.NewInt(1), 200)
	for _, rows := range [][][]*big.Rat{x.A, x.Beta, {x.B, x.E}} {
		for _, row := range rows {
			for _, v := range row {
				if v.Denom().BitLen() > 40 {
					n := new(big.Int).Mul(v.Num(), scale)
					v.SetFrac(n.Quo(n, v.Denom()), scale)
				}
			}
		}
	}
	return x
}

// implicitDefects are the largest defects that the last figures of tables leave in order conditions of the step and of
// the dense output; those of the others are below 1e-40.
var implicitDefects = map[string]float64{"kvaerno5": 1e-16, "esdirk32": 1e-25, "esdirk54": 1e-25}

func eachImplicit(t *testing.T, test func(t *testing.T, m *solvers.Spec, x *implicit.Figures, tol float64)) {
	for _, m := range append(slices.Clone(implicit.Family.Methods), methodOfTheta(t, 0.6), methodOfTheta(t, 1)) {
		if m.Members != nil { // which are in the list themselves
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			test(t, m, shortened(implicitOf(t, m)), max(implicitDefects[m.Name], 1e-40))
		})
	}
}

// TestImplicitOrders proves the orders of solutions, estimates and dense outputs by the conditions of trees. That of
// the dense output is proved at more points than its degree.
func TestImplicitOrders(t *testing.T) {
	eachImplicit(t, func(t *testing.T, m *solvers.Spec, x *implicit.Figures, tol float64) {
		if m.Order > 9 { // there would be too many trees
			simplified(t, m, x)
			return
		}
		c := newConditions(x.A, trees(max(m.Order, m.Embedded)+1))
		if got := orderOf(c.worst(x.B, one), tol); got != m.Order {
			t.Errorf("order %d, claimed %d; defects %.3g", got, m.Order, c.worst(x.B, one))
		}
		hat := make([]*big.Rat, len(x.B))
		for i := range hat {
			hat[i] = new(big.Rat).Sub(x.B[i], x.E[i])
		}
		if got := orderOf(c.worst(hat, one), tol); got != m.Embedded {
			t.Errorf("embedded order %d, claimed %d; defects %.3g", got, m.Embedded, c.worst(hat, one))
		}
		lowest, claimed := 99, m.Info().DenseOrder
		d := &tableau.Coefficients{DenseB: x.Beta}
		for k := range 9 {
			theta := big.NewRat(int64(k), 8)
			b := at(d, theta)
			lowest = min(lowest, orderOf(newConditions(x.A, trees(claimed+1)).worst(b, theta), 10*tol))
			if k == 8 {
				for i, v := range b {
					if off, _ := new(big.Rat).Sub(v, x.B[i]).Float64(); math.Abs(off) > tol {
						t.Errorf("the dense output does not end at y1: weight %d is off by %g", i, off)
					}
				}
			}
		}
		if lowest != claimed {
			t.Errorf("dense output of order %d, claimed %d", lowest, claimed)
		}
	})
}

// simplified proves the order of a method of s stages and order 2s - 1, and that of its dense output, by Butcher's
// simplifying assumptions: with B(p), C(η) and D(ζ), where p is at most η + ζ + 1 and 2η + 2, the order is p
// (Hairer, Nørsett, Wanner I, theorem II.7.4). The slopes of row 0 have no part in the step.
func simplified(t *testing.T, m *solvers.Spec, x *implicit.Figures) {
	stages := len(x.A) - 1
	eta, zeta := stages, stages-1
	if m.Order > eta+zeta+1 || m.Order > 2*eta+2 {
		t.Fatalf("the assumptions do not tell of order %d", m.Order)
	}
	float := func(v *big.Rat) *big.Float { return new(big.Float).SetPrec(400).SetRat(v) }
	power := func(v *big.Rat, k int) *big.Float {
		p := float(big.NewRat(1, 1))
		for range k {
			p.Mul(p, float(v))
		}
		return p
	}
	zero := func(what string, v *big.Float) {
		if off, _ := v.Float64(); !(math.Abs(off) < 1e-38) {
			t.Errorf("%s: off by %g", what, off)
		}
	}
	over := func(v *big.Float, k int) *big.Float { return v.Quo(v, float(big.NewRat(int64(k), 1))) }
	for k := 1; k <= m.Order+1; k++ {
		sum := over(power(big.NewRat(1, 1), 1), k)
		sum.Neg(sum)
		for i := range x.B {
			sum.Add(sum, new(big.Float).Mul(float(x.B[i]), power(x.C[i], k-1)))
		}
		if k <= m.Order {
			zero("B", sum)
		} else if off, _ := sum.Float64(); math.Abs(off) < 1e-30 {
			t.Errorf("the order is above %d", m.Order)
		}
	}
	for i := 1; i <= stages; i++ {
		for k := 1; k <= eta; k++ {
			sum := over(power(x.C[i], k), k)
			sum.Neg(sum)
			for j, a := range x.A[i] {
				sum.Add(sum, new(big.Float).Mul(float(a), power(x.C[j], k-1)))
			}
			zero("C", sum)
		}
		for k := 1; k <= zeta; k++ { // Σ b_j c_j^(k-1) a_ji = b_i (1 - c_i^k)/k
			right := new(big.Float).Sub(power(big.NewRat(1, 1), 1), power(x.C[i], k))
			sum := over(new(big.Float).Mul(right, float(x.B[i])), k)
			sum.Neg(sum)
			for j := range x.B {
				term := new(big.Float).Mul(float(x.B[j]), power(x.C[j], k-1))
				sum.Add(sum, term.Mul(term, float(x.A[j][i])))
			}
			zero("D", sum)
		}
	}
	// The dense output integrates the polynomial through the slopes: exact for θ^k, k ≤ s.
	for _, theta := range []*big.Rat{big.NewRat(1, 8), big.NewRat(1, 2), big.NewRat(7, 8)} {
		beta := at(&tableau.Coefficients{DenseB: x.Beta}, theta)
		for k := 1; k <= m.Info().DenseOrder; k++ {
			sum := over(power(theta, k), k)
			sum.Neg(sum)
			for i, b := range beta {
				sum.Add(sum, new(big.Float).Mul(float(b), power(x.C[i], k-1)))
			}
			zero("dense output", sum)
		}
	}
	// The estimate is a divided difference of the slopes: it vanishes for polynomials below degree s.
	for k := range stages {
		sum := new(big.Float).SetPrec(400)
		for i, e := range x.E {
			sum.Add(sum, new(big.Float).Mul(float(e), power(x.C[i], k)))
		}
		zero("estimate", sum)
	}
}

// methodOfTheta returns the method with that θ.
func methodOfTheta(t *testing.T, theta float64) *solvers.Spec {
	m, err := Choose("theta", map[string]float64{"theta": theta})
	if err != nil {
		t.Fatal(err)
	}
	return m
}
