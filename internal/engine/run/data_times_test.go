package run_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// TestDataTimes: times of data with another unit are those of the model, wherever they are read, and conditions on rows
// are about them as they are written.
//
//odes:goroutines
func TestDataTimes(t *testing.T) {
	const model = `
time t : [h] from 0 to 24
param k : [1/h] = 0.1
state x : [mg] = 10
x' = -k*x
%s
observe o = x ~ normal(0.1 [mg/h]*(D.time + 1 [h])) from D.v
experiment all { at E.time where dose > 0 { x += E.dose } use D }
experiment some { at E.time where dose > 0 { x += E.dose } use D where D.%s }
objective J = nll()
`
	files := fstest.MapFS{
		"d.csv": {Data: []byte("time [min],v [mg]\n60,9\n90,8.8\n150,\n180,7\n")},
		"e.csv": {Data: []byte("TIME,dose [mg]\n30,1\n120,2\n")},
	}
	value := func(data, where string) string {
		t.Helper()
		m, err := odes.Parse("m.ode", fmt.Sprintf(model, data, where), odes.ParseOptions{Files: files})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(s.Values[0].Value, s.Gradient)
	}
	want := value(`data D { time = [1, 1.5, 2.5, 3] [h]  v = [9, 8.8, nan, 7] [mg] }
data E { time = [0.5, 2] [h]  dose = [1, 2] [mg] }`, "time < 2")
	for _, c := range []struct{ data, where string }{
		{`data D { time = [60, 90, 150, 180] [min]  v = [9, 8.8, nan, 7] [mg] }
data E { time = [30, 120] [min]  dose = [1, 2] [mg] }`, "time < 120"},
		{`data D { time = [3600, 5400, 9000, 10800] [s]  v = [9, 8.8, nan, 7] [mg] }
data E { time = [0.5, 2] [h]  dose = [1, 2] [mg] }`, "time < 7200 [s]"},
		{"data D = csv(\"d.csv\")\ndata E = csv(\"e.csv\", time = \"TIME [min]\")", "time <= 90 [min]"},
	} {
		if got := value(c.data, c.where); got != want {
			t.Errorf("with %s: %s, want %s", c.data, got, want)
		}
	}
	_, err := odes.Parse("m.ode", fmt.Sprintf(model, `data D { time = [60, 90] [mg]  v = [9, 8] [mg] }
data E { time = [1, 2] [h] dose = [1, 2] [mg] }`, "time < 2"), odes.ParseOptions{})
	want = "has unit [mg], the time of the model [h]"
	if list := diag.Of(err); len(list) != 1 || !strings.Contains(list[0].Message, want) {
		t.Errorf("of times in mg is said: %v", err)
	}
}
