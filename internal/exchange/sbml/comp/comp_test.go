package comp_test

import (
	"context"
	"encoding/json"
	"flag"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"odes.dev/odes"
	"odes.dev/odes/internal/exchange/sbml"
	"odes.dev/odes/internal/exchange/sbml/comp"
	"odes.dev/odes/internal/testing/mangle"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

var update = flag.Bool("update", false, "write the translations anew")

// translate returns the translation of a file, or the first error with its place.
func translate(files fs.FS, name, to string) (string, string) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return "", err.Error()
	}
	var list diag.List
	file := source.NewFile(name, string(text))
	out := comp.Translate(file, comp.Beside(files, file, "."), sbml.Options{To: to}, &list)
	for _, d := range list.All() {
		if d.Level == diag.Error {
			return "", d.Span.File.Name() + ": " + d.Message
		}
	}
	if out == nil {
		return "", ""
	}
	return out.Text(), ""
}

// archives are the files of testdata.
func archives(t *testing.T) map[string]*txtar.Archive {
	list, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	all := map[string]*txtar.Archive{}
	for _, path := range list {
		if all[path], err = txtar.ParseFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func filesOf(a *txtar.Archive) fstest.MapFS {
	files := fstest.MapFS{}
	for _, f := range a.Files {
		files[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	return files
}

// TestFlat: models become what lies beside them.
func TestFlat(t *testing.T) {
	for path, a := range archives(t) {
		files := filesOf(a)
		got, wrong := translate(files, "main.xml", "6")
		if wrong != "" {
			t.Errorf("%s: %s", path, wrong)
			continue
		}
		want := ""
		if f := files["flat.ode"]; f != nil {
			want = string(f.Data)
		}
		if got == want {
			continue
		}
		if !*update {
			t.Errorf("%s: not as in the file, which -update writes:\n%s", path, got)
			continue
		}
		last := len(a.Files) - 1
		if a.Files[last].Name != "flat.ode" {
			a.Files, last = append(a.Files, txtar.File{Name: "flat.ode"}), last+1
		}
		a.Files[last].Data = []byte(got)
		if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// ends runs a model and returns the last values of its outputs, by names as those of one model.
func ends(t *testing.T, text string, files fs.FS) map[string]float64 {
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{Files: files})
	if err != nil {
		t.Fatalf("%v, of\n%s", err, text)
	}
	sol, err := m.Solve(context.Background(), odes.Options{
		Settings: []odes.Setting{{Key: "solver.rtol", Value: "1e-10"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, o := range sol.Outputs {
		values[strings.Replace(o.Name, ".", "__", 1)] = o.Values[len(o.Values)-1]
	}
	return values
}

// TestComponents: a model becomes components that compute what the flat one does, or it is said why not.
func TestComponents(t *testing.T) {
	for path, a := range archives(t) {
		files := filesOf(a)
		text := string(files["main.xml"].Data)
		file := source.NewFile("main.xml", text)
		parts, why := comp.Components(file, comp.Beside(files, file, "."), "main", sbml.Options{To: "6"})
		want := map[string]string{
			"ports":   "the submodel b is without something that its model has",
			"factors": "the submodel line has units of its own", "exchanged": "a submodel stands for another",
		}[strings.TrimSuffix(filepath.Base(path), ".txtar")]
		if (parts == nil) != (want != "") || why != want {
			t.Errorf("%s: %q, want %q", path, why, want)
		}
		if parts == nil {
			continue
		}
		beside := fstest.MapFS{}
		for name, text := range parts.Files {
			beside[name] = &fstest.MapFile{Data: []byte(text)}
		}
		flat, _ := translate(files, "main.xml", "6")
		got := ends(t, parts.Main, beside)
		for name, want := range ends(t, flat, nil) {
			name = strings.Replace(name, "a1__", "a__", 1) // which is a name of the file, too
			if v, ok := got[name]; !ok || !(math.Abs(v-want) <= 1e-9*math.Abs(want)) {
				t.Errorf("%s: %s ends at %v, not at %v\n%s", path, name, v, want, parts.Main)
			}
		}
		parts.Files["main.ode"] = parts.Main
		for name, text := range parts.Files {
			if f := files[name]; f != nil && string(f.Data) != text {
				t.Errorf("%s: %s is not as in the file:\n%s", path, name, text)
			}
		}
	}
}

// TestRefused: what is wrong is said of what it is about, in its file.
func TestRefused(t *testing.T) {
	all := archives(t)
	for _, c := range []struct{ name, old, new, want string }{
		{
			"ports", `comp:portRef="volume"/>`,
			`comp:portRef="size"/>`,
			`main.xml: there is no port "size" in the submodel a`,
		},
		{
			"ports", `comp:metaIdRef="fixed"`,
			`comp:metaIdRef="fxied"`,
			`main.xml: there is nothing with the metaid "fxied" in the submodel b`,
		},
		{
			"ports", `comp:idRef="kick"`,
			`comp:idRef="kcik"`,
			`main.xml: there is nothing with the id "kcik" in the submodel b.in`,
		},
		{
			"ports", `comp:submodelRef="a" comp:metaIdRef`,
			`comp:submodelRef="c" comp:metaIdRef`,
			`main.xml: there is no submodel "c"`,
		},
		{
			"ports", `comp:modelRef="Pool"/></comp`,
			`comp:modelRef="Outer"/></comp`,
			`main.xml: the submodel in is of a model that contains it`,
		},
		{
			"ports", `comp:modelRef="Outer"`,
			`comp:modelRef="Inner"`,
			`main.xml: there is no model "Inner"`,
		},
		{
			"ports", `comp:idRef="in"><comp:sBaseRef comp:metaIdRef`,
			`comp:idRef="level"><comp:sBaseRef comp:metaIdRef`,
			`main.xml: <parameter> is no submodel, and this asks for what it contains`,
		},
		{
			"ports", `comp:submodelRef="a" comp:portRef="pool"`,
			`comp:submodelRef="a"`,
			`main.xml: this <replacedBy> has 0 of`,
		},
		{
			"ports", `comp:metaIdRef="fixed"`,
			`comp:idRef="level"`,
			`main.xml: this reads level in the submodel b, which is deleted`,
		},
		{
			"factors", `comp:conversionFactor="gram"`,
			`comp:conversionFactor="pound"`,
			`main.xml: the conversion factor "pound" does not exist`,
		},
		{
			"factors", `comp:timeConversionFactor="half"`,
			`comp:timeConversionFactor="third"`,
			`main.xml: the conversion factor "third" does not exist in the submodel line`,
		},
		{
			"factors", `<ci>per</ci>`,
			`<ci>pre</ci>`,
			`main.xml: nothing has the id "pre" in the submodel line`,
		},
		{
			"factors", `variable="g"`,
			`variable="h"`,
			`main.xml: nothing has the id "h" in the submodel line.gate`,
		},
		{
			"outside", `parts/mid.xml"`,
			`parts/top.xml"`,
			`main.xml: there is no file "parts/top.xml" beside the model, which has`,
		},
		{
			"outside", `comp:modelRef="mid"`,
			`comp:modelRef="middle"`,
			`main.xml: the file "parts/mid.xml" has no model "middle"`,
		},
		{
			"outside", `comp:source="leaf.xml"`,
			`comp:source="mid.xml" comp:modelRef="Leaf"`,
			`the external model Leaf leads to itself`,
		},
		{
			"outside", `comp:source="leaf.xml"`,
			`comp:source="http://x.org/leaf.xml"`,
			`parts/mid.xml: the model Leaf lies in the network`,
		},
		{
			"outside", `<ci>x</ci></apply>`,
			`<ci>z</ci></apply>`,
			`parts/leaf.xml: nothing has the id "z" in the submodel a.leaf`,
		},
		{
			"exchanged", `<comp:replacedElement comp:submodelRef="user" comp:idRef="own"/>`,
			`<comp:replacedElement comp:submodelRef="user" comp:idRef="sum"/>`,
			`main.xml: a submodel can only stand for a submodel`,
		},
	} {
		files := filesOf(all["testdata/"+c.name+".txtar"])
		changed := false
		for name, f := range files {
			if text := strings.ReplaceAll(string(f.Data), c.old, c.new); text != string(f.Data) {
				files[name], changed = &fstest.MapFile{Data: []byte(text)}, true
			}
		}
		_, wrong := translate(files, "main.xml", "6")
		if !changed || !strings.Contains(wrong, c.want) {
			t.Errorf("%s for %s in %s: %q, want %q", c.new, c.old, c.name, wrong, c.want)
		}
	}
}

// TestMangled: of files with parts that are lost, doubled and exchanged, each becomes a model that parses, or an error.
func TestMangled(t *testing.T) {
	first := seeds.Of(t, 0)
	words := regexp.MustCompile(`comp:\w+Ref="\w+"|<comp:\w+[^>]*>|[^<]*<?[^<>]*>?`)
	values := []string{"a", "b", "in", "k", "S", "X", "J", "own", "x", "Pool", "line", "gate", ""}
	for path, a := range archives(t) {
		files := filesOf(a)
		pieces := words.FindAllString(string(files["main.xml"].Data), -1)
		for seed := range uint64(60) {
			text := mangle.Mangle(rand.New(rand.NewPCG(first+seed, 1)), pieces, mangle.Quoted(values))
			files["broken.xml"] = &fstest.MapFile{Data: []byte(text)}
			out, wrong := translate(files, "broken.xml", "6")
			if !mangle.Sound(t, text, out, wrong) {
				t.Errorf("%s, seed %d", path, first+seed)
			}
		}
	}
}

// TestDoubling: submodels that have two of the next each are refused in time.
func TestDoubling(t *testing.T) {
	text := strings.Builder{}
	text.WriteString(`<sbml xmlns="http://www.sbml.org/sbml/level3/version2/core" ` +
		`xmlns:comp="http://www.sbml.org/sbml/level3/version1/comp/version1" level="3" version="2" ` +
		`comp:required="true">` +
		`<model id="top">`)
	two := func(of string) {
		text.WriteString(`<comp:listOfSubmodels><comp:submodel comp:id="a" comp:modelRef="` + of + `"/>` +
			`<comp:submodel comp:id="b" comp:modelRef="` + of + `"/></comp:listOfSubmodels>`)
	}
	two("m0")
	text.WriteString(`</model><comp:listOfModelDefinitions>`)
	for i := range 40 {
		text.WriteString(`<comp:modelDefinition id="m` + strconv.Itoa(i) + `">`)
		two("m" + strconv.Itoa(i+1))
		text.WriteString(`</comp:modelDefinition>`)
	}
	text.WriteString(`<comp:modelDefinition id="m40"/></comp:listOfModelDefinitions></sbml>`)
	_, wrong := translate(fstest.MapFS{"main.xml": {Data: []byte(text.String())}}, "main.xml", "6")
	if !strings.Contains(wrong, "the submodels have more than") {
		t.Error(wrong)
	}
}

// TestReference compares models that lie beside this project, where they do, with what other programs make of them.
func TestReference(t *testing.T) {
	const at = "../../../../../shared/reference/doors/"
	text, err := os.ReadFile(at + "sbml_comp.json")
	if err != nil {
		t.Skip("the reference models are not at hand")
	}
	var list struct {
		Cases []struct {
			ID, Dir   string
			Variables []string
			Table     [][]float64
		}
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	for _, c := range list.Cases {
		t.Run(c.ID, func(t *testing.T) {
			if len(c.Table) == 0 {
				t.Skip("no program computes it")
			}
			end := strconv.FormatFloat(c.Table[len(c.Table)-1][0], 'g', -1, 64)
			out, wrong := translate(os.DirFS(at+c.Dir), c.ID+".xml", end)
			if wrong != "" {
				t.Fatal(wrong)
			}
			times := make([]float64, len(c.Table))
			for i, row := range c.Table {
				times[i] = row[0]
			}
			m, err := odes.Parse("m.ode", out, odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			sol, err := m.Solve(context.Background(), odes.Options{
				Times: times, Settings: []odes.Setting{{Key: "solver.rtol", Value: "1e-10"}},
			})
			if err != nil && strings.Contains(err.Error(), "with delays yet") {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			last := len(sol.T) - 1
			for k, name := range c.Variables {
				for _, o := range sol.Outputs {
					want := c.Table[len(c.Table)-1][k+1]
					if got := o.Values[last]; o.Name == name && !(math.Abs(got-want) <= 1e-6*math.Abs(want)+1e-9) {
						t.Errorf("%s ends at %v, not at %v", name, got, want)
					}
				}
			}
		})
	}
}
