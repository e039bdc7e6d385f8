package settings

import (
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/typecheck"
)

const small = `time t : [s] from 0 to 1
param k = 1 [1/s]
state x : [1] = 1
x' = -k*x
objective J = final(x)
`

// checked checks a model with settings blocks, as editors do.
func checked(t *testing.T, blocks string) (*model.Model, *diag.List) {
	t.Helper()
	var l diag.List
	tree := parser.Parse(source.NewFile("m.ode", small+blocks+"\n"), &l)
	m := typecheck.Check(tree, typecheck.Env{CheckOnly: true, Settings: CheckBlocks}, &l)
	return m, &l
}

// TestWords: a word that is offered for a key is one that it takes.
func TestWords(t *testing.T) {
	n := 0
	for block, keys := range blocks {
		for _, k := range keys {
			for _, word := range Words(block, k.name) {
				n++
				if _, l := checked(t, block+" { "+k.name+" = "+word+" }"); l.HasErrors() {
					t.Errorf("%s.%s = %s: %v", block, k.name, word, l.Err())
				}
			}
		}
	}
	if n < 40 {
		t.Fatalf("only %d words are offered", n)
	}
	if _, l := checked(t, "solver { method = auto  observe = sometimes }"); !l.HasErrors() {
		t.Error("a word that is none passes")
	}
}

// TestDefaults: the manual names the defaults that settings have.
func TestDefaults(t *testing.T) {
	s := defaults()
	for _, c := range []struct{ block, key, value string }{
		{"solver", "method", usual},
		{"sens", "mode", s.Mode},
	} {
		rows := typecheck.SettingRows(c.block)
		i := slices.IndexFunc(rows, func(r typecheck.SettingRow) bool { return slices.Contains(r.Keys, c.key) })
		if i < 0 || !strings.Contains(rows[i].Text, "`"+c.value+"` unless said otherwise") {
			t.Errorf("what is said of %s.%s does not name the default, %s", c.block, c.key, c.value)
		}
	}
}

// TestOverrides: an override that is more than a value is an error, whatever else it says.
func TestOverrides(t *testing.T) {
	m, _ := checked(t, "")
	for _, o := range []Override{
		{"solver.rtol", "1e-3 } sens { mode = tangent"},
		{"solver.rtol", "1e-3 } fit { starts = 3"},
		{"sens.of", "[J] } solver { method = rk4"},
		{"solver.bogus", "1"},
		{"bogus.rtol", "1"},
		{"rtol", "1"},
		{"solver.rtol", ""},
		{"ensemble.rows", `"rows.csv"`}, // it was ignored
	} {
		var l diag.List
		Resolve(m, Choice{Overrides: []Override{o}}, &l)
		if !l.HasErrors() {
			t.Errorf("%s = %s passes", o.Key, o.Value)
		}
	}
}

// TestRounding: relative tolerances that no step can meet are raised, with a word. 0 is none.
func TestRounding(t *testing.T) {
	for text, want := range map[string]float64{"1e-30": 1e-15, "1e-15": 1e-15, "1e-14": 1e-14, "0": 0} {
		s, err := resolved(t, "solver.rtol", text)
		if err != nil {
			t.Fatal(err)
		}
		if s.Solver.RTol != want || len(s.Notes) != map[bool]int{true: 1}[text == "1e-30"] {
			t.Errorf("rtol = %s is %g: %v", text, s.Solver.RTol, s.Notes)
		}
	}
}

// TestKeys: every key that the checker documents has a row here, and every row is documented.
func TestKeys(t *testing.T) {
	for _, block := range parser.Blocks() {
		documented := typecheck.SettingKeys(block)
		if len(documented) == 0 {
			t.Errorf("block %s has no keys", block)
		}
		var rows []string
		for _, k := range blocks[block] {
			rows = append(rows, k.name)
			if k.set == nil && k.later == nil {
				t.Errorf("%s.%s is neither set nor reserved", block, k.name)
			}
		}
		slices.Sort(documented)
		slices.Sort(rows)
		if !slices.Equal(documented, rows) {
			t.Errorf("block %s: documented are\n%s\nrows are for\n%s", block,
				strings.Join(documented, " "), strings.Join(rows, " "))
		}
	}
}

// TestLater: what is not available is an error where it is asked for, and a note in a model that makes sense without.
func TestLater(t *testing.T) {
	for _, c := range []struct {
		block, override, value string
		wrong, notes           int
	}{
		{block: "solver { method = bdf }", wrong: 1},
		{override: "solver.method", value: "bdf", wrong: 1},
	} {
		m, l := checked(t, c.block)
		if l.HasErrors() {
			t.Fatalf("%+v: %v", c, l.Err())
		}
		var choice Choice
		if c.override != "" {
			choice.Overrides = []Override{{c.override, c.value}}
		}
		var wrong diag.List
		s := Resolve(m, choice, &wrong)
		if wrong.Len() != c.wrong || len(s.Notes) != c.notes {
			t.Errorf("%+v: %v, notes %v", c, wrong.All(), s.Notes)
		}
		for _, d := range slices.Concat(wrong.All(), s.Notes) {
			if want := map[bool]diag.Code{true: CodeUnavailable, false: CodeSetting}[c.override == ""]; d.Code != want {
				t.Errorf("%+v: %+v", c, d)
			}
		}
	}
}

// resolved returns the settings of the model with overrides.
func resolved(t *testing.T, overrides ...string) (Settings, error) {
	t.Helper()
	m, l := checked(t, "")
	var choice Choice
	for i := 0; i < len(overrides); i += 2 {
		choice.Overrides = append(choice.Overrides, Override{overrides[i], overrides[i+1]})
	}
	s := Resolve(m, choice, l)
	return s, l.Err()
}

// TestCheckpoint reads every form of solver.checkpoint back, and refuses what is like them.
func TestCheckpoint(t *testing.T) {
	for _, text := range []string{
		"all", "states", "states(3)", "binomial", "binomial(7)", "revolve(disk = 5)", "revolve(ram = 2, disk = 5)",
	} {
		s, err := resolved(t, "solver.checkpoint", text)
		if err != nil || s.Checkpoint.String() != text {
			t.Errorf("%s: %s, %v", text, s.Checkpoint, err)
		}
	}
	for text, want := range map[string]string{
		"revolve(4)":           "binomial(4)",
		"revolve(4, disk = 2)": "revolve(ram = 4, disk = 2)", "revolve(ram = 4)": "binomial(4)",
	} {
		if s, err := resolved(t, "solver.checkpoint", text); err != nil || s.Checkpoint.String() != want {
			t.Errorf("%s: %s, %v, want %s", text, s.Checkpoint, err, want)
		}
	}
	for _, text := range []string{
		"some", `"all"`, "3", "[all]", "all()", "all(2)", "states()", "states(0)", "states(1.5)", "states(2, 3)",
		"states(k = 2)",
		"states(2147483648)", "states(x)", "binomial()", "revolve", "revolve()", "revolve(4, ram = 2)",
		"revolve(tape = 2)",
		"revolve(disk = 0)", "binomial(ram = 2)", "states[2]",
	} {
		if s, err := resolved(t, "solver.checkpoint", text); err == nil ||
			!strings.Contains(err.Error(), checkpointUsage) {
			t.Errorf("%s: %s, %v", text, s.Checkpoint, err)
		}
	}
}

// TestRefine leaves the settings that it was made from as they are.
func TestRefine(t *testing.T) {
	s, err := resolved(t, "solver.rtol", "[x = 3e-5]", "solver.atol", "2e-7", "solver.hmax", "0.5",
		"solver.sens_tol", "1e-3", "sens.order", "2", "sens.hvp", "[1, 2]", "sens.rtol", "1e-13")
	if err != nil {
		t.Fatal(err)
	}
	fine := s
	fine.Refine(1.0/32, 5)
	if s.Solver.RTols[0] != 3e-5 || s.Solver.RTol != 3e-5 || s.SensTol != 1e-3 || s.Order != 2 || len(s.HVP.List) != 2 {
		t.Errorf("refining changed the settings: %+v", s)
	}
	if fine.Solver.RTols[0] != 9.4e-7 || fine.Solver.RTol != 9.4e-7 || fine.Solver.ATol != 6.2e-9 ||
		fine.Solver.ATols != nil {
		t.Errorf("tolerances %+v", fine.Solver)
	}
	if fine.Solver.HMax != 0.25 || fine.Backward.RTol != LeastTol || fine.SensTol != 0 ||
		fine.Order != 1 || fine.HVP.List != nil {
		t.Errorf("%+v", fine)
	}
	fixed, err := resolved(t, "solver.fixed_step", "0.1", "solver.rtol", "1e-3")
	if err != nil {
		t.Fatal(err)
	}
	if fixed.Refine(1.0/32, 4); fixed.Solver.Fixed != 0.05 || fixed.Solver.RTol != 1e-3 {
		t.Errorf("%+v", fixed.Solver)
	}
}

// TestMethodNames: a name that is said to be reserved, or to have no method like it, is not that of a method.
func TestMethodNames(t *testing.T) {
	names := methodNames()
	for _, name := range laterMethods {
		if slices.Contains(names, name) {
			t.Errorf("%s is a method now: take it out of laterMethods", name)
		}
	}
	for foreign, here := range foreignMethods {
		switch {
		case slices.Contains(names, foreign):
			t.Errorf("%s is a method now: take it out of foreignMethods", foreign)
		case here != Auto && !slices.Contains(names, here):
			t.Errorf("foreignMethods sends %s to %s, which is no method", foreign, here)
		}
	}
}
