package dosing_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// TestCases: each convention of records has a case, whose values and derivatives were computed in two other ways
// (testdata/cases.json).
//
//odes:goroutines
func TestCases(t *testing.T) {
	text, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		ID, Text, Table, Data string
		Value                 float64
		Gradient              map[string]float64
		Rows                  []float64
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		m, err := odes.Parse("m.ode", c.Text+"solver { method = dop853  rtol = 1e-10  atol = 1e-12 }\n"+
			"sens { trust = off }\n", odes.ParseOptions{Files: fstest.MapFS{c.Table: {Data: []byte(c.Data)}}})
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		got, err := m.Sensitivities(t.Context(), odes.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		if v := got.Values[0].Value; math.Abs(v-c.Value) > 1e-8*math.Abs(c.Value) {
			t.Errorf("%s: the value is %v, want %v", c.ID, v, c.Value)
		}
		largest := 0.0
		for _, x := range c.Gradient {
			largest = max(largest, math.Abs(x))
		}
		for _, v := range got.Variables {
			want, is := c.Gradient[v.Name]
			if g := got.Gradient[v.Offset]; is && math.Abs(g-want) > 1e-6*(math.Abs(want)+1e-3*largest) {
				t.Errorf("%s: the derivative by %s is %v, want %v", c.ID, v.Name, g, want)
			}
		}
		list, err := fit.Predict(t.Context(), m, odes.Options{})
		if err != nil || len(list) != len(c.Rows) {
			t.Errorf("%s: %d predictions, want %d; %v", c.ID, len(list), len(c.Rows), err)
			continue
		}
		for i, p := range list {
			if math.Abs(p.Value-c.Rows[i]) > 1e-7 {
				t.Errorf("%s: row %d is %v, want %v", c.ID, i+1, p.Value, c.Rows[i])
			}
		}
	}
}

// TestProfiles: the profiles of NONMEM 7.4.3, where they are at hand.
//
//odes:goroutines
func TestProfiles(t *testing.T) {
	const at = "../../../../shared/reference/populations/"
	text, err := os.ReadFile(at + "nmtest.json")
	if err != nil {
		t.Skip(err)
	}
	var reference struct {
		Text, Solver string
		Rows         []struct {
			ID        int
			C, Nonmem []float64
		}
	}
	if err := json.Unmarshal(text, &reference); err != nil {
		t.Fatal(err)
	}
	m, err := odes.Parse("m.ode", reference.Text+reference.Solver+"\n", odes.ParseOptions{
		Files: os.DirFS(filepath.FromSlash(at + "data")),
	})
	if err != nil {
		t.Fatal(err)
	}
	list, err := fit.Predict(t.Context(), m, odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range reference.Rows {
		peak := 0.0
		for _, x := range p.Nonmem {
			peak = max(peak, x)
		}
		for i, want := range p.Nonmem {
			if len(list) == 0 {
				t.Fatalf("subject %d: no row %d", p.ID, i+1)
			}
			got := list[0].Value
			if list = list[1:]; math.Abs(got-want) > 1e-4*peak {
				t.Errorf("subject %d, row %d: %v, want %v of a peak of %v", p.ID, i+1, got, want, peak)
				break
			}
		}
	}
}

// head is the model of the tests below, without its doses.
const head = `
time t from 0 to 24
param ka = 1.1, CL = 2, V = 20, lag = 0.5
state gut = 0, body = 0
let c = body/V
gut' = -ka*gut
body' = ka*gut - CL*c
data D = csv("d.csv", time = "TIME")
observe y = c ~ normal(1) from D.DV
objective L = nll()
`

func parse(text, table string) (*odes.Model, error) {
	return odes.Parse("m.ode", text, odes.ParseOptions{Files: fstest.MapFS{"d.csv": {Data: []byte(table)}}})
}

// TestRefused: what is wrong with a record is said by file and row.
func TestRefused(t *testing.T) {
	const columns = "ID,TIME,DV,AMT,RATE,DUR,CMT,EVID,II,ADDL,SS,MDV\n"
	const usual = "doses D { gut where CMT == 1  body where CMT == 2 }\n"
	by := "experiment subject from D by D.ID\n"
	for _, c := range []struct{ doses, rows, want string }{
		{usual, "1,0,.,100,0,0,3,1,0,0,0,1\n", "d.csv, row 1 of \"D\": no state takes this dose (CMT = 3)"},
		{usual, "1,0,.,0,0,0,1,1,0,0,0,1\n", "row 1: a dose without an amount"},
		{usual, "1,0,.,-5,0,0,1,1,0,0,0,1\n", "row 1: AMT is -5"},
		{usual, "1,5,.,100,0,0,1,1,0,0,0,1\n1,4,1,.,.,.,.,0,0,0,0,0\n", "time goes back from 5 in row 1 to 4 in row 2"},
		{usual, "1,5,.,100,0,0,1,1,0,0,0,1\n2,1,.,5,0,0,1,1,0,0,0,1\n1,6,1,.,.,.,.,0,0,0,0,0\n", "separate pieces"},
		{usual, "1,-1,.,100,0,0,1,1,0,0,0,1\n", "row 1 of \"D\": a record at -1, outside of the run from 0 to 24"},
		{usual, "1,0,.,100,0,0,1,1,12,0,0,1\n", "row 1: II is 12, but neither ADDL nor SS"},
		{usual, "1,0,.,100,0,0,1,1,0,3,0,1\n", "row 1: ADDL is 3, but II"},
		{usual, "1,0,.,100,0,0,1,1,0,0,1,1\n", "row 1: SS is 1, but II"},
		{usual, "1,0,.,100,0,0,1,1,12,0,3,1\n", "row 1: SS is 3, and must be"},
		{usual, "1,0,.,100,0,0,1,7,0,0,0,1\n", "row 1: EVID is 7, and must be"},
		{usual, "1,0,.,100,0,0,1,0,0,0,0,0\n", "row 1: EVID is 0, so no dose is given, but AMT is 100"},
		{usual, "1,0,.,100,-3,0,1,1,0,0,0,1\n", "row 1: RATE is -3"},
		{usual, "1,0,.,100,-1,0,1,1,0,0,0,1\n", "RATE is -1, so the model gives the rate"},
		{usual, "1,0,.,100,-2,0,1,1,0,0,0,1\n", "RATE is -2, so the model gives the duration"},
		{usual, "1,0,.,100,10,5,1,1,0,0,0,1\n", "contradict each other"},
		{usual, "1,0,.,100,0,0,1,1,12,1.5,0,1\n", "row 1: ADDL is 1.5, and must be"},
		{"doses D { gut  body }\n", "1,0,.,100,0,0,1,1,0,0,0,1\n", "both gut and body take this dose"},
		{"doses D { V }\n", "1,0,.,100,0,0,1,1,0,0,0,1\n", "\"V\" is a param; doses are given into states"},
		{"doses E { gut }\n", "1,0,.,100,0,0,1,1,0,0,0,1\n", "there is no data table \"E\""},
		{"doses D { gut lag = c }\n", "1,0,.,100,0,0,1,1,0,0,0,1\n", "a dose"},
		{"doses D { gut late = 3 }\n", "1,0,.,100,0,0,1,1,0,0,0,1\n", "doses have no \"late\""},
		{"doses D { lag = 3 gut }\n", "1,0,.,100,0,0,1,1,0,0,0,1\n", "stands behind the state"},
		{"doses D { amt = D.MG gut }\n", "1,0,.,100,0,0,1,1,0,0,0,1\n", "has no column \"MG\""},
		{"doses D { }\n", "1,0,.,100,0,0,1,1,0,0,0,1\n", "go nowhere"},
	} {
		_, err := parse(head+c.doses+by, columns+c.rows+"1,20,1,.,.,.,.,0,0,0,0,0\n")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s%s: %v, want %q", c.doses, c.rows, err, c.want)
		}
	}
}

// TestParamBounds: a record outside of a run whose end is a param is refused when the run begins.
//
//odes:goroutines
func TestParamBounds(t *testing.T) {
	text := strings.Replace(head, "time t from 0 to 24\nparam ", "time t from t0 to t1\nparam t0 = 0, t1 = 24, ", 1)
	m, err := parse(text+"doses D { gut }\nexperiment subject from D by D.ID\n",
		"ID,TIME,DV,AMT\n1,1,.,100\n1,2,3,0\n1,9,.,50\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, want string }{
		{"", ""},
		{"t1", `d.csv, row 3 of "D": a record at 9, outside of the run, whose end is a param`},
		{"t0", `d.csv, row 1 of "D": a record at 1, outside of the run, whose start is a param`},
	} {
		var o odes.Options
		if c.name != "" {
			at := map[string]float64{"t1": 8.5, "t0": 1.5}[c.name]
			o.Set = []odes.Assignment{{Name: c.name, Values: []float64{at}}}
		}
		_, err := m.Sensitivities(t.Context(), o)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestFreeWords: what doses are written with is free for other uses.
func TestFreeWords(t *testing.T) {
	for _, text := range []string{
		"time t from 0 to 1\nparam doses = 1, lag = 2, f = 3, dur = 4\nstate where = 1\nwhere' = -doses*where\n",
		"time t from 0 to 1\nstate doses = 1\ndoses' = -doses\nobjective J = final(doses)\n",
		"time t from 0 to 1\nstate x = 1, where = 2\nx' = -x\ndata D { time = [1] y = [2] }\n" +
			"observe o = x ~ normal(1) from D.y\nwhere' = -where\nobjective J = nll()\n",
		"time t from 0 to 1\nparam rate = 2\nstate A = 1, B = 0\nreaction r: A -> B rate rate*A\n" +
			"reaction q: B -> rate B\nlet other = rate*A\nobjective J = final(other)\n",
		"time t from 0 to 1\nstate rate = 1, B = 0\nreaction r: rate -> B rate 2*rate\nB' += rate\n",
	} {
		if _, err := parse(text, ""); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestReadings: rows without EVID, MDV, columns with other names, parallel absorption, and several kinds of data.
//
//odes:goroutines
func TestReadings(t *testing.T) {
	value := func(text, table string) float64 {
		t.Helper()
		m, err := parse(text, table)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s.Values[0].Value
	}
	const by = "experiment subject from D by D.ID\n"
	usual := head + "doses D { gut }\n" + by
	want := value(usual, "ID,TIME,DV,AMT\n1,0,.,100\n1,2,3,0\n1,9,1,0\n")
	for _, c := range []struct{ what, text, table string }{
		{"EVID", usual, "ID,TIME,DV,AMT,EVID\n1,0,0,100,1\n1,2,3,0,0\n1,9,1,.,0\n"},
		{"MDV", usual, "ID,TIME,DV,AMT,MDV\n1,0,0,100,1\n1,2,3,0,0\n1,5,7,0,1\n1,9,1,.,0\n"},
		{"EVID 2", usual, "ID,TIME,DV,AMT,EVID\n1,0,0,100,1\n1,2,3,0,0\n1,5,7,0,2\n1,9,1,.,0\n"},
		{"lower case", usual, "ID,TIME,DV,amt,evid\n1,0,0,100,1\n1,2,3,0,0\n1,9,1,.,0\n"},
		{"names", head + "doses D { amt = D.mg gut }\n" + by, "ID,TIME,DV,mg\n1,0,.,100\n1,2,3,0\n1,9,1,0\n"},
		{
			"parts", head + "doses D { gut f = 0.3  gut f = 1 - 0.3 }\n" + by,
			"ID,TIME,DV,AMT\n1,0,.,100\n1,2,3,0\n1,9,1,0\n",
		},
		{"text ids", usual, "ID,TIME,DV,AMT\nann,0,.,100\nann,2,3,0\nann,9,1,0\n"},
		{
			"kinds",
			strings.Replace(head, "from D.DV", "from D.DV where D.DVID == \"cp\"", 1) + "doses D { gut }\n" + by,
			"ID,TIME,DV,AMT,DVID\n1,0,.,100,\n1,2,3,0,cp\n1,3,80,0,pca\n1,9,1,0,cp\n",
		},
		{"one subject", head + "doses D { gut }\n", "TIME,DV,AMT\n0,.,100\n2,3,0\n9,1,0\n"},
		{
			"covariates", strings.Replace(head, "lag = 0.5", "lag = 0.5, BIO = 1", 1) +
				"doses D { gut f = BIO }\nexperiment subject from D by D.ID { BIO = D.B }\n",
			"ID,TIME,DV,AMT,B\n1,0,.,60,1\n1,0,.,80,0.5\n1,2,3,0,7\n1,9,1,0,0\n",
		},
	} {
		if got := value(c.text, c.table); math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("%s: %v, want %v", c.what, got, want)
		}
	}
}
