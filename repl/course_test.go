package repl

import (
	"context"
	"io"
	"math"
	"testing"

	"odes.dev/odes/fit"
	"odes.dev/odes/internal/front/analysis"
	"odes.dev/odes/plot"
)

// TestFitCourse: a fit is drawn as the course of what is observed, at the estimates and in the experiment, with the
// data on it and a band in its colour. The observed expression is no output.
func TestFitCourse(t *testing.T) {
	s := New(Config{})
	text := "model M\ntime t from 0 to 4\nparam k = 1 in [0.1, 3]\nparam a = 1\nstate x = a\nx' = -k*x\n" +
		"data D { time = [1, 2, 3]  y = [3.7, 1.35, 0.5] }\nobserve seen = 2*x ~ normal(0.1) from D.y\n" +
		"experiment high { a = 5  use D }\nobjective L = nll()\nfit { minimize = L  over = k }\n"
	if err := s.OpenText("m.ode", text); err != nil {
		t.Fatal(err)
	}
	m, err := s.model()
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	r, err := fit.Run(ctx, m, fit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	k := r.Estimates[0].Value
	p, err := analysis.Named("fit").Picture(About(ctx, s, m, r.Assignments()), r, "data")
	if err != nil {
		t.Fatal(err)
	}
	l := p.(*plot.Stack).Panels[0].(*plot.Lines)
	c := l.Curves[0]
	if len(c.X) < 100 || len(c.PX) != 3 || len(l.Bands) != 1 || l.Bands[0].Curve != 1 {
		t.Fatalf("%d points, %d data, %d bands", len(c.X), len(c.PX), len(l.Bands))
	}
	for i, x := range c.X {
		if want := 10 * math.Exp(-k*x); math.Abs(c.Y[i]-want) > 1e-3 {
			t.Fatalf("at %v: %v, not %v", x, c.Y[i], want)
		}
	}
	if err := plot.Write(io.Discard, "svg", plot.View{Residuals: true}.Of(p), plot.Page{}); err != nil {
		t.Error(err)
	}
	if err := plot.Write(io.Discard, "svg", p, plot.Page{}); err != nil {
		t.Error(err)
	}
}
