package unitexpr

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/units"
)

// Meant says in d what a name that is no unit may mean. The file declares the units declared.
func Meant(d *diag.Diagnostic, name string, at source.Span, declared []string) {
	is := func(name string) bool {
		_, known := units.Lookup(name)
		return known || slices.Contains(declared, name)
	}
	write := func(text, format string, args ...any) {
		d.Message += fmt.Sprintf(format, args...)
		d.Fix(at, text, "write "+text)
	}
	base := strings.TrimRight(name, "0123456789")
	litre := strings.TrimSuffix(name, "l") + "L"
	one := strings.TrimSuffix(name, "s")
	oneLitre := strings.TrimSuffix(one, "l") + "L"
	near, isNear := diag.Nearest(name, slices.Sorted(slices.Values(slices.Concat(units.Names(), declared))))
	spelled, isSpelled := spelledUnits[strings.ToLower(name)]
	word, isWord := diag.Nearest(strings.ToLower(name), spellings)
	switch hint := noUnits[strings.ToLower(name)]; {
	case base != name && is(base):
		raised := base + "^" + name[len(base):]
		write(raised, "; a power is written %s", raised)
	case hint != "":
		d.Message += "; " + hint
	case strings.HasSuffix(name, "l") && is(litre):
		write(litre, "; the litre is written %s", litre)
	case one != name && is(one):
		write(one, "; units have no plural: %s", one)
	case one != name && strings.HasSuffix(one, "l") && is(oneLitre):
		write(oneLitre, "; units have no plural, and the litre is written %s", oneLitre)
	case isNear:
		d.Message += fmt.Sprintf("; did you mean %q?", near)
	case isSpelled:
		write(spelled, "; it is written %s", spelled)
	case isWord:
		write(spelledUnits[word], "; %s is written %s", word, spelledUnits[word])
	default:
		d.Message += fmt.Sprintf("; declare it, by units that are known: unit %s = 1e-3 [mol], or 1 [1] for a count",
			name)
	}
}

// noUnits gives advice on names that need a definition, or cannot be units.
var noUnits = map[string]string{
	"deg":     "declare it: unit deg = pi/180*1 [rad]",
	"degree":  "declare it: unit degree = pi/180*1 [rad]",
	"degrees": "declare it: unit degrees = pi/180*1 [rad]",
	"degc":    "units with another zero are not units: use K, and add 273.15 yourself",
	"celsius": "units with another zero are not units: use K, and add 273.15 yourself",
	"degf":    "units with another zero are not units: use K",
	"percent": "write the number as a fraction, or [1]",
	"cal":     "declare it: unit cal = 4.184 [J]",
	"kcal":    "declare it: unit kcal = 4184 [J]",
	"atm":     "declare it: unit atm = 101325 [Pa]",
	"mmhg":    "declare it: unit mmHg = 133.322387415 [Pa]",
	"ev":      "declare it: unit eV = 1.602176634e-19 [J]",
	"bq":      "declare it: unit Bq = 1 [1/s]",
	"mbq":     "declare it: unit MBq = 1e6 [1/s]",
	"rpm":     "declare it: unit rpm = pi/30*1 [rad/s]",
	"iu":      "what it is depends on the substance; declare it: unit IU = 1 [1]",
}

// spelledUnits maps units that people write in full to their names.
var spelledUnits = map[string]string{
	"second": "s", "seconds": "s", "sec": "s", "secs": "s", "minute": "min", "minutes": "min", "mins": "min",
	"hour": "h", "hours": "h", "hr": "h", "hrs": "h",
	"days": "day", "d": "day", "weeks": "week", "years": "year", "yr": "year", "milligram": "mg", "microgram": "ug",
	"mcg": "ug", "nanogram": "ng",
	"gram": "g", "grams": "g", "kilogram": "kg", "liter": "L", "litre": "L", "liters": "L", "litres": "L",
	"milliliter": "mL", "meter": "m", "metre": "m", "meters": "m",
	"kelvin": "K", "volt": "V", "millivolt": "mV", "ampere": "A", "amp": "A", "mole": "mol", "moles": "mol",
	"molar": "M", "micromolar": "uM", "nanomolar": "nM",
	"newton": "N", "joule": "J", "watt": "W", "pascal": "Pa", "hertz": "Hz", "radian": "rad", "radians": "rad",
}

// spellings are the words of spelledUnits.
var spellings = slices.Sorted(maps.Keys(spelledUnits))
