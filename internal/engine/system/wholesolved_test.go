package system_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/record"
)

// stiffModels are models whose matrices are factored in different ways.
var stiffModels = []struct {
	name, text, active, free string
	objectives               []int
}{
	{"dense, with a quadrature", `
time t from 0 to 40
param k1 = 0.04, k2 = 3e7, k3 = 1e4
state A = 1, B = 0, C = 0
A' = -k1*A + k3*B*C
B' = k1*A - k3*B*C - k2*B^2
C' = k2*B^2
objective J[i] = if i == 1 then final(A) else final(B + C) for i in 1:3
objective area = integral(C * sin(t) + k1)
objective cube = integral(A^3)
`, "k1 k2 k3", "B", []int{0, 1, 2, 3, 4}},
	{"dense, with exchanges of rows and time", `
time t from 0 to 3
param mu = 300, w = 2
state x = 2, v = 0
x' = v
v' = mu*((1 - x^2)*v - x) + sin(w*t)
objective J = final(x)
objective area = integral(x*v)
`, "mu w", "x v", []int{0, 1}},
	{"dense, of arrays", `
time t from 0 to 3
param r[5] = 0.1
param A[5,5] = [[if i == j then -40 else 9*sin(3*i + j) for j in 1:5] for i in 1:5]
param B[5,5] = 0.01
state x[5] = 0.1
state z = 0
x' = x * (r + A @ x) + 0.1*sin(t)*(B @ x)
z' = x[2] - 100*z
objective x_T[i] = final(x[i]) for i in 1:5
objective area = integral(x[1] * x[2] + z)
`, "r A B", "x z", []int{0, 1, 2, 3, 4, 5}},
	{"linear", `
time t from 0 to 5
param k = 50
state a = 1, b = 0
a' = -k*(a - cos(t))
b' = a - b
objective J = final(b)
`, "k", "a", []int{0}},
	{"sparse", chain(14), "k c", "y1 y2", []int{0, 1}},
}

// chain returns a model whose states drive each other in turn.
func chain(n int) string {
	var b strings.Builder
	b.WriteString("time t from 0 to 2\nparam k = 80, c = 0.3\n")
	for i := range n {
		fmt.Fprintf(&b, "state y%d = %g\n", i+1, 0.1*float64(i+1))
	}
	for i := range n {
		fmt.Fprintf(&b, "y%d' = -k*y%[1]d^2 + c*y%d*t + y%d\n", i+1, (i+1)%n+1, (i+5)%n+1)
	}
	fmt.Fprintf(&b, "objective J = final(y1 + y%d)\nobjective area = integral(y2*y3)\n", n)
	return b.String()
}

// TestWholeSolvedSteps compares gradients with those of steps made stage by stage, for equality.
func TestWholeSolvedSteps(t *testing.T) {
	for _, c := range stiffModels {
		for _, method := range []string{"rosenbrock23", "ros3p", "rodas3", "rodas4", "rodas4p", "rodas5p"} {
			t.Run(c.name+"/"+method, func(t *testing.T) {
				m := modelOf(t, c.text)
				var variables []compiled.Variable
				for name := range strings.FieldsSeq(c.active) {
					variables = append(variables, compiled.Variable{Name: name, Place: m.Param(name)})
				}
				for _, lanes := range []int{1, 3, 8} {
					var want []float64
					for _, after := range []int{math.MaxInt, 0, 7} {
						for _, keep := range []record.Checkpoint{{}, {Kind: record.CheckpointBinomial, RAM: 5}} {
							point := pointOf(t, m)
							p := system.NewProblem(m, point, c.objectives, nil)
							p.Jacobian = true
							p.CompileAfter = compiled.CompileAfter{Small: after}
							for name := range strings.FieldsSeq(c.free) {
								p.Free = append(p.Free, m.State(name))
							}
							p.Differentiate(p.Point.Active(variables))
							gradient := adjoint(t, p, method, solvers.Options{RTol: 1e-4, ATol: 1e-8}, lanes,
								&record.Trajectory{Keep: keep})
							res := gradient()
							got := append(append([]float64(nil), res.DP...), res.DY0...)
							if want == nil {
								want = got
							}
							if len(got) == 0 || len(got) != len(want) {
								t.Fatalf("%d lanes: %d derivatives", lanes, len(got))
							}
							for i, x := range got {
								if math.Float64bits(x) != math.Float64bits(want[i]) || x != x {
									t.Fatalf("%d lanes, compiled after %d steps, %v: derivative %d is %v, not %v",
										lanes, after, keep.Kind, i, x, want[i])
								}
							}
						}
					}
				}
				if n := m.StepPrograms(); simd.Backend() != simd.Generic && (n.Steps < 1 || n.Transposes < 1) {
					t.Errorf("%d steps and %d transposes were compiled", n.Steps, n.Transposes)
				}
			})
		}
	}
}
