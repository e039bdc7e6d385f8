package hybrid_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/examples"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/lang/diag"
)

// TestStableSteps has models whose state hides what is fast, so that error control alone takes steps that are not
// stable, and derivatives are lost. It says how accurate they are at least with stable steps.
func TestStableSteps(t *testing.T) {
	const mu100 = `
time t from 0 to 50
param mu = 100, x0 = 2
state x = x0, v = 0
x' = v
v' = mu*(1 - x^2)*v - x
objective J = final(x)`
	for _, c := range []struct {
		name, model string
		by          string
		truth       float64
		rel         float64
		lost        bool // without the bound
	}{
		{"resting depot", `
time t from 0 to 100
param d = 0
state depot = d, y = 0
depot' = -10*depot
y' = 10*depot - 0.1*y
objective J = final(y)`, "d", 10 / 9.9 * math.Exp(-10), 1e-4, true},
		{"resting decay", `
time t from 0 to 240
param x0 = 0
state x = x0
x' = -0.1*x
objective J = integral(x)`, "x0", 10 * (1 - math.Exp(-24)), 3e-3, true},
		{"robertson", `
time t from 0 to 40
param k1 = 0.04, k2 = 3e7, k3 = 1e4
state a = 1, b = 0, c = 0
a' = -k1*a + k3*b*c
b' = k1*a - k3*b*c - k2*b^2
c' = k2*b^2
objective J = final(c)`, "k1", 4.24751286, 1e-6, true},
		{"van der Pol", mu100, "mu", 0.005149948, 1e-6, true},
		{"what becomes fast on its own", `
time t from 0 to 100
param z0 = 0
state x = 1, z = z0
x' = -x + cos(t)
z' = 10*sin(t) - 1000*(t/100)^4*(z - z0)
objective J = final(z - 10*x) `, "z0", 1, 1e-6, false},
		{"units that differ by a million", `
time t from 0 to 100
param v0 = 0
state x = 0, v = v0
x' = 1e6*v
v' = -1e-6*x - 0.1*v
objective J = integral(x)`, "v0", 994671.7, 0.02, true},
		{"a resting oscillation", `
time t from 0 to 100
param x0 = 0
state x = x0, v = 0
x' = v
v' = -x - 0.5*v
objective J = integral(x)`, "x0", 0.5, 0.02, true},
	} {
		run := func(stability, method string) (off float64, steps int) {
			s, err := modeltest.Try(t, c.model, "solver.stability", stability, "solver.method", method, "sens.wrt",
				"["+c.by+"]", "sens.trust", "off", "sens.control", "off", "solver.atol", "1e-9")
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			return math.Abs(s.Gradient[0]/c.truth - 1), s.Stats.Steps
		}
		for _, method := range []string{"dopri5", "tsit5", "dop853", "vern9", "bs3"} {
			if off, steps := run("on", method); !(off <= c.rel) {
				t.Errorf("%s, %s: the derivative by %s is off by %g in %d steps", c.name, method, c.by, off, steps)
			}
		}
		if off, _ := run("off", "dopri5"); c.lost && off < 1 {
			t.Errorf("%s: off by %g with stability = off: the test can fail no more", c.name, off)
		}
	}
}

// TestBoundIsCheap: on examples that are not stiff the bound changes no step, and what it looks at costs little.
//
//odes:goroutines
func TestBoundIsCheap(t *testing.T) {
	files, err := filepath.Glob(modeltest.Path("examples/*/*.ode"))
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "fixed_step") || strings.Contains(file, "512") ||
			examples.Stiff(file) || strings.Contains(string(text), "\ncontrol ") { // each piece looks anew
			continue
		}
		m, err := odes.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		run := func(stability string) *odes.Solution {
			s, err := m.Solve(t.Context(), odes.Options{Settings: []odes.Setting{{
				Key: "solver.stability", Value: stability,
			}}})
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			return s
		}
		on, off := run("on").Stats, run("off").Stats
		if on.Steps == off.Steps && on.Rejected == off.Rejected {
			same++
			if more := on.F - off.F; more == 0 || float64(more) > 6+0.1*float64(off.F) {
				t.Errorf("%s: the bound takes %d of %d right-hand sides", file, more, on.F)
			}
		}
	}
	if same < 23 {
		t.Errorf("the bound leaves the steps of %d examples alone", same)
	}
}

// TestUnstableFixedSteps: steps of fixed length are as long as asked, and a warning says where that is not stable.
func TestUnstableFixedSteps(t *testing.T) {
	const model = `
time t from 0 to 10
state x = 1, y = 0
x' = -20*(x - cos(t))
y' = x - y
objective J = final(y)
solver { fixed_step = %s  method = %s }
`
	for _, c := range []struct {
		step, method string
		warned       bool
	}{
		{"0.09", "euler", false},
		{"0.11", "euler", true},
		{"0.13", "rk4", false},
		{"0.15", "rk4", true},
		{"0.16", "dopri5", false},
		{"0.18", "dopri5", true},
		{"0.4", "vern9", true},
	} {
		s, err := modeltest.Try(t, fmt.Sprintf(model, c.step, c.method))
		if err != nil {
			t.Fatal(err)
		}
		warned := slices.ContainsFunc(s.Warnings, func(d diag.Diagnostic) bool { return d.Code == odes.CodeUnstable })
		if warned != c.warned {
			t.Errorf("%s, steps of %s: %v", c.method, c.step, s.Warnings)
		}
	}
}
