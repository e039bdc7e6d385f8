package units

import "testing"

func TestEveryUnitIsDocumented(t *testing.T) {
	for _, name := range Names() {
		if Doc(name) == "" {
			t.Errorf("%s is not documented", name)
		}
	}
	if len(Documented()) != len(Names()) {
		t.Errorf("%d units, %d documented", len(Names()), len(Documented()))
	}
	for name, want := range map[string]string{
		"mg": "1e-06 kg", "mL": "1e-06 m^3", "N": "1 m kg s^-2", "h": "3600 s",
		"rad": "1",
	} {
		u, ok := Lookup(name)
		if !ok || u.SI() != want {
			t.Errorf("%s is %q, want %q", name, u.SI(), want)
		}
	}
}
