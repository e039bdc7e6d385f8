package sens_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/examples"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/sens"
)

// coarser lists examples on grids, with the number of points that TestContinuousModes gives them and the line that it
// replaces. On the whole grids these modes take minutes, most of them for backsolve, and do nothing else.
var coarser = map[string]struct{ line, by string }{
	"brusselator_1d.ode": {"const n  = 200\n", "const n = 40\n"},
	"burgers.ode":        {"const n  = 200\n", "const n = 25\n"},
	"heat3d.ode":         {"const n = 20\n", "const n = 6\n"},
}

// TestContinuousModes compares the modes that differentiate the equations first with the discrete
// adjoint, on every example of up to 500 columns. They approximate the same derivatives, at the accuracy
// of the model's tolerances.
func TestContinuousModes(t *testing.T) {
	files, err := filepath.Glob(modeltest.Path("examples/*/*.ode"))
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	var compared, lost atomic.Int64 // lost: backsolve did not return to where the run began
	t.Cleanup(func() {              // after the parallel parts
		// The manual describes this defect of backsolve: it must show on some examples, but not on most of those that
		// are not stiff.
		if n := lost.Load(); !t.Failed() && (n < 2 || n > 12) {
			t.Errorf("backsolve failed on %d examples, want some", n)
		}
		if n := compared.Load(); !t.Failed() && !testing.Short() && n < 60 {
			t.Errorf("only %d gradients were compared", n)
		}
	})
	for _, file := range files {
		if strings.Contains(file, "512") || strings.Contains(file, "network100") {
			continue // takes minutes
		}
		if examples.Algebraic(file) || examples.Delayed(file) {
			continue // these modes do not take them
		}
		if testing.Short() && examples.Stiff(file) {
			continue // so does the race detector with any of these
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			m, err := odes.ParseFile(file)
			if c, ok := coarser[filepath.Base(file)]; ok && err == nil {
				var text []byte
				if text, err = os.ReadFile(file); err != nil || !strings.Contains(string(text), c.line) {
					t.Fatalf("no line %q: %v", c.line, err)
				}
				m, err = odes.Parse(file, strings.Replace(string(text), c.line, c.by, 1), odes.ParseOptions{})
			}
			if err != nil {
				t.Fatal(err)
			}
			// These models are at a minimum, where no derivative is large enough to compare.
			set := map[string][]odes.Assignment{
				"theophylline.ode": {{Name: "lKe", Values: []float64{-2.5}}},
				"fitted.ode":       {{Name: "W1[1,1]", Values: []float64{1.5}}},
			}[filepath.Base(file)]
			run := func(mode string) *odes.Sensitivities {
				s, err := m.Sensitivities(context.Background(), odes.Options{
					Settings: []odes.Setting{{Key: "sens.mode", Value: mode}, {Key: "sens.order", Value: "1"}},
					Set:      set, Threads: 1,
				})
				if mode == "backsolve" && err != nil {
					if list := diag.Of(err); len(list) != 1 || list[0].Code != odes.CodeBackward {
						t.Error(err)
					}
					return nil
				}
				if err != nil {
					t.Errorf("%s: %v", mode, err)
					return nil
				}
				return s
			}
			want := run("adjoint")
			if want == nil || want.Columns > 500 {
				return
			}
			for _, mode := range []string{"forward", "continuous", "backsolve"} {
				got := run(mode)
				if got == nil {
					if mode == "backsolve" && !examples.Stiff(file) {
						lost.Add(1)
					}
					continue
				}
				compared.Add(1)
				worst := 0.0
				for i := range want.Values {
					size := 1e-4 // what is smaller is known to atol only
					for _, x := range want.Gradient[i*want.Columns : (i+1)*want.Columns] {
						size = max(size, math.Abs(x))
					}
					for k := range want.Columns {
						worst = max(worst, math.Abs(got.Gradient[i*want.Columns+k]-want.Gradient[i*want.Columns+k])/
							size)
					}
				}
				t.Logf("%s: off by %.2g at rtol %g", mode, worst, want.Settings.RTol)
				limit := 1e3 * want.Settings.RTol
				switch {
				case worst <= limit:
				case mode == "backsolve":
					if worst > 1e-6 && !examples.Stiff(file) {
						lost.Add(1)
					}
				default:
					t.Errorf("%s: off by %g, rtol is %g", mode, worst, want.Settings.RTol)
				}
			}
		})
	}
}

// TestModesAgree holds every mode against the discrete adjoint, on a model with a jump, an integral and the time of an
// event. Modes join by themselves.
func TestModesAgree(t *testing.T) {
	m, err := odes.Parse("m.ode", `
time t from 0 to T
param T = 2, k = 0.7, w = 1.3, d = 0.4
state x = 1, v = 0
x' = v
v' = -w^2*x - k*v*abs(v)
event kick when x <= 0.2 { v = v + d }
objective J = final(x) + integral(v^2)
objective K = event_time(kick, 1)
sens { wrt = [T, k, w, d, initial(x)] }
solver { rtol = 1e-8  atol = 1e-10 }
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	run := func(mode string) []float64 {
		s, err := m.Sensitivities(context.Background(), odes.Options{
			Settings: []odes.Setting{{Key: "sens.mode", Value: mode}},
		})
		if err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		return s.Gradient
	}
	want := run("adjoint")
	if len(want) != 10 || want[0] == 0 {
		t.Fatalf("the gradient is %v", want)
	}
	for _, mode := range sens.Modes() {
		tol := 1e-5 // differentiated first: about as accurate as the run
		if mode.Exact {
			tol = 1e-9 // the least accurate are differences
		}
		for i, x := range run(mode.Name) {
			if !(math.Abs(x-want[i]) <= tol*max(1, math.Abs(want[i]))) {
				t.Errorf("%s: derivative %d is %v, adjoint %v", mode.Name, i, x, want[i])
			}
		}
	}
}
