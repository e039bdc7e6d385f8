package stdlib

import (
	"strings"

	"odes.dev/odes/lang/units"
)

// UnitNames returns the predefined units without prefixes, in the order of the manual, and the SI
// prefixes. All units but the multiples of time take prefixes.
func UnitNames() (names, prefixes []string) { return units.Documented(), units.Prefixes() }

// UnitDoc explains a predefined unit, with or without a prefix. It returns the unit in SI base
// units and what it measures; ok is false for any other name.
func UnitDoc(name string) (si, doc string, ok bool) {
	u, ok := units.Lookup(name)
	if !ok {
		return "", "", false
	}
	if doc = units.Doc(name); doc != "" {
		return u.SI(), doc, true
	}
	for _, p := range units.Prefixes() {
		if base, ok := strings.CutPrefix(name, p); ok && units.Doc(base) != "" && units.Prefixed(base) {
			return u.SI(), units.Doc(base) + ", with the prefix " + p, true
		}
	}
	return u.SI(), "", true
}
