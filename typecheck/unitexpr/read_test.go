package unitexpr_test

import (
	"strings"
	"testing"

	"odes.dev/odes/typecheck/unitexpr"
)

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		"m/s^2": "m/s^2", "mg/L": "mg/L", "1/h": "1/h", "(mol/L)^2": "mol^2/L^2",
		"furlong": `not a unit; declare it`, "seconds": "; it is written s",
		"mgs": "no plural: mg",
		"mL2": "a power is written mL^2",
		"ml":  "the litre is written mL",
		"mls": "no plural, and the litre is written mL", "ls": "the litre is written L", "mols": "no plural: mol",
		"deg": "unit deg = pi/180", "m/": "not a unit", "": "not a unit", "s] = 3 [h": "not a unit",
	} {
		u, err := unitexpr.Read(text)
		got := u.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
