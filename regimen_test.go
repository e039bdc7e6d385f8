package odes

import (
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes/data"
)

const patients = `time t from 0 to 24
param k = 0.3, f = 0.9
state body = 0
body' = -k*body
data D = csv("d.csv", time = "TIME")
doses D { body f = f }
observe y = body ~ normal(1) from D.DV
experiment subject from D by D.ID
objective L = nll()
objective last = final(body)
`

// TestOtherDoses compares runs with other doses in the place of a table's with the sum of what each dose leaves, and
// says what is refused.
func TestOtherDoses(t *testing.T) {
	files := fstest.MapFS{"d.csv": {Data: []byte("ID,TIME,AMT,DV\n1,0,100,.\n1,5,0,20\n2,0,70,.\n2,6,0,10\n")}}
	table := func(columns string, cells ...[]string) *data.Table {
		return &data.Table{Name: "new", Columns: strings.Split(columns, ","), Cells: cells}
	}
	left := func(at float64, doses ...[2]float64) (sum float64) {
		for _, d := range doses {
			if d[0] <= at {
				sum += 0.9 * d[1] * math.Exp(-0.3*(at-d[0]))
			}
		}
		return sum
	}
	nll := func(x float64) float64 { return 0.5*x*x + 0.5*math.Log(2*math.Pi) }
	for _, c := range []struct {
		experiment  string
		doses       *data.Table
		last, value float64
	}{
		{"subject_1", nil, left(24, [2]float64{0, 100}), nll(left(5, [2]float64{0, 100}) - 20)},
		{
			"subject_2", table("TIME,AMT", []string{"1", "8"}, []string{"30", "40"}),
			left(24, [2]float64{1, 30}, [2]float64{8, 40}), nll(left(6, [2]float64{1, 30}) - 10),
		},
		{
			"subject_1", table("TIME,AMT,II,ADDL", []string{"2"}, []string{"10"}, []string{"2"}, []string{"1"}),
			left(24, [2]float64{2, 10}, [2]float64{4, 10}), nll(left(5, [2]float64{2, 10}, [2]float64{4, 10}) - 20),
		},
	} {
		m, err := Parse("m.ode", patients, ParseOptions{Files: files, Experiment: c.experiment, Doses: c.doses})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), Options{Wrt: []string{"f"}, Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{c.value, c.last} {
			if got := s.Values[i].Value; !(math.Abs(got-want) <= 1e-6*(1+math.Abs(want))) {
				t.Errorf("%s: value %d is %v, not %v", c.experiment, i, got, want)
			}
		}
		if got, want := s.Gradient[1], c.last/0.9; !(math.Abs(got-want) <= 1e-6*(1+want)) {
			t.Errorf("%s: derivative by f is %v, not %v", c.experiment, got, want)
		}
	}
	for _, c := range []struct {
		experiment string
		doses      *data.Table
		want       string
	}{
		{"", table("TIME,AMT", []string{"0"}, []string{"1"}), "other doses are those of one experiment: say which, such as subject_1"},
		{"subject_1", table("TIME,AMT", []string{"0"}), "new has 1 columns with 2 names"},
		{"subject_1", table("TIME,AMT", []string{"0", "1"}, []string{"1"}), "differ in length"},
		{"subject_1", table("TIME,AMT", []string{"x"}, []string{"1"}), `new:2: "x" in column "TIME"`},
		{"subject_1", table("TIME", []string{"0"}), "no column AMT"},
	} {
		_, err := Parse("m.ode", patients, ParseOptions{Files: files, Experiment: c.experiment, Doses: c.doses})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, not %s", err, c.want)
		}
	}
}
