package run_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
)

// sameOutputs runs n members of a model in lanes, with outputs at times, and returns how many were made there. Each
// must have the bits that Solve gives.
func sameOutputs(t *testing.T, m *odes.Model, settings []odes.Setting, n int, times []float64) (made int) {
	t.Helper()
	opts := odes.Options{
		Set: laneValues(0), Threads: 1, Wrt: []string{}, Times: times,
		Settings: append(slices.Clone(settings), odes.Setting{Key: "sens.trust", Value: "off"}),
	}
	lanes, err := m.Lanes(opts, false)
	if err != nil {
		t.Fatal(err)
	}
	if lanes == nil {
		return 0
	}
	values, _, _, err := m.Wanted(opts)
	if err != nil {
		t.Fatal(err)
	}
	rows, steps, all := make([][]float64, n), make([]int, n), make([]*odes.Solution, n)
	for i := range rows {
		rows[i] = make([]float64, len(values))
	}
	lanes.Outputs = func(i int, s *odes.Solution) { all[i] = s }
	lanes.Run(t.Context(), n, laneValues, func(i int) []float64 { return rows[i] }, steps)
	alike := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
	for i, got := range all {
		if steps[i] < 0 {
			continue
		}
		made++
		opts.Set = laneValues(i)
		want, err := m.Solve(t.Context(), opts)
		if err != nil {
			t.Fatalf("member %d: alone %v", i, err)
		}
		if steps[i] != want.Stats.Steps || !slices.EqualFunc(got.T, want.T, alike) {
			t.Fatalf("member %d: %d steps, times %v, alone %d, %v", i, steps[i], got.T, want.Stats.Steps, want.T)
		}
		for k, o := range want.Outputs {
			if !slices.EqualFunc(got.Outputs[k].Values, o.Values, alike) {
				t.Fatalf("member %d: %s is %v, alone %v", i, o.Name, got.Outputs[k].Values, o.Values)
			}
		}
		for k, v := range want.Values {
			if !alike(rows[i][k], v.Value) {
				t.Fatalf("member %d: %s is %v, alone %v", i, v.Name, rows[i][k], v.Value)
			}
		}
	}
	return made
}

// outputTimes are before the start, at it, at times of events and beyond the end.
func outputTimes(n int) []float64 {
	times := []float64{-1, 0}
	for k := range n {
		times = append(times, 5.5*float64(k+1)/float64(n))
	}
	times = append(times, 1, 1, 2, 3.5)
	slices.Sort(times)
	return times
}

func TestSideBySideOutputs(t *testing.T) {
	t.Parallel()
	for _, models := range []map[string]string{laneModels, movingModels} {
		for name, text := range models {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if name == "guard" { // there need be no objective, and there may be outputs
					text, _, _ = strings.Cut(text, "objective")
					text += "output both = x*y + hits*b\noutput x2 = x^2\n"
				}
				m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
				if err != nil {
					t.Fatal(err)
				}
				for i, method := range insideMethods {
					if name == "constants" && strings.HasPrefix(method, "ro") {
						continue // there is no Jacobian
					}
					settings := []odes.Setting{{Key: "solver.rtol", Value: "1e-6"}}
					if method != "" {
						settings = append(settings, odes.Setting{Key: "solver.method", Value: method})
					}
					n := 1 + (7*i+len(text))%23
					if got := sameOutputs(t, m, settings, n, outputTimes(n*n)); got != n {
						t.Errorf("%s: %d of %d in lanes", method, got, n)
					}
				}
			})
		}
	}
}

// TestSideBySideOutputsDrawn has models with events that are drawn.
func TestSideBySideOutputsDrawn(t *testing.T) {
	t.Parallel()
	models := howMany(80, 20)
	made, first := 0, seeds.Of(t, 0)
	for k := range models {
		r := rand.New(rand.NewPCG(first+uint64(k), 29))
		text := drawnEvents(r)
		if k%2 == 0 {
			text += "state w = 0\nw' = -3e4*a*(w - x*y)\nobjective W = final(w)*b\n"
		}
		if k%3 == 0 {
			text += "event enough when t > 1.5*c { stop }\n"
		}
		m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		t.Run(strconv.Itoa(k), func(t *testing.T) {
			made += sameOutputs(t, m, autos[k%4], 1+r.IntN(19), outputTimes(r.IntN(80)))
			if t.Failed() {
				t.Log(text)
			}
		})
	}
	if t.Logf("%d runs in lanes", made); made < 2*models {
		t.Errorf("%d runs of %d models in lanes", made, models)
	}
}

// BenchmarkSideBySideOutputs is the time of runs with outputs at times, in lanes and by a Simulator: one operation is a
// member.
func BenchmarkSideBySideOutputs(b *testing.B) {
	m, err := odes.Parse("m.ode", laneModels["predators"], odes.ParseOptions{})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 4 {
		n, method := []int{10, 100}[i%2], []string{"dopri5", "dop853"}[i/2]
		opts := odes.Options{
			Threads: 1, Set: laneValues(0), Wrt: []string{}, Times: outputTimes(n),
			Settings: []odes.Setting{
				{Key: "solver.method", Value: method},
				{Key: "solver.rtol", Value: "1e-8"},
				{Key: "sens.trust", Value: "off"},
			},
		}
		name := fmt.Sprintf("%d/%s", n, method)
		values, _, _, err := m.Wanted(opts)
		if err != nil {
			b.Fatal(err)
		}
		row := make([]float64, len(values))
		b.Run(name+"/lanes", func(b *testing.B) {
			lanes, err := m.Lanes(opts, false)
			if lanes == nil || err != nil {
				b.Fatal(lanes, err)
			}
			lanes.Outputs = func(int, *odes.Solution) {}
			b.ResetTimer()
			lanes.Run(b.Context(), b.N, laneValues, func(int) []float64 { return row }, make([]int, b.N))
		})
		b.Run(name+"/alone", func(b *testing.B) {
			alone, err := m.Simulator(opts)
			if err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for i := range b.N {
				if err := alone.Set(laneValues(i)...); err != nil {
					b.Fatal(err)
				}
				if _, err := alone.Solve(b.Context(), opts.Times); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
