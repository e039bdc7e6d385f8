package run_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
)

// manyTimes are times of observations, more than steps end at for them: some that are fixed, and some that params move.
func manyTimes(r *rand.Rand, n int, from float64, moving bool) string {
	var times []string
	for range n {
		at := fmt.Sprintf("%.4f", from+1.6*r.Float64())
		if moving && r.IntN(3) == 0 {
			at = "b*" + at
		}
		times = append(times, at)
	}
	return "[" + strings.Join(times, ", ") + "]"
}

var firstState = regexp.MustCompile(`(?m)^state (\w+)`)

// manyObservations are objectives that read a model of these tests at more times than steps end at.
func manyObservations(text string) string {
	r := rand.New(rand.NewPCG(uint64(len(text)), 17))
	x, from := firstState.FindStringSubmatch(text)[1], 0.05
	if strings.Contains(text, "state "+x+"[") {
		x += "[1]"
	}
	if strings.Contains(text, "from b to") {
		from = 1.3
	}
	return "objective M1 = sum_at(" + manyTimes(r, 30, from, false) + ", " + x + "^2)\n" +
		"objective M2 = sum_at(" + manyTimes(r, 8, from, true) + ", " + x + "*b + t)\n"
}

// insideMethods are of every kind of dense output: with stages of its own, with some on which the end of the step does
// not depend, and with none.
var insideMethods = []string{"dopri5", "", "dop853", "tsit5", "bs3", "rk6", "bs5", "vern7", "rodas5p", "rosenbrock23"}

// TestSideBySideInside has models with more times of data than steps end at.
func TestSideBySideInside(t *testing.T) {
	t.Parallel()
	for _, models := range []map[string]string{laneModels, movingModels} {
		for name, text := range models {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				text += manyObservations(text)
				m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
				if err != nil {
					t.Fatal(err, text)
				}
				for i, method := range insideMethods {
					if name == "constants" && strings.HasPrefix(method, "ro") {
						continue // there is no Jacobian
					}
					opts := odes.Options{Settings: []odes.Setting{
						{Key: "sens.mode", Value: "adjoint"}, {Key: "solver.rtol", Value: "1e-6"},
					}}
					if method != "" {
						opts.Settings = append(opts.Settings, odes.Setting{Key: "solver.method", Value: method})
					}
					n := 1 + (7*i+len(text))%23
					for _, gradient := range []bool{true, false} {
						if got := sideBySide(t, m, opts, n, gradient, laneValues); got != n {
							t.Errorf("%s, gradient %t: %d of %d in lanes", method, gradient, got, n)
						}
					}
				}
			})
		}
	}
}

// TestSideBySideInsideDrawn adds many times of data to models with events that are drawn, some of them stiff.
func TestSideBySideInsideDrawn(t *testing.T) {
	t.Parallel()
	drawn(t, seeds.Of(t, 0), 19, func(k int, r *rand.Rand) (text string, opts odes.Options, gradient bool) {
		text = drawnEvents(r)
		if k%3 == 0 {
			text += "state w = 0\nw' = -3e4*a*(w - x*y)\nobjective W = final(w)*b\n"
		}
		text += "objective M = sum_at(" + manyTimes(r, 17+r.IntN(60), 0.2, k%2 == 0) + ", x*y + d*x + n)\n"
		opts = odes.Options{Settings: append([]odes.Setting{
			{Key: "sens.mode", Value: laneModes[k/7%3]}, {Key: "solver.rtol", Value: "1e-6"},
		}, autos[k%4]...)}
		if k%3 > 0 {
			method := insideMethods[k%len(insideMethods)]
			if method == "" {
				method = "dop853"
			}
			opts.Settings = append(opts.Settings, odes.Setting{Key: "solver.method", Value: method})
		}
		return text, opts, k%7 != 3
	})
}

// BenchmarkSideBySideInside is the time of the gradient of a sum over times of data, in lanes and alone: one operation
// is a member.
func BenchmarkSideBySideInside(b *testing.B) {
	for _, n := range []int{20, 100, 200} {
		var times []string
		for k := range n {
			times = append(times, fmt.Sprint(10*float64(k+1)/float64(n+1)))
		}
		m, err := odes.Parse("m.ode", `
time t from 0 to 10
param a = 1.5, b = 1, c = 1.5, d = 1
state x = 1
state y = 0.5
x' = a*x - b*x*y
y' = -c*y + d*x*y
objective J = sum_at([`+strings.Join(times, ", ")+`], (x - 1)^2 + (y - 1)^2)
`, odes.ParseOptions{})
		if err != nil {
			b.Fatal(err)
		}
		for _, method := range []string{"dopri5", "dop853", "rodas5p"} {
			opts := odes.Options{Threads: 1, Set: laneValues(0), Settings: []odes.Setting{
				{Key: "solver.method", Value: method},
				{Key: "solver.rtol", Value: "1e-8"},
				{Key: "sens.mode", Value: "adjoint"},
				{Key: "sens.trust", Value: "off"},
			}}
			besideAlone(b, fmt.Sprintf("%d/%s", n, method), m, opts, laneValues)
		}
	}
}
