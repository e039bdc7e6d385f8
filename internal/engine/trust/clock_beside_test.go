package trust_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"odes.dev/odes"
)

// TestTimeBesideRoots has a condition of time alone become true where a state meets a kink or a threshold. The root of
// the state may be found some last digits before that time. The condition changes there, too, and only once.
func TestTimeBesideRoots(t *testing.T) {
	conditions := []string{"t >= c", "t > c", "not (t < c)", "t*t > c^2", "exp(t) > exp(c)", "s > 0.6*c and t >= c"}
	kinks := []string{"abs(s - 0.6*c)", "max(s, 0.6*c)", "if s > 0.6*c then 2 else 0"}
	methods := []string{"dopri5", "bs3", "dop853", "vern8", "vern9", "radau5", "rodas5p", "auto"}
	for i, c := range []float64{0.2, 0.8284, 1, 1.6} {
		for j, condition := range conditions {
			for k, kink := range kinks {
				method := methods[(i+2*j+3*k)%len(methods)]
				text := fmt.Sprintf("time t from 0 to 2\nparam c = %g\nstate s = 0, x = 0, y = 0.5\ndiscrete g = 1\n"+
					"s' = 0.6\nx' = %s\ny' = if t >= c then 1 else 0\nevent e when %s { g = 2*g }\n"+
					"objective G = final(g)\nobjective I = integral(g)\nobjective Y = final(y)\n"+
					"objective X = sum_at([c], x)\nsolver { method = %s }",
					c, kink, condition, method)
				m, err := odes.Parse("beside.ode", text, odes.ParseOptions{})
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				r, err := m.Prepare(odes.Options{Threads: 1})
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				s, err := r.Sensitivities(context.Background())
				if err != nil {
					t.Errorf("%v\n%s", err, text)
					continue
				}
				want := map[string]float64{"G": 2, "I": 4 - c, "Y": 2.5 - c}
				for _, v := range s.Values {
					if w, known := want[v.Name]; known && !(math.Abs(v.Value-w) <= 1e-5) {
						t.Errorf("%s is %g in place of %g\n%s", v.Name, v.Value, w, text)
					}
				}
			}
		}
	}
}
