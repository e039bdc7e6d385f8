package fit_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/base/elem"
)

// decays are two experiments, or one run where they are left out.
const decays = `
model D
import dense, softplus from "std/nn.ode"
time t from 0 to 4
param k = 0.3, sd = 0.2
param W[4, 1] = 0.4*randn(4, 1) ~ normal(0, 2)
param b[4] = 0.1, V[1, 4] = 0.4*randn(1, 4, seed = 2)
param x0 = 2
state x[1] = [x0]
x' = -k*x + 0.2*dense(V, [0], softplus(dense(W, b, x)))
data D { time = [0.5, 1, 1.5, 2, 2.5, 3, 4]  x = [1.7, 1.5, 1.1, 0.9, 0.8, 0.65, 0.3] }
observe seen = x[1] ~ normal(sd) from D.x
objective L = 2*nll() - log_prior()
fit { over = [k, W, b, V]  log = [k]  algorithm = adam  epochs = 12  max_iter = 5  intervals = none }
`

const twice = decays + `
experiment one { use D  sd = 0.25 }
experiment two { use D  x0 = 2.2 }
experiment three { use D }
`

func trained(t *testing.T, text string, o fit.Options, settings ...string) *fit.Result {
	t.Helper()
	r, err := fit.Run(t.Context(), parse(t, text), with(o, settings))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func with(o fit.Options, settings []string) fit.Options {
	for _, s := range settings {
		key, value, _ := strings.Cut(s, "=")
		o.Settings = append(o.Settings, odes.Setting{Key: "fit." + key, Value: value})
	}
	return o
}

// TestBatches: batches that hold all data, each as often as it counts, have the likelihood and the gradient of the
// objective; those of an epoch add up to them.
//
//odes:goroutines
func TestBatches(t *testing.T) {
	for name, text := range map[string]string{"rows": decays, "experiments": twice, "rows of experiments": twice} {
		m := parse(t, text)
		names := []string{"k", "W", "b", "V"}
		opts := odes.Options{Wrt: names, Of: []string{"L"}}.GradientOnly()
		s, err := m.Sensitivities(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		b, err := m.Batches("L", odes.Options{Wrt: names, Threads: 3}.GradientOnly())
		if err != nil || b.PriorWeight != 1 {
			t.Fatal(b, err)
		}
		priors := 0.0
		byPriors := make([]float64, s.Columns)
		_, values, err := m.ValuesOf(opts)
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i <= 4; i++ { // of W
			v := values[i]
			priors += v*v/8 + elem.Log(2) + elem.Log(2*math.Pi)/2
			byPriors[i] = v / 4
		}
		sum, gradient := 0.0, make([]float64, s.Columns)
		for part := range 3 {
			counts := make([][]float64, len(b.Groups))
			for g := range b.Groups {
				if name == "experiments" && g != part {
					continue
				}
				counts[g] = make([]float64, len(b.Groups[g].T))
				for k := range counts[g] {
					if name == "experiments" || k%3 == part {
						counts[g][k] = b.Groups[g].Weight
					}
				}
			}
			v, err := b.Run(t.Context(), nil, counts, gradient)
			if err != nil {
				t.Fatal(err)
			}
			sum += v
		}
		if want := s.Values[0].Value; math.Abs(sum+priors-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s: batches add up to %v, and the objective is %v", name, sum+priors, want)
		}
		for i, d := range gradient {
			if want := s.Gradient[i]; math.Abs(d+byPriors[i]-want) > 1e-7*(1+math.Abs(want)) {
				t.Errorf("%s: derivative %d of batches is %v, and of the objective %v", name, i, d+byPriors[i], want)
			}
		}
	}
}

// TestTraining: a training depends on the seed alone, comes to a better point than where it begins, and goes on by the
// usual search.
//
//odes:goroutines
func TestTraining(t *testing.T) {
	for _, text := range []string{decays, twice} {
		for _, batch := range []string{"", "batch=2"} {
			var settings []string
			if batch != "" {
				settings = append(settings, batch)
			}
			one := trained(t, text, fit.Options{Workers: 1, Starts: 2}, settings...)
			if one.Algorithm != "adam, least_squares" || one.Starts[0].Iterations <= 12 {
				t.Errorf("%s: %d iterations of %s", batch, one.Starts[0].Iterations, one.Algorithm)
			}
			if other := trained(t, text, fit.Options{Workers: 2, Starts: 2}, settings...); !same(one, other) {
				t.Errorf("%s: other values with two workers", batch)
			}
			other := trained(t, text, fit.Options{Workers: 1, Starts: 2}, append(settings, "seed=2")...)
			zero := slices.IndexFunc(other.Starts, func(s fit.Start) bool { return s.Number == 0 })
			first := slices.IndexFunc(one.Starts, func(s fit.Start) bool { return s.Number == 0 })
			if equal := slices.Equal(one.Starts[first].To, other.Starts[zero].To); equal != (batch == "") {
				t.Errorf("%q: another seed leads to the same point: %v", batch, equal)
			}
		}
	}
}

func same(a, b *fit.Result) bool {
	return slices.EqualFunc(a.Starts, b.Starts, func(a, b fit.Start) bool {
		return a.Number == b.Number && slices.Equal(a.To, b.To) && a.Value == b.Value && a.Evaluations == b.Evaluations
	})
}

// TestTrainingGoesOn: a training that is stopped has the best point so far, and goes on to the bits that it would have
// had.
func TestTrainingGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	for _, batch := range []string{"batch=2", "batch=100"} {
		whole := trained(t, twice, fit.Options{Workers: 1}, batch)
		for after := 3; after < 40; after += 9 {
			ctx, stop := context.WithCancel(t.Context())
			var kept []fit.Training
			runs := 0
			o := with(fit.Options{Workers: 1}, []string{batch})
			o.Training = func(k fit.Training) { kept = append(kept, k) }
			o.Told = func(fit.Progress) {
				if runs++; runs == 2*after {
					stop()
				}
			}
			r, err := fit.Run(ctx, parse(t, twice), o)
			stop()
			if err != nil {
				t.Fatal(err)
			}
			if len(kept) == 0 { // it was past that
				continue
			}
			if r.Status != "partial" || r.Starts[0].Status != "stopped" || r.Starts[0].To == nil {
				t.Errorf("stopped: %s, %+v", r.Status, r.Starts[0])
			}
			text := ""
			for _, k := range kept {
				text += fit.WriteTraining(k)
			}
			text += fit.WriteStart(fit.Start{Number: 7, Status: "converged", From: []float64{1}})
			list, err := fit.ReadTrainings(text)
			if err != nil || len(list) != len(kept) || len(starts(t, text)) != 1 {
				t.Fatal(err, len(list))
			}
			if again := trained(t, twice, fit.Options{Workers: 1, Trained: list}, batch); !same(again, whole) {
				t.Errorf("%s, after %d runs: it goes on to other values", batch, after)
			}
		}
	}
}

// TestTrainingRefused: settings that training cannot follow are refused, and those that nothing reads are told of.
func TestTrainingRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	plain := strings.Replace(decays, "objective L = 2*nll() - log_prior()", "objective L = final(x[1])^2", 1)
	bounded := decays + "constraint c: k <= 1\n"
	for _, c := range []struct{ text, setting, says string }{
		{decays, "decay=2", "at most 1"},
		{plain, "batch=2", "L is no sum over data"},
		{bounded, "rate=0.1", "sqp keeps"},
	} {
		if _, err := fit.Run(t.Context(), parse(t, c.text), with(fit.Options{}, []string{c.setting})); err == nil ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.setting, err)
		}
	}
	r := trained(t, decays, fit.Options{}, "algorithm=trust", "max_iter=2")
	if text := fmt.Sprint(r.Warnings); !strings.Contains(text, "fit.epochs is only for fit.algorithm = adam") {
		t.Error(text)
	}
}

// TestWideNetwork: weights that are many more than the data are searched for by the curvature that the data have.
func TestWideNetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	text := strings.NewReplacer("[4, 1]", "[60, 1]", "[1, 4]", "[1, 60]", "(4, 1)", "(60, 1)", "(1, 4", "(1, 60",
		"b[4]", "b[60]", "[0.5, 1, 1.5, 2, 2.5, 3, 4]", "[1, 2, 4]", "[1.7, 1.5, 1.1, 0.9, 0.8, 0.65, 0.3]",
		"[1.5, 0.9, 0.35]", "= 0.4*", "= 0.05*", " ~ normal(0, 2)", "", "2*nll() - log_prior()", "nll()",
	).Replace(decays)
	r := trained(t, text, fit.Options{Workers: 1}, "algorithm=auto", "max_iter=100")
	least := 3 * (elem.Log(0.2) + elem.Log(2*math.Pi)/2) // of data that are met
	if r.Status != "ok" || math.Abs(r.Objective.Value-least) > 1e-6 {
		t.Errorf("%s at %v, and %v can be had: %v", r.Status, r.Objective.Value, least, r.Warnings)
	}
}
