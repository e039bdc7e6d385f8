package help

import (
	"slices"
	"testing"

	"odes.dev/odes/solvers"
	"odes.dev/odes/typecheck"
)

// TestMethodSettings requires that settings of method families are explained with those of every run.
func TestMethodSettings(t *testing.T) {
	for _, f := range solvers.Families() {
		for _, s := range f.Settings {
			if !slices.ContainsFunc(typecheck.SettingRows("solver"), func(r typecheck.SettingRow) bool {
				return slices.Contains(r.Keys, s.Name)
			}) {
				t.Errorf("the setting %s of %s methods is not explained", s.Name, f.Name)
			}
		}
	}
}
