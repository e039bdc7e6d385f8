package solvers

import (
	"math"
	"testing"
)

// The trapezoidal rule is here to hold the interfaces against an implicit method: it runs through the tests of all
// methods, with a Field that gives its Jacobian.

var trapezoidalRule = Spec{
	Name: "trapezoidal", Title: "trapezoidal rule 2(1)", Prose: "For tests.", Source: "—",
	Order: 2, Embedded: 1, Can: NeedsJacobian,
	New: func(z Size, lanes int) Method {
		w := z.N + z.Q
		v := func(n int) []float64 { return make([]float64, n) }
		return &trapezoidal{
			z: z, l: lanes, m: v(z.N * z.N), x: v(z.N),
			k0: v(w * lanes), k1: v(w * lanes), yb: v(z.N * lanes), zero: v(z.N * lanes), tb: v(lanes), td: v(lanes),
		}
	},
}

// testedMethods are the registered methods, a member of those that have members, and the trapezoidal rule.
func testedMethods() (list []*Spec) {
	for _, m := range Methods() {
		if len(m.Members) > 0 {
			list = append(list, m.Members[len(m.Members)/4])
		}
		list = append(list, m)
	}
	return append(list, &trapezoidalRule)
}

// trapezoidal is y₁ = y₀ + h/2 (f(t₀, y₀) + f(t₁, y₁)).
type trapezoidal struct {
	z      Size
	l      int
	m, x   []float64 // [N][N] the matrix I - h/2 ∂f/∂y at the end; [N]
	k0, k1 []float64 // [(N+Q)·L]
	yb     []float64 // [N·L]
	zero   []float64
	tb, td []float64 // [L]

	entries []float64 // of the Jacobian
}

func (m *trapezoidal) Prepare(f Field) error {
	if _, ok := f.(JacobianField); !ok {
		return &NoJacobianError{Method: "trapezoidal"}
	}
	return nil
}

func (m *trapezoidal) Rate(Field, *Step) float64 { return math.NaN() }
func (m *trapezoidal) Fault() error              { return nil }
func (m *trapezoidal) Work() ImplicitWork        { return ImplicitWork{} }

func (m *trapezoidal) Info() Info {
	return Info{
		Name: "trapezoidal", Order: 2, Embedded: 1, Stages: 2, DenseOrder: 2, FSAL: true, End: 1,
		Nodes: []float64{0, 1}, Evals: 1,
	}
}

// matrix makes m.m the matrix at (t, y), transposed or not.
func (m *trapezoidal) matrix(f Field, t, h float64, y []float64, transposed bool) {
	n := m.z.N
	g := f.(JacobianField)
	places := g.Jacobian()
	if len(m.entries) == 0 {
		m.entries = make([]float64, len(places.Rows))
	}
	g.EvalJacobian(t, y, m.entries)
	clear(m.m)
	for e, v := range m.entries {
		if i, j := int(places.Rows[e]), int(places.Cols[e]); i < n && j < n {
			m.m[i*n+j] += v
		}
	}
	for i := range n {
		for j := range n {
			m.m[i*n+j] *= -h / 2
		}
		m.m[i*n+i]++
		for j := range i {
			if transposed {
				m.m[i*n+j], m.m[j*n+i] = m.m[j*n+i], m.m[i*n+j]
			}
		}
	}
}

// solve overwrites lane a of x[N·L] with the solution of m.m x = x, by elimination in place; m.m is lost.
func (m *trapezoidal) solve(x []float64, l, a int) {
	n, c := m.z.N, m.m
	for k := range n {
		p := k
		for i := k; i < n; i++ {
			if math.Abs(c[i*n+k]) > math.Abs(c[p*n+k]) {
				p = i
			}
		}
		for j := range n {
			c[k*n+j], c[p*n+j] = c[p*n+j], c[k*n+j]
		}
		x[k*l+a], x[p*l+a] = x[p*l+a], x[k*l+a]
		for i := k + 1; i < n; i++ {
			q := c[i*n+k] / c[k*n+k]
			for j := k; j < n; j++ {
				c[i*n+j] -= q * c[k*n+j]
			}
			x[i*l+a] -= q * x[k*l+a]
		}
	}
	for k := n - 1; k >= 0; k-- {
		for j := k + 1; j < n; j++ {
			x[k*l+a] -= c[k*n+j] * x[j*l+a]
		}
		x[k*l+a] /= c[k*n+k]
	}
}

func (m *trapezoidal) Step(f Field, s *Step, reuse bool) {
	n, w := m.z.N, m.z.N+m.z.Q
	s.Dense, s.Estimated = false, false
	k0, k1 := s.K[:w], s.K[w:2*w]
	if !reuse {
		f.Eval(s.T, s.Y0, k0)
	}
	copy(s.Y1, s.Y0)
	converged := false
	for range 20 {
		f.Eval(s.T1, s.Y1, k1)
		for i := range n {
			m.x[i] = s.Y0[i] + s.H/2*(k0[i]+k1[i]) - s.Y1[i]
		}
		m.matrix(f, s.T1, s.H, s.Y1, false)
		m.solve(m.x, 1, 0)
		size := 0.0
		for i, d := range m.x {
			s.Y1[i] += d
			size = max(size, math.Abs(d)/(1+math.Abs(s.Y1[i])))
		}
		if converged = size < 1e-14; converged || size != size {
			break
		}
	}
	f.Eval(s.T1, s.Y1, k1)
	for i := range n {
		if s.Y1[i] = s.Y0[i] + s.H/2*(k0[i]+k1[i]); !converged {
			s.Y1[i] = math.NaN()
		}
	}
	f.Eval(s.T1, s.Y1, k1)
	for i := range s.DQ {
		s.DQ[i] = s.H / 2 * (k0[n+i] + k1[n+i])
	}
}

// Error compares with Euler's solution.
func (m *trapezoidal) Error(s *Step, e []float64) {
	for i := range e {
		e[i] = s.H / 2 * (s.K[len(e)+i] - s.K[i])
	}
}

// Interpolate is Hermite's cubic.
func (m *trapezoidal) Interpolate(_ Field, s *Step, theta float64, y []float64) {
	for i := range y {
		switch theta {
		case 0:
			y[i] = s.Y0[i]
		case 1:
			y[i] = s.Y1[i]
		default:
			d, r := s.Y1[i]-s.Y0[i], 1-theta
			k0, k1 := s.H*s.K[i], s.H*s.K[m.z.N+m.z.Q+i]
			y[i] = s.Y0[i] + theta*(d+r*((1-2*theta)*-d+r*k0-theta*k1))
		}
	}
}

// Push solves (I - h/2 J₁) ẏ₁ = ẏ₀ + ḣ/2 (k₀ + k₁) + h/2 (k̇₀ + k̇₁ with ẏ₁ = 0).
func (m *trapezoidal) Push(f TangentField, s *Step, d *StepTangent) {
	n, w, l := m.z.N, m.z.N+m.z.Q, m.l
	for a := range l {
		m.td[a] = d.T0[a] + d.H[a]
	}
	f.Push(s.T, s.Y0, d.T0, d.Y0, m.k0)
	f.Push(s.T1, s.Y1, m.td, m.zero, m.k1)
	at := func(i, a int) float64 {
		return d.H[a]/2*(s.K[i]+s.K[w+i]) + s.H/2*(m.k0[i*l+a]+m.k1[i*l+a])
	}
	for a := range l {
		for i := range n {
			d.Y1[i*l+a] = d.Y0[i*l+a] + at(i, a)
		}
		m.matrix(f, s.T1, s.H, s.Y1, false)
		m.solve(d.Y1, l, a)
	}
	f.Push(s.T1, s.Y1, m.td, d.Y1, m.k1)
	for a := range l {
		for i := range m.z.Q {
			d.DQ[i*l+a] = at(n+i, a)
		}
		d.T1[a] = m.td[a]
	}
}

// Pull solves (I - h/2 J₁)ᵀ λ = ȳ₁ + h/2 (∂r/∂y)ᵀ q̄ and pulls h/2 (λ, q̄) through both ends.
func (m *trapezoidal) Pull(f CotangentField, s *Step, c *StepCotangent) {
	n, w, l := m.z.N, m.z.N+m.z.Q, m.l
	copy(c.T0, c.T1)
	copy(c.H, c.T1)
	time := func(end bool) {
		for a, tau := range m.tb {
			c.T0[a] += tau
			if end {
				c.H[a] += tau
			}
		}
	}
	clear(m.k1)
	for i, q := range c.DQ {
		m.k1[n*l+i] = s.H / 2 * q
	}
	f.Pull(s.T1, s.Y1, m.k1, m.yb, m.tb)
	time(true)
	for a := range l {
		for i := range n {
			c.Y0[i*l+a] = c.Y1[i*l+a] + m.yb[i*l+a]
		}
		m.matrix(f, s.T1, s.H, s.Y1, true)
		m.solve(c.Y0, l, a)
	}
	clear(m.k1)
	for i, v := range c.Y0 {
		m.k1[i] = s.H / 2 * v
	}
	f.Pull(s.T1, s.Y1, m.k1, m.yb, m.tb)
	time(true)
	for i, q := range c.DQ {
		m.k1[n*l+i] = s.H / 2 * q
	}
	f.Pull(s.T, s.Y0, m.k1, m.yb, m.tb)
	time(false)
	for a := range l {
		for i := range w {
			v := 0.0
			if i < n {
				v = c.Y0[i*l+a]
			} else {
				v = c.DQ[(i-n)*l+a]
			}
			c.H[a] += v / 2 * (s.K[i] + s.K[w+i])
		}
	}
	for i, v := range m.yb {
		c.Y0[i] += v
	}
}

// explosion is y' = y².
type explosion struct{}

func (explosion) Size() Size                             { return Size{N: 1} }
func (explosion) Eval(_ float64, y, k []float64)         { k[0] = y[0] * y[0] }
func (explosion) Jacobian() *Jacobian                    { return &Jacobian{Rows: []int32{0}, Cols: []int32{0}} }
func (explosion) EvalJacobian(_ float64, y, j []float64) { j[0] = 2 * y[0] }

// TestUnsolvableStep requires that a step whose equation has no solution is rejected: y₁ = 1 + 1 + y₁² has none.
func TestUnsolvableStep(t *testing.T) {
	m := trapezoidalRule.New(Size{N: 1}, 0)
	s := NewStep(m.Info(), Size{N: 1})
	s.Y0[0], s.H, s.T1 = 1, 2, 2
	m.Step(explosion{}, s, false)
	e := make([]float64, 1)
	m.Error(s, e)
	c, _ := NewController("", m.Info())
	tol := &Tolerance{Rel: 1e3, Abs: []float64{1e9}}
	if ok, h := c.Judge(s.H, tol.Norm(s, e)); ok || !(h < s.H) {
		t.Errorf("y1 = %v: accepted %v, next step %v", s.Y1[0], ok, h)
	}
}
