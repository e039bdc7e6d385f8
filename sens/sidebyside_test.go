package sens_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"odes.dev/odes"
)

// TestSideBySide makes runs with several objectives, instants, discretes and values that differ in lanes, and each of
// them alone: the same bits and steps. Those that fail, or need more than lanes do, are left to be made alone.
func TestSideBySide(t *testing.T) {
	models := map[string]string{
		"several": `
time t from 0 to 3
param a = 1, b = 0.8, c = 0.5
state x = 1, y = a/2
discrete n = 0.3*a, m = b
x' = a*x*(1 - y) + n*sin(t)
y' = -b*y + c*x/(1 + x^2) + 0.1*m
objective J = final(x*n) + initial(y*m)
objective K = integral(x*y + n*t)
objective L = final(y^2*m)
`,
		"observed": `
time t from 0 to 2
param a = 1, b = 0.8, c = 0.5
state x = b
discrete n = 0.3*a
x' = -a*x + c*cos(b*t) + n
objective J = sum_at([0, 0.4, 1.1, 2], x^2*n)
objective K = sum_at([0.4, 0.9], x*a) + final(x)
`,
		"events": `
time t from 0 to 3
param a = 1, b = 0.8, c = 0.5
state x = 0.1*b, y = a
discrete n = 0.3*a
x' = a*(if y > 0.9*c then 1 + n else 0.7*c) - 0.1*x*y
y' = -b*y + 0.3*c*cos(3*t)
event up when x > 1 + 0.2*c*t { x = b*x/4; n = n + 0.2*y }
event down when y < 0.6*c*b once { y += 0.5*a + 0.1*t }
event kick at 0.4 + 0.3*b { y = y + c*x; n = n*a }
objective J = final(x*n) + integral(x*y)
objective K = event_time(kick, 1)*b + at_event(kick, pre(x)*post(y) + t, nth = 1)
objective L = sum_at([0.3, 0.5*a, 1.7], x^2)
objective M = integral(x^2, from = 0.2*a, to = 2*b)
`,
		"fails": `
time t from 0 to 2
param a = 1, b = 0.8, c = 0.5
state x = 1, y = b
x' = if a > 1.3 then a*x^2 else -a*x
y' = -c*y + x
objective J = final(y)
objective K = integral(x*y)
`,
	}
	for name, text := range models {
		m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i, method := range []string{"dopri5", "bs3", "tsit5", "rodas5p", "rosenbrock23"} {
			opts := odes.Options{Threads: 1, Settings: []odes.Setting{
				{Key: "solver.method", Value: method}, {Key: "sens.trust", Value: "off"},
			}}
			for _, n := range []int{1, 5, 8 + i, 30} {
				what := fmt.Sprintf("%s, %s, %d runs", name, method, n)
				if made := sideBySide(t, what, m, opts, n); name != "fails" && made != n || made < n/2 {
					t.Errorf("%s: %d in lanes", what, made)
				}
			}
		}
	}
}

// sideBySide makes n runs in lanes and each alone, and returns how many were made in lanes.
func sideBySide(t *testing.T, what string, m *odes.Model, opts odes.Options, n int) (made int) {
	t.Helper()
	value := func(i int) (set []odes.Assignment) {
		r := rand.New(rand.NewPCG(uint64(i), 3))
		for _, name := range []string{"a", "b", "c"} {
			set = append(set, odes.Assignment{Name: name, Values: []float64{0.5 + r.Float64()}})
		}
		return set
	}
	opts.Set = value(0)
	lanes, err := m.Lanes(opts, true)
	if err != nil || lanes == nil {
		t.Fatalf("%s: lanes %v, %v", what, lanes, err)
	}
	alone, err := m.Prepare(opts)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // again, in the same memory
		made = 0
		rows, steps := make([][]float64, n), make([]int, n)
		lanes.Run(t.Context(), n, value, func(i int) []float64 {
			rows[i] = make([]float64, 100)
			return rows[i]
		}, steps)
		for i, row := range rows {
			if err := alone.Set(value(i)...); err != nil {
				t.Fatal(err)
			}
			s, err := alone.Sensitivities(t.Context())
			if steps[i] < 0 {
				if err == nil {
					t.Errorf("%s: run %d was not made in lanes, and alone it has no error", what, i)
				}
				continue
			}
			made++
			if err != nil {
				t.Fatalf("%s: run %d alone: %v", what, i, err)
			}
			if steps[i] != s.Stats.Steps {
				t.Errorf("%s: run %d: %d steps, alone %d", what, i, steps[i], s.Stats.Steps)
			}
			var want []float64
			for _, v := range s.Values {
				want = append(want, v.Value)
			}
			want = append(want, s.Gradient...)
			for k, x := range want {
				if math.Float64bits(row[k]) != math.Float64bits(x) {
					t.Fatalf("%s: run %d: number %d is %v, alone %v", what, i, k, row[k], x)
				}
			}
		}
	}
	return made
}
