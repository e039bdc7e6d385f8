package main

import (
	_ "embed"
	"fmt"
	"math"
	"strings"

	"odes.dev/odes"
)

// problem is a model with the values it runs with.
type problem struct {
	text string
	set  []odes.Assignment
}

func (p problem) parse(name string) (*odes.Model, error) {
	return odes.Parse(name+".ode", p.text, odes.ParseOptions{})
}

// lcg is the generator that the problems draw their coefficients with: 64-bit linear congruential, Knuth's constants.
type lcg uint64

// next returns a number in [0, 1).
func (s *lcg) next() float64 {
	*s = *s*6364136223846793005 + 1442695040888963407
	return math.Ldexp(float64(*s>>11), -53)
}

// glv is the generalised Lotka–Volterra model of n species: A_ii = -1 and
// A_ij = 0.05 g/√n with g in [-1, 1) from the generator, row by row; the draws
// of the diagonal are made and discarded.
func glv(n int, solver string) problem {
	s := lcg(1)
	a := make([]float64, n*n)
	for i := range a {
		g := s.next()*2 - 1
		a[i] = 0.05 * g / math.Sqrt(float64(n))
		if i/n == i%n {
			a[i] = -1
		}
	}
	return problem{fmt.Sprintf(`model GLV
const n = %d
time t from 0 to 10
param r[n] = 0.1, A[n,n] = 0
state x[n] = 0.1
x' = x * (r + A @ x)
objective x_T[i] = final(x[i]) for i in 1:n
sens   { of = x_T  wrt = [r, A, initial(x)]  mode = adjoint }
solver { %s }
`, n, solver), []odes.Assignment{{Name: "A", Values: a}}}
}

// drawnGLV is the model with other draws: of A by seed, and of r, which are between 0.05 and 0.15.
func drawnGLV(n int, seed uint64, solver string) problem {
	p := glv(n, solver)
	s := lcg(seed)
	for range 8 { // nearby seeds part
		s.next()
	}
	a, r := p.set[0].Values, make([]float64, n)
	for i := range a {
		if g := 2*s.next() - 1; i/n != i%n {
			a[i] = 0.05 * g / math.Sqrt(float64(n))
		}
	}
	for i := range r {
		r[i] = 0.05 + 0.1*s.next()
	}
	p.set = append(p.set, odes.Assignment{Name: "r", Values: r})
	return p
}

// lotkaVolterra is the classical model of two species over about two cycles.
const lotkaVolterra = `model LotkaVolterra
time t from 0 to 20
param a = 1.1, b = 0.4, c = 0.4, d = 0.1
state x = 10, y = 5
x' = a*x - b*x*y
y' = -c*y + d*x*y
objective x_T = final(x)
objective y_T = final(y)
sens   { of = [x_T, y_T]  wrt = [a, b, c, d, initial(x), initial(y)]  mode = adjoint }
solver { method = auto }
`

// plain is how the programs compared with choose their steps.
func plain(tol float64) string {
	return fmt.Sprintf("method = dopri5  rtol = %g  atol = %g  h0 = 1e-3  controller = i", tol, tol)
}

// vdp is Van der Pol's oscillator on its slow manifold.
func vdp(tol float64) problem {
	return problem{text: fmt.Sprintf(`model VanDerPol
time t from 0 to 0.5
param mu = 1e3
state x = 2, v = -2/3 + 10/(81*mu) - 292/(2187*mu^2)
x' = v
v' = mu*((1 - x^2)*v - x)
objective x_T = final(x)
objective v_T = final(v)
sens   { of = [x_T, v_T]  wrt = mu  mode = adjoint }
solver { %s }
`, plain(tol))}
}

//go:embed grayscott.ode
var grayScottText string

// grayScott is the model in grayscott.ode on an n × n grid: v = ¼ sin²(4πx) sin²(4πy) in
// [1, 3/2]² at the start and u = 1 - 2v.
func grayScott(n int) problem {
	u, v := make([]float64, n*n), make([]float64, n*n)
	for j := range n {
		for i := range n {
			x, y := 2*float64(i)/float64(n), 2*float64(j)/float64(n)
			if x >= 1 && x <= 1.5 && y >= 1 && y <= 1.5 {
				sx, sy := math.Sin(4*math.Pi*x), math.Sin(4*math.Pi*y)
				v[j*n+i] = 0.25 * sx * sx * sy * sy
			}
			u[j*n+i] = 1 - 2*v[j*n+i]
		}
	}
	text := strings.Replace(grayScottText, "const n  = 100", fmt.Sprintf("const n  = %d", n), 1)
	return problem{text, []odes.Assignment{{Name: "u0", Values: u}, {Name: "v0", Values: v}}}
}

// named finds a problem by name; its options say what to run.
func named(name string, n int, tol float64) (problem, odes.Options, error) {
	var p problem
	switch name {
	case "glv":
		p = glv(n, plain(tol))
	case "glv-own": // as who sets nothing
		p = glv(n, "method = auto")
	case "lv":
		p.text = lotkaVolterra
	case "glv-fixed": // tol is the step
		p = glv(n, fmt.Sprintf("method = rk4  fixed_step = %g", tol))
	case "glv-tight":
		p = glv(n, fmt.Sprintf("method = vern9  rtol = %g  atol = %g", tol, tol))
	case "glv-grow": // by up to ten times from step to step, as PETSc does
		p = glv(n, plain(tol)+"  max_growth = 10")
	case "vdp":
		p = vdp(tol)
	case "grayscott":
		p = grayScott(n)
	case "grayscott-cn": // Crank–Nicolson's scheme
		p = grayScott(n)
		p.text = strings.Replace(p.text, "method = rk4", "method = trapezoidal", 1)
	case "network":
		p = newNetwork(n, 5*n/2).problem("method = dopri5  rtol = 1e-6  atol = 1e-9")
	case "network-step":
		p = newNetwork(n, 5*n/2).problem(fmt.Sprintf("method = euler  fixed_step = %g", networkEnd))
	case "glv-paper1", "glv-paper2", "glv-paper3":
		p = drawnGLV(n, uint64(name[len(name)-1]-'0'), paperSolver(tol))
	case "controlled", "controlled-product":
		p = controlled(n, name == "controlled-product")
	default:
		return p, odes.Options{}, fmt.Errorf("no problem %q", name)
	}
	return p, odes.Options{Set: p.set}, nil
}
