package simulate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestTimesOfReaders: at other times the model reads what it reads of a table, and every subject and kind is observed
// at each of the times. What is drawn is known, as there is next to no noise. A model that reads the new table in the
// place of its own has the same course.
func TestTimesOfReaders(t *testing.T) {
	const subjects = "\nexperiment s from D by D.ID\n"
	for _, c := range []struct {
		name, text string
		times      string
		want       []float64
	}{
		{"subjects", `param r = 0
state x = 0
x' = r
data D { ID = [1, 1, 2, 2, 3]  time = [0, 4, 1, 4, 2]  y = [0, 0, 0, 0, 0] }
observe y = x ~ normal(1e-9) from D.y
experiment s from D by D.ID { r = D.ID }`, "[1, 5]", []float64{1, 5, 2, 10, 3, 15}},
		{"groups", `param u = 0
state x = 0
x' = u
data D { g = [1, 1, 2, 2]  time = [1, 4, 2, 5]  y = [0, 0, 0, 0] }
observe y = x ~ normal(1e-9) from D.y
experiment one { u = 5  use D where g == 1 }
experiment two { u = 7  use D where g == 2 and D.time < 9 }`, "[1, 3]", []float64{5, 15, 7, 21}},
		{"a condition", `param u = 1
state x = 0
x' = u
data D { dose = [1, 2, 3, 4]  time = [1, 4, 2, 5]  y = [0, 0, -1, 0] }
observe y = x ~ normal(1e-9) from D.y where y >= 0
experiment low { use D where dose <= 2 }
experiment high { u = 2  use D where D.dose > 2 }`, "[1, 3]", []float64{1, 3, 2, 6}},
		{"events", `state x = 0
x' = 0
data D { ID = [1, 1, 1, 2, 2]  time = [0, 2, 4, 0, 3]  amt = [1, 10, 0, 3, 0]  y = [nan, 5, 0, nan, 0] }
observe y = x ~ normal(1e-9) from D.y
experiment s from D by D.ID { at D.time where amt > 0 { x += D.amt } }`, "[1, 3, 5]", []float64{1, 11, 11, 3, 3, 3}},
		{"events of a table", `state x = 0
x' = 0
data D { ID = [1, 1, 1, 2, 2]  time = [0, 2, 4, 0, 3]  y = [nan, 0, 0, nan, 0] }
data E { who = [1, 1, 2]  time = [0, 4, 0]  amt = [5, 7, 11] }
observe y = x ~ normal(1e-9) from D.y
experiment s from D by D.ID { at E.time where who == D.ID { x += E.amt } }`, "[1, 5]", []float64{5, 12, 11, 11}},
		{"a covariate", `state x = 0
x' = interp(D.time, D.TV, t, kind = previous)
data D { ID = [1, 1, 1]  time = [0, 2, 4]  TV = [10, 20, 30]  AMT = [0, 1000, 0]  y = [0, nan, 0] }
doses D { x }
observe y = x ~ normal(1e-9) from D.y` + subjects, "[1, 2, 3, 6]", []float64{10, 1020, 1040, 1120}},
		{"the next covariate", `state x = 0
x' = interp(D.time, D.TV, t, kind = next)
data D { ID = [1, 1, 1]  time = [0, 2, 4]  TV = [10, 20, nan]  AMT = [0, 1000, 0]  y = [0, nan, 0] }
doses D { x }
observe y = x ~ normal(1e-9) from D.y` + subjects, "[1, 2, 3, 6]", []float64{20, 1040, 1060, 1120}},
		{"an input", `state x = 0
x' = interp(D.time, D.TV, t)
data D { time = [0, 2, 4]  TV = [10, 20, 30]  y = [0, 0, 0] }
observe y = x ~ normal(1e-9) from D.y`, "[0, 1, 2, 6]", []float64{0, 12.5, 30, 140}},
		{"a spline", `state x = 0
x' = interp(D.time, D.TV, t, kind = spline)
data D { ID = [1, 1, 1, 1]  time = [0, 2, 4, 6]  TV = [10, 20, 30, 40]  AMT = [0, 7, 0, 0]  y = [0, nan, 0, 0] }
doses D { x }
observe y = x ~ normal(1e-9) from D.y` + subjects, "[1, 3]", []float64{12.5, 59.5}},
		{"a column", `param n = 1
state x = D.y[1]*n
x' = 0
data D { time = [3, 4]  y = [2, 5] }
observe y = x ~ normal(1e-9) from D.y where D.y > 1`, "[5, 6]", []float64{2, 2}},
		{"kinds", `state x = 1
x' = 1
data D { kind = [1, 2, 1]  of = ["a", "a", "b"]  time = [0, 1, 2]  y = [1, 1, 1] }
observe y = x ~ normal(1e-9) from D.y where D.kind == 1
observe z = 10*x ~ normal(1e-9) from D.y where D.kind == 2`, "[0.5, 4]", []float64{1.5, 5, 15, 50, 1.5, 5}},
		{"limits", `state x = 1
x' = 0
data D { ID = [1, 1, 1]  time = [0, 1, 2]  AMT = [0, 0, 0]  DVID = [1, 2, 3]  L = [3, nan, 2]  y = [1, 1, 1] }
doses D { x }
observe a = x ~ normal(1e-9, below = D.L) from D.y where D.DVID == 1
observe b = x ~ normal(1e-9, below = D.L) from D.y where D.DVID == 2
observe c = x ~ normal(1e-9, below = D.L) from D.y where D.DVID == 3` + subjects, "[1]", []float64{3, 1, 2}},
		{"clocks", `param w = 0
state x = 0
x' = interp(D.time, D.TV, t, kind = previous)
data D {
  ID = [1, 1, 1, 1]  time = [0, 3, 0, 2]  EVID = [1, 0, 4, 0]  TV = [1, 2, 3, 4]
  AMT = [10, 0, 20, 0]  y = [0, 0, 0, 0]
}
doses D { x }
observe y = x ~ normal(1e-9) from D.y` + subjects, "[1, 4]", []float64{11, 15, 23, 34}},
	} {
		text := "model M\ntime t from 0 to 10\n" + c.text + "\nobjective L = nll()\n"
		if !checkDrawn(t, c.name, drawn(t, text, "times="+c.times), c.want) {
			continue
		}
		from := strings.Index(text, "data D {")
		to := from + strings.Index(text[from:], "}") + 1
		again := text[:from] + table(drawn(t, text, "times="+c.times)) + text[to:]
		if c.name != "a column" { // whose first row is another one now
			checkDrawn(t, c.name+", read again", drawn(t, again), c.want)
		}
	}
}

// checkDrawn compares what was drawn of all rows that are observed.
func checkDrawn(t *testing.T, name string, r *Result, want []float64) bool {
	t.Helper()
	got := slices.DeleteFunc(slices.Clone(r.Replicates[0].Data[0]), math.IsNaN)
	same := slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-5*(1+math.Abs(b)) })
	if !same {
		t.Errorf("%s: %v, want %v, of %s", name, got, want, table(r))
	}
	return same
}

// table returns drawn data as the text of a table.
func table(r *Result) string {
	var b strings.Builder
	b.WriteString("data D {")
	for k, c := range r.Table.Columns {
		values := c.Values
		if r.Observed[k] {
			values = r.Replicates[0].Data[0]
		}
		var cells []string
		for _, x := range values {
			cells = append(cells, strings.ToLower(strconv.FormatFloat(x, 'g', -1, 64)))
		}
		for _, text := range c.Texts {
			cells = append(cells, strconv.Quote(text))
		}
		fmt.Fprintf(&b, " %s = [%s]\n", c.Name, strings.Join(cells, ", "))
	}
	return b.String() + "}"
}

// TestTimesOfOccasions: rows at other times are of the occasion that a dose began, which no measurement has yet.
func TestTimesOfOccasions(t *testing.T) {
	const text = `time t from 0 to 16
param w = 1
random k ~ normal(0, w) by D.OCC
state x = 0
x' = 0
data D { ID = [1, 1, 1, 1]  time = [0, 1, 12, 14]  OCC = [1, 1, 2, 2]  AMT = [100, 0, 100, 0]  y = [nan, 0, nan, 0] }
doses D { x }
observe y = k ~ normal(1e-9) from D.y
experiment s from D by D.ID
objective L = nll()
`
	r := drawn(t, text, "times=[2, 12, 13, 15]", "seed=4")
	k := r.Replicates[0].Effects[0].Values
	checkDrawn(t, "occasions", r, []float64{k[0], k[1], k[1], k[1]})
	again := text[:strings.Index(text, "data D")] + table(r) + text[strings.Index(text, "\ndoses"):]
	checkDrawn(t, "occasions, read again", drawn(t, again, "seed=4"), []float64{k[0], k[1], k[1], k[1]})
}
