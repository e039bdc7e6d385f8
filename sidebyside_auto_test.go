package odes_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"odes.dev/odes"
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

// TestSideBySideAutoRandom draws stiff models of up to eight states and makes many members of each.
func TestSideBySideAutoRandom(t *testing.T) {
	t.Parallel()
	models, members := 40, 60
	if testing.Short() {
		models, members = 10, 20
	}
	for seed := range models {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			text := skewModel(rand.New(rand.NewPCG(uint64(seed), 12)), 1+seed%8)
			m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
			if err != nil {
				t.Fatal(err, text)
			}
			opts := odes.Options{Settings: append([]odes.Setting{{Key: "sens.mode", Value: "adjoint"}},
				autos[seed%len(autos)]...)}
			if got := sideBySide(t, m, opts, members, seed%3 > 0, laneValues); got != members {
				t.Errorf("%d of %d in lanes\n%s", got, members, text)
			}
		})
	}
}
