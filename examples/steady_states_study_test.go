package examples_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/plot"
	"odes.dev/odes/steady"
)

var steadyDraws = flag.Int("steady", 0, "draw so many sets of params in the study of steady states")

// steadyModels are the models of the study, by size.
var steadyModels = []string{"nfkb", "histone", "mapk", "egfr", "sites", "ribosomes", "kinases"}

// steadyPair is a way to a steady state and one to its derivatives.
type steadyPair struct{ name, state, mode, by string }

var steadyPairs = []steadyPair{
	{"run, tangents integrated", "run", "tangent", "run"},
	{"run, adjoint integrated", "run", "adjoint", "run"},
	{"run, adjoint solved", "run", "adjoint", "solve"},
	{"Newton, tangents integrated", "newton", "tangent", "run"},
	{"Newton, adjoint integrated", "newton", "adjoint", "run"},
	{"Newton, adjoint solved", "newton", "adjoint", "solve"},
	{"auto, tangents solved", "auto", "tangent", "solve"},
	{"auto, adjoint solved", "auto", "adjoint", "solve"}, // what others are compared with
}

// steadyOutcomes are what a pair made of all draws.
type steadyOutcomes struct {
	ok, other             int                  // found a state; another one than the run leads to
	faults                map[steady.Fault]int // why none was returned
	state, derivatives    []float64            // seconds
	values, gradients     []float64            // how far from the last pair, relative
	worstValue, worstGrad float64
}

// steadyStudy computes the objective of a model and its gradient for draws of its params, each pair in turn.
func steadyStudy(t *testing.T, model string, draws, repeats int) (m *odes.Model, params int, out []steadyOutcomes) {
	t.Helper()
	m, err := odes.ParseFile("papers/steady_states/" + model + ".ode")
	if err != nil {
		t.Fatal(err)
	}
	out = make([]steadyOutcomes, len(steadyPairs))
	runners := make([]*odes.Runner, len(steadyPairs))
	symbols, err := m.Symbols(nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, p := range steadyPairs {
		o := odes.Options{Threads: 1}
		for _, s := range []string{
			"sens.trust=off", "solver.rtol=1e-8", "solver.steady=" + p.state, "sens.mode=" + p.mode,
			"sens.steady=" + p.by,
		} {
			key, value, _ := strings.Cut(s, "=")
			o.Settings = append(o.Settings, odes.Setting{Key: key, Value: value})
		}
		if runners[k], err = m.Prepare(o); err != nil {
			t.Fatal(err)
		}
		out[k].faults = map[steady.Fault]int{}
	}
	random := rand.New(rand.NewPCG(uint64(len(model)), 7))
	for range draws {
		var set []odes.Assignment
		params = 0
		for _, s := range symbols {
			if s.Kind != "param" || s.Name == "TR" { // that one is switched
				continue
			}
			a := odes.Assignment{Name: s.Name}
			for _, x := range s.Values {
				a.Values = append(a.Values, x*math.Pow(10, 2*random.Float64()-1))
			}
			params += len(s.Values)
			set = append(set, a)
		}
		last := len(steadyPairs) - 1
		values, gradients := make([]float64, last+1), make([][]float64, last+1)
		for k, r := range runners {
			o := &out[k]
			forward, adjoint := math.Inf(1), math.Inf(1)
			times := repeats
			if steadyPairs[k].mode == "tangent" && steadyPairs[k].by == "run" { // they take long enough
				times = 1
			}
			for range times {
				if err := r.Set(set...); err != nil {
					t.Fatal(err)
				}
				r.Forget() // a state that is known takes no time
				var s *odes.Sensitivities
				if s, err = r.Sensitivities(t.Context()); err != nil {
					break
				}
				forward, adjoint = min(forward, s.Stats.Seconds.Forward), min(adjoint, s.Stats.Seconds.Adjoint)
				values[k], gradients[k] = s.Values[0].Value, slices.Clone(s.Gradient)
			}
			if err != nil {
				var why *steady.Error
				if !errors.As(err, &why) {
					t.Fatalf("%s, %s: %v", model, steadyPairs[k].name, err)
				}
				o.faults[why.Fault]++
				continue
			}
			o.ok++
			o.state, o.derivatives = append(o.state, forward), append(o.derivatives, adjoint)
		}
		for k := range runners {
			o := &out[k]
			if gradients[k] == nil || gradients[last] == nil {
				continue
			}
			if d := math.Abs(values[k] - values[last]); d > 1e-3*max(1, math.Abs(values[last])) {
				o.other++
				continue
			}
			size, far := 0.0, 0.0
			for i, x := range gradients[last] {
				size, far = max(size, math.Abs(x)), max(far, math.Abs(x-gradients[k][i]))
			}
			value := math.Abs(values[k]-values[last]) / max(1, math.Abs(values[last]))
			o.values, o.gradients = append(o.values, value), append(o.gradients, far/size)
			o.worstValue, o.worstGrad = max(o.worstValue, value), max(o.worstGrad, far/size)
		}
	}
	return m, params, out
}

// twoDigits writes x to two digits, or a dash where there is none.
func twoDigits(x float64) string {
	if x != x {
		return "–"
	}
	digits, _ := strconv.ParseFloat(fmt.Sprintf("%.1e", x), 64)
	return strconv.FormatFloat(digits, 'f', -1, 64)
}

// median returns the middle one of some numbers, NaN for none.
func median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}

// TestSteadyStates repeats the study of L. Lakrisenko et al., PLoS Computational Biology 19 (2023) e1010783, with other
// models: two draws for the small ones unless -steady says how many for all. Wherever two pairs find the same state,
// values and gradients agree. With -update, tables and figure of the study are written as well:
//
//	go test ./examples -run TestSteadyStates -steady 50 -update
func TestSteadyStates(t *testing.T) {
	draws, repeats, models := 2, 1, steadyModels[:3]
	if *steadyDraws > 0 {
		draws, repeats, models = *steadyDraws, 3, steadyModels
	}
	const readme = "papers/steady_states/README.md"
	var failures, times, agreement [][]string
	curves := make([]plot.Curve, len(steadyPairs))
	for _, model := range models {
		draws := draws
		if model == "kinases" { // minutes
			draws = min(draws, 3)
		}
		m, params, out := steadyStudy(t, model, draws, repeats)
		for k, o := range out {
			if o.worstGrad > 1e-4 || o.worstValue > 1e-5 {
				t.Errorf("%s, %s: values differ by %.2g, gradients by %.2g", model, steadyPairs[k].name, o.worstValue,
					o.worstGrad)
			}
			if o.ok > 0 {
				curves[k].X = append(curves[k].X, float64(states(m)))
				curves[k].Y = append(curves[k].Y, 1000*median(o.derivatives))
			}
		}
		run, newton, auto := out[0], out[5], out[7]
		if run.faults[steady.Negative] > 0 || auto.faults[steady.Negative] > 0 {
			t.Errorf("%s: a run led to negative values", model)
		}
		sum := func(o steadyOutcomes, kinds ...steady.Fault) string {
			n := 0
			for _, f := range kinds {
				n += o.faults[f]
			}
			return fmt.Sprint(n)
		}
		failures = append(failures, []string{
			"`" + model + "`", fmt.Sprint(states(m)), fmt.Sprint(params), fmt.Sprint(draws),
			fmt.Sprint(draws - auto.ok), fmt.Sprint(draws - run.ok), sum(newton, steady.Diverged, steady.Broken),
			sum(newton, steady.Negative),
			sum(newton, steady.Unstable, steady.Marginal), fmt.Sprint(newton.other),
			fmt.Sprint(newton.ok - newton.other),
		})
		row := []string{"`" + model + "`"}
		ms := func(x float64) string { return twoDigits(1000 * x) }
		for _, o := range []steadyOutcomes{auto, run, newton} {
			row = append(row, ms(median(o.state)))
		}
		for _, k := range []int{0, 1, 6, 7} {
			row = append(row, ms(median(out[k].derivatives)))
		}
		gain := median(out[1].derivatives) / median(out[2].derivatives)
		if *steadyDraws > 0 && !(gain >= 5) {
			t.Errorf("%s: an adjoint that is solved is %.2g times faster than an integrated one", model, gain)
		}
		times = append(times, append(row, twoDigits(gain)))
		row = []string{"`" + model + "`"}
		for k := range steadyPairs[:7] {
			far := fmt.Sprintf("%.0e", out[k].worstGrad)
			if len(out[k].gradients) == 0 {
				far = "–"
			}
			row = append(row, far)
		}
		agreement = append(agreement, row)
		for k, o := range out {
			if len(o.faults) > 0 {
				t.Log(model, steadyPairs[k].name, o.faults)
			}
		}
		t.Log(failures[len(failures)-1], times[len(times)-1], row)
	}
	if *steadyDraws == 0 || !*update {
		return
	}
	tabled(t, readme, "failures", []string{
		"model", "states", "params", "draws", "auto fails", "run fails", "Newton ends nowhere", "negative", "unstable",
		"another state", "the same state",
	}, failures)
	tabled(t, readme, "times", []string{
		"model", "state: auto", "run", "Newton", "tangents integrated", "adjoint integrated", "tangents solved",
		"adjoint solved", "gain of the adjoint",
	}, times)
	heads := []string{"model"}
	for _, p := range steadyPairs[:7] {
		heads = append(heads, p.name)
	}
	tabled(t, readme, "agreement", heads, agreement)
	l := &plot.Lines{
		X: plot.Axis{Label: "states", Log: true}, Y: plot.Axis{Label: "time of derivatives", Unit: "ms", Log: true},
	}
	for _, k := range []int{0, 1, 6, 7} {
		c := curves[k]
		c.Name = strings.SplitN(steadyPairs[k].name, ", ", 2)[1]
		l.Curves = append(l.Curves, c)
	}
	drawn(t, filepath.Join(filepath.Dir(readme), "times.svg"), l)
}

// states returns how many numbers the states of a model are.
func states(m *odes.Model) (n int) {
	symbols, _ := m.Symbols(nil)
	for _, s := range symbols {
		if s.Kind == "state" {
			size := 1
			for _, k := range s.Shape {
				size *= k
			}
			n += size
		}
	}
	return n
}
