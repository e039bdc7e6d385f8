package run_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
)

// autos are the settings of runs that change to steps of a Rosenbrock method where they turn stiff, and back.
var autos = [][]odes.Setting{
	{},
	{{Key: "solver.method", Value: "auto"}, {Key: "solver.rtol", Value: "1e-4"}},
	{{Key: "solver.method", Value: "auto"}, {Key: "solver.rtol", Value: "1e-7"}},
	{{Key: "solver.method", Value: "auto"}, {Key: "solver.rtol", Value: "1e-10"}},
}

// TestSideBySideAuto has runs that turn stiff, most of them after some steps, and some only for a while.
func TestSideBySideAuto(t *testing.T) {
	t.Parallel()
	for name, text := range stiffLanes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for i, with := range autos {
				opts := odes.Options{Settings: append([]odes.Setting{
					{Key: "sens.mode", Value: "adjoint"}, {Key: "solver.atol", Value: "1e-9"},
				}, with...)}
				n := 9 + 7*i
				for _, gradient := range []bool{true, false} {
					if got := sideBySide(t, m, opts, n, gradient, laneValues); got != n {
						t.Errorf("%v, gradient %t: %d of %d in lanes", with, gradient, got, n)
					}
				}
			}
		})
	}
}

// TestSideBySideAutoRandom draws stiff models and makes many members of each.
func TestSideBySideAutoRandom(t *testing.T) {
	t.Parallel()
	models, members := 40, 60
	if testing.Short() {
		models, members = 10, 20
	}
	first := seeds.Of(t, 0)
	for seed := range models {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			text := skewModel(rand.New(rand.NewPCG(first+uint64(seed), 12)), skewSizes[seed%len(skewSizes)])
			m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
			if err != nil {
				t.Fatal(err, text)
			}
			opts := odes.Options{Settings: append([]odes.Setting{{Key: "sens.mode", Value: laneModes[seed/3%3]}},
				autos[seed%len(autos)]...)}
			if got := sideBySide(t, m, opts, members, seed%3 > 0, laneValues); got != members {
				t.Errorf("%d of %d in lanes\n%s", got, members, text)
			}
		})
	}
}

// TestSideBySideAutoDrawn adds a state that is stiff, all the time or for a while, to models with events that are
// drawn.
func TestSideBySideAutoDrawn(t *testing.T) {
	t.Parallel()
	models := howMany(120, 30)
	made, none, first := 0, 0, seeds.Of(t, 0)
	for k := range models {
		r := rand.New(rand.NewPCG(first+uint64(k), 13))
		text := drawnEvents(r) + []string{
			"state w = 0\nw' = -3e4*a*(w - x*y)\nobjective W = final(w)*b\n",
			"state w = d\nw' = -(1 + 1e5*c*exp(-60*(t - b)^2))*(w - x*y)\nobjective W = integral(w*y)\n",
			"state w = 1\nw' = -(if y > 0.5*b then 2e4*a else 2)*w + x - y\nobjective W = final(w) + integral(w)\n",
			"state w = 0\nw' = 1e4*b*(x - w^3) - n*y\nobjective W = sum_at([0.4, 1.1], w*d)\n",
		}[r.IntN(4)]
		m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		mode := odes.Setting{Key: "sens.mode", Value: laneModes[k/7%3]}
		opts := odes.Options{Settings: append([]odes.Setting{mode}, autos[k%3]...)}
		n := 1 + r.IntN(19)
		t.Run(strconv.Itoa(k), func(t *testing.T) {
			got := sideBySide(t, m, opts, n, k%7 != 3, laneValues)
			made += got
			opts.Settings = append(opts.Settings, odes.Setting{Key: "solver.method", Value: "rodas5p"})
			if got == 0 && sideBySide(t, m, opts, n, k%7 != 3, laneValues) > 0 {
				none++
			}
			if t.Failed() {
				t.Log(text)
			}
		})
	}
	t.Logf("%d runs in lanes", made)
	if made < models || none > models/40 {
		t.Errorf("%d runs in lanes; of %d models, there are only by rodas5p", made, none)
	}
}

// TestSideBySideAutoBack has runs that are stiff for a while, and go back to explicit steps.
func TestSideBySideAutoBack(t *testing.T) {
	t.Parallel()
	m, err := odes.Parse("m.ode", `
time t from 0 to 30
param a = 1.5, b = 1, c = 1.5, d = 1
state x = d, y = 0, w = b
x' = y + 0.01*w
y' = -a*x
w' = -(1 + 1e5*c*exp(-4*(t - 9*b)^2) + (if t > 20 and t < 23*d then 3e4 else 0))*(w - x*y)
objective J = final(w) + integral(w*x)
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	one, err := m.Sensitivities(t.Context(), odes.Options{})
	if err != nil || one.Stats.Changes < 4 {
		t.Fatalf("%v, or too few changes: %d", err, one.Stats.Changes)
	}
	for i, gradient := range []bool{false, true, true, true} {
		opts := odes.Options{Settings: []odes.Setting{{Key: "sens.mode", Value: laneModes[max(0, i-1)]}}}
		if got := sideBySide(t, m, opts, 40, gradient, laneValues); got != 40 {
			t.Errorf("%s, gradient %t: %d of 40 in lanes", laneModes[max(0, i-1)], gradient, got)
		}
	}
}

// TestSideBySideAutoCanceled ends a context while some runs are stiff and others are not.
func TestSideBySideAutoCanceled(t *testing.T) {
	t.Parallel()
	m, err := odes.Parse("m.ode", stiffLanes["relaxation"], odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	canceled(t, m, "auto", 30)
}
