// Package petab translates parameter estimation problems in PEtab, version 1, into the language of odes: the model,
// experiments, observations with their noise, priors, and what is to be estimated.
//
// L. Schmiester et al., PEtab - Interoperable specification of parameter estimation problems in systems biology,
// PLOS Computational Biology 17 (2021) e1008646, says what a problem means.
package petab

import (
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/internal/lazy"
	"odes.dev/odes/internal/sbml"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// problem is one that is being translated.
type problem struct {
	file  *source.File
	files fs.FS
	list  *diag.List
	model *sbml.Model

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
}

// conditions are the ids of those that a measurement is made under: before it, or "", and during it.
type conditions struct{ before, during string }

func conditionsOf(r row) conditions {
	return conditions{r.get("preequilibrationConditionId"), r.get("simulationConditionId")}
}

// Is reports whether a file of this name lists the files of a problem. Standard input has no such name.
func Is(name, text string) bool {
	if !strings.Contains(text, "parameter_file") || !strings.Contains(text, "format_version") {
		return false
	}
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") || problems().MatchString(text)
}

var problems = lazy.Regexp(`(?m)^["']?problems["']?:`)

// Translate writes a problem in the language of odes, in its normal layout. Files has those that the text lists. It
// reports to list what is wrong or cannot be translated, and returns nil then.
func Translate(file *source.File, files fs.FS, list *diag.List) *source.File {
	p := &problem{
		file: file, files: files, list: list,
		names: map[string]string{}, added: map[string]string{}, changed: map[string]bool{}, given: map[string]string{},
		byConditions: map[conditions]*experiment{},
	}
	o := p.overview()
	if o == nil {
		return nil
	}
	of := o.Problems[0]
	text, ok := p.text(of.Models[0])
	if !ok {
		return nil
	}
	if p.model = sbml.Read(text, list); p.model == nil {
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
	return p.model.Text(sbml.Options{
		To: strconv.FormatFloat(end, 'g', -1, 64), Name: file.Name(), Bare: true, Tail: p.tail(),
	}, list)
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

// priors are those of the language, by the words of PEtab.
var priors = map[string]string{
	"normal": "normal", "laplace": "laplace", "logNormal": "lognormal", "logLaplace": "loglaplace",
	"uniform": "uniform",
}

// parameter declares a parameter, with its bounds and its prior if it is estimated.
func (p *problem) parameter(r row) {
	id := r.get("parameterId")
	value, ok := isNumber(r.get("nominalValue"))
	if missing(r.get("nominalValue")) {
		value, ok = "", false
		if r.get("estimate") != "0" {
			value, ok = middle(r)
		}
	}
	if !ok {
		p.errorAt(r, "nominalValue", "the parameter %s has the nominal value %q, which is no number", id,
			r.get("nominalValue"))
		return
	}
	scale := r.get("parameterScale")
	if scale != "" && scale != "lin" && scale != "log" && scale != "log10" {
		p.errorAt(r, "parameterScale", "the parameterScale of %s is %q: lin, log and log10 are possible", id, scale)
	}
	name, _, known := p.model.Name(id)
	if !known {
		name = p.model.Free(id)
		p.names[id] = name
	}
	is, word := value, "const"
	switch estimate, err := strconv.ParseFloat(r.get("estimate"), 64); { // programs may write 1.0
	case err != nil || estimate != 0 && estimate != 1:
		p.errorAt(r, "estimate", "estimate of %s is %q: 0 and 1 are possible", id, r.get("estimate"))
		return
	case estimate == 0:
		p.given[id] = value
	default:
		word = "param"
		p.changed[id] = true
		p.estimated = append(p.estimated, name)
		lower, upper := p.bound(r, "lowerBound", "-inf"), p.bound(r, "upperBound", "inf")
		if lower != "-inf" || upper != "inf" {
			is += fmt.Sprintf(" in [%s, %s]", lower, upper)
		}
		if v, err := strconv.ParseFloat(lower, 64); strings.HasPrefix(scale, "log") && err == nil && v > 0 {
			p.logs = append(p.logs, name)
		}
		is += p.prior(r, name, scale)
	}
	switch {
	case !known:
		p.params = append(p.params, declaration{fmt.Sprintf("%s %s = %s", word, name, is), r})
	case !p.model.Set(id, is, r.origin("parameter %s", id)):
		p.errorAt(r, "parameterId", "%s is no constant of the model, and cannot be a parameter", id)
	}
}

// bound is what a column says of a bound, or otherwise where it says nothing.
func (p *problem) bound(r row, column, otherwise string) string {
	cell := r.get(column)
	if missing(cell) {
		return otherwise
	}
	number, ok := isNumber(cell)
	if !ok {
		p.errorAt(r, column, "the %s of %s is %q, which is no number", column, r.get("parameterId"), cell)
	}
	return number
}

// middle is the middle between the bounds of a parameter, on its scale: an estimate needs no nominal value.
func middle(r row) (value string, ok bool) {
	lower, err := strconv.ParseFloat(r.get("lowerBound"), 64)
	upper, wrong := strconv.ParseFloat(r.get("upperBound"), 64)
	at := lower/2 + upper/2
	if lower > 0 && strings.HasPrefix(r.get("parameterScale"), "log") {
		at = math.Sqrt(lower) * math.Sqrt(upper)
	}
	ok = err == nil && wrong == nil && !math.IsInf(at, 0) && !math.IsNaN(at)
	return strconv.FormatFloat(at, 'g', -1, 64), ok
}

// prior returns that of a parameter, as its declaration has it, or adds it to the objective.
func (p *problem) prior(r row, name, scale string) string {
	kind, text := r.get("objectivePriorType"), r.get("objectivePriorParameters")
	if kind == "" && !missing(r.get("priorType")) {
		p.errorAt(r, "priorType", "the prior of %s is in a column of an older PEtab: name the columns "+
			"objectivePriorType and objectivePriorParameters", name)
	}
	if kind == "" || kind == "parameterScaleUniform" {
		return ""
	}
	var numbers []string
	for part := range strings.SplitSeq(text, ";") {
		if number, ok := isNumber(strings.TrimSpace(part)); ok {
			numbers = append(numbers, number)
		}
	}
	if len(numbers) != 2 || strings.Count(text, ";") != 1 {
		p.errorAt(r, "objectivePriorParameters", "the prior of %s has the numbers %q: two are wanted, with ; between "+
			"them", name, text)
		return ""
	}
	if law := priors[kind]; law != "" {
		p.priors = true
		return fmt.Sprintf(" ~ %s(%s, %s)", law, numbers[0], numbers[1])
	}
	scaled := name
	switch scale {
	case "log":
		scaled = "log(" + name + ")"
	case "log10":
		scaled = "log10(" + name + ")"
	}
	switch kind {
	case "parameterScaleNormal":
		p.terms = append(p.terms, fmt.Sprintf("0.5*((%s - (%s))/%s)^2 + log(%[3]s*sqrt(2*pi))", scaled, numbers[0],
			numbers[1]))
	case "parameterScaleLaplace":
		p.terms = append(p.terms, fmt.Sprintf("abs(%s - (%s))/%s + log(2*%[3]s)", scaled, numbers[0], numbers[1]))
	default:
		p.errorAt(r, "objectivePriorType", "odes has nothing like the prior %q of %s", kind, name)
	}
	return ""
}

// stands returns what an id stands for in formulas.
func (p *problem) stands(id string) (string, bool) {
	if name, ok := p.names[id]; ok {
		return name, true
	}
	name, _, ok := p.model.Name(id)
	return name, ok
}

// value writes what a cell of a column says: a number, or the name of a parameter.
func (p *problem) value(r row, column, cell string) string {
	if number, ok := isNumber(cell); ok {
		return number
	}
	name, ok := p.stands(cell)
	if !ok {
		p.errorAt(r, column, "%q is neither a number nor a parameter", cell)
	}
	return name
}

// conditions makes an experiment of each condition that something was measured in.
func (p *problem) conditions(list, measurements []row) {
	byID := map[string]row{}
	for _, r := range list {
		byID[r.get("conditionId")] = r
	}
	for _, r := range measurements {
		if p.byConditions[conditionsOf(r)] != nil {
			continue
		}
		for _, column := range []string{"preequilibrationConditionId", "simulationConditionId"} {
			id := r.get(column)
			if _, ok := byID[id]; !ok && (id != "" || column == "simulationConditionId") {
				p.errorAt(r, column, "there is no condition %q", id)
				return
			}
		}
		e := &experiment{conditions: conditionsOf(r), of: byID[r.get("simulationConditionId")]}
		p.bench = append(p.bench, e)
		p.byConditions[e.conditions] = e
	}
	p.complete(byID)
	for _, e := range p.bench {
		e.name = e.during
		if slices.ContainsFunc(p.bench, func(o *experiment) bool { return o != e && o.during == e.during }) {
			e.name = e.before + "_" + e.during
		}
		e.name = p.model.Free(e.name)
		p.items(e, byID)
	}
}

// complete gives a value to what has none in the model, since each condition has one.
func (p *problem) complete(byID map[string]row) {
	for _, e := range p.bench {
		for _, id := range e.of.of.columns {
			_, isParam, ok := p.model.Name(id)
			if !ok || p.model.IsRule(id) || p.model.IsSet(id) {
				continue
			}
			if _, ok := p.model.Given(id); ok {
				continue
			}
			for _, o := range p.bench {
				for _, condition := range []string{o.before, o.during} {
					r, first := byID[condition], condition == o.before || o.before == ""
					if condition != "" && (isParam || first) && missing(r.get(id)) {
						p.errorAt(r, id, "the condition gives no value to %s, and the model does not either", id)
						return
					}
				}
			}
			p.model.Assume(id, "1")
		}
	}
}

// items writes what a condition changes.
func (p *problem) items(e *experiment, byID map[string]row) {
	var steady, jumps []string
	each := func(r row, do func(id, name string, isParam bool, value string)) {
		for _, id := range r.of.columns {
			cell := r.get(id)
			if id == "conditionId" || id == "conditionName" || id == "" || missing(cell) {
				continue
			}
			name, isParam, ok := p.model.Name(id)
			p.changed[id] = true
			switch {
			case !ok:
				p.errorAt(r, id, "the condition sets %q, which is not in the model", id)
				continue
			case p.model.IsRule(id):
				p.errorAt(r, id, "the condition sets %s, which a rule or a reaction gives", id)
				continue
			}
			do(id, name, isParam, p.value(r, id, cell))
		}
	}
	each(e.of, func(id, name string, isParam bool, value string) {
		switch {
		case isParam:
			e.items = append(e.items, name+" = "+value)
			if e.before != "" && missing(byID[e.before].get(id)) {
				steady = append(steady, name+" = "+p.base(byID[e.before], id))
			}
		case e.before == "":
			e.items = append(e.items, p.model.Start(id)+" = "+value)
		default:
			jumps = append(jumps, p.model.Jump(id, value))
		}
	})
	if e.before == "" {
		return
	}
	each(byID[e.before], func(id, name string, isParam bool, value string) {
		if isParam {
			steady = append(steady, name+" = "+value)
		} else {
			e.items = append(e.items, p.model.Start(id)+" = "+value)
		}
	})
	e.items = append(e.items, "equilibrate { "+strings.Join(steady, "  ")+" }")
	if len(jumps) > 0 {
		e.items = append(e.items, "at 0 { "+strings.Join(jumps, "  ")+" }")
	}
}

// base is the value of a symbol of the model where a condition does not set it.
func (p *problem) base(r row, id string) string {
	if value, ok := p.given[id]; ok {
		return value
	}
	value, ok := p.model.Given(id)
	if !ok || p.changed[id] && p.model.IsSet(id) {
		p.errorAt(r, id, "the condition needs a value for %s, since the simulation after it sets one, and that of the "+
			"model is estimated or missing", id)
	}
	return value
}

// placeholder is a name in a formula that each measurement gives a value.
var placeholder = lazy.Regexp(`\b(observable|noise)Parameter([0-9]+)_\w+`)

// observables makes the observations of all measurements.
func (p *problem) observables(list, measurements []row) {
	rows := map[string][]row{}
	for _, r := range measurements {
		rows[r.get("observableId")] = append(rows[r.get("observableId")], r)
	}
	for _, o := range list {
		id := o.get("observableId")
		if len(rows[id]) > 0 {
			p.observable(o, rows[id])
		}
		delete(rows, id)
	}
	for _, r := range measurements {
		if id := r.get("observableId"); rows[id] != nil {
			p.errorAt(r, "observableId", "there is no observable %q", id)
			return
		}
	}
}

// slot is a placeholder of an observable.
type slot struct {
	name     string   // as formulas have it
	column   string   // of the table of measurements
	values   []string // what each measurement has for it
	asColumn bool     // its numbers are a column of the data
}

// slots returns the placeholders of an observable. It reports measurements that have nothing for one, or more than
// there are.
func (p *problem) slots(o row, rows []row) (slots []*slot, ok bool) {
	id := o.get("observableId")
	for _, formula := range []string{"observableFormula", "noiseFormula"} {
		for _, part := range placeholder().FindAllStringSubmatch(o.get(formula), -1) {
			s := &slot{name: part[0], column: part[1] + "Parameters"}
			if !strings.HasSuffix(s.name, "_"+id) ||
				slices.ContainsFunc(slots, func(other *slot) bool { return other.name == s.name }) {
				continue
			}
			k, _ := strconv.Atoi(part[2])
			for _, r := range rows {
				given := strings.Split(r.get(s.column), ";")
				if k < 1 || k > len(given) || missing(strings.TrimSpace(given[k-1])) {
					p.errorAt(r, s.column, "the measurement has no value for %s", s.name)
					return nil, false
				}
				s.values = append(s.values, strings.TrimSpace(given[k-1]))
			}
			s.asColumn = part[1] == "noise" && s.areNumbers()
			slots = append(slots, s)
		}
	}
	for _, column := range []string{"observableParameters", "noiseParameters"} {
		n := 0
		for _, s := range slots {
			if s.column == column {
				n++
			}
		}
		for _, r := range rows {
			if given := r.get(column); !missing(given) && strings.Count(given, ";")+1 > n {
				p.errorAt(r, column, "the measurement has more %s than the %d of the formula", column, n)
				return nil, false
			}
		}
	}
	return slots, true
}

// areNumbers reports whether all measurements have numbers for a placeholder, which are not all the same.
func (s *slot) areNumbers() bool {
	one := true
	for _, v := range s.values {
		if _, ok := isNumber(v); !ok {
			return false
		}
		one = one && v == s.values[0]
	}
	return !one
}

// observable makes an observation for each set of parameters that the measurements of an observable name. Where the
// noise of measurements has different numbers, these are columns of the data.
func (p *problem) observable(o row, rows []row) {
	slots, ok := p.slots(o, rows)
	if !ok {
		return
	}
	keys, names := variants(slots, len(rows))
	byKey := map[string]*observe{}
	for i, r := range rows {
		v := byKey[keys[i]]
		if v == nil {
			v = p.variant(o, r, i, slots, names[i])
			byKey[keys[i]] = v
			p.observes = append(p.observes, v)
		}
		number, ok := isNumber(r.get("measurement"))
		x, err := strconv.ParseFloat(number, 64)
		switch scale := o.get("observableTransformation"); {
		case !ok || err != nil || math.IsInf(x, 0):
			p.errorAt(r, "measurement", "the measurement %q is no finite number", r.get("measurement"))
			return
		case x <= 0 && strings.HasPrefix(scale, "log"):
			p.errorAt(r, "measurement", "the measurement %s has no logarithm, and observableTransformation is %s",
				number, scale)
			return
		}
		cells := []string{number}
		for _, s := range slots {
			if s.asColumn {
				text, _ := isNumber(s.values[i])
				cells = append(cells, text)
			}
		}
		v.rows, v.cells = append(v.rows, r), append(v.cells, cells)
	}
}

// variants returns the parameters of each of n measurements, and what the name of its observation has behind that of
// the observable: as many of the parameters as tell it from all others.
func variants(slots []*slot, n int) (keys, names []string) {
	keys, names = make([]string, n), make([]string, n)
	count := 1
	for _, s := range slots {
		if s.asColumn {
			continue
		}
		different := map[string]bool{}
		for i := range keys {
			keys[i] += ";" + s.values[i]
			different[keys[i]] = true
		}
		if len(different) == count { // what came before determines it
			continue
		}
		count = len(different)
		for i := range names {
			names[i] += ";" + s.values[i]
		}
	}
	return keys, names
}

// variant begins an observation of an observable o, as measurement i asks for it, which is r.
func (p *problem) variant(o, r row, i int, slots []*slot, suffix string) *observe {
	id := o.get("observableId")
	v := &observe{of: o, name: p.model.Free(id + suffix)}
	v.columns = []string{v.name}
	stands := map[string]string{}
	for _, s := range slots {
		if s.asColumn {
			column := p.model.Free(v.name + "_" + strings.TrimSuffix(s.name, "_"+id))
			v.columns = append(v.columns, column)
			stands[s.name] = p.measured + "." + column
			continue
		}
		stands[s.name] = p.value(r, s.column, s.values[i])
		if strings.HasPrefix(stands[s.name], "-") {
			stands[s.name] = "(" + stands[s.name] + ")"
		}
	}
	of := func(name string) (string, bool) {
		if to, ok := stands[name]; ok {
			return to, true
		}
		return p.stands(name)
	}
	v.formula = p.formula(o, "observableFormula", of)
	v.noise = p.noise(o, p.formula(o, "noiseFormula", func(name string) (string, bool) {
		if name == id {
			return v.name, true
		}
		return of(name)
	}))
	return v
}

// noise is that of an observable with this spread.
func (p *problem) noise(o row, spread string) string {
	law, scale := o.get("noiseDistribution"), o.get("observableTransformation")
	switch law { // version 2 joins the two
	case "log-normal":
		law, scale = "normal", "log"
	case "log10-normal":
		law, scale = "normal", "log10"
	case "log-laplace":
		law, scale = "laplace", "log"
	case "":
		law = "normal"
	}
	if law != "normal" && law != "laplace" {
		p.errorAt(o, "noiseDistribution", "odes has nothing like the noise %q", law)
	}
	switch scale {
	case "", "lin":
	case "log":
		law = "log" + law
	case "log10":
		law = "log" + law
		if strings.ContainsAny(spread, "+-*/^ ") {
			spread = "(" + spread + ")"
		}
		spread = "log(10)*" + spread
	default:
		p.errorAt(o, "observableTransformation", "odes has nothing like the transformation %q", scale)
	}
	return law + "(" + spread + ")"
}
