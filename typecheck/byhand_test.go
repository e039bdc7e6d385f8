package typecheck_test

import (
	"strings"
	"testing"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/typecheck"
)

// TestConvertedByHand has rates in another unit of time than the model. Where a bare number converts them already, it
// is that which gets a unit: `as` would convert them twice.
func TestConvertedByHand(t *testing.T) {
	for _, c := range []struct{ time, rate, of, fix string }{
		{"day", "mg/h", "-R*24", "24 [h/day]"},
		{"day", "mg/h", "24*R", "24 [h/day]"},
		{"h", "mg/day", "R/24", "24 [h/day]"},
		{"day", "mg/h", "-R/2*A/A*24", "24 [h/day]"},
		{"day", "mg/h", "R*2", "(R*2) as [mg/day]"},
		{"h", "mg/day", "R*24", "(R*24) as [mg/h]"},
		{"day", "mg/h", "R", "R as [mg/day]"},
	} {
		var list diag.List
		text := "time t : [" + c.time + "] from 0 to 1\nparam R = 3 [" + c.rate +
			"]\nstate A = 1 [mg]\nA' = " + c.of + "\n"
		typecheck.Check(parser.Parse(source.NewFile("m.ode", text), &list), typecheck.Env{}, &list)
		all := list.All()
		if len(all) == 0 || len(all[0].Fixes) != 1 {
			t.Errorf("%s: %v", c.of, all)
			continue
		}
		if got := all[0].Fixes[0].Text; got != c.fix {
			t.Errorf("%s: fix %q, want %q", c.of, got, c.fix)
		}
		if hand := strings.HasPrefix(c.fix, "24"); hand == strings.Contains(all[0].Message, "convert it with") {
			t.Errorf("%s: %s", c.of, all[0].Message)
		}
	}
}
