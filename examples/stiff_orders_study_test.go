package examples_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/plot"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/methods"
)

// followers is the problem of Prothero and Robinson, whose solution is sin(t + π/4) whatever λ is.
const followers = `model Follower
time t from 0 to 1
param lambda = -1
state y = sin(pi/4)
y' = lambda*(y - sin(t + pi/4)) + cos(t + pi/4)
objective y_T = final(y)
`

// stiffOrdersKept are the orders that are left where |λ|h is large: of Runge–Kutta methods those of their stages;
// one where no other is listed. Errors of radau9 and radau13 are rounding.
var stiffOrdersKept = map[string]float64{
	"rosenbrock23": 2, "ros3p": 2, "rodas4p": 3, "rodas5p": 3, "implicit_midpoint": 2, "trapezoidal": 2, "theta": 2,
	"trbdf2": 2, "kvaerno3": 2, "esdirk32": 2, "esdirk4": 2, "kvaerno5": 2, "esdirk54": 2, "gauss4": 2, "gauss6": 4,
	"radau3": 2, "radau": 3, "radau5": 3, "lobatto_iiic4": 2,
}

// TestStiffOrders observes the orders of implicit methods on a problem that is not stiff, and on the same one where it
// is: two figures and a table of the manual, which go test ./examples -run StiffOrders -update draws.
func TestStiffOrders(t *testing.T) {
	m, err := odes.Parse("follower.ode", followers, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	after := func(method, steps string, lambda float64) float64 {
		s, err := m.Solve(t.Context(), odes.Options{
			Threads: 1, Set: []odes.Assignment{{Name: "lambda", Values: []float64{lambda}}},
			Settings: []odes.Setting{
				{Key: "solver.method", Value: method},
				{Key: "solver.fixed_step", Value: steps},
				{Key: "sens.trust", Value: "off"},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return math.Abs(s.Values[0].Value - math.Sin(1+math.Pi/4))
	}
	const rounding = 4e-15
	drawnToo := []string{"trapezoidal", "sdirk4", "esdirk54", "radau5", "gauss6", "rodas4", "rodas4p", "rodas5p"}
	cases := []struct {
		lambda  float64
		counts  []float64 // steps, for the order; the figures have all
		picture *plot.Lines
	}{
		{-1, []float64{8, 16}, &plot.Lines{Title: "λ = -1"}},
		{-1e6, []float64{16, 64}, &plot.Lines{Title: "λ = -10⁶"}},
	}
	var rows [][]string
	for _, spec := range methods.All() {
		if !spec.Can.Has(solvers.NeedsJacobian) || spec.Can.Has(solvers.SplitRates) {
			continue
		}
		row := []string{"`" + spec.Name + "`", fmt.Sprint(spec.Order)}
		for i := range cases {
			c := &cases[i]
			counts := c.counts
			if i == 0 && spec.Order >= 6 {
				counts = []float64{2, 4}
			}
			if i == 0 && spec.Order >= 9 {
				counts = []float64{1, 2}
			}
			var h, errs []float64
			for _, n := range counts {
				h, errs = append(h, 1/n), append(errs, after(spec.Name, fmt.Sprintf("%.17g", 1/n), c.lambda))
			}
			if errs[len(errs)-1] < rounding {
				row = append(row, fmt.Sprintf("%.0e", errs[len(errs)-1]), "–")
				if !(i == 1 && stiffOrdersKept[spec.Name] == 0 && spec.Order >= 9) && spec.Order < 13 {
					t.Errorf("%s: errors are rounding: %.2g", spec.Name, errs)
				}
				continue
			}
			order := slope(h, errs)
			want := float64(spec.Order)
			if i == 1 {
				want = max(stiffOrdersKept[spec.Name], 1)
				if order > want+0.6 {
					t.Errorf("%s: order %.2f where the problem is stiff, more than %v", spec.Name, order, want)
				}
			}
			if order < want-0.35 {
				t.Errorf("%s, λ = %g: errors %.2g, order %.2f, want %v", spec.Name, c.lambda, errs, order, want)
			}
			row = append(row, fmt.Sprintf("%.0e", errs[len(errs)-1]), fmt.Sprintf("%.1f", order))
			if slices.Contains(drawnToo, spec.Name) {
				k := plot.Curve{Name: spec.Name}
				for n := 4.0; n <= 256; n *= 2 {
					k.X = append(k.X, n)
					k.Y = append(k.Y, max(after(spec.Name, fmt.Sprintf("%.17g", 1/n), c.lambda), 1e-17))
				}
				c.picture.Curves = append(c.picture.Curves, k)
			}
		}
		rows = append(rows, row)
	}
	for i, name := range []string{"mild", "stiff"} {
		p := cases[i].picture
		p.X, p.Y = plot.Axis{Label: "steps", Log: true}, plot.Axis{Label: "error", Log: true}
		drawn(t, "../docs/figures/orders_"+name+".svg", p)
	}
	tabled(t, "../docs/methods-implicit.md", "stiff orders", []string{
		"method", "order", "error, λ = -1", "order", "error, λ = -10⁶", "order",
	}, rows)
}
