package sbml_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/internal/exchange/sbml"
	"odes.dev/odes/internal/exchange/sbml/comp"
	"odes.dev/odes/internal/testing/mangle"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

var update = flag.Bool("update", false, "write the translations anew")

// translate returns the translation of a text, or the first error.
func translate(name, text string, o sbml.Options) (string, string) {
	var list diag.List
	out := comp.Translate(source.NewFile(name, text), nil, o, &list)
	for _, d := range list.All() {
		if d.Level == diag.Error {
			return "", d.Message
		}
	}
	if out == nil {
		return "", ""
	}
	return out.Text(), ""
}

// TestTranslations: models become what lies beside them.
func TestTranslations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.xml")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, wrong := translate(filepath.Base(file), string(text), sbml.Options{To: "6"})
		if wrong != "" {
			t.Fatalf("%s: %s", file, wrong)
		}
		golden := strings.TrimSuffix(file, ".xml") + ".ode"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s becomes\n%s\n-update writes it", file, got)
		}
	}
}

// TestVolume compares a model of a compartment that grows and is halved with its closed form.
func TestVolume(t *testing.T) {
	text, err := os.ReadFile("testdata/volume.xml")
	if err != nil {
		t.Fatal(err)
	}
	translated, wrong := translate("volume.xml", string(text), sbml.Options{To: "6"})
	if wrong != "" {
		t.Fatal(wrong)
	}
	m, err := odes.Parse("volume.ode", translated, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tight := []odes.Setting{{Key: "solver.rtol", Value: "1e-11"}, {Key: "solver.atol", Value: "1e-13"}}
	times := []float64{0, 1, 3, 5, 6}
	sol, err := m.Solve(context.Background(), odes.Options{Settings: tight, Times: times, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	const k, g = 0.5, 0.25
	for i, at := range times {
		amount, volume := 2*math.Exp(-k*at), 1+g*at
		if at > 4 {
			volume = 1 + g*(at-4)
		}
		want := map[string]float64{
			"V": volume, "S": amount / volume, "inert": 4 / volume, "total": amount + 4,
			"slope": -k*amount/volume - g*amount/(volume*volume),
		}
		for _, o := range sol.Outputs {
			if got := o.Values[i]; math.Abs(got-want[o.Name]) > 1e-9 {
				t.Errorf("%s at %v is %v, want %v", o.Name, at, got, want[o.Name])
			}
		}
		if len(sol.Outputs) != len(want) {
			t.Fatalf("%d outputs, want %d", len(sol.Outputs), len(want))
		}
	}
}

// wrap makes a document of what a model contains.
func wrap(inside string) string {
	return `<sbml xmlns="http://www.sbml.org/sbml/level3/version2/core" level="3" version="2"><model id="m">` + inside +
		`</model></sbml>`
}

// maths makes an expression of MathML.
func maths(inside string) string {
	return `<math xmlns="http://www.w3.org/1998/Math/MathML">` + inside + `</math>`
}

// TestExpressions: expressions of MathML become those of the language.
func TestExpressions(t *testing.T) {
	for _, c := range [][2]string{
		{`<cn> 1.50 </cn>`, "1.50"},
		{`<cn type="e-notation">2<sep/>-3</cn>`, "2e-3"},
		{`<cn type="rational">1<sep/>3</cn>`, "1/3"},
		{`<apply><minus/><ci>a</ci></apply>`, "-a"},
		{`<apply><minus/><ci>a</ci><apply><minus/><ci>b</ci><ci>a</ci></apply></apply>`, "a - (b - a)"},
		{`<apply><times/><apply><plus/><ci>a</ci><ci>b</ci></apply><cn>-2</cn></apply>`, "(a + b)*(-2)"},
		{`<apply><divide/><ci>a</ci><apply><times/><ci>b</ci><ci>a</ci></apply></apply>`, "a/(b*a)"},
		{`<apply><power/><apply><minus/><ci>a</ci></apply><cn>2</cn></apply>`, "(-a)^2"},
		{`<apply><power/><exponentiale/><ci>a</ci></apply>`, "exp(a)"},
		{`<apply><root/><degree><cn>3</cn></degree><ci>a</ci></apply>`, "cbrt(a)"},
		{`<apply><root/><ci>a</ci></apply>`, "sqrt(a)"},
		{`<apply><log/><logbase><cn>2</cn></logbase><ci>a</ci></apply>`, "log(a)/log(2)"},
		{`<apply><log/><ci>a</ci></apply>`, "log10(a)"},
		{`<apply><ln/><ci>a</ci></apply>`, "log(a)"},
		{`<apply><sec/><ci>a</ci></apply>`, "1/cos(a)"},
		{`<apply><arccot/><ci>a</ci></apply>`, "atan(1/a)"},
		{`<apply><max/><ci>a</ci><ci>b</ci><cn>1</cn></apply>`, "max(max(a, b), 1)"},
		{`<apply><plus/></apply>`, "0"},
		{`<apply><gt/><ci>a</ci><ci>b</ci></apply>`, "if a > b then 1 else 0"},
		{`<apply><eq/><ci>a</ci><ci>b</ci></apply>`, "if abs(a - b) <= 0 then 1 else 0"},
		{`<apply><lt/><ci>a</ci><ci>b</ci><cn>1</cn></apply>`, "if a < b and b < 1 then 1 else 0"},
		{`<apply><apply><plus/><ci>a</ci><ci>b</ci></apply></apply>`, "a + b"},
		{`<apply><rem/><ci>a</ci><ci>b</ci></apply>`, "a - b*trunc(a/b)"},
		{`<csymbol definitionURL="http://www.sbml.org/sbml/symbols/avogadro"/>`, "6.02214179e23"},
		{
			`<piecewise><piece><cn>1</cn><apply><lt/><ci>a</ci><ci>b</ci></apply></piece></piecewise>`,
			"if a < b then 1 else nan",
		},
		{`<apply><plus/><true/><ci>a</ci></apply>`, "(if true then 1 else 0) + a"},
		{
			`<apply><times/><apply><xor/><true/><false/></apply><cn>2</cn></apply>`,
			"(if true and not false or not true and false then 1 else 0)*2",
		},
		{
			`<piecewise><piece><ci>b</ci><ci>a</ci></piece><otherwise><cn>0</cn></otherwise></piecewise>`,
			"if a > 0 or a < 0 then b else 0",
		},
		{`<apply><implies/><true/><apply><not/><true/></apply></apply>`, "if not true or not true then 1 else 0"},
	} {
		in, want := c[0], c[1]
		doc := wrap(`<listOfParameters><parameter id="a" value="1" constant="true"/><parameter id="b" value="2"
			constant="true"/><parameter id="y" constant="false"/></listOfParameters><listOfRules><assignmentRule
			variable="y">` + maths(in) + `</assignmentRule></listOfRules>`)
		out, wrong := translate("x.xml", doc, sbml.Options{})
		_, rest, _ := strings.Cut(out, "let y = ")
		got, _, _ := strings.Cut(rest, "\n")
		if wrong != "" || got != want {
			t.Errorf("%s becomes %q %s, want %q", in, got, wrong, want)
		}
	}
}

// level2 makes a document of level 2 of what a model contains.
func level2(inside string) string {
	return `<sbml xmlns="http://www.sbml.org/sbml/level2/version4" level="2" version="4"><model id="m">` + inside +
		`</model></sbml>`
}

// TestMeaning: what the semantic suite does not look at becomes text with this in it.
func TestMeaning(t *testing.T) {
	const timeSymbol = `<csymbol definitionURL="http://www.sbml.org/sbml/symbols/time"> t </csymbol>`
	species := func(product string) string {
		return level2(`<listOfCompartments><compartment id="c" size="2"/></listOfCompartments><listOfSpecies><species
			id="S" compartment="c" initialAmount="8"/></listOfSpecies><listOfParameters><parameter id="a" value="1"/>
			</listOfParameters><listOfReactions><reaction id="r"><listOfProducts>` + product + `</listOfProducts>
			<kineticLaw>` + maths("<cn>1</cn>") + `</kineticLaw></reaction></listOfReactions>`)
	}
	function := func(id, args, body string) string {
		lambda := "<lambda>"
		for _, a := range strings.Fields(args) {
			lambda += "<bvar><ci>" + a + "</ci></bvar>"
		}
		return `<functionDefinition id="` + id + `">` + maths("<semantics>"+lambda+body+"</lambda></semantics>") +
			`</functionDefinition>`
	}
	functions := func(list, call string) string {
		return level2(`<listOfFunctionDefinitions>` + list + `</listOfFunctionDefinitions><listOfParameters><parameter
			id="x" value="1"/><parameter id="y" constant="false"/></listOfParameters><listOfRules><assignmentRule
			variable="y">` + maths(call) + `</assignmentRule></listOfRules>`)
	}
	timed := function("f", "x", `<apply><times/><ci>x</ci>`+timeSymbol+`</apply>`)
	doubled := ""
	for i := 40; i > 0; i-- {
		call := fmt.Sprintf("<apply><ci>f%d</ci><ci>x</ci></apply>", i-1)
		doubled += function(fmt.Sprintf("f%d", i), "x", "<apply><plus/>"+call+call+"</apply>")
	}
	for _, c := range [][2]string{
		{
			species(`<speciesReference species="S"><stoichiometryMath>` +
				maths(`<apply><plus/><ci>a</ci><cn>1</cn></apply>`) + `</stoichiometryMath></speciesReference>`),
			"S' = (a + 1)*r/c",
		},
		{species(`<speciesReference id="n" species="S"/>`), "param n = 1"},
		{species(`<speciesReference species="S" stoichiometry="INF"/>`), "S' = inf*r/c"},
		{
			wrap(`<listOfParameters xmlns:q="urn:q"><parameter q:value="2" q:id="q" id="p" value="1" constant="true"/>
				</listOfParameters>`),
			"param p = 1\n",
		},
		{
			wrap(`<listOfParameters><parameter id="p" value="1" constant="0"/></listOfParameters><listOfEvents><event
				useValuesFromTriggerTime="0"><trigger initialValue="0" persistent="0">` + maths("<true/>") +
				`</trigger><delay>` + maths("<cn>1</cn>") + `</delay><listOfEventAssignments><eventAssignment
				variable="p">` + maths("<cn>2</cn>") + `</eventAssignment></listOfEventAssignments></event>
				</listOfEvents>`),
			"when true at start, delay = 1, values = execution, persistent = false { p = 2 }",
		},
		{functions(function("f", "exp exp_", `<ci>exp_</ci>`), `<cn>1</cn>`), "fn f(exp_, exp__) = exp__"},
		{functions(timed+function("g", "t", `<apply><ci>f</ci><ci>t</ci></apply>`),
			`<apply><ci>g</ci><cn>3</cn></apply>`), "let y = 3*t_"},
		{
			functions(doubled+function("f0", "x", "<ci>x</ci>"), `<apply><ci>f40</ci><ci>x</ci></apply>`),
			"let y = f40(x)",
		},
		{
			strings.Replace(wrap(""), `id="m"`, "id='m' name='a \"b\" \\ \u200b'", 1),
			"model m \"a \\\"b\\\" \\\\ \u200b\"",
		},
		{`<?xml version="1.0" encoding="US-ASCII"?>` + wrap(""), "model m"},
		{ // a local parameter of the same name is another one
			wrap(`<listOfParameters><parameter id="k" value="1" constant="false"/></listOfParameters><listOfReactions>
				<reaction id="r"><kineticLaw>` + maths("<ci>k</ci>") + `<listOfLocalParameters><localParameter id="k"
				value="3"/></listOfLocalParameters></kineticLaw></reaction></listOfReactions><listOfEvents><event>
				<trigger>` + maths("<true/>") + `</trigger><listOfEventAssignments><eventAssignment variable="k">` +
				maths("<cn>2</cn>") + `</eventAssignment></listOfEventAssignments></event></listOfEvents>`),
			"param r_k = 3",
		},
	} {
		doc, want := c[0], c[1]
		if out, wrong := translate("x.xml", doc, sbml.Options{}); !strings.Contains(out, want) {
			t.Errorf("%s becomes\n%s%s, want %q", doc, out, wrong, want)
		}
	}
}

// TestIs tells SBML from other texts.
func TestIs(t *testing.T) {
	const utf16 = "\xff\xfe<\x00s\x00b\x00m\x00l\x00>"
	long := "<!-- " + strings.Repeat("a comment ", 1000) + "-->\n"
	for text, want := range map[string]bool{
		wrap(""): true, "\ufeff" + wrap(""): true, `<?xml version="1.0"?>` + "\r\n" + long + wrap(""): true,
		"<!DOCTYPE sbml>" + wrap(""): true, `<s:sbml xmlns:s="urn:s"/>`: true,
		utf16: true,
		"":    false, "<!-- <sbml>": false, "<html><body/></html>": false, "model m": false,
	} {
		if got := sbml.Is(text); got != want {
			t.Errorf("%.50q: %v", text, got)
		}
	}
}

// TestLarge reads a long list in a time that is proportional to its length.
func TestLarge(t *testing.T) {
	doc := wrap("<listOfParameters>" + strings.Repeat("\n<parameter/>", 300000) + "</listOfParameters>")
	start := time.Now()
	if _, wrong := translate("x.xml", doc, sbml.Options{}); !strings.Contains(wrong, "has no id") {
		t.Error(wrong)
	}
	if d := time.Since(start); d > 20*time.Second { // it takes less than one, and would take minutes
		t.Errorf("it takes %v", d)
	}
	doc = wrap(`<listOfParameters><parameter id="y" constant="false"/></listOfParameters><listOfRules><assignmentRule
		variable="y">` + maths("<apply><plus/>"+strings.Repeat("<cn>1</cn>", 300000)+"</apply>") +
		"</assignmentRule></listOfRules>")
	start = time.Now()
	if _, wrong := translate("x.xml", doc, sbml.Options{}); !strings.Contains(wrong, "too long") {
		t.Error(wrong)
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("a sum takes %v", d)
	}
}

// nested is a condition in a condition, and so on: each is written out twice.
func nested(deep int) string {
	text := "<ci>y</ci>"
	for range deep {
		text = "<piecewise><piece><cn>1</cn>" + text + "</piece></piecewise>"
	}
	return text
}

// TestDetermined: of what an algebraic rule reads, it determines what no event sets.
func TestDetermined(t *testing.T) {
	text := wrap(`<listOfParameters><parameter id="load" value="1" constant="false"/>
		<parameter id="z" value="0.5" constant="false"/></listOfParameters><listOfRules><algebraicRule>` +
		maths(`<apply><minus/><ci>load</ci><ci>z</ci></apply>`) + `</algebraicRule></listOfRules><listOfEvents>
		<event id="e" useValuesFromTriggerTime="true"><trigger initialValue="true" persistent="true">` +
		maths(`<apply><gt/><csymbol definitionURL="http://www.sbml.org/sbml/symbols/time"/><cn>1</cn></apply>`) +
		`</trigger><listOfEventAssignments><eventAssignment variable="load">` + maths(`<cn>2</cn>`) +
		`</eventAssignment></listOfEventAssignments></event></listOfEvents>`)
	got, message := translate("m", text, sbml.Options{})
	if !strings.Contains(got, "alg z = 0.5") || !strings.Contains(got, "discrete load = 1") {
		t.Errorf("%s\n%s", message, got)
	}
}

// TestIgnoreFast takes fast reactions by their rate laws where that is asked for, with a note.
func TestIgnoreFast(t *testing.T) {
	text := wrap(`<listOfCompartments><compartment id="c" size="1" constant="true"/></listOfCompartments><listOfSpecies>
		<species id="A" compartment="c" initialAmount="1" hasOnlySubstanceUnits="true"/></listOfSpecies>
		<listOfReactions><reaction id="r" fast="true"><listOfReactants><speciesReference species="A" stoichiometry="1"/>
		</listOfReactants><kineticLaw>` + maths("<ci>A</ci>") + `</kineticLaw></reaction></listOfReactions>`)
	var list diag.List
	out := comp.Translate(source.NewFile("m.xml", text), nil, sbml.Options{IgnoreFast: true}, &list)
	if out == nil || !strings.Contains(out.Text(), "A' = -r") || len(list.All()) != 1 ||
		!strings.Contains(list.All()[0].Message, "the reaction r is fast") {
		t.Errorf("%v, %v", out, list.All())
	}
}

// TestRefused: what cannot be translated says so.
func TestRefused(t *testing.T) {
	species := `<listOfCompartments><compartment id="c" size="1" constant="true"/></listOfCompartments><listOfSpecies>
		<species id="A" compartment="c" initialAmount="1" hasOnlySubstanceUnits="true"/></listOfSpecies>`
	rule := func(in string) string {
		return wrap(`<listOfParameters><parameter id="y" constant="false"/></listOfParameters><listOfRules>
			<assignmentRule variable="y">` + maths(in) + `</assignmentRule></listOfRules>`)
	}
	for _, c := range [][2]string{
		{"", "the file is empty"},
		{
			wrap(`<listOfParameters><parameter id="x" value="1" constant="false"/></listOfParameters><listOfEvents>
				<event id="e"><trigger>` + maths("<true/>") + `</trigger><listOfEventAssignments>
				<eventAssignment variable="x">` + maths("<cn>3</cn>") + `</eventAssignment>
				<eventAssignment variable="x">` + maths("<cn>4</cn>") + `</eventAssignment>
				</listOfEventAssignments></event></listOfEvents>`),
			"the event e sets x twice",
		},
		{
			wrap(`<listOfCompartments><compartment id="c" size="1" constant="true"/></listOfCompartments><listOfSpecies>
				<species id="A" compartment="c" initialAmount="1" constant="true"/></listOfSpecies><listOfReactions>
				<reaction id="r"><listOfReactants><speciesReference species="A" stoichiometry="1"/></listOfReactants>
				<kineticLaw>` + maths("<ci>A</ci>") + `</kineticLaw></reaction></listOfReactions>`),
			"the species A is constant, and the reaction r changes it",
		},
		{"<sbml level='3'><model></sbml>", "this is no XML"},
		{"<html><body/></html>", "its first element is <html>"},
		{"<sbml level='1'><model/></sbml>", "level 1"},
		{`<?xml version="1.0" encoding="ISO-8859-1"?><sbml/>`, "its encoding is ISO-8859-1: save it as UTF-8"},
		{"\xff\xfe<\x00s\x00b\x00m\x00l\x00", "its encoding is UTF-16"},
		{
			rule(strings.Repeat("<apply><minus/><cn>1</cn>", 600) + "<cn>1</cn>" + strings.Repeat("</apply>", 600)),
			"more brackets",
		},
		{"<sbml level='3'/>", "no model"},
		{
			wrap(`<listOfParameters><parameter id="k" constant="true"/><parameter id="y" constant="false"/>` +
				`</listOfParameters><listOfRules><assignmentRule variable="y">` + maths("<ci>k</ci>") +
				`</assignmentRule></listOfRules>`),
			"k: it has no value",
		},
		{wrap(`<listOfParameters><parameter value="1"/></listOfParameters>`), "has no id"},
		{wrap(`<listOfSpecies><species id="A" compartment="c"/></listOfSpecies>`), "in no compartment"},
		{wrap(`<listOfParameters><parameter id="k" value="x"/></listOfParameters>`), `"x" is no number`},
		{wrap(species + `<listOfReactions><reaction id="r"/></listOfReactions>`), "no kinetic law"},
		{wrap(species + `<listOfReactions><reaction id="A"/></listOfReactions>`), "declared twice, in line 2"},
		{wrap(species + `<listOfReactions><reaction id="r" fast="true"/></listOfReactions>`), "no kinetic law"},
		{
			wrap(species + `<listOfReactions><reaction id="r" f:lowerFluxBound="a" ` +
				`xmlns:f="http://www.sbml.org/sbml/level3/version1/fbc/version2"/></listOfReactions>`),
			"a problem of flux balance (package fbc)",
		},
		{
			wrap(species + `<listOfReactions><reaction id="r"><kineticLaw>` + maths("<ci>FLUX_VALUE</ci>") +
				`<listOfParameters><parameter id="LOWER_BOUND"/><parameter id="UPPER_BOUND"/>` +
				`<parameter id="FLUX_VALUE" value="0"/></listOfParameters></kineticLaw></reaction></listOfReactions>`),
			"a problem of flux balance (LOWER_BOUND and UPPER_BOUND)",
		},
		{wrap(`<listOfSubmodels/>`), "submodels"},
		{
			wrap(`<listOfParameters><parameter id="y" value="1"/></listOfParameters><listOfRules>` + strings.Repeat(
				`<assignmentRule variable="y">`+maths("<cn>1</cn>")+`</assignmentRule>`, 2) + `</listOfRules>`),
			"y has another rule",
		},
		{
			wrap(`<listOfParameters><parameter id="y" value="1"/></listOfParameters><listOfInitialAssignments>` +
				strings.Repeat(`<initialAssignment symbol="y">`+maths("<cn>1</cn>")+`</initialAssignment>`, 2) +
				`</listOfInitialAssignments>`),
			"y has another initial assignment",
		},
		{rule(`<ci>z</ci>`), `rule of y: nothing has the id "z"`},
		{rule(nested(60)), "too long when its functions and conditions are written out"},
		{rule("<cn>1</cn><cn>2</cn>"), "this <math> has 2 expressions"},
		{"<sbml><model/></sbml>", "does not say of which level"},
		{wrap("") + wrap(""), "something follows the end"},
		{wrap(`<listOfParameters><parameter id="k" value="0x1p3"/></listOfParameters>`), `"0x1p3" is no number`},
		{wrap(`<listOfParameters><parameter id="k" value="1_0"/></listOfParameters>`), `"1_0" is no number`},
		{wrap(`<listOfParameters><parameter id="k" value="1e400"/></listOfParameters>`), "1e400 is too large"},
		{wrap(`<listOfParameters><parameter id="k-1" value="1"/></listOfParameters>`), `"k-1" is no id of SBML`},
		{
			wrap(strings.Replace(species, `="1" has`, `="1" initialConcentration="2" has`, 1)),
			"has an initialConcentration and an initialAmount",
		},
		{
			wrap(species + `<listOfReactions><reaction id="r"><kineticLaw>` + maths("<cn>1</cn>") +
				`<listOfLocalParameters><localParameter id="k" value="1"/><localParameter id="k" value="2"/>
				</listOfLocalParameters></kineticLaw></reaction></listOfReactions>`),
			`the reaction r declares "k" twice`,
		},
		{`<sbml level="3" xmlns:q="urn/version" q:required="true"><model/></sbml>`, `the package "urn/version"`},
		{
			rule(`<apply><csymbol definitionURL="http://www.sbml.org/sbml/symbols/delay"/><ci>y</ci></apply>`),
			"delay has two arguments",
		},
		{rule(`<apply><diff/><ci>y</ci></apply>`), "nothing like <diff>"},
		{rule(`<apply><divide/><ci>y</ci></apply>`), "<divide> does not have 1 operands"},
		{rule(`<apply><ci>f</ci><ci>y</ci></apply>`), `no function "f"`},
		{
			wrap(`<listOfRules><algebraicRule>` + maths(`<cn>1</cn>`) + `</algebraicRule></listOfRules>`),
			"could determine",
		},
		{
			`<sbml level="3" xmlns:q="http://www.sbml.org/sbml/level3/version1/qual/version1"
				q:required="true"><model/></sbml>`,
			"a logical network (package qual)",
		},
	} {
		doc, want := c[0], c[1]
		if out, wrong := translate("x.xml", doc, sbml.Options{}); !strings.Contains(wrong, want) {
			t.Errorf("%s: %q, want %q\n%s", doc, wrong, want, out)
		}
	}
}

// FuzzTranslate: whatever a file holds, its translation is a model that parses, or an error.
func FuzzTranslate(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.xml")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		out, wrong := translate("x.xml", text, sbml.Options{})
		mangle.Sound(t, text, out, wrong)
	})
}

// TestMangled: of files with tags and values that are lost, doubled and exchanged, each becomes a model that parses, or
// an error.
func TestMangled(t *testing.T) {
	files, err := filepath.Glob("testdata/*.xml")
	if err != nil {
		t.Fatal(err)
	}
	elements := regexp.MustCompile(`(?s)<[a-zA-Z][^<>]*/>|<(\w+)[^<>]*>[^<>]*</\w+>|<[^>]*>|[^<]+`)
	values := []string{"", "A", "V", "NaN", "-1", "1e400", "true", "t", "exp"}
	translated, first := 0, seeds.Of(t, 0)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		whole := elements.FindAllString(string(text), -1)
		for seed := range uint64(1500) {
			broken := mangle.Mangle(rand.New(rand.NewPCG(first+seed, 1)), whole, mangle.Quoted(values))
			out, wrong := translate("x.xml", broken, sbml.Options{})
			if !mangle.Sound(t, broken, out, wrong) {
				t.Fatalf("%s, seed %d", file, seed)
			}
			if out != "" {
				translated++
			}
		}
	}
	if translated < 300 {
		t.Errorf("only %d of them were models", translated)
	}
}

// TestUnread: a value that no formula reads may be missing, where nothing beside the model can read it.
func TestUnread(t *testing.T) {
	const time = `<csymbol encoding="text" definitionURL="http://www.sbml.org/sbml/symbols/time">t</csymbol>`
	text := wrap(`<listOfParameters><parameter id="k" value="1" constant="true"/>` +
		`<parameter id="w" constant="false"/></listOfParameters><listOfEvents><event>` +
		`<trigger initialValue="true" persistent="true">` + maths(`<apply><gt/>`+time+`<ci>k</ci></apply>`) +
		`</trigger><listOfEventAssignments><eventAssignment variable="w">` + maths("<cn>5</cn>") +
		`</eventAssignment></listOfEventAssignments></event></listOfEvents>`)
	if out, wrong := translate("m.xml", text, sbml.Options{}); !strings.Contains(out, "discrete w = 0") {
		t.Errorf("%s %s", out, wrong)
	}
	if _, wrong := translate("m.xml", text, sbml.Options{Bare: true}); !strings.Contains(wrong, "it has no value") {
		t.Errorf("others could read it, and it is taken as 0: %q", wrong)
	}
}
