package examples_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

var warmStarts = flag.Bool("warm", false, "measure warm starts with the larger models as well")

// warmCase is a fit to data of experiments that begin or end at rest, which the model at its values makes, with a few
// per cent of noise.
type warmCase struct {
	name, model string
	dose        string // a param, which differs from one experiment to the next
	doses       []float64
	seen        []string // what is observed
	times       string   // of the data
	over        []string // what is searched for
	large       bool
	change      []string // what of the file is replaced, and by what
}

var warmCases = []warmCase{
	{
		name: "`receptor`: 6 doses after one equilibration", model: "receptor/receptor.ode", dose: "L",
		doses: []float64{0.2, 0.5, 1.2, 2.5, 5, 10}, seen: []string{"A", "P"}, times: "[0.5, 1, 2, inf]",
		over: []string{"kon", "koff", "ki", "kr", "kb", "ka", "kh", "ks"},
	},
	{
		name: "`mapk`: 6 doses, measured at rest", model: "papers/steady_states/mapk.ode", dose: "E1t",
		doses: []float64{3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3}, seen: []string{"KKKs", "KKpp", "Kpp"}, times: "[inf]",
		over: []string{"k1", "k2", "k3", "k4", "k7", "k8"}, large: true,
	},
	{
		name: "`egfr`: 5 doses, measured at rest", model: "papers/steady_states/egfr.ode", dose: "EGFt",
		doses: []float64{5, 20, 68, 200, 680}, seen: []string{"RP", "ShP", "GS", "PLCP"}, times: "[inf]",
		over: []string{"f2", "V4", "V8", "V16", "f9", "b21"}, large: true,
	},
	{
		name: "`kinases`: 5 signals, measured at rest", model: "papers/steady_states/kinases.ode", dose: "signal",
		doses: []float64{0.1, 0.3, 0.7, 1.5, 4}, change: []string{
			"param up[n]  = 1.5, down[n] = 0.5", "param on = 1.5\nparam up[n] = on, down[n] = 0.5",
		},
		seen: []string{"x[1]", "x[2]", "x[5]", "x[200]"}, times: "[inf]", over: []string{"on"}, large: true,
	},
}

// intervals are those of the fit: where that is measured, profiles are followed of the small ones as well.
func (c *warmCase) intervals() string {
	if c.large || !*warmStarts {
		return "none"
	}
	return "profile"
}

// text returns the model with its data.
func (c *warmCase) text(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(c.model)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	skip := false
	for line := range strings.Lines(string(raw)) { // objectives and data make room for others
		skip = skip && !strings.HasPrefix(line, "}") || strings.HasPrefix(line, "data ")
		if !skip && !strings.HasPrefix(line, "}") && !strings.HasPrefix(line, "objective ") &&
			!strings.HasPrefix(line, "observe ") {
			lines = append(lines, line)
		}
		skip = skip && !strings.HasPrefix(line, "}")
	}
	base := strings.Join(lines, "")
	if c.change != nil {
		base = strings.Replace(base, c.change[0], c.change[1], 1)
	}
	times := strings.Split(strings.Trim(c.times, "[]"), ", ")
	asked := base
	for k, what := range c.seen {
		asked += fmt.Sprintf("output q%d = %s\nobjective o%d = steady(%s)\n", k, what, k, what)
	}
	m, err := odes.Parse("truth.ode", asked, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	at := []float64{}
	for _, text := range times {
		if x, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(x, 0) {
			at = append(at, x)
		}
	}
	columns := make([]string, len(c.seen))
	ids, when, experiments := "", "", ""
	for e, dose := range c.doses {
		s, err := m.Solve(t.Context(), odes.Options{
			Set: []odes.Assignment{{Name: c.dose, Values: []float64{dose}}}, Times: at,
			Settings: []odes.Setting{{Key: "sens.trust", Value: "off"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for k := range c.seen {
			for i := range times {
				value := s.Values[k].Value
				if i < len(at) {
					value = s.Outputs[k].Values[i]
				}
				columns[k] += fmt.Sprintf("%.6g, ", value*(1+0.02*math.Sin(float64(7*e+3*(k*len(times)+i)+1))))
			}
		}
		ids += strings.Repeat(fmt.Sprintf("%d, ", e+1), len(times))
		when += strings.Join(times, ", ") + ", "
		experiments += fmt.Sprintf("experiment e%d { %s = %g  use D where id == %d }\n", e+1, c.dose, dose, e+1)
	}
	base += fmt.Sprintf("data D {\n  time = [%s]\n  id = [%s]\n", strings.TrimSuffix(when, ", "),
		strings.TrimSuffix(ids, ", "))
	for k := range c.seen {
		base += fmt.Sprintf("  y%d = [%s]\n", k, strings.TrimSuffix(columns[k], ", "))
	}
	base += "}\n"
	for k, what := range c.seen {
		base += fmt.Sprintf("observe m%d = %s ~ lognormal(0.02) from D.y%d\n", k, what, k)
	}
	return base + "objective misfit = nll()\n" + experiments
}

// TestWarmStarts fits models whose experiments begin or end at rest, with warm starts and without, and sweeps one. The
// estimates are the same. With -warm it measures larger ones, too, and with -update it writes the table in
// docs/steady.md:
//
//	go test ./examples -run TestWarmStarts -warm -update
func TestWarmStarts(t *testing.T) {
	var rows [][]string
	for _, c := range warmCases {
		if c.large && !*warmStarts {
			continue
		}
		text := c.text(t)
		m, err := odes.Parse("warm.ode", text, odes.ParseOptions{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		var results [2]*fit.Result
		var seconds [2]float64
		repeats := 1
		if *warmStarts {
			repeats = 3
		}
		for range repeats {
			for k, start := range []string{"own", "auto"} {
				opts := fit.Options{Workers: 1, Starts: 1}
				opts.Settings = []odes.Setting{
					{Key: "fit.over", Value: "[" + strings.Join(c.over, ", ") + "]"},
					{Key: "fit.log", Value: "all"},
					{Key: "fit.intervals", Value: c.intervals()},
					{Key: "solver.steady_start", Value: start},
				}
				for i, name := range c.over { // beside the truth
					opts.Set = append(opts.Set, odes.Assignment{Name: name, Values: []float64{c.from(t, m, name, i)}})
				}
				before := cpuSeconds()
				r, err := fit.Run(t.Context(), m, opts)
				if err != nil {
					t.Fatal(c.name, start, err)
				}
				spent := cpuSeconds() - before
				if results[k] == nil || spent < seconds[k] {
					results[k], seconds[k] = r, spent
				}
			}
		}
		own, warm := results[0], results[1]
		w := warm.Stats.Steady
		t.Log(c.name, own.Stats.Evaluations, own.Stats.Steady, seconds[0], warm.Stats.Evaluations, w, seconds[1])
		if w.Warm == 0 || w.Confirmed == 0 || w.Repeated > 0 || w.Steps >= own.Stats.Steady.Steps {
			t.Errorf("%s: %+v, and without warm starts %+v", c.name, w, own.Stats.Steady)
		}
		for i, x := range own.Estimates {
			if y := warm.Estimates[i]; math.Abs(x.Value-y.Value) > 1e-6*math.Abs(x.Value) {
				t.Errorf("%s: %s = %v, and %v with warm starts", c.name, x.Text(), x.Value, y.Value)
			}
		}
		row := []string{c.name}
		for k, r := range results {
			s := r.Stats.Steady
			row = append(row, fmt.Sprint(r.Stats.Evaluations), fmt.Sprint(s.Steps), fmt.Sprint(s.Newton),
				twoDigits(seconds[k]))
		}
		rows = append(rows, append(row, twoDigits(seconds[0]/seconds[1])))
	}
	if !*warmStarts || !*update {
		return
	}
	tabled(t, "../docs/steady.md", "warm", []string{
		"fit", "own: evaluations", "steps of runs", "of Newton's method", "s", "warm: evaluations", "steps of runs",
		"of Newton's method", "s", "gain",
	}, rows)
}

// warmSweeps are sweeps of a param, from lo to hi, over the steady states of a model.
var warmSweeps = []struct {
	model, param string
	lo, hi       float64
	large        bool
}{
	{"histone", "deacetylation", 0.01, 1, false},
	{"mapk", "E1t", 3e-6, 1e-3, true},
	{"egfr", "EGFt", 1, 680, true},
	{"ribosomes", "enter", 0.1, 0.9, true},
}

// TestWarmSweeps sweeps models of the study, in chains of 16 members of 160. Warm searches come to where the runs lead
// to. With -warm and -update it writes the second table in docs/steady.md.
func TestWarmSweeps(t *testing.T) {
	const members, chain = 160, 16
	var rows [][]string
	for _, c := range warmSweeps {
		if c.large && !*warmStarts {
			continue
		}
		m, err := odes.ParseFile("papers/steady_states/" + c.model + ".ode")
		if err != nil {
			t.Fatal(err)
		}
		row := []string{"`" + c.model + "` along " + c.param}
		var values [2][]float64
		var seconds [2]float64
		for k, start := range []string{"own", "warm"} {
			r, err := m.Prepare(odes.Options{
				Wrt: []string{}, Settings: []odes.Setting{
					{Key: "solver.steady_start", Value: start}, {Key: "sens.trust", Value: "off"},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			before := cpuSeconds()
			for i := range members {
				if i%chain == 0 {
					r.Chain()
				}
				x := c.lo * math.Pow(c.hi/c.lo, float64(i)/(members-1))
				if err := r.Set(odes.Assignment{Name: c.param, Values: []float64{x}}); err != nil {
					t.Fatal(err)
				}
				to := make([]float64, 1)
				if _, err := r.Values(t.Context(), to); err != nil {
					t.Fatal(err)
				}
				values[k] = append(values[k], to[0])
			}
			seconds[k] = cpuSeconds() - before
			w := r.SteadyWork()
			if want := members - members/chain; k == 1 && w.Warm < want*9/10 || k == 0 && w.Warm > 0 {
				t.Errorf("%s: %d warm searches of %d", c.model, w.Warm, want)
			}
			row = append(row, fmt.Sprint(w.Steps), fmt.Sprint(w.Newton), twoDigits(seconds[k]))
		}
		for i, x := range values[0] {
			if y := values[1][i]; math.Abs(x-y) > 1e-9*math.Abs(x) {
				t.Errorf("%s, member %d: %v, and %v by a warm search", c.model, i, x, y)
			}
		}
		rows = append(rows, append(row, twoDigits(seconds[0]/seconds[1])))
	}
	t.Log(rows)
	if !*warmStarts || !*update {
		return
	}
	tabled(t, "../docs/steady.md", "sweeps", []string{
		"sweep", "own: steps of runs", "of Newton's method", "s", "warm: steps of runs", "of Newton's method", "s",
		"gain",
	}, rows)
}

// from returns where the search begins: some tens of per cent beside the value in the model.
func (c *warmCase) from(t *testing.T, m *odes.Model, name string, i int) float64 {
	t.Helper()
	_, values, err := m.ValuesOf(odes.Options{Wrt: []string{name}})
	if err != nil {
		t.Fatal(err)
	}
	return values[0] * math.Exp(0.4*math.Sin(float64(5*i+2)))
}
