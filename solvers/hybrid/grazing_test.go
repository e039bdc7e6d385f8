package hybrid_test

import (
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestGrazingScales holds that neither units nor states that a condition does not read make an event graze it, and that
// what does graze its condition does so in any units.
//
//odes:goroutines
func TestGrazingScales(t *testing.T) {
	const ball = "\nstate v = 0\ny' = v\nv' = -9.81\nevent bounce when y < 0 { v = -0.8*v }\nobjective J = final(y)\n"
	for text, want := range map[string]bool{
		"time t from 0 to 9\nparam a = 1\nstate x = 0, q = 0\nx' = a\nq' = 1e9\n" +
			"event e when x > 5 { x = 0 }\nobjective J = final(x)\n": false,
		"time t from 0 to 0.0039\nstate y = 1e-6" + ball: false,
		"time t from 0 to 3.9\nstate y = 1" + ball:       false,
		"time t from 0 to 2\nparam top = 1\nstate x = 0, y = 1\nx' = y\ny' = -x\n" +
			"event e when x >= top - 1e-7 { y += 1 }\nobjective J = final(x)\n" +
			"solver { rtol = 1e-10  atol = 1e-12  hmax = 1e-3 }\n": true,
		"time t from 0 to 2\nparam top = 1e9\nstate x = 0, y = 1e9, q = 0\nx' = y\ny' = -x\nq' = 1e-9\n" +
			"event e when x >= top - 1e2 { y += 1 }\nobjective J = final(x)\n" +
			"solver { rtol = 1e-10  atol = 1e-3  hmax = 1e-3 }\n": true,
	} {
		m, err := odes.Parse("graze.ode", text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Events) == 0 || modeltest.Warned(s, odes.CodeGrazing) != want {
			t.Errorf("%s: %d events, warnings %v, want grazing %v", text, len(s.Events), s.Warnings, want)
		}
	}
}

// TestNearMiss holds that a condition which is missed by less than the run may be off is told, and none that is missed
// by more: within a step, and where a step ends at the peak.
//
//odes:goroutines
func TestNearMiss(t *testing.T) {
	for _, method := range []string{"dopri5", "tsit5", "vern7", "rodas5p", "radau5"} {
		for _, tick := range []string{"", "event tick at pi/2 { n += 1 }\n"} {
			for top, want := range map[string]bool{"1.0000005": true, "1.0001": false, "2": false} {
				s, err := modeltest.Sensitivities(t,
					"time t from 0 to 4\nparam w = 1\nstate x = 0, v = 1\ndiscrete n = 0\n"+
						"x' = v\nv' = -w^2*x\n"+tick+"event up when x > "+top+" { v = 0.5*v }\n"+
						"objective J = final(x)\nsolver { method = "+method+"  rtol = 1e-6 }\n", "adjoint")
				if err != nil {
					t.Fatal(err)
				}
				if modeltest.Warned(s, odes.CodeHidden) != want {
					t.Errorf("%s, %s%s: %v", method, tick, top, s.Warnings)
				}
			}
		}
	}
}

// TestGrazingMarks holds that derivatives by what makes a grazing event come or go are marked: the state begins beside
// the threshold, and turns back to it at rest.
//
//odes:goroutines
func TestGrazingMarks(t *testing.T) {
	s, err := modeltest.Sensitivities(t, `
time t from 0 to 0.1924
param om = 104, x0 = 2.9, c = 2.9, D = 3.491, ke = 10.33
state x = x0, v = 0, y = 0.4233
alg q = 0
x' = v
v' = -om^2*x
y' = -ke*y
0 = q + 0.5*sin(q) - x - 0.5*sin(x)
event e when q < c { y += D }
objective J = final(y)
solver { rtol = 1e-4 }
`, "adjoint")
	if err != nil {
		t.Fatal(err)
	}
	if !modeltest.Warned(s, odes.CodeGrazing) {
		t.Fatalf("no warning: %v", s.Warnings)
	}
	for _, v := range s.Variables {
		if d := s.Derivative(0, v)[0]; math.Abs(d) > 1e6 && s.Trust(0, v) == odes.Sound {
			t.Errorf("by %v: %g, without a mark", v, d)
		}
	}
}

// TestTieOfUnknown holds that a tie at the start marks what moves the unknown that a condition reads.
func TestTieOfUnknown(t *testing.T) {
	s, err := modeltest.Sensitivities(t, `
time t from 0 to 1
param x0 = 0.5, c = 0.5, k = 2, D = 3
state x = x0, y = 0
alg q = 0
x' = -k*x
y' = 0
0 = q - x
event e when q < c { y += D }
objective J = final(y)*event_time(e, 1)
`, "adjoint")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range s.Variables {
		want := v.Name == "x0" || v.Name == "c"
		if d, marked := s.Derivative(0, v)[0], s.Trust(0, v) != odes.Sound; marked != want || want && d == 0 {
			t.Errorf("by %v: %g, marked %v", v, d, marked)
		}
	}
}
