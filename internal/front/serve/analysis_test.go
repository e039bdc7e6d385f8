package serve

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/front/analysis"
	"odes.dev/odes/internal/front/report"
)

// TestAnalysisAnswer: tables are arrays row by row, and the head says what the columns are.
func TestAnalysisAnswer(t *testing.T) {
	out := analysisAnswer(&analysis.Result{Tables: &report.Tables{
		Facts: []report.Fact{{Name: "rate", Value: math.Inf(1)}, {Name: "how", Text: "by hand"}},
		Tables: []report.Table{{Name: "draws", Columns: []report.TableColumn{
			{Name: "a", Unit: "m", Values: []float64{1, 2, 3}},
			{Name: "b", Unit: "unknown", Values: []float64{4, 5, 6}},
		}}},
	}})
	if a := out.arrays[0]; a.name != "draws" || !slices.Equal(a.shape, []int{3, 2}) ||
		!slices.Equal(a.values, []float64{1, 4, 2, 5, 3, 6}) {
		t.Errorf("%+v", a)
	}
	out.head.(lister).list(out.arrays)
	text, err := json.Marshal(out.head)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"arrays":[{"name":"draws","shape":[3,2]}],"status":"ok","facts":[{"name":"rate","unit":"",` +
		`"value":"inf"},{"name":"how","unit":"","value":0,"text":"by hand"}],"tables":[{"name":"draws","columns":[` +
		`{"name":"a","unit":"m"},{"name":"b","unit":""}]}],"warnings":[]}`
	if string(text) != want {
		t.Errorf("the head is\n%s", text)
	}
	own := &analysisHead{own: struct{}{}}
	own.list(nil)
	if text, err := json.Marshal(own); err != nil || string(text) != `{"arrays":[]}` {
		t.Errorf("%v: %s", err, text)
	}
}
