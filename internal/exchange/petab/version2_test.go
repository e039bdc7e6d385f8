package petab_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odes.dev/odes"
)

// tight are options for results with many digits.
func tight(rtol string) odes.Options {
	return odes.Options{
		Threads: 1, Settings: []odes.Setting{{Key: "solver.rtol", Value: rtol}, {Key: "solver.atol", Value: "1e-13"}},
	}
}

// derivative is that of the first objective by a param.
func derivative(s *odes.Sensitivities, name string) float64 {
	for _, v := range s.Variables {
		if v.Name == name {
			return s.Gradient[v.Offset]
		}
	}
	return math.NaN()
}

// pulseLoss is the objective of testdata/pulse in closed form.
func pulseLoss(k, a0, dose float64) float64 {
	const sd = 0.3
	normal := func(r, s float64) float64 { return 0.5*(r/s)*(r/s) + math.Log(s*math.Sqrt(2*math.Pi)) }
	lognormal := func(y, e, s float64) float64 { return normal(math.Log(y)-math.Log(e), s) + math.Log(y) }
	laplace := func(y, e float64) float64 {
		return math.Abs(y-e)/(sd*(1+e)) + math.Log(2*sd*(1+e))
	}
	to := func(a, s, dt float64) float64 { return s/k + (a-s/k)*math.Exp(-k*dt) }
	level := 2 * a0
	loss := normal(3.2-(a0+1)-level, 0.1) + normal(2.2-to(a0+1, 0.25, 1)-level, 0.1)
	dosed := to(a0+1, 0.25, 2) + dose*2 // the compartment that grows leaves the concentration
	loss += normal(4.5-dosed-level, 0.2) + lognormal(20, to(dosed, 0.25, 1)*6, sd)
	b := (3*math.Exp(-4*k) + dose) / 2 // the condition comes before the event
	loss += laplace(1.9, b) + laplace(1.2, 2*b*math.Exp(-k))
	settled := to(2/k, 0.5, 0.5) + dose*2
	loss += normal(4.1-2/k, 0.1) + lognormal(15, 0.5*settled*6, 2) + normal(0.9-0.5/k, 0.3)
	within := 0.5 * (math.Erf(math.Log(100)/math.Sqrt2) - math.Erf(math.Log(0.01)/math.Sqrt2))
	return loss + normal(math.Log(k), 1) + math.Log(k) + math.Log(within) + math.Log(3) + math.Log(5)
}

// TestVersion2 compares the objective of a problem of version 2, and its derivatives, with closed forms: experiments
// that begin at different times and in a steady state, conditions during runs that change compartments, formulas,
// placeholders, priors, and an event at the time of a condition.
func TestVersion2(t *testing.T) {
	m, err := odes.ParseFile("testdata/pulse/problem.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(context.Background(), tight("1e-11"))
	if err != nil {
		t.Fatal(err)
	}
	at := [3]float64{0.5, 2, 1.5}
	if got, want := s.Values[0].Value, pulseLoss(at[0], at[1], at[2]); math.Abs(got-want) > 1e-8*math.Abs(want) {
		t.Errorf("the objective is %v, want %v", got, want)
	}
	for i, name := range []string{"k", "a0", "dose"} {
		const h = 1e-5
		up, down := at, at
		up[i] += h
		down[i] -= h
		want := (pulseLoss(up[0], up[1], up[2]) - pulseLoss(down[0], down[1], down[2])) / (2 * h)
		if got := derivative(s, name); math.Abs(got-want) > 1e-6*max(1, math.Abs(want)) {
			t.Errorf("d/d%s is %v, want %v", name, got, want)
		}
	}
}

// TestVersion2Refused: what is wrong with a problem of version 2 is said where it stands.
func TestVersion2Refused(t *testing.T) {
	for _, c := range []struct{ file, change, want string }{
		{problem, "required: false=>required: true", `problem.yaml:14:3: the problem needs the extension "pictures"`},
		{problem, "language: sbml=>language: bngl", `the model is in the language "bngl"`},
		{problem, "  basin:=>  other: {location: o.xml, language: sbml}\n  basin:", "the problem has 2 models"},
		{"conditions.tsv", "dosed\tA=>dosed\tV", "two conditions set V at the time 1"},
		{"conditions.tsv", "slow\ts=>slow\tenters", "the condition sets enters, which a rule or a reaction gives"},
		{"conditions.tsv", "slow\ts=>slow\tk", "the condition sets k, which is in the table of parameters, too"},
		{"conditions.tsv", "slow\ts=>slow\tnew", `sets "new", which the model does not have`},
		{"conditions.tsv", "a0 + 1=>a0 + A", `conditions.tsv:2:10: the formula a0 + A: "A" is neither`},
		{"experiments.tsv", "\tmore=>\tother", `there is no condition "other"`},
		{"experiments.tsv", "-inf\tslow=>inf\tslow", `the time "inf" is neither a number nor -inf`},
		{"measurements.tsv", "conc\tearly\t-1=>conc\tearly\t-2", "the time -2 is before the start, which is -1"},
		{"measurements.tsv", "conc\tearly\t-1=>conc\tlost\t-1", `there is no experiment "lost"`},
		{"measurements.tsv", "20\t1\tsd=>20\t\tsd", "the measurement has no value for scale"},
		{"measurements.tsv", "20\t1\tsd=>20\t1;2\tsd", "more observableParameters than the 1"},
		{"measurements.tsv", "20\t1=>-20\t1", "the measurement -20 has no logarithm, which the noise of amount is of"},
		{"observables.tsv", "A + level=>A + level )", `the formula A + level ): ")" does not belong here`},
		{"observables.tsv", "A + level=>A + f(level)", `"f" is no function of PEtab`},
		{"observables.tsv", "A + level=>1 < A < 2", "a chain of comparisons"},
		{"observables.tsv", "pow(B, 1)=>pow(B)", "pow has 2 arguments, and is called with 1"},
		{"parameters.tsv", "log-normal=>weibull", `odes has nothing like the prior "weibull" of k`},
		{"parameters.tsv", "0;1=>0;1;2", "log-normal has 2, with ; between them"},
		{"parameters.tsv", "1;4=>11;14", "the prior of a0 is zero"},
		{"parameters.tsv", "true\tuniform=>1\tuniform", `estimate of a0 is "1": true and false are possible`},
		{"mapping.tsv", "dosed\t=>dosed\tX", `the model has nothing with the id "X"`},
	} {
		_, wrong := translate(folder(t, "testdata/pulse", c.file, c.change))
		if !strings.Contains(wrong, c.want) {
			t.Errorf("%s with %q: %q, want %q", c.file, c.change, wrong, c.want)
		}
	}
}

// TestFormulas evaluates formulas of version 2 as observables of a model at rest.
func TestFormulas(t *testing.T) {
	for formula, want := range map[string]float64{
		"-2^4": -16, "2^2^3": 256, "9 * 3 ^ -2": 1, "--1.0": 1, "1e+3 * 2": 2000, "pow(2, 3)": 8, "log(exp(1))": 1,
		"log(100, 10)": 2, "log2(8)": 3, "sqrt(16)": 4, "arccot(1)": math.Pi / 4, "csch(1)": 1 / math.Sinh(1),
		"piecewise(0, true || false && false, 1)": 1, "piecewise(1, true, 2, true, 0)": 1,
		"piecewise(1, !(2 < 3), 5)": 5, "3 + true": 4, "2*false + true": 1, "piecewise(1, true == 2, 0)": 0,
		"sign(-2.5)": -1, "sign(false)": 0, "-!!2": -1, "!1": 0, "piecewise(1, -0.1, 0)": 1,
		"min(1, 2) - max(3, 4)":   -3,
		"piecewise(1, 2 != 2, 0)": 0, "true ^ true": 1, "time": 2, "inf^-1": 0, ".5e1 - 3.": 2, "8/2/2*3": 6,
	} {
		files := folder(t, "testdata/pulse", "observables.tsv", "A + level=>"+formula)
		files["measurements.tsv"].Data = []byte("observableId\texperimentId\ttime\tmeasurement\tnoiseParameters\n" +
			"conc\t\t2\t0\t1\n")
		files["conditions.tsv"].Data = []byte("conditionId\ttargetId\ttargetValue\n")
		text, wrong := translate(files)
		if wrong != "" {
			t.Errorf("%s: %s", formula, wrong)
			continue
		}
		m, err := odes.Parse("formula.ode", text, odes.ParseOptions{})
		if err != nil {
			t.Errorf("%s: %v", formula, err)
			continue
		}
		s, err := m.Sensitivities(context.Background(), odes.Options{Threads: 1})
		if err != nil {
			t.Errorf("%s: %v", formula, err)
			continue
		}
		const k, a0 = 0.5, 2
		priors := pulsePriors(k)
		got := s.Values[0].Value - priors - 0.5*math.Log(2*math.Pi)
		if math.Abs(got-0.5*want*want) > 1e-9*max(1, want*want) {
			t.Errorf("%s: half of its square is %v, want %v", formula, got, 0.5*want*want)
		}
	}
}

// pulsePriors is what the priors add to the objective of testdata/pulse.
func pulsePriors(k float64) float64 {
	within := 0.5 * (math.Erf(math.Log(100)/math.Sqrt2) - math.Erf(math.Log(0.01)/math.Sqrt2))
	return 0.5*math.Log(k)*math.Log(k) + 0.5*math.Log(2*math.Pi) + math.Log(k) + math.Log(within) + math.Log(15)
}

// TestPriors compares each prior of version 2, which its bounds cut, with numbers of SciPy.
func TestPriors(t *testing.T) {
	for prior, want := range map[string]float64{
		"normal\t4;2": -2.087690526209731, "log-normal\t1;2": -2.019366165624751, "cauchy\t3;5": -2.048083086388583,
		"chisquare\t4": -1.651879584696539, "exponential\t3": -1.72895309496787, "gamma\t3;5": -3.406064906991427,
		"laplace\t3;5": -1.995578334707166, "log-laplace\t1;2": -1.930835777510413,
		"log-uniform\t1.5;5": -0.8787739394223109, "rayleigh\t3": -1.722426206874585,
		"uniform\t1.5;5": -1.252762968495368,
	} {
		files := folder(t, "testdata/pulse", "parameters.tsv", "true\tuniform\t1;4=>true\t"+prior, "parameters.tsv",
			"true\tlog-normal\t0;1=>false\t\t")
		text, wrong := translate(files)
		if wrong != "" {
			t.Errorf("%s: %s", prior, wrong)
			continue
		}
		i, j := strings.Index(text, "objective loss"), strings.Index(text, "\nsens {")
		head := text[:strings.Index(text, "data D")] + strings.Replace(text[i:j], "nll()", "0*final(A)", 1)
		m, err := odes.Parse("prior.ode", head, odes.ParseOptions{})
		if err != nil {
			t.Errorf("%s: %v\n%s", prior, err, head)
			continue
		}
		s, err := m.Sensitivities(context.Background(), odes.Options{Threads: 1})
		if err != nil {
			t.Errorf("%s: %v", prior, err)
			continue
		}
		if got := -(s.Values[0].Value - math.Log(5)); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: the logarithm is %v, want %v", prior, got, want)
		}
	}
}

// TestReference compares problems of version 2 that lie beside this project, where they do, with what other programs
// make of them.
func TestReference(t *testing.T) {
	const at = "../../../../shared/reference/doors/"
	text, err := os.ReadFile(at + "petab_v2.json")
	if err != nil {
		t.Skip("the reference problems are not at hand")
	}
	var list struct {
		Cases []struct {
			ID, Dir    string
			Likelihood float64            `json:"llh"`
			Derivative map[string]float64 `json:"d_llh"`
			Prior      float64            `json:"log_prior"`
		}
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	for _, c := range list.Cases {
		m, err := odes.ParseFile(filepath.Join(at, c.Dir, "problem.yaml"))
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		s, err := m.Sensitivities(context.Background(), tight("1e-9"))
		if c.ID == "0023" && err != nil && strings.Contains(err.Error(), "marginal") {
			continue // an event leads to a state that nothing holds
		}
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		want := -c.Likelihood - c.Prior
		if got := s.Values[0].Value; math.Abs(got-want) > 1e-6*max(1, math.Abs(want)) {
			t.Errorf("%s: %v, want %v", c.ID, got, want)
		}
		if c.Prior != 0 {
			continue // the derivatives there are those of the likelihood alone
		}
		for name, d := range c.Derivative {
			if got := -derivative(s, name); !(math.Abs(got-d) <= 1e-5*max(1, math.Abs(d))) {
				t.Errorf("%s: d/d%s is %v, want %v", c.ID, name, got, d)
			}
		}
	}
}
