package repl

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSensitivitiesBesideEvents draws d(conc)/d(tlag) over many doses. At each dose the curve jumps by
// -ka·F·amt/V, from the left limit to the right one, wherever the grid of times lies.
func TestSensitivitiesBesideEvents(t *testing.T) {
	const model = `
time t from 0 to 24
param ka = 1.1, ke = 0.2, V = 30, F = 0.7, tlag = 0.5, amt = 150
state depot = 0, a1 = 0
output conc = a1/V
depot' = -ka*depot
a1' = ka*depot - ke*a1
event dose EVENT { depot += F*amt }
objective AUC = integral(conc)
`
	for when, doses := range map[string]int{
		"at tlag":                   1,
		"at [1, 4.7, 9, 11]+tlag":   4,
		"every 1 from tlag":         24,
		"every 0.7 from tlag - 0.5": 35,
	} {
		path := filepath.Join(t.TempDir(), "m.ode")
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(model, "EVENT", when)), 0o666); err != nil {
			t.Fatal(err)
		}
		s := New(Config{})
		if err := s.Open(path); err != nil {
			t.Fatal(err)
		}
		for _, points := range []int{2, PointsInFiles} {
			list, err := s.sensitivities(context.Background(), "conc", "conc", "sum_at([%s], %s)", "tlag", points)
			if err != nil {
				t.Fatal(when, err)
			}
			c := list[0]
			jumps, last, broken := 0, 0.0, true // before the first event, nothing has been moved
			for i, y := range c.Values {
				if math.IsNaN(y) {
					broken = true
					continue
				}
				if jump := y - last; broken && (i > 0 || jump != 0) {
					jumps++
					if want := -1.1 * 0.7 * 150 / 30; math.Abs(jump-want) > 1e-3*math.Abs(want) {
						t.Errorf("%s, %d points: a jump by %v at %v, want %v", when, points, jump, c.T[i], want)
					}
				}
				last, broken = y, false
			}
			if jumps != doses {
				t.Errorf("%s, %d points: %d jumps, want %d", when, points, jumps, doses)
			}
		}
	}
}
