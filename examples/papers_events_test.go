package examples_test

import (
	"fmt"
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// TestPaperEvents compares the derivatives of a ball's run through a bounce, at a given time and where its height says,
// with their closed forms. It then fits gravity and restitution to heights over several bounces.
func TestPaperEvents(t *testing.T) {
	const folder, g, gamma, z0, v0, end = "papers/sciml_events/", 10.0, 0.8, 5.0, -0.1, 1.9
	w := math.Sqrt(v0*v0 + 2*g*z0)
	tau := (v0 + w) / g
	rest := end - tau
	// By g, gamma, z0 and v0. Of the implicit event, with dw = (z0, 0, g, v0)/w and z(end) = γ w rest - g rest²/2:
	dw := [4]float64{z0 / w, 0, g / w, v0 / w}
	dtau := [4]float64{dw[0]/g - tau/g, 0, dw[2] / g, (1 + dw[3]) / g}
	var implicit, explicit [3][4]float64 // of z_T, before and after
	for i := range 4 {
		implicit[1][i] = -dw[i]
		implicit[2][i] = gamma * dw[i]
		implicit[0][i] = gamma*dw[i]*rest - (gamma*w-g*rest)*dtau[i]
	}
	implicit[0][0] -= rest * rest / 2
	implicit[0][1], implicit[2][1] = w*rest, w
	// Of the explicit one, with v = v0 - g τ before and z = z0 + v0 τ - g τ²/2 at it:
	explicit[1] = [4]float64{-tau, 0, 0, 1}
	explicit[2] = [4]float64{gamma * tau, w, 0, -gamma}
	explicit[0] = [4]float64{
		-tau*tau/2 + gamma*tau*rest - rest*rest/2, w * rest, 1, tau - gamma*rest,
	}
	var rows [][]string
	for _, c := range []struct {
		event string
		want  [3][4]float64
	}{{"explicit", explicit}, {"implicit", implicit}} {
		for _, mode := range []string{"adjoint", "tangent", "continuous", "forward", "complex"} {
			s := studied(t, folder+c.event+".ode", "sens.mode", mode)
			for o, name := range []string{"z_T", "before", "after"} {
				row := []string{c.event, "`" + name + "`", fmt.Sprintf("%.6f", s.Values[o].Value)}
				if s.Values[o].Name != name || s.Columns != 4 {
					t.Fatalf("objective %d of %s is %s", o, c.event, s.Values[o].Name)
				}
				for i, want := range c.want[o] {
					got := s.Gradient[o*4+i]
					if math.Abs(got-want) > 1e-9 {
						t.Errorf("%s, %s: derivative %d of %s is %.12g, closed form %.12g", c.event, mode, i, name, got,
							want)
					}
					row = append(row, fmt.Sprintf("%.5f", got+0))
				}
				if mode == "adjoint" {
					rows = append(rows, row)
				}
			}
		}
	}
	tabled(t, folder+"README.md", "events", []string{"event", "", "value", "by g", "by γ", "by z0", "by v0"}, rows)

	m, err := odes.ParseFile(folder + "fit.ode")
	if err != nil {
		t.Fatal(err)
	}
	r, err := fit.Run(t.Context(), m, fit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows = nil
	for i, e := range r.Estimates {
		truth := [2]float64{g, gamma}[i]
		if math.Abs(e.Value-truth) > 3*e.StdErr {
			t.Errorf("%s is %g ± %g, made with %g", e.Name, e.Value, e.StdErr, truth)
		}
		rows = append(rows, []string{
			"`" + e.Name + "`", fmt.Sprint(truth), fmt.Sprintf("%.5f", e.Value), fmt.Sprintf("%.5f", e.StdErr),
		})
	}
	tabled(t, folder+"README.md", "fit", []string{"", "made with", "estimate", "standard error"}, rows)
}
