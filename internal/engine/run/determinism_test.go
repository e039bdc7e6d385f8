package run_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

var sameBits = []string{
	"bounce/bounce", "glv/glv", "pk/pk", "thermostat/thermostat", "heat2d/heat2d",
	"brusselator/brusselator",
}

// twice are the models whose Hessians are compared as well.
var twice = []string{"bounce/bounce", "pk/pk", "thermostat/thermostat"}

// order returns the settings of the derivatives to compare.
func order(name string) []odes.Setting {
	if slices.Contains(twice, name) {
		return []odes.Setting{{Key: "sens.order", Value: "2"}}
	}
	return nil
}

// TestLanesAndThreadsDoNotShow checks that results have the same bits whatever the number of lanes and
// threads.
//
//odes:goroutines
func TestLanesAndThreadsDoNotShow(t *testing.T) {
	for _, name := range sameBits {
		t.Run(name, func(t *testing.T) {
			m, err := odes.ParseFile(modeltest.Path("examples/" + name + ".ode"))
			if err != nil {
				t.Fatal(err)
			}
			var first *odes.Sensitivities
			for _, threads := range []int{1, 2} {
				for _, lanes := range []int{1, 2, 3, 8} {
					s, err := m.Sensitivities(context.Background(),
						odes.Options{Lanes: lanes, Threads: threads, EventTimes: true, Settings: order(name)})
					if err != nil {
						t.Fatal(err)
					}
					if slices.Contains(twice, name) != (s.Hessian != nil) {
						t.Fatal("the Hessian was not compared")
					}
					if first == nil {
						first = s
						continue
					}
					for i, x := range s.Hessian {
						if math.Float64bits(x) != math.Float64bits(first.Hessian[i]) {
							t.Fatalf("%d lanes, %d threads: second derivative %d is %v, with one lane %v", lanes,
								threads, i, x, first.Hessian[i])
						}
					}
					for i, x := range s.Gradient {
						if math.Float64bits(x) != math.Float64bits(first.Gradient[i]) {
							t.Fatalf("%d lanes, %d threads: derivative %d is %v, with one lane %v", lanes, threads, i,
								x, first.Gradient[i])
						}
					}
				}
			}
		})
	}
}

// TestThreadsDoNotShowInFactors solves a model whose matrices are so large and full that threads share their factors.
//
//odes:goroutines
func TestThreadsDoNotShowInFactors(t *testing.T) {
	m, err := odes.Parse("full.ode", `
time t from 0 to 0.1
const n = 400
const A = randn(n, n, seed = 1)
param k = 0.3
state x[n] = [sin(i) for i in 1:n]
x' = -20*x + k*tanh(A@x)
objective J = sum(final(x)^2)
objective K = final(x[7])
sens { trust = off }
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	threadsDoNotShow(t, m, odes.Setting{Key: "solver.rtol", Value: "1e-3"}, "rodas3", "sdirk4")
}

// threadsDoNotShow differentiates a model by some methods, with a setting, by up to three threads.
func threadsDoNotShow(t *testing.T, m *odes.Model, with odes.Setting, methods ...string) {
	t.Helper()
	for _, method := range methods {
		var want []float64
		for threads := range 3 {
			s, err := m.Sensitivities(t.Context(), odes.Options{
				Threads: threads + 1, Settings: []odes.Setting{{Key: "solver.method", Value: method}, with},
			})
			if err != nil {
				t.Fatal(err)
			}
			if threads == 0 {
				want = s.Gradient
			} else if !slices.Equal(s.Gradient, want) {
				t.Errorf("%s: %d threads give other bits", method, threads+1)
			}
		}
	}
}

// TestThreadsDoNotShowInNetworks solves a network of reactions written one by one, whose rates threads share.
//
//odes:goroutines
func TestThreadsDoNotShowInNetworks(t *testing.T) {
	const n = 1200
	var b strings.Builder
	fmt.Fprintln(&b, "time t from 0 to 0.02")
	for i := range n {
		fmt.Fprintf(&b, "state s%d = %g\n", i, 1+0.001*float64(i%70))
	}
	for i := range 4 * n {
		to := (7*i + i*i/n) % 9
		if i%90 == 0 {
			to = 37 * i
		}
		fmt.Fprintf(&b, "param k%d = %g\nreaction r%d: s%d + s%d -> s%d rate k%d*s%d*s%d\n", i, 0.1+float64(i%13), i,
			i%n, (i+1)%n, (i+to)%n, i, i%n, (i+1)%n)
	}
	fmt.Fprintln(&b, "objective J = final(s0) + final(s600)\nsens { trust = off }")
	m, err := odes.Parse("network.ode", b.String(), odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	threadsDoNotShow(t, m, odes.Setting{Key: "solver.fixed_step", Value: "0.01"}, "dopri5", "rodas5p")
}

// TestBackendsDoNotShow checks that results have the same bits on every backend. The test program
// starts itself with the generic backend and compares its results with its own.
//
//odes:goroutines
func TestBackendsDoNotShow(t *testing.T) {
	const variable = "ODES_TEST_CHECKSUM"
	sum := checksum(t)
	if want := os.Getenv(variable); want != "" {
		if sum != want {
			t.Fatalf("the generic backend gives %s, the default one %s", sum, want)
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestBackendsDoNotShow$", "-test.count=1")
	cmd.Env = append(os.Environ(), "ODES_BACKEND=generic", variable+"="+sum)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// checksum hashes values and derivatives of the examples.
func checksum(t *testing.T) string {
	h := fnv64(0xcbf29ce484222325)
	for _, name := range sameBits {
		m, err := odes.ParseFile(modeltest.Path("examples/" + name + ".ode"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(context.Background(), odes.Options{Settings: order(name)})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range s.Hessian {
			h.add(x)
		}
		for _, v := range s.Values {
			h.add(v.Value)
		}
		for _, x := range s.Gradient {
			h.add(x)
		}
	}
	return h.String()
}

// fnv64 is an FNV-1a hash of the bits of numbers.
type fnv64 uint64

func (h *fnv64) add(x float64) {
	bits := math.Float64bits(x)
	for range 8 {
		*h = (*h ^ fnv64(bits&0xff)) * 0x100000001b3
		bits >>= 8
	}
}

func (h fnv64) String() string { return strconv.FormatUint(uint64(h), 16) }

// TestLotkaVolterra200 compares some derivatives of a large Lotka–Volterra model (200 objectives by
// 40,400 variables) with central differences of runs with other parameters.
func TestLotkaVolterra200(t *testing.T) {
	if testing.Short() {
		t.Skip("large")
	}
	m, err := odes.ParseFile(modeltest.Path("examples/glv/glv200.ode"))
	if err != nil {
		t.Fatal(err)
	}
	tight := []odes.Setting{{Key: "solver.rtol", Value: "1e-12"}, {Key: "solver.atol", Value: "1e-14"}}
	s, err := m.Sensitivities(context.Background(), odes.Options{Settings: tight})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Values) != 200 || s.Columns < 40_400 {
		t.Fatalf("%d objectives by %d derivatives", len(s.Values), s.Columns)
	}
	var a odes.Variable
	for _, v := range s.Variables {
		if v.Name == "A" {
			a = v
		}
	}
	values := func(name string, x float64) []float64 {
		sol, err := m.Solve(context.Background(), odes.Options{
			Settings: tight,
			Set:      []odes.Assignment{{Name: name, Values: []float64{x}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		out := make([]float64, len(sol.Values))
		for i, v := range sol.Values {
			out[i] = v.Value
		}
		return out
	}
	for _, e := range []struct {
		name     string
		row, col int
		value    float64
	}{{"A[1,1]", 0, 0, -1}, {"A[7,7]", 6, 6, -1}, {"A[200,200]", 199, 199, -1}} {
		const h = 1e-4
		up, down := values(e.name, e.value+h), values(e.name, e.value-h)
		for _, i := range []int{e.row, (e.row + 50) % 200} {
			got := s.Derivative(i, a)[e.row*200+e.col]
			want := (up[i] - down[i]) / (2 * h)
			if math.Abs(got-want) > 1e-7*max(1, math.Abs(want)) {
				t.Errorf("d y[%d]/d %s = %v, differences give %v", i+1, e.name, got, want)
			}
		}
	}
}

// TestTeamsDoNotShow checks that results have the same bits where threads share the work on long arrays: stencils,
// stages, and a product with a matrix.
//
//odes:goroutines
func TestTeamsDoNotShow(t *testing.T) {
	m, err := odes.Parse("team.ode", `
const n = 150
time t from 0 to 0.2
param D = 0.16, F = 0.035, k = 0.06
let a[i,j] = exp(-((i - n/2)^2 + (j - n/2)^2)/50) for i in 1:n, j in 1:n
state u[n,n] = 1 - 0.5*a, v[n,n] = 0.25*a
u[i,j]' = D*(u[wrap(i+1, n),j] + u[wrap(i-1, n),j] + u[i,wrap(j+1, n)] + u[i,wrap(j-1, n)] - 4*u[i,j])
        - u[i,j]*v[i,j]^2 + F*(1 - u[i,j]) for i in 1:n, j in 1:n
v[i,j]' = 0.5*D*(v[wrap(i+1, n),j] + v[wrap(i-1, n),j] + v[i,wrap(j+1, n)] + v[i,wrap(j-1, n)] - 4*v[i,j])
        + u[i,j]*v[i,j]^2 - (F + k)*v[i,j] for i in 1:n, j in 1:n
objective J = final(sum(u^2)) + integral(mean(v))
sens { wrt = [D, F, k, initial(u)] }
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"dopri5", "rk4", "rkc2"} {
		var first *odes.Sensitivities
		for _, threads := range []int{1, 2, 3, 1 << 30} {
			s, err := m.Sensitivities(context.Background(), odes.Options{Threads: threads, Settings: []odes.Setting{
				{Key: "solver.method", Value: method},
				{Key: "solver.fixed_step", Value: "0.05"},
				{Key: "sens.trust", Value: "off"},
			}})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = s
				continue
			}
			if s.Values[0].Value != first.Values[0].Value {
				t.Errorf("%s, %d threads: J = %v, not %v", method, threads, s.Values[0].Value, first.Values[0].Value)
			}
			for i, x := range s.Gradient {
				if math.Float64bits(x) != math.Float64bits(first.Gradient[i]) {
					t.Fatalf("%s, %d threads: derivative %d is %v, with one %v", method, threads, i, x,
						first.Gradient[i])
				}
			}
		}
	}
}
