package odes_test

import (
	"math"
	"testing"

	"odes.dev/odes"
)

// TestPiecewise compares runs with controls, and their derivatives by values and by times, with closed forms. x is the
// integral of u, and J = x(T) + a·x(s) in terms of the values u and the times 0, s, r, T of the grid.
func TestPiecewise(t *testing.T) {
	m, err := odes.Parse("control.ode", `
time t from 0 to T
param T = 3, s = 0.5, r = 1.25, a = 2
control u = [1, -2, 0.5] piecewise constant on [0, s, r, T]
control w = [1, -2, 0.5, 3] piecewise linear on [0, s, r, T]
control p[2] = [[1, 2, 3], [-1, 4, 2]] piecewise linear on grid(0, T, 3)
control q[2] = [[1, 2], [-1, 4]] piecewise constant on grid(0, T, 3)
control one = 4 piecewise constant on [0, 1]
state x = 0, y = 0, z[2] = 0, v[2] = 0, k = 0
x' = u
y' = w
z' = p
v' = q
k' = one
objective X = final(x)
objective S = final(x) + a*integral(u, from = 0, to = s)
objective Q = integral(u^2)
objective Y = final(y)
objective Z = final(z[1]) + 10*final(z[2])
objective V = final(v[1]) + 10*final(v[2])
objective K = final(k)
objective M = max_over(x)
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{Settings: []odes.Setting{{Key: "solver.rtol", Value: "1e-12"}}})
	if err != nil {
		t.Fatal(err)
	}
	const T, b, r, a = 3, 0.5, 1.25, 2
	lengths := []float64{b, r - b, T - r}
	want := map[string]struct {
		value float64
		d     map[string][]float64
	}{
		"X": {1*b - 2*(r-b) + 0.5*(T-r), map[string][]float64{
			"u": lengths, "T": {0.5}, "s": {3}, "r": {-2.5}, "w": {0, 0, 0, 0},
		}},
		"S": {(1+a)*1*b - 2*(r-b) + 0.5*(T-r), map[string][]float64{
			"u": {(1 + a) * b, r - b, T - r}, "s": {3 + a}, "r": {-2.5}, "a": {b},
		}},
		"Q": {1*b + 4*(r-b) + 0.25*(T-r), map[string][]float64{
			"u": {2 * b, -4 * (r - b), T - r}, "s": {-3}, "r": {3.75},
		}},
		"Y": {(1-2)/2.0*b + (-2+0.5)/2*(r-b) + (0.5+3)/2*(T-r), map[string][]float64{
			"w": {b / 2, r / 2, (T - b) / 2, (T - r) / 2}, "s": {0.25}, "r": {-2.5}, "T": {1.75}, "u": {0, 0, 0},
		}},
		"Z": {T / 4.0 * (1 + 4 + 3 + 10*(-1+8+2)), map[string][]float64{
			"p": {T / 4.0, T / 2.0, T / 4.0, 10 * T / 4.0, 10 * T / 2.0, 10 * T / 4.0}, "T": {(8 + 90) / 4.0},
		}},
		"V": {T / 2.0 * (3 + 30), map[string][]float64{
			"q": {T / 2.0, T / 2.0, 10 * T / 2.0, 10 * T / 2.0}, "T": {33 / 2.0},
		}},
		"K": {12, map[string][]float64{"one": {3}, "T": {4}}},
		"M": {b, map[string][]float64{"u": {b, 0, 0}, "s": {1}, "r": {0}}},
	}
	for i, v := range s.Values {
		w := want[v.Name]
		if math.Abs(v.Value-w.value) > 1e-10 {
			t.Errorf("%s is %.12g, want %.12g", v.Name, v.Value, w.value)
		}
		at := 0
		for _, x := range s.Variables {
			for k := range x.Size() {
				if d, ok := w.d[x.Name]; ok {
					if got := s.Gradient[i*s.Columns+at]; math.Abs(got-d[k]) > 1e-9 {
						t.Errorf("d%s/d%s[%d] is %.12g, want %.12g", v.Name, x.Name, k+1, got, d[k])
					}
				}
				at++
			}
		}
	}
	if n := len(s.Events); n != 3 || s.Events[0].Kind != "control" || s.Events[0].Name != "u[1]" {
		t.Errorf("%d ends of pieces: %v", n, s.Events)
	}
}
