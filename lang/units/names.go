package units

import "strings"

// base returns the unit called name of base dimension i.
func base(name string, i int) Unit {
	u := One
	u.dims[i] = Ratio{1, 1}
	return New(name, 1, u)
}

// named holds the units by name; prefixed tells which of them take SI prefixes.
var named, prefixed = func() (map[string]Unit, map[string]bool) {
	m, kg, s, a, k, mol, cd := base("m", 0), base("kg", 1), base("s", 2), base("A", 3), base("K", 4), base("mol", 5),
		base("cd", 6)
	two, three := Ratio{2, 1}, Ratio{3, 1}
	newton := kg.Mul(m).Div(s.Pow(two))
	joule := newton.Mul(m)
	watt := joule.Div(s)
	coulomb := a.Mul(s)
	volt := watt.Div(a)
	liter := New("L", 1e-3, m.Pow(three))
	weber := volt.Mul(s)
	all := map[string]Unit{
		"m": m, "g": New("g", 1e-3, kg), "s": s, "A": a, "K": k, "mol": mol, "cd": cd,
		"L": liter, "M": New("M", 1, mol.Div(liter)), "N": New("N", 1, newton), "J": New("J", 1, joule),
		"W":  New("W", 1, watt),
		"Pa": New("Pa", 1, newton.Div(m.Pow(two))), "bar": New("bar", 1e5, newton.Div(m.Pow(two))),
		"V": New("V", 1, volt), "C": New("C", 1, coulomb), "ohm": New("ohm", 1, volt.Div(a)),
		"T": New("T", 1, weber.Div(m.Pow(two))),
		"H": New("H", 1, weber.Div(a)), "Hz": New("Hz", 1, One.Div(s)), "F": New("F", 1, coulomb.Div(volt)),
		"S":   New("S", 1, a.Div(volt)),
		"rad": New("rad", 1, One),
	}
	takes := map[string]bool{}
	for name := range all {
		takes[name] = true
	}
	for name, seconds := range map[string]float64{
		"min": 60, "h": 3600, "day": 86400, "week": 604800,
		"year": 31557600,
	} {
		all[name] = New(name, seconds, s)
	}
	return all, takes
}()

var prefixes = []struct {
	text  string
	scale float64
}{
	{"da", 1e1},
	{"Y", 1e24},
	{"Z", 1e21},
	{"E", 1e18},
	{"P", 1e15},
	{"T", 1e12},
	{"G", 1e9},
	{"M", 1e6},
	{"k", 1e3},
	{"h", 1e2},
	{"d", 1e-1},
	{"c", 1e-2},
	{"m", 1e-3},
	{"u", 1e-6},
	{"μ", 1e-6}, // Greek mu; the micro sign is folded to it
	{"n", 1e-9},
	{"p", 1e-12},
	{"f", 1e-15},
	{"a", 1e-18},
	{"z", 1e-21},
	{"y", 1e-24},
}

// Lookup returns the predefined unit called name: an SI unit with or without a
// prefix, or a multiple of time (min, h, day, week, year = 365.25 days).
func Lookup(name string) (Unit, bool) {
	if u, ok := named[name]; ok {
		return u, true
	}
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(name, p.text); ok && prefixed[rest] {
			return New(name, p.scale, named[rest]), true
		}
	}
	return Unit{}, false
}

// Names returns the predefined names without prefixes, in no particular order.
func Names() []string {
	var names []string
	for n := range named {
		names = append(names, n)
	}
	return names
}
