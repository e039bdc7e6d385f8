package fit

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// reference is a population with what independent programs say of it (testdata/populations): closed forms of the
// predictions under NumPy and JAX, modes by Newton's method. Those of p_stiff by laplace have 40 digits.
type reference struct {
	ID, Text, Solver string
	Params           map[string]json.RawMessage
	Random           []struct {
		Name    string
		Element *int
	}
	N       int
	Results map[string]struct {
		OFV      float64 `json:"ofv"`
		NLL      float64 `json:"nll"`
		Gradient map[string]json.RawMessage
		Subjects []struct {
			OFV float64                    `json:"ofv"`
			Eta map[string]json.RawMessage `json:"eta"`
		}
	}
}

// numbers reads a number, or arrays of them, row by row.
func numbers(t *testing.T, raw json.RawMessage) (list []float64) {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	var add func(v any)
	add = func(v any) {
		switch v := v.(type) {
		case float64:
			list = append(list, v)
		case []any:
			for _, x := range v {
				add(x)
			}
		}
	}
	add(v)
	return list
}

func populationModel(t *testing.T, text string) *odes.Model {
	t.Helper()
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{Files: os.DirFS("testdata/populations")})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func references(t *testing.T) []reference {
	t.Helper()
	data, err := os.ReadFile("testdata/populations/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []reference
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	if len(list) < 13 {
		t.Fatalf("%d cases", len(list))
	}
	return list
}

// TestPopulations: integrals over random effects, the contributions and modes of subjects, and gradients are those of
// independent programs.
func TestPopulations(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	for _, c := range references(t) {
		for method, want := range c.Results {
			text := c.Text + "\n" + strings.Replace(c.Solver, "METHOD", method, 1) + "\n"
			m := populationModel(t, text)
			var opts odes.Options
			for name, raw := range c.Params {
				opts.Set = append(opts.Set, odes.Assignment{Name: name, Values: numbers(t, raw)})
				if want.Gradient != nil {
					opts.Wrt = append(opts.Wrt, name)
				}
			}
			slices.Sort(opts.Wrt)
			if want.Gradient == nil {
				opts.Wrt = []string{}
			}
			p, err := m.Population(t.Context(), opts, want.Gradient != nil)
			if err != nil {
				t.Errorf("%s, %s: %v", c.ID, method, err)
				continue
			}
			if math.Abs(p.OFV-want.OFV) > 1e-7*math.Abs(want.NLL) || p.Measurements != c.N {
				t.Errorf("%s, %s: OFV %.9g, not %.9g; %d measurements, not %d", c.ID, method, p.OFV, want.OFV,
					p.Measurements, c.N)
			}
			for i, s := range want.Subjects {
				if got := p.Subjects[i].OFV; math.Abs(got-s.OFV) > 1e-6*max(math.Abs(s.OFV), 1) {
					t.Errorf("%s, %s: subject %d has %.9g, not %.9g", c.ID, method, i+1, got, s.OFV)
				}
				for k, e := range c.Random {
					if s.Eta == nil || p.Subjects[i].Mode == nil {
						continue
					}
					eta := numbers(t, s.Eta[e.Name])
					at := 0
					if e.Element != nil {
						at = *e.Element
					}
					if got := p.Subjects[i].Mode[k]; math.Abs(got-eta[at]) > 1e-6 {
						t.Errorf("%s, %s: %s of subject %d is %.9g, not %.9g", c.ID, method, p.Effects[k], i+1, got,
							eta[at])
					}
				}
			}
			column, largest, worst := 0, 0.0, 0.0
			for _, name := range opts.Wrt {
				for _, g := range numbers(t, want.Gradient[name]) {
					sum := 0.0
					for i := range p.Subjects {
						sum += 2 * p.Subjects[i].Gradient[column]
					}
					worst, largest = max(worst, math.Abs(sum-g)), max(largest, math.Abs(g))
					column++
				}
			}
			if limit := 1e-6*largest + 1e-8*math.Abs(want.NLL)/10; worst > limit {
				t.Errorf("%s, %s: a derivative is off by %.3g, of %.3g", c.ID, method, worst, largest)
			}
		}
	}
}

// wide is a population whose random effect has a wide distribution.
const wide = `
time t from 0 to 6
param k = 0.5 in [0, 5], V = 8 in [0, 100], w = 0.6 in [0.01, 5], sp = 0.3 in [0.01, 5]
random e ~ normal(0, w)
state A = 0
A' = -k*exp(e)*A
data D = csv("p_wide.csv", time = "TIME")
doses D { A }
observe y = A/V ~ normal(sp*y) from D.DV
experiment subject from D by D.ID { }
objective L = nll()
`

// TestNodesGradient: gradients of quadrature and of importance sampling are slopes of their values.
func TestNodesGradient(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	for _, method := range []string{"agq(n = 4)", "imp(n = 20, seed = 3)", "laplace"} {
		m := populationModel(t, wide+"solver { marginal = "+method+"  rtol = 1e-11  method = dop853 }\n")
		value := func(name string, at float64, gradient bool) (float64, float64) {
			p, err := m.Population(t.Context(), odes.Options{
				Wrt: []string{name}, Set: []odes.Assignment{{Name: name, Values: []float64{at}}},
			}, gradient)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, s := range p.Subjects {
				if gradient {
					sum += s.Gradient[0]
				}
			}
			return p.Value, sum
		}
		for name, at := range map[string]float64{"k": 0.5, "w": 0.6, "sp": 0.3} {
			h := 1e-3 * at
			_, slope := value(name, at, true)
			var side [4]float64
			for i, by := range []float64{-2, -1, 1, 2} {
				side[i], _ = value(name, at+by*h, false)
			}
			want := (side[0] - 8*side[1] + 8*side[2] - side[3]) / (12 * h)
			if math.Abs(slope-want) > 1e-6*max(math.Abs(want), 1) {
				t.Errorf("%s: the derivative by %s is %.9g, not %.9g", method, name, slope, want)
			}
		}
	}
}

// TestPopulationBits: the integral is a function of params alone, to the bit: whatever was computed before, for any
// number of threads, and in any order of subjects.
func TestPopulationBits(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	text := wide + "solver { marginal = focei }\n"
	table, err := os.ReadFile("testdata/populations/p_wide.csv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(table)), "\n")
	head, rows := lines[0], lines[1:]
	id := slices.Index(strings.Split(head, ","), "ID")
	slices.SortStableFunc(rows, func(a, b string) int { // the last subject first
		return strings.Compare(strings.Split(b, ",")[id], strings.Split(a, ",")[id])
	})
	turned := odes.ParseOptions{Files: fstest.MapFS{
		"p_wide.csv": {Data: []byte(head + "\n" + strings.Join(rows, "\n") + "\n")},
	}}
	m := populationModel(t, text)
	back, err := odes.Parse("m.ode", text, turned)
	if err != nil {
		t.Fatal(err)
	}
	of := func(m *odes.Model, threads int, history ...float64) []float64 {
		r, err := m.Prepare(odes.Options{Threads: threads, Wrt: []string{"k", "w"}}.GradientOnly())
		if err != nil {
			t.Fatal(err)
		}
		var out []float64
		for _, k := range append(history, 0.5) {
			if err := r.Set(odes.Assignment{Name: "k", Values: []float64{k}}); err != nil {
				t.Fatal(err)
			}
			s, err := r.Sensitivities(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			out = append([]float64{s.Values[0].Value}, s.Gradient...)
		}
		return out
	}
	want := of(m, 1)
	for name, got := range map[string][]float64{
		"after others": of(m, 1, 0.9, 0.2), "two threads": of(m, 2), "another order": of(back, 1),
		"where it was": of(m, 1, 0.5),
	} {
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, not %v", name, got, want)
		}
	}
}

// TestPopulationRefusals: what a model with random effects cannot do says so.
func TestPopulationRefusals(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	for text, want := range map[string]string{
		strings.Replace(wide, "normal(0, w)", "lognormal(0, w)", 1):             "no distribution of random effects",
		strings.Replace(wide, "normal(0, w)", "normal(1, w)", 1):                "the mean of random effects is 0",
		strings.Replace(wide, "normal(0, w)", "mvnormal(w)", 1):                 "random e[2] ~ mvnormal(Omega)",
		strings.Replace(wide, "nll()", "nll(D)", 1):                             "is integrated at once",
		strings.Replace(wide, "D.ID { }", "D.ID { e = 1 }", 1):                  "is a random effect",
		strings.Replace(wide, "experiment subject from D by D.ID { }", "", 1):   "a number of every experiment",
		strings.Replace(wide, "normal(0, w)", "normal(0, A)", 1):                "\"A\"",
		strings.Replace(wide, "random e ~", "random e[2] ~", 1):                 "shape",
		wide + "solver { marginal = saem }":                                     "marginal is laplace, focei",
		wide + "solver { marginal = agq(n = 0) }":                               "whole number n from 1 to 100",
		wide + "solver { marginal = laplace(3) }":                               "marginal is laplace, focei",
		strings.Replace(wide, "normal(sp*y)", "student(3, sp)", 1) + focei:      "write solver { marginal = laplace }",
		strings.Replace(wide, "normal(sp*y)", "normal(sp, below=9)", 1) + focei: "write solver { marginal = laplace }",
	} {
		m, err := odes.Parse("m.ode", text, odes.ParseOptions{Files: os.DirFS("testdata/populations")})
		if err == nil {
			_, err = m.Population(t.Context(), odes.Options{}, true)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nsays %v, not %s", text, err, want)
		}
	}
	m := populationModel(t, wide)
	if _, err := m.Sensitivities(t.Context(), odes.Options{Wrt: []string{"e"}}); err == nil ||
		!strings.Contains(err.Error(), "is a random effect") {
		t.Error(err)
	}
	_, _, err := Likelihood(t.Context(), m, odes.Options{})
	if err == nil || !strings.Contains(err.Error(), "integral") {
		t.Error(err)
	}
	m = populationModel(t, strings.Replace(wide, "w = 0.6 in [0.01, 5]", "w = 0", 1))
	s, err := m.Sensitivities(t.Context(), odes.Options{})
	if err != nil || s.Status == "ok" ||
		!strings.Contains(strings.Join(s.Values[0].Warnings, " "), "standard deviation") {
		t.Errorf("%v: %+v", err, s)
	}
}

const focei = "solver { marginal = focei }\n"

// TestRandomIsFree: random and by are names elsewhere.
func TestRandomIsFree(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	if _, err := odes.Parse("m.ode", `time t from 0 to 1
param random = 1
state by = 1
by' = -random*by
objective J = final(by)
`, odes.ParseOptions{}); err != nil {
		t.Error(err)
	}
}

// TestPopulationFit: theophylline, from the start that nlmixr2 has. The minimum and the standard errors are published
// ones; the minimum is a little lower than 116.8036, which was not at a minimum.
func TestPopulationFit(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	list := references(t)
	at := slices.IndexFunc(list, func(c reference) bool { return c.ID == "theo_sd_add" })
	m := populationModel(t, list[at].Text+focei)
	var opts Options
	for name, x := range map[string]float64{
		"tka": 0.45, "tcl": 1, "tv": 3.45, "sd": 0.7, "w_ka": 0.6, "w_cl": 0.3, "w_v": 0.1,
	} {
		opts.Set = append(opts.Set, odes.Assignment{Name: name, Values: []float64{x}})
	}
	r, err := Run(t.Context(), m, opts)
	if err != nil {
		t.Fatal(err)
	}
	p := r.Population
	if r.Status != "ok" || p == nil || math.Abs(p.OFV-116.80341) > 2e-5 || r.Rows != 132 {
		t.Fatalf("%s: %+v", r.Status, p)
	}
	for i, want := range []struct{ value, stderr float64 }{
		{0.46388, 0.1918},
		{1.01216, 0.0835},
		{3.45975, 0.0466},
		{0.69441, 0.0495},
		{0.63432, 0},
		{0.26286, 0},
		{0.13842, 0},
	} {
		e := &r.Estimates[i]
		if math.Abs(e.Value-want.value) > 1e-5 || want.stderr > 0 && math.Abs(e.StdErr-want.stderr) > 1e-4 {
			t.Errorf("%s is %g ± %g, not %g ± %g", e.Name, e.Value, e.StdErr, want.value, want.stderr)
		}
		if !(p.S[i] > 0) || !(p.Sandwich[i] > 0) || p.R[i] != e.StdErr {
			t.Errorf("%s: standard errors %g, %g, %g", e.Name, p.R[i], p.S[i], p.Sandwich[i])
		}
	}
	if q := p.Quadrature; q == nil || math.Abs(q.OFV-118.1333) > 1e-3 {
		t.Errorf("%+v", q)
	}
	for k, want := range []float64{0.018, 0.039, 0.103} {
		if math.Abs(p.Shrinkage[k]-want) > 1e-3 {
			t.Errorf("shrinkage %g, not %g", p.Shrinkage[k], want)
		}
	}
}

// TestBlock: a fit moves a matrix of covariances by its Cholesky factor. The numbers are those of the same integral in
// closed form, minimised by BFGS of SciPy, with standard errors by a Hessian of differences.
func TestBlock(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	m := populationModel(t, blockText)
	r, err := Run(t.Context(), m, Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != "ok" || math.Abs(r.NLL-blockNLL) > 1e-6 {
		t.Errorf("%s: nll() is %.8f, not %.8f", r.Status, r.NLL, blockNLL)
	}
	for i, want := range blockEstimates {
		e := &r.Estimates[i]
		if math.Abs(e.Value-want[0]) > 1e-6*want[1] || math.Abs(e.StdErr/want[1]-1) > 1e-3 {
			t.Errorf("%s is %g ± %g, not %g ± %g", e.Text(), e.Value, e.StdErr, want[0], want[1])
		}
		if p := r.Population; p.R[i] != e.StdErr || !(p.S[i] > 0) || !(p.Sandwich[i] > 0) || !(e.Lower < e.Upper) {
			t.Errorf("%s: %g, %g, %g, %g to %g", e.Text(), p.R[i], p.S[i], p.Sandwich[i], e.Lower, e.Upper)
		}
	}
	c := &r.Population.Covariances[0]
	for i, pair := range [][2]float64{{c.SD[0], c.SDErr[0]}, {c.SD[1], c.SDErr[1]}, {c.R[2], c.RErr[2]}} {
		want := blockSpread[i]
		if math.Abs(pair[0]-want[0]) > 1e-6*want[1] || math.Abs(pair[1]/want[1]-1) > 1e-3 {
			t.Errorf("%v, not %v", pair, want)
		}
	}
	set := r.Assignments()
	w := set[len(set)-1].Values
	if len(w) != 4 || w[1] != w[2] || w[1] != r.Estimates[4].Value || w[3] != r.Estimates[5].Value {
		t.Errorf("%v", set)
	}
	list, err := m.Population(t.Context(), odes.Options{Set: set}, false)
	if err != nil || math.Abs(list.Value-r.NLL) > 1e-9 {
		t.Errorf("%v: %g with the estimates, not %g", err, list.Value, r.NLL)
	}
}

// TestBlockStarts: zeros of the text stay zeros, and a matrix that is none of covariances is refused.
func TestBlockStarts(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	for text, want := range map[string]string{
		"[[0.1, 0.01], [0.02, 0.1]]": "it is not symmetric: [2,1] is 0.02, and [1,2] is 0.01",
		"[[0.1, 0.2], [0.2, 0.1]]":   "it is not positive definite",
		"[[-0.1, 0], [0, 0.1]]":      "it is not positive definite",
		"[[0.1, 0], [0, 0]]":         "it is not positive definite",
		"[[0.1, 0], [0, 0.1]]":       "",
	} {
		text = strings.Replace(blockText, "[[0.1, 0.01], [0.01, 0.1]]", text, 1)
		p, err := newProblem(t.Context(), populationModel(t, text), Options{})
		switch {
		case want != "":
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, not %s", text, err, want)
			}
		case err != nil:
			t.Error(err)
		default:
			x := slices.Clone(p.start)
			for i := range x {
				x[i] += 0.3
			}
			if v := p.blocks[0].Matrix(p.blocks[0].part(x)); len(x) != 5 || v[1] != 0 || v[2] != 0 || v[0] == 0.1 {
				t.Errorf("%v: %v", x, v)
			}
		}
	}
}

const blockText = `model Block
time t from 0 to 12
param CL = 1.8 in [0.1, 20], V = 11 in [1, 100], sp = 0.15 in [0.01, 1]
param Omega[2,2] = [[0.1, 0.01], [0.01, 0.1]]
random e[2] ~ mvnormal(Omega)
let k = CL*exp(e[1])/(V*exp(e[2]))
state A = 0
let c = A/(V*exp(e[2]))
A' = -k*A
data D = csv("block2.csv", time = "TIME")
doses D { A }
observe y = c ~ normal(sp*y) from D.DV
experiment subject from D by D.ID { }
solver { marginal = focei }
objective L = nll()
`

var (
	blockNLL       = 51.61092387238308
	blockEstimates = [][2]float64{
		{2.1835801649517173, 0.138935305625006},
		{11.396110381679096, 0.4896230648899174},
		{0.09094500612795103, 0.011448447301179486},
		{0.06238658067135166, 0.023082357560162328},
		{-0.0009040972704608309, 0.01121793188577641},
		{0.023714504504307236, 0.010436179644277456},
	}
	blockSpread = [][2]float64{
		{0.2497730583376671, 0.04620665998523626},
		{0.15399514441795636, 0.0338847685221579},
		{-0.02350512359127809, 0.29232170206316826},
	}
)

// TestCrossProducts: the estimate of second derivatives is the sum of products of the gradients of subjects.
func TestCrossProducts(t *testing.T) {
	m := populationModel(t, wide+"solver { marginal = focei }\n")
	opts := odes.Options{Wrt: []string{"k", "w"}}.GradientOnly()
	r, err := m.Prepare(opts.SecondOrder())
	if err != nil {
		t.Fatal(err)
	}
	r.CrossProducts(true)
	s, err := r.Sensitivities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Population(t.Context(), opts, true)
	if err != nil {
		t.Fatal(err)
	}
	estimate := slices.Clone(s.Hessian)
	r.CrossProducts(false) // where it was: integrals stay, and second derivatives are those of a new run
	again, err := r.Sensitivities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := m.Sensitivities(t.Context(), opts.SecondOrder())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.Hessian, other.Hessian) || !slices.Equal(again.Gradient, other.Gradient) {
		t.Errorf("second derivatives are %v, and %v by a new run", again.Hessian, other.Hessian)
	}
	for i := range 2 {
		for j := range 2 {
			want := 0.0
			for _, q := range p.Subjects {
				want += q.Gradient[i] * q.Gradient[j]
			}
			if got := estimate[2*i+j]; math.Abs(got-want) > 1e-9*math.Abs(want) {
				t.Errorf("[%d, %d] is %g, not %g", i, j, got, want)
			}
		}
	}
}

// TestDependentEffects: where one effect follows from the other, the search of a full matrix does not end, and says
// why.
func TestDependentEffects(t *testing.T) {
	ids, times, values := "", "", ""
	for i, e := range []float64{-0.6, -0.3, 0, 0.2, 0.5, 0.4} {
		for k, at := range []float64{0.5, 2, 5, 9} {
			noise := 1 + 0.03*math.Cos(float64(7*i+3*k))
			ids += fmt.Sprintf("%d, ", i+1)
			times += fmt.Sprintf("%g, ", at)
			values += fmt.Sprintf("%.6g, ", 5*math.Exp(-e-0.1*math.Exp(e)*at)*noise)
		}
	}
	m := populationModel(t, `time t from 0 to 10
param k = 0.1 in [0.01, 1], V = 20 in [1, 200], s = 0.05 in [0.001, 5]
param Omega[2,2] = [[0.1, 0.02], [0.02, 0.1]]
random e[2] ~ mvnormal(Omega)
data D { ID = [`+ids+`]  time = [`+times+`]  y = [`+values+`] }
state A = 100
A' = -k*exp(e[1])*A
observe C = A/(V*exp(e[2])) ~ normal(s*C) from D.y
experiment subject from D by D.ID
solver { marginal = focei }
objective L = nll()
`)
	r, err := Run(t.Context(), m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(r.Warnings, func(d diag.Diagnostic) bool {
		return strings.Contains(d.Message, "the covariance Omega[2,1] goes to where one random effect follows")
	}) {
		t.Errorf("%s: %v", r.Status, r.Warnings)
	}
}
