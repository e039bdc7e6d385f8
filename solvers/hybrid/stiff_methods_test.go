package hybrid_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/methods"
)

// stiffModels are small stiff models, by name: kinetics, a relaxation oscillator, and a forced one with quadratures, an
// event at a state, a jump at a time and observations.
var stiffModels = map[string]string{
	"robertson": `
time t from 0 to 40
param k1 = 0.04, k2 = 3e7, k3 = 1e4, y0 = 1
state y1 = y0, y2 = 0, y3 = 0
y1' = -k1*y1 + k3*y2*y3
y2' = k1*y1 - k3*y2*y3 - k2*y2^2
y3' = k2*y2^2
objective a = final(y1)
objective b = final(y2)
objective q = integral(y3)
solver { rtol = 1e-6  atol = 1e-12 }
`,
	"vdp": `
time t from 0 to 0.5
param mu = 1000, x0 = 2, v0 = -0.6665433433927755
state x = x0, v = v0
x' = v
v' = mu*((1 - x^2)*v - x)
objective a = final(x)
objective b = final(v)
objective q = integral(x*v)
solver { rtol = 1e-6  atol = 1e-9 }
`,
	"forced": `
time t from 0 to T
param T = 3, k = 2e3, w = 2, level = 0.4, kick = 0.3, hit = 1.2
state fast = 0, slow = 1
fast' = -k*(fast - slow*cos(w*t))
slow' = -fast*slow + 0.1*t
event when slow < level { slow = slow + kick*fast }
event at hit { slow = slow + kick }
objective a = final(fast)
objective b = final(slow)^2
objective q = integral(fast*slow*t)
objective seen = sum_at(grid(0.5, 2.6, 20), slow^2*t)
solver { rtol = 1e-6  atol = 1e-8 }
`,
}

// TestStiffModesAgree differentiates stiff models by every method for them, by the transposes of the steps, by their
// tangents and by steps in complex arithmetic: on one sequence of steps these are the same to rounding.
func TestStiffModesAgree(t *testing.T) {
	for name, text := range stiffModels {
		m, err := odes.Parse(name+".ode", text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range methods.All() {
			if method.Can.Has(solvers.SplitRates) { // imex_test.go
				continue
			}
			if !method.Can.Has(solvers.NeedsJacobian) {
				continue
			}
			t.Run(name+"/"+method.Name, func(t *testing.T) {
				t.Parallel()
				all := map[string]*odes.Sensitivities{}
				for _, mode := range []string{"adjoint", "tangent", "complex"} {
					s, err := m.Sensitivities(t.Context(), odes.Options{Settings: []odes.Setting{
						{Key: "solver.method", Value: method.Name},
						{Key: "sens.mode", Value: mode},
						{Key: "sens.trust", Value: "off"},
					}})
					if err != nil {
						t.Fatal(err)
					}
					all[mode] = s
				}
				want := all["complex"]
				if len(want.Gradient) == 0 {
					t.Fatal("nothing to compare")
				}
				for c := range want.Columns {
					size := 0.0
					if strings.HasSuffix(want.Variables[c].Name, "0") { // a change of the start by 1 has died out
						size = 1
					}
					for i := c; i < len(want.Gradient); i += want.Columns {
						size = max(size, math.Abs(want.Gradient[i]))
					}
					for i := c; i < len(want.Gradient); i += want.Columns {
						for _, mode := range []string{"adjoint", "tangent"} {
							if off := math.Abs(all[mode].Gradient[i] - want.Gradient[i]); !(off <= 1e-12*size) {
								t.Errorf("%s: d objective %d/d column %d = %.17g, complex %.17g: off by %.2g of %.2g",
									mode, i/want.Columns, c, all[mode].Gradient[i], want.Gradient[i], off, size)
							}
						}
					}
				}
			})
		}
	}
}

// TestPoleOfImplicitRun requires a run into a pole to end there. Its steps stay longer than the last digit of time,
// although none of them is rejected.
func TestPoleOfImplicitRun(t *testing.T) {
	m, err := odes.Parse("pole.ode", "time t from 0 to 2\nstate y = 1\ny' = y^2\nobjective J = final(y)\n",
		odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"rodas5p", "rodas4", "rosenbrock23", "auto"} {
		r, err := m.Prepare(odes.Options{Settings: []odes.Setting{{Key: "solver.method", Value: method}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = r.Sensitivities(t.Context()); err == nil || !strings.Contains(err.Error(), "fell below") {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// TestVanishing has states that die out below what numbers hold to full precision, while others go on. A change by a
// few of the smallest steps between numbers is none: Newton's method took it for one, and steps became ever shorter.
//
//odes:goroutines
func TestVanishing(t *testing.T) {
	const text = `model Vanishing
time t from 0 to 1e13
param A = 7.89e-10, B = 1.1e7, C = 1.13e3, M = 1e6
state y1 = 1e-290, y2 = 3.3e-22, y4 = 1e-308
let y3 = y2 - y4
y1' = -A*y1 - B*y1*y3
y2' = A*y1 - M*C*y2*y3
y4' = B*y1*y3 - C*y4
objective J = final(y2)
solver { rtol = 1e-8 atol = 1e-30 max_steps = 2000 }
sens { trust = off }`
	want := 1 / (1/3.3e-22 + 1e6*1.13e3*1e13)
	for _, method := range []string{"auto", "rodas5p", "radau5", "radau9", "radau", "esdirk54", "kvaerno5", "sdirk4"} {
		for _, mode := range []string{"adjoint", "complex"} {
			s := modeltest.RunTimes(t, text, "solver.method", method, "sens.mode", mode)
			if x := s.Values[0].Value; !(math.Abs(x/want-1) < 1e-5) {
				t.Errorf("%s, %s: %v, which should be %v", method, mode, x, want)
			}
		}
	}
}

// TestUnitsOfSpecies has a random network whose species are in units that are far apart. Sparse factors must exchange
// rows as those of a full matrix do, which has the results of one unit for all.
//
//odes:goroutines
func TestUnitsOfSpecies(t *testing.T) {
	exponents := []int{
		-10, -12, -10, -24, 18, 11, 29, -13, -16, -3, -29, -10, -38, -21, -8, -26, -28, 6, -38, -11,
		-46, 16, -50, -45, -50, 21, -28, -22, -19, -3, 0, -1, -20, 30, 6, 5, -13, 14, -39, -7,
		-45, -38, -27, -43, 2, -50, 0, -30, 5, -45, 21, -22, -3, -7, 15, -6, -34, -50, -6, -4,
	}
	n, state := len(exponents), uint64(3)
	draw := func() float64 {
		state = state*6364136223846793005 + 1442695040888963407
		return float64(state>>11) * 0x1p-53
	}
	var text strings.Builder
	fmt.Fprintln(&text, "model Units\ntime t from 0 to 20")
	unit := func(i int) float64 { return math.Ldexp(1, exponents[i]) }
	var atol, sum []string
	for i := range n {
		fmt.Fprintf(&text, "param z%d = %v\nstate s%d = %v*z%d\nlet y%d = s%d/%v\n", i, draw(), i, unit(i), i,
			i, i, unit(i))
		atol = append(atol, fmt.Sprintf("s%d = %v", i, 1e-10*unit(i)))
	}
	for i := range n {
		sum = append(sum, fmt.Sprintf("%v*final(s%d)/%v", draw(), i, unit(i)))
	}
	rates := make([]string, n)
	for r := range 3 * n {
		pick := func() int {
			if e, v := draw(), draw(); e < 0.01 {
				return int(v * float64(n))
			} else {
				return (r + int(v*16)) % n
			}
		}
		var a, b []int
		for same := true; same; {
			if a = []int{r % n}; draw() >= 0.4 {
				a = append(a, pick())
			}
			b = nil
			for range a {
				b = append(b, pick())
			}
			x, y := slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
			same = slices.Equal(x, y)
		}
		fmt.Fprintf(&text, "param k%d = %v\nlet r%d = k%d", r, math.Pow(10, 8*draw()-4), r, r)
		for _, i := range a {
			fmt.Fprintf(&text, "*y%d", i)
			rates[i] += fmt.Sprintf(" - r%d", r)
		}
		fmt.Fprintln(&text)
		for _, i := range b {
			rates[i] += fmt.Sprintf(" + r%d", r)
		}
	}
	for i := range n {
		fmt.Fprintf(&text, "s%d' = %v*(0%s)\n", i, unit(i), rates[i])
	}
	fmt.Fprintf(&text, "objective J = %s\nsolver { method = rodas5p atol = [%s] }\nsens { trust = off "+
		"control = off }\n", strings.Join(sum, " + "), strings.Join(atol, ", "))
	for _, mode := range []string{"adjoint", "complex"} {
		settings := []string{"sens.mode", mode, "solver.linear", "dense"}
		if mode == "complex" { // a run for each
			settings = append(settings, "sens.wrt", "[k83, k97, k177]")
		}
		want := modeltest.RunTimes(t, text.String(), settings...)
		settings[3] = "sparse"
		got := modeltest.RunTimes(t, text.String(), settings...)
		most := 0.0
		for _, x := range want.Gradient {
			most = max(most, math.Abs(x))
		}
		for i, x := range want.Gradient {
			if d := math.Abs(got.Gradient[i] - x); !(d <= 1e-4*max(math.Abs(x), 1e-6*most)) {
				t.Fatalf("%s: derivative %d is %v by sparse factors, %v by full ones", mode, i, got.Gradient[i], x)
			}
		}
	}
}
