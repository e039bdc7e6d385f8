package result

import (
	"reflect"
	"testing"
)

// TestFormOf: a kind of result is a struct, and its fields are facts and tables.
func TestFormOf(t *testing.T) {
	type draw struct {
		Chain  string  `form:"chain"`
		K      float64 `form:"k,1/h"`
		Good   bool
		hidden int
	}
	got := FormOf(&struct {
		Accepted float64
		Steps    int    `form:"steps taken"`
		How      string `form:"how"`
		Draws    []draw
		Times    []float64 `form:"t,h"`
		Own      Table
		Left     int `form:"-"`
	}{
		0.25, 7, "by hand",
		[]draw{{"a", 1.5, true, 1}, {"b", 2.5, false, 2}},
		[]float64{1, 2},
		Table{Name: "own", Columns: []TableColumn{{"J", "", []float64{3}}}},
		9,
	})
	want := &Form{
		Facts: []Fact{
			{Name: "accepted", Value: 0.25}, {Name: "steps taken", Value: 7}, {Name: "how", Text: "by hand"},
		},
		Tables: []Table{
			{"draws", []string{"a", "b"}, []TableColumn{
				{"k", "1/h", []float64{1.5, 2.5}},
				{"good", "", []float64{1, 0}},
			}},
			{"t", nil, []TableColumn{{"t", "h", []float64{1, 2}}}},
			{"own", nil, []TableColumn{{"J", "", []float64{3}}}},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if a := got.Tables[0].Array(); !reflect.DeepEqual(a.Values, []float64{1.5, 1, 2.5, 0}) || a.Shape[0] != 2 {
		t.Errorf("%+v", a)
	}
	defer func() {
		if recover() == nil {
			t.Error("a map has a common form")
		}
	}()
	FormOf(struct{ M map[string]int }{})
}
