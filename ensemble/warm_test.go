package ensemble_test

import (
	"math"
	"slices"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
)

// TestWarmChains sweeps a switch with steady_start = warm: rows have the same bits however many threads there are and
// however many members they compute at a time, chains begin at what the runs lead to, and a warning says that the
// others may be elsewhere. With values that no steady state reads, all members share one.
func TestWarmChains(t *testing.T) {
	const text = `
time t from 0 to 1
param less = 0.7, loss = 2.52, gain = 1
state x = 0
x' = 1 - less + 3*x^2 - x^3 - loss*x
objective level = gain*steady(x)
sens { wrt = [less] }
`
	m, err := odes.Parse("switch.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rows := func(
		start string, threads, chunk int, gradient bool, axes ...ensemble.Axis,
	) ([]float64, *ensemble.Problem) {
		job := &ensemble.Job{
			Design:  ensemble.Design{Points: ensemble.Grid, Axes: axes},
			Options: []odes.Setting{{Key: "solver.steady_start", Value: start}}, Chunk: chunk, Gradient: gradient,
		}
		p, err := ensemble.OpenModel(job, m)
		if err != nil {
			t.Fatal(err)
		}
		var list []float64
		if _, err := ensemble.Run(t.Context(), p, ensemble.Config{
			Backend: ensemble.Local{Threads: threads},
			Each: func(c *ensemble.Chunk) error {
				list = append(list, c.Rows...)
				return nil
			},
		}); err != nil {
			t.Fatal(err)
		}
		return list, p
	}
	less := ensemble.Span("less", "", 0.1, 0.7, false, 21) // the upper state goes on where no run leads to it
	loss := ensemble.Span("loss", "", 2.5, 2.52, false, 2)
	for _, gradient := range []bool{false, true} {
		first, p := rows("warm", 1, 0, gradient, loss, less)
		if len(p.Warnings()) != 1 {
			t.Errorf("warnings: %v", p.Warnings())
		}
		own, q := rows("own", 1, 0, gradient, loss, less)
		if len(q.Warnings()) != 0 {
			t.Errorf("warnings: %v", q.Warnings())
		}
		width, others := p.Table.Width(), 0
		for i := range len(own) / width {
			x, y := first[i*width+2], own[i*width+2]
			if f, l := 1-own[i*width+1], own[i*width]; math.Abs(f+3*x*x-x*x*x-l*x) > 1e-13 {
				t.Errorf("feed = %v: %v is no steady state", f, x)
			}
			if math.Abs(x-y) > 1e-9 {
				others++
			}
			if i%21 == 0 && x != y {
				t.Errorf("member %d begins a chain with %v, and the run leads to %v", i, x, y)
			}
		}
		if others == 0 || others > 20 {
			t.Errorf("%d of 42 members are elsewhere", others)
		}
		for _, by := range [][2]int{{4, 0}, {3, 5}, {2, 40}} {
			if again, _ := rows("warm", by[0], by[1], gradient, loss, less); !slices.Equal(again, first) {
				t.Errorf("other bits with %d threads and %d members at a time", by[0], by[1])
			}
		}
	}
	r, err := m.Prepare(odes.Options{Settings: []odes.Setting{{Key: "sens.trust", Value: "off"}}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if err := r.Set(odes.Assignment{Name: "gain", Values: []float64{float64(i)}}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Sensitivities(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if w := r.SteadyWork(); w.Searches != 5 || w.Known != 4 || w.Warm != 0 {
		t.Errorf("one steady state for all values of gain: %+v", w)
	}
}
