package serve

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
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

// TestSweep: a client asks for values along a range, as the command does; what it has no key for is told.
func TestSweep(t *testing.T) {
	c := dial(t)
	model := c.open("bounce/bounce.ode")
	r := c.ask(kindResult, fmt.Sprintf(`{"op":"sweep","model":%d,"draw":"g from 5 to 15 points 3","of":["height"],`+
		`"wrt":null,"gradient":true}`, model))
	if got := r.arrays["param"]; !slices.Equal(got, []float64{5, 10, 15}) || len(r.arrays["gradient"]) == 0 {
		t.Errorf("param is %v, and there are %v", got, r.head["arrays"])
	}
	r = c.ask(kindError, fmt.Sprintf(`{"op":"sweep","model":%d,"draw":"g from 5 to 15","indices":"sobol"}`, model))
	if text := quoted(r.head); !strings.Contains(text, "indices") {
		t.Errorf("%s", text)
	}
	r = c.ask(kindError, fmt.Sprintf(`{"op":"sweep","model":%d,"draw":7}`, model))
	if text := quoted(r.head); !strings.Contains(text, "draw") {
		t.Errorf("%s", text)
	}
}
