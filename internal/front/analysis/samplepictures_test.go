package analysis

import (
	"math"
	"testing"

	"odes.dev/odes/fit"
	"odes.dev/odes/internal/front/posterior"
	"odes.dev/odes/plot"
)

// drawnTwice is what two chains drew of two params, the second twice the first.
func drawnTwice() *posterior.Result {
	r := &posterior.Result{Params: []posterior.Param{{Name: "k", Unit: "1/h"}, {Name: "A", Index: []int{1}}}}
	for c := range 2 {
		var a, b []float64
		for i := range 400 {
			x := math.Sin(float64(i*(c+3))) + 2
			a, b = append(a, x), append(b, 2*x)
		}
		r.Chains = append(r.Chains, posterior.Chain{Values: [][]float64{a, b}, LogP: a})
	}
	return r
}

func TestSamplePictures(t *testing.T) {
	r := drawnTwice()
	if s := traces(r).(*plot.Stack); len(s.Panels) != 2 || len(s.Panels[0].(*plot.Lines).Curves) != 2 ||
		s.Panels[0].(*plot.Lines).Y.Unit != "1/h" {
		t.Errorf("%+v", s)
	}
	s := ranks(r).(*plot.Stack)
	for _, c := range s.Panels[1].(*plot.Lines).Curves {
		sum := 0.0
		for i := 0; i < len(c.Y); i += 2 { // each bin has two points
			sum += c.Y[i]
		}
		if sum != 400 {
			t.Errorf("%v draws have ranks", sum)
		}
	}
	k := cornerOfDraws(r).(*plot.Corner)
	if len(k.Rows) != 2 || len(k.Rows[1]) != 2 {
		t.Fatalf("%+v", k)
	}
	pair := k.Rows[1][0].(*plot.Lines)
	for i, x := range pair.Curves[0].X {
		if pair.Curves[0].Y[i] != 2*x {
			t.Errorf("(%g, %g) was not drawn", x, pair.Curves[0].Y[i])
		}
	}
	if sets := setsOf(r); len(sets) != mostRuns || len(sets[0]) != 2 || sets[0][1].Values[0] != 2*sets[0][0].Values[0] {
		t.Errorf("%v", sets[0])
	}
	// The density of a uniform prior is level, of the height of its width.
	r.Params[0].Prior = func(p float64) float64 { return 4 * p }
	for _, y := range beside(r).(*plot.Stack).Panels[0].(*plot.Lines).Curves[1].Y {
		if math.Abs(y-0.25) > 1e-9 {
			t.Fatalf("the density of the prior is %g", y)
		}
	}
	if _, err := bandsOfDraws(&About{}, r); err == nil {
		t.Error("there are courses of no model")
	}
	q := quantiles([][]float64{{1, 5}, {2, math.NaN()}, {4, math.NaN()}}, 0.5)
	if q[0] != 2 || !math.IsNaN(q[1]) {
		t.Errorf("%v", q)
	}
}

func TestCorrelationAndPairs(t *testing.T) {
	r := fittedTwo()
	h := correlation(nil, r).(*plot.Heat)
	if h.ColNames[1] != "initial(x)" || h.Range.From != -1 {
		t.Errorf("%+v", h)
	}
	k := pairs(nil, r).(*plot.Corner)
	ellipse := k.Rows[1][0].(*plot.Lines).Curves[0]
	for i := range ellipse.X { // the quadratic form is chi² of two degrees at 95 %, -2 log(0.05)
		u, v := (ellipse.X[i]-2)/0.5, math.Log(ellipse.Y[i]/3)/(0.3/3)
		if got := (u*u - 2*0.8*u*v + v*v) / (1 - 0.64); math.Abs(got+2*math.Log(0.05)) > 1e-9 {
			t.Errorf("(%g, %g): %g", u, v, got)
		}
	}
	r.Correlation = nil
	if correlation(nil, r) != nil || pairs(nil, r) != nil {
		t.Error("pictures of no errors")
	}
}

// fittedTwo is a fit of two numbers, the logarithm of the second.
func fittedTwo() *fit.Result {
	inf := math.Inf(1)
	return &fit.Result{
		Estimates: []fit.Estimate{
			{Name: "k", Value: 2, StdErr: 0.5, LowBound: -inf, HighBound: inf},
			{Name: "x", Initial: true, Log: true, Value: 3, StdErr: 0.3, LowBound: 0, HighBound: inf},
		},
		Correlation: [][]float64{{1, 0.8}, {0.8, 1}},
	}
}
