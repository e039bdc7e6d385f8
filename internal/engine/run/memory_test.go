package run_test

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/lang/diag"
)

// TestAllocationRefused has models that need more memory than there is, in each phase: what would be taken is refused
// before it is, and said as a diagnostic.
func TestAllocationRefused(t *testing.T) {
	const refusal = "not enough memory: this needs"
	const ball = "time t from 0 to 1\nparam k = 1\nobjective J = final(x[1])\n"
	large := ball + "state x[1000000] = 1\nx' = -k*x\n"
	const factors = "once they are factored, and may take"
	chain := ball + "const n = 3000\nstate x[n] = 1\nx[i]' = -1e4*(x[i] - k*x[clamp(i-1, 1, n)]) for i in 1:n\n" +
		"sens { wrt = k trust = off }\nsolver { linear = dense "
	little := ball + "state x[2] = 1\nx' = -k*x\n"
	for name, c := range map[string]struct {
		text  string
		room  int64 // bytes that are free
		phase func(m *odes.Model) error
		want  string
	}{
		"an array":     {ball + "state x[100000000] = 1\nx' = -k*x\n", 16 << 20, nil, "the limit is"},
		"a file":       {ball + "param p[2] = load(\"p.csv\")\nstate x[2] = 1\nx' = -k*x*p", 16 << 20, nil, refusal},
		"sens":         {large, 256 << 20, differentiateIt, refusal},
		"run":          {large, 256 << 20, solveAt(nil), refusal},
		"outputs":      {little, 64 << 20, solveAt(make([]float64, 10_000_000)), refusal},
		"a matrix":     {chain + "method = rodas5p }", 40 << 20, differentiateIt, factors},
		"coupled ones": {chain + "method = radau5 }", 40 << 20, differentiateIt, factors},
		"stiff steps":  {chain + "}", 40 << 20, differentiateIt, factors},
		"nothing does": {little, 64 << 20, differentiateIt, ""},
	} {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{"p.csv": {Data: []byte(strings.Repeat("1,2\n", 2_000_000))}}
			runtime.GC() // what other tests left is not to be counted, and freed later
			debug.FreeOSMemory()
			defer memory.Force(memory.Used() + c.room)()
			m, err := odes.Parse("m.ode", c.text, odes.ParseOptions{Files: files})
			if (err == nil) != (c.phase != nil) {
				t.Fatal(err)
			}
			if c.phase != nil {
				err = c.phase(m)
			}
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			list := diag.Of(err)
			if len(list) == 0 || !strings.Contains(list[0].Message, c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			if c.phase != nil && list[0].Code != odes.CodeMemory {
				t.Errorf("the code is %s", list[0].Code)
			}
			var refused *memory.RefusedError
			if c.phase != nil && c.want == refusal && !errors.As(err, &refused) {
				t.Errorf("%v does not say what was refused", err)
			}
		})
	}
}

func differentiateIt(m *odes.Model) error {
	_, err := m.Sensitivities(context.Background(), odes.Options{Threads: 1})
	return err
}

func solveAt(times []float64) func(m *odes.Model) error {
	return func(m *odes.Model) error {
		off := []odes.Setting{{Key: "sens.trust", Value: "off"}}
		_, err := m.Solve(context.Background(), odes.Options{Times: times, Settings: off})
		return err
	}
}

// spikes is a neuron that fires without end: about 18 steps, and one event, in each 0.7.
const spikes = `
time t from 0 to T
param T = 3600, I = 2
state v = 0, q = 0
v' = -v + I
q' = v - q
event spike when v > 1 { v = 0 }
objective J = final(q)
solver { max_events = 1e7  max_steps = 1e8  rtol = 1e-6 }
sens { trust = off }
`

// TestMemoryOfEvents runs a model of many events where memory is short: its lists are then in a file, and its gradient
// has the same bits.
func TestMemoryOfEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	m, err := odes.Parse("m.ode", spikes, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	run := func(more ...odes.Setting) *odes.Sensitivities {
		t.Helper()
		s, err := m.Sensitivities(context.Background(), odes.Options{Settings: more, EventTimes: true, Events: 500})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	whole := run(odes.Setting{Key: "solver.memory", Value: `"1000 MB"`})
	if whole.Stats.Steps < 40000 {
		t.Errorf("%d steps", whole.Stats.Steps)
	}
	for _, keep := range []string{"", "binomial(50)", "states(500)"} {
		more := []odes.Setting{{Key: "solver.memory", Value: `"1 MB"`}}
		if keep != "" {
			more = append(more, odes.Setting{Key: "solver.checkpoint", Value: keep})
		}
		short := run(more...)
		if !slices.Equal(whole.Gradient, short.Gradient) || short.Stats.PeakTrajectoryBytes > 1e6 {
			t.Errorf("%s: %v in %d bytes, want %v", keep, short.Gradient, short.Stats.PeakTrajectoryBytes,
				whole.Gradient)
		}
		for i, e := range whole.Events {
			if got := short.Events[i]; got.T != e.T || !slices.Equal(got.Params, e.Params) {
				t.Errorf("%s: event %d is %+v, want %+v", keep, i, got, e)
				break
			}
		}
	}
}
