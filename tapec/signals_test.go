package tapec_test

import (
	"slices"
	"testing"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
	"odes.dev/odes/typecheck"
)

// TestSignals finds what depends on time alone, as large as it can be, unless it is affine.
func TestSignals(t *testing.T) {
	for _, c := range []struct {
		rate string
		want []float64 // at t = 2, a = 3
	}{
		{"-x + a*t", nil},
		{"-x*(1 + t/a)", nil},
		{"a*x", nil},
		{"a*t^2", []float64{12}},
		{"x*(1 + a*t^2) - t", []float64{13}},
		{"x*t^2 + t^3*exp(-x)", []float64{4, 8}},
		{"max(t, a)*x", []float64{3}},
		{"if t > a then t^2 else x", []float64{4}},
	} {
		var list diag.List
		text := "time t from 0 to 1\nparam a = 3\nstate x = 0\nx' = " + c.rate + "\n"
		m := typecheck.Check(parser.Parse(source.NewFile("test.ode", text), &list), typecheck.Env{}, &list)
		if err := list.Err(); err != nil {
			t.Fatal(err)
		}
		var got []float64
		if s, _ := tapec.Signals(tapec.Compile(m, &list).Rates, nil); s != nil {
			e := tape.NewEvaluator[float64](s)
			e.Input("t")[0] = 2
			copy(e.Input("p.a"), []float64{3})
			e.Run()
			got = e.Output(tapec.SignalValues.Name().String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s has the signals %v, want %v", c.rate, got, c.want)
		}
	}
}
