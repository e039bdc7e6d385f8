package fit

import (
	"flag"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
)

var wholeSAEM = flag.Bool("saem", false, "also fit theophylline by saem in TestSAEM")

// begun is the stochastic part of a search before its first iteration.
func begun(t *testing.T, m *odes.Model, workers int, settings []odes.Setting, set ...odes.Assignment) (
	*problem, *approximation,
) {
	t.Helper()
	p, err := newProblem(t.Context(), m, Options{Workers: workers, Options: odes.Options{
		Set: set, Settings: append(settings, odes.Setting{Key: "fit.algorithm", Value: saem}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := p.borrow()
	if err != nil {
		t.Fatal(err)
	}
	s, err := stochastic{p}.begin(t.Context(), e, 0, p.start)
	if err != nil {
		t.Fatal(err)
	}
	return p, s
}

// approached makes the stochastic part of a search alone.
func approached(t *testing.T, m *odes.Model, workers int, settings []odes.Setting, set ...odes.Assignment) (
	*problem, *approximation,
) {
	t.Helper()
	p, s := begun(t, m, workers, settings, set...)
	if err := s.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p, s
}

// TestSAEM: of a linear mixed model, stochastic approximation comes near the maximum of the likelihood, which has a
// closed form, with the same bits for any number of workers, and the fit ends there.
//
//odes:goroutines
func TestSAEM(t *testing.T) {
	b := newBalanced(t, 12, 3, "agq(n = 2)")
	s2 := b.within / float64(b.n*(b.k-1))
	w2 := (b.between/float64(b.n) - s2) / float64(b.k)
	want := []float64{b.mean, math.Sqrt(w2), math.Sqrt(s2)}
	// standard errors of the mean and, roughly, of the others
	sizes := []float64{math.Sqrt((w2 + s2/float64(b.k)) / float64(b.n)), want[1] / 4, want[2] / 7}
	far := []odes.Assignment{
		{Name: "mu", Values: []float64{-8}}, {Name: "w", Values: []float64{4}}, {Name: "s", Values: []float64{3}},
	}
	_, two := approached(t, b.model, 2, nil, far...)
	if testing.Short() {
		return // chains share workers: nothing else here is for the race detector
	}
	p, s := approached(t, b.model, 1, nil, far...)
	for i, v := range p.values(s.x) {
		if math.Abs(v-want[i]) > 0.35*sizes[i] {
			t.Errorf("%s comes to %.5g, not near %.5g", p.coords[i].name, v, want[i])
		}
	}
	if !slices.Equal(s.kinds, []kind{ofCentre, ofSpread, ofOthers}) {
		t.Errorf("kinds %v", s.kinds)
	}
	if !slices.Equal(two.x, s.x) {
		t.Errorf("with two workers %v, not %v", two.x, s.x)
	}
	r, err := Run(t.Context(), b.model, Options{Options: odes.Options{
		Set: far, Settings: []odes.Setting{{Key: "fit.algorithm", Value: "saem"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if least := b.nll(want[1], want[2]); r.Status != "ok" || math.Abs(r.NLL-least) > 1e-7*least ||
		!strings.HasPrefix(r.Algorithm, "saem, ") {
		t.Errorf("%s by %s: %.9g, not %.9g", r.Status, r.Algorithm, r.NLL, least)
	}
	for i := range want {
		if e := &r.Estimates[i]; math.Abs(e.Value-want[i]) > 1e-4*sizes[i] {
			t.Errorf("%s is %.9g, not %.9g", e.Name, e.Value, want[i])
		}
	}
}

// TestSAEMPriors: with priors, stochastic approximation comes near the maximum of the product, which a fit by
// derivatives finds; a param that nothing but priors read goes there, too.
func TestSAEMPriors(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	b := newBalanced(t, 12, 3, "agq(n = 2)", "mu = 2 in [-10, 10]", "mu = 2 ~ normal(1, tau)",
		"w = 0.5 in [1e-3, 10]", "w = 0.5 in [1e-3, inf] ~ lognormal(-1.5, 0.2), tau = 0.4 ~ lognormal(-1.2, 0.01)",
		"s = 0.4 in [1e-2, 10]", "s = 0.4 in [1e-2, inf] ~ gamma(200, 500)", "= nll()", "= nll() - log_prior()")
	p, s := approached(t, b.model, 1, nil)
	r, err := Run(t.Context(), b.model, Options{Options: odes.Options{
		Settings: []odes.Setting{{Key: "fit.intervals", Value: "none"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.kinds, []kind{ofCentre, ofSpread, ofOthers, ofOthers}) {
		t.Errorf("kinds %v", s.kinds)
	}
	for i, v := range p.values(s.x) {
		e := &r.Estimates[i]
		if math.Abs(v-e.Value) > 0.35*e.StdErr {
			t.Errorf("%s comes to %.5g, not near %.5g ± %.2g", e.Name, v, e.Value, e.StdErr)
		}
		if i == 0 && b.mean-v < 2*e.StdErr {
			t.Errorf("the prior of %s does not count: %.5g", e.Name, v)
		}
	}
	other := newBalanced(t, 12, 3, "agq(n = 2)", "= nll()", "= nll() + 0.1*mu^2")
	_, err = newProblem(t.Context(), other.model, Options{Options: odes.Options{
		Settings: []odes.Setting{{Key: "fit.algorithm", Value: "saem"}},
	}})
	if err == nil || !strings.Contains(err.Error(), "L is written otherwise") {
		t.Error(err)
	}
}

// TestSAEMKinds: covariates, params on another scale than their effect, matrices of covariances and occasions.
func TestSAEMKinds(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	settings := []odes.Setting{{Key: "solver.marginal", Value: "agq(n = 3)"}}
	_, s := begun(t, populationModel(t, blockText), 0, settings)
	if want := []kind{ofCentre, ofCentre, ofOthers, ofSpread, ofSpread, ofSpread}; !slices.Equal(s.kinds, want) {
		t.Errorf("kinds %v, not %v", s.kinds, want)
	}
	if !s.logs[0] || !s.logs[1] || s.logs[2] {
		t.Errorf("logarithms %v", s.logs)
	}
	for text, want := range map[string]string{
		"focei": "maximises the likelihood itself", "imp(n = 50)": "", "agq(n = 3)": "", "laplace": "",
	} {
		m := populationModel(t, blockText)
		_, err := newProblem(t.Context(), m, Options{Options: odes.Options{Settings: []odes.Setting{
			{Key: "solver.marginal", Value: text}, {Key: "fit.algorithm", Value: "saem"},
		}}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	m, err := alone(t, individualText, "subject_1")
	if err != nil {
		t.Fatal(err)
	}
	_, err = newProblem(t.Context(), m, Options{Options: odes.Options{
		Settings: []odes.Setting{{Key: "fit.algorithm", Value: "saem"}},
	}})
	if err == nil || !strings.Contains(err.Error(), "models with random effects") {
		t.Error(err)
	}
}

// TestSAEMTheophylline is run by hand: 40 seconds of CPU. The integral by quadrature at its own minimum is 118.11.
func TestSAEMTheophylline(t *testing.T) {
	if !*wholeSAEM {
		t.Skip("without -saem")
	}
	text := strings.NewReplacer("solver { marginal = focei }\n", "", "tcl = 1 ~ normal(1, 2)", "tcl = 1 in [-3, 4]",
		"fit { over = [tka, tcl]  log = [tka] }\n", "").Replace(individualText)
	r, err := Run(t.Context(), populationModel(t, text), Options{Options: odes.Options{
		Set: []odes.Assignment{
			{Name: "tka", Values: []float64{1.5}},
			{Name: "tcl", Values: []float64{0}},
			{Name: "tv", Values: []float64{2}},
			{Name: "sd", Values: []float64{2}},
			{Name: "w_v", Values: []float64{0.5}},
		},
		Settings: []odes.Setting{{Key: "fit.algorithm", Value: "saem"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != "ok" || math.Abs(r.Population.OFV-118.13) > 0.05 {
		t.Errorf("%s: %.4f", r.Status, r.Population.OFV)
	}
}
