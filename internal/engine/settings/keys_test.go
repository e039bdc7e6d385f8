package settings

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/keys"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/methods"
	"odes.dev/odes/steady"
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
	for _, block := range parser.Blocks() {
		for _, k := range keys.Names(block) {
			for _, word := range Words(block, k) {
				n++
				if _, l := checked(t, block+" { "+k+" = "+word+" }"); l.HasErrors() {
					t.Errorf("%s.%s = %s: %v", block, k, word, l.Err())
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

// TestDefaults: the manual names the method and the mode of models without settings, and every default that a row has
// is a value that the key takes.
func TestDefaults(t *testing.T) {
	s := defaults()
	for _, c := range []struct{ block, key, value string }{
		{"solver", "method", usual},
		{"sens", "mode", s.Mode},
	} {
		if r := keys.Find(c.block, c.key); !strings.Contains(r.Doc, "`"+c.value+"`, the default") {
			t.Errorf("what is said of %s.%s does not name the default, %s", c.block, c.key, c.value)
		}
	}
	if s.Mode != sens.DefaultMode || s.Controller != hybrid.DefaultController || s.Solver.Unbounded || !s.Trust {
		t.Errorf("the defaults are %+v", s)
	}
	for _, block := range parser.Blocks() {
		for _, r := range keys.Of(block) {
			if r.Default == "" {
				continue
			}
			if _, l := checked(t, block+" { "+r.Key+" = "+r.Default+" }"); l.HasErrors() {
				t.Errorf("%s.%s = %s, the default: %v", block, r.Key, r.Default, l.Err())
			}
		}
	}
}

// TestPlaces: the values of fields that are numbers go with the words of their keys.
func TestPlaces(t *testing.T) {
	for key, places := range map[string]map[string]any{
		"solver.observe": {
			"auto": solvers.ObserveAuto, "clip": solvers.ObserveClip, "dense": solvers.ObserveDense,
		},
		"solver.steady": {"auto": steady.Auto, "newton": steady.Newton, "run": steady.Run},
		"sens.control":  {"auto": ControlAuto, "on": ControlOn, "off": ControlOff},
	} {
		block, name, _ := strings.Cut(key, ".")
		if words := Words(block, name); len(words) != len(places) {
			t.Errorf("%s takes %v", key, words)
		}
		for word, want := range places {
			s, err := resolved(t, key, word)
			if got := reflect.ValueOf(s).FieldByIndex(fields[key]).Interface(); err != nil || got != want {
				t.Errorf("%s = %s is %v, not %v (%v)", key, word, got, want, err)
			}
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

// TestKeys: every key is read, either by its kind into one field or by a function of its own. Fields and functions are
// of keys.
func TestKeys(t *testing.T) {
	known := map[string]bool{}
	for _, block := range parser.Blocks() {
		for _, r := range keys.Of(block) {
			name := block + "." + r.Key
			known[name] = true
			if setters[name] == nil {
				t.Errorf("nothing reads %s: no field of Settings has it as its tag", name)
			}
			if owns[name].set != nil && fields[name] != nil {
				t.Errorf("%s is read by a function of its own, and a field has it as its tag", name)
			}
		}
	}
	for name := range fields {
		if !known[name] {
			t.Errorf("a field has the tag %s, and there is no such key", name)
		}
	}
	for name := range owns {
		if !known[name] {
			t.Errorf("owns has %s, and there is no such key", name)
		}
	}
	for _, f := range methods.Families() {
		for _, s := range f.Settings {
			if r := keys.Find("solver", s.Name); r == nil || (r.Kind == keys.Number) != s.Any {
				t.Errorf("the setting %s of %s methods has the row %+v", s.Name, f.Name, r)
			}
		}
	}
}

// TestInto: blocks that others act on are read into their structs, with defaults.
func TestInto(t *testing.T) {
	var s Settings
	for _, k := range []struct{ key, text string }{{"n", "7"}, {"gradient", "off"}, {"rows", ""}} {
		v := written(k.text)
		if k.key == "rows" {
			v = model.SettingValue{Text: "a.csv"}
		}
		if wrong := setOther(keys.Find("ensemble", k.key))(&s, v); wrong != "" {
			t.Errorf("%s: %s", k.key, wrong)
		}
	}
	if wrong := setOther(keys.Find("ensemble", "n"))(&s, written("0.5")); wrong != "takes a whole number from 1" {
		t.Errorf("n = 0.5: %q", wrong)
	}
	var to struct {
		N        int32  `key:"ensemble.n"`
		Points   string `key:"ensemble.points"`
		Seed     uint64 `key:"ensemble.seed"`
		Gradient bool   `key:"ensemble.gradient"`
		File     string `key:"ensemble.rows"`
		Mine     int
	}
	s.Into("ensemble", &to)
	if to.N != 7 || to.Points != "sobol" || to.Seed != 1 || to.Gradient || to.File != "a.csv" || to.Mine != 0 {
		t.Errorf("%+v", to)
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
