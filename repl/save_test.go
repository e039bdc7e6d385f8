package repl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odes.dev/odes"
)

// TestSave writes what was set, settings too, and asks before it replaces a file with another text.
func TestSave(t *testing.T) {
	const text = "time t from 0 to 1\nparam k = 2\nstate x = 1\nx' = -k\nsolver { method = dopri5 }\n"
	const saved = "time t from 0 to 1\nparam k = 3\nstate x = 1\nx' = -k\nsolver { method = dopri5  rtol = 1e-4 }\n" +
		"sens { mode = tangent }\n"
	dir := t.TempDir()
	path, other := filepath.Join(dir, "m.ode"), filepath.Join(dir, "other.ode")
	for _, name := range []string{path, other} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		entries string
		asks    bool
		said    string
		want    string
	}{
		{"save " + other + "\n", false, "exists", text},
		{"save " + other + "\nn\n", true, "Replace it? [y/N] error: " + other + " exists", text},
		{"save " + other + "\n\n", true, "exists", text},
		{"save " + other + "\nyes\n", true, "k = 3, solver.rtol = 1e-4, sens.mode = tangent", saved},
	} {
		s := New(Config{})
		if err := s.Open(path); err != nil {
			t.Fatal(err)
		}
		entries := "k = 3\nsolver.rtol = 1e-5\nsolver.rtol = 1e-4\nsens.mode = tangent\n" + c.entries
		var out strings.Builder
		lines := Piped(strings.NewReader(entries))
		if c.asks {
			lines = Prompted(strings.NewReader(entries), &out)
		}
		if _, err := Loop(t.Context(), s, lines, &out); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(other)
		if err != nil || string(got) != c.want || !strings.Contains(out.String(), c.said) {
			t.Errorf("%q:\n%s\nsaid\n%s", c.entries, got, out.String())
		}
	}
}

// TestSaveSettings writes settings where one block takes them, and says which it could not write.
func TestSaveSettings(t *testing.T) {
	const text = "time t from 0 to 1\nstate x = 1\nx' = -x\n"
	for blocks, want := range map[string]string{
		"":                                     "solver { rtol = 1e-4 }\n",
		"solver fast { atol = 1 }\n":           "solver fast { atol = 1  rtol = 1e-4 }\n",
		"solver { rtol = 1e-2 atol = 1e-3 }\n": "solver { rtol = 1e-4 atol = 1e-3 }\n",
		"solver a { atol = 1 }\nsolver b {}\n": "solver a { atol = 1 }\nsolver b {}\n",
	} {
		path := filepath.Join(t.TempDir(), "m.ode")
		if err := os.WriteFile(path, []byte(text+blocks), 0o600); err != nil {
			t.Fatal(err)
		}
		s := New(Config{})
		if err := s.Open(path); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		s.Do(t.Context(), &out, "solver.rtol = 1e-4")
		s.Do(t.Context(), &out, "save")
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text+want {
			t.Errorf("%q:\n%s\nsaid\n%s", blocks, got, out.String())
		}
		if left := strings.Contains(out.String(), "not in the file: solver.rtol"); left != (blocks == want) {
			t.Errorf("%q: said\n%s", blocks, out.String())
		}
	}
}

// TestAssignInUnits sets params in other units of the same dimension.
func TestAssignInUnits(t *testing.T) {
	const text = "time t : [h] from 0 to 1 [h]\nparam lag = 2 [h], n = 2\nstate x = 1\nx' = -x^n/lag\n"
	s := New(Config{})
	if err := s.OpenText("m.ode", text); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ entry, want string }{
		{"lag = 30 [min]", "lag = 0.5\n"},
		{"lag = 1 [h]", "lag = 1\n"},
		{"lag = 3", "lag = 3\n"},
		{"lag = 3 [m]", "error: the value is in [m] and lag in [h]"},
		{"n = 3 [m]", "error: n has no unit, and cannot be set in [m]"},
		{"n = 2*lag", "error: n has no unit, and cannot be set in [h]"},
		{"n = 3", "n = 3\n"},
		{"n = 2 + lag/(1 [h])", "n = 5\n"},
	} {
		var out strings.Builder
		s.Do(t.Context(), &out, c.entry)
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %s", c.entry, out.String())
		}
	}
}

// TestSaveUnits writes values in the unit of their names, which may be another one than that of the literal before.
func TestSaveUnits(t *testing.T) {
	const text = "unit uM = 1e-6 [mol/L]\nunit nM = 1e-9 [mol/L]\ntime t : [s] from 0 to 1\n" +
		"param V : [L] = 500 [mL] in [0.1, 9], F = 2 [kg*m/s^2], K : [uM] = 300 [nM], c = 5 [nM]\n" +
		"param r : [1] = 3 [m/km]\n" +
		"param u[2] : [L] = [100, 200] [mL]\nstate x : [m] = 250 [mm], y = 4 [mm]\nx' = 0\ny' = 0\n"
	const want = "unit uM = 1e-6 [mol/L]\nunit nM = 1e-9 [mol/L]\ntime t : [s] from 0 to 1\n" +
		"param V : [L] = 2 [L] in [0.1, 9], F = 3 [kg*m/s^2], K : [uM] = 4 [uM], c = 5.5 [nM]\n" +
		"param r : [1] = 7\n" +
		"param u[2] : [L] = [8, 9] [L]\nstate x : [m] = 10 [m], y = 11 [mm]\nx' = 0\ny' = 0\n"
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	set := []odes.Assignment{
		{Name: "V", Values: []float64{2}},
		{Name: "F", Values: []float64{3}},
		{Name: "K", Values: []float64{4}},
		{Name: "c", Values: []float64{5.5}},
		{Name: "r", Values: []float64{7}},
		{Name: "u", Values: []float64{8, 9}},
		{Name: "initial(x)", Values: []float64{10}},
		{Name: "initial(y)", Values: []float64{11}},
	}
	if got, left := WithValues(m, text, set); got != want || len(left) > 0 {
		t.Errorf("left %v:\n%s", left, got)
	}
}
