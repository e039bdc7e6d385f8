package petab_test

import (
	"context"
	"flag"
	"math"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes"
	"odes.dev/odes/internal/exchange/petab"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

var update = flag.Bool("update", false, "write the translation anew")

const problem = "problem.yaml"

// decay returns the files of testdata/decay. Changes are pairs of a file's name and a replacement in it, old=>new.
func decay(t testing.TB, changes ...string) fstest.MapFS {
	t.Helper()
	return folder(t, "testdata/decay", changes...)
}

// folder returns the files of a folder, with changes.
func folder(t testing.TB, name string, changes ...string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	entries, err := os.ReadDir(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(name + "/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = &fstest.MapFile{Data: b}
	}
	for i := 0; i < len(changes); i += 2 {
		f := files[changes[i]]
		old, with, _ := strings.Cut(changes[i+1], "=>")
		if !strings.Contains(string(f.Data), old) {
			t.Fatalf("%s has no %q", changes[i], old)
		}
		f.Data = []byte(strings.Replace(string(f.Data), old, with, 1))
	}
	return files
}

// translate returns the translation, or the first error with its place.
func translate(files fstest.MapFS) (string, string) {
	var list diag.List
	out := petab.Translate(source.NewFile(problem, string(files[problem].Data)), files, &list)
	if err := list.Err(); err != nil {
		return "", err.Error()
	}
	return out.Text(), ""
}

// TestIs tells problems from other texts, also where they have no name.
func TestIs(t *testing.T) {
	text := string(decay(t)[problem].Data)
	for _, name := range []string{"a.yaml", "A.YML", "<stdin>"} {
		if !petab.Is(name, text) || petab.Is(name, "model m # parameter_file\n") {
			t.Errorf("%s: not as it should be", name)
		}
	}
	if !petab.Is("2.yaml", "format_version: 2.0.0\nparameter_files: [p.tsv]\n") {
		t.Error("version 2 is not seen")
	}
	if petab.Is("m.ode", "# parameter_file and problems:\nmodel m\n") {
		t.Error("a model is a problem")
	}
}

// TestTranslation: the problem becomes what lies beside it.
func TestTranslation(t *testing.T) {
	got, wrong := translate(decay(t))
	if wrong != "" {
		t.Fatal(wrong)
	}
	const golden = "testdata/decay.ode"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the problem becomes\n%s\n-update writes it", got)
	}
}

// decayLoss is the objective of the problem, in closed form, at these parameters.
func decayLoss(k, a0, scaleA, sd float64) float64 {
	normal := func(r, s float64) float64 { return 0.5*(r/s)*(r/s) + math.Log(s*math.Sqrt(2*math.Pi)) }
	given := func(t float64) float64 { return a0 * math.Exp(-k*t) }
	step := func(t float64) float64 { return 2/k + (0.5/k-2/k)*math.Exp(-k*t) }
	loss := 0.0
	amount := func(y, e, s float64) { loss += normal(math.Log10(y)-math.Log10(e), s) + math.Log(y*math.Ln10) }
	amount(2.6, scaleA*given(0), 0.1)
	amount(1.9, scaleA*given(0.5), 0.1)
	amount(4.1, 3*given(0.5), 0.2)
	amount(2.4, 3*given(1), 0.3)
	level := func(y, a float64) {
		e := a + 0.25*a*a
		loss += normal(y-e, sd*(1+e))
	}
	level(1.3, given(1))
	level(1.2, given(1))
	level(0.9, step(0))
	level(2.5, step(1.5))
	late := func(y, a float64) {
		loss += math.Abs(y-math.Log2(a)-math.Log(4))/0.3 + math.Log(2*0.3)
	}
	late(2.9, step(2))
	late(3.1, 2/k)
	loss += normal(math.Log10(k)+0.2, 0.5) // on the scale of k
	within := 0.5 * (math.Erf((10-2)/math.Sqrt2) - math.Erf((0-2)/math.Sqrt2))
	return loss + normal(a0-2, 1) + math.Log(within) // bounds truncate the prior
}

// TestDecay compares the objective and its gradient with the closed form, and differences of it.
func TestDecay(t *testing.T) {
	text, wrong := translate(decay(t))
	if wrong != "" {
		t.Fatal(wrong)
	}
	m, err := odes.Parse("decay.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(context.Background(), odes.Options{Threads: 1, Settings: []odes.Setting{
		{Key: "solver.rtol", Value: "1e-11"}, {Key: "solver.atol", Value: "1e-13"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	at := []float64{0.7, 2.5, 1.2, 0.15}
	loss := func(x []float64) float64 { return decayLoss(x[0], x[1], x[2], x[3]) }
	if got, want := s.Values[0].Value, loss(at); math.Abs(got-want) > 1e-8 {
		t.Errorf("the objective is %v, want %v", got, want)
	}
	for i := range at {
		move := func(h float64) float64 {
			x := append([]float64{}, at...)
			x[i] += h
			return loss(x)
		}
		const h = 1e-3
		want := (8*(move(h/2)-move(-h/2)) - (move(h) - move(-h))) / (6 * h)
		if got := s.Gradient[i]; math.Abs(got-want) > 1e-6*math.Abs(want) {
			t.Errorf("derivative %d is %v, want %v", i, got, want)
		}
	}
}

const (
	parameterHead   = "parameterId\tparameterScale\tlowerBound\tupperBound\tnominalValue\testimate\n"
	observableHead  = "observableId\tobservableFormula\tnoiseFormula\n"
	measurementHead = "observableId\tpreequilibrationConditionId\tsimulationConditionId\tmeasurement\ttime\t" +
		"observableParameters\tnoiseParameters\n"
)

// TestLikelihood compares the objectives of small problems with what their specification says, by hand.
func TestLikelihood(t *testing.T) {
	level := func(k, inflow, start, t float64) float64 {
		return inflow/k + (start-inflow/k)*math.Exp(-k*t)
	}
	normal := func(y, e, s float64) float64 { return 0.5*(y-e)*(y-e)/(s*s) + math.Log(s*math.Sqrt(2*math.Pi)) }
	a1, a2 := level(0.5, 0, 1, 1), level(0.5, 0, 1, 2)
	for _, c := range []struct {
		name                                              string
		model                                             [2]string
		parameters, conditions, observables, measurements string
		want                                              float64
	}{
		{
			"parameters and numbers for placeholders",
			[2]string{},
			"s\tlin\t0\t9\t2\t1.0\na\tlin\t0\t9\t3\t1\na_b\tlin\t0\t9\t4\t0\n" +
				"c\tlin\t0\t9\t5\t0\nb_c\tlin\t0\t9\t6\t0\n",
			"conditionId\nx\n",
			"m\tobservableParameter1_m*A + observableParameter2_m\tnoiseParameter1_m + noiseParameter2_m*m\n",
			"m\t\tx\t1\t1\ts;0.5\t0.3;0.1\nm\t\tx\t2\t1\ts;-0.5\ts;0.1\nm\t\tx\t3\t2\t1;-0.5\ts;-1e-2\n" +
				"m\t\tx\t4\t1\ta_b;c\t1;0\nm\t\tx\t5\t1\ta;b_c\t1;0\n",
			normal(1, 2*a1+0.5, 0.3+0.1*(2*a1+0.5)) + normal(2, 2*a1-0.5, 2+0.1*(2*a1-0.5)) +
				normal(3, a2-0.5, 2-0.01*(a2-0.5)) + normal(4, 4*a1+5, 1) + normal(5, 3*a1+6, 1),
		},
		{
			"a parameter that only the simulation sets, and a species that both do",
			[2]string{`<parameter id="inflow" value="0"`, `<parameter id="inflow" value="3"`},
			"",
			"conditionId\tinflow\tA\nx\t\t7\ny\t2\tNaN\nz\tk\t9\n",
			"m\tA\t0.5\n",
			"m\tx\ty\t1\t0\t\t\nm\tx\ty\t2\t1\t\t\nm\tx\tz\t3\t0\t\t\nm\tx\tz\t4\t1\t\t\nm\tx\tz\t5\tInfinity\t\t\n",
			normal(1, 6, 0.5) + normal(2, level(0.5, 2, 6, 1), 0.5) + normal(3, 9, 0.5) +
				normal(4, level(0.5, 0.5, 9, 1), 0.5) + normal(5, 1, 0.5),
		},
		{
			"a species and an observable of one name, a compartment, and what only conditions give a value",
			[2]string{`<parameter id="inflow" value="0"`, `<parameter id="inflow"`},
			"",
			"conditionId\tinflow\tA\tc\nx\t2\t7\t3\ny\tk\t8\t4\n",
			"A\tc*A + 0*pow(c, 2)\t0.1*A\n",
			"A\t\tx\t1\t1\t\t\nA\t\ty\t2\t1\t\t\n",
			normal(1, 3*level(0.5, 2, 7, 1), 0.3*level(0.5, 2, 7, 1)) +
				normal(2, 4*level(0.5, 0.5, 8, 1), 0.4*level(0.5, 0.5, 8, 1)),
		},
		{
			"names that functions have",
			[2]string{},
			"pow\tlin\t0\t9\t2\t1\nlog2\tlin\t0\t9\t2\t1\n",
			"conditionId\nx\n",
			"m\tpow(A, 2)*pow + log2(8)*log2 - A**2 + 2**-1\t1\n",
			"m\t\tx\t1\t1\t\t\n",
			normal(1, 2*a1*a1+6-a1*a1+0.5, 1),
		},
	} {
		files := decay(t)
		for name, text := range map[string]string{
			"parameters.tsv": parameterHead + "k\tlog10\t0.001\t100\t0.5\t1\n" + c.parameters,
			"conditions.tsv": c.conditions, "observables.tsv": observableHead + c.observables,
			"measurements.tsv": measurementHead + c.measurements,
			"model.xml":        strings.Replace(string(files["model.xml"].Data), c.model[0], c.model[1], 1),
		} {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		text, wrong := translate(files)
		if wrong != "" {
			t.Errorf("%s: %s", c.name, wrong)
			continue
		}
		m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
		if err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, text)
			continue
		}
		s, err := m.Sensitivities(context.Background(), odes.Options{Threads: 1, Settings: []odes.Setting{
			{Key: "solver.rtol", Value: "1e-11"}, {Key: "solver.atol", Value: "1e-13"},
		}})
		if err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, text)
			continue
		}
		if got := s.Values[0].Value; math.Abs(got-c.want) > 1e-7 {
			t.Errorf("%s: %v, want %v\n%s", c.name, got, c.want, text)
		}
	}
}

// TestBounds: a parameter may have one bound, or none.
func TestBounds(t *testing.T) {
	text, wrong := translate(decay(t, "parameters.tsv", "0.01\t100\t1.2\t=>0.01\t\t1.2\t", "parameters.tsv",
		"lin\t0\t10\t2.5=>lin\tNaN\t\t2.5"))
	for _, want := range []string{"scale_a = 1.2  in [0.01, inf]", "A0      = 2.5  ~ normal"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s%s, want %s", wrong, text, want)
		}
	}
}

// TestMiddle: what is estimated starts in the middle, on its scale, where it has no nominal value.
func TestMiddle(t *testing.T) {
	text, wrong := translate(decay(t, "parameters.tsv", "0.01\t100\t1.2\t=>0.01\t100\t\t", "parameters.tsv",
		"0\t10\t2.5=>0\t10\t"))
	for _, want := range []string{"scale_a = 1  in [0.01, 100]", "A0      = 5  in [0, 10]"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s%s, want %s", wrong, text, want)
		}
	}
}

// TestVariants: an observable with several sets of parameters becomes several, with names of as many of the parameters
// as tell them apart.
func TestVariants(t *testing.T) {
	text, wrong := translate(decay(t,
		"observables.tsv", "noiseParameter1_amount=>noiseParameter1_amount + 0*noiseParameter2_amount",
		"measurements.tsv", "scale_a\t0.1=>scale_a\t0.1;scale_a",
		"measurements.tsv", "scale_a\t0.1\n=>scale_a\t0.1;scale_a\n",
		"measurements.tsv", "scale_b\t0.2=>scale_b\t0.2;sd", "measurements.tsv", "scale_b\t0.3=>scale_b\t0.3;sd"))
	for _, want := range []string{
		"observe amount_scale_a = scale_a * A ~ lognormal(log(10)*(D.amount_scale_a_noiseParameter1 + 0*scale_a))",
		"observe amount_scale_b = scale_b * A ~ lognormal(log(10)*(D.amount_scale_b_noiseParameter1 + 0*sd))",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s%s, want %s", wrong, text, want)
		}
	}
}

// TestRefused: what is wrong with a problem is said with its place.
func TestRefused(t *testing.T) {
	for _, c := range [][3]string{
		{problem, "format_version: 1=>format_version: 3", "PEtab of version 3"},
		{problem, "format_version: 1=>format_version:", "no format_version"},
		{problem, "model.xml=>other.xml", `problem.yaml:4:1: there is no file "other.xml" where the problem lies`},
		{problem, "problems:=>problems: [", "no YAML"},
		{"parameters.tsv", "nominalValue=>value", `parameters.tsv:5:1: the parameter scale_b has the nominal value ""`},
		{"parameters.tsv", "0.01\t100\t1.2\t=>\t100\t\t", `the parameter scale_a has the nominal value ""`},
		{"parameters.tsv", "scale_a\tlog=>k\tlog", `parameters.tsv:4:1: the parameterId "k" is there twice`},
		{"parameters.tsv", "2.5\t1=>2.5\tyes", `parameters.tsv:3:17: estimate of A0 is "yes"`},
		{"parameters.tsv", "objectivePriorType=>priorType", "the columns objectivePriorType"},
		{problem, "parameter_file=>parameters", "the problem has no parameter_file"},
		{"conditions.tsv", "step=>given", `conditions.tsv:4:1: the conditionId "given" is there twice`},
		{"conditions.tsv", "\tinflow=>\tgain", "sets gain, which a rule or a reaction gives"},
		{"observables.tsv", "level\tA=>late\tA", `the observableId "late" is there twice`},
		{"parameters.tsv", "0.01\t100\t1.2=>0.01\tfar\t1.2", `the upperBound of scale_a is "far"`},
		{"parameters.tsv", "\t0.7\t=>\tx\t", `parameters.tsv:2:19: the parameter k has the nominal value "x"`},
		{"parameters.tsv", "-0.2;0.5=>-0.2", "two are wanted"},
		{"parameters.tsv", "\tnormal=>\tcauchy", `the prior "cauchy"`},
		{"parameters.tsv", "A0\t=>A\t", "A is no constant of the model"},
		{"conditions.tsv", "\tA0=>\tA1", `conditions.tsv:3:10: "A1" is neither a number nor a parameter`},
		{"conditions.tsv", "inflow=>outflow", `sets "outflow"`},
		{"conditions.tsv", "given=>taken", `there is no condition "given"`},
		{"observables.tsv", "log2(A)=>log2(C)", `observables.tsv:4:6: "C" in the formula`},
		{"observables.tsv", "log10=>log7", `the transformation "log7"`},
		{"observables.tsv", "laplace=>cauchy", `the noise "cauchy"`},
		{"observables.tsv", "late=>early", `there is no observable "late"`},
		{"measurements.tsv", "\t2.6\t=>\tmuch\t", `the measurement "much" is no finite number`},
		{"measurements.tsv", "\t0\tscale_a=>\tnow\tscale_a", `the time "now" is no number`},
		{"measurements.tsv", "\tscale_a=>\t", "no value for observableParameter1_amount"},
		{"measurements.tsv", "\tscale_a=>\tNaN", "measurements.tsv:2:21: the measurement has no value"},
		{"measurements.tsv", "scale_a\t0.1=>scale_a;A0\t0.1", "the measurement has more observableParameters"},
		{"measurements.tsv", "\t2.6\t=>\tinf\t", `measurements.tsv:2:15: the measurement "inf" is no finite number`},
		{"measurements.tsv", "\t0\tscale_a=>\tNaN\tscale_a", `measurements.tsv:2:19: the time "NaN" is no number`},
		{"measurements.tsv", "\t0\tscale_a=>\t-1\tscale_a", "measurements.tsv:2:19: the time -1 is before the start"},
		{"measurements.tsv", "\t0.1\n=>\t0.1\t7\n", "measurements.tsv:2:1: the row has 8 cells, and the table 7"},
		{"measurements.tsv", "amount\t=>\"amount\t", "measurements.tsv:2:1: the quotation mark of this cell"},
		{"conditions.tsv", "\tA\n=>\tinflow\n", `conditions.tsv:1:34: the column "inflow" is there twice`},
		{"parameters.tsv", "\tlog10\t=>\tLog10\t", `parameters.tsv:2:3: the parameterScale of k is "Log10"`},
		{"parameters.tsv", "\t0.7\t=>\tnan\t", ""},
		{"parameters.tsv", "\t3\t0=>\tnan\t0", `the parameter scale_b has the nominal value "nan"`},
		{"parameters.tsv", "-0.2;0.5=>-0.2;0.5;1", "two are wanted"},
		{"observables.tsv", "log2(A)=>log2(A", `observables.tsv:4:6: the formula "log2(A + ln(1 + unused)": `},
		{"observables.tsv", "log2(A)=>A # (A)", `observables.tsv:4:6: "#" in the formula`},
		{"observables.tsv", "log2(A)=>final(A)", `"final" in the formula final(A) + ln(1 + unused) is no function`},
		{"observables.tsv", "\t0.3\t=>\tA A\t", `observables.tsv:4:31: the formula "A A": missing operator`},
		{problem, "[conditions.tsv]=>[conditions.tsv", "problem.yaml:6:3: this is no YAML as PEtab has it"},
		{problem, "[conditions.tsv]=>[[conditions.tsv]]", "problem.yaml:5:3: this is no YAML as PEtab has it"},
		{problem, "model.xml=>../model.xml", `problem.yaml:4:1: "../model.xml" is outside`},
	} {
		if out, wrong := translate(decay(t, c[0], c[1])); !strings.Contains(wrong, c[2]) || c[2] == "" && wrong != "" {
			t.Errorf("%s, %s: %q, want %q\n%s", c[0], c[1], wrong, c[2], out)
		}
	}
}

// TestMissing: a condition whose measurements are all missing is no experiment.
func TestMissing(t *testing.T) {
	text, wrong := translate(decay(t, "measurements.tsv", "\t0.9\t=>\tNaN\t", "measurements.tsv", "\t2.5\t=>\t\t",
		"measurements.tsv", "\t2.9\t=>\tnan\t", "measurements.tsv", "\t3.1\t=>\tNaN\t"))
	if wrong != "" || strings.Contains(text, "step") || !strings.Contains(text, "experiment given") {
		t.Errorf("%s%s", wrong, text)
	}
}

// TestInitialAssignmentsAnew: after a steady state, what initial assignments give from values of the condition begins
// with these, themselves and through others; what they read has its value at the start. All else begins in the state.
func TestInitialAssignmentsAnew(t *testing.T) {
	species := func(id string) string {
		return `<species id="` + id + `" compartment="V" hasOnlySubstanceUnits="false" boundaryCondition="false" ` +
			`constant="false" initialConcentration="0"/>`
	}
	math_ := func(inner string) string {
		return `<math xmlns="http://www.w3.org/1998/Math/MathML">` + inner + `</math>`
	}
	starts := func(id, inner string) string {
		return `<initialAssignment symbol="` + id + `">` + math_(inner) + `</initialAssignment>`
	}
	decays := func(id string) string {
		return `<reaction id="r` + id + `" reversible="false"><listOfReactants><speciesReference species="` + id +
			`" stoichiometry="1" constant="true"/></listOfReactants><kineticLaw>` +
			math_(`<apply><times/><ci>V</ci><ci>kd</ci><ci>`+id+`</ci></apply>`) + `</kineticLaw></reaction>`
	}
	twice := `<apply><plus/><apply><times/><cn>2</cn><ci>D</ci></apply><ci>A</ci></apply>`
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		problem: "format_version: 1\nparameter_file: p.tsv\nproblems:\n  - sbml_files: [m.xml]\n" +
			"    condition_files: [c.tsv]\n    measurement_files: [y.tsv]\n    observable_files: [o.tsv]\n",
		"m.xml": `<sbml xmlns="http://www.sbml.org/sbml/level3/version2/core" level="3" version="2"><model id="m">` +
			`<listOfCompartments><compartment id="V" spatialDimensions="3" size="2" constant="true"/>` +
			`</listOfCompartments>` +
			`<listOfSpecies>` + species("A") + species("D") + species("E") + `</listOfSpecies><listOfParameters>` +
			`<parameter id="kd" value="0.5" constant="true"/><parameter id="d0" value="0" constant="true"/>` +
			`<parameter id="a0" value="3" constant="true"/></listOfParameters><listOfInitialAssignments>` +
			starts("A", "<ci>a0</ci>") + starts("D", "<ci>d0</ci>") + starts("E", twice) +
			`</listOfInitialAssignments><listOfReactions>` + decays("A") + decays("D") + decays("E") +
			`</listOfReactions></model></sbml>`,
		"c.tsv": "conditionId\td0\nbefore\t0\nduring\t2\n",
		"p.tsv": parameterHead + "kd\tlin\t0.1\t10\t0.5\t1\n",
		"o.tsv": observableHead + "yA\tA\t0.1\nyD\tD\t0.1\nyE\tE\t0.1\n",
		"y.tsv": "observableId\tpreequilibrationConditionId\tsimulationConditionId\ttime\tmeasurement\n" +
			"yA\tbefore\tduring\t0\t0\nyD\tbefore\tduring\t0\t1.9\nyD\tbefore\tduring\t2\t0.7\n" +
			"yE\tbefore\tduring\t0\t7.1\nyE\tbefore\tduring\t2\t2.6\n",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	text, wrong := translate(files)
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(wrong, err, text)
	}
	s, err := m.Sensitivities(context.Background(), odes.Options{Threads: 1, Settings: []odes.Setting{
		{Key: "solver.rtol", Value: "1e-10"}, {Key: "solver.atol", Value: "1e-13"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	loss := func(k float64) float64 {
		sum := 5 * math.Log(0.1*math.Sqrt(2*math.Pi))
		for _, r := range []float64{0, 1.9 - 2, 0.7 - 2*math.Exp(-2*k), 7.1 - 7, 2.6 - 7*math.Exp(-2*k)} {
			sum += r * r / 0.02
		}
		return sum
	}
	const h = 1e-5
	if got, want := s.Values[0].Value, loss(0.5); math.Abs(got-want) > 1e-7 {
		t.Errorf("the objective is %v, want %v\n%s", got, want, text)
	}
	if got, want := s.Gradient[0], (loss(0.5+h)-loss(0.5-h))/(2*h); math.Abs(got-want) > 1e-6*math.Abs(want) {
		t.Errorf("the derivative is %v, want %v", got, want)
	}
}
