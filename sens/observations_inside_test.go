package sens_test

import (
	"context"
	"math"
	"testing"

	"odes.dev/odes"
)

// TestObservationsInside reads many objectives at many times, in several sweeps that share their work,
// with events between. Adjoints and tangents must agree, and the observations must cost no steps.
func TestObservationsInside(t *testing.T) {
	const model = `
const n = 20
time t from 0 to 10
param r[n] = [0.5 + 0.02*i for i in 1:n]
param A[n,n] = [[if i == j then -1 else 0.01*sin(i + 2*j) for j in 1:n] for i in 1:n]
param level = 0.5, lag = 0.25
state x[n] = [0.05 + 0.01*i for i in 1:n]
x' = x*(r + A @ x)
event cut when x[20] > level { x[20] = 0.5*x[20] }
event feed at 3 + lag { x[1] += 0.1 }
objective seen[i] = sum_at(grid(0, 10, 101), x[i]^2) for i in 1:n
objective late[i] = sum_at([2 + lag, 4*lag, 3 + lag], x[i]*t) for i in 1:n
solver { rtol = 1e-7  atol = 1e-9 }
`
	m, err := odes.Parse("observed.ode", model, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	run := func(lanes int, settings ...string) *odes.Sensitivities {
		o := odes.Options{Lanes: lanes, Threads: 1}
		for i := 0; i < len(settings); i += 2 {
			o.Settings = append(o.Settings, odes.Setting{Key: settings[i], Value: settings[i+1]})
		}
		s, err := m.Sensitivities(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want := run(4, "sens.mode", "tangent")
	clipped := run(8, "solver.observe", "clip")
	for _, lanes := range []int{1, 4, 8} {
		got := run(lanes)
		if got.Stats.Steps >= clipped.Stats.Steps/2 {
			t.Fatalf("%d steps, %d that end at the observations", got.Stats.Steps, clipped.Stats.Steps)
		}
		if len(got.Values) != 40 || len(got.Events) < 2 {
			t.Fatalf("%d objectives, %d events", len(got.Values), len(got.Events))
		}
		for i := range got.Values {
			size := 0.0
			for k := i * got.Columns; k < (i+1)*got.Columns; k++ {
				size = math.Max(size, math.Abs(want.Gradient[k]))
			}
			for k := i * got.Columns; k < (i+1)*got.Columns; k++ {
				if d := math.Abs(got.Gradient[k] - want.Gradient[k]); d > 1e-12*size {
					t.Fatalf("%d lanes: derivative %d of %s is %v, the tangent %v", lanes, k%got.Columns,
						got.Values[i].Name, got.Gradient[k], want.Gradient[k])
				}
				if d := math.Abs(got.Gradient[k] - clipped.Gradient[k]); d > 1e-4*size {
					t.Fatalf("%d lanes: derivative %d of %s is %v, clipped %v", lanes, k%got.Columns,
						got.Values[i].Name, got.Gradient[k], clipped.Gradient[k])
				}
			}
		}
	}
}
