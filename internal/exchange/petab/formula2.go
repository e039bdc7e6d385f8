package petab

import (
	"fmt"
	"strconv"
	"strings"

	"odes.dev/odes/internal/exchange/infix"
	"odes.dev/odes/internal/exchange/sbml"
)

// logical operators bind alike in version 2.
var levels2 = []infix.Level{
	{Operators: map[string]string{"&&": "and", "||": "or"}, Chains: true},
	{Operators: map[string]string{"<": "lt", "<=": "leq", ">": "gt", ">=": "geq", "==": "eq", "!=": "neq"}},
	{Operators: map[string]string{"+": "plus", "-": "minus"}, Chains: true},
	{Operators: map[string]string{"*": "times", "/": "divide"}, Chains: true},
}

// functions2 are functions of one argument whose names MathML has, too.
var functions2 = map[string]bool{
	"exp": true, "ln": true, "abs": true, "sin": true, "cos": true, "tan": true, "cot": true, "sec": true, "csc": true,
	"arcsin": true, "arccos": true, "arctan": true, "arccot": true, "arcsec": true, "arccsc": true, "sinh": true,
	"cosh": true, "tanh": true, "coth": true, "sech": true, "csch": true, "arcsinh": true, "arccosh": true,
	"arctanh": true, "arccoth": true, "arcsech": true, "arccsch": true,
}

// call2 is a function of formulas of version 2.
func call2(name string, args []*sbml.Element, at sbml.Place) (*sbml.Element, error) {
	number := func(text string) *sbml.Element { return sbml.Leaf(at, "cn", text) }
	least, most := 1, 1
	switch name {
	case "pow", "min", "max":
		least, most = 2, 2
	case "log":
		most = 2
	case "piecewise":
		least, most = 3, max(3, len(args)|1)
	}
	if err := infix.Arity(name, args, at, least, most); err != nil {
		return nil, err
	}
	switch {
	case functions2[name]:
		return sbml.Apply(at, name, args...), nil
	case name == "pow":
		return sbml.Apply(at, "power", args...), nil
	case name == "min" || name == "max":
		return sbml.Apply(at, name, args...), nil
	case name == "sqrt":
		return sbml.Apply(at, "root", args...), nil
	case name == "log" && len(args) == 1:
		return sbml.Apply(at, "ln", args...), nil
	case name == "log":
		return infix.Log(at, args[0], args[1]), nil
	case name == "log2":
		return infix.Log(at, args[0], number("2")), nil
	case name == "log10":
		return infix.Log(at, args[0], number("10")), nil
	case name == "sign":
		return infix.Sign(at, args[0]), nil
	case name == "piecewise" && len(args)%2 == 0:
		return nil, infix.Errorf(at, "piecewise has values and conditions in turn, and a value at the end")
	case name == "piecewise":
		return infix.Pieces(at, args), nil
	}
	return nil, infix.Errorf(at, "%q is no function of PEtab", name)
}

// formula2 writes the formula of version 2 in a column of a table in the language.
func (p *problem) formula2(r row, column string, of func(name string) (string, bool)) string {
	names := map[string]string{}
	d := &infix.Dialect{
		Levels: levels2, Prefixes: map[string]string{"-": "minus", "+": "plus", "!": "not"}, Powers: []string{"^"},
		Call: call2,
		Name: func(name string, at sbml.Place) (*sbml.Element, error) {
			switch name {
			case "time":
				return sbml.Time(at), nil
			case "true", "false":
				return infix.Constant(name, at), nil
			case "inf":
				return infix.Constant("infinity", at), nil
			}
			to, ok := of(name)
			if !ok {
				return nil, infix.Errorf(at, "%q is neither in the model nor a parameter", name)
			}
			names[name] = to
			return sbml.Leaf(at, "ci", name), nil
		},
	}
	text := r.get(column)
	e, err := infix.Parse(d, text, 0)
	to := "0"
	if err == nil {
		to, err = sbml.Expression(p.model, e, names)
	}
	if err != nil {
		p.errorAt(r, column, "the formula %s: %v", short(text), err)
		return "0"
	}
	if strings.HasPrefix(to, "if ") || strings.HasPrefix(to, "-") {
		to = "(" + to + ")"
	}
	return to
}

// slots2 returns the placeholders of an observable, which its row declares.
func (p *problem) slots2(o row, rows []row) (slots []*slot, ok bool) {
	for _, of := range []string{"observable", "noise"} {
		column := of + "Parameters"
		for i, name := range strings.Split(o.get(of+"Placeholders"), ";") {
			if name = strings.TrimSpace(name); name == "" {
				continue
			}
			s := &slot{name: name, column: column}
			for _, r := range rows {
				given := strings.Split(r.get(column), ";")
				if i >= len(given) || missing(strings.TrimSpace(given[i])) {
					p.errorAt(r, column, "the measurement has no value for %s", name)
					return nil, false
				}
				s.values = append(s.values, strings.TrimSpace(given[i]))
			}
			s.asColumn = of == "noise" && s.areNumbers()
			slots = append(slots, s)
		}
	}
	return slots, p.asMany(slots, rows)
}

// parameters2 declares the parameters of the table of version 2.
func (p *problem) parameters2(list []row) {
	p.listed = map[string]bool{}
	for _, r := range list {
		p.listed[r.get("parameterId")] = true
	}
	for _, r := range list {
		if p.nets == nil || p.nets.sets[r.get("parameterId")] == "" { // no array of a network
			p.parameter2(r, informed(list))
		}
	}
}

// parameter2 declares a parameter. Where some have priors, that of others is uniform between their bounds.
func (p *problem) parameter2(r row, informed bool) {
	id := r.get("parameterId")
	estimated := r.get("estimate") == "true"
	if !estimated && r.get("estimate") != "false" {
		p.errorAt(r, "estimate", "estimate of %s is %q: true and false are possible", id, r.get("estimate"))
		return
	}
	lower, upper := "-inf", "inf"
	if estimated {
		lower, upper = p.bound(r, "lowerBound", lower), p.bound(r, "upperBound", upper)
	}
	l, errLower := strconv.ParseFloat(lower, 64)
	u, errUpper := strconv.ParseFloat(upper, 64)
	if errLower != nil || errUpper != nil {
		return // reported
	}
	value, ok := isNumber(r.get("nominalValue"))
	wide := estimated && l > 0 && u >= 1000*l
	if missing(r.get("nominalValue")) && estimated {
		scale := "lin"
		if wide {
			scale = "log"
		}
		value, ok = between(l, u, scale)
	}
	if !ok {
		p.errorAt(r, "nominalValue", "the parameter %s has the nominal value %q, which is no number", id,
			r.get("nominalValue"))
		return
	}
	name, _, known := p.model.Name(id)
	if !known {
		name = p.model.Free(id)
		p.names[id] = name
	}
	is, word := value, "const"
	if estimated {
		word = "param"
		p.changed[id] = true
		p.estimated = append(p.estimated, name)
		if wide {
			p.logs = append(p.logs, name)
		}
		is += p.prior2(r, name, l, u, informed)
	} else {
		p.given[id] = value
	}
	switch {
	case !known:
		p.params = append(p.params, declaration{fmt.Sprintf("%s %s = %s", word, name, is), r})
	case !p.model.Set(id, is, r.origin("parameter %s", id)):
		p.errorAt(r, "parameterId", "%s is no constant of the model, and cannot be a parameter", id)
	}
}
