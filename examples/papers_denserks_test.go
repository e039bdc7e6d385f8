package examples_test

import (
	"fmt"
	"testing"
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
		for _, mode := range []string{"adjoint", "continuous"} {
			s := studied(t, model, "solver.method", "rk6fm", "solver.fixed_step", fmt.Sprint(step), "sens.mode", mode)
			_, d := off(s, want)
			errs[mode] = append(errs[mode], d)
			row = append(row, fmt.Sprintf("%.1e", d))
		}
		rows = append(rows, row)
	}
	last := []string{"slope"}
	for _, mode := range []string{"adjoint", "continuous"} {
		order := slope(h, errs[mode])
		if order < 5.5 || order > 7.5 {
			t.Errorf("%s: the error falls with order %.2f, want 6", mode, order)
		}
		last = append(last, fmt.Sprintf("%.2f", order))
	}
	tabled(t, "papers/denserks/README.md", "orders", []string{"steps", "discrete", "continuous"}, append(rows, last))
}
