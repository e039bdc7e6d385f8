package petab

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

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
	value, ok = between(lower, upper, r.get("parameterScale"))
	return value, ok && err == nil && wrong == nil
}

// between is the middle between two bounds on a scale, if there is one.
func between(lower, upper float64, scale string) (value string, ok bool) {
	at := lower/2 + upper/2
	if lower > 0 && strings.HasPrefix(scale, "log") {
		at = math.Sqrt(lower) * math.Sqrt(upper)
	}
	return decimal(at), !math.IsInf(at, 0) && !math.IsNaN(at)
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
