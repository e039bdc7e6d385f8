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

	"github.com/goccy/go-yaml"

	"odes.dev/odes/internal/lazy"
	"odes.dev/odes/internal/sbml"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// overview is the file that lists the others.
type overview struct {
	Version    any      `yaml:"format_version"`
	Parameters oneOrAll `yaml:"parameter_file"`
	Problems   []struct {
		Models       oneOrAll `yaml:"sbml_files"`
		Conditions   oneOrAll `yaml:"condition_files"`
		Measurements oneOrAll `yaml:"measurement_files"`
		Observables  oneOrAll `yaml:"observable_files"`
	} `yaml:"problems"`
}

// oneOrAll is a path, or a list of paths.
type oneOrAll []string

func (o *oneOrAll) UnmarshalYAML(b []byte) error {
	var one string
	if yaml.Unmarshal(b, &one) == nil {
		*o = oneOrAll{one}
		return nil
	}
	return yaml.Unmarshal(b, (*[]string)(o))
}

// problem is one that is being translated.
type problem struct {
	file  *source.File
	files fs.FS
	list  *diag.List
	model *sbml.Model

	names     map[string]string // of parameters that the model does not have
	functions []string          // definitions of functions that formulas call
	added     map[string]string // what those of additions are called
	estimated []string
	logs      []string
	terms     []string // of the objective, beside the likelihood
	priors    bool
	params    []string // declarations
	observes  []*observe
	measured  string // the name of the table of all measurements
	loss      string // and of what is made as small as possible
	bench     []*experiment
	changed   map[string]bool   // what is estimated, or set by a condition
	given     map[string]string // the values of parameters that are not estimated
}

// observe is an observation: an observable, or those of its rows that have the same parameters.
type observe struct {
	name, formula, noise string
	columns              []string // of its table: the measurements, and numbers of the formulas
	cells                [][]string
	rows                 []row
}

// experiment is a condition, and what is equilibrated before it.
type experiment struct {
	before, during string // ids of conditions
	name           string
	items          []string
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
// reports to list what is wrong or cannot be translated, and returns "" then.
func Translate(file *source.File, files fs.FS, list *diag.List) string {
	p := &problem{
		file: file, files: files, list: list,
		names: map[string]string{}, added: map[string]string{}, changed: map[string]bool{}, given: map[string]string{},
	}
	var o overview
	if err := yaml.Unmarshal([]byte(file.Text()), &o); err != nil {
		list.Errorf(parser.CodeForeignFile, source.Span{File: file}, "this is no YAML: %s", firstLine(err))
		return ""
	}
	whole := source.Span{File: file}
	switch {
	case o.Version == nil:
		list.Errorf(parser.CodeForeignFile, whole, "the problem has no format_version: odes reads version 1")
	case !strings.HasPrefix(fmt.Sprint(o.Version), "1"):
		list.Errorf(parser.CodeForeignFile, whole, "this is PEtab of version %v: odes reads version 1", o.Version)
	case len(o.Problems) != 1:
		list.Errorf(parser.CodeForeignFile, whole, "the file has %d problems: make a file for each", len(o.Problems))
	case len(o.Problems[0].Models) != 1:
		list.Errorf(parser.CodeForeignFile, whole, "the problem has %d models in SBML, not one",
			len(o.Problems[0].Models))
	}
	if list.HasErrors() {
		return ""
	}
	of := o.Problems[0]
	text, ok := p.text(of.Models[0])
	if !ok {
		return ""
	}
	if p.model = sbml.Read(text, list); p.model == nil {
		return ""
	}
	p.measured, p.loss = p.model.Free("D"), p.model.Free("loss")
	parameters := p.read("parameter_file", o.Parameters, "parameterId", "estimate")
	conditions := p.read("condition_files", of.Conditions, "conditionId")
	observables := p.read("observable_files", of.Observables, "observableId", "observableFormula", "noiseFormula")
	measurements := p.read("measurement_files", of.Measurements, "observableId", "simulationConditionId", "measurement",
		"time")
	p.once(parameters, "parameterId")
	p.once(conditions, "conditionId")
	p.once(observables, "observableId")
	if len(measurements) == 0 && !list.HasErrors() {
		list.Errorf(parser.CodeForeignFile, whole, "the problem has no measurements")
	}
	if list.HasErrors() {
		return ""
	}
	for _, r := range parameters {
		p.parameter(r)
	}
	p.conditions(conditions, measurements)
	p.model.Fix(func(id string) bool { return p.changed[id] })
	end := 0.0
	for _, r := range measurements {
		if t, err := strconv.ParseFloat(r.get("time"), 64); err == nil && !math.IsInf(t, 0) {
			end = max(end, t)
		}
	}
	if end == 0 {
		end = 1 // all is measured at the start, or at the steady state
	}
	p.observables(observables, measurements)
	if list.HasErrors() {
		return ""
	}
	return p.model.Text(sbml.Options{To: strconv.FormatFloat(end, 'g', -1, 64), Bare: true, Tail: p.tail()}, list)
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
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
	if r.get("nominalValue") == "" && r.get("estimate") != "0" {
		value, ok = middle(r)
	}
	if !ok {
		p.errorAt(r, "the parameter %s has the nominal value %q, which is no number", id, r.get("nominalValue"))
		return
	}
	name, _, known := p.model.Name(id)
	if !known {
		name = p.model.Free(id)
		p.names[id] = name
	}
	declaration, word := value, "const"
	switch estimate, err := strconv.ParseFloat(r.get("estimate"), 64); { // programs may write 1.0
	case err != nil || estimate != 0 && estimate != 1:
		p.errorAt(r, "estimate of %s is %q: 0 and 1 are possible", id, r.get("estimate"))
		return
	case estimate == 0:
		p.given[id] = value
	default:
		word = "param"
		p.changed[id] = true
		p.estimated = append(p.estimated, name)
		lower, upper := p.bound(r, "lowerBound", "-inf"), p.bound(r, "upperBound", "inf")
		if lower != "-inf" || upper != "inf" {
			declaration += fmt.Sprintf(" in [%s, %s]", lower, upper)
		}
		scale := r.get("parameterScale")
		if v, err := strconv.ParseFloat(lower, 64); strings.HasPrefix(scale, "log") && err == nil && v > 0 {
			p.logs = append(p.logs, name)
		}
		declaration += p.prior(r, name, scale)
	}
	switch {
	case !known:
		p.params = append(p.params, fmt.Sprintf("%s %s = %s", word, name, declaration))
	case !p.model.Set(id, declaration):
		p.errorAt(r, "%s is no constant of the model, and cannot be a parameter", id)
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
		p.errorAt(r, "the %s of %s is %q, which is no number", column, r.get("parameterId"), cell)
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
		p.errorAt(r, "the prior of %s is in a column of an older PEtab: name the columns objectivePriorType and "+
			"objectivePriorParameters", name)
	}
	if kind == "" || kind == "parameterScaleUniform" {
		return ""
	}
	var numbers []string
	for part := range strings.SplitSeq(text, ";") {
		number, ok := isNumber(strings.TrimSpace(part))
		if !ok {
			p.errorAt(r, "the prior of %s has the numbers %q: two are wanted, with ; between them", name, text)
			return ""
		}
		numbers = append(numbers, number)
	}
	if len(numbers) != 2 {
		p.errorAt(r, "the prior of %s has the numbers %q: two are wanted, with ; between them", name, text)
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
		p.errorAt(r, "odes has nothing like the prior %q of %s", kind, name)
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

// value writes what a cell says: a number, or the name of a parameter.
func (p *problem) value(r row, cell string) string {
	if number, ok := isNumber(cell); ok {
		return number
	}
	name, ok := p.stands(cell)
	if !ok {
		p.errorAt(r, "%q is neither a number nor a parameter", cell)
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
		before, during := r.get("preequilibrationConditionId"), r.get("simulationConditionId")
		if slices.ContainsFunc(p.bench, func(e *experiment) bool { return e.before == before && e.during == during }) {
			continue
		}
		for _, id := range []string{before, during} {
			if _, ok := byID[id]; !ok && id != "" {
				p.errorAt(r, "there is no condition %q", id)
				return
			}
		}
		p.bench = append(p.bench, &experiment{before: before, during: during})
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
		for _, id := range byID[e.during].of.columns {
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
						p.errorAt(r, "the condition gives no value to %s, and the model does not either", id)
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
				p.errorAt(r, "the condition sets %q, which is not in the model", id)
				continue
			case p.model.IsRule(id):
				p.errorAt(r, "the condition sets %s, which a rule or a reaction gives", id)
				continue
			}
			do(id, name, isParam, p.value(r, cell))
		}
	}
	each(byID[e.during], func(id, name string, isParam bool, value string) {
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
		p.errorAt(r, "the condition needs a value for %s, since the simulation after it sets one, and that of the "+
			"model is estimated or missing", id)
	}
	return value
}

// placeholder is a name in a formula that each measurement gives a value.
var placeholder = lazy.Regexp(`\b(observable|noise)Parameter([0-9]+)_\w+`)

// observables makes the observations of all measurements.
func (p *problem) observables(list, measurements []row) {
	for _, o := range list {
		id := o.get("observableId")
		var rows []row
		for _, r := range measurements {
			if r.get("observableId") == id && !missing(r.get("measurement")) {
				rows = append(rows, r)
			}
		}
		if len(rows) > 0 {
			p.observable(o, id, rows)
		}
	}
	for _, r := range measurements {
		id := r.get("observableId")
		if !slices.ContainsFunc(list, func(o row) bool { return o.get("observableId") == id }) {
			p.errorAt(r, "there is no observable %q", id)
			return
		}
	}
}

// slots returns the placeholders of an observable, and what each of its rows has for them.
func (p *problem) slots(o row, id string, rows []row) (names []string, values [][]string) {
	for _, column := range []string{"observableFormula", "noiseFormula"} {
		for _, name := range placeholder().FindAllString(o.get(column), -1) {
			if strings.HasSuffix(name, "_"+id) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	values = make([][]string, len(rows))
	for i, r := range rows {
		for _, name := range names {
			part := placeholder().FindStringSubmatch(name)
			k, _ := strconv.Atoi(part[2])
			given := strings.Split(r.get(part[1]+"Parameters"), ";")
			if k < 1 || k > len(given) || strings.TrimSpace(given[k-1]) == "" {
				p.errorAt(r, "the measurement has no value for %s", name)
				return nil, nil
			}
			values[i] = append(values[i], strings.TrimSpace(given[k-1]))
		}
	}
	return names, values
}

// observable makes an observation for each set of parameters that the rows of an observable name. Where the noise of
// rows has different numbers, these are columns of the data.
func (p *problem) observable(o row, id string, rows []row) {
	names, values := p.slots(o, id, rows)
	if p.list.HasErrors() {
		return
	}
	asColumn := make([]bool, len(names))
	for k := range names {
		one, numbers := true, true
		for _, v := range values {
			_, number := isNumber(v[k])
			numbers = numbers && number
			one = one && v[k] == values[0][k]
		}
		asColumn[k] = numbers && !one && !strings.HasPrefix(names[k], "observable")
	}
	keys := make([]string, len(rows)) // the parameters of each row
	for i := range rows {
		for k := range names {
			if !asColumn[k] {
				keys[i] += ";" + values[i][k]
			}
		}
	}
	byKey := map[string]*observe{}
	var made []*observe
	for i, r := range rows {
		v := byKey[keys[i]]
		if v == nil {
			v = &observe{}
			byKey[keys[i]] = v
			made = append(made, v)
			if v.name = id; slices.ContainsFunc(keys, func(key string) bool { return key != keys[0] }) {
				v.name += keys[i]
			}
			v.name = p.model.Free(v.name)
			v.columns = []string{v.name}
			stands := map[string]string{}
			for k, name := range names {
				if asColumn[k] {
					column := p.model.Free(v.name + "_" + strings.TrimSuffix(name, "_"+id))
					v.columns = append(v.columns, column)
					stands[name] = p.measured + "." + column
				} else {
					stands[name] = p.value(r, values[i][k])
					if strings.HasPrefix(stands[name], "-") {
						stands[name] = "(" + stands[name] + ")"
					}
				}
			}
			of := func(token string) (string, bool) {
				if to, ok := stands[token]; ok {
					return to, true
				}
				return p.stands(token)
			}
			v.formula = p.formula(o.get("observableFormula"), o, of)
			v.noise = p.noise(o, p.formula(o.get("noiseFormula"), o, func(token string) (string, bool) {
				if token == id {
					return v.name, true
				}
				return of(token)
			}))
		}
		number, ok := isNumber(r.get("measurement"))
		if !ok {
			p.errorAt(r, "the measurement %q is no number", r.get("measurement"))
			return
		}
		cells := []string{number}
		for k := range names {
			if asColumn[k] {
				text, _ := isNumber(values[i][k])
				cells = append(cells, text)
			}
		}
		v.rows, v.cells = append(v.rows, r), append(v.cells, cells)
	}
	p.observes = append(p.observes, made...)
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
		p.errorAt(o, "odes has nothing like the noise %q", law)
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
		p.errorAt(o, "odes has nothing like the transformation %q", scale)
	}
	return law + "(" + spread + ")"
}
