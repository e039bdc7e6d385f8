package methods

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/implicit"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/rosenbrock"
)

// number256 is arithmetic with 256 bits, far more than the figures of any table have.
func number256(x float64) *big.Float { return new(big.Float).SetPrec(256).SetFloat64(x) }

// rowMethod is a Rosenbrock method in the form of its theory:
//
//	k_i = h f(y₀ + Σ α_ij k_j) + h J Σ γ_ij k_j,   y₁ = y₀ + Σ b_i k_i,
//
// which follows from that of its table with Γ⁻¹ = I/γ - C, u = Γ k: α = A Γ, b = m Γ.
type rowMethod struct {
	s            int
	alpha, gamma [][]*big.Float
	b, e         []*big.Float
	claimed      *rosenbrock.Figures
	dense        func(theta float64) []*big.Float
}

func rowForm(x *rosenbrock.Figures) *rowMethod {
	s := len(x.M)
	float := func(v *big.Rat) *big.Float { return number256(0).SetRat(v) }
	m := &rowMethod{s: s, claimed: x}
	// Γ is found row by row: Γ⁻¹ is lower triangular with 1/γ on its diagonal.
	g := float(x.Gamma)
	m.gamma = make([][]*big.Float, s)
	for i := range s {
		m.gamma[i] = make([]*big.Float, s)
		for j := range s {
			v := number256(0)
			if i == j {
				v.SetInt64(1)
			}
			for k := j; k < i; k++ {
				v.Add(v, number256(0).Mul(float(x.C[i][k]), m.gamma[k][j]))
			}
			m.gamma[i][j] = v.Mul(v, g)
		}
	}
	times := func(row []*big.Float) []*big.Float {
		out := make([]*big.Float, s)
		for j := range out {
			out[j] = number256(0)
			for k := j; k < s; k++ {
				out[j].Add(out[j], number256(0).Mul(row[k], m.gamma[k][j]))
			}
		}
		return out
	}
	floats := func(row []*big.Rat) []*big.Float {
		out := make([]*big.Float, s)
		for j, v := range row {
			out[j] = float(v)
		}
		return out
	}
	for i := range s {
		m.alpha = append(m.alpha, times(floats(x.A[i])))
	}
	m.b, m.e = times(floats(x.M)), times(floats(x.E))
	m.dense = func(theta float64) []*big.Float {
		row := make([]*big.Float, s)
		for i, p := range x.Beta {
			row[i] = number256(0)
			for k := len(p) - 1; k >= 0; k-- {
				row[i].Add(row[i], float(p[k]))
				row[i].Mul(row[i], number256(theta))
			}
		}
		return times(row)
	}
	return m
}

// worst returns the largest defect of the conditions of each order up to most, of weights b at θ. The conditions are
// those of Runge–Kutta methods, but that a vertex with a single branch has the coefficients α + γ (Hairer, Wanner,
// Solving Ordinary Differential Equations II, theorem IV.7.4).
func (m *rowMethod) worst(b []*big.Float, theta float64, most int) []float64 {
	all := trees(most)
	along := make([][][]*big.Float, len(all)) // α and α + γ times the stages' weights of a tree
	out := make([]float64, most+1)
	for k, tr := range all {
		u := make([]*big.Float, m.s)
		for i := range u {
			u[i] = number256(1)
			for _, child := range tr.children {
				v := along[child][0][i]
				if len(tr.children) == 1 {
					v = along[child][1][i]
				}
				u[i].Mul(u[i], v)
			}
		}
		var both [2][]*big.Float
		for kind := range both {
			both[kind] = make([]*big.Float, m.s)
			for i := range m.s {
				sum := number256(0)
				for j := range m.s {
					c := number256(0).Set(m.alpha[i][j])
					if kind == 1 {
						c.Add(c, m.gamma[i][j])
					}
					sum.Add(sum, c.Mul(c, u[j]))
				}
				both[kind][i] = sum
			}
		}
		along[k] = both[:]
		sum := number256(0)
		for i, v := range b {
			sum.Add(sum, number256(0).Mul(v, u[i]))
		}
		want := number256(1)
		for range tr.order {
			want.Mul(want, number256(theta))
		}
		want.Quo(want, number256(0).SetInt(tr.density))
		d, _ := sum.Sub(sum, want).Float64()
		out[tr.order] = max(out[tr.order], math.Abs(d))
	}
	return out
}

// rosenbrockDefects are the largest defects that the last figures of tables leave, of order conditions and of sums of
// rows; those of the others are below 1e-40.
var rosenbrockDefects = map[string]float64{"rodas4": 1e-14, "rodas4p": 1e-14, "rodas5p": 1e-14}

func eachRosenbrock(t *testing.T, test func(t *testing.T, m *solvers.Spec, row *rowMethod, tol float64)) {
	for _, m := range rosenbrock.Family.Methods {
		t.Run(m.Name, func(t *testing.T) {
			test(t, m, rowForm(rosenbrockOf(t, m)), max(rosenbrockDefects[m.Name], 1e-40))
		})
	}
}

// TestRosenbrockOrders proves the orders of solution, estimate and dense output by the conditions of trees.
func TestRosenbrockOrders(t *testing.T) {
	eachRosenbrock(t, func(t *testing.T, m *solvers.Spec, row *rowMethod, tol float64) {
		w := row.worst(row.b, 1, m.Order+1)
		if got := orderOf(w, tol); got != m.Order {
			t.Errorf("order %d, claimed %d; defects %.3g", got, m.Order, w)
		}
		hat := make([]*big.Float, row.s)
		for i := range hat {
			hat[i] = number256(0).Sub(row.b[i], row.e[i])
		}
		w = row.worst(hat, 1, m.Embedded+1)
		if got := orderOf(w, tol); got != m.Embedded {
			t.Errorf("embedded order %d, claimed %d; defects %.3g", got, m.Embedded, w)
		}
		order, claimed := 99, m.Info().DenseOrder
		for k := range 9 { // more points than the degree, so that the conditions hold as polynomials
			theta := float64(k) / 8
			b := row.dense(theta)
			order = min(order, orderOf(row.worst(b, theta, claimed+1), 10*tol))
			if k == 8 {
				for i := range b {
					if d, _ := number256(0).Sub(b[i], row.b[i]).Float64(); math.Abs(d) > tol {
						t.Errorf("the dense output does not end at y1: weight %d is off by %g", i+1, d)
					}
				}
			}
		}
		if order != claimed || claimed < m.Order-1 {
			t.Errorf("dense output of order %d, claimed %d", order, claimed)
		}
	})
}

// TestRosenbrockNodes requires α_i and γ_i to be the sums of their rows: then the orders hold for systems that depend
// on time, too.
func TestRosenbrockNodes(t *testing.T) {
	eachRosenbrock(t, func(t *testing.T, _ *solvers.Spec, row *rowMethod, tol float64) {
		for i := range row.s {
			alpha, gamma := number256(0), number256(0)
			for j := range row.s {
				alpha.Add(alpha, row.alpha[i][j])
				gamma.Add(gamma, row.gamma[i][j])
			}
			a, _ := alpha.Sub(alpha, number256(0).SetRat(row.claimed.Alpha[i])).Float64()
			g, _ := gamma.Sub(gamma, number256(0).SetRat(row.claimed.Gammas[i])).Float64()
			if max(math.Abs(a), math.Abs(g)) > tol {
				t.Errorf("stage %d: α is off by %g, γ by %g", i+1, a, g)
			}
		}
	})
}

// TestRosenbrockMutation changes every figure that is not zero by a little and requires that the conditions notice.
func TestRosenbrockMutation(t *testing.T) {
	for _, m := range rosenbrock.Family.Methods {
		t.Run(m.Name, func(t *testing.T) {
			x := rosenbrockOf(t, m)
			stiffly := stifflyAccurate(x)
			tol := max(rosenbrockDefects[m.Name], 1e-40)
			check := func(what string, v *big.Rat) {
				if v.Sign() == 0 {
					return
				}
				before := new(big.Rat).Set(v)
				v.Add(v, big.NewRat(1, 1000003))
				row := rowForm(x)
				hat := make([]*big.Float, row.s)
				for i := range hat {
					hat[i] = number256(0).Sub(row.b[i], row.e[i])
				}
				if orderOf(row.worst(row.b, 1, m.Order), tol) == m.Order &&
					orderOf(row.worst(hat, 1, m.Embedded), tol) == m.Embedded && stifflyAccurate(x) == stiffly {
					t.Errorf("a change of %s passes", what)
				}
				v.Set(before)
			}
			check("γ", x.Gamma)
			for i := range x.M {
				check("m", x.M[i])
				for j := range i {
					check("a", x.A[i][j])
					check("c", x.C[i][j])
				}
			}
		})
	}
}

// stifflyAccurate reports whether the last stage is at the solution to compare with, so that y₁ is that stage and its
// solution of the linear equations.
func stifflyAccurate(x *rosenbrock.Figures) bool {
	s := len(x.M)
	same := x.M[s-1].Cmp(one) == 0 && x.E[s-1].Cmp(one) == 0
	for j, v := range x.A[s-1] {
		same = same && (j == s-1 || v.Cmp(x.M[j]) == 0 && x.E[j].Sign() == 0)
	}
	return same
}

// TestStiffStability requires the stability functions not to grow on the imaginary axis, and those of methods not
// listed to vanish at infinity: A-stability and L-stability.
func TestStiffStability(t *testing.T) {
	remains := map[string]float64{
		"ros3p": 0.73, "implicit_midpoint": 1, "trapezoidal": 1, "theta": 1, "gauss4": 1, "gauss6": 1,
	}
	for _, m := range append(slices.Clone(rosenbrock.Family.Methods), implicit.Family.Methods...) {
		t.Run(m.Name, func(t *testing.T) {
			amplify := func(z complex128) float64 {
				r := m.New(solvers.Size{N: 1}, 0).(solvers.ComplexMethod)
				s := solvers.NewComplexStep(r.Info(), solvers.Size{N: 1})
				s.H, s.T1, s.Y0[0] = 1, 1, 1
				r.StepComplex(linear{z}, s)
				return math.Hypot(real(s.Y1[0]), imag(s.Y1[0]))
			}
			for k := range 200 {
				y := math.Pow(10, float64(k)/20-5)
				if got := amplify(complex(0, y)); !(got <= 1+1e-12) {
					t.Errorf("|R(%gi)| = %v", y, got)
				}
			}
			if far, want := amplify(-1e12), remains[m.Name]; !(math.Abs(far-want) <= 1e-9+0.01*want) {
				t.Errorf("R(∞) = %v", far)
			}
		})
	}
}

// linear is y' = λ y.
type linear struct{ lambda complex128 }

func (f linear) Size() solvers.Size                   { return solvers.Size{N: 1} }
func (f linear) Eval(_ complex128, y, k []complex128) { k[0] = f.lambda * y[0] }
func (f linear) Jacobian() *matrices.Jacobian {
	return &matrices.Jacobian{Rows: []int32{0}, Cols: []int32{0}}
}
func (f linear) EvalJacobian(_ complex128, _, j []complex128) { j[0] = f.lambda }

// prothero is the problem of Prothero and Robinson, y' = λ (y - φ(t)) + φ'(t) with φ = sin(t + π/4), whose
// solution from φ(0) on is φ.
type prothero struct{ lambda float64 }

func (f prothero) Size() solvers.Size    { return solvers.Size{N: 1} }
func (f prothero) phi(t float64) float64 { return math.Sin(t + math.Pi/4) }
func (f prothero) Eval(t float64, y, k []float64) {
	k[0] = f.lambda*(y[0]-f.phi(t)) + math.Cos(t+math.Pi/4)
}
func (f prothero) Jacobian() *matrices.Jacobian { return protheroPlaces }
func (f prothero) EvalJacobian(t float64, _, j []float64) {
	j[0], j[1] = f.lambda, -f.lambda*math.Cos(t+math.Pi/4)-f.phi(t)
}

var protheroPlaces = &matrices.Jacobian{Rows: []int32{0, 0}, Cols: []int32{0, 1}}

// stiffOrders are the orders that methods keep where |λ|h is 10⁴ and more. Those of implicit Runge–Kutta methods
// are the orders of their stages; errors of stiffly accurate ones are smaller by hλ.
var stiffOrders = map[string]float64{
	"rosenbrock23": 2, "ros3p": 2, "rodas3": 1, "rodas4": 1, "rodas4p": 3, "rodas5p": 3,
	"backward_euler": 1, "implicit_midpoint": 2, "trapezoidal": 2, "theta": 2, "sdirk2": 1, "sdirk4": 1, "trbdf2": 2,
	"kvaerno3": 2, "esdirk32": 2, "esdirk4": 2, "kvaerno5": 2, "esdirk54": 2, "gauss4": 2, "gauss6": 4, "radau3": 2,
	"radau5": 3, "radau9": 5, "radau13": 7, "radau": 3, "lobatto_iiic4": 2,
}

// TestStiffOrder observes the order of methods for a stiff problem, unless their errors are rounding.
func TestStiffOrder(t *testing.T) {
	for _, m := range append(slices.Clone(rosenbrock.Family.Methods), implicit.Family.Methods...) {
		t.Run(m.Name, func(t *testing.T) {
			f := prothero{-1e6}
			r := m.New(f.Size(), 0)
			after := func(n int) float64 {
				s := solvers.NewStep(r.Info(), f.Size())
				s.Y1[0] = f.phi(0)
				for i := range n {
					s.T, s.T1, s.H = float64(i)/float64(n), float64(i+1)/float64(n), 1/float64(n)
					copy(s.Y0, s.Y1)
					r.Step(f, s, false)
				}
				return math.Abs(s.Y1[0] - f.phi(1))
			}
			a, b := after(16), after(64)
			got := math.Log(a/b) / math.Log(4)
			t.Logf("errors %.3g and %.3g, order %.2f", a, b, got)
			if want := stiffOrders[m.Name]; want == 0 || a > 1e-15 && !(got > want-0.3) || a > 1e-3 {
				t.Errorf("errors %.3g and %.3g: order %v, want %v", a, b, got, want)
			}
		})
	}
}

// chain is y' = J y, with a J of many species most of which react with neighbours on a ring.
type chain struct {
	places matrices.Jacobian
	n      int
	values []float64
}

func newChain(n int) *chain {
	f, r := &chain{n: n}, elem.NewRand(5)
	add := func(i, j int, v float64) {
		f.places.Rows, f.places.Cols = append(f.places.Rows, int32(i)), append(f.places.Cols, int32(j))
		f.values = append(f.values, v)
	}
	for j := range n {
		out := 0.0
		for range 5 {
			i := (j + 1 + int(16*r.Float64())) % n
			if r.Float64() < 0.02 {
				i = int(float64(n) * r.Float64())
			}
			rate := elem.Exp(float64(9*r.Float64()) - 6)
			out += rate
			add(i, j, rate)
		}
		add(j, j, -out)
	}
	return f
}

func (f *chain) Size() solvers.Size { return solvers.Size{N: f.n} }
func (f *chain) Lanes() int         { return 1 }
func (f *chain) Eval(_ float64, y, k []float64) {
	clear(k)
	for e, v := range f.values {
		k[f.places.Rows[e]] = math.FMA(v, y[f.places.Cols[e]], k[f.places.Rows[e]])
	}
}

func (f *chain) Pull(_ float64, _, kb, yb, tb []float64) {
	clear(yb)
	clear(tb)
	for e, v := range f.values {
		yb[f.places.Cols[e]] = math.FMA(v, kb[f.places.Rows[e]], yb[f.places.Cols[e]])
	}
}

func (f *chain) Jacobian() *matrices.Jacobian           { return &f.places }
func (f *chain) EvalJacobian(_ float64, _, j []float64) { copy(j, f.values) }
func (f *chain) PullJacobian(_ float64, _, _, yb, tb []float64) {
	clear(yb)
	clear(tb)
}

// TestKeptTrial holds that of a large step that refinement solves, no factors are kept, but that incomplete ones serve:
// transposes have the same bits with that as without.
func TestKeptTrial(t *testing.T) {
	f := newChain(4000)
	spec, _ := Lookup("rodas4")
	m := spec.New(f.Size(), 1)
	s := solvers.NewStep(m.Info(), f.Size())
	for _, step := range []struct {
		h      float64
		served bool
	}{{1, true}, {100, false}} {
		for i := range s.Y0 {
			s.Y0[i] = 1 + float64(i%7)
		}
		s.T, s.H, s.T1 = 0, step.h, step.h
		m.Step(f, s, false)
		k := m.(solvers.Keeper)
		kept := make([]float64, k.Factors())
		if len(kept) != 1 || k.KeepFactors(s, kept) != step.served {
			t.Fatalf("step %g: %d numbers are kept; not served: %t", step.h, len(kept), step.served)
		}
		pull := func() []float64 {
			c := solvers.StepCotangent{
				T1: []float64{0}, Y1: s.Y0, T0: []float64{0}, H: []float64{0}, Y0: make([]float64, f.n),
			}
			m.Pull(f, s, &c)
			return c.Y0
		}
		s.Kept = nil
		want := pull()
		if step.served {
			s.Kept = kept
		}
		if got := pull(); !slices.Equal(got, want) || !simd.Finite(got) {
			t.Errorf("step %g: other bits", step.h)
		}
	}
}
