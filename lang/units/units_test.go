package units

import "testing"

func get(t *testing.T, name string) Unit {
	t.Helper()
	u, ok := Lookup(name)
	if !ok {
		t.Fatalf("no unit %q", name)
	}
	return u
}

func TestAlgebra(t *testing.T) {
	m, s, kg, n := get(t, "m"), get(t, "s"), get(t, "kg"), get(t, "N")
	if !kg.Mul(m).Div(s.Pow(Ratio{2, 1})).Same(n) {
		t.Error("kg*m/s^2 is not N")
	}
	v, hz := get(t, "V"), get(t, "Hz")
	noise := v.Div(hz.Pow(Ratio{1, 2}))
	if got := noise.String(); got != "V/Hz^(1/2)" {
		t.Errorf("string %q", got)
	}
	if !noise.Pow(Ratio{2, 1}).Mul(hz).Same(v.Pow(Ratio{2, 1})) {
		t.Error("rational powers are not exact")
	}
	if got := One.Div(s).String(); got != "1/s" {
		t.Errorf("string %q", got)
	}
	if got := m.Pow(Ratio{-2, 1}).Mul(kg).String(); got != "kg/m^2" {
		t.Errorf("string %q", got)
	}
	if got := m.Div(m).String(); got != "1" || !m.Div(m).Plain() {
		t.Errorf("string %q", got)
	}
	flow := get(t, "L").Div(get(t, "min"))
	if got := get(t, "ug").Div(get(t, "min")).Div(flow).Div(get(t, "ug").Div(get(t, "L"))); got.String() != "1" {
		t.Errorf("string %q of a unit whose names have cancelled", got)
	}
	if (Unit{}).Mul(m).Known() || !(Unit{}).Same(m) {
		t.Error("unknown must stay unknown and fit everything")
	}
}

func TestFactors(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     float64
	}{
		{"mg", "g", 1e-3},
		{"g", "mg", 1e3},
		{"h", "min", 60},
		{"min", "s", 60},
		{"week", "day", 7},
		{"L", "mL", 1e3},
		{"kg", "ug", 1e9},
		{"bar", "Pa", 1e5},
		{"mM", "uM", 1e3},
		{"Mg", "g", 1e6},
		{"dam", "m", 10},
		{"μm", "um", 1},
	} {
		if got := Factor(get(t, c.from), get(t, c.to)); got != c.want {
			t.Errorf("%s to %s: %g, want %g", c.from, c.to, got, c.want)
		}
	}
	if get(t, "mg").Same(get(t, "g")) || !get(t, "mg").SameDimension(get(t, "g")) {
		t.Error("mg and g share a dimension, not a scale")
	}
}

func TestNames(t *testing.T) {
	for _, bad := range []string{"", "k", "kmin", "foo", "mm2", "kkg", "degC"} {
		if _, ok := Lookup(bad); ok {
			t.Errorf("%q is a unit", bad)
		}
	}
	if !get(t, "min").SameDimension(get(t, "s")) || !get(t, "Pa").SameDimension(get(t, "bar")) ||
		!get(t, "cd").Same(get(t, "cd")) {
		t.Error("wrong dimension")
	}
}

func TestRatio(t *testing.T) {
	if r, ok := (Ratio{1, 2}).Add(Ratio{1, 3}); !ok || r != (Ratio{5, 6}) {
		t.Error(r, ok)
	}
	if r, ok := (Ratio{1, 2}).Add(Ratio{-1, 2}); !ok || r != (Ratio{}) {
		t.Error(r, ok)
	}
	if _, ok := (Ratio{1 << 30, 1}).Mul(Ratio{1 << 30, 1}); ok {
		t.Error("overflow accepted")
	}
	if _, ok := MakeRatio(1, 0); ok {
		t.Error("1/0 accepted")
	}
}

// TestMixed has units that hide a factor, and such that do not.
func TestMixed(t *testing.T) {
	of := func(name string) Unit { return get(t, name) }
	h, min, mg, g, l, m := of("h"), of("min"), of("mg"), of("g"), of("L"), of("m")
	three := Ratio{Num: 3, Den: 1}
	for _, c := range []struct {
		u    Unit
		want int
	}{
		{h.Div(min), 1},
		{mg.Mul(min).Div(h), 1},
		{mg.Div(h), 0},
		{mg.Div(g).Div(h), 1},
		{l.Div(m.Pow(three)), 1},
		{of("Hz").Mul(of("s")), 0},
		{of("kHz").Mul(of("s")), 1},
		{of("kJ").Div(of("N")).Div(m), 1},
		{of("J").Div(of("N")).Div(m), 0},
		{New("percent", 0.01, One), 0},
		{One, 0},
		{Unit{}, 0},
		{mg.Div(g).Mul(min).Div(h), 2},
	} {
		if got := c.u.Mixed(); len(got) != c.want {
			t.Errorf("[%s] mixes %v, want %d pairs", c.u, got, c.want)
		}
	}
}
