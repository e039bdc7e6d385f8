package run

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/testing/examples"
	"odes.dev/odes/result"
)

// TestWholeSteps checks that steps and transposes that are compiled as one program give the bits of
// the stages one by one: on every example, with methods of all kinds. No example may fail with any of
// them. A gradient of many columns is computed with the example's own method only.
func TestWholeSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	files, err := filepath.Glob("../../../examples/*/*.ode")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	steps, transposes := 0, 0 // compiled
	for _, file := range files {
		if strings.Contains(file, "512") {
			continue // takes minutes
		}
		for _, c := range []struct {
			method string
			lanes  int
		}{{"", 0}, {"", 1}, {"", 3}, {"bs3", 2}, {"vern7", 8}, {"rkc2", 1}, {"dopri8", 2}} {
			if (examples.Stiff(file) || examples.Delayed(file)) && c.method != "" {
				continue
			}
			m, err := ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			o := Options{Threads: 1, Lanes: c.lanes, EventTimes: true}
			o.Settings = []Setting{{Key: "sens.trust", Value: "off"}}
			if c.method != "" {
				o.Settings = append(o.Settings, Setting{Key: "solver.method", Value: c.method},
					Setting{Key: "solver.rtol", Value: "1e-4"})
			}
			run := func(whole int) *result.Sensitivities {
				o.compileAfter = &compiled.CompileAfter{Small: whole, Large: whole}
				r, err := m.Prepare(o)
				if err != nil {
					t.Fatal(file, err)
				}
				s, err := r.Sensitivities(context.Background())
				if err != nil {
					t.Fatalf("%s, %s: %v", file, c.method, err)
				}
				if step, _ := r.worker.StepStats(); step != nil {
					steps++
				}
				transposes += m.System.StepPrograms().Transposes
				return s
			}
			want, got := run(math.MaxInt), run(0)
			if a, b := want.Stats, got.Stats; a.Steps != b.Steps || a.F != b.F {
				t.Errorf("%s, %s: %d steps and %d right-hand sides, %d and %d when compiled", file, c.method, a.Steps,
					a.F, b.Steps, b.F)
				continue
			}
			for i, v := range want.Values {
				if x := got.Values[i].Value; math.Float64bits(x) != math.Float64bits(v.Value) && x == x {
					t.Errorf("%s, %s: value %d is %v, %v when compiled", file, c.method, i, v.Value, x)
				}
			}
			for i, v := range want.Gradient {
				if x := got.Gradient[i]; math.Float64bits(x) != math.Float64bits(v) && (x == x || v == v) {
					t.Errorf("%s, %s, %d lanes: derivative %d is %v, %v when compiled", file, c.method, c.lanes, i, v,
						x)
					break
				}
			}
			if len(want.Gradient) > 1000 {
				break
			}
		}
	}
	if simd.Backend() != simd.Generic && (steps < 100 || transposes < 50) {
		t.Errorf("only %d runs had compiled steps, %d compiled transposes", steps, transposes)
	}
}
