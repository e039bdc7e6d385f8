package units

import (
	"strconv"
	"strings"
)

// docs says what the predefined units measure, in the order of the manual.
var docs = []struct{ name, doc string }{
	{"m", "metre, length"},
	{"g", "gram, mass"},
	{"s", "second, time"},
	{"A", "ampere, electric current"},
	{"K", "kelvin, temperature; degrees Celsius are not a unit, because their zero is elsewhere"},
	{"mol", "mole, amount of substance"},
	{"cd", "candela, luminous intensity"},
	{"L", "litre, volume"},
	{"M", "molar, concentration: mol/L"},
	{"N", "newton, force"},
	{"J", "joule, energy"},
	{"W", "watt, power"},
	{"Pa", "pascal, pressure"},
	{"bar", "bar, pressure"},
	{"V", "volt, electric potential"},
	{"C", "coulomb, electric charge"},
	{"ohm", "ohm, electric resistance"},
	{"S", "siemens, electric conductance"},
	{"F", "farad, capacitance"},
	{"H", "henry, inductance"},
	{"T", "tesla, magnetic flux density"},
	{"Hz", "hertz, frequency"},
	{"rad", "radian, angle: a ratio of lengths, so without dimension"},
	{"min", "minute, time"},
	{"h", "hour, time"},
	{"day", "day, time: 24 h"},
	{"week", "week, time: 7 day"},
	{"year", "Julian year, time: 365.25 day"},
}

// Doc says what a predefined unit measures. It returns "" for a unit with a prefix and for any
// other name.
func Doc(name string) string {
	for _, d := range docs {
		if d.name == name {
			return d.doc
		}
	}
	return ""
}

// Documented returns the names of the predefined units without prefixes, in the order of the manual.
func Documented() []string {
	names := make([]string, len(docs))
	for i, d := range docs {
		names[i] = d.name
	}
	return names
}

// Prefixed reports whether the unit takes SI prefixes.
func Prefixed(name string) bool { return prefixed[name] }

// Prefixes returns the SI prefixes, largest first.
func Prefixes() []string {
	names := make([]string, len(prefixes))
	for i, p := range prefixes {
		names[i] = p.text
	}
	return names
}

// SI writes u in base units: "1e-06 kg", "0.001 m^3".
func (u Unit) SI() string {
	if !u.known {
		return "unknown"
	}
	parts := []string{strconv.FormatFloat(u.scale, 'g', 12, 64)}
	var b strings.Builder
	for i, e := range u.dims {
		if e.Num == 0 {
			continue
		}
		b.Reset()
		b.WriteString([...]string{"m", "kg", "s", "A", "K", "mol", "cd"}[i])
		if e.Den != 1 || e.Num != 1 {
			writePower(&b, e)
		}
		parts = append(parts, b.String())
	}
	return strings.Join(parts, " ")
}
