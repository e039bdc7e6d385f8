package main

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// questions are what people type, and the pages that answer them.
var questions = [][2]string{
	{"fit dose-response", "docs/how/dose-response"},
	{"dose response curve", "docs/how/dose-response"},
	{"EC50", "docs/how/dose-response"},
	{"fit without time", "docs/how/dose-response"},
	{"confidence interval", "docs/how/confidence-intervals"},
	{"confidence intervals", "docs/how/confidence-intervals"},
	{"standard error of estimate", "docs/how/confidence-intervals"},
	{"bootstrap", "docs/how/confidence-intervals"},
	{"stochastic", "docs/how/simulate-noise"},
	{"simulate with noise", "docs/how/simulate-noise"},
	{"synthetic data", "docs/how/simulate-noise"},
	{"How do I load my CSV?", "docs/how/load-csv"},
	{"read excel file", "docs/how/load-csv"},
	{"missing values", "docs/how/load-csv"},
	{"unknown initial conditions", "docs/how/initial-values"},
	{"estimate initial value", "docs/how/initial-values"},
	{"MCMC", "docs/how/posterior"},
	{"sample posterior", "docs/how/posterior"},
	{"bayesian", "docs/how/posterior"},
	{"compare two models", "docs/how/compare-models"},
	{"AIC", "docs/how/compare-models"},
	{"model selection", "docs/how/compare-models"},
	{"repeated dose", "docs/how/repeat-dose"},
	{"multiple dosing", "docs/how/repeat-dose"},
	{"periodic injection", "docs/how/repeat-dose"},
	{"switch input on off", "docs/how/switch-input"},
	{"step input", "docs/how/switch-input"},
	{"infusion for two hours", "docs/how/switch-input"},
	{"fit oscillator", "docs/how/fit-oscillator"},
	{"multiple shooting", "docs/how/fit-oscillator"},
	{"pandas", "docs/how/read-in-python"},
	{"data frame in R", "docs/how/read-in-r"},
	{"open in Excel", "docs/how/read-in-a-spreadsheet"},
	{"why is it slow", "docs/how/slow"},
	{"stiff too many steps", "docs/how/slow"},
	{"stop at threshold", "docs/how/stop-at-event"},
	{"fix parameter", "docs/how/fix-a-param"},
	{"several experiments", "docs/how/several-experiments"},
	{"shared parameters conditions", "docs/how/several-experiments"},
	{"convert units", "docs/how/units"},
	{"below detection limit", "docs/how/limit-of-quantification"},
	{"BLQ", "docs/how/limit-of-quantification"},
	{"mixed effects", "docs/how/population"},
	{"optimal control", "docs/how/control"},
	{"inequality constraint", "docs/how/constraint"},
	{"steady state baseline", "docs/how/steady-state"},
	{"bifurcation diagram", "docs/how/bifurcation"},
	{"monte carlo", "docs/how/ensemble"},
	{"global sensitivity sobol", "docs/how/sensitivity-analysis"},
	{"neural ODE", "docs/how/network"},
	{"export to SBML", "docs/how/export"},
	{"export C code", "docs/how/export"},
	{"delay differential equation", "docs/how/delay"},
	{"DAE", "docs/how/algebraic"},
	{"diffusion PDE", "docs/how/pde"},
	{"plot phase plane", "docs/how/plot"},
	{"is my gradient right", "docs/how/check-gradient"},
	{"install windows", "docs/install"},
	{"coming from Stan", "docs/from-stan"},
	{"COPASI", "docs/from-copasi"},
	{"NONMEM", "docs/from-nonmem"},

	// A biologist's, a pharmacist's, a control engineer's and a statistician's.
	{"growth curve", "docs/how/initial-values"},
	{"knockout strain", "docs/how/several-experiments"},
	{"bistable switch", "docs/how/bifurcation"},
	{"Michaelis-Menten", "docs/language-functions"},
	{"enzyme inhibition", "docs/language-functions"},
	{"half-life", "docs/language-functions"},
	{"tablet every 12 hours", "docs/how/repeat-dose"},
	{"trough concentration", "docs/how/repeat-dose"},
	{"IV infusion", "docs/how/switch-input"},
	{"body weight covariate", "docs/how/population"},
	{"visual predictive check", "docs/populations"},
	{"dead time", "docs/how/delay"},
	{"minimum time", "docs/how/control"},
	{"thermostat", "docs/events"},
	{"Simulink", "docs/how/export"},
	{"actuator limits", "docs/how/control"},
	{"parameter scan", "docs/how/ensemble"},
	{"outliers", "docs/language-data"},
	{"divergent transitions", "docs/how/posterior"},
	{"parameter not identifiable", "docs/fit"},
	{"exit status 3", "docs/faq"},
	{"uninstall", "docs/install"},

	// A newcomer's, when something does not work.
	{"confidence band", "docs/how/confidence-intervals"},
	{"stiff solver fails", "docs/how/slow"},
	{"my fit is stuck", "docs/faq"},
	{"fit does not converge", "docs/faq"},
	{"local minimum", "docs/faq"},
	{"NaN", "docs/faq"},
	{"negative concentration", "docs/faq"},
	{"excel", "docs/how/load-csv"},
	{"decimal comma", "docs/how/load-csv"},
	{"least squares", "docs/how/load-csv"},
	{"weighted least squares", "docs/how/load-csv"},
	{"R squared", "docs/how/compare-models"},
	{"clearance and volume", "docs/how/population"},
	{"initial guess", "docs/faq"},
	{"two compartment model", "docs/how/repeat-dose"},
	{"impulse", "docs/how/repeat-dose"},
	{"reset state at time", "docs/how/repeat-dose"},
	{"predator prey", "docs/how/fit-oscillator"},
	{"parallel", "docs/how/ensemble"},
	{"interpolate forcing function", "docs/how/switch-input"},
	{"time-varying input from data", "docs/how/switch-input"},
	{"sensitivity equations", "docs/how/sensitivity-analysis"},
	{"log transform parameter", "docs/how/dose-response"},
	{"array of states", "docs/how/pde"},
	{"GPU", "docs/limits"},
	{"breaking changes", "docs/release-0.2.0"},
	{"upgrade", "docs/release-0.2.0"},
	{"maximum likelihood", "docs/how/load-csv"},
	{"prior distribution", "docs/how/posterior"},
}

// TestBrowserSearch: each question finds its page among the first three hits, by the search of the site.
func TestBrowserSearch(t *testing.T) {
	if len(questions) < 50 {
		t.Fatalf("%d questions", len(questions))
	}
	b := open(t)
	b.visit("/search.html?q=fit")
	asked := make([]string, len(questions))
	for i, q := range questions {
		asked[i] = q[0]
	}
	text, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	// Hits are shown from the last one backwards. The index comes by itself.
	found := do(b, chromedp.Evaluate[[][]string](`new Promise((done) => {
		const ask = () => Search.hasIndex()
			? done(`+string(text)+`.map((q) =>
				Search._performSearch(...Search._parseQuery(q)).slice(-3).reverse().map((r) => r[0])))
			: setTimeout(ask, 50)
		ask()
	})`, chromedp.EvalAwaitPromise))
	for i, q := range questions {
		if !slices.Contains(found[i], q[1]) {
			t.Errorf("%q does not find %s, but %v", q[0], q[1], found[i])
		}
	}
}
