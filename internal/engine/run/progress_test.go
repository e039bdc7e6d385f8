package run_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/internal/engine/run"
	"odes.dev/odes/internal/testing/modeltest"
)

// tellAlways makes every step of the runs of a test report progress.
func tellAlways(t *testing.T) {
	before := run.TellEvery
	run.TellEvery = -time.Nanosecond
	t.Cleanup(func() { run.TellEvery = before })
}

// TestEveryPhaseTells runs what takes long, and expects each phase to tell how far it is.
func TestEveryPhaseTells(t *testing.T) {
	tellAlways(t)
	const long = `
time t from 0 to 1500
param a = 1, b = 2, c = 3
state x = 1, y = 0
x' = a*y
y' = -b*x*c/6
objective J = final(x)
objective K = final(y)
solver { rtol = 1e-8 }
`
	const many = `
time t from 0 to 400
param a = 1
state x = 1, y = 0
x' = y
y' = -a*x
data D { time = [399, 398, 397]  v = [1, 1, 1]  id = [1, 2, 3] }
observe o = x ~ normal(1) from D.v
experiment e from D by D.id { }
objective J = nll()
solver { rtol = 1e-8 }
`
	for _, c := range []struct {
		name, text string
		phase      string
		settings   []odes.Setting
	}{
		{"forward", long, "forward", modeltest.Settings("solver.rtol", "1e-14", "solver.atol", "1e-14")},
		{"adjoint", long, "adjoint", nil},
		{"tangent", long, "tangent", modeltest.Settings("sens.mode", "tangent")},
		{"forward sensitivities", long, "forward", modeltest.Settings("sens.mode", "forward")},
		{"complex", long, "complex", modeltest.Settings("sens.mode", "complex")},
		{"differences", long, "differences", modeltest.Settings("sens.mode", "differences")},
		{"continuous", long, "continuous", modeltest.Settings("sens.mode", "continuous")},
		{"checkpoints", long, "adjoint", modeltest.Settings("solver.checkpoint", "binomial(5)")},
		{"second", long, "second", modeltest.Settings("sens.order", "2")},
		{"experiments", many, "experiments", nil},
		{"second of experiments", many, "second", modeltest.Settings("sens.order", "2")},
		{"check", long, "check", nil},
		{"check of the gradient", long, "check", modeltest.Settings(
			"sens.check", "fd(directions = 1, tol = 1e-5)", "sens.trust", "off",
		)},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := odes.Parse("m.ode", c.text, odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			reports, most := 0, 0.0
			opts := odes.Options{Settings: c.settings, Threads: 1, Progress: func(p odes.Progress) {
				mu.Lock()
				defer mu.Unlock()
				if p.Phase != c.phase {
					return
				}
				reports++
				if most = max(most, p.Done); !(p.Done >= 0 && p.Done <= 1+1e-9) || p.Steps <= 0 || math.IsNaN(p.T) {
					t.Errorf("reported %+v", p)
				}
			}}
			if _, err := m.Sensitivities(context.Background(), opts); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d reports up to %.2g", reports, most)
			if reports == 0 {
				t.Errorf("phase %q tells nothing", c.phase)
			}
		})
	}
}
