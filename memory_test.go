package odes_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes"
	"odes.dev/odes/internal/memory"
	"odes.dev/odes/lang/diag"
)

// TestAllocationRefused has models that need more memory than there is, in each phase: what would be taken is refused
// before it is, and said as a diagnostic.
func TestAllocationRefused(t *testing.T) {
	const refusal = "not enough memory: this needs"
	const ball = "time t from 0 to 1\nparam k = 1\nobjective J = final(x[1])\n"
	large := ball + "state x[1000000] = 1\nx' = -k*x\n"
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
			if c.phase != nil && !errors.As(err, &refused) {
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

// TestMemoryAdvice runs a model of many events where memory is short: steps are packed early, so little suffices; and
// where it does not, the message names an amount that does.
func TestMemoryAdvice(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	m, err := odes.Parse("m.ode", spikes, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	run := func(T float64, memory string, more ...odes.Setting) (*odes.Sensitivities, error) {
		return m.Sensitivities(context.Background(), odes.Options{
			Set:      []odes.Assignment{{Name: "T", Values: []float64{T}}},
			Settings: append(more, odes.Setting{Key: "solver.memory", Value: memory}), Events: -1,
		})
	}
	whole, err := run(3600, `"1000 MB"`)
	if err != nil {
		t.Fatal(err)
	}
	thinned, err := run(3600, `"1 MB"`)
	if err != nil {
		t.Fatal(err)
	}
	if whole.Stats.Steps < 40000 || !slices.Equal(whole.Gradient, thinned.Gradient) {
		t.Errorf("after %d steps %v, thinned %v", whole.Stats.Steps, whole.Gradient, thinned.Gradient)
	}
	will := regexp.MustCompile(`memory = ("\d+ MB") will do`)
	for _, keep := range []string{"", "binomial(50)"} {
		var more []odes.Setting
		if keep != "" {
			more = append(more, odes.Setting{Key: "solver.checkpoint", Value: keep})
		}
		_, err := run(7000, `"1 MB"`, more...)
		said := will.FindStringSubmatch(fmt.Sprint(err))
		if said == nil {
			t.Errorf("%s: %v names no amount of memory", keep, err)
			continue
		}
		if _, err := run(7000, said[1], more...); err != nil {
			t.Errorf("%s: with %s as advised: %v", keep, said[1], err)
		}
	}
}
