package redose_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes/data"
	"odes.dev/odes/internal/engine/redose"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

const model = `time t from 0 to 24
state gut = 0
gut' = -gut
data D = csv("d.csv", time = "TIME [h]", mg = "dose")
doses D { amt = D.mg  gut }
observe y = gut ~ normal(1) from D.DV
experiment subject from D by D.ID
`

const table = `ID,TIME [h],dose,RATE,WT,DV
a,0,100,0,70,.
a,2,0,0,71,3
a,4,60,0,72,.
a,6,0,0,72,1
b,0,90,0,80,.
b,1,0,0,80,5
`

// redosed returns the table with other doses.
func redosed(t *testing.T, model, table, experiment, doses string) (string, error) {
	t.Helper()
	files := fstest.MapFS{"d.csv": {Data: []byte(table)}, "new.csv": {Data: []byte(doses)}}
	var list diag.List
	tree := parser.Parse(source.NewFile("m.ode", model), &list)
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	other, err := data.ReadTable(files, "new.csv")
	if err != nil {
		t.Fatal(err)
	}
	_, got, err := redose.Model(tree, files, experiment, other)
	if err != nil {
		return "", err
	}
	text, err := fs.ReadFile(got, "d.csv")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fs.ReadFile(got, "new.csv"); err != nil {
		t.Errorf("other files are lost: %v", err)
	}
	return string(text), nil
}

// TestMerged: records of the subject are replaced, all else stays. A new dose takes what its file lacks from the record
// before it, and stands behind measurements of its time.
func TestMerged(t *testing.T) {
	for _, c := range []struct{ experiment, doses, want string }{
		{
			"subject_a", "TIME,AMT\n0,10\n6,20\n9,30\n",
			"ID,TIME [h],dose,RATE,WT,DV\na,0,10,0,70,.\na,2,0,0,71,3\na,6,0,0,72,1\na,6,20,0,72,.\na,9,30,0,72,.\n" +
				"b,0,90,0,80,.\nb,1,0,0,80,5\n",
		},
		{
			"subject_b", "TIME [h],dose,RATE,WT,ADDL,II\n0.5,10,5,85,2,12\n",
			"ID,TIME [h],dose,RATE,WT,DV,II,ADDL\na,0,100,0,70,.,0,0\na,2,0,0,71,3,0,0\na,4,60,0,72,.,0,0\n" +
				"a,6,0,0,72,1,0,0\nb,0.5,10,5,85,.,12,2\nb,1,0,0,80,5,0,0\n",
		},
	} {
		got, err := redosed(t, model, table, c.experiment, c.doses)
		if err != nil || got != c.want {
			t.Errorf("%s %q: %v\n%s\nwant\n%s", c.experiment, c.doses, err, got, c.want)
		}
	}
	alone := strings.Replace(model, "experiment subject from D by D.ID\n", "", 1)
	got, err := redosed(t, alone, "TIME [h],dose,DV\n0,5,.\n1,0,2\n", "", "TIME,AMT\n0.5,7\n")
	if want := "TIME [h],dose,DV\n0.5,7,.\n1,0,2\n"; err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

// TestCovariatesInTime: other doses change no covariate that the model reads along its run, nor occasions. The rows of
// the old doses stay for what else they have, and give nothing.
func TestCovariatesInTime(t *testing.T) {
	for kind, want := range map[string]string{
		"previous": "72", "next": "74", "linear": "73", "spline": ".",
	} {
		text := strings.Replace(model, "gut' = -gut\n", "gut' = -gut*interp(D.time, D.WT, t, kind = "+kind+")\n"+
			"random e ~ normal(0, 1) by D.OCC\n", 1)
		got, err := redosed(t, text, "ID,TIME [h],dose,CMT,WT,OCC,DV\na,0,100,1,70,1,.\na,2,0,2,72,2,3\n"+
			"a,4,60,1,74,2,0\nb,0,90,1,80,1,.\n", "subject_a", "TIME,AMT\n3,20\n")
		lines := "ID,TIME [h],dose,CMT,WT,OCC,DV,EVID\na,0,0,1,70,1,.,2\na,2,0,2,72,2,3,.\na,3,20,1," + want +
			",2,.,1\na,4,0,1,74,2,0,2\nb,0,90,1,80,1,.,.\n"
		if err != nil || got != lines {
			t.Errorf("%s: %v\n%s\nwant\n%s", kind, err, got, lines)
		}
	}
}

// TestWritten: a table that is written in the model becomes a file, and all else stays on its line.
func TestWritten(t *testing.T) {
	text := "time t from 0 to 24\nstate gut = 0\ndata D {\n  ID = [1, 1]\n  time = [0, 2] [h]\n  AMT = [5, nan]\n" +
		"  KIND = [\"\", \"c\"]\n}\ndoses D { gut }\nexperiment s from D by D.ID\n"
	var list diag.List
	tree := parser.Parse(source.NewFile("m.ode", text), &list)
	files := fstest.MapFS{"new.csv": {Data: []byte("TIME,AMT\n1,7\n")}}
	other, err := data.ReadTable(files, "new.csv")
	if err != nil {
		t.Fatal(err)
	}
	got, with, err := redose.Model(tree, files, "s_1", other)
	if err != nil {
		t.Fatal(err)
	}
	want := "time t from 0 to 24\nstate gut = 0\ndata D = csv(\"the table D\")\n\n\n\n\n\ndoses D { gut }\n" +
		"experiment s from D by D.ID\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	table, err := fs.ReadFile(with, "the table D")
	if want := "ID,time [h],AMT,KIND\n1,1,7,\n1,2,nan,c\n"; err != nil || string(table) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, table, want)
	}
}

// TestRefused: what is wrong is said of the file that has it.
func TestRefused(t *testing.T) {
	const doses = "TIME,AMT\n0,10\n"
	occasions := "ID,TIME [h],dose,EVID,DV\na,0,1,1,.\na,2,0,0,3\na,0,1,4,.\na,1,0,0,3\n"
	const listed = "data D { time = [a for a in 1:3] mg = [1, 2, 3] DV = [1, 2, 3] ID = [1, 1, 1] }"
	inline := strings.Replace(model, `data D = csv("d.csv", time = "TIME [h]", mg = "dose")`, listed, 1)
	for _, c := range []struct{ model, table, experiment, doses, want string }{
		{model, table, "", doses, "say which, such as subject_a"},
		{model, table, "b", doses, `the experiment "b" is not made from the rows of "D"`},
		{model, table, "subject_a", "TIME,GRAMS\n0,1\n", "new.csv has no column AMT"},
		{model, table, "subject_a", "T,AMT\n0,1\n", "new.csv has no column TIME [h]"},
		{model, table, "subject_a", "TIME [min],AMT\n0,1\n", "write both in one unit"},
		{model, table, "subject_a", "TIME,AMT\n3,1\n0,1\n", "new.csv, row 2: the time goes back from 3 to 0"},
		{model, table, "subject_a", "TIME,AMT\n0,-1\n", "new.csv, row 1: AMT is -1"},
		{model, table, "subject_a", "TIME,AMT\n.,1\n", "new.csv, row 1: there is no time"},
		{model, table, "subject_a", "TIME,AMT\n0,1\n1,0\n", "new.csv, row 2: no dose is given"},
		{model, table, "subject_a", "TIME,AMT,II\n0,1,12\n", "new.csv, row 1: II is 12, but neither ADDL nor SS"},
		{model, occasions, "subject_a", doses, "several occasions"},
		{model, occasions, "subject_a_occasion_2", doses, "all occasions: those of subject_a"},
		{
			strings.Replace(model, "doses D { amt = D.mg  gut }\n", "", 1), table, "subject_a", doses,
			"no records of doses",
		},
		{inline, table, "subject_1", doses, "column time of D is no list"},
	} {
		if _, err := redosed(t, c.model, c.table, c.experiment, c.doses); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %q", c.experiment, c.doses, err, c.want)
		}
	}
}
