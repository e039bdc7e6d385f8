package ensemble_test

import (
	"os"
	"path/filepath"
	"testing"

	"odes.dev/odes/ensemble"
	"odes.dev/odes/internal/base/input"
)

// TestAbove: a job has the files of a problem that lie above its folder, too.
func TestAbove(t *testing.T) {
	top := t.TempDir()
	files := map[string]string{
		"m.xml": `<sbml xmlns="http://www.sbml.org/sbml/level3/version1/core" level="3" version="1"><model>
			<listOfParameters><parameter id="k" value="2" constant="true"/></listOfParameters></model></sbml>`,
		"p/p.tsv": "parameterId\tnominalValue\testimate\nk\t3\t1\n",
		"p/c.tsv": "conditionId\nc\n",
		"p/o.tsv": "observableId\tobservableFormula\tnoiseFormula\no\tk\t1\n",
		"p/d.tsv": "observableId\tsimulationConditionId\tmeasurement\ttime\no\tc\t1\t1\n",
	}
	for name, text := range files {
		name = filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const problem = "format_version: 1\nparameter_file: p.tsv\nproblems:\n- sbml_files: ../m.xml\n" +
		"  condition_files: c.tsv\n  observable_files: o.tsv\n  measurement_files: d.tsv\n"
	_, source, err := ensemble.ReadSource("p.yaml", problem, input.Folder(filepath.Join(top, "p"), nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(top); err != nil {
		t.Fatal(err)
	}
	m, err := source.Parse()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(m.Observations()); n != 1 {
		t.Errorf("%d observations, want 1", n)
	}
}
