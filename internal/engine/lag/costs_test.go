//go:build unix

package lag_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// cpu returns the processor time that the program has used, in seconds.
func cpu(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + 1e-6*float64(t.Usec) }
	return seconds(u.Utime) + seconds(u.Stime)
}

// costs are models with the time span and the length of steps. What is read of the past is written as past(…). Nothing
// decays along the whole run, since numbers below the least normal one would cost more than all else.
var costs = []struct {
	name, text string
	end, step  float64
}{
	{"linear", `
param a = 0.3, b = 1.62, tau = 1.1
state x = 1
x' = 1 - a*x - b*past(x)
objective J = final(x)
`, 2000, 0.1},
	{"mackey_glass", `
param be = 2, ga = 1, n = 6.2, tau = 2, x0 = 0.5
state x = x0
x' = be*past(x)/(1 + past(x)^n) - ga*x
objective J = final(x)
`, 2000, 0.1},
	{"enzyme", `
param al = 0.0005, I = 10.5, k = 0.5, tau = 4
state a = 60, b = 10, c = 10, d = 20
let g = a/(1 + al*past(d)^3)
a' = I - g
b' = g - b
c' = b - c
d' = c - k*d
objective J = final(a)
`, 2000, 0.1},
	{"ring", `
param k = 0.8, tau = 1.3
state x[20] = [sin(i) for i in 1:20]
x[i]' = k*tanh(past(x[i])) - x[i] + 0.1*x[wrap(i + 1, 20)] for i in 1:20
objective J = final(sum(x))
`, 1000, 0.1},
}

// BenchmarkCosts measures, in turns, processor times of runs, of runs of the same equations without delay in the same
// steps, and of gradients.
func BenchmarkCosts(b *testing.B) {
	for _, c := range costs {
		for _, method := range []string{"tsit5", "dop853", "radau9"} {
			b.Run(c.name+"/"+method, func(b *testing.B) {
				runner := func(delayed bool) *odes.Runner {
					text := c.text
					if delayed {
						text = strings.ReplaceAll(text, "past(", "delay(")
						for _, x := range []string{"x", "d", "x[i]"} {
							text = strings.ReplaceAll(text, "delay("+x+")", "delay("+x+", tau)")
						}
					} else {
						text = strings.ReplaceAll(text, "past(", "(")
					}
					m, err := odes.Parse("m.ode", fmt.Sprintf("time t from 0 to %v\n", c.end)+text, odes.ParseOptions{})
					if err != nil {
						b.Fatalf("%v\n%s", err, text)
					}
					r, err := m.Prepare(odes.Options{Threads: 1, Settings: modeltest.Settings(
						"solver.method", method, "solver.fixed_step", fmt.Sprint(c.step), "sens.trust", "off")})
					if err != nil {
						b.Fatal(err)
					}
					return r
				}
				var took [4]float64
				v := make([]float64, 1)
				run := func(i int, r *odes.Runner, gradient bool) {
					begun := cpu(b)
					var err error
					if gradient {
						_, err = r.Sensitivities(b.Context())
					} else {
						_, err = r.Values(b.Context(), v)
					}
					if err != nil {
						b.Fatal(err)
					}
					took[i] += cpu(b) - begun
				}
				present, late := runner(false), runner(true)
				for b.Loop() {
					run(0, present, false)
					run(1, late, false)
					run(2, present, true)
					run(3, late, true)
				}
				b.ReportMetric(took[1]/took[0], "run/present")
				b.ReportMetric(took[3]/took[1], "gradient/run")
				b.ReportMetric(took[2]/took[0], "gradient/run-of-present")
				b.ReportMetric(1e9*took[1]/float64(b.N)/(c.end/c.step), "ns/step")
			})
		}
	}
}

// BenchmarkBreaks measures runs of which jumps of the state come back, by what there is of these.
func BenchmarkBreaks(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m, err := odes.Parse("m.ode", fmt.Sprintf(`
time t from 0 to %v
param a = 0.3, tau = 0.0377, d = 0.1
state x = 1
x' = -x - a*delay(x, tau)
event kick every 0.1 { x += d }
objective J = final(x)
`, float64(n)/10), odes.ParseOptions{})
			if err != nil {
				b.Fatal(err)
			}
			r, err := m.Prepare(odes.Options{Threads: 1, Settings: modeltest.Settings(
				"sens.trust", "off", "solver.method", "tsit5", "solver.max_events", "1e7", "solver.max_steps", "1e8")})
			if err != nil {
				b.Fatal(err)
			}
			var run, gradient float64
			v := make([]float64, 1)
			for b.Loop() {
				begun := cpu(b)
				if _, err := r.Values(b.Context(), v); err != nil {
					b.Fatal(err)
				}
				half := cpu(b)
				if _, err := r.Sensitivities(b.Context()); err != nil {
					b.Fatal(err)
				}
				run, gradient = run+half-begun, gradient+cpu(b)-half
			}
			b.ReportMetric(1e6*run/float64(b.N*n), "µs/break")
			b.ReportMetric(gradient/run, "gradient/run")
		})
	}
}
