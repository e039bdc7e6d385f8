package examples_test

import (
	"fmt"
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/plot"
)

// TestPaperDenserks observes the order of adjoints by the method of order 6 of DENSERKS, with steps of fixed length.
func TestPaperDenserks(t *testing.T) {
	const model = "vdp/vdp_classic.ode"
	want := exactly(t, model)
	var rows [][]string
	var h []float64
	errs := map[string][]float64{}
	for _, n := range []int{250, 400, 640, 1000} {
		step := 20 / float64(n)
		h = append(h, step)
		row := []string{fmt.Sprint(n)}
		for _, way := range denserksWays {
			s := studied(t, model, "solver.method", "rk6fm", "solver.fixed_step", fmt.Sprint(step), "sens.mode",
				way.mode, "solver.dense", way.dense)
			_, d := off(s, want)
			errs[way.head] = append(errs[way.head], d)
			row = append(row, fmt.Sprintf("%.1e", d))
		}
		rows = append(rows, row)
	}
	last := []string{"slope"}
	heads := []string{"steps"}
	for _, way := range denserksWays {
		order := slope(h, errs[way.head])
		if order < way.order-0.5 || order > way.order+1 {
			t.Errorf("%s: the error falls with order %.2f, want %v", way.head, order, way.order)
		}
		heads, last = append(heads, way.head), append(last, fmt.Sprintf("%.2f", order))
	}
	tabled(t, "papers/denserks/README.md", "orders", heads, append(rows, last))
}

var denserksWays = []struct {
	head, mode, dense string
	order             float64
}{
	{"discrete", "adjoint", "own", 6},
	{"continuous", "continuous", "own", 6},
	{"continuous, Hermite", "continuous", "hermite", 4},
}

// TestPaperSensitivities follows the derivative of a state by eps over time, by tangents and by discrete adjoints.
func TestPaperSensitivities(t *testing.T) {
	const folder = "papers/denserks/"
	var rows [][]string
	var picture plot.Lines
	picture.Title, picture.X.Label, picture.Y.Label = "dx/dε over time", "t", "dx/dε"
	for _, eps := range []string{"1", "0.1", "0.01"} {
		m := changed(t, folder+"sensitivities.ode", "eps = 0.1", "eps = "+eps)
		run := func(settings ...string) *odes.Sensitivities {
			o := odes.Options{Threads: 1, Settings: []odes.Setting{{Key: "sens.trust", Value: "off"}}}
			for i := 0; i < len(settings); i += 2 {
				o.Settings = append(o.Settings, odes.Setting{Key: settings[i], Value: settings[i+1]})
			}
			s, err := m.Sensitivities(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		want := run("sens.mode", "complex", "solver.method", "vern9", "solver.rtol", "1e-13", "solver.atol", "1e-13")
		tangent, adjoint := run(), run("sens.mode", "adjoint")
		curve := plot.Curve{Name: "ε = " + eps}
		apart, wrong, size := 0.0, 0.0, 0.0
		for k, d := range want.Gradient {
			apart = max(apart, math.Abs(tangent.Gradient[k]-adjoint.Gradient[k]))
			wrong, size = max(wrong, math.Abs(tangent.Gradient[k]-d)), max(size, math.Abs(d))
			curve.X, curve.Y = append(curve.X, 0.1*float64(k+1)), append(curve.Y, tangent.Gradient[k])
		}
		if apart > 1e-10*size || wrong > 1e-5*size {
			t.Errorf("ε = %s: tangent and adjoint differ by %g of %g, and are off by %g", eps, apart, size, wrong)
		}
		row := []string{eps}
		for _, k := range []int{9, 19, 29, 39} {
			row = append(row, fmt.Sprintf("%.5g", tangent.Gradient[k]))
		}
		rows = append(rows, append(row, fmt.Sprintf("%.0e", wrong/size)))
		picture.Curves = append(picture.Curves, curve)
	}
	tabled(t, folder+"README.md", "sensitivities", []string{"ε", "t = 1", "2", "3", "4", "error"}, rows)
	drawn(t, folder+"sensitivities.svg", &picture)
}

// TestPaperConvection finds the start of a wave from its end.
func TestPaperConvection(t *testing.T) {
	const folder = "papers/denserks/"
	m := changed(t, folder+"convection.ode")
	first := fitted(t, m, "fit.max_iter", "1").Objective.Value
	var rows [][]string
	last := math.Inf(1)
	for _, most := range []string{"5", "10", "20", "300"} {
		r := fitted(t, m, "fit.max_iter", most)
		worst := 0.0
		for i, e := range r.Estimates {
			at := (float64(i) + 0.5) / 40
			worst = max(worst, math.Abs(e.Value-math.Exp(-(at-0.35)*(at-0.35)/0.01)))
		}
		if r.Objective.Value > last {
			t.Errorf("the misfit rises to %g", r.Objective.Value)
		}
		last = r.Objective.Value
		rows = append(rows, []string{most, fmt.Sprintf("%.0e", last), fmt.Sprintf("%.0e", worst)})
		if most == "300" && (worst > 0.01 || last > 1e-4*first) {
			t.Errorf("the start is off by %g, the misfit is %g", worst, last)
		}
	}
	tabled(t, folder+"README.md", "convection", []string{"iterations at most", "misfit", "largest error of the start"},
		rows)
}
