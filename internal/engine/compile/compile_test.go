package compile_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/typecheck"
)

const decay = "time t from 0 to 1\nparam k = 2\nstate x = 1\nx' = -k*x\nobjective J = final(x)\n"

// TestEmit shows every stage of a model, and refuses what is none.
func TestEmit(t *testing.T) {
	for stage, want := range map[string]string{
		"tokens": "keyword", "ast": "k", "model": "x", "tape": "dy.x", "vjp": "bar.p.k", "jvp": "dot.y.x",
		"jacobian": "jac.0", "program": "instructions",
	} {
		var b strings.Builder
		if err := compile.Emit(&b, stage, "m.ode", decay, nil); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s: %v, without %q:\n%s", stage, err, want, b.String())
		}
	}
	if n := len(compile.Stages()); n != 8 {
		t.Errorf("%d stages, and this test looks at 8", n)
	}
	if err := compile.Emit(&strings.Builder{}, "bytes", "m.ode", decay, nil); err == nil ||
		!strings.Contains(err.Error(), "there are tokens, ast") {
		t.Errorf("a stage that is none: %v", err)
	}
}

// TestCheck finds what is wrong with settings, which no run has asked for yet.
func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		decay:                                "",
		decay + "solver { method = rk5 }\n":  "names a method that does not exist",
		decay + "solver { rtol = [1, 2] }\n": "rtol",
	} {
		var list diag.List
		m, whole := compile.Check("m.ode", text, nil, &list)
		if (m == nil) != list.HasErrors() || (whole == nil) != list.HasErrors() {
			t.Errorf("%q: a model, and errors: %v", text, list.All())
		}
		if err := list.Err(); want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestOutputs makes the states the outputs of a model that names none, of its experiments as well.
func TestOutputs(t *testing.T) {
	var list diag.List
	m, _ := compile.Text("m.ode", decay+"experiment e { k = 3 }\n", typecheck.Env{}, &list)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	if len(m.Outputs) != 1 || m.Outputs[0].Name != "x" || len(m.Experiments[0].Model.Outputs) != 1 {
		t.Errorf("outputs %v, and of the experiment %v", m.Outputs, m.Experiments[0].Model.Outputs)
	}
	if whole, parts := compile.Model(m, &list); whole == nil || len(parts) != 1 {
		t.Errorf("%v and %d experiments", whole, len(parts))
	}
}

// TestOrigins: what is wrong with the translation of a model in another language is said of the place that it comes
// from.
func TestOrigins(t *testing.T) {
	const constant = `value="0" constant="false"/>`
	sbml := func(inside string) string {
		return `<sbml xmlns="http://www.sbml.org/sbml/level3/version1/core" level="3" version="1"><model>` + inside +
			"</model></sbml>"
	}
	rule := func(of, maths string) string {
		return `<assignmentRule variable="` + of + `"><math>` + maths + "</math></assignmentRule>\n"
	}
	parameters := `<listOfParameters><parameter id="x" ` + constant + `<parameter id="y" ` + constant +
		"</listOfParameters>\n"
	deep := strings.Repeat("<apply><minus/><cn>1</cn>", 600) + "<cn>1</cn>" + strings.Repeat("</apply>", 600)
	petab := fstest.MapFS{
		"../m.xml": {Data: []byte(sbml(`<listOfParameters><parameter id="k" value="1"/></listOfParameters>`))},
		"p.tsv":    {Data: []byte("parameterId\tnominalValue\testimate\tlowerBound\tupperBound\nk\t1\t1\t2\t0\n")},
		"c.tsv":    {Data: []byte("conditionId\nc\n")},
		"o.tsv":    {Data: []byte("observableId\tobservableFormula\tnoiseFormula\no\tmin(k)\t1\n")},
		"d.tsv":    {Data: []byte("observableId\tsimulationConditionId\tmeasurement\ttime\no\tc\t1\t1\n")},
	}
	problem := "format_version: 1\nparameter_file: p.tsv\nproblems:\n- sbml_files: ../m.xml\n" +
		"  condition_files: c.tsv\n  observable_files: o.tsv\n  measurement_files: d.tsv\n"
	for _, c := range []struct{ name, text, want string }{
		{
			"m.xml", sbml(parameters + "<listOfRules>\n" + rule("x", "<ci>y</ci>") + rule("y", "<ci>x</ci>") +
				"</listOfRules>"),
			"m.xml:3:1: rule of x: these lets depend on each other in a circle",
		},
		{
			"m.xml", sbml(parameters + "<listOfRules>" + rule("x", "\n<ci>z</ci>") + "</listOfRules>"),
			`m.xml:3:1: rule of x: nothing has the id "z"`,
		},
		{
			"m.xml", sbml(parameters + "<listOfRules>\n" + rule("x", deep) + "</listOfRules>"),
			"m.xml:3:1: rule of x: an expression has more brackets",
		},
		{"m.omex", "PK\x03\x04\x14", "m.omex:1:1: the archive cannot be read"},
		{"m.xml.gz", "\x1f\x8b\x08", "m.xml.gz:1:1: this is compressed"},
		{"a/b.yaml", problem, "a/o.tsv:2:1: observable o: min of one scalar"},
		{"a/b.yaml", problem, "a/p.tsv:2:1: parameter k: "},
	} {
		var list diag.List
		compile.Check(c.name, c.text, above{petab}, &list)
		want := filepath.FromSlash(c.want)
		if !slices.ContainsFunc(list.All(), func(d diag.Diagnostic) bool {
			return strings.HasPrefix((&diag.ListError{Diagnostics: []diag.Diagnostic{d}}).Error(), want)
		}) {
			t.Errorf("%v, want %q", list.All(), want)
		}
	}
}

// above is a folder whose files may lie above it.
type above struct{ fstest.MapFS }

func (a above) Above(path string) fs.FS {
	return above{fstest.MapFS{"m.xml": a.MapFS[path+"m.xml"]}}
}
