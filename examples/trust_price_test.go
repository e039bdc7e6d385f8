package examples_test

import (
	"flag"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"odes.dev/odes"
)

var (
	trustPrice = flag.Int("trust-price", 0, "how many gradients TestTrustPrice takes of each example; 0 skips it")
	trustOnly  = flag.String("trust-only", "", "the only example of TestTrustPrice")
)

// TestTrustPrice measures what the comparison with an independent run costs: processor time of gradients with it over
// that of gradients without. Half of the examples take at most 1.35 times the time, and none more than 6 times.
func TestTrustPrice(t *testing.T) {
	if *trustPrice == 0 {
		t.Skip("-trust-price says how many gradients to take")
	}
	files, err := filepath.Glob("*/*.ode")
	if err != nil {
		t.Fatal(err)
	}
	var ratios []float64
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".ode")
		if *trustOnly != "" && name != *trustOnly {
			continue
		}
		// gradient is what a command does: compiling counts.
		gradient := func(trust string) error {
			m, err := odes.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = m.Sensitivities(t.Context(), odes.Options{
				Threads: 1, Settings: []odes.Setting{{Key: "sens.trust", Value: trust}},
			})
			return err
		}
		cost := func(trust string) float64 {
			runtime.GC() // what others left is not theirs
			start, began := cpuSeconds(), time.Now()
			for k := range *trustPrice {
				if err := gradient(trust); err != nil { // nothing to differentiate
					return math.NaN()
				}
				if time.Since(began) > 10*time.Second {
					return (cpuSeconds() - start) / float64(k+1)
				}
			}
			return (cpuSeconds() - start) / float64(*trustPrice)
		}
		// The least of rounds by turns, so that what else the machine does falls on both.
		off, on := math.Inf(1), math.Inf(1)
		for round := 0; round < 3 && !(off > 0.5 && round > 0); round++ {
			if off = min(off, cost("off")); off <= 0.5 {
				on = min(on, cost("on"))
			}
		}
		if off > 0.5 { // as an example of a million states
			t.Logf("%-20s %8.4g s without", name, off)
			continue
		}
		ratio := on / off
		t.Logf("%-20s %8.4g ms %6.2f", name, 1e3*off, ratio)
		if ratio > 6 {
			t.Errorf("%s: %.2f times", name, ratio)
		}
		if ratio == ratio {
			ratios = append(ratios, ratio)
		}
	}
	slices.Sort(ratios)
	if half := ratios[len(ratios)/2]; half > 1.35 {
		t.Errorf("half of the examples take more than %.3g times the time", half)
	}
}
