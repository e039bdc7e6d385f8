package playground

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

const decay = "model Decay\ntime t : [h] from 0 to 10\nparam k = 0.5 [1/h] in [0.1, 2]\nstate A = 8 [mg]\n" +
	"A' = -k*A\nobjective J = final(A)\n"

// ask answers a request, and reads the answer into what is given.
func ask(t *testing.T, b *Bench, r Request, to any) {
	t.Helper()
	asked, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Answer(asked), to); err != nil {
		t.Fatal(err)
	}
}

// TestRun compares values and derivatives with the closed form, at values that are moved, and with a comparison.
func TestRun(t *testing.T) {
	var b Bench
	for _, k := range []float64{0.5, 0.25, 1} {
		for _, compare := range []bool{false, true} {
			var r Result
			ask(t, &b, Request{Op: "run", Text: decay, Set: []Moved{{"k", k}}, Compare: compare}, &r)
			if len(r.Objectives) != 1 || len(r.Columns) != 2 || len(r.Series) != 1 || r.Compared != compare {
				t.Fatalf("%+v %+v", r.Objectives, r.Columns)
			}
			want := 8 * math.Exp(-10*k)
			if got := float64(r.Objectives[0].Value); math.Abs(got-want) > 1e-4*want {
				t.Errorf("k = %v: %v, not %v", k, got, want)
			}
			if got := float64(r.Objectives[0].Gradient[0]); math.Abs(got+10*want) > 1e-3*want {
				t.Errorf("k = %v: derivative %v, not %v", k, got, -10*want)
			}
			if c := r.Columns[1]; c.Name != "initial(A)" {
				t.Errorf("column %+v", c)
			}
			if c := r.Columns[0]; c.Name != "k" || float64(c.Value) != k || c.Unit != "1/h" {
				t.Errorf("column %+v", c)
			}
			for i, x := range r.T {
				if want := 8 * math.Exp(-k*float64(x)); math.Abs(float64(r.Series[0].Values[i])-want) > 1e-3 {
					t.Fatalf("A(%v) = %v, not %v", x, r.Series[0].Values[i], want)
				}
			}
			if len(r.T) < fewPoints/2 {
				t.Errorf("only %d points", len(r.T))
			}
		}
	}
}

// TestOpen: what a page is told of a model, in which data come from a file of the page.
func TestOpen(t *testing.T) {
	text := decay + "param w[2] = [1, 2]\nexperiment low { k = 0.1 [1/h]  use D }\n" +
		"data D = csv(\"d.csv\", time = \"time [h]\", A = \"A [mg]\")\nobserve seen = A ~ normal(0.1 [mg]) from D.A\n" +
		"objective L = nll()\n"
	var b Bench
	var d Description
	r := Request{Op: "open", Text: text, Files: map[string]string{"d.csv": "time [h],A [mg]\n1,5\n2,3\n"}}
	ask(t, &b, r, &d)
	var names []string
	for _, p := range d.Params {
		names = append(names, p.Name)
	}
	if got := strings.Join(names, " "); got != "k w[1] w[2]" || d.Name != "Decay" || d.TimeUnit != "h" {
		t.Errorf("%q in %+v", got, d)
	}
	if len(d.Observations) != 1 || len(d.Observations[0].T) != 2 || d.Observations[0].Outputs[0] != "A" {
		t.Errorf("observations %+v", d.Observations)
	}
	if len(d.Experiments) != 1 || d.Experiments[0] != "low" {
		t.Errorf("experiments %v", d.Experiments)
	}
}

// TestFailures: whatever is wrong is an answer, and the next request is answered as if nothing had been.
func TestFailures(t *testing.T) {
	var b Bench
	for _, r := range []Request{
		{Op: "fly"},
		{Op: "open"},
		{Op: "open", Text: "\x00\xff"},
		{Op: "open", Text: strings.Replace(decay, "-k*A", "-q*A", 1)},
		{Op: "open", Text: decay + "data D = csv(\"/etc/passwd\")\n"},
		{Op: "open", Text: "<?xml version='1.0'?><sbml/>"},
		{Op: "run", Text: decay, Set: []Moved{{"q", 1}}},
		{Op: "run", Text: decay, Experiment: "none"},
		{Op: "run", Text: "model F\ntime t from 0 to 10\nstate x = 1\nx' = x^2\nobjective J = final(x)\n"},
	} {
		var f Failure
		ask(t, &b, r, &f)
		if !f.Failed || len(f.Diagnostics) == 0 || f.Diagnostics[0].Message == "" {
			t.Errorf("%+v: %+v", r, f)
		}
		var ok Result
		if ask(t, &b, Request{Op: "run", Text: decay}, &ok); len(ok.Objectives) != 1 {
			t.Errorf("after %+v: %+v", r, ok)
		}
	}
	var f Failure
	if err := json.Unmarshal(b.Answer([]byte("{")), &f); err != nil || !f.Failed {
		t.Errorf("%v %+v", err, f)
	}
}

// TestPlaces are counted as scripts count, whatever stands before them.
func TestPlaces(t *testing.T) {
	var b Bench
	var f Failure
	text := "## 𝛼 größer\n" + strings.Replace(decay, "A' = -k*A", "dA/dt = -k*A", 1)
	ask(t, &b, Request{Op: "open", Text: text}, &f)
	if len(f.Diagnostics) == 0 {
		t.Fatal("no diagnostics")
	}
	d := f.Diagnostics[0]
	// "## 𝛼 größer\n" has 13 units, of which the first letter takes two.
	if want := 13 + strings.Index(decay, "A' ="); d.From != want || d.To != want+5 || d.Line != 6 || len(d.Fixes) == 0 {
		t.Errorf("%+v, not from %d", d, want)
	}
}

// TestWithoutObjective: a model that has none is drawn.
func TestWithoutObjective(t *testing.T) {
	var b Bench
	var r Result
	ask(t, &b, Request{Op: "run", Text: strings.Split(decay, "objective")[0]}, &r)
	if len(r.Series) != 1 || len(r.T) < 100 {
		t.Errorf("%+v", r)
	}
}
