package sedml_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes"
	"odes.dev/odes/internal/exchange/sedml"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// decay is x' = -k*x from 3, with q that nothing changes.
const decay = `<?xml version="1.0"?>
<sbml xmlns="http://www.sbml.org/sbml/level3/version1/core" level="3" version="1"><model id="decay">
<listOfParameters>
<parameter id="k" value="2" constant="true"/><parameter id="q" value="5" constant="true"/>
<parameter id="x" value="3" constant="false"/>
</listOfParameters>
<listOfRules><rateRule variable="x"><math xmlns="http://www.w3.org/1998/Math/MathML">
<apply><times/><cn>-1</cn><ci>k</ci><ci>x</ci></apply></math></rateRule></listOfRules>
</model></sbml>`

const script = `<?xml version="1.0"?>
<!-- an experiment -->
<sedML xmlns="http://sed-ml.org/sed-ml/level1/version3" level="1" version="3">
<listOfModels>
<model id="plain" language="urn:sedml:language:sbml" source="decay.xml"/>
<model id="slow" language="urn:sedml:language:sbml" source="plain"><listOfChanges>
<changeAttribute target="/sbml:sbml/sbml:model/sbml:listOfParameters/sbml:parameter[@id='k']/@value" newValue="0.5"/>
</listOfChanges></model>
<model id="still" language="urn:sedml:language:sbml" source="#slow"><listOfChanges>
<removeXML target="//sbml:rateRule[@variable='x']"/>
<addXML target="/sbml:sbml/sbml:model/sbml:listOfRules"><newXML><rateRule variable="x">
<math xmlns="http://www.w3.org/1998/Math/MathML"><ci>k</ci></math></rateRule></newXML></addXML>
<changeXML target="/sbml:sbml/sbml:model/sbml:listOfParameters/sbml:parameter[3]"><newXML>
<parameter id="x" value="1" constant="false"/></newXML></changeXML>
</listOfChanges></model>
</listOfModels>
<listOfSimulations>
<uniformTimeCourse id="course" initialTime="0" outputStartTime="1" outputEndTime="2" numberOfPoints="4">
<algorithm kisaoID="KISAO:0000019"/></uniformTimeCourse>
<steadyState id="rest"/>
</listOfSimulations>
<listOfTasks>
<task id="first" modelReference="plain" simulationReference="course"/>
<task id="second" modelReference="slow" simulationReference="course"/>
<task id="third" modelReference="still" simulationReference="course"/>
<task id="fourth" modelReference="plain" simulationReference="rest"/>
<repeatedTask id="scan" range="index" resetModel="true">
<listOfRanges>
<uniformRange id="index" start="1" end="3" numberOfPoints="2" type="linear"/>
<vectorRange id="starts"><value>3</value><value>4</value><value>6</value></vectorRange>
</listOfRanges>
<listOfChanges>
<setValue target="/sbml:sbml/sbml:model/sbml:listOfParameters/sbml:parameter[@id='k']" range="index"
modelReference="plain">
<math xmlns="http://www.w3.org/1998/Math/MathML"><apply><divide/><ci>index</ci><cn>4</cn></apply></math></setValue>
<setValue target="/sbml:sbml/sbml:model/sbml:listOfParameters/sbml:parameter[@id='x']" range="starts"
modelReference="plain">
<math xmlns="http://www.w3.org/1998/Math/MathML"><ci>starts</ci></math></setValue>
</listOfChanges>
<listOfSubTasks><subTask task="first" order="1"/></listOfSubTasks>
</repeatedTask>
</listOfTasks>
</sedML>`

const manifest = `<omexManifest xmlns="http://identifiers.org/combine.specifications/omex-manifest">
<content location="./other.sedml" format="http://identifiers.org/combine.specifications/sed-ml"/>
<content location="./sub/script.sedml" format="http://identifiers.org/combine.specifications/sed-ml" master="true"/>
</omexManifest>`

// archive packs files, whose names and texts alternate.
func archive(t testing.TB, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.Create(files[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func whole(t testing.TB) string {
	return archive(t, "manifest.xml", manifest, "other.sedml", "<sedML/>", "sub/script.sedml", script, "sub/decay.xml",
		decay)
}

// TestTasks runs each task of an archive: its model with its changes, at the times that it asks for.
func TestTasks(t *testing.T) {
	for task, want := range map[string]func(t float64) float64{
		"":       func(t float64) float64 { return 3 * math.Exp(-2*t) },
		"second": func(t float64) float64 { return 3 * math.Exp(-0.5*t) },
		"third":  func(t float64) float64 { return 1 + 0.5*t },
		"scan_1": func(t float64) float64 { return 3 * math.Exp(-0.25*t) },
		"scan_3": func(t float64) float64 { return 6 * math.Exp(-0.75*t) },
	} {
		m, err := odes.Parse("a.omex", whole(t), odes.ParseOptions{Experiment: task})
		if err != nil {
			t.Errorf("%s: %v", task, err)
			continue
		}
		s, err := m.Solve(context.Background(), odes.Options{
			Threads: 1, Settings: []odes.Setting{{Key: "solver.rtol", Value: "1e-10"}},
		})
		if err != nil {
			t.Errorf("%s: %v", task, err)
			continue
		}
		if len(s.T) != 5 || s.T[0] != 1 || s.T[1] != 1.25 || s.T[4] != 2 {
			t.Errorf("%s: the times are %v", task, s.T)
		}
		for i, at := range s.T {
			if got := s.Outputs[0].Values[i]; math.Abs(got-want(at)) > 1e-8 {
				t.Errorf("%s at %v: %v, want %v", task, at, got, want(at))
			}
		}
	}
}

// TestBeside reads a script that is in no archive, with its model beside it.
func TestBeside(t *testing.T) {
	if !sedml.Is(script) || sedml.Is(decay) || sedml.Is("# <sedML>\n") {
		t.Error("scripts are not told from other texts")
	}
	files := fstest.MapFS{"decay.xml": {Data: []byte(decay)}}
	m, err := odes.Parse("s.sedml", script, odes.ParseOptions{Files: files, Experiment: "second"})
	if err != nil {
		t.Fatal(err)
	}
	if x, err := m.Solve(context.Background(), odes.Options{Threads: 1}); err != nil || len(x.T) != 5 {
		t.Errorf("%v, %v", x, err)
	}
}

// TestRefused: what is wrong, or has no translation, is named where it stands.
func TestRefused(t *testing.T) {
	change := func(old, with string) string {
		if !strings.Contains(script, old) {
			t.Fatalf("the script has no %q", old)
		}
		return archive(t, "s.sedml", strings.Replace(script, old, with, 1), "decay.xml", decay)
	}
	for _, c := range []struct{ text, task, want string }{
		{whole(t), "none", `there is no task "none"; there are first, second, third, fourth, scan`},
		{whole(t), "fourth", "the simulation rest is a <steadyState>: odes reads uniform time courses"},
		{whole(t), "scan", "scan is a scan of 3 runs: --in scan_1"},
		{whole(t), "scan_4", "scan has 3 runs"},
		{change("KISAO:0000019", "KISAO:0000029"), "", "a.omex/s.sedml:19:1: this is a stochastic simulation"},
		{change("KISAO:0000019", "KISAO:0000437"), "", "a problem of flux balance"},
		{change("decay.xml", "lost.xml"), "", `the archive has no file "lost.xml"`},
		{change("decay.xml", "http://a.b/c.xml"), "", "lies in the network"},
		{change("language:sbml", "language:cellml"), "", "odes reads SBML"},
		{change("[@id='k']/@value", "[@id='z']/@value"), "second", "finds 0 elements of the model, not one"},
		{change("[@id='k']/@value", "[last()]/@value"), "second", "is more than odes reads of XPath"},
		{change("<changeAttribute", "<computeChange"), "second", "the change <computeChange>"},
		{change(`numberOfPoints="4"`, `numberOfPoints="x"`), "", `numberOfPoints of the simulation course is "x"`},
		{change(`outputEndTime="2"`, `outputEndTime="0"`), "", "ends before it starts"},
		{change(`resetModel="true"`, `resetModel="false"`), "scan_1", "resetModel = false"},
		{change("<uniformRange", "<functionalRange"), "scan_1", "odes reads uniformRange and vectorRange"},
		{change("[@id='x']\" range", "[@id='y']\" range"), "scan_2", "no symbol of the model that a scan could set"},
		{archive(t, "a.txt", "nothing"), "", "an archive without an experiment in SED-ML or a model"},
		{archive(t, "s.sedml", "<sedML/>"), "", "the experiment has no task"},
		{archive(t, "s.sedml", "<sedML>"), "", "this is no XML"},
		{"PK\x03\x04 and more", "", "the archive cannot be read"},
	} {
		var list diag.List
		out := sedml.Translate(source.NewFile("a.omex", c.text), nil, c.task, "", &list)
		if err := list.Err(); out != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	var list diag.List
	if sedml.Translate(source.NewFile("a.omex", archive(t, "m.xml", decay)), nil, "", "7", &list) == nil {
		t.Errorf("an archive of a model alone: %v", list.Err())
	}
}

// FuzzScript: whatever a script holds, it becomes a model, or an error.
func FuzzScript(f *testing.F) {
	f.Add(script, "scan_2")
	f.Fuzz(func(t *testing.T, text, task string) {
		var list diag.List
		files := fstest.MapFS{"decay.xml": {Data: []byte(decay)}}
		out := sedml.Translate(source.NewFile("s.sedml", text), files, task, "", &list)
		if (out == nil) != list.HasErrors() {
			t.Errorf("%v, %v", out, list.All())
		}
	})
}

// TestReference compares archives that lie beside this project, where they do, with runs of libroadrunner.
func TestReference(t *testing.T) {
	const at = "../../../../shared/reference/doors/"
	text, err := os.ReadFile(at + "omex.json")
	if err != nil {
		t.Skip("the reference archives are not at hand")
	}
	var list struct {
		Cases []struct {
			ID, File, Refused string
			Tasks             []struct {
				Task    string
				T       []float64
				Columns map[string][]float64
			}
		}
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	for _, c := range list.Cases {
		archive, err := os.ReadFile(filepath.Join(at, c.File))
		if err != nil {
			t.Fatal(err)
		}
		if c.Refused != "" {
			if _, err := odes.Parse("a.omex", string(archive), odes.ParseOptions{}); err == nil ||
				!strings.Contains(err.Error(), "stochastic") {
				t.Errorf("%s: %v", c.ID, err)
			}
		}
		for _, task := range c.Tasks {
			m, err := odes.Parse("a.omex", string(archive), odes.ParseOptions{Experiment: task.Task})
			if err != nil {
				t.Errorf("%s: %v", c.ID, err)
				continue
			}
			s, err := m.Solve(context.Background(), odes.Options{Threads: 1, Settings: []odes.Setting{
				{Key: "solver.rtol", Value: "1e-9"}, {Key: "solver.atol", Value: "1e-12"},
			}})
			if err != nil {
				t.Errorf("%s: %v", c.ID, err)
				continue
			}
			for _, o := range s.Outputs {
				want := task.Columns[o.Name]
				size := 0.0
				for _, v := range want {
					size = max(size, math.Abs(v))
				}
				for k, v := range want {
					row := -1
					for i, x := range s.T {
						if x <= task.T[k]*(1+1e-12) {
							row = i
						}
					}
					if row < 0 || !(math.Abs(o.Values[row]-v) <= 1e-6*size) {
						t.Errorf("%s: %s at %v is off, want %v", c.ID, o.Name, task.T[k], v)
						break
					}
				}
			}
		}
	}
}
