package lag_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestSecondMoving compares Hessians of models whose delays move with differences of gradients.
func TestSecondMoving(t *testing.T) {
	for _, c := range []struct {
		name, text string
		p          map[string]float64
	}{
		{"time", `time t from 0 to 4
param a = %a, b = %b, c = %c, p = %p
state x = p
past x = p + c*t
x' = -a*delay(x, b + 0.3*c*sin(t)) + 0.2*x
objective J = final(x^2)
objective K = integral(x*delay(x, b + 0.3*c*sin(t)))`, map[string]float64{"a": 0.9, "b": 0.8, "c": 0.5, "p": 1.1}},
		{"jump", `time t from 0 to 4
param a = %a, b = %b, c = %c, p = %p
state x = p
past x = 0.4
x' = -a*delay(x, b + 0.2*c*t) + 0.2*x
event kick at 1.1*c + 0.3 { x += 0.5*a }
objective J = final(x^2)
objective K = integral(x*x)`, map[string]float64{"a": 0.9, "b": 0.8, "c": 0.5, "p": 1.1}},
		{"state", `time t from 0 to 5
param a = %a, b = %b, c = %c, p = %p
state x = p, y = 0.3
x' = -a*delay(x, b + 0.2*c*y^2) + 0.1*x
y' = x - c*y
event kick at 1.3*c + 0.3 { x += 0.5*a }
objective J = final(x^2)
objective K = integral(x*y)`, map[string]float64{"a": 0.9, "b": 0.8, "c": 0.5, "p": 1.1}},
	} {
		text := func(p map[string]float64) string {
			s := c.text
			for k, v := range p {
				s = strings.ReplaceAll(s, "%"+k, fmt.Sprint(v))
			}
			return s + "\n"
		}
		by := []string{"a", "b", "c", "p"}
		for _, method := range []string{"dop853", "radau9", "rodas5p"} {
			settings := map[string]string{"solver.rtol": "1e-11", "solver.method": method}
			want := map[string]float64{}
			for _, name := range by {
				for _, step := range []struct{ h, w float64 }{{1, 8}, {-1, -8}, {2, -1}, {-2, 1}} {
					const h = 2e-3
					moved := map[string]float64{}
					for k, v := range c.p {
						moved[k] = v
					}
					moved[name] += step.h * h
					for k, v := range gradients(sensitivities(t, text(moved), by, settings)) {
						want[k+" "+name] += step.w * v / (12 * h)
					}
				}
			}
			settings["sens.order"] = "2"
			s := sensitivities(t, text(c.p), by, settings)
			n := len(s.Variables)
			for i, v := range s.Values {
				for j, x := range s.Variables {
					for k, y := range s.Variables {
						got, to := s.Hessian[(i*n+j)*n+k], want[v.Name+" "+x.String()+" "+y.String()]
						if !(math.Abs(got-to) <= 1e-6*max(1, math.Abs(to))) {
							t.Errorf("%s by %s: ∂²%s/∂%v∂%v = %.10g, want %.10g", c.name, method, v.Name, x, y, got, to)
						}
					}
				}
			}
		}
	}
}
