package analysis

import (
	"context"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/keys"
)

// TestRows: rows say what is needed of them, and flags are short for keys that there are.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range Rows() {
		if seen[a.Name] || Named(a.Name) != a || !strings.HasSuffix(a.Help, ".") || (a.Run == nil) == (a.Do == nil) ||
			len(a.Examples) == 0 {
			t.Errorf("%s: %+v", a.Name, a)
		}
		seen[a.Name] = true
		if a.Block != "" && keys.Of(a.Block) == nil {
			t.Errorf("%s: there is no block %s", a.Name, a.Block)
		}
		for _, f := range a.Flags {
			if f.Name == Output.Name {
				continue
			}
			block, key, other := strings.Cut(f.Key, ".")
			if !other {
				block, key = a.Block, f.Key
			}
			if f.Key != "" && keys.Find(block, key) == nil || f.Help == "" ||
				(f.Takes() == Switch || f.Requests) != (f.Placeholder == "") || a.Run != nil && a.Asked == nil &&
				f.Key == "" &&
				f.Option == nil && f.Name != a.Draw {
				t.Errorf("%s: %+v", a.Name, f)
			}
		}
		for _, e := range a.Examples {
			if !strings.HasPrefix(e.Line, "odes "+a.Name+" ") {
				t.Errorf("%s has the example %q", a.Name, e.Line)
			}
		}
		if !a.Formatted(report.Formats()[0]) || !a.Formatted(report.FormatNamed("json")) {
			t.Errorf("%s is not written as a table, and as JSON", a.Name)
		}
	}
}

// TestWith: flags with values become settings; the options that they are added to stay as they are.
func TestWith(t *testing.T) {
	a := &Row{Block: "fit", Flags: []Flag{{Name: "n", Key: "starts"}, {Name: "seed", Key: "seed"}}}
	list := make([]odes.Setting, 1, 4)
	list[0] = odes.Setting{Key: "solver.rtol", Value: "1e-3"}
	o := a.With(odes.Options{Settings: list}, map[string]string{"n": "3", "seed": ""})
	if len(o.Settings) != 2 || o.Settings[1] != (odes.Setting{Key: "fit.starts", Value: "3"}) ||
		list[:2][1] != (odes.Setting{}) {
		t.Errorf("%v, %v", o.Settings, list[:2])
	}
}

// TestPredict: rows of predictions of one observation are one entry.
func TestPredict(t *testing.T) {
	m, err := odes.Parse("m.ode", `time t from 0 to 2
param k = 1
state x = 1
x' = -k*x
data D { time = [0, 1, 2]  a = [1, 0.5, 0.1] }
observe y = x ~ normal(0.1) from D.a
objective loss = nll()
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := predict.Run(context.Background(), m, odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	of := r.Head.(map[string]any)["observations"].([]Observation)
	if a := r.Arrays[0]; len(of) != 1 || of[0].Rows != 3 || a.Shape[0] != 3 || a.Values[predictionColumns+1] != 0.5 {
		t.Errorf("%+v, %+v", of, r.Arrays)
	}
	var b strings.Builder
	if err := r.WriteAs(report.FormatNamed("csv"), &b, report.Heading{}, report.TableOptions{}); err != nil ||
		strings.Count(b.String(), "\n") != 4 {
		t.Errorf("%v:\n%s", err, b.String())
	}
}
