package odes_test

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
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
