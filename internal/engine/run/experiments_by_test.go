package run_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes"
	"odes.dev/odes/data"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/lang/diag"
)

const subjectsHead = `
time t : [h] from 0 to 30 [h]
param ka = 1.2 [1/h], CL = 2.5 [L/h], V = 30 [L], sd = 0.3 [mg/L]
param wt = 70 [kg]
state gut : [mg] = 0 [mg], blood : [mg] = 0 [mg]
let c = blood/(V*wt/70 [kg])
gut' = -ka*gut
blood' = ka*gut - CL*(wt/70 [kg])^0.75*c
observe y : [mg/L] = c ~ normal(sd) from D.conc
objective L = nll()
`

const subjectsTable = `id,time [h],amt [mg],conc [mg/L],wt [kg],arm
7,0,320,.,80,a
7,1,.,5.5,80,a
7,4,.,6.5,80,a
7,12,160,.,80,a
7,20,.,4.2,80,a
2,0,200,.,55,b
2,2,.,6.1,55,b
2,10,100,.,55,b
2,10,50,.,.,b
2,18,.,5.0,55,b
`

const subjectsBy = subjectsHead + `
data D = csv("d.csv")
experiment subject from D by D.id {
  wt = D.wt
  at D.time where amt > 0 { gut += D.amt }
}
`

// subjectsWritten is the same, written out.
const subjectsWritten = subjectsHead + `
data D = csv("d.csv")
experiment one {
  wt = 80
  at 0 [h] { gut += 320 [mg] }
  at 12 [h] { gut += 160 [mg] }
  use D where id == 7
}
experiment two {
  wt = 55 [kg]
  at 0 [h] { gut += 200 [mg] }
  at 10 [h] { gut += 100 [mg] }
  at 10 [h] { gut += 50 [mg] }
  use D where id == 2
}
`

func withTable(t *testing.T, text, table string) (*odes.Model, error) {
	t.Helper()
	files := fstest.MapFS{"d.csv": {Data: []byte(table)}}
	return odes.Parse("m.ode", text, odes.ParseOptions{Files: files})
}

// TestExperimentsBy compares experiments that are made from a table with the same, written out.
//
//odes:goroutines
func TestExperimentsBy(t *testing.T) {
	by, err := withTable(t, subjectsBy, subjectsTable)
	if err != nil {
		t.Fatal(err)
	}
	written, err := withTable(t, subjectsWritten, subjectsTable)
	if err != nil {
		t.Fatal(err)
	}
	if names := by.Experiments(); !slices.Equal(names, []string{"subject_7", "subject_2"}) {
		t.Errorf("the experiments are %v", names)
	}
	for _, mode := range []string{"adjoint", "tangent"} {
		opts := odes.Options{Settings: modeltest.Settings("sens.mode", mode, "sens.order", "2")}
		got, err := by.Sensitivities(context.Background(), opts)
		if err != nil {
			t.Fatal(err)
		}
		want, err := written.Sensitivities(context.Background(), opts)
		if err != nil {
			t.Fatal(err)
		}
		if got.Values[0].Value != want.Values[0].Value || !slices.Equal(got.Gradient, want.Gradient) {
			t.Errorf("%s: %v %v, written out %v %v", mode, got.Values[0].Value, got.Gradient, want.Values[0].Value,
				want.Gradient)
		}
		if len(want.Hessian) == 0 || !slices.Equal(got.Hessian, want.Hessian) {
			t.Errorf("%s: second derivatives %v, written out %v", mode, got.Hessian, want.Hessian)
		}
	}
	for alone, other := range map[string]string{"subject_7": "one", "subject_2": "two"} {
		files := fstest.MapFS{"d.csv": {Data: []byte(subjectsTable)}}
		a, err := odes.Parse("m.ode", subjectsBy, odes.ParseOptions{Files: files, Experiment: alone})
		if err != nil {
			t.Fatal(err)
		}
		b, err := odes.Parse("m.ode", subjectsWritten, odes.ParseOptions{Files: files, Experiment: other})
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Sensitivities(context.Background(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := b.Sensitivities(context.Background(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Gradient, want.Gradient) {
			t.Errorf("%s alone: %v, want %v", alone, got.Gradient, want.Gradient)
		}
	}
}

// TestExperimentsByText has names of subjects, a second table for the doses, and covariates in bodies.
//
//odes:goroutines
func TestExperimentsByText(t *testing.T) {
	const text = subjectsHead + `
data D {
  time = [1, 4, 2] [h]
  conc = [5.5, 6.5, 6.1] [mg/L]
  who = ["Ann K.", "Ann K.", "Bo"]
  start = [40, nan, 20] [mg]
  weight = [80, 80, 55] [kg]
}
data Doses { time = [0, 0, 12] [h]  mg = [320, 200, 160] [mg]  who = ["Ann K.", "Bo", "Ann K."] }
experiment p from D by D.who {
  wt = D.weight
  at 0 [h] { blood += D.start }
  at Doses.time where Doses.who == D.who { gut += Doses.mg*D.weight/wt }
  use D where D.time < 4
}
`
	const same = subjectsHead + `
data D { time = [1, 4, 2] [h]  conc = [5.5, 6.5, 6.1] [mg/L] }
experiment a {
  wt = 80
  at 0 [h] { blood += 40 [mg] }
  at 0 [h] { gut += 320 [mg] }
  at 12 [h] { gut += 160 [mg] }
  use D where D.time == 1
}
experiment b {
  wt = 55
  at 0 [h] { blood += 20 [mg] }
  at 0 [h] { gut += 200 [mg] }
  use D where D.time == 2
}
`
	a, err := withTable(t, text, "")
	if err != nil {
		t.Fatal(err)
	}
	b, err := withTable(t, same, "")
	if err != nil {
		t.Fatal(err)
	}
	if names := a.Experiments(); !slices.Equal(names, []string{"p_Ann_K_", "p_Bo"}) {
		t.Errorf("the experiments are %v", names)
	}
	got, err := a.Sensitivities(context.Background(), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := b.Sensitivities(context.Background(), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range got.Gradient {
		if !modeltest.Near(x, want.Gradient[i], 1e-12) {
			t.Errorf("the gradient is %v, want %v", got.Gradient, want.Gradient)
		}
	}
}

// TestTextCovariate has a covariate that is a text: values of an experiment choose by it. They share programs, and a
// param that one arm alone reads has its derivative.
//
//odes:goroutines
func TestTextCovariate(t *testing.T) {
	const by = `
data D = csv("d.csv")
param FB = 0.8
experiment subject from D by D.id {
  CL = if D.arm == "b" and D.wt < 60 [kg] then CL*FB else CL
  wt = if D.arm != "a" then 55 [kg] else 80 [kg]
  at D.time where amt > 0 { gut += D.amt }
}
`
	written := "param FB = 0.8\n" +
		strings.Replace(subjectsWritten, "wt = 55 [kg]\n", "wt = 55 [kg]\n  CL = CL*FB\n", 1)
	gradient := func(text string) []float64 {
		m, err := withTable(t, text, subjectsTable)
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{Wrt: []string{"FB", "CL", "V"}})
		if err != nil {
			t.Fatal(err)
		}
		return append([]float64{s.Values[0].Value}, s.Gradient...)
	}
	if got, want := gradient(subjectsHead+by), gradient(written); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestExperimentsByWrong has what is wrong with tables and experiments that are made from them.
func TestExperimentsByWrong(t *testing.T) {
	const items = "experiment s from D by D.id { wt = D.wt  at D.time where amt > 0 { gut += D.amt } }"
	line := func(n int, with string) string {
		lines := strings.Split(subjectsTable, "\n")
		lines[n] = with
		return strings.Join(lines, "\n")
	}
	for _, c := range []struct{ name, table, items, want string }{
		{"no id", line(3, ".,4,.,6.5,80,a"), items, `row 3 of "D" has no id, so it belongs to no experiment`},
		{
			"a covariate changes", line(3, "7,4,.,6.5,81,a"), items,
			`"wt" of "D" changes within id = 7: it is 80 in row 1 and 81 in row 3`,
		},
		{
			"no covariate", strings.ReplaceAll(subjectsTable, ",55,", ",.,"), items,
			`no row of "D" with id = 2 has a value of "wt"`,
		},
		{
			"no observations", line(1, "9,0,.,.,70,a"), items,
			`experiment "s_9" compares nothing with data: no row of "D" with id = 9 holds`,
		},
		{
			"no amount", subjectsTable, "experiment s from D by D.id { at D.time { gut += D.amt } }",
			`row 2 of "D" has no amt; choose rows that have one: at D.time where amt > 0`,
		},
		{"no table", subjectsTable, "experiment s from E by E.id { }", `there is no data table "E"`},
		{"no column", subjectsTable, "experiment s from D by D.subject { }", `table "D" has no column "subject"`},
		{"not a column", subjectsTable, "experiment s from D by id { }", "by D."},
		{
			"no times", subjectsTable, items[:len(items)-1] + " at 3 [h] where amt > 0 { gut = 0 } }",
			"`where` chooses rows of the table",
		},
		{"a text", subjectsTable, "experiment s from D by D.id { wt = D.arm }", `column "arm" of "D" holds texts`},
		{
			"a text and a number", subjectsTable, "experiment s from D by D.id { wt = if D.arm == 1 then 1 else 2 }",
			"a text is compared with a number",
		},
		{
			"a text in an event", subjectsTable,
			`experiment s from D by D.id { at 1 [h] { gut = if D.arm == "a" then 1 else 2 } }`,
			`column "arm" of "D" holds texts`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := withTable(t, subjectsHead+"data D = csv(\"d.csv\")\n"+c.items, c.table)
			var said []string
			for _, d := range diag.Of(err) {
				said = append(said, d.Message)
			}
			if m != nil {
				for _, d := range m.Warnings() {
					said = append(said, d.Message)
				}
			}
			if !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, c.want) }) {
				t.Errorf("said %q, want %q", said, c.want)
			}
		})
	}
}

// TestOverrideOfOverride has experiments in which the value outside follows from what the experiment sets as well: the
// own name of a param stands for its value without the experiment.
func TestOverrideOfOverride(t *testing.T) {
	const model = `
time t from 0 to 1
const n = 3
param a = 2, c = 3*a, k = 0.5
let twice = 2*a
param b = c + twice + n
state x = b
x' = -k*x
data D { time = [0.5]  y = [1] }
observe o = x ~ normal(1) from D.y
experiment e { use D  %s }
objective J = nll()
`
	value := func(t *testing.T, items, experiment string) float64 {
		t.Helper()
		m, err := odes.Parse("m.ode", strings.Replace(model, "%s", items, 1), odes.ParseOptions{Experiment: experiment})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(context.Background(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s.Values[0].Value
	}
	for _, c := range [][2]string{
		{"a = 5  n = 4  b = 1.5*b", "a = 5  b = 19.5"}, // 1.5 (3·2 + 2·2 + 3)
		{"b = 1.5*b", "b = 19.5"},
		{"c = 2*c  b = b + c", "b = 25"},
		{"a = 5", "b = 28"},
	} {
		for _, experiment := range []string{"", "e"} {
			if got, want := value(t, c[0], experiment), value(t, c[1], experiment); !modeltest.Near(got, want, 1e-14) {
				t.Errorf("experiment %q { %s }: %v, want that of { %s }, %v", experiment, c[0], got, c[1], want)
			}
		}
	}
}

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
		opts := odes.ParseOptions{Files: files, Experiment: c.experiment, Doses: c.doses}
		m, err := odes.Parse("m.ode", patients, opts)
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{Wrt: []string{"f"}, Threads: 1})
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
		{"", table("TIME,AMT", []string{"0"}, []string{"1"}), "of one experiment: say which, such as subject_1"},
		{"subject_1", table("TIME,AMT", []string{"0"}), "new has 1 columns with 2 names"},
		{"subject_1", table("TIME,AMT", []string{"0", "1"}, []string{"1"}), "differ in length"},
		{"subject_1", table("TIME,AMT", []string{"x"}, []string{"1"}), `new:2: "x" in column "TIME"`},
		{"subject_1", table("TIME", []string{"0"}), "no column AMT"},
	} {
		opts := odes.ParseOptions{Files: files, Experiment: c.experiment, Doses: c.doses}
		_, err := odes.Parse("m.ode", patients, opts)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, not %s", err, c.want)
		}
	}
}

// TestEquilibrateFromTable: in `equilibrate` of an experiment from a table, a column is its one value there.
func TestEquilibrateFromTable(t *testing.T) {
	m, err := odes.Parse("m.ode", `
time t from 0 to 3
param u = 1
state x = 0
x' = u - x
data D { ID = [1, 1, 2, 2]  time = [1, 2, 1, 2]  dose = [3, 3, 5, 5]  y = [0, 0, 0, 0] }
observe y = x ~ normal(1) from D.y
experiment s from D by D.ID { equilibrate { u = D.dose } }
objective L = nll()
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.CompareRows(false, odes.Options{})
	if err == nil {
		err = c.Run(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, u := range []float64{3, 5} {
		for k, time := range []float64{1, 2} {
			if want := 1 + (u-1)*math.Exp(-time); !modeltest.Near(c.Groups[i].Prediction.Values[k], want, 1e-5) {
				t.Errorf("subject %d at %g: %g, want %g", i+1, time, c.Groups[i].Prediction.Values[k], want)
			}
		}
	}
}

// TestMeasuredAfterTheEnd: a measurement after the end of a run, which an experiment sets, is named.
func TestMeasuredAfterTheEnd(t *testing.T) {
	m, err := odes.Parse("m.ode", `
param T = 50
time t from 0 to T
state x = 1
x' = -x
data D { ID = [1, 1]  time = [1, 10]  y = [0, 0] }
observe y = x ~ normal(1) from D.y
experiment s from D by D.ID { T = 6 }
objective L = nll()
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.CompareRows(false, odes.Options{})
	if err == nil {
		err = c.Run(t.Context())
	}
	if says := "y at 10 in experiment s_1, which is after the end of the run at 6"; err == nil ||
		!strings.Contains(err.Error(), says) {
		t.Errorf("error %v, want %s", err, says)
	}
}
