// Package petab translates parameter estimation problems in PEtab, version 1, into the language of odes: the model,
// experiments, observations with their noise, priors, and what is to be estimated.
//
// L. Schmiester et al., PEtab - Interoperable specification of parameter estimation problems in systems biology,
// PLOS Computational Biology 17 (2021) e1008646, says what a problem means.
package petab

import (
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/internal/base/lazy"
	"odes.dev/odes/internal/exchange/sbml"
	"odes.dev/odes/internal/exchange/sbml/comp"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// problem is one that is being translated.
type problem struct {
	file  *source.File
	files fs.FS
	dir   string // where the files are that it lists; "" for that of the files
	list  *diag.List
	model *sbml.Model
	of    chosen // of a selection

	names        map[string]string // of parameters that the model does not have
	functions    []string          // definitions of functions that formulas call
	added        map[string]string // what those of additions are called
	estimated    []string
	logs         []string
	terms        []string // of the objective, beside the likelihood
	priors       bool
	params       []declaration
	observes     []*observe
	measured     string // the name of the table of all measurements
	loss         string // and of what is made as small as possible
	bench        []*experiment
	byConditions map[conditions]*experiment
	changed      map[string]bool   // what is estimated, or set by a condition
	given        map[string]string // the values of parameters that are not estimated

	second
}

// chosen is a problem of a selection.
type chosen struct {
	file *source.File
	from *Selection
}

// second is what problems of version 2 have besides.
type second struct {
	two        bool
	from       string                 // where runs begin
	shift      string                 // the name of what is added to the time, where runs begin at different times
	byID       map[string]*experiment // by the experimentId
	listed     map[string]bool        // ids of the table of parameters
	made       []made                 // what only conditions know
	normaliser float64                // what the bounds of parameters add to the objective
}

// declaration declares a parameter that the model does not have.
type declaration struct {
	text string
	from row
}

// observe is an observation: an observable, or those of its measurements that have the same parameters.
type observe struct {
	of                   row
	name, formula, noise string
	columns              []string // of its table: the measurements, and numbers of the formulas
	cells                [][]string
	rows                 []row
}

// experiment is a condition, and what is equilibrated before it.
type experiment struct {
	conditions
	of    row // of the condition during it
	name  string
	items []string

	from    source.Origin
	start   float64 // of version 2: where the run begins
	settles bool    // it begins in a steady state
	periods []*period
}

// conditions are the ids of those that a measurement is made under: before it, or "", and during it.
type conditions struct{ before, during string }

func conditionsOf(r row) conditions {
	return conditions{r.get("preequilibrationConditionId"), r.get("simulationConditionId")}
}

// Is reports whether a file of this name lists the files of a problem. Standard input has no such name.
func Is(name, text string) bool {
	if IsSelection(text) {
		return true
	}
	if !strings.Contains(text, "parameter_file") || !strings.Contains(text, "format_version") {
		return false
	}
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") || problems().MatchString(text)
}

var problems = lazy.Regexp(`(?m)^["']?(problems|model_files)["']?:`)

// Translate writes a problem in the language of odes, in its normal layout. Files has those that the text lists. It
// reports to list what is wrong or cannot be translated, and returns nil then.
func Translate(file *source.File, files fs.FS, list *diag.List) *source.File {
	p := newProblem(file, files, list)
	if IsSelection(file.Text()) {
		if p = p.choose(""); p == nil {
			return nil
		}
		p.others()
	}
	return p.translate()
}

func newProblem(file *source.File, files fs.FS, list *diag.List) *problem {
	return &problem{
		file: file, files: files, list: list,
		names: map[string]string{}, added: map[string]string{}, changed: map[string]bool{}, given: map[string]string{},
		byConditions: map[conditions]*experiment{},
	}
}

func (p *problem) translate() *source.File {
	list := p.list
	o := p.overview()
	if o == nil {
		return nil
	}
	if p.two {
		return p.translate2(o)
	}
	of := o.Problems[0]
	text, ok := p.text(of.Models[0])
	if !ok {
		return nil
	}
	if p.model = comp.Read(text, comp.Beside(p.files, text, of.Models[0].name), list); p.model == nil {
		return nil
	}
	p.measured, p.loss = p.model.Free("D"), p.model.Free("loss")
	for _, column := range []string{timeColumn, conditionColumn} {
		p.model.Free(column) // so that no observation is called so
	}
	parameters := p.read("parameter_file", o.Parameters, "parameterId", "estimate")
	conditions := p.read("condition_files", of.Conditions, "conditionId")
	observables := p.read("observable_files", of.Observables, "observableId", "observableFormula", "noiseFormula")
	measurements := p.read("measurement_files", of.Measurements, "observableId", "simulationConditionId", "measurement",
		"time")
	measurements = slices.DeleteFunc(measurements, func(r row) bool { return missing(r.get("measurement")) })
	p.once(parameters, "parameterId")
	p.once(conditions, "conditionId")
	p.once(observables, "observableId")
	if len(measurements) == 0 && !list.HasErrors() {
		p.wrong(p.whole(), "the problem has no measurements")
	}
	if list.HasErrors() {
		return nil
	}
	end := p.end(measurements)
	for _, r := range parameters {
		p.parameter(r)
	}
	p.conditions(conditions, measurements)
	p.model.Fix(func(id string) bool { return p.changed[id] })
	p.observables(observables, measurements)
	if list.HasErrors() {
		return nil
	}
	return p.write(end)
}

// write writes the translation, of runs that end at a time.
func (p *problem) write(end float64) *source.File {
	return p.model.Text(sbml.Options{
		From: p.from, To: decimal(end), Name: p.file.Name(), Bare: true, Tail: p.tail(),
	}, p.list)
}

// decimal writes a number with as many digits as it has.
func decimal(x float64) string {
	return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(x, 'g', -1, 64), "+")) // +Inf is inf
}

// end checks the times of measurements, and returns the last one that is finite.
func (p *problem) end(measurements []row) float64 {
	end := 0.0
	for _, r := range measurements {
		switch t, err := strconv.ParseFloat(r.get("time"), 64); {
		case err != nil || math.IsNaN(t):
			p.errorAt(r, "time", "the time %q is no number", r.get("time"))
		case t < 0:
			p.errorAt(r, "time", "the time %s is before the start, which is 0", r.get("time"))
		case !math.IsInf(t, 0):
			end = max(end, t)
		}
	}
	if end == 0 {
		return 1 // all is measured at the start, or at the steady state
	}
	return end
}
