package system_test

import (
	"fmt"
	"strings"
	"testing"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/record"
)

// counting counts how often objectives are pulled through what they read, and how often all peaks are read at once.
type counting struct {
	*system.Worker
	n, all *int
}

func (c counting) Heights(t float64, y, e []float64) {
	*c.all++
	c.Worker.Heights(t, y, e)
}

func (c counting) ObservePull(pt *sens.Point, fb, ymb, dmb, ypb, dpb, tb []float64) {
	*c.n++
	c.Worker.ObservePull(pt, fb, ymb, dmb, ypb, dpb, tb)
}

// TestSelective: objectives that each read one of n places of a run are pulled through that one, not through all n, and
// to the derivatives that they have alone.
func TestSelective(t *testing.T) {
	const n = 40
	const head = "time t from 0 to 10\nparam w = 3, a = 0.2\nstate x = 1, v = 0, c = 0\nx' = v\nv' = -w^2*x\nc' = a\n"
	for name, of := range map[string]func(i int) string{
		"firings": func(i int) string { return fmt.Sprintf("at_event(tick, x*c, nth = %d)", i+1) },
		"events":  func(i int) string { return fmt.Sprintf("event_time(e%d, 1)", i) },
		"times":   func(i int) string { return fmt.Sprintf("sum_at([%g], x*c)", 0.1+float64(i)/5) },
		"peaks":   func(i int) string { return fmt.Sprintf("max_over(x*exp(-(t - %g)^2))", 1+float64(i)/5) },
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			text.WriteString(head + "event tick every 0.23 { v = v + 0.01*c }\n")
			for i := range n {
				fmt.Fprintf(&text, "event e%d when c >= %g { c = c }\n", i, 0.01+float64(i)/25)
				fmt.Fprintf(&text, "objective J%d = %s\n", i, of(i))
			}
			m := modelOf(t, text.String())
			gradient := func(lanes int, rows ...int) (dp []float64, pulled, all int) {
				p := system.NewProblem(m, pointOf(t, m), rows, m.PeaksOf(m.Checked.Objectives))
				p.Differentiate([]string{"w", "a"})
				p.CompileAfter = compiled.CompileAfter{} // so that samples are read by programs of whole steps
				opts := solvers.Options{RTol: 1e-6, ATol: 1e-9}
				by := func(w *system.Worker) sens.CotangentObjectives { return counting{w, &pulled, &all} }
				res := adjointBy(t, p, "dopri5", opts, lanes, &record.Trajectory{}, by)()
				return res.DP, pulled, all
			}
			all := make([]int, n)
			for i := range all {
				all[i] = i
			}
			got, pulled, read := gradient(1, all...)
			if most := 4 * n; pulled > most { // the start, the end and the place
				t.Errorf("%d objectives are pulled through %d places, want %d at most", n, pulled, most)
			}
			// Samples in parts of steps read all; where each is largest it is read with few others.
			if most := 60 * n; read > most {
				t.Errorf("all largest values are read %d times, want %d at most", read, most)
			}
			for _, i := range []int{0, n / 2, n - 1} {
				want, _, _ := gradient(1, i)
				for j, x := range want {
					if y := got[i*len(want)+j]; y != x {
						t.Errorf("derivative %d of objective %d is %v, and %v alone", j, i, y, x)
					}
				}
			}
		})
	}
}
