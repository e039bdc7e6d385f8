package fit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"odes.dev/odes/fit"
)

// starts reads kept searches.
func starts(t *testing.T, text string) []fit.Start {
	t.Helper()
	list, err := fit.ReadStarts(text)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestDamaged: kept searches with one byte changed, lost or added are refused with the line, wherever that is; with an
// end that is torn off, those before it are read.
func TestDamaged(t *testing.T) {
	lines := make([]string, 3)
	for i := range lines {
		lines[i] = fit.WriteStart(fit.Start{
			Number: i, Status: "converged", From: []float64{1, 0.5}, To: []float64{0.25, 1e-9}, Value: 7.5,
		})
	}
	text := strings.Join(lines, "")
	for at := range text {
		line := 1 + strings.Count(text[:at], "\n")
		if n := len(starts(t, text[:at])); n != line-1 {
			t.Fatalf("cut at byte %d: %d searches", at, n)
		}
		for what, damaged := range map[string]string{
			"changed": text[:at] + string(text[at]^1) + text[at+1:],
			"lost":    text[:at] + text[at+1:],
			"added":   text[:at] + "7" + text[at:],
		} {
			list, err := fit.ReadStarts(damaged)
			if at == len(text)-1 && what != "added" { // the last line does not end any more
				if err != nil || len(list) != 2 {
					t.Errorf("byte %d %s: %d searches, %v", at, what, len(list), err)
				}
				continue
			}
			var d *fit.DamagedError
			if !errors.As(err, &d) || d.Line != line {
				t.Errorf("byte %d of line %d %s: %v", at, line, what, err)
			}
		}
	}
	if err := fmt.Sprint(&fit.DamagedError{Line: 2}); err != "line 2 is damaged" {
		t.Error(err)
	}
}
