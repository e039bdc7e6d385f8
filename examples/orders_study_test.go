package examples_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"odes.dev/odes/plot"

	"odes.dev/odes/solvers/methods"
)

// slope returns the order seen in the errors of steps of length h: the slope of the least-squares
// line through their logarithms.
func slope(h, errs []float64) float64 {
	var sx, sy, sxx, sxy float64
	n := float64(len(h))
	for i := range h {
		x, y := math.Log(h[i]), math.Log(errs[i])
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}

// TestOrdersOfAdjoints observes, as the authors of DENSERKS did, that adjoints converge with the
// order of the method: the discrete adjoint, and the continuous one along the dense output. It
// takes steps of fixed length on the Arenstorf orbit and on the oscillator of Van der Pol.
func TestOrdersOfAdjoints(t *testing.T) {
	type study struct {
		method string
		steps  []float64
	}
	var rows [][]string
	for _, c := range []struct {
		name, model, figure, title string
		length                     float64
		studies                    []study
	}{
		{"`vdp_classic`", "vdp/vdp_classic.ode", "vdp/orders.svg", "Van der Pol, steps of fixed length", 20, []study{
			{"rk4", []float64{500, 1000, 2000, 4000}},
			{"ck45", []float64{400, 800, 1600, 3200}},
			{"dopri5", []float64{400, 800, 1600, 3200}},
			{"rk6", []float64{250, 400, 640, 1000, 1600}},
			{"vern6", []float64{160, 200, 280, 400}},
			{"vern7", []float64{160, 224, 320, 450}},
			{"rkf78", []float64{250, 360, 500, 720}},
			{"dopri8", []float64{125, 180, 250, 360, 500}},
			{"dop853", []float64{125, 180, 250, 360, 500}},
			{"vern8", []float64{100, 125, 160, 200}},
			{"vern9", []float64{100, 140, 200, 280}},
		}},
		{
			"`arenstorf`", "arenstorf/arenstorf.ode", "arenstorf/orders.svg", "Arenstorf orbit, steps of fixed length",
			1.7065216560157963,
			[]study{
				{"ck45", []float64{4000, 6400, 10000}},
				{"dopri5", []float64{4000, 6400, 10000}},
				{"rk6", []float64{5000, 7000, 10000}},
				{"vern6", []float64{2000, 2800, 4000}},
				{"vern7", []float64{2000, 2800, 4000}},
				{"rkf78", []float64{1000, 1400, 2000, 2800}},
				{"dopri8", []float64{1000, 1400, 2000, 2800}},
				{"dop853", []float64{1000, 1400, 2000, 2800}},
				{"vern8", []float64{1000, 1400, 2000}},
				{"vern9", []float64{800, 1100, 1500}},
			},
		},
	} {
		want := exactly(t, c.model)
		picture := &plot.Lines{
			Title: c.title, X: plot.Axis{Label: "steps", Log: true},
			Y: plot.Axis{Label: "error of the gradient", Log: true},
		}
		var csv bytes.Buffer
		csv.WriteString("method,mode,steps,error of gradient\n")
		for _, s := range c.studies {
			tab, ok := methods.Lookup(s.method)
			if !ok {
				t.Fatalf("no method %s", s.method)
			}
			row := []string{c.name, "`" + s.method + "`"}
			for _, mode := range []string{"adjoint", "continuous"} {
				var h, errs []float64
				k := plot.Curve{Name: s.method}
				if mode == "continuous" {
					k.Name += ", continuous"
				}
				for _, n := range s.steps {
					got := studied(t, c.model, "solver.method", s.method, "solver.fixed_step", fmt.Sprint(c.length/n),
						"sens.mode", mode,
						"sens.rtol", "1e-13", "sens.atol", "1e-13")
					_, d := off(got, want)
					h, errs = append(h, c.length/n), append(errs, d)
					k.X, k.Y = append(k.X, n), append(k.Y, d)
					fmt.Fprintf(&csv, "%s,%s,%v,%.2e\n", s.method, mode, n, d)
				}
				order := slope(h, errs)
				if order < float64(tab.Order)-0.55 {
					t.Errorf("%s %s %s: errors %.2g at h = %.2g, order %.2f, want %d", c.model, s.method, mode, errs, h,
						order, tab.Order)
				}
				row = append(row, fmt.Sprintf("%.1e … %.1e", errs[0], errs[len(errs)-1]), fmt.Sprintf("%.2f", order))
				if s.method == "dopri5" || s.method == "dopri8" || s.method == "dop853" {
					picture.Curves = append(picture.Curves, k)
				}
			}
			rows = append(rows, append(row[:2], append([]string{fmt.Sprintf("%v … %v", s.steps[0],
				s.steps[len(s.steps)-1])}, row[2:]...)...))
		}
		drawn(t, c.figure, picture)
		held(t, c.figure[:len(c.figure)-len("svg")]+"csv", csv.Bytes())
	}
	tabled(t, "../docs/methods-measured.md", "orders", []string{
		"model", "method", "steps", "error of the discrete adjoint",
		"order", "of the continuous one", "order",
	}, rows)
}

// TestTolerancesForwardAndBack varies the tolerances of the run and of the continuous adjoint
// independently. The run decides: its steps bound those of the backward integration, whose
// tolerance matters only where the adjoint is rougher than the solution.
func TestTolerancesForwardAndBack(t *testing.T) {
	tols := []string{"1e-4", "1e-6", "1e-8", "1e-10", "1e-12"}
	var rows [][]string
	for _, c := range []struct{ name, model, figure, title string }{
		{"`vdp_classic`", "vdp/vdp_classic.ode", "vdp/tolerances.svg", "Van der Pol, dop853"},
		{"`arenstorf`", "arenstorf/arenstorf.ode", "arenstorf/tolerances.svg", "Arenstorf orbit, dop853"},
	} {
		want := exactly(t, c.model)
		picture := &plot.Lines{
			Title: c.title, X: plot.Axis{Label: "tolerance of the way back", Log: true},
			Y: plot.Axis{Label: "error of the continuous adjoint", Log: true},
		}
		var table [5][5]float64
		for i, forward := range tols {
			k := plot.Curve{Name: "run at " + forward}
			_, discrete := off(studied(t, c.model, "solver.method", "dop853", "solver.rtol", forward, "solver.atol",
				forward), want)
			row := []string{c.name, forward, fmt.Sprintf("%.1e", discrete)}
			for j, back := range tols {
				_, table[i][j] = off(studied(t, c.model, "sens.mode", "continuous", "solver.method", "dop853",
					"solver.rtol", forward, "solver.atol", forward, "sens.rtol", back, "sens.atol", back), want)
				k.X, k.Y = append(k.X, math.Pow(10, -float64(4+2*j))), append(k.Y, table[i][j])
				row = append(row, fmt.Sprintf("%.1e", table[i][j]))
			}
			picture.Curves = append(picture.Curves, k)
			rows = append(rows, row)
		}
		for i := range len(tols) - 1 {
			if !(table[i][4] > 10*table[i+1][4]) {
				t.Errorf("%s: a tighter run does not help: %.1e", c.model, table)
			}
		}
		drawn(t, c.figure, picture)
	}
	head := append([]string{"model", "run at", "discrete"}, tols...)
	tabled(t, "../docs/methods-measured.md", "tolerances", head, rows)
}
