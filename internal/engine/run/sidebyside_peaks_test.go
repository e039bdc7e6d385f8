package run_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
)

// peaks are objectives that read largest values of a model of these tests.
func peaks(text string) string {
	x := firstState.FindStringSubmatch(text)[1]
	if strings.Contains(text, "state "+x+"[") {
		x += "[1]"
	}
	return "objective P1 = max_over(" + x + ")*b\n" +
		"objective P2 = max_over(-" + x + "^2 + 0.3*sin(3*a*t)) + max_over(" + x + "*cos(2*t))^2\n"
}

// peakModels have peaks where a search may go wrong.
var peakModels = map[string]string{
	"within": `
time t from 0 to 3
param a = 1.5, b = 1, c = 1.5, d = 1
state x = d, v = b
x' = v
v' = -4*a*x - 0.1*c*v
objective J = max_over(x)
objective K = -max_over(-x) + max_over(v)*max_over(x*v)
`,
	"start": `
time t from 0.2*b to 2
param a = 1.5, b = 1, c = 1.5, d = 1
state x = d*b
x' = -a*x
event kick at 0.2*b { x = x*c }
objective J = max_over(x) + max_over(-t*x)
`,
	"end": `
time t from 0 to 1 + d
param a = 1.5, b = 1, c = 1.5, d = 1
state x = b
x' = a*x + sin(t)
objective J = max_over(x*c)
objective K = max_over(t)
`,
	"after the end": `
time t from 0 to 1 + d
param a = 1.5, b = 1, c = 1.5, d = 1
state x = b
discrete n = 0.2*a
x' = a*x + sin(t)
event last at 1 + d { x = 3*x*c  n = n + t }
objective J = max_over(x + n)
`,
	"stopped": `
time t from 0 to 9
param a = 1.5, b = 1, c = 1.5, d = 1
state x = b
x' = a*cos(t) - 0.01*x
event enough when x > 0.9*b + 0.3*c { x = x - c/9  stop }
objective J = max_over(x)
objective K = max_over(-x)
`,
	"events": `
time t from 0 to 4
param a = 1.5, b = 1, c = 1.5, d = 1
state x = d
discrete n = 0.1*a
x' = a*(1 + n) - 0.1*x
event high when x > 1.7*b + 0.1*t { x = 0.5*x  n = n + 0.1*c }
event dose every 1.1*d from 0.3 { x = x + 0.2*b }
objective J = max_over(x - 0.1*n)
objective K = max_over(x*t) + max_over(-n)
objective L = max_over(n*b)
`,
	"ties": `
time t from 0 to 12.566370614359172
param a = 1.5, b = 1, c = 1.5, d = 1
state x = 0, y = a
x' = y
y' = -x
objective J = max_over(x^2)
objective K = max_over(abs(x)) + max_over(min(x, b))
`,
	"plateau": `
time t from 0 to 4
param a = 1.5, b = 1, c = 1.5, d = 1
state x = 0, y = d
x' = if t > b then 0 else a
y' = if t < 2*c then 0 else -y
objective J = max_over(x)
objective K = max_over(y) + max_over(b) + max_over(min(x, 0.7*b*c))
`,
	"kinks": `
time t from 0 to 5
param a = 1.5, b = 1, c = 1.5, d = 1
state x = 0, v = b
x' = v
v' = -a*x
objective J = max_over(min(x - 0.1*t, 0.2*c - x))
objective K = max_over(interp([0, 0.3*b, 0.6, 2], [0, c, 1, 0.2], x^2))
`,
	"narrow": `
time t from 0 to 5
param a = 1.5, b = 1, c = 1.5, d = 1
state x = d
x' = -0.1*x*a
objective J = max_over(x + c*exp(-1e4*(t - 2*b)^2))
objective K = max_over(x*sin(50*a*t))
`,
	"observed": `
time t from 0 to 3
param a = 1.5, b = 1, c = 1.5, d = 1
state x = d, v = b
x' = v
v' = -4*a*x - 0.1*c*v
objective J = max_over(x*v) + sum_at([0.2, 0.4, 0.5*b, 0.6, 1.0, 1.1, 1.2, 1.3, 1.4*c, 1.5], x^2)
objective K[i] = max_over(x + i*v) for i in 1:9
objective L = sum_at([0.21, 0.42, 0.63, 0.84, 1.05, 1.26, 1.47, 1.68, 1.89, 2.1], v) + integral(x)
`,
	"modes": `
time t from 0 to 5
param a = 1.5, b = 1, c = 1.5, d = 1
state x = d
state v = 0
x' = v
v' = if x > 0.1*b then -a*x - 0.1*v + sin(c*t) else -5*x - d*v
objective J = max_over(if v > 0.2*b then x else -x)
objective K = max_over(abs(x - 0.3*c))
`,
	"meetings": `
time t from 0 to 3
param a = 1.5, b = 1, c = 1.5, d = 1
discrete n = 0
state x = d, v = b
x' = -max(1, t)*a*x
v' = -0.1*v + n*(2 - t)
event dose at b/b { x += 2*d }
event other at 1 { n += c }
event again at 1 + 1/(c/c) { v += 0.1*a  x += d }
event final at 3/(a/a) { n += 1 }
objective J = max_over(x)
objective K = max_over(x + v)
objective L = max_over(t - 0.1*x)
`,
	"stiff for a while": `
time t from 0 to 30
param a = 1.5, b = 1, c = 1.5, d = 1
state x = d, y = 0, w = b
x' = y + 0.01*w
y' = -a*x
w' = -(1 + 1e5*c*exp(-4*(t - 9*b)^2) + (if t > 20 and t < 23*d then 3e4 else 0))*(w - x*y)
objective J = max_over(w) + integral(w*x)
objective K = max_over(x*y*t)
`,
}

// peakSettings are of every kind of dense output, and of every mode whose derivatives are made in lanes.
func peakSettings(k int) (list []odes.Setting, method string) {
	method = append(insideMethods, "auto")[k%(len(insideMethods)+1)]
	if method != "" {
		list = append(list, odes.Setting{Key: "solver.method", Value: method})
	}
	return append(list, odes.Setting{Key: "solver.rtol", Value: "1e-6"}), method
}

// TestSideBySidePeaks has models whose largest values are where a search may go wrong, by every method and in every
// mode, and those of other tests with largest values, by each method in one mode.
func TestSideBySidePeaks(t *testing.T) {
	t.Parallel()
	for _, models := range []map[string]string{laneModels, movingModels, stiffLanes, peakModels} {
		for name, text := range models {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				_, stiff := stiffLanes[name]
				own := peakModels[name] == text
				if stiff = stiff && !own || strings.HasPrefix(name, "stiff"); !own {
					text += peaks(text)
				}
				m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
				if err != nil {
					t.Fatal(err, text)
				}
				for k := range len(insideMethods) + 1 {
					list, method := peakSettings(k)
					solves := strings.HasPrefix(method, "ro")
					if name == "constants" && solves || stiff && !solves && method != "auto" {
						continue // there is no Jacobian, or there are too many steps
					}
					n := 1 + (7*k+len(text))%23
					for i, mode := range append(laneModes, "values") {
						if !own && i != k%4 {
							continue
						}
						if name == "all on all" && solves && mode == "adjoint" {
							continue // it has too many objectives, with these
						}
						opts, gradient := odes.Options{Settings: list}, mode != "values"
						if gradient {
							opts.Settings = append(slices.Clone(list), odes.Setting{Key: "sens.mode", Value: mode})
						}
						if got := sideBySide(t, m, opts, n, gradient, laneValues); got != n {
							t.Errorf("%s, %s: %d of %d in lanes", method, mode, got, n)
						}
					}
				}
			})
		}
	}
}

// TestSideBySidePeaksOutputs has outputs at times beside largest values.
func TestSideBySidePeaksOutputs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"within", "events", "modes"} {
		m, err := odes.Parse("m.ode", peakModels[name], odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for k := range len(insideMethods) + 1 {
			list, method := peakSettings(k)
			if got := sameOutputs(t, m, list, 11, outputTimes(30)); got != 11 {
				t.Errorf("%s, %s: %d of 11 in lanes", name, method, got)
			}
		}
	}
}

// TestSideBySidePeaksDrawn adds largest values to models with events that are drawn, some of them stiff.
func TestSideBySidePeaksDrawn(t *testing.T) {
	t.Parallel()
	drawn(t, seeds.Of(t, 0), 31, func(k int, r *rand.Rand) (text string, opts odes.Options, gradient bool) {
		text = drawnEvents(r)
		if k%3 == 0 {
			text += "state w = 0\nw' = -3e4*a*(w - x*y)\nobjective W = final(w)*b + max_over(w)\n"
		}
		if k%4 == 0 {
			text += "objective M = sum_at(" + manyTimes(r, 17+r.IntN(60), 0.2, k%2 == 0) + ", x*y + d*x + n)\n"
		}
		for i := range 1 + r.IntN(3) {
			text += fmt.Sprintf("objective P%d = max_over(%s)*c\n", i, []string{
				"x", "-y", "x*y - n", "x*sin(3*t)", "y*t + n", "abs(x) - d*y", "min(x, y)", "x^2 + y^2", "n - x",
				"max(x, 0.7*b)",
			}[r.IntN(10)])
		}
		opts = odes.Options{Settings: append([]odes.Setting{
			{Key: "sens.mode", Value: laneModes[k/7%3]}, {Key: "solver.rtol", Value: "1e-6"},
		}, autos[k%4]...)}
		if k%3 > 0 {
			list, _ := peakSettings(k)
			opts.Settings = append(opts.Settings, list...)
		}
		return text, opts, k%7 != 3
	})
}

// BenchmarkSideBySidePeaks is the time of the gradient of a largest value, in lanes and alone: one operation is a
// member.
func BenchmarkSideBySidePeaks(b *testing.B) {
	prey, err := odes.Parse("m.ode", `
time t from 0 to 10
param a = 1.5, b = 1, c = 1.5, d = 1
state x = 1
state y = 0.5
x' = a*x - b*x*y
y' = -c*y + d*x*y
objective J = max_over(x)
`, odes.ParseOptions{})
	if err != nil {
		b.Fatal(err)
	}
	drug, err := odes.Parse("m.ode", `
time t from 0 to 24
param a = 1.5, b = 1, c = 1.5, d = 1
state depot = 0
state x = 0
depot' = -a*depot
x' = a*depot - 0.2*b*x/(1 + 0.1*d*x)
event dose every 8 from 0 { depot += 5*c }
objective Cmax = max_over(x)
objective AUC = integral(x)
`, odes.ParseOptions{})
	if err != nil {
		b.Fatal(err)
	}
	for i, m := range []*odes.Model{prey, drug} {
		for _, method := range []string{"dopri5", "dop853", "rodas5p"} {
			opts := odes.Options{Threads: 1, Set: laneValues(0), Settings: []odes.Setting{
				{Key: "solver.method", Value: method},
				{Key: "solver.rtol", Value: "1e-8"},
				{Key: "sens.mode", Value: "adjoint"},
				{Key: "sens.trust", Value: "off"},
			}}
			besideAlone(b, []string{"prey", "drug"}[i]+"/"+method, m, opts, laneValues)
		}
	}
}
