package stdlib

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestForeign: advice on names of other languages is about names that are not known here, and names functions that are.
func TestForeign(t *testing.T) {
	known := func(name string) bool {
		return slices.ContainsFunc(Funcs(), func(f *Func) bool { return f.Name == name })
	}
	calls := regexp.MustCompile(`[a-z_0-9]+\(`)
	for name, advice := range foreign {
		if known(name) || name != strings.ToLower(name) {
			t.Errorf("%q: there is a function of that name, or it is not in lower case", name)
		}
		for _, call := range calls.FindAllString(advice, -1) {
			if f := strings.TrimSuffix(call, "("); !known(f) {
				t.Errorf("%q: the advice names %s, which is no function: %s", name, f, advice)
			}
		}
	}
}
